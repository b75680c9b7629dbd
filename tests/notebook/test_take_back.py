"""A decision pressed on a page is sent a little later; it is taken back, or sent at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from approvers import LOOK_UP, REFUND, Agent, calls
from form_parts import named, words
from tool_asks import button

from nbgraph import UNSET, Inbox
from nbgraph.core.loop import call_soon
from nbgraph.notebook.take_back import TakeBack


class Clock:
    """Seconds that are over when a test says so."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self._waits: list[asyncio.Event] = []
        self.begun = threading.Semaphore(0)

    async def over(self, seconds: float) -> None:
        event = asyncio.Event()
        self.asked.append(seconds)
        self._waits.append(event)
        self.begun.release()
        await event.wait()

    def strike(self) -> None:
        """Let the time of what waits be over."""
        assert self.begun.acquire(timeout=30)
        for event in self._waits:
            call_soon(event.set)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    made = Clock()
    monkeypatch.setattr(TakeBack, "_over", staticmethod(made.over))
    yield made
    made.begun.release()
    made.strike()


def shown(agent: Agent) -> Any:
    """Return a panel that a page shows."""
    panel = agent.panel()
    panel._graph.greeted.set()
    return panel


def holding(panel: Any) -> str:
    """Return what waits to be sent, in words."""
    return " ".join(
        text for each in named(panel, "nbgraph-holding") for text in words(each)
    ).strip()


def until_ran(agent: Agent, panel: Any) -> None:
    done = threading.Event()
    stop = panel.session.watch(lambda seen: done.set() if seen.status == "completed" else None)
    assert done.wait(30)
    stop()
    panel.session.settle()


def test_an_approval_is_sent_when_its_time_is_over(clock):
    agent = Agent(calls(REFUND))
    panel = shown(agent)
    card = panel.forms["act:approve_c_1"]
    button(card, "approve").click()
    assert holding(panel) == "send_refund: approved. It is sent in 5 s."
    assert (agent.ran, panel.session.status) == ([], "interrupted")
    button(card, "approve").click()
    button(card, "deny").click()
    assert card.decision["action"] == "approve"
    clock.strike()
    until_ran(agent, panel)
    assert agent.ran == [("send_refund", ("A-1042", 180.0, False))]
    assert (clock.asked, holding(panel)) == ([5.0], "")


@pytest.mark.parametrize("action", ["approve", "deny"])
def test_what_is_taken_back_is_never_sent_and_can_be_decided_otherwise(clock, action):
    agent = Agent(calls(REFUND))
    panel = shown(agent)
    card = panel.forms["act:approve_c_1"]
    button(card, action).click()
    named(panel, "nbgraph-take-back")[0].click()
    assert (card.decision, card.is_sent, holding(panel)) == (UNSET, False, "")
    clock.strike()  # its time is over later, and nothing comes of it
    assert (agent.ran, panel.session.snapshot.records) == ([], ())
    button(card, "deny").click()
    named(panel, "nbgraph-send-now")[0].click()
    until_ran(agent, panel)
    assert agent.ran == []
    assert [record.answer["action"] for record in panel.session.snapshot.records] == ["deny"]


def test_decisions_about_several_calls_are_taken_back_together(clock):
    agent = Agent(calls(REFUND, LOOK_UP))
    panel = shown(agent)
    for card in panel.forms.values():
        card.choose_approve()
    (send,) = named(panel, "nbgraph-submit")
    send.click()
    assert holding(panel) == "send_refund: approved, look_up: approved. It is sent in 5 s."
    named(panel, "nbgraph-take-back")[0].click()
    assert [card.mark for card in panel.forms.values()] == ["waiting", "waiting"]
    assert agent.ran == []


def test_a_decision_in_code_is_sent_at_once_and_so_is_one_where_none_is_to_be_taken_back(clock):
    agent = Agent(calls(REFUND), calls(LOOK_UP, start=2))
    panel = shown(agent)
    panel.forms["act:approve_c_1"].approve()
    panel.session.settle()
    panel.take_back_for = 0
    button(panel.forms["act:approve_c_2"], "approve").click()
    panel.session.settle()
    assert [name for name, _ in agent.ran] == ["send_refund", "look_up"]
    assert clock.asked == []


def test_what_waits_when_somebody_else_has_answered_is_refused(clock):
    agent = Agent(calls(REFUND))
    panel = shown(agent)
    button(panel.forms["act:approve_c_1"], "approve").click()
    other = agent.panel()
    other.forms["act:approve_c_1"].deny("No.")
    other.session.settle()
    named(panel, "nbgraph-send-now")[0].click()
    with pytest.raises(Exception, match="answered 'act:approve_c_1' first"):
        panel.session.settle()
    assert agent.ran == []


def test_in_an_inbox_a_decision_is_sent_when_its_card_is_closed(clock):
    agent = Agent(calls(REFUND))
    agent.panel()
    inbox = Inbox(agent.store, apps=agent.graph)
    inbox._face.keys.greeted.set()
    button(inbox.look_at(inbox.questions[0]), "approve").click()
    assert holding(inbox) == "send_refund: approved. It is sent in 5 s."
    assert agent.ran == []
    inbox.shut()
    inbox.settle()
    assert [name for name, _ in agent.ran] == ["send_refund"]
