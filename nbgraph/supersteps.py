"""The supersteps of a thread, as a timeline shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nbgraph.activity import Mark
from nbgraph.core.events import TaskFailed, TaskFinished, TaskInterrupted

__all__ = [
    "Progress",
    "Report",
    "Superstep",
    "TaskBar",
    "begun",
    "changed",
    "counted",
    "how_ended",
    "mark_of",
    "visited",
]

T = TypeVar("T")

Report = TaskFinished | TaskFailed | TaskInterrupted
"""How a task of a node ended."""

_NONE: Mapping[Any, int] = {}
_SEVERITY: Mapping[Mark, int] = {
    "idle": 0,
    "skipped": 1,
    "done": 2,
    "running": 3,
    "waiting": 4,
    "failed": 5,
}


_new, _set = object.__new__, object.__setattr__


def changed(record: T, **changes: Any) -> T:
    """Return a record without slots with some parts changed.

    Done a few times for every event: `dataclasses.replace` takes ten times as long.
    """
    other = _new(type(record))
    _set(other, "__dict__", record.__dict__ | changes)
    return other


@dataclass(frozen=True)
class Progress:
    """What a node has done so far: finished visits, their seconds, and since when it runs.

    `tries` is how often its newest task was tried, of `limit` times if that is known.
    """

    visits: int = 0
    seconds: float = 0.0
    since: float | None = None
    tries: int = 1
    limit: int | None = None


@dataclass(frozen=True)
class TaskBar:
    """One task of a superstep, as the timeline shows it; `how` is as `how_ended` says it."""

    task_id: str
    node: str
    mark: Mark = "idle"
    started: float | None = None
    seconds: float | None = None
    tries: int = 1
    how: str = ""


@dataclass(frozen=True)
class Superstep:
    """One superstep of the timeline; `number` counts from 1 over the thread.

    `planned` is the event that planned its tasks.
    """

    number: int
    tasks: tuple[TaskBar, ...]
    planned: int = 0
    _places: Mapping[str, int] = field(default_factory=lambda: _NONE, repr=False, compare=False)
    _marks: Mapping[tuple[str, Mark], int] = field(
        default_factory=lambda: _NONE, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if len(self.tasks) > 1 and not self._places:
            places = {bar.task_id: at for at, bar in enumerate(self.tasks)}
            object.__setattr__(self, "_places", places)
            marks: dict[tuple[str, Mark], int] = {}
            for bar in self.tasks:
                marks[bar.node, bar.mark] = marks.get((bar.node, bar.mark), 0) + 1
            object.__setattr__(self, "_marks", marks)

    def bar(self, task_id: str) -> TaskBar | None:
        """Return a task's bar, if it is one of these."""
        if len(self.tasks) == 1:
            return self.tasks[0] if self.tasks[0].task_id == task_id else None
        at = self._places.get(task_id)
        return None if at is None else self.tasks[at]

    def barred(self, bar: TaskBar) -> Superstep:
        """Return the superstep with one task's bar exchanged, without a look at the others."""
        if len(self.tasks) == 1:
            return changed(self, tasks=(bar,))
        at = self._places[bar.task_id]
        old = self.tasks[at]
        marks = dict(self._marks)
        marks[old.node, old.mark] -= 1
        marks[bar.node, bar.mark] = marks.get((bar.node, bar.mark), 0) + 1
        tasks = (*self.tasks[:at], bar, *self.tasks[at + 1 :])
        return changed(self, tasks=tasks, _marks=marks)

    def count(self, node: str, *marks: Mark) -> int:
        """Return how many tasks of a node have one of these marks, or any at all without."""
        wanted = marks or tuple(_SEVERITY)
        if len(self.tasks) == 1:
            return int(self.tasks[0].node == node and self.tasks[0].mark in wanted)
        return sum(self._marks.get((node, mark), 0) for mark in wanted)

    def mark(self, node: str) -> Mark:
        """Return the gravest mark of a node's tasks."""
        if len(self.tasks) == 1:
            return self.tasks[0].mark if self.tasks[0].node == node else "idle"
        worst: Mark = "idle"
        for mark, severity in _SEVERITY.items():
            if severity > _SEVERITY[worst] and self._marks.get((node, mark)):
                worst = mark
        return worst


def mark_of(report: Report) -> Mark:
    """Return the word for a node by how its task ended."""
    match report:
        case TaskFinished(attempts=attempts):
            return "done" if attempts else "skipped"
        case TaskInterrupted(interrupts=asked):
            return "waiting" if asked else "idle"
        case TaskFailed():
            return "failed"


def counted(known: Mapping[str, Progress], node: str, **changes: Any) -> Mapping[str, Progress]:
    """Return the progress of all nodes with that of one changed."""
    return {**known, node: changed(known.get(node) or Progress(), **changes)}


def begun(
    known: Mapping[str, Progress], node: str, at: float, mark: Mark
) -> Mapping[str, Progress]:
    """Return the progress of all nodes after one began; of tasks side by side the first counts."""
    old = known.get(node) or Progress()
    since = old.since if mark == "running" and old.since is not None else at
    return counted(known, node, tries=1, since=since)


def visited(known: Mapping[str, Progress], node: str, report: Report) -> Mapping[str, Progress]:
    """Return the progress of all nodes with a visit counted, or how often it was tried in vain."""
    match report:
        case TaskFinished(duration=seconds, attempts=tries):
            old = known.get(node) or Progress()
            visits, total = old.visits + 1, old.seconds + seconds
            return counted(known, node, visits=visits, seconds=total, tries=tries)
        case TaskFailed(attempts=tries):
            return counted(known, node, tries=tries)
        case TaskInterrupted():
            return known


def how_ended(report: Report | None) -> str:
    """Return how a task came to its result if its node did not return it just now, in words."""
    match report:
        case TaskFinished(attempts=0):
            return "skipped by hand"
        case TaskFinished(error=error) if error is not None:
            return "error handled"
        case TaskFinished(cached=True):
            return "cached"
        case _:
            return ""
