"""Where a thread stands after some event of its log; `nbgraph.core.fold` leads there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from nbgraph.core.events import (
    ChildPlace,
    Interrupt,
    RunFailed,
    TaskFailed,
    TaskFinished,
    TaskSpec,
)
from nbgraph.core.questions import Answered
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.record import empty
from nbgraph.core.starts import Began
from nbgraph.core.store import BranchSummary, Status

__all__ = ["Answered", "Position", "position_with"]


@dataclass(frozen=True, slots=False)
class Position:
    """Where a branch stands after some event.

    Attributes
    ----------
    sequence : int
        The event's number; 0 before the first.
    step : int
        How many supersteps the thread has finished.
    state : mapping
        The state's fields, as Python values.
    tasks : tuple of TaskSpec
        The current superstep, in the order in which updates apply.
    finished, failed
        What is recorded of these tasks.
    began : mapping of task id to tuple of str or None
        What began in these tasks, must happen at most once, and has no result: keys of `ctx.once`,
        and None for the node itself.
    pending : mapping of str to Interrupt
        Questions that wait for an answer, by key.
    answered : mapping of str to Answered
        Answers the tasks were given, by key.
    caches, once, hooked : mapping of task id to mapping
        What `ctx.cache` and `ctx.once` kept for the tasks' next run, and answers middleware gave.
    children : mapping of task id to ChildPlace
        Where the sub-graphs of these tasks stood when last reported.
    planned, planned_at : int and float
        The event that planned the tasks, and when it was recorded; 0 before the first turn.
    joins : mapping of str to tuple of str
        Sources that arrived at joins that still wait.
    before, after : tuple of str or None
        Breakpoints of this branch; None until a call sets some.
    merged : bool
        The tasks' updates are in the state and the next tasks are not chosen yet.
    paused : str or None
        Why the last run paused, if the thread still stands there.
    failure : RunFailed or None
        What the last run ended with, if the thread still stands there.
    """

    sequence: int = 0
    step: int = 0
    state: Mapping[str, Any] = field(default_factory=empty)
    tasks: tuple[TaskSpec, ...] = ()
    finished: Mapping[str, TaskFinished] = field(default_factory=empty)
    failed: Mapping[str, TaskFailed] = field(default_factory=empty)
    began: Began = field(default_factory=empty)
    pending: Mapping[str, Interrupt] = field(default_factory=empty)
    answered: Mapping[str, Answered] = field(default_factory=empty)
    caches: Mapping[str, Mapping[str, Any]] = field(default_factory=empty)
    once: Mapping[str, Mapping[str, Any]] = field(default_factory=empty)
    hooked: Mapping[str, Mapping[str, Any]] = field(default_factory=empty)
    children: Mapping[str, ChildPlace] = field(default_factory=empty)
    planned: int = 0
    planned_at: float = 0.0
    joins: Mapping[str, tuple[str, ...]] = field(default_factory=empty)
    before: tuple[str, ...] | None = None
    after: tuple[str, ...] | None = None
    merged: bool = False
    paused: str | None = None
    failure: RunFailed | None = None

    @property
    def status(self) -> Status:
        """Where the thread stands; a log does not know whether somebody runs it now."""
        if not (self.step or self.tasks or self.planned):
            return "new"
        if self.failure is not None:
            return "failed"
        if self.pending or self.paused in ("before", "after", "step", "until", "pause"):
            return "interrupted"
        if self.failed:
            return "failed"
        return "stopped" if self.tasks else "completed"

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes of the tasks that have not finished; none while the next are not chosen.

        Where a sub-graph stands at a breakpoint, they are those inside it: `"refund/pay"`.
        """
        if self.merged:
            return ()
        return tuple(path for task in self.unfinished for path in self._next_of(task))

    def _next_of(self, task: TaskSpec) -> tuple[str, ...]:
        place = self.children.get(task.task_id)
        if place is None or not place.next:
            return (task.node,)
        return tuple(f"{task.node}/{path}" for path in place.next)

    @property
    def held(self) -> Literal["before", "after", "until", "step"] | None:
        """Why a sub-graph of these tasks stands without asking anything, if one does."""
        if not self.children:
            return None
        places = (self.children.get(task.task_id) for task in self.unfinished)
        return next((place.paused for place in places if place and place.paused), None)

    @property
    def unfinished(self) -> tuple[TaskSpec, ...]:
        """The planned tasks without a recorded result."""
        if not self.finished:
            return self.tasks
        return tuple(task for task in self.tasks if task.task_id not in self.finished)

    @property
    def runnable(self) -> tuple[TaskSpec, ...]:
        """The unfinished tasks that wait for no answer."""
        if not self.pending:
            return self.unfinished
        waiting = {interrupt.task_id for interrupt in self.pending.values()}
        return tuple(task for task in self.unfinished if task.task_id not in waiting)

    @property
    def unmerged(self) -> bool:
        """Whether all planned tasks have a result, and these are not in the state."""
        return bool(self.tasks) and not (self.merged or self.unfinished)

    @property
    def entered(self) -> bool:
        """Whether something is recorded of the current superstep's tasks."""
        asked = self.pending or self.answered or self.children
        return bool(asked or self.finished or self.failed or self.began or self.once)

    def moved(self, **changes: Any) -> Position:
        """Return the position with some parts changed.

        Done for every event: `dataclasses.replace` takes ten times as long, which is why this is
        the one record without slots.
        """
        return position_with(self.__dict__ | changes)

    def summary(self, graph: str) -> BranchSummary:
        """Return what a store lists of the branch."""
        return BranchSummary(graph, self.status, self.step, tuple(self.pending.values()))


_set_values = Position.__dict__["__dict__"].__set__


def position_with(values: dict[str, Any]) -> Position:
    """Return the position that owns these values, which are all there."""
    position = object.__new__(Position)
    _set_values(position, values)
    return position
