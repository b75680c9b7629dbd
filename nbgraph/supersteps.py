"""The supersteps of a thread, as a timeline shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nbgraph.activity import Mark
from nbgraph.core.events import TaskFailed, TaskFinished, TaskInterrupted

__all__ = ["Progress", "Report", "Superstep", "TaskBar", "changed", "how_ended", "mark_of"]

T = TypeVar("T")

Report = TaskFinished | TaskFailed | TaskInterrupted
"""How a task of a node ended."""

_SEVERITY: Mapping[Mark, int] = {
    "idle": 0,
    "skipped": 1,
    "done": 2,
    "running": 3,
    "waiting": 4,
    "failed": 5,
}


def changed(record: T, **changes: Any) -> T:
    """Return a record without slots with some parts changed.

    Done a few times for every event: `dataclasses.replace` takes ten times as long.
    """
    other = object.__new__(type(record))
    other.__dict__.update(record.__dict__)
    other.__dict__.update(changes)
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
    _places: Mapping[str, int] = field(default_factory=dict[str, int], repr=False, compare=False)
    _marks: Mapping[tuple[str, Mark], int] = field(
        default_factory=dict[tuple[str, Mark], int], repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if not self._places:
            places = {bar.task_id: at for at, bar in enumerate(self.tasks)}
            object.__setattr__(self, "_places", places)
            marks: dict[tuple[str, Mark], int] = {}
            for bar in self.tasks:
                marks[bar.node, bar.mark] = marks.get((bar.node, bar.mark), 0) + 1
            object.__setattr__(self, "_marks", marks)

    def bar(self, task_id: str) -> TaskBar | None:
        """Return a task's bar, if it is one of these."""
        at = self._places.get(task_id)
        return None if at is None else self.tasks[at]

    def barred(self, bar: TaskBar) -> Superstep:
        """Return the superstep with one task's bar exchanged, without a look at the others."""
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
        return sum(self._marks.get((node, mark), 0) for mark in wanted)

    def mark(self, node: str) -> Mark:
        """Return the gravest mark of a node's tasks."""
        if len(self.tasks) == 1 and self.tasks[0].node == node:
            return self.tasks[0].mark
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
