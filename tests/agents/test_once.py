"""An approved call runs at most once: where its end is unknown, a person is asked."""

from __future__ import annotations

from typing import Any

import pytest

from nbgraph import Graph, InMemoryStateStore, Resume, ScriptedChat, build_react_agent, tool
from nbgraph.core.events import TaskBegan
from nbgraph.middleware import InterruptRule, ToolInterruptMiddleware

from .desk import MESSAGE, REFUND, Desk, agent, asks, call

ALL = InterruptRule(tool="*")


def unknown(desk: Desk) -> tuple[Graph, Any]:
    """Return a graph whose approved refund had its effect, and its end was not heard of."""
    desk.fails = 1
    graph = agent(desk, [asks(REFUND)], ALL)
    graph.invoke(MESSAGE, thread_id="t")
    with pytest.raises(ConnectionError):
        graph.invoke(None, thread_id="t", resume=Resume(True))
    paused = graph.invoke(None, thread_id="t")
    (question,) = paused.interrupts.values()
    return graph, question


def test_the_start_of_an_approved_call_is_recorded_before_it_runs() -> None:
    desk = Desk()
    graph, question = unknown(desk)
    assert len(desk.done) == 1
    began = [event for event in graph.sync.history("t") if isinstance(event, TaskBegan)]
    assert len(began) == 1
    assert question.reason == "outcome_unknown"
    assert question.tool_call_id == "c1"
    assert question.payload == {
        "tool_name": "refund",
        "tool_call_id": "c1",
        "arguments": REFUND.arguments,
    }


@pytest.mark.parametrize(
    ("decision", "runs", "content"),
    [
        ({"decision": "retry"}, 2, '{"result":"refunded 120.0"}'),
        ({"decision": "set result", "result": "paid"}, 1, '{"result":"paid"}'),
        ({"decision": "skip"}, 1, "The tool began, and a person skipped it"),
    ],
    ids=["retry", "set result", "skip"],
)
def test_a_person_says_how_it_goes_on(decision: Any, runs: int, content: str) -> None:
    desk = Desk()
    graph, _ = unknown(desk)
    done = graph.invoke(None, thread_id="t", resume=Resume(decision))
    assert (done.status, len(desk.done)) == ("completed", runs)
    assert done.state.messages[2].content.startswith(content)


def test_a_call_that_was_not_approved_may_run_again_after_an_error() -> None:
    desk = Desk(fails=1)
    graph = agent(desk, [asks(call("look_up", order_id="A"))])
    with pytest.raises(ConnectionError):
        graph.invoke(MESSAGE, thread_id="t")
    assert graph.invoke(None, thread_id="t").status == "completed"
    assert len(desk.done) == 2


def test_an_idempotent_tool_may_run_again_though_it_was_approved() -> None:
    runs: list[str] = []

    @tool(idempotent=True)
    def set_status(status: str) -> str:
        """Set the status."""
        runs.append(status)
        if len(runs) == 1:
            raise ConnectionError("no answer")
        return status

    graph = build_react_agent(
        ScriptedChat([asks(call("set_status", status="open"))], default="."),
        tools=[set_status],
        middleware=[ToolInterruptMiddleware(rules=[ALL])],
        state_store=InMemoryStateStore(),
    )
    graph.invoke(MESSAGE, thread_id="t")
    with pytest.raises(ConnectionError):
        graph.invoke(None, thread_id="t", resume=Resume(True))
    assert graph.invoke(None, thread_id="t").status == "completed"
    assert runs == ["open", "open"]


def test_a_result_that_is_recorded_is_the_same_type_when_it_is_read_again() -> None:
    desk = Desk()
    first = call("close_account", "a", name="A")
    graph = agent(desk, [asks(first, call("refund", "b", order_id="B", amount=1.0))], ALL)
    graph.invoke(MESSAGE, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(answers={"act:approve_a": True}, partial=True))
    assert desk.done == []
    done = graph.invoke(None, thread_id="t", resume=Resume(answers={"act:approve_b": True}))
    assert done.status == "completed"
    assert [message.content for message in done.state.messages[2:4]] == [
        '{"result":null}',
        '{"result":"refunded 1.0"}',
    ]
