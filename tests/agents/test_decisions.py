"""`session.decisions()`: what was proposed, approved and run, by whom and when."""

from __future__ import annotations

import asyncio

import pandas as pd
import pytest

from nbgraph import Resume, open_session
from nbgraph.middleware import InterruptRule, ToolDecision

from .desk import MESSAGE, REFUND, Desk, agent, asks, call

ALL = InterruptRule(tool="*")
KEY = "act:approve_c1"


def test_a_row_has_what_was_proposed_approved_and_run_and_who_decided() -> None:
    graph = agent(Desk(), [asks(REFUND)], ALL)
    paused = graph.invoke(MESSAGE, thread_id="t")
    session = open_session(graph, "t")
    (waiting,) = session.decisions()
    assert (waiting.decision, waiting.approved, waiting.executed) == ("pending", None, None)
    decision = ToolDecision(action="edit", arguments={"amount": 80.0}, message="half of it")
    session.resume({KEY: decision}, by="ops").result()
    (row,) = session.decisions()
    assert (row.tool, row.tool_call_id, row.key, row.branch_id) == ("refund", "c1", KEY, "main")
    assert (row.decision, row.by, row.reason) == ("edit", "ops", "half of it")
    assert row.proposed == REFUND.arguments
    assert row.approved == row.executed == {"order_id": "A-1", "amount": 80.0}
    assert row.call_hash == paused.interrupts[KEY].payload.call_hash
    assert row.asked == paused.interrupts[KEY].asked
    assert row.decided_at is not None
    assert row.asked_at <= row.decided_at


@pytest.mark.parametrize(
    ("answer", "decision", "reason"),
    [
        (False, "deny", None),
        ("?", "deny", "The answer to the approval could not be read as a decision"),
        (ToolDecision(action="respond", message="It is done."), "respond", "It is done."),
    ],
    ids=["deny", "nonsense", "respond"],
)
def test_a_call_that_did_not_run_was_neither_approved_nor_executed(
    answer: object, decision: str, reason: str | None
) -> None:
    graph = agent(Desk(), [asks(REFUND)], ALL)
    graph.invoke(MESSAGE, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(answer))
    (row,) = open_session(graph, "t").decisions()
    assert (row.decision, row.reason, row.approved, row.executed) == (decision, reason, None, None)


def test_an_answer_that_did_not_count_has_a_row_of_its_own() -> None:
    graph = agent(Desk(), [asks(REFUND)], ALL)
    graph.invoke(MESSAGE, thread_id="t")
    wrong = ToolDecision(action="edit", arguments={"amount": "x"})
    graph.invoke(None, thread_id="t", resume=Resume(wrong))
    graph.invoke(None, thread_id="t", resume=Resume(True))
    first, second = open_session(graph, "t").decisions()
    assert (first.decision, first.approved) == ("refused", None)
    assert "amount" in str(first.reason)
    assert (second.decision, second.executed) == ("approve", REFUND.arguments)
    assert second.asked > first.asked


def test_an_approval_of_a_call_that_was_changed_is_void() -> None:
    graph = agent(Desk(), [asks(REFUND)], ALL)
    graph.invoke(MESSAGE, thread_id="t")
    changed = [call("refund", order_id="B", amount=1.0)]
    asyncio.run(graph.update_state("t", {"tool_calls": changed}))
    graph.invoke(None, thread_id="t", resume=Resume(True))
    graph.invoke(None, thread_id="t", resume=Resume(True))
    first, second = open_session(graph, "t").decisions()
    assert (first.decision, first.approved, first.executed) == ("void", None, None)
    assert second.executed == second.approved == {"order_id": "B", "amount": 1.0}


def test_each_branch_tells_of_its_own_decisions() -> None:
    graph = agent(Desk(), [asks(REFUND)], ALL)
    paused = graph.invoke(MESSAGE, thread_id="t")
    at = int(str(paused.checkpoint_id).split(":")[1])
    asyncio.run(graph.fork("t", from_=at, name="side"))
    graph.invoke(None, thread_id="t", resume=Resume(True))
    graph.invoke(None, thread_id="t", branch_id="side", resume=Resume(False))
    (main,) = open_session(graph, "t").decisions()
    (side,) = open_session(graph, "t", "side").decisions()
    assert (main.decision, main.branch_id) == ("approve", "main")
    assert (side.decision, side.branch_id) == ("deny", "side")


def test_calls_that_ran_while_others_wait_are_told_already() -> None:
    calls = [call("refund", name, order_id=name, amount=200.0) for name in "ab"]
    graph = agent(Desk(), [asks(*calls)], ALL)
    graph.invoke(MESSAGE, thread_id="t")
    answers = {"act:approve_a": True, "act:approve_b": {"action": "edit", "arguments": {"note": 3}}}
    graph.invoke(None, thread_id="t", resume=Resume(answers=answers))
    rows = open_session(graph, "t").decisions()
    assert [(row.tool_call_id, row.decision) for row in rows] == [
        ("a", "approve"),
        ("b", "refused"),
        ("b", "pending"),
    ]
    assert rows[0].executed == calls[0].arguments


def test_the_rows_are_a_data_frame_with_pandas() -> None:
    graph = agent(Desk(), [asks(REFUND)], ALL)
    graph.invoke(MESSAGE, thread_id="t")
    session = open_session(graph, "t")
    waiting = session.decisions().to_frame()
    assert waiting["decided_at"].isna().all()
    session.resume({KEY: True}, by="ops").result()
    frame = session.decisions().to_frame()
    assert frame[["tool", "decision", "by"]].to_numpy().tolist() == [["refund", "approve", "ops"]]
    assert str(frame["decided_at"].dtype).startswith("datetime64[ns, UTC")
    assert frame["executed"].iloc[0] == REFUND.arguments
    empty = open_session(agent(Desk(), []), "u").decisions().to_frame()
    assert isinstance(empty, pd.DataFrame)
    assert list(empty.columns) == list(frame.columns)
    assert len(empty) == 0


def test_what_was_said_beside_an_answer_is_the_reason_where_the_decision_has_none() -> None:
    graph = agent(Desk(), [asks(REFUND)], ALL)
    graph.invoke(MESSAGE, thread_id="t")
    session = open_session(graph, "t")
    session.resume({KEY: True}, by="ops", comment="the customer called").result()
    (row,) = session.decisions()
    assert (row.decision, row.by, row.reason) == ("approve", "ops", "the customer called")
