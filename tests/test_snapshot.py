"""What a person sees: marks, progress, the timeline, the log; the same live and read again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from nbgraph import END, START, Graph, InMemoryStateStore, Resume, join, node, subgraph, when
from nbgraph.core.events import Event
from nbgraph.core.live import LiveEvent
from nbgraph.snapshot import Snapshot, shown
from nbgraph.words import lines
from tests.core.graphs import Trail, asker, chain, failing, fan, stop


def folded(graph: Graph, events: Iterable[Event | LiveEvent]) -> Snapshot:
    """Return the snapshot after these events."""
    snapshot = Snapshot(marks={each.path: "idle" for each in graph.shape.nodes})
    for event in events:
        snapshot = shown(snapshot, event, graph.shape, graph.schema)
    return snapshot


def live(graph: Graph, given: Any = None, **options: Any) -> list[Event | LiveEvent]:
    """Run a graph and return all that was streamed; a failure ends the list."""
    events: list[Event | LiveEvent] = []
    with suppress(ValueError):
        events.extend(graph.stream(given, thread_id="t", **options))
    return events


def marks_over_time(graph: Graph, events: Sequence[Event | LiveEvent], name: str) -> list[str]:
    """Return a node's marks, each once while it stays."""
    found = [folded(graph, events[:at]).marks[name] for at in range(len(events) + 1)]
    return [mark for at, mark in enumerate(found) if not at or mark != found[at - 1]]


def test_a_node_is_idle_then_running_then_done() -> None:
    graph = chain(stop("a"))
    assert marks_over_time(graph, live(graph, {}), "a") == ["idle", "running", "done"]


def test_a_node_that_asks_waits_and_is_done_after_its_answer() -> None:
    graph = chain(asker("ask"))
    events = live(graph, {}) + live(graph, resume=Resume("yes"))
    assert marks_over_time(graph, events, "ask") == [
        "idle",
        "running",
        "waiting",
        "idle",
        "running",
        "done",
    ]


def test_a_node_that_fails_is_failed_and_the_one_beside_it_not_running_any_more() -> None:
    import asyncio

    @node
    async def waits(state: Trail) -> None:
        await asyncio.Event().wait()

    graph = fan(waits, failing("bad", ValueError("no")))
    events: list[Any] = []
    with pytest.raises(ValueError, match="no"):
        events.extend(each for each in graph.stream({}, thread_id="t") if not events.append(each))  # type: ignore[func-returns-value]
    snapshot = folded(graph, events)
    assert snapshot.marks == {"waits": "idle", "bad": "failed"}
    assert snapshot.error == "ValueError: no"


def test_a_node_with_several_tasks_shows_the_worst_of_them() -> None:
    from nbgraph import Command, Send, interrupt

    def run(state: Trail) -> dict[str, Any]:
        if state.count == 1:
            interrupt(id="ok")
        return {"log": [str(state.count)]}

    work = node(name="work")(run)
    spread = node(name="spread", goto=[work])(
        lambda state: Command(goto=[Send(work, {"count": n}) for n in range(3)])
    )
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(START >> spread, work >> END)
    graph.invoke({}, thread_id="t")
    snapshot = folded(graph, graph.sync.history("t"))
    assert snapshot.marks["work"] == "waiting"
    assert [bar.mark for bar in snapshot.supersteps[-1].tasks] == ["done", "waiting", "done"]


def test_a_skipped_node_is_skipped() -> None:
    from nbgraph import open_session

    session = open_session(chain(stop("a"), stop("b"), interrupt_before=["a"]))
    session.start().result()
    session.skip("a")
    assert session.marks["a"] == "skipped"


def test_progress_counts_visits_and_seconds_of_a_node() -> None:
    a = stop("a")
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> a, a >> when(lambda state: len(state.log) < 3, a)
    )
    graph.invoke({}, thread_id="t")
    progress = folded(graph, graph.sync.history("t")).progress["a"]
    assert progress.visits == 3
    assert progress.seconds > 0
    assert progress.since is None


def test_the_timeline_has_one_superstep_for_each_that_ran() -> None:
    graph = chain(stop("a"), stop("b"), interrupt_before=["b"], interrupt_after=["a"])
    graph.invoke({}, thread_id="t")
    while graph.sync.position("t").status == "interrupted":
        graph.invoke(None, thread_id="t")
    steps = folded(graph, graph.sync.history("t")).supersteps
    assert [(step.number, [bar.node for bar in step.tasks]) for step in steps] == [
        (1, ["a"]),
        (2, ["b"]),
    ]


def test_taken_edges_are_those_of_this_turn() -> None:
    a, b, c = stop("a"), stop("b"), stop("c")
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> a, a >> when(lambda state: state.count > 0, b, otherwise=c), b >> END, c >> END
    )
    graph.invoke({"count": 1}, thread_id="t")
    first = folded(graph, graph.sync.history("t")).taken
    assert first == {("__start__", "a"), ("a", "b"), ("b", "__end__")}
    graph.invoke({"count": 0}, thread_id="t")
    second = folded(graph, graph.sync.history("t")).taken
    assert second == {("__start__", "a"), ("a", "c"), ("c", "__end__")}


def test_a_joins_edges_are_taken_when_it_is_passed() -> None:
    a, b, c, d = map(stop, "abcd")
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> [a, b], b >> c, join(a, c) >> d, d >> END
    )
    graph.invoke({}, thread_id="t")
    assert {("a", "d"), ("c", "d")} <= folded(graph, graph.sync.history("t")).taken


def test_a_join_that_still_waits_at_the_end_is_told_at_its_node_and_in_the_log() -> None:
    a, b, c, d = map(stop, "abcd")
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> a >> when(lambda state: "again" in state.log, b, otherwise=c),
        join(b, c) >> d,
        d >> END,
    )
    graph.invoke({}, thread_id="t")
    ended = folded(graph, graph.sync.history("t"))
    assert (ended.joining, ended.log[-1].text) == (("d",), "finished; d: not all arrived")
    assert (lines(ended)["d"], lines(ended)["b"]) == ("not all arrived", "not chosen")
    graph.invoke({"log": ["again"]}, thread_id="t", interrupt_before=["a"])
    assert folded(graph, graph.sync.history("t")).joining == ()


def test_answers_of_a_turn_are_records_until_the_next_turn() -> None:
    graph = chain(asker("ask"))
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("yes", by="ada"))
    [record] = folded(graph, graph.sync.history("t")).records
    assert (record.answer, record.by) == ("yes", "ada")
    graph.invoke({}, thread_id="t")
    assert folded(graph, graph.sync.history("t")).records == ()


SCENES: dict[str, Any] = {
    "chain": lambda: chain(stop("a"), stop("b")),
    "fan": lambda: fan(stop("a"), stop("b")),
    "asks": lambda: chain(stop("a"), asker("ask")),
    "breaks": lambda: chain(stop("a"), stop("b"), interrupt_before="*", interrupt_after="*"),
    "fails": lambda: chain(stop("a"), failing("b", ValueError("no"))),
}


def _read_again(snapshot: Snapshot) -> Any:
    """Return what a session that was not there shall see as well as one that was."""
    times = {"started": None, "seconds": None}
    return (
        snapshot.position,
        snapshot.marks,
        snapshot.taken,
        [[dataclasses.replace(bar, **times) for bar in step.tasks] for step in snapshot.supersteps],
        snapshot.records,
        [line.text for line in snapshot.log],
        {name: each.visits for name, each in snapshot.progress.items() if each.visits},
        snapshot.reports,
        snapshot.usage,
        snapshot.began,
    )


@pytest.mark.parametrize("scene", SCENES)
def test_whoever_reads_the_log_sees_what_whoever_watched_saw(scene: str) -> None:
    graph = SCENES[scene]()
    watched = folded(graph, live(graph, {}))
    assert _read_again(folded(graph, graph.sync.history("t"))) == _read_again(watched)


def test_the_log_keeps_the_newest_lines_only() -> None:
    from nbgraph import NodeContext, open_session

    @node
    def talks(state: Trail, ctx: NodeContext) -> None:
        for number in range(500):
            ctx.emit(f"line {number}")

    session = open_session(chain(talks))
    session.start().result()
    texts = [line.text for line in session.snapshot.log]
    assert len(texts) <= 200
    assert "line 499" in texts


def test_a_long_line_is_cut_and_says_how_long_it_was() -> None:
    from nbgraph import NodeContext, open_session

    @node
    def talks(state: Trail, ctx: NodeContext) -> None:
        ctx.emit("x" * 5000)

    session = open_session(chain(talks))
    session.start().result()
    assert any("5,000 characters" in line.text for line in session.snapshot.log)


def test_a_turn_that_replaces_an_unfinished_one_drops_its_superstep_from_the_timeline() -> None:
    graph = chain(stop("a"), failing("b", ValueError("no")))
    with pytest.raises(ValueError, match="no"):
        graph.invoke({}, thread_id="t")
    graph.invoke({}, thread_id="t")
    steps = folded(graph, graph.sync.history("t")).supersteps
    assert [[bar.node for bar in step.tasks] for step in steps] == [["a"], ["a"], ["b"]]


def test_a_node_in_a_sub_graph_is_marked_while_it_runs_and_waits() -> None:
    inner = chain(stop("a"), asker("ask"), state_store=None)
    graph = chain(subgraph("sub", inner, share=["log"]))
    asked = live(graph, {})
    events = asked + live(graph, resume=Resume("yes"))
    assert marks_over_time(graph, events, "sub/a") == ["idle", "running", "done"]
    assert marks_over_time(graph, events, "sub/ask") == [
        "idle",
        "running",
        "waiting",
        "running",
        "done",
    ]
    assert folded(graph, asked).marks["sub"] == "waiting"


def test_of_a_sub_graph_read_again_those_are_marked_that_wait() -> None:
    inner = chain(stop("a"), asker("ask"), state_store=None)
    graph = chain(subgraph("sub", inner, share=["log"]))
    graph.invoke({}, thread_id="t")
    marks = folded(graph, graph.sync.history("t")).marks
    assert marks == {"sub": "waiting", "sub/a": "idle", "sub/ask": "waiting"}


def test_the_log_says_before_or_after_which_node_a_run_paused() -> None:
    graph = chain(stop("first"), stop("second"))
    options = {"interrupt_after": ["first"], "interrupt_before": ["second"]}
    events = live(graph, {}, **options) + live(graph)
    said = [line.text for line in folded(graph, events).log if line.text.startswith("paused")]
    assert said == ["paused at a breakpoint, after first", "paused at a breakpoint, before second"]
