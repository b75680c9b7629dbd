"""Middleware around one run: each hook at its time, and `on_run_end` once however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from nbgraph.core.events import Event, RunFailed, RunFinished, RunPaused
from nbgraph.core.interrupts import as_asked
from nbgraph.core.live import LiveEvent
from nbgraph.core.middleware import (
    GraphMiddlewareContext,
    Hook,
    Middleware,
    RunOutcome,
    hooks_of,
    told,
)
from nbgraph.core.position import Position

if TYPE_CHECKING:
    from nbgraph.core.calls import RunInfo

__all__ = ["RunHooks", "graph_context"]


def graph_context(info: RunInfo, *, resuming: bool) -> GraphMiddlewareContext:
    """Return what graph hooks are given where a run's log stands."""
    graph, log = info.graph, info.log
    return GraphMiddlewareContext(
        graph_name=graph.name,
        state=graph.schema.view(log.position.state),
        run_id=info.run_id,
        thread_id=log.thread_id,
        branch_id=log.branch_id,
        root_run_id=info.root_run_id,
        resuming=resuming,
    )


class RunHooks:
    """The graph hooks of one run, which ends with `end` or, if it was left before, with `close`.

    Parameters
    ----------
    middleware : sequence of Middleware
        The graph's.
    seen : function
        Returns the context as of this moment.
    """

    def __init__(
        self, middleware: Sequence[Middleware], seen: Callable[[], GraphMiddlewareContext]
    ) -> None:
        self._middleware = middleware
        self._seen = seen
        self._begun = 0
        self._ended = False

    async def begin(self) -> Exception | None:
        """Call `before_graph`; return what one raised, after which no other is called."""
        for each in self._middleware:
            self._begun += 1
            try:
                await told(each.before_graph, self._seen())
            except Exception as error:  # noqa: BLE001 - the run records it as its own
                return error
        return None

    async def end(self, last: Event | LiveEvent, position: Position) -> BaseException | None:
        """Call what follows a run's last event; return what the caller is to get in its place."""
        if not self._middleware:
            return None
        outcome = _outcome(last, position)
        problem = None
        if outcome.status == "completed":
            problem = await self._completed()
        if problem is not None:
            outcome = RunOutcome("failed", error=problem)
        return await self._finish(outcome) or problem

    async def _completed(self) -> Exception | None:
        try:
            for hook in hooks_of(self._middleware, "after_graph"):
                await told(hook, self._seen())
        except Exception as error:  # noqa: BLE001 - it is what the run then failed with
            return error
        return None

    async def _finish(self, outcome: RunOutcome) -> BaseException | None:
        """Call every `on_run_end`, once in a run; return an error that has no other place."""
        if self._ended:
            return None
        self._ended = True
        problems: list[BaseException] = []
        for hook in hooks_of(self._middleware[: self._begun], "on_run_end"):
            problems += await self._raised_by(hook, outcome)
        cancelled = [each for each in problems if isinstance(each, asyncio.CancelledError)]
        first = next(iter((*cancelled, *problems)), None)
        onto = outcome.error if outcome.error is not None and not cancelled else first
        for each in problems:
            if onto is not None and each is not onto:
                onto.add_note(f"on_run_end raised {type(each).__name__}: {each}")
        return first if onto is first else None

    async def _raised_by(self, hook: Hook, outcome: RunOutcome) -> list[BaseException]:
        try:
            await told(hook, self._seen(), outcome)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - all others run too
            return [error]
        return []

    async def close(self, error: BaseException | None) -> None:
        """Call what follows a run that was left before its end, by an error or by its reader."""
        failed = isinstance(error, Exception)
        outcome = RunOutcome("failed", error=error) if failed else RunOutcome("cancelled")
        problem = await self._finish(outcome)
        if problem is not None:
            raise problem


def _outcome(last: Event | LiveEvent, position: Position) -> RunOutcome:
    match last:
        case RunFinished():
            return RunOutcome("completed")
        case RunPaused():
            return RunOutcome("paused", interrupts=as_asked(position.pending))
        case RunFailed():
            return RunOutcome("failed", error=last.exception)
        case _:
            return RunOutcome("cancelled")
