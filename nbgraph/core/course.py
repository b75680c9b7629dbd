"""The course of one run, decided without I/O: what follows a superstep, and where the run ends."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from nbgraph.core.endings import Limits, failed
from nbgraph.core.events import (
    Event,
    RunFinished,
    RunPaused,
    SuperstepFinished,
    TaskSpec,
)
from nbgraph.core.fold import merged_state
from nbgraph.core.position import Position
from nbgraph.core.record import made, made_of
from nbgraph.core.superstep import breaks_when, check_conflicts, next_tasks
from nbgraph.errors import GraphExecutionError, RunLimitExceededError

if TYPE_CHECKING:
    from nbgraph.core.graph import Graph
    from nbgraph.core.log import Draft

__all__ = ["Course"]

_NO_JOINS: Mapping[str, tuple[str, ...]] = {}


class Course:
    """What one run does next, within its limits.

    Parameters
    ----------
    graph : Graph
        What runs.
    limits : Limits
        How far the run may go.
    stored : bool
        Whether there is a store, without which a run cannot pause.

    Attributes
    ----------
    steps : int
        Supersteps the run has finished.
    resuming : bool
        Whether the run goes on with an unfinished turn.
    passing : bool
        Whether the breakpoint before the tasks at hand is passed.
    pausing : bool
        Whether the run is to pause before its next superstep.
    """

    def __init__(self, graph: Graph, limits: Limits, *, stored: bool) -> None:
        self.steps = 0
        self.resuming = True
        self.passing = False
        self.pausing = False
        self._graph = graph
        self._schema = graph.schema
        self._structure = graph.structure
        self._limits = limits
        self._stored = stored
        asked = (limits.break_when, limits.until, limits.steps, limits.max_thread_steps)
        self._goes_on = not graph.interrupt_before and all(each is None for each in asked)

    def breakpoints(self, position: Position) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the nodes to pause before and after: the branch's own, else the graph's."""
        graph = self._graph
        return (
            graph.interrupt_before if position.before is None else position.before,
            graph.interrupt_after if position.after is None else position.after,
        )

    def begin(self, draft: Draft) -> None:
        """Add what follows a run's opening without running anything."""
        if draft.position.runnable:
            self._check_before(draft)
        else:
            self.close(draft)
        self.passing = False

    def close(self, draft: Draft) -> None:
        """Add what ends a superstep whose tasks have all reported."""
        position = draft.position
        if position.pending:
            draft.add(self._asks())
        elif position.children and position.held:
            draft.add(RunPaused(reason=position.held))
        elif position.merged:
            self._route(draft, position.state)
        elif self._limits.tasks and position.unfinished:  # only some of them were to run
            draft.add(RunPaused(reason="step"))
        else:
            self._merge(draft)

    def _merge(self, draft: Draft) -> None:
        position = draft.position
        try:
            if len(position.tasks) > 1:
                check_conflicts(position, self._schema)
            state = merged_state(position, self._schema)
        except Exception as error:  # noqa: BLE001 - a reducer is the user's own code
            draft.add(failed(error))
            return
        self.steps += 1
        self._route(draft, state)

    def _route(self, draft: Draft, state: Mapping[str, Any]) -> None:
        """Add which tasks follow a merged superstep, or that it pauses first, or that none do."""
        position = draft.position
        after = self._graph.interrupt_after if position.after is None else position.after
        pauses = bool(after) and not position.merged and _breaks(after, position)
        failure: Exception | None = None
        following: tuple[TaskSpec, ...] = ()
        joins = _NO_JOINS
        try:
            following, joins = next_tasks(
                self._structure, position, partial(self._schema.view, state)
            )
        except Exception as error:  # noqa: BLE001 - a router is the user's own code
            failure = error
        stays = failure is not None or (pauses and following)
        if stays and not position.merged:
            draft.finish(made(SuperstepFinished, next=None, joins=dict(position.joins)), state)
        if stays:  # a router that failed is asked again, and heard, when the pause is over
            draft.add(failed(failure) if failure and not pauses else RunPaused(reason="after"))
            return
        routed: dict[str, Any] = {"next": following, "joins": dict(joins)}
        draft.finish(made_of(SuperstepFinished, routed), state)
        if following:
            self._check_before(draft)
        else:
            draft.add(RunFinished(open_joins=tuple(joins)))

    def _asks(self) -> Event:
        if self._stored:
            return RunPaused(reason="interrupt")
        return failed(
            GraphExecutionError(
                f"Graph {self._graph.name!r} asks, and a pause needs a state store; pass "
                "state_store= to Graph or to the call, and a thread_id"
            )
        )

    def _check_before(self, draft: Draft) -> None:
        """End the run before its next superstep, if something says so."""
        if (
            self._goes_on
            and self.steps < self._limits.max_steps
            and not (self.pausing or draft.position.before)
        ):
            return
        try:
            reason = self._reason_before(draft.position)
        except Exception as error:  # noqa: BLE001 - break_when is the user's own code
            draft.add(failed(error))
            return
        limits = self._limits
        if reason is not None:
            draft.add(RunPaused(reason=reason))
        elif self.steps >= limits.max_steps:
            draft.add(failed(RunLimitExceededError("max_steps", limits.max_steps)))
        elif limits.max_thread_steps is not None and draft.position.step >= limits.max_thread_steps:
            error = RunLimitExceededError("max_thread_steps", limits.max_thread_steps)
            draft.add(failed(error))

    def _reason_before(
        self, position: Position
    ) -> Literal["before", "until", "step", "pause"] | None:
        limits = self._limits
        before = self._graph.interrupt_before if position.before is None else position.before
        if (before or limits.break_when) and self._breaks_before(position, before):
            return "before"
        if limits.until and limits.until in _nodes(position) and (self.steps or not self.resuming):
            return "until"
        if limits.steps is not None and self.steps >= limits.steps:
            return "step"
        return "pause" if self.pausing else None

    def _breaks_before(self, position: Position, before: tuple[str, ...]) -> bool:
        if self.passing or position.entered:
            return False
        if "*" in before or not _nodes(position).isdisjoint(before):
            return True
        return breaks_when(self._limits.break_when, self._schema, position)


def _breaks(after: tuple[str, ...], position: Position) -> bool:
    return any("*" in after or task.node in after for task in position.tasks)


def _nodes(position: Position) -> set[str]:
    """Return the nodes that are about to run."""
    return {task.node for task in position.runnable}
