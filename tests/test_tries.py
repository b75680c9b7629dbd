"""What a person sees of a node that is tried again."""

from __future__ import annotations

import pytest

from nbgraph import Retry, node, words
from nbgraph.core.events import ErrorInfo, Event
from nbgraph.core.live import Attempt, LiveEvent, TaskEmitted, TaskStarted
from nbgraph.snapshot import LogLine, Progress, Snapshot, shown
from tests.core.graphs import Trail, chain, stop


def folded(*events: Event | LiveEvent) -> Snapshot:
    graph = chain(stop("a"))
    snapshot = Snapshot(marks={"a": "idle"})
    for event in events:
        snapshot = shown(snapshot, event, graph.shape, graph.schema)
    return snapshot


def test_an_attempt_that_is_repeated_counts_and_stands_in_the_log() -> None:
    attempt = Attempt(1, 3, ErrorInfo(type="OSError", message="no line"), 0.5)
    snapshot = folded(TaskStarted("a", "a", 1.0), TaskEmitted("a", "a", "attempt", attempt, 2.0))
    assert snapshot.progress["a"] == Progress(since=1.0, tries=2, limit=3)
    assert snapshot.log == (LogLine(2.0, "a", "try 1 failed: OSError: no line", "failed"),)


def test_a_task_that_starts_anew_is_at_its_first_try() -> None:
    attempt = Attempt(1, 3, ErrorInfo(type="OSError", message=""), 0.0)
    again = folded(TaskEmitted("a", "a", "attempt", attempt, 2.0), TaskStarted("a", "a", 3.0))
    assert again.progress["a"].tries == 1


@pytest.mark.parametrize("fails", [2, 3])
def test_a_node_shows_how_often_it_was_tried(fails: int) -> None:
    waiting = [ValueError("x")] * fails

    @node(name="a", retry=Retry(attempts=3))
    def a(state: Trail) -> None:
        if waiting:
            raise waiting.pop()

    graph = chain(a)
    snapshot = Snapshot(marks={"a": "idle"})
    try:
        for event in graph.stream({}, thread_id="t"):
            snapshot = shown(snapshot, event, graph.shape, graph.schema)
    except ValueError:
        assert fails == 3
    line = words.line(snapshot.marks["a"], snapshot.progress["a"])
    assert line.endswith("3 of 3 tries")
    assert snapshot.marks["a"] == ("failed" if fails == 3 else "done")


@pytest.mark.parametrize(
    ("mark", "progress", "text"),
    [
        ("running", Progress(tries=2, limit=3), "2 of 3 tries"),
        ("done", Progress(1, 0.012, tries=2), "12 ms · 2 tries"),
        ("done", Progress(1, 0.012, tries=1, limit=3), "12 ms"),
        ("failed", Progress(tries=3, limit=3), "3 of 3 tries"),
    ],
)
def test_the_line_of_a_node_says_more_than_one_try(mark, progress, text) -> None:
    assert words.line(mark, progress) == text
