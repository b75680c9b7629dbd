"""What there is to know of one node of a thread: what it was given, wrote, said, and its code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbgraph.core.driver import HasSource
from nbgraph.core.events import Event, TaskFailed, TaskFinished, TaskSpec
from nbgraph.core.position import fold
from nbgraph.session import Session
from nbgraph.snapshot import LogLine, Report, Snapshot, Superstep

__all__ = ["Look", "inspect_node"]


@dataclass(frozen=True, slots=True)
class Look:
    """A node as it stands in a session.

    Attributes
    ----------
    path : str
        The node.
    report : Report or None
        How its newest task ended.
    superstep : Superstep or None
        The newest one with a task of it.
    """

    path: str
    report: Report | None
    superstep: Superstep | None
    session: Session
    snapshot: Snapshot

    @property
    def is_inner(self) -> bool:
        """Whether the node stands in a sub-graph, whose state is kept in a thread of its own."""
        return "/" in self.path

    def input(self) -> Mapping[str, Any] | None:
        """Return the state that the newest task was given, as JSON; None if there is none."""
        if self.superstep is None:
            return None
        events = [event for event in self.session.history() if event.sequence <= self._planned]
        state = self._state(events)
        return {**state, **(self._payload(events) or {})}

    @property
    def update(self) -> Mapping[str, Any] | None:
        """What the newest task wrote, as JSON; None if it did not finish."""
        return self.report.update if isinstance(self.report, TaskFinished) else None

    def output(self) -> Mapping[str, Any] | None:
        """Return the state after the newest task's superstep; None if that has not finished."""
        if self.superstep is None or not isinstance(self.report, TaskFinished):
            return None
        events = self.session.history()
        ends = (
            event.sequence
            for event in events
            if event.type == "superstep_finished" and event.sequence > self._planned
        )
        end = next(ends, None)
        if end is None:
            return None
        return self._state([event for event in events if event.sequence <= end])

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

    def source(self) -> str | None:
        """Return the node's code; None where it cannot be had."""
        driver = self.session.driver
        return driver.source(self.path) if isinstance(driver, HasSource) else None

    @property
    def _planned(self) -> int:
        return 0 if self.superstep is None else self.superstep.planned

    def _state(self, events: Sequence[Event]) -> dict[str, Any]:
        folding = self.session.driver.folding
        return folding.to_json(fold(events, folding).state)

    def _payload(self, events: Sequence[Event]) -> Mapping[str, Any] | None:
        tasks: Sequence[TaskSpec] = fold(events, self.session.driver.folding).tasks
        mine = [task for task in tasks if task.node == self.path]
        newest = self.report.task_id if self.report else ""
        chosen = next((task for task in mine if task.task_id == newest), mine[0] if mine else None)
        return None if chosen is None else chosen.payload


def inspect_node(session: Session, path: str) -> Look:
    """Return what there is to know of a node, `"pay"`, or `"refund/pay"` in a sub-graph."""
    snapshot = session.snapshot
    steps = (step for step in reversed(snapshot.supersteps) if step.count(path))
    return Look(path, snapshot.reports.get(path), next(steps, None), session, snapshot)
