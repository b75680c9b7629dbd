"""Run a branch: the superstep loop. Each event is recorded, then yielded."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from nbgraph.core.calls import RunInfo
from nbgraph.core.context import Home, Parent, Port, runs_on
from nbgraph.core.course import Course
from nbgraph.core.endings import Limits, echoed, failed
from nbgraph.core.events import BreakpointsSet, Event, RunStarted, RunStopped, TaskSpec
from nbgraph.core.executor import THREADS, Batch, Executor, parts
from nbgraph.core.facts import Facts, Recording
from nbgraph.core.inbox import Inbox
from nbgraph.core.live import LiveEvent, TaskEmitted, TaskStarted
from nbgraph.core.log import Draft, Log
from nbgraph.core.middleware import GraphMiddlewareContext
from nbgraph.core.outcome import Outcome
from nbgraph.core.requests import Stop
from nbgraph.core.run_hooks import RunHooks, graph_context
from nbgraph.errors import GraphTimeoutError

if TYPE_CHECKING:
    from nbgraph.core.graph import Graph

__all__ = ["Superstepper"]


_id_of = attrgetter("task_id")
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
        self._graph = graph
        self._log = log
        self._limits = limits
        self._executor = executor
        self._is_whole = "remote" not in executor.capabilities
        root_run_id, asker = (parent.root_run_id, parent.asker) if parent else (self.run_id, None)
        self._info = RunInfo(graph, log, self.run_id, root_run_id, given, stream_modes, asker)
        self._inbox: Inbox[_Item] = Inbox()
        self._over = False
        self._course = Course(graph, limits, stored=log.store is not None)
        self._hooks = RunHooks(graph.middleware, self._graph_seen)
        self._spent = 0.0
        self._facts = Facts(self._inbox.put_nowait)
        self._jobs: Sequence[asyncio.Task[None]] = ()
        self._planned: Sequence[TaskSpec] = ()
        self._waiting: set[str] = set()
        self._watched = watched
        self._breathed = 0.0
        self._outlet: Port | None = None

    @property
    def steps(self) -> int:
        """How many supersteps the run has finished."""
        return self._course.steps

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
        self._course.passing = passing
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
        ending = await self._log.commit(self._log.draft([failed(error)]))
        self._over = True
        return [*happened, *ending]

    def _graph_seen(self) -> GraphMiddlewareContext:
        return graph_context(self._info, resuming=self._course.resuming)

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
        self._course.resuming = not any(isinstance(event, RunStarted) for event in opening)
        draft = self._log.draft(opening)
        self._course.begin(draft)
        self._log.take_over(self.run_id)
        await self._log.commit(draft)
        self._over = draft.ends_run
        return draft.events

    def _plan(self) -> Sequence[LiveEvent]:
        """Say that the tasks of a superstep start, to whoever watches."""
        tasks = self._log.position.runnable
        if self._limits.tasks and not self._course.steps:
            tasks = tuple(task for task in tasks if task.task_id in self._limits.tasks)
        self._planned = tasks
        self._waiting = set(map(_id_of, tasks))
        if not self._watched:
            return ()
        now = time.time()
        return [TaskStarted(task.task_id, task.node, now) for task in tasks]

    def _start(self) -> None:
        """Start the tasks of a superstep."""
        tasks, self._planned = self._planned, ()
        port = self._outlet = self._outlet or self._port(asyncio.get_running_loop())
        step = self._course.steps
        calls = self._info.calls(tasks, port, step)
        batch = Batch(self._info, step, calls, self._inbox.put_nowait)
        if self._is_whole:
            self._jobs = self._executor.start(batch)
            return
        self._jobs = jobs = list[asyncio.Task[None]]()
        for executor, part in parts(batch, self._executor):
            jobs += executor.start(part)

    def _port(self, loop: asyncio.AbstractEventLoop) -> Port:
        def say(event: TaskEmitted) -> None:
            if runs_on(loop):  # at once: else it would come after the task's outcome
                self._inbox.put_nowait(event)
            else:
                loop.call_soon_threadsafe(self._inbox.put_nowait, event)

        return Port(loop=loop, say=say, record=self._facts.record, home=self._home)

    def _home(self) -> Home:
        log, position = self._log, self._log.position
        before, after = self._course.breakpoints(position)
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
        limit = self._limits.timeout
        items = self._at_once() if limit is None else await self._taken_within(limit)
        items = items or await self._heard()
        news = _News(items)
        if news.ends:
            await self._cancel()
            news = _News([*items, *self._inbox.at_hand()])  # what is known by then counts too
        for outcome in news.outcomes:
            self._waiting.discard(outcome.task_id)
        stops = bool(news.stops) and self._asked_to_stop(news.stops)
        facts = news.facts
        if facts:
            facts = self._facts.admitted(facts, () if news.ends else self._waiting)
        if not (stops or news.outcomes or facts or news.asked):
            return news.live
        draft = self._reported(news, facts, stops=stops)
        await self._log.commit(draft)
        self._over = draft.ends_run
        if facts:
            self._facts.recorded(facts)
        return [*news.live, *draft.events] if news.live else draft.events

    def _asked_to_stop(self, stops: Sequence[Stop]) -> bool:
        """Return whether the run is to end at once; else it pauses when its superstep is over."""
        self._course.pausing = True
        return not all(stop.gently for stop in stops)

    async def _taken_within(self, limit: float) -> list[_Item]:
        """Do what `_taken` does in the time the run has left."""
        clock = time.perf_counter()
        try:
            if self._spent >= limit:
                raise TimeoutError
            async with asyncio.timeout(limit - self._spent):
                return await self._taken()
        except TimeoutError:
            error = GraphTimeoutError(self._graph.name, limit)
            return [Outcome("", failed(error), error), *self._inbox.at_hand()]
        finally:
            self._spent += time.perf_counter() - clock

    async def _taken(self) -> list[_Item]:
        return self._at_once() or await self._heard()

    def _at_once(self) -> list[_Item]:
        """Start what is planned, unless something came in between, and return what is at hand.

        Where tasks wait for nothing, all else on the loop has its turn once in a while: a reader, a
        stop, another run. A turn for each superstep would cost it 6 us.
        """
        inbox = self._inbox
        if self._planned and not inbox.items:
            self._start()
        if inbox.items and time.perf_counter() - self._breathed < _BREATH:
            return inbox.at_hand()
        return []

    async def _heard(self) -> list[_Item]:
        """Return what happens next, when all else on the loop had its turn."""
        if self._inbox.items:
            await asyncio.sleep(0)
        items = await self._inbox.get()
        self._breathed = time.perf_counter()
        return items

    def _reported(self, news: _News, facts: Sequence[Recording], *, stops: bool) -> Draft:
        """Return what happened, and what that leads to: a failure, the end of the superstep."""
        draft = self._log.draft(news.told(facts))
        if news.ends and (raised := news.failed):
            draft.add(*self._ending(raised, draft.position.tasks))
        elif stops:
            draft.add(RunStopped())
        elif not self._waiting:
            self._course.close(draft)
        return draft

    def _ending(self, raised: Mapping[str, Outcome], tasks: Sequence[TaskSpec]) -> Sequence[Event]:
        """Return the end of a run in which tasks failed; its own failure is its end already."""
        if "" in raised:
            return ()
        order = [raised[task.task_id] for task in tasks if task.task_id in raised]
        return [echoed(*sorted(order, key=_is_an_error))]


def _is_an_error(outcome: Outcome) -> bool:
    """Tell an error from what is to end the process or the call, which goes first."""
    return isinstance(outcome.exception, Exception)


def _is_of_run(outcome: Outcome) -> bool:
    return not outcome.task_id


class _News:
    """What has happened since the last look, by kind and in order."""

    __slots__ = ("asked", "ends", "facts", "live", "outcomes", "stops")

    def __init__(self, items: Iterable[_Item]) -> None:
        self.live: list[Event | LiveEvent] = []
        self.outcomes: list[Outcome] = []
        self.facts: list[Recording] = []
        self.asked: list[BreakpointsSet] = []
        self.stops: list[Stop] = []
        self.ends = False
        """Whether the run ends before its superstep is finished."""
        for item in items:
            match item:
                case Outcome(said=said, exception=exception):
                    self.outcomes.append(item)
                    self.live += said
                    self.ends = self.ends or exception is not None
                case Recording():
                    self.facts.append(item)
                case BreakpointsSet():
                    self.asked.append(item)
                case Stop(gently=gently):
                    self.stops.append(item)
                    self.ends = self.ends or not gently
                case _:
                    self.live.append(item)

    @property
    def failed(self) -> dict[str, Outcome]:
        """The tasks that failed, by id."""
        return {item.task_id: item for item in self.outcomes if item.exception is not None}

    def told(self, facts: Sequence[Recording]) -> list[Event]:
        """Return what is recorded of it: first what was asked for, and what tasks had recorded."""
        events: list[Event] = [*self.asked]
        for recording in facts:
            events.append(recording.fact)
        outcomes = self.outcomes
        if self.ends:  # a run's own failure, which has no task, comes last
            outcomes = sorted(outcomes, key=_is_of_run)
        for outcome in outcomes:
            events += outcome.once
            events.append(outcome.event)
        return events
