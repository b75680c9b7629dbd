"""Questions of an inbox that expire or are asked again, secrets, large texts, another process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from typing import Any

import pytest
from approvers import REFUND, Agent, calls
from form_parts import named, words
from inbox_parts import answer_elsewhere, answers_in, loans, press, refunds, rows, status_of, until
from pydantic import BaseModel, Field, SecretStr

from nbgraph import (
    DISMISS,
    END,
    START,
    Graph,
    Inbox,
    InMemoryStateStore,
    ScriptedChat,
    SQLiteStateStore,
    ToolCard,
    build_react_agent,
    interrupt,
    node,
    tool,
)
from nbgraph.middleware import InterruptRule, ToolInterruptMiddleware
from nbgraph.one_line import arguments, brief, in_a_line
from nbgraph.waiting import Question


class Clock:
    """The time, as a test sets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gone = 0.0
        now = time.time
        monkeypatch.setattr(time, "time", lambda: now() + self.gone)


def asking(store: Any, name: str, thread_id: str, expires: float | None, **more: Any) -> Graph:
    @node
    def ask(state: dict) -> dict:
        return {"ok": interrupt(id="ok", message=name, expires=expires, **more)}

    graph = Graph(dict, name=name, state_store=store).flow(START >> ask >> END)
    graph.invoke({}, thread_id=thread_id)
    return graph


def said(inbox: Inbox) -> str:
    return " ".join(words(inbox))


# --- until when it waits --------------------------------------------------------------------------


def test_it_says_until_when_a_question_waits_and_sorts_by_that():
    store = InMemoryStateStore()
    asking(store, "late", "t1", 7_300.0)
    asking(store, "ever", "t2", None)
    asking(store, "soon", "t3", 100.0)
    inbox = Inbox(store)
    assert [row["since"] for row in rows(inbox)] == ["due in 2 h", "", "due in 1 min"]
    assert [each.asks for each in inbox.find(order="due")] == ["soon", "late", "ever"]
    assert [each.asks for each in inbox.find(order="newest")] == ["soon", "ever", "late"]
    assert [each.asks for each in inbox.find("e", order="newest")] == ["ever", "late"]
    assert [each.asks for each in inbox.find()] == ["late", "ever", "soon"]


def test_of_more_questions_than_are_looked_through_the_order_is_that_of_the_oldest(monkeypatch):
    monkeypatch.setattr("nbgraph.waiting._MOST", 30)
    store = InMemoryStateStore()
    loans(store, *(f"{n:02}" for n in range(40)))
    inbox = Inbox(store)
    inbox.find(order="newest")
    assert [row["who"] for row in rows(inbox)] == [f"loan-{n:02}" for n in range(29, 4, -1)]
    assert "25 shown, of the 30 oldest" in said(inbox)
    inbox.more()
    assert len(rows(inbox)) == 30
    assert not named(inbox, "nbgraph-more")


@pytest.mark.parametrize("known", [True, False])
def test_a_question_whose_time_is_over_takes_no_answer_and_goes_on_without_one(known, monkeypatch):
    clock, store = Clock(monkeypatch), InMemoryStateStore()
    graph = asking(store, "soon", "t", 100.0, response_schema=bool, default=False)
    inbox = Inbox(store, apps=[graph] if known else None)
    form = inbox.look_at(inbox.questions[0])
    assert inbox.go_on() is False
    assert not named(inbox, "nbgraph-go-on")
    clock.gone = 200.0
    inbox.refresh()
    assert rows(inbox)[0]["since"] == "its time is over"
    assert "Its time is over: an answer comes too late." in said(inbox)
    assert (f"Then {graph.name} goes on in the background." in said(inbox)) is known
    assert "nswer is recorded" not in said(inbox)
    assert "After your answer" not in said(inbox)
    form.value = True
    assert form.submit() is False
    assert "Expired at " in said(inbox)
    assert answers_in(store, "t") == []
    named(inbox, "nbgraph-go-on")[0].click()
    inbox.settle()
    assert answers_in(store, "t") == [{"ask:ok": False}]
    assert status_of(store) == {"t": "completed" if known else "stopped"}
    if not known:
        assert graph.invoke(None, thread_id="t").data["ok"] is False
    assert [record.lapsed for record in inbox.records] == ["expired"]
    inbox._face.filters.shows_answered = True
    assert [row["why"] for row in rows(inbox)] == ["expired"]


def test_what_was_dismissed_elsewhere_is_said_as_that():
    store = InMemoryStateStore()
    loans(store, "a")
    inbox = Inbox(store)
    answer_elsewhere(store, inbox.questions[0], DISMISS)
    until(inbox, lambda: "loan-a: dismissed at " in said(inbox))
    inbox._face.filters.shows_answered = True
    assert [(row["why"], row["mark"]) for row in rows(inbox)] == [("dismissed", "skipped")]


# --- cards ----------------------------------------------------------------------------------------


def decided(action: str) -> Agent:
    agent = Agent(calls(REFUND))
    agent.panel()
    inbox = Inbox(agent.store, apps=agent.graph)
    card = inbox.look_at(inbox.questions[0])
    assert isinstance(card, ToolCard)
    match action:
        case "edit":
            assert card.edit({"amount": 5.0})
        case "deny":
            assert card.deny("Too much.")
        case _:
            assert card.respond("paid already")
    inbox.settle()
    assert inbox.waiting == "0 waiting"
    return agent


def test_a_call_is_edited_denied_and_answered_for_in_an_inbox():
    assert decided("edit").ran == [("send_refund", ("A-1042", 5.0, False))]
    assert decided("deny").ran == decided("respond").ran == []


def test_decisions_about_several_are_taken_back_and_sent_when_the_inbox_closes():
    store = InMemoryStateStore()
    agents = refunds(store, 1.0, 2.0)
    inbox = Inbox(store, apps=agents[0].graph)
    inbox._keys.greeted.set()
    inbox.take_back_for = 300.0
    press(inbox, "all")
    approve = named(inbox._together, "nbgraph-approve-all")[0]
    approve.click()
    assert "2 calls approved. It is sent in 300 s." in said(inbox)
    assert "A decision is about to be sent" in said(inbox)
    assert (inbox.approve(), inbox.deny()) == (False, False)
    named(inbox._together, "nbgraph-take-back")[0].click()
    inbox.refresh()
    assert (inbox.waiting, len(inbox.picked)) == ("2 waiting", 2)
    approve.click()
    inbox.close()
    inbox._answers.settle()
    assert [len(answers_in(store, f"r-{n}")) for n in (1, 2)] == [1, 1]


# --- secrets and large texts ----------------------------------------------------------------------


class Login(BaseModel):
    user: str
    token: SecretStr
    pin: str = Field(json_schema_extra={"writeOnly": True})


def test_what_a_tool_calls_a_secret_stands_in_no_row_no_list_and_no_saved_table():
    store = InMemoryStateStore()

    @tool(input_model=Login)
    def log_in(user: str, token: SecretStr, pin: str) -> str:
        """Logs in."""
        return user

    given = {"user": "desk", "token": "hunter2-token", "pin": "s3cr3t-pin"}
    graph = build_react_agent(
        ScriptedChat([calls(("log_in", given))], default="Done."),
        tools=[log_in],
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule("*")])],
        state_store=store,
    )
    graph.invoke({"messages": [{"type": "human", "content": "Go"}]}, thread_id="t")
    inbox = Inbox(store, apps=graph)
    press(inbox, "all")
    everywhere = json.dumps([rows(inbox), inbox._still(), words(inbox)])
    assert "hunter2" not in everywhere
    assert "s3cr3t" not in everywhere
    assert 'user="desk", token="••••••", pin="••••••"' in rows(inbox)[0]["detail"]
    assert (inbox.find("hunter2"), inbox.find("s3cr3t")) == ((), ())
    assert len(inbox.find("desk")) == 1
    press(inbox, "all")
    assert inbox.approve() is False
    assert "Part of t is hidden, covered or long" in said(inbox)


class Eager(dict[str, Any]):
    """A payload that says how many of its parts were looked at."""

    looked = 0

    def items(self) -> Any:
        for pair in super().items():
            self.looked += 1
            yield pair


def test_a_line_looks_at_the_beginning_of_a_large_payload_only():
    large = Eager({f"key{n}": "\u202e" * 1_000 for n in range(10_000)})
    assert len(brief(large, 320)) == 320
    assert large.looked < 10
    assert brief({"a": [1, {"b": None}], "c": None, "d": "x"}) == 'a: [1, {"b": null}], c: , d: x'
    assert in_a_line("x" * 10**6, 10) == "xxxxxxxxx…"
    assert in_a_line("\u202ea", 160) == "⟨U+202E⟩a"


def test_a_call_with_large_arguments_is_listed_by_its_beginning():
    agent = Agent(calls(("look_up", {"order_id": "y" * 10**6})))
    agent.panel()
    inbox = Inbox(agent.store)
    press(inbox, "all")
    call = inbox.questions[0].call
    assert call is not None
    assert len(arguments(call, 320)) < 400
    assert len(rows(inbox)[0]["detail"]) == 160
    assert max(map(len, words(inbox._together))) < 400
    assert inbox.approve() is False


# --- others ---------------------------------------------------------------------------------------

OTHER = """
import asyncio, sys
from nbgraph import Resume, SQLiteStateStore
from nbgraph.core.recording import record_answers

async def answer():
    store = SQLiteStateStore(sys.argv[1])
    for record in await store.pending():
        asked = record.interrupt
        given = {asked.key: {"complete": True}}
        request = Resume(answers=given, asked={asked.key: asked.asked}, by="desk-2")
        place = record.thread_id, record.branch_id
        await record_answers(store, *place, request, graph=record.graph, now=0.0)
    store.close()

asyncio.run(answer())
"""


def test_what_another_process_answers_goes_from_the_rows_and_who_it_was_is_said(tmp_path):
    store = SQLiteStateStore(tmp_path / "t.db")
    graph = loans(store, "a")
    inbox = Inbox(store, apps=graph)
    form = inbox.look_at(inbox.questions[0])
    subprocess.run([sys.executable, "-c", OTHER, str(tmp_path / "t.db")], check=True)
    until(inbox, lambda: not rows(inbox))
    assert "loan-a: answered by desk-2 at " in said(inbox)
    assert inbox.opened is None
    assert form.submit() is False
    assert answers_in(store, "loan-a") == [{"review:income": {"complete": True}}]
    inbox.close()
    store.close()


class Failing(InMemoryStateStore):
    """Cannot be read when it is told so."""

    broken = False

    async def pending(self, **given: Any) -> Any:
        if self.broken:
            raise OSError("the disk is away")
        return await super().pending(**given)


def test_what_kept_a_store_from_being_read_is_not_said_any_more_when_it_is_read_again():
    store = Failing()
    loans(store, "a")
    inbox = Inbox(store)
    store.broken = True
    inbox.refresh()
    assert "The store could not be read: the disk is away" in said(inbox)
    store.broken = False
    inbox.refresh()
    assert "could not be read" not in said(inbox)


def test_of_several_runs_that_fail_one_is_told_and_how_many_more():
    store = InMemoryStateStore()

    @node
    def ask(state: dict) -> dict:
        interrupt(id="ok")
        raise ValueError("\u202eno")

    graph = Graph(dict, name="bad", state_store=store).flow(START >> ask >> END)
    for number in (1, 2, 3):
        graph.invoke({}, thread_id=f"{'x' * 200}{number}")
    inbox = Inbox(store, apps=graph)
    inbox._painter.lock.acquire()
    press(inbox, "all")
    answered = [Question(record) for record in asyncio.run(store.pending())]
    inbox._answers.give(dict.fromkeys(answered, 1))
    inbox._answers.settle()
    inbox._painter.lock.release()
    inbox.refresh()
    assert "failed: ValueError: ⟨U+202E⟩no And 2 more." in said(inbox)
