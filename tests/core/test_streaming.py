"""`stream_mode=`, and how far a reader holds a run."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from nbgraph import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    Node,
    NodeContext,
    Resume,
    Send,
    StreamEvent,
    node,
    subgraph,
)
from nbgraph.core.events import RunStarted, TaskSpec
from nbgraph.core.interface import Interface
from nbgraph.core.live import TaskEmitted
from nbgraph.core.position import Position
from nbgraph.core.schema import StateSchema
from nbgraph.core.streaming import FinalEventData, InterruptEventData, StreamFilter
from tests.core.graphs import Trail, asker, chain, failing, fan, history, stop

START_STATE = {"log": [], "count": 0}


def streamed(graph: Graph, modes: Any, given: Any = None, **options: Any) -> list[StreamEvent]:
    """Return a stream's events without the id of the run, which is another one each time."""
    given = {} if given is None and "resume" not in options else given
    events = graph.stream(given, thread_id="t", stream_mode=modes, **options)
    return [replace(event, run_id=None) for event in events]


def final(log: list[str], checkpoint_id: str | None) -> StreamEvent:
    data = FinalEventData({"log": log, "count": 0}, "t")
    return StreamEvent("final", data, checkpoint_id=checkpoint_id)


def test_without_modes_only_the_terminal_event_comes() -> None:
    assert streamed(chain(stop("a")), []) == [final(["a"], "main:4")]


def test_updates_come_once_a_task_after_the_superstep_in_task_order() -> None:
    quiet = node(name="quiet")(lambda state: None)
    assert streamed(fan(stop("a"), quiet), "updates") == [
        StreamEvent("updates", {"log": ["a"]}, "a", None, "main:4", 0, "a"),
        StreamEvent("updates", None, "quiet", None, "main:4", 0, "quiet"),
        final(["a"], "main:5"),
    ]


def test_values_come_once_a_superstep_with_the_merged_state() -> None:
    assert streamed(chain(stop("a"), stop("b")), ["values"]) == [
        StreamEvent("values", {"log": ["a"], "count": 0}, None, None, "main:3", 0),
        StreamEvent("values", {"log": ["a", "b"], "count": 0}, None, None, "main:5", 1),
        final(["a", "b"], "main:6"),
    ]


def test_custom_and_debug_input_come_while_the_node_runs() -> None:
    seen = threading.Event()

    @node
    def talks(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        ctx.emit("half way")
        assert seen.wait(60)
        return {"log": ["talks"]}

    modes = []
    for event in chain(talks).stream({}, thread_id="t", stream_mode=["custom", "debug"]):
        modes.append((event.mode, event.data["type"] if event.mode == "debug" else event.data))
        if event.mode == "custom":
            assert (event.node, event.task_id, event.step) == ("talks", "talks", 0)
            seen.set()
    assert modes[:2] == [("debug", "node_input"), ("custom", "half way")]


def test_debug_tells_each_superstep_in_four_kinds() -> None:
    after = {"log": ["a"], "count": 0}
    where = {"node": "a", "task_id": "a", "step": 0}
    end = [{"kind": "end", "node": "END", "payload": None}]
    assert streamed(chain(stop("a")), "debug") == [
        StreamEvent("debug", {"type": "node_input", "node": "a", "state": START_STATE}, **where),
        StreamEvent(
            "debug", {"type": "node_output", "node": "a", "updates": {"log": ["a"]}}, **where
        ),
        StreamEvent("debug", {"type": "routes", "targets": end}, step=0),
        StreamEvent("debug", {"type": "state_merge", "state": after}, step=0),
        final(["a"], "main:4"),
    ]


def test_debug_shows_a_sent_payload_as_route_and_as_input() -> None:
    work = stop("work")
    split = node(name="split", goto=[work])(lambda state: Send(work, {"count": 7}))
    graph = Graph(Trail, state_store=InMemoryStateStore())
    graph.flow(START >> split, work >> END)
    data = [event.data for event in streamed(graph, "debug")[:-1]]
    sent = {"kind": "send", "node": "work", "payload": {"count": 7}}
    assert {"type": "routes", "targets": [sent]} in data
    given = {"log": [], "count": 7}
    assert {"type": "node_input", "node": "work", "state": given} in data


def speaker(name: str, *pieces: str) -> Node:
    """Return a node that makes its answer piece by piece."""

    def speak(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        ctx.emit("begins")
        for piece in pieces:
            ctx.emit_token(piece)
        return {"log": ["".join(pieces)]}

    return node(name=name)(speak)


def test_tasks_tell_when_each_began_and_how_it_ended() -> None:
    graph = fan(stop("a"), asker("b"))
    events = [event for event in streamed(graph, "tasks") if event.mode == "tasks"]
    assert [(event.task_id, event.node, event.step) for event in events] == [
        (name, name, 0) for name in "abab"
    ]
    begun, done, asked = {"type": "started"}, events[2], events[3]
    assert [event.data for event in events[:2]] == [begun, begun]
    assert [event.checkpoint_id for event in events[:2]] == [None, None]
    assert done.data | {"duration": 0} == {
        "type": "finished",
        "updates": {"log": ["a"]},
        "attempts": 1,
        "duration": 0,
        "cached": False,
    }
    assert asked.data == {"type": "interrupted", "interrupts": graph.sync.pending("t")}
    recorded = {event.id: event.type for event in history(graph)}
    assert [recorded[str(each.checkpoint_id)] for each in (done, asked)] == [
        "task_finished",
        "task_interrupted",
    ]


def test_tasks_tell_of_a_failure_before_it_is_raised() -> None:
    graph, told = chain(failing("a", ValueError("no"))), list[Any]()
    with pytest.raises(ValueError, match="no"):
        told.extend(event.data for event in graph.stream({}, thread_id="t", stream_mode="tasks"))
    assert graph.sync.position("t").status == "failed"
    failure = {"type": "failed", "attempts": 1, "error_type": "ValueError", "message": "no"}
    assert told == [{"type": "started"}, failure]


def test_tasks_of_a_sub_graph_come_with_their_path() -> None:
    inner = chain(asker("x"), state_store=None)
    graph = chain(subgraph("sub", inner, share=["log"]))
    events = [event for event in streamed(graph, "tasks") if event.mode == "tasks"]
    told = [(event.task_id, event.node, event.data["type"]) for event in events]
    assert told == [
        ("sub", "sub", "started"),
        ("sub/x", "sub/x", "started"),
        ("sub/x", "sub/x", "interrupted"),
        ("sub", "sub", "interrupted"),
    ]
    assert list(events[-1].data["interrupts"]) == ["sub/x:ok"]


def test_tokens_are_the_pieces_a_node_emits_in_order() -> None:
    assert streamed(chain(speaker("a", "It ", "works.")), "tokens") == [
        StreamEvent("tokens", "It ", "a", None, None, 0, "a"),
        StreamEvent("tokens", "works.", "a", None, None, 0, "a"),
        final(["It works."], "main:4"),
    ]


def test_a_token_comes_while_its_node_runs() -> None:
    seen = threading.Event()

    @node
    def speaks(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        ctx.emit_token("It ")
        assert seen.wait(60)
        return {"log": ["speaks"]}

    for event in chain(speaks).stream({}, thread_id="t", stream_mode="tokens"):
        seen.set()
        assert event.mode in ("tokens", "final")


def test_an_attempt_that_is_repeated_is_no_token() -> None:
    asked = StreamFilter(
        frozenset(("tokens", "custom")),
        StateSchema(Trail),
        Interface(StateSchema(Trail), None, None),
        thread_id="t",
        run_id="r",
        start=Position(),
        stored=False,
    )
    said = [TaskEmitted("a", "a", kind, kind, 0.0) for kind in ("custom", "token", "attempt")]
    assert [event for each in said for event in asked.of(each)] == [
        StreamEvent("custom", "custom", "a", "r", None, 0, "a"),
        StreamEvent("tokens", "token", "a", "r", None, 0, "a"),
    ]


def test_what_a_node_in_a_sub_graph_says_comes_with_its_path() -> None:
    inner = chain(speaker("say", "yes"), state_store=None)
    deep = subgraph("deep", inner, share=["log"])
    outer = subgraph("outer", chain(deep, state_store=None), share=["log"])
    assert streamed(chain(stop("a"), outer), ["custom", "tokens"]) == [
        StreamEvent("custom", "begins", "outer/deep/say", None, None, 1, "outer/deep/say"),
        StreamEvent("tokens", "yes", "outer/deep/say", None, None, 1, "outer/deep/say"),
        final(["a", "yes"], "main:6"),
    ]


def test_a_node_in_a_sub_graph_finds_the_modes_that_were_asked_for() -> None:
    found: list[frozenset[str]] = []

    @node
    def look(state: Trail, ctx: NodeContext) -> None:
        found.append(ctx.stream_modes)

    sub = subgraph("sub", chain(look, state_store=None), share=["log"])
    streamed(chain(sub), ["tokens"])
    assert found == [frozenset({"tokens"})]


def test_a_pause_ends_with_an_interrupt_event() -> None:
    graph = chain(asker("ask"))
    [event] = streamed(graph, [])
    pending = graph.sync.pending("t")
    data = InterruptEventData(START_STATE, "t", pending)
    assert event == StreamEvent("interrupt", data, checkpoint_id="main:3")
    assert list(pending) == ["ask:ok"]
    assert streamed(graph, "updates", resume=Resume(1)) == [
        StreamEvent("updates", {"log": ["ask: 1"]}, "ask", None, "main:6", 0, "ask"),
        final(["ask: 1"], "main:7"),
    ]


def test_a_breakpoint_ends_with_an_interrupt_event_that_asks_nothing() -> None:
    graph = chain(stop("a"), stop("b"))
    *_, event = streamed(graph, "values", interrupt_after=["a"])
    assert event.mode == "interrupt"
    assert event.data == InterruptEventData({"log": ["a"], "count": 0}, "t", {})
    rest = [(each.mode, each.step) for each in graph.stream(thread_id="t", stream_mode="values")]
    assert rest == [("values", 0), ("final", None)]


def test_a_failing_run_ends_with_its_error_and_no_terminal_event() -> None:
    graph = chain(stop("a"), failing("b", ValueError("no")))
    seen: list[Any] = []
    with pytest.raises(ValueError, match="no"):
        seen.extend(graph.stream({}, thread_id="t", stream_mode="updates"))
    assert [event.mode for event in seen] == ["updates"]


def test_without_a_store_no_event_has_a_checkpoint() -> None:
    graph = Graph(Trail).flow(START >> stop("a") >> END)
    events = list(graph.stream({}, stream_mode=["updates", "values"]))
    assert {event.checkpoint_id for event in events} == {None}
    assert len({event.run_id for event in events}) == 1
    assert events[0].run_id


def test_what_a_reader_changes_does_not_reach_the_run() -> None:
    graph = chain(stop("a"), stop("b"))
    for event in graph.stream({}, thread_id="t", stream_mode=["updates", "values"], lockstep=True):
        if event.mode == "updates":
            event.data["log"].append("mine")
        if event.mode == "values":
            event.data["log"].append("mine")
    assert graph.sync.load("t")["log"] == ["a", "b"]


@pytest.mark.parametrize("modes", ["everything", ["updates", "final"], "interrupt", [""]])
def test_an_unknown_or_terminal_mode_is_a_value_error_at_the_call(modes: Any) -> None:
    graph = chain(stop("a"))
    with pytest.raises(ValueError, match="stream_mode has no"):
        graph.stream({}, thread_id="t", stream_mode=modes)
    with pytest.raises(ValueError, match="stream_mode has no"):
        graph.astream({}, thread_id="t", stream_mode=modes)
    assert history(graph) == []


@pytest.mark.parametrize("modes", [1, b"updates", [None], {"updates": True}, ["updates", 2]])
def test_a_mode_of_another_type_is_a_type_error(modes: Any) -> None:
    with pytest.raises(TypeError, match="takes a mode or a list of modes"):
        chain(stop("a")).stream({}, thread_id="t", stream_mode=modes)


def test_without_a_stream_mode_the_events_are_our_own() -> None:
    graph = chain(stop("a"))
    events = list(graph.stream({}, thread_id="t"))
    assert isinstance(events[0], RunStarted)
    assert events[0].tasks == (TaskSpec(task_id="a", node="a"),)


@pytest.mark.parametrize(
    ("options", "modes"),
    [
        ({}, frozenset()),
        ({"stream_mode": "tokens"}, frozenset({"tokens"})),
        ({"stream_mode": ["custom", "debug"]}, frozenset({"custom", "debug"})),
    ],
)
def test_a_node_knows_what_is_asked_for(options: Any, modes: frozenset[str]) -> None:
    found: list[Any] = []

    @node
    def look(state: Trail, ctx: NodeContext) -> None:
        found.append(ctx.stream_modes)

    list(chain(look).stream({}, thread_id="t", **options))
    assert found == [modes]


def test_a_slow_reader_does_not_hold_up_the_run() -> None:
    over = threading.Event()
    last = node(name="last")(lambda state: over.set())
    reading = chain(stop("a"), stop("b"), last).stream({}, thread_id="t")
    next(reading)
    assert over.wait(60)
    assert len(list(reading)) == 10


def test_a_slow_async_reader_does_not_hold_up_the_run() -> None:
    async def scenario() -> None:
        over = asyncio.Event()

        @node
        async def last(state: Trail) -> None:
            over.set()

        graph = chain(stop("a"), stop("b"), last)
        async with aclosing(graph.astream({}, thread_id="t", stream_mode="updates")) as reading:
            await anext(reading)
            async with asyncio.timeout(60):
                await over.wait()

    asyncio.run(scenario())


def test_a_run_in_lockstep_waits_for_its_reader() -> None:
    graph = chain(stop("a"), stop("b"), stop("c"))
    for event in graph.stream({}, thread_id="t", stream_mode="updates", lockstep=True):
        if event.node == "b":
            break
    assert graph.sync.position("t").next == ("c",)
    assert graph.sync.position("t").step == 2


def test_leaving_a_stream_cancels_what_runs() -> None:
    async def scenario() -> None:
        begun, gone = asyncio.Event(), asyncio.Event()

        @node
        async def waits(state: Trail) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                gone.set()

        graph = chain(stop("a"), waits)
        async with aclosing(graph.astream({}, thread_id="t")) as reading:
            await anext(reading)
            await begun.wait()
        assert gone.is_set()
        assert (await graph.position("t")).next == ("waits",)

    asyncio.run(scenario())


def test_what_the_store_raises_comes_after_what_was_recorded() -> None:
    class Full(InMemoryStateStore):
        async def append(self, *args: Any, **options: Any) -> int:
            if options["expected"]:
                raise OSError("the disk is full")
            return await super().append(*args, **options)

    graph = chain(stop("a"), state_store=Full())
    seen: list[Any] = []
    with pytest.raises(OSError, match="full"):
        seen.extend(graph.stream({}, thread_id="t"))
    assert isinstance(seen[0], RunStarted)


def test_an_interrupted_node_ends_the_stream_with_keyboard_interrupt() -> None:
    graph = chain(failing("a", KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        list(graph.stream({}, thread_id="t", stream_mode="updates"))
    assert chain(stop("a")).invoke({}, thread_id="t").status == "completed"
