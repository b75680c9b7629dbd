"""What a person meets who has just written a graph: the words of widgets, the first form."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from form_parts import named, none_is_severed, words
from tool_asks import asked

from nbgraph import (
    END,
    START,
    Form,
    Graph,
    Inbox,
    InMemoryStateStore,
    Panel,
    Timeline,
    ToolCard,
    compare,
    interrupt,
    node,
)
from nbgraph.errors import RunLimitExceededError
from nbgraph.notebook import play


@node
def ask(state: dict[str, Any]) -> dict[str, Any]:
    return {"ok": interrupt("Fine?", id="fine", response_schema=bool)}


@node
def again(state: dict[str, Any]) -> dict[str, Any]:
    return {"n": state.get("n", 0) + 1}


def _asking() -> Graph:
    return Graph(dict, name="desk", state_store=InMemoryStateStore()).flow(START >> ask >> END)


def test_a_widget_names_itself_in_one_line() -> None:
    panel = Panel(_asking(), "t", input={})
    panel.session.settle()
    form = panel.forms["ask:fine"]
    session = "<Session of thread 't', branch 'main': interrupted>"
    assert repr(panel) == "<Panel of thread 't', branch 'main'>"
    assert repr(panel.forms) == "{'ask:fine': <Form of 'ask:fine': 1 missing>}"
    assert repr(Timeline(panel.session)) == "<Timeline of thread 't', branch 'main'>"
    assert repr(compare(panel.session, panel.session)) == f"<Compare of {session} and {session}>"
    form.value = True
    assert repr(form) == "<Form of 'ask:fine': complete>"
    form.submit()
    assert repr(form) == "<Form of 'ask:fine': sent>"


def test_a_form_and_an_inbox_alone_name_themselves_in_one_line() -> None:
    assert repr(Form(int)) == "<Form: 1 missing>"
    assert repr(Inbox(InMemoryStateStore())) == "<Inbox: 0 waiting>"


def test_a_graph_on_a_plain_dict_starts_with_nothing_filled_in() -> None:
    panel = Panel(_asking(), "t")
    (form,) = named(panel, "nbgraph-form")
    assert (form.value, form.errors) == ({}, {})
    assert "Input *" in words(form)
    assert form.submit()
    assert list(panel.session.settle().interrupts) == ["ask:fine"]


def test_a_failure_without_a_traceback_offers_none() -> None:
    endless = Graph(dict, name="endless").flow(START >> again >> again)
    panel = Panel(endless, "t", input={})
    with pytest.raises(RunLimitExceededError):
        panel.session.settle()
    assert panel.forms == {}  # draws what is new
    assert named(panel, "nbgraph-failure")
    assert not named(panel, "nbgraph-fold")


@pytest.mark.parametrize("as_json", [False, True])
def test_a_card_that_is_closed_leaves_no_widget_with_a_closed_part(as_json: bool) -> None:
    with none_is_severed():
        card = ToolCard(asked())
        if as_json:
            named(card, "nbgraph-json")[0].index = 1
        card.close()


def test_a_card_with_folded_arguments_closes_them_as_well() -> None:
    fields = {f"a{n}": {"type": "array", "items": {"type": "string"}} for n in range(12)}
    question = asked({"a1": ["x"]}, {"type": "object", "properties": fields})
    with none_is_severed():
        ToolCard(question).close()


def test_a_form_of_the_state_that_is_closed_leaves_no_widget_with_a_closed_part() -> None:
    panel = Panel(_asking(), "t", input={})
    panel.session.settle()
    with none_is_severed():
        panel.edit().close()


def test_an_interrupted_wait_says_that_the_thread_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "_check_can_wait", lambda: None)
    panel = Panel(_asking(), "t", input={})
    panel.session.settle()

    async def scenario() -> None:
        async def waits() -> object:
            return await play.Play(panel.session, panel, None)

        waiting = asyncio.ensure_future(waits())
        await asyncio.sleep(0)  # it waits from here on
        waiting.cancel()
        await waiting

    with pytest.raises(asyncio.CancelledError, match="thread 't' has not: it goes on in the panel"):
        asyncio.run(scenario())
    assert panel.session.status == "interrupted"
