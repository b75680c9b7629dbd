"""nbgraph's own driver: one branch of one thread of a `Graph`."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast, get_args
from uuid import uuid4

from nbgraph.core.answering import check_unanswered
from nbgraph.core.context import NOT_PROVIDED, Parent
from nbgraph.core.driver import Capability, InnerLog, Shape
from nbgraph.core.endings import Limits
from nbgraph.core.events import BreakpointsSet, Event, StateEdited
from nbgraph.core.executor import THREADS, Executor
from nbgraph.core.inside import events_inside, log_inside
from nbgraph.core.live import ChildEvent, LiveEvent
from nbgraph.core.log import Log
from nbgraph.core.naming import login_name
from nbgraph.core.opening import opening
from nbgraph.core.position import Position
from nbgraph.core.requests import (
    Continue,
    Edit,
    Fork,
    Request,
    Resume,
    SetBreakpoints,
    Skip,
    Start,
    Stop,
)
from nbgraph.core.run import Superstepper
from nbgraph.core.schema import StateSchema
from nbgraph.core.store import BranchRecord, StateStore
from nbgraph.errors import (
    ConcurrentRunError,
    GraphConfigError,
    ResumeError,
    UnknownThreadError,
)

if TYPE_CHECKING:
    from nbgraph.core.graph import Graph

__all__ = ["Thread"]

_CAN: Mapping[Capability, str | None] = dict.fromkeys(get_args(Capability))  # all there is


class Thread:
    """One branch of one thread: a graph, a store and an id.

    Parameters
    ----------
    graph : Graph
        The definition.
    store : StateStore or None
        Where events are kept; None keeps nothing, and then the graph cannot pause.
    thread_id, branch_id : str
        Which thread, and which branch of it.
    context : object, optional
        What nodes find as `ctx.context`. It is never stored.
    stream_modes : frozenset of str
        What nodes find as `ctx.stream_modes`.
    executor : Executor, optional
        Where tasks run, instead of the graph's own.
    parent : Parent, optional
        For the thread of a sub-graph, what it belongs to.
    """

    engine = "nbgraph"
    capabilities = _CAN

    def __init__(
        self,
        graph: Graph,
        store: StateStore | None,
        thread_id: str,
        branch_id: str = "main",
        *,
        context: Any = NOT_PROVIDED,
        stream_modes: frozenset[str] = frozenset(),
        executor: Executor | None = None,
        parent: Parent | None = None,
    ) -> None:
        if not (isinstance(thread_id, str) and isinstance(branch_id, str)):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
            raise TypeError(
                f"A thread's and a branch's id are str, got {thread_id!r} and {branch_id!r}"
            )
        self.graph = graph
        self.store = store
        self.thread_id = thread_id
        self.branch_id = branch_id
        self._context = context
        self._stream_modes = stream_modes
        self._executor = executor or graph.executor or THREADS
        self._parent = parent
        self._log = Log(
            graph=graph.name,
            folding=graph.schema,
            store=store,
            thread_id=thread_id,
            branch_id=branch_id,
            migration=graph.migration,
            root=None if parent is None else parent.root,
        )
        self._running: Superstepper | None = None
        self._last: Superstepper | None = None
        self._began = Position()

    @property
    def shape(self) -> Shape:
        """The graph's structure."""
        return self.graph.shape

    def source(self, path: str) -> str | None:
        """Return a node's source; None where it cannot be had."""
        return self.graph.structure.source(path)

    @property
    def folding(self) -> StateSchema:
        """How updates become state."""
        return self.graph.schema

    @property
    def known(self) -> Position:
        """Where the branch stood when this handle last looked or wrote."""
        return self._log.position

    @property
    def began(self) -> Position:
        """Where the branch stood when the last request was accepted."""
        return self._began

    @property
    def run_id(self) -> str:
        """The id of the last run; empty before the first."""
        return "" if self._last is None else self._last.run_id

    @property
    def steps(self) -> int:
        """How many supersteps the last request ran."""
        return 0 if self._last is None else self._last.steps

    async def events(self, after: int = 0) -> Sequence[Event]:
        """Return the stored events after number `after`; none for a thread that is new."""
        return await self._log.read(after=after)

    async def load(self) -> Position:
        """Take up what others recorded; return where the branch stands, also if it is new.

        Raises
        ------
        UnknownThreadError
            If the branch does not exist.
        """
        return await self._log.load()

    async def position(self, at: int | None = None) -> Position:
        """Return where the branch stands, or stood after event `at`.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        StateUpdateError
            If `at` is no event of the branch.
        """
        return await self._log.position_at(at)

    def send(
        self,
        request: Request,
        *,
        breakpoints: SetBreakpoints | None = None,
        break_when: Callable[[Any], bool] | None = None,
        until: str | None = None,
        steps: int | None = None,
    ) -> AsyncGenerator[Event | LiveEvent, None]:
        """Carry out a request; iterate to see what happens.

        `breakpoints` are set together with what a run begins with, or not at all. `break_when`
        holds for this request, instead of the graph's. `until` ends the run where that node is
        next, as `Continue` says it. `steps` is for the thread of a sub-graph that is stepped into:
        how many supersteps it runs.

        Raises
        ------
        ResumeError
            If the request does not fit where the thread stands; nothing is recorded then.
        StateUpdateError, StateStoreError
            If a value does not fit or cannot be kept, or the store refuses.
        """
        match request:
            case Start() | Resume() | Continue():
                return _each(
                    self.happenings(
                        request,
                        breakpoints=breakpoints,
                        break_when=break_when,
                        until=until,
                        steps=steps,
                    )
                )
            case _:
                return self._carried_out(request)

    async def _carried_out(
        self, request: Edit | Skip | SetBreakpoints | Fork | Stop
    ) -> AsyncGenerator[Event, None]:
        match request:
            case Stop():
                if self._running is not None:
                    self._running.tell(request)
            case Fork():
                for event in await self._fork(request):
                    yield event
            case SetBreakpoints() if self._running is not None:
                for item in self._planned(request):
                    self._running.tell(cast("BreakpointsSet", item))
            case Edit() | Skip() | SetBreakpoints():
                for event in await self._record(request):
                    yield event

    async def happenings(
        self,
        request: Start | Resume | Continue,
        *,
        breakpoints: SetBreakpoints | None = None,
        break_when: Callable[[Any], bool] | None = None,
        until: str | None = None,
        steps: int | None = None,
        watched: bool = True,
    ) -> AsyncGenerator[Sequence[Event | LiveEvent], None]:
        """Carry out a request that runs the thread, as `send` does.

        What became known together is handed up together: a layer less for every single event. Of a
        run that is not `watched`, how it ended is all.

        Raises
        ------
        ResumeError, StateUpdateError, StateStoreError
            As `send` does.
        """
        self._check_idle()
        if not watched and self._parent is None:
            self._log.keep_private()
        limits = Limits(
            self.graph.max_steps,
            steps,
            until=until,
            timeout=self.graph.timeout,
            break_when=break_when or self.graph.break_when,
            into=steps is not None,
            max_thread_steps=self.graph.max_thread_steps,
        )
        if isinstance(request, Continue):
            limits = limits.asked(request)
        self._last = self._running = Superstepper(
            self.graph,
            self._log,
            limits,
            self._context,
            stream_modes=self._stream_modes,
            executor=self._executor,
            parent=self._parent,
            watched=watched,
        )
        try:
            first = await self._opening(request)
            passing = not first and self._log.position.paused == "before"
            if breakpoints is not None:
                first = [*self._planned(breakpoints), *first]
            async with aclosing(self._running.happenings(first, passing=passing)) as happening:
                async for happened in happening:
                    yield happened
        except ConcurrentRunError as conflict:
            await self._explain(request, conflict)
            raise
        finally:
            self._running = None

    async def _opening(
        self, request: Start | Resume | Continue | Edit | Skip | SetBreakpoints
    ) -> list[Event]:
        self._began = await self._log.load()
        if self._began.pending or not isinstance(request, Start):  # an input drops the old tasks
            self.graph.check_position(self._began)
        try:
            return self._planned(request)
        except ResumeError:
            if isinstance(request, Resume):
                self._explain_answered(request, await self.events())
            raise

    def _check_idle(self) -> None:
        if self._running is not None:
            raise ResumeError(f"Thread {self.thread_id!r} is running; stop it, or wait for its end")

    def _planned(
        self, request: Start | Resume | Continue | Edit | Skip | SetBreakpoints
    ) -> list[Event]:
        if isinstance(request, Start) and self._parent is None:
            request = Start(self.graph.interface.taken(request.input))
        return opening(
            request,
            self._log.position,
            structure=self.graph.structure,
            schema=self.graph.schema,
            thread_id=self.thread_id,
            now=-math.inf if self._parent else self.graph.clock(),  # of a sub-graph, its root says
        )

    async def _explain(self, request: Request, conflict: ConcurrentRunError) -> None:
        """Say who was first, if a commit lost against another answer to the same question."""
        if isinstance(request, Resume):
            events = await self._log.read(after=conflict.expected)
            keys = request.answers or dict.fromkeys(self._log.position.pending)
            check_unanswered(events, keys, request.asked)

    def _explain_answered(self, request: Resume, events: Sequence[Event]) -> None:
        if request.asked:
            check_unanswered(events, request.asked, request.asked)

    async def _record(self, request: Edit | Skip | SetBreakpoints) -> Sequence[Event]:
        self._check_idle()
        return await self._log.commit(self._log.draft(await self._opening(request)))

    async def _fork(self, request: Fork) -> Sequence[Event]:
        if self.store is None:
            raise GraphConfigError("A fork needs a state store; pass state_store= to Graph")
        position = await self.position(request.at)
        name = request.name or f"fork-{uuid4().hex[:6]}"
        draft = self._log.forked(position, name)
        if request.update is not None:
            checked = self.graph.schema.update(request.update, "fork")
            values = dict(checked.values)
            draft.add(StateEdited(update=values, replaced=checked.replaced, by=login_name()))
        branch = BranchRecord(self.thread_id, name, self.branch_id, position.sequence, time.time())
        summary = self._log.summary(draft.position)
        await self.store.fork(branch, draft.events, summary=summary)
        return draft.events

    async def inside(self, event: Event) -> Sequence[ChildEvent]:
        """Return what happened in the sub-graphs that an event of this branch tells of."""
        if self.store is None:
            return ()
        return await events_inside(self.store, self.graph.structure, self.thread_id, event)

    async def inner_log(self, path: str) -> InnerLog | None:
        """Return the log of a sub-graph's newest thread, by its path; None before there is one."""
        if self.store is None:
            return None
        branch = self.thread_id, self.branch_id
        return await log_inside(self.store, self.graph.structure, branch, path)

    async def branches(self) -> tuple[str, ...]:
        """Return the thread's branches, `"main"` first, then oldest first."""
        if self.store is None:
            return ("main",)
        try:
            records = await self.store.branches(self.thread_id)
        except UnknownThreadError:
            return ("main",)
        return ("main", *(record.id for record in records))

    def on(self, branch_id: str) -> Thread:
        """Return a driver for another branch of the same thread."""
        return Thread(
            self.graph,
            self.store,
            self.thread_id,
            branch_id,
            context=self._context,
            stream_modes=self._stream_modes,
            executor=self._executor,
            parent=self._parent,
        )

    async def close(self) -> None:
        """Stop what runs. The store stays open: it may serve other threads."""
        if self._running is not None:
            self._running.tell(Stop())


async def _each(
    happenings: AsyncGenerator[Sequence[Event | LiveEvent], None],
) -> AsyncGenerator[Event | LiveEvent, None]:
    async with aclosing(happenings):
        async for happened in happenings:
            for event in happened:
                yield event
