"""What there is to know of one node of a thread: what it was given, wrote, said, and its code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nbgraph.core.driver import HasSource, InnerLog, TellsInside
from nbgraph.core.events import RunStarted, SuperstepFinished, TaskFailed, TaskFinished, TaskSpec
from nbgraph.core.fold import fold
from nbgraph.core.loop import run_sync
from nbgraph.session import Session
from nbgraph.snapshot import LogLine, Report, Snapshot, Superstep

__all__ = ["Look", "inspect_node"]


@dataclass(frozen=True)
class Look:
    """A node as it stands in a session.

    Attributes
    ----------
    path : str
        The node.
    report : Report or None
        How its newest task ended.
    superstep : Superstep or None
        The newest one with a task of it, or of the sub-graph it stands in.
    inner_of : str
        The path of the sub-graph that it stands in; empty if it stands in none.
    """

    path: str
    report: Report | None
    superstep: Superstep | None
    session: Session = field(repr=False)
    snapshot: Snapshot = field(repr=False)
    inner_of: str = ""

    def input(self) -> Mapping[str, Any] | None:
        """Return the state that the newest task was given, as JSON; None if there is none."""
        if self._log is None or self._planned is None:
            return None
        sequence, tasks = self._planned
        state = self._state(self._log, sequence)
        return {**state, **(self._newest(tasks).payload or {})}

    @property
    def update(self) -> Mapping[str, Any] | None:
        """What the newest task wrote, as JSON; None if it did not finish."""
        return self.report.update if isinstance(self.report, TaskFinished) else None

    def output(self) -> Mapping[str, Any] | None:
        """Return the state after the newest task's superstep; None if that has not finished."""
        if self._log is None or self._planned is None or not isinstance(self.report, TaskFinished):
            return None
        ends = (
            event.sequence
            for event in self._log.events
            if isinstance(event, SuperstepFinished) and event.sequence > self._planned[0]
        )
        end = next(ends, None)
        return None if end is None else self._state(self._log, end)

    @property
    def said(self) -> Sequence[LogLine]:
        """What the node printed, logged and emitted, oldest first."""
        return [line for line in self.snapshot.log if line.node == self.path]

    @property
    def error(self) -> str | None:
        """The traceback of the newest task, if it failed."""
        if not isinstance(self.report, TaskFailed):
            return None
        error = self.report.error
        return error.traceback or f"{error.type}: {error.message}"

    @property
    def handled(self) -> str | None:
        """The traceback of an error that something stood in for; None if there was none."""
        error = self.report.error if isinstance(self.report, TaskFinished) else None
        return error and (error.traceback or f"{error.type}: {error.message}")

    def source(self) -> str | None:
        """Return the node's code; None where it cannot be had."""
        driver = self.session.driver
        return driver.source(self.path) if isinstance(driver, HasSource) else None

    @cached_property
    def _log(self) -> InnerLog | None:
        """The events of the thread that the node runs in: the session's, or a sub-graph's."""
        driver = self.session.driver
        if not self.inner_of:
            return InnerLog(self.session.history(), driver.folding)
        return (
            run_sync(driver.inner_log(self.inner_of)) if isinstance(driver, TellsInside) else None
        )

    @cached_property
    def _planned(self) -> tuple[int, Sequence[TaskSpec]] | None:
        """The event that planned the node's newest tasks, and those tasks."""
        name = self.path.removeprefix(f"{self.inner_of}/") if self.inner_of else self.path
        for event in reversed(() if self._log is None else self._log.events):
            match event:
                case RunStarted(tasks=tasks) | SuperstepFinished(next=tasks):
                    mine = [task for task in tasks or () if task.node == name]
                    if mine:
                        return event.sequence, mine
                case _:
                    pass
        return None

    def _newest(self, tasks: Sequence[TaskSpec]) -> TaskSpec:
        """Return the task that reported last, else the first one."""
        newest = self.report.task_id if self.report else ""
        return next((task for task in tasks if task.task_id == newest), tasks[0])

    def _state(self, log: InnerLog, upto: int) -> dict[str, Any]:
        events = [event for event in log.events if event.sequence <= upto]
        return log.folding.to_json(fold(events, log.folding).state)


def inspect_node(session: Session, path: str) -> Look:
    """Return what there is to know of a node, `"pay"`, or `"refund/pay"` in a sub-graph."""
    snapshot = session.snapshot
    way = session.driver.shape.ways().get(path, ())
    steps = (step for step in reversed(snapshot.supersteps) if step.count((*way, path)[0]))
    report = snapshot.reports.get(path)
    return Look(path, report, next(steps, None), session, snapshot, (way or ("",))[-1])
