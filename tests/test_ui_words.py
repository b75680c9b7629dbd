"""The words a person reads."""

from __future__ import annotations

import pytest

from nbgraph import words
from nbgraph.core.driver import NodeShape, Shape
from nbgraph.core.events import Interrupt, TaskSpec
from nbgraph.core.position import Position
from nbgraph.snapshot import Progress, Snapshot

ASKED = {"a:0": Interrupt(key="a:0", id="0", node="a", task_id="a")}
TASKS = (TaskSpec(task_id="a", node="a"),)
LATE = {"a:0": ASKED["a:0"].model_copy(update={"expires_at": 1.0})}
SNAPSHOTS = {
    "new": Snapshot(),
    "running": Snapshot(Position(sequence=1, tasks=TASKS), running=True),
    "waiting": Snapshot(Position(sequence=2, tasks=TASKS, pending=ASKED, paused="interrupt")),
    "expired": Snapshot(Position(sequence=2, tasks=TASKS, pending=LATE, paused="interrupt")),
    "one of two expired": Snapshot(
        Position(sequence=2, tasks=TASKS, pending={**LATE, "a:1": ASKED["a:0"]}, paused="interrupt")
    ),
    "breakpoint": Snapshot(Position(sequence=2, tasks=TASKS, paused="before")),
    "stopped": Snapshot(Position(sequence=2, tasks=TASKS)),
    "finished": Snapshot(Position(sequence=3, step=1)),
}


@pytest.mark.parametrize(
    ("name", "text", "mark"),
    [
        ("new", "New", "idle"),
        ("running", "Running", "running"),
        ("waiting", "Waiting for you", "waiting"),
        ("expired", "Expired, not answered", "waiting"),
        ("one of two expired", "Waiting for you", "waiting"),
        ("breakpoint", "Paused before a", "idle"),
        ("stopped", "Stopped", "idle"),
        ("finished", "Finished", "done"),
    ],
)
def test_a_status_has_words_and_a_mark(name, text, mark):
    assert (words.status(SNAPSHOTS[name]), words.status_mark(SNAPSHOTS[name])) == (text, mark)


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("new", {"step", "into", "continue", "until", "pause", "stop", "fork", "edit"}),
        ("running", {"step", "into", "continue", "until", "start", "fork", "edit"}),
        ("waiting", {"step", "into", "continue", "until", "start", "pause", "stop"}),
        ("breakpoint", {"pause", "stop"}),
        ("stopped", {"pause", "stop"}),
        ("finished", {"step", "into", "continue", "until", "pause", "stop"}),
    ],
)
def test_a_button_that_cannot_act_says_why(name, held):
    reasons = words.held(SNAPSHOTS[name])
    assert set(reasons) == held
    assert all(reasons.values())


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0004, "<1 ms"),
        (0.012, "12 ms"),
        (0.0996, "0.1 s"),
        (0.84, "0.8 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (142, "2 min 22 s"),
        (3600, "1 h"),
        (3900, "1 h 5 min"),
    ],
)
def test_a_duration_is_short_to_read(seconds, text):
    assert words.duration(seconds) == text


@pytest.mark.parametrize(
    ("mark", "progress", "text"),
    [
        ("waiting", None, "waits for you"),
        ("failed", Progress(1, 0.5), "failed"),
        ("skipped", None, "not chosen"),
        ("idle", None, ""),
        ("done", Progress(1, 0.012), "12 ms"),
        ("done", Progress(2, 0.8), "×2 · 0.8 s"),
    ],
)
def test_a_node_has_a_second_line(mark, progress, text):
    assert words.line(mark, progress) == text


def test_breakpoints_are_told_by_node():
    nodes = (*(NodeShape(name, name) for name in "abc"), NodeShape("c/x", "x", parent="c"))
    shape = Shape("g", nodes, (), {})
    position = Position(sequence=1, before=("a", "b"), after=("b",))
    assert words.breakpoints(Snapshot(position), shape) == {
        "a": "before",
        "b": "before and after",
    }
    everywhere = Position(sequence=1, before=("*",))
    assert set(words.breakpoints(Snapshot(everywhere), shape)) == set("abc")
    inside = Position(sequence=1, after=("c/*",))
    assert words.breakpoints(Snapshot(inside), shape) == {"c/x": "after"}
