"""Editing one argument of a call leaves the JSON of all others as it was, whatever their type."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nbgraph import InMemoryStateStore, Resume, ScriptedChat, build_react_agent, tool
from nbgraph.chat import ToolCall
from nbgraph.core.events import TaskFinished
from nbgraph.middleware import InterruptRule, ToolDecision, ToolInterruptMiddleware

from .desk import MESSAGE, asks
from .test_tools import KINDS


@pytest.mark.parametrize(("kind", "given", "taken"), KINDS, ids=lambda each: str(each)[:30])
def test_an_edit_of_one_argument_leaves_the_others(kind: Any, given: Any, taken: Any) -> None:
    ran: list[Any] = []

    def act(value: Any, count: int) -> None:
        """Do something."""
        ran.append((value, count))

    act.__annotations__["value"] = kind
    proposed = ToolCall(id="c1", name="act", arguments={"value": given, "count": 1})
    graph = build_react_agent(
        ScriptedChat([asks(proposed)], default="."),
        tools=[tool(act)],
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule(tool="act")])],
        state_store=InMemoryStateStore(),
    )
    shown = graph.invoke(MESSAGE, thread_id="t").interrupts["act:approve_c1"].payload
    edit = ToolDecision(action="edit", arguments={"count": 2}, call_hash=shown.call_hash)
    graph.invoke(None, thread_id="t", resume=Resume(edit))
    assert ran == [(taken, 2)]
    (finished,) = [
        event
        for event in graph.sync.history("t")
        if isinstance(event, TaskFinished) and event.node == "act"
    ]
    executed = finished.update["messages"][0]["arguments"]
    assert (
        json.dumps(executed["value"]) == json.dumps(shown.arguments["value"]) == json.dumps(given)
    )
