"""What a person meets who has just written a graph: the words of widgets, the first form."""

from __future__ import annotations

from typing import Any

import pytest
from form_parts import named, words

from nbgraph import (
    END,
    START,
    Form,
    Graph,
    Inbox,
    InMemoryStateStore,
    Panel,
    Timeline,
    compare,
    interrupt,
    node,
)
from nbgraph.errors import RunLimitExceededError


@node
def ask(state: dict[str, Any]) -> dict[str, Any]:
    return {"ok": interrupt("Fine?", id="fine", response_schema=bool)}


@node
def again(state: dict[str, Any]) -> dict[str, Any]:
    return {"n": state.get("n", 0) + 1}


def _asking() -> Graph[Any]:
    return Graph(dict, name="desk", state_store=InMemoryStateStore()).flow(START >> ask >> END)


def test_a_widget_names_itself_in_one_line() -> None:
    panel = Panel(_asking(), "t", input={})
    panel.session.settle()
    form = panel.forms["ask:fine"]
    session = "<Session of thread 't', branch 'main': interrupted>"
    assert repr(panel) == f"<Panel of {session}>"
    assert repr(panel.forms) == "{'ask:fine': <Form of 'ask:fine': 1 missing>}"
    assert repr(Timeline(panel.session)) == f"<Timeline of {session}>"
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
