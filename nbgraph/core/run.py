"""Run a branch: the superstep loop. Each event is recorded, then yielded."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from nbgraph.core.calls import RunInfo
from nbgraph.core.context import Home, Parent, Port, runs_on
from nbgraph.core.endings import Limits
from nbgraph.core.endings import echoed as _echoed
from nbgraph.core.endings import failed as _failed
from nbgraph.core.events import (
    BreakpointsSet,
    Event,
    LiveEvent,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStopped,
    SuperstepFinished,
    TaskEmitted,
    TaskSpec,
    TaskStarted,
    made,
)
from nbgraph.core.executor import THREADS, Batch, Executor, parts
from nbgraph.core.facts import Facts, Recording
from nbgraph.core.inbox import Inbox
from nbgraph.core.log import Draft, Log
from nbgraph.core.middleware import GraphMiddlewareContext
from nbgraph.core.position import Position, merged_state
from nbgraph.core.requests import Stop
from nbgraph.core.run_hooks import RunHooks, graph_context
from nbgraph.core.superstep import breaks_when, check_conflicts, next_tasks
from nbgraph.core.task import Outcome
from nbgraph.errors import GraphExecutionError, GraphTimeoutError, RunLimitExceededError

if TYPE_CHECKING:
    from nbgraph.core.graph import Graph

__all__ = ["Limits", "Superstepper"]


_BREATH = 0.001
"""Seconds for which a run may hold the loop by itself."""
_Item = Outcome | LiveEvent | Recording | Stop | BreakpointsSet


class Superstepper:
    """Carries out one request on a branch, from where it stands to the next end of a run."""

    def __init__(
        self,
        graph: Graph,
        log: Log,
        limits: Limits,
        given: Any,
        *,
        stream_modes: frozenset[str] = frozenset(),
        executor: Executor = THREADS,
        parent: Parent | None = None,
        watched: bool = True,
    ) -> None:
        self.run_id = uuid4().hex
        self.steps = 0
        self._graph = graph
        self._log = log
        self._limits = limits
        self._executor = executor
        root_run_id, asker = (parent.root_run_id, parent.asker) if parent else (self.run_id, None)
        self._info = RunInfo(graph, log, self.run_id, root_run_id, given, stream_modes, asker)
        self._inbox: Inbox[_Item] = Inbox()
        self._over = False
        self._pausing = False
        self._passing = False
        self._resuming = True
        self._hooks = RunHooks(graph.middleware, self._graph_seen)
        self._spent = 0.0
        self._facts = Facts(self._inbox.put_nowait)
        self._jobs: list[asyncio.Task[None]] = []
        self._planned: Sequence[TaskSpec] = ()
        self._waiting: set[str] = set()
        self._watched = watched
        self._breathed = 0.0
        self._outlet: Port | None = None

    def tell(self, item: Stop | BreakpointsSet) -> None:
        """End the run, at once or with its superstep, or let it pause elsewhere; on its loop."""
        self._inbox.put_nowait(item)

    async def happenings(
        self, opening: Sequence[Event], *, passing: bool
    ) -> AsyncGenerator[Sequence[Event | LiveEvent], None]:
        """Record the opening, run supersteps until the run ends, and yield all that happens.

        What became known together is yielded together; of a run that nobody watches, how it ended
        is all. `passing` goes past the breakpoint before the tasks at hand.
        """
        self._passing = passing
        try:
            happened = await self._announced(await self._begin(opening))
            while not self._over:
                if self._watched:
                    yield happened
                happened = await self._advance()
            problem = await self._hooks.end(happened[-1], self._log.position)
            yield happened
            if problem is not None:
                raise problem
        finally:
            await self._end()
            await self._hooks.close(sys.exception())

    async def _announced(self, happened: Sequence[Event]) -> Sequence[Event]:
        """Let middleware see that a run begins; what it raises ends a run that is not over."""
        error = await self._hooks.begin()
        if error is None:
            return happened
        if self._over:
            raise error
        return [*happened, *await self._commit(self._log.draft([_failed(error)]))]

    def _graph_seen(self) -> GraphMiddlewareContext:
        return graph_context(self._info, resuming=self._resuming)

    async def _end(self) -> None:
        """Cancel what still runs, and let go of workers that wait for a record."""
        self._over = True
        self._log.let_go()
        self._facts.close()
        await self._cancel()

    async def _cancel(self) -> None:
        running = [job for job in self._jobs if not job.done()]
        for job in running:
            job.cancel()
        if running:
            await asyncio.gather(*running, return_exceptions=True)

    async def _begin(self, opening: Sequence[Event]) -> Sequence[Event]:
        """Record the opening together with what follows from it without running anything."""
        self._resuming = not any(isinstance(event, RunStarted) for event in opening)
        draft = self._log.draft(opening)
        if draft.position.runnable:
            self._check_before(draft)
        else:
            self._close(draft)
        self._passing = False
        self._log.take_over(self.run_id)
        return await self._commit(draft)

    async def _commit(self, draft: Draft) -> Sequence[Event]:
        events = await self._log.commit(draft)
        self._over = self._over or draft.ends_run
        return events

    def _plan(self) -> Sequence[LiveEvent]:
        """Say that the tasks of a superstep start, to whoever watches."""
        tasks = self._log.position.runnable
        if self._limits.tasks and not self.steps:
            tasks = tuple(task for task in tasks if task.task_id in self._limits.tasks)
        self._planned = tasks
        self._waiting = {task.task_id for task in tasks}
        if not self._watched:
            return ()
        now = time.time()
        return [TaskStarted(task.task_id, task.node, now) for task in tasks]

    def _start(self) -> None:
        """Start the tasks of a superstep."""
        tasks, self._planned = self._planned, ()
        port = self._outlet = self._outlet or self._port(asyncio.get_running_loop())
        calls = list(self._info.calls(tasks, port, self.steps))
        self._jobs = []
        batch = Batch(self._info, self.steps, calls, self._inbox.put_nowait)
        for executor, part in parts(batch, self._executor):
            self._jobs += executor.start(part)

    def _port(self, loop: asyncio.AbstractEventLoop) -> Port:
        def say(event: TaskEmitted) -> None:
            if runs_on(loop):  # at once: else it would come after the task's outcome
                self._inbox.put_nowait(event)
            else:
                loop.call_soon_threadsafe(self._inbox.put_nowait, event)

        return Port(loop=loop, say=say, record=self._facts.record, home=self._home)

    def _home(self) -> Home:
        log, position = self._log, self._log.position
        before, after = self._breakpoints(position)
        return Home(
            store=log.store,
            root=log.root or log.thread_id,
            position=position,
            schema=self._graph.schema,
            before=before,
            after=after,
            into=self._limits.into,
            tell=self._inbox.put_nowait,
            executor=self._executor,
            until=self._limits.until,
        )

    async def _advance(self) -> Sequence[Event | LiveEvent]:
        """Take what has happened since the last look, record it as one commit, and return it.

        Tasks that were planned are started, unless something came in between.
        """
        if not self._waiting:
            started = self._plan()
            if started:
                return started
        items = await self._taken()
        ends = any(map(_ends, items))
        if ends:
            await self._cancel()
            items += self._inbox.at_hand()  # what is known by then is recorded too
        news = _sorted(items)
        outcomes, facts = news.outcomes, news.facts
        self._pausing = self._pausing or bool(news.stops)
        self._waiting.difference_update([item.task_id for item in outcomes])
        if facts:
            facts = self._facts.admitted(facts, () if ends else self._waiting)
        stops = any(not stop.gently for stop in news.stops)
        if not (stops or outcomes or facts or news.asked):
            return news.live
        told = [*news.asked, *(item.fact for item in facts)]
        happened = await self._commit(self._reported(outcomes, told, stops=stops))
        self._facts.recorded(facts)
        return [*news.live, *happened]

    async def _taken(self) -> list[_Item]:
        """Start what is planned, and return what happens next, within the time the run has."""
        limit = self._limits.timeout
        if limit is None:
            return await self._awaited()
        clock = time.perf_counter()
        try:
            if self._spent >= limit:
                raise TimeoutError
            async with asyncio.timeout(limit - self._spent):
                return await self._awaited()
        except TimeoutError:
            error = GraphTimeoutError(self._graph.name, limit)
            return [Outcome("", _failed(error), error), *self._inbox.at_hand()]
        finally:
            self._spent += time.perf_counter() - clock

    async def _awaited(self) -> list[_Item]:
        if self._planned and not self._inbox:
            self._start()
        if self._inbox:
            await self._breathe()
        return await self._inbox.get()

    async def _breathe(self) -> None:
        """Let others have their turn of the loop where tasks wait for nothing: 3 us, now and then.

        A reader, a stop, another run: nobody waits longer than before a node that computes.
        """
        now = time.perf_counter()
        if now - self._breathed > _BREATH:
            await asyncio.sleep(0)
            self._breathed = time.perf_counter()

    def _reported(
        self, outcomes: Sequence[Outcome], told: Sequence[Event], *, stops: bool
    ) -> Draft:
        """Return what outcomes lead to: a failure, the end of the superstep, or just themselves.

        `told` comes first: what tasks had recorded before.
        """
        # A run's own failure, which has no task, comes after what tasks report.
        ordered = sorted(outcomes, key=_is_of_run) if len(outcomes) > 1 else outcomes
        draft = self._log.draft([*told, *(event for item in ordered for event in item.events)])
        failed = {item.task_id: item for item in outcomes if item.exception is not None}
        if "" in failed:
            return draft
        if failed:
            order = [task.task_id for task in draft.position.tasks if task.task_id in failed]
            draft.add(_echoed(*(failed[task_id] for task_id in order)))
        elif stops:
            draft.add(RunStopped())
        elif not self._waiting:
            self._close(draft)
        return draft

    def _close(self, draft: Draft) -> None:
        """Add what ends a superstep whose tasks have all reported."""
        position, graph = draft.position, self._graph
        if position.pending:
            draft.add(self._asks())
            return
        if position.held:
            draft.add(RunPaused(reason=position.held))
            return
        if position.merged:
            self._route(draft, position.state)
            return
        if position.unfinished:  # only some of the tasks were to run
            draft.add(RunPaused(reason="step"))
            return
        try:
            check_conflicts(position, graph.schema)
            state = merged_state(position, graph.schema)
        except Exception as error:  # noqa: BLE001 - a reducer is the user's own code
            draft.add(_failed(error))
            return
        self.steps += 1
        self._route(draft, state)

    def _route(self, draft: Draft, state: Mapping[str, Any]) -> None:
        """Add which tasks follow a merged superstep, or that it pauses first, or that none do."""
        position, graph = draft.position, self._graph
        pauses = not position.merged and self._breaks_after(draft)
        failure: Exception | None = None
        following: tuple[TaskSpec, ...] = ()
        joins: Mapping[str, tuple[str, ...]] = {}
        try:
            following, joins = next_tasks(
                graph.structure, position, partial(graph.schema.view, state)
            )
        except Exception as error:  # noqa: BLE001 - a router is the user's own code
            failure = error
        stays = failure is not None or (pauses and following)
        if stays and not position.merged:
            draft.finish(made(SuperstepFinished, next=None, joins=dict(position.joins)), state)
        if stays:
            draft.add(_failed(failure) if failure and not pauses else RunPaused(reason="after"))
            return
        draft.finish(made(SuperstepFinished, next=following, joins=dict(joins)), state)
        if following:
            self._check_before(draft)
        else:
            draft.add(RunFinished(open_joins=tuple(joins)))

    def _asks(self) -> Event:
        if self._log.store is not None:
            return RunPaused(reason="interrupt")
        return _failed(
            GraphExecutionError(
                f"Graph {self._graph.name!r} asks, and a pause needs a state store; pass "
                "state_store= to Graph or to the call, and a thread_id"
            )
        )

    def _breaks_after(self, draft: Draft) -> bool:
        _, after = self._breakpoints(draft.position)
        if not after:
            return False
        return any("*" in after or task.node in after for task in draft.position.tasks)

    def _breakpoints(self, position: Position) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the nodes to pause before and after: the branch's own, else the graph's."""
        graph = self._graph
        return (
            graph.interrupt_before if position.before is None else position.before,
            graph.interrupt_after if position.after is None else position.after,
        )

    def _check_before(self, draft: Draft) -> None:
        """End the run before its next superstep, if something says so."""
        try:
            reason = self._reason_before(draft)
        except Exception as error:  # noqa: BLE001 - break_when is the user's own code
            draft.add(_failed(error))
            return
        if reason is not None:
            draft.add(RunPaused(reason=reason))
            return
        limits = self._limits
        if self.steps >= limits.max_steps:
            draft.add(_failed(RunLimitExceededError("max_steps", limits.max_steps)))
        elif limits.max_thread_steps is not None and draft.position.step >= limits.max_thread_steps:
            error = RunLimitExceededError("max_thread_steps", limits.max_thread_steps)
            draft.add(_failed(error))

    def _reason_before(self, draft: Draft) -> Literal["before", "until", "step", "pause"] | None:
        limits, position = self._limits, draft.position
        if self._breaks_before(position):
            return "before"
        if limits.until and limits.until in _nodes(position) and (self.steps or not self._resuming):
            return "until"
        if limits.steps is not None and self.steps >= limits.steps:
            return "step"
        return "pause" if self._pausing else None

    def _breaks_before(self, position: Position) -> bool:
        before, _ = self._breakpoints(position)
        predicate = self._limits.break_when
        if not (before or predicate) or self._passing or position.entered:
            return False
        if "*" in before or not _nodes(position).isdisjoint(before):
            return True
        return breaks_when(predicate, self._graph.schema, position)


def _nodes(position: Position) -> set[str]:
    """Return the nodes that are about to run."""
    return {task.node for task in position.runnable}


def _is_of_run(outcome: Outcome) -> bool:
    return not outcome.task_id


@dataclass(slots=True)
class _News:
    """What has happened since the last look, by kind and in order."""

    live: list[Event | LiveEvent] = field(default_factory=list[Event | LiveEvent])
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    facts: list[Recording] = field(default_factory=list[Recording])
    asked: list[BreakpointsSet] = field(default_factory=list[BreakpointsSet])
    stops: list[Stop] = field(default_factory=list[Stop])


def _sorted(items: Iterable[_Item]) -> _News:
    news = _News()
    for item in items:
        match item:
            case Outcome(said=said):
                news.outcomes.append(item)
                news.live.extend(said)
            case Recording():
                news.facts.append(item)
            case BreakpointsSet():
                news.asked.append(item)
            case Stop():
                news.stops.append(item)
            case _:
                news.live.append(item)
    return news


def _ends(item: _Item) -> bool:
    """Return whether an item ends the run before its superstep is finished."""
    match item:
        case Outcome(exception=exception):
            return exception is not None
        case Stop(gently=gently):
            return not gently
        case _:
            return False
