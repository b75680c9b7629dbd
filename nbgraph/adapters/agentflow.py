"""AgentFlow's compiled graphs as drivers: their threads, forms, steps and forks.

The engine runs one node at a time and keeps one state a thread. A fork is a copy of that state
under a thread of its own, and what led to a state is known only to the process that ran it.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingImports=false
# What the engine says has no types, and it is there from Python 3.12 on.

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

from tenxgraph.utils import pending_interrupt
from tenxgraph.utils.constants import ResponseGranularity

from nbgraph.adapters.agentflow_events import Translation, error_of
from nbgraph.adapters.agentflow_shape import shape_of
from nbgraph.adapters.agentflow_state import (
    changed,
    is_shared,
    messages_of,
    stand_before,
    values_of,
)
from nbgraph.adapters.log import BranchLog, ThreadLog
from nbgraph.adapters.requests import check_edit, checked
from nbgraph.adapters.values import WholeValues, plain
from nbgraph.core.driver import Capability, Shape
from nbgraph.core.events import (
    Event,
    LiveEvent,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStopped,
    StateEdited,
    TaskFailed,
)
from nbgraph.core.naming import login_name
from nbgraph.core.requests import (
    Continue,
    Edit,
    Fork,
    Request,
    Resume,
    Skip,
    Start,
    Stop,
)
from nbgraph.core.workers import call_in_worker
from nbgraph.errors import StateUpdateError, UnsupportedByEngineError

__all__ = ["AgentFlowDriver", "open_thread", "shape_of"]

_CAPABILITIES: Mapping[Capability, str | None] = {
    "step": None,
    "until": None,
    "stop": None,
    "pause": None,
    "edit": None,
    "skip": "AgentFlow cannot go on without running the node",
    "breakpoints": None,
    "break_when": "AgentFlow pauses at nodes, not on a condition",
    "fork": None,
}
_USER = "anonymous"
_one_at_a_time = threading.Lock()
"""Dependencies are resolved from a container that is the whole process's."""
_threads: WeakKeyDictionary[Any, dict[str, ThreadLog]] = WeakKeyDictionary()

_Happened = Event | LiveEvent


def open_thread(
    app: Any, thread_id: str, branch_id: str, context: Any
) -> tuple[AgentFlowDriver, str | None]:
    """Return the driver of a thread of a compiled graph, and what a person should know about it."""
    notices: list[str] = []
    if type(app._checkpointer).__name__ == "InMemoryCheckpointer":
        notices.append("Kept in memory only: gone when the kernel stops.")
    if is_shared(app._state_graph):
        notices.append(
            "This graph is built on AgentFlow's global container: runs of two such graphs can "
            "write into each other's threads. Build each with StateGraph(..., container=InjectQ())."
        )
    driver = AgentFlowDriver(app, thread_id, branch_id, context=context)
    return driver, " ".join(notices) or None


class AgentFlowDriver:
    """One branch of one thread of a compiled AgentFlow graph.

    Parameters
    ----------
    app : CompiledGraph
        The graph.
    thread_id, branch_id : str
        Which thread, and which branch of it: another one than `"main"` is the engine's thread
        `"<thread>--<branch>"`.
    context : mapping, optional
        What is added to the engine's config, such as `user_id`.
    """

    engine = "AgentFlow"
    capabilities = _CAPABILITIES

    def __init__(
        self, app: Any, thread_id: str, branch_id: str = "main", *, context: Any = None
    ) -> None:
        self.app = app
        self.thread_id = thread_id
        self.branch_id = branch_id
        self.folding = WholeValues()
        self._context: dict[str, Any] = dict(context or {})
        self._shape: Shape | None = None
        self._stopping: Stop | None = None
        self._runs = False
        known = _threads.setdefault(app, {})
        if thread_id not in known:
            known[thread_id] = ThreadLog(thread_id, self.folding)
        self._log = known[thread_id]

    @property
    def shape(self) -> Shape:
        """The graph's structure."""
        if self._shape is None:
            self._shape = shape_of(self.app)
        return self._shape

    async def events(self, after: int = 0) -> Sequence[Event]:
        """Return the events after number `after`.

        Of a thread that another process ran, they tell where it stands, and not how it came there.
        """
        await self._follow()
        return self._log.events(self.branch_id, after)

    async def branches(self) -> tuple[str, ...]:
        """Return the thread's branches, `"main"` first, then oldest first."""
        await self._follow()
        return tuple(self._log.branches)

    def on(self, branch_id: str) -> AgentFlowDriver:
        """Return a driver for another branch of the same thread."""
        return AgentFlowDriver(self.app, self.thread_id, branch_id, context=self._context)

    async def close(self) -> None:
        """Stop what runs. The checkpointer stays open: it is the user's."""
        self._stop(Stop())

    def _stop(self, request: Stop) -> None:
        """Have the run pause before the next node: AgentFlow does not stop one that runs."""
        if self._runs:
            self._stopping = request
            self._pause_before(self._nodes)

    async def send(self, request: Request) -> AsyncGenerator[_Happened, None]:
        """Carry out a request; iterate to see what happens.

        Raises
        ------
        ResumeError
            If the request does not fit where the thread stands; the engine is not asked then.
        UnsupportedByEngineError
            For what AgentFlow cannot do.
        """
        match request:
            case Stop():
                self._stop(request)
                return
            case Skip():
                raise UnsupportedByEngineError(self.engine, "skip")
            case _:
                pass
        with self._log.busy():
            await self._follow()
            async with aclosing(self._carried_out(request)) as happening:
                async for event in happening:
                    yield event

    async def _carried_out(self, request: Any) -> AsyncGenerator[_Happened, None]:
        branch = self._branch
        match request:
            case Start():
                translation = self._translation()
                translation.given = plain(request.input)
                checked(request, self.shape, branch, self.thread_id)
                happening = self._run(messages_of(request.input), translation, "start")
            case Resume():
                for event in branch.record(checked(request, self.shape, branch, self.thread_id)):
                    yield event
                [*_, answered] = branch.position.answered.values()
                happening = self._run({"resume": answered.answer}, self._translation())
            case Continue():
                checked(request, self.shape, branch, self.thread_id)
                happening = self._continue(request)
            case Edit():
                happening = self._edit(request)
            case Fork():
                happening = self._fork(request)
            case _:
                for event in branch.record(checked(request, self.shape, branch, self.thread_id)):
                    yield event
                return
        async with aclosing(happening) as events:
            async for event in events:
                yield event

    # --- the engine's thread -------------------------------------------------------------------

    @property
    def _branch(self) -> BranchLog:
        return self._log.branch(self.branch_id)

    @property
    def _nodes(self) -> list[str]:
        return [node.path for node in self.shape.nodes]

    @property
    def _config(self) -> dict[str, Any]:
        name = self.thread_id
        if self.branch_id != "main":
            name = f"{name}--{self.branch_id}"
        return {"user_id": _USER, **self._context, "thread_id": name}

    def _translation(self) -> Translation:
        return Translation(self._branch.position)

    async def _state(self) -> Any:
        return await self.app._checkpointer.aget_state(self._config)

    async def _keep(self, state: Any) -> None:
        await self.app._checkpointer.aput_state(self._config, state)
        await self.app._checkpointer.aput_state_cache(self._config, state)

    async def _follow(self) -> None:
        """Take up where a thread stands that another process left."""
        if self.branch_id in self._log.branches and self._log.branches[self.branch_id].events:
            return
        state = await self._state()
        if state is None:
            return
        branch = self._log.branches.setdefault(
            self.branch_id, BranchLog(self.branch_id, self.folding)
        )
        events = Translation(branch.position).found(state, pending_interrupt(state))
        branch.record(events, state.model_copy(deep=True))

    # --- runs ----------------------------------------------------------------------------------

    async def _continue(self, request: Continue) -> AsyncGenerator[_Happened, None]:
        for _ in range(request.steps or 1):
            reason = "step" if request.steps else ("until" if request.until else None)
            running = self._run({}, self._translation(), reason, until=request.until)
            async with aclosing(running) as events:
                async for event in events:
                    yield event
            position = self._branch.position
            if position.pending or position.failure or not position.tasks:
                return

    async def _run(
        self,
        given: Mapping[str, Any],
        translation: Translation,
        reason: str | None = None,
        *,
        until: str | None = None,
    ) -> AsyncGenerator[_Happened, None]:
        """Run the engine from where the branch stands, and say what happens."""
        stops = self._before(until) if reason != "step" else self._nodes
        failure: Exception | None = None
        try:
            async with aclosing(self._told(given, translation, stops)) as happening:
                async for event in happening:
                    yield event
        except Exception as error:  # noqa: BLE001 - a node's own, or the engine's
            failure = error
        state = await self._state()
        place = None if state is None else state.model_copy(deep=True)
        for event in self._branch.record(self._ending(translation, failure, reason), place):
            yield event

    @asynccontextmanager
    async def _alone(self, before: list[str]) -> AsyncGenerator[None, None]:
        """Hold the process's container for this graph, with these nodes to pause before."""
        handler = self.app._stream_handler
        own = handler.interrupt_before, handler.interrupt_after
        await call_in_worker(_one_at_a_time.acquire)
        try:
            self.app._state_graph._container.activate()
            handler.interrupt_before, handler.interrupt_after = before, []
            self._runs, self._stopping = True, None
            yield
        finally:
            self._runs = False
            handler.interrupt_before, handler.interrupt_after = own
            _one_at_a_time.release()

    async def _told(
        self, given: Mapping[str, Any], translation: Translation, before: list[str]
    ) -> AsyncGenerator[_Happened, None]:
        how: dict[str, Any] = {"response_granularity": ResponseGranularity.FULL}
        async with self._alone(before):
            async for chunk in self.app.astream(dict(given), config=self._config, **how):
                for event in self._said(translation, chunk):
                    yield event

    def _said(self, translation: Translation, chunk: Any) -> list[_Happened]:
        happened = translation.chunk(chunk)
        if translation.finished in self._after():
            # The engine's own list of nodes to pause after starts a graph over at its end.
            self._pause_before(self._nodes)
        shown = [event for event in happened if isinstance(event, LiveEvent)]
        stored = [event for event in happened if not isinstance(event, LiveEvent)]
        return [*shown, *self._branch.record(stored, translation.place)]

    def _pause_before(self, nodes: list[str]) -> None:
        self.app._stream_handler.interrupt_before = nodes

    def _before(self, until: str | None) -> list[str]:
        own = self._branch.position.before
        named = list(self.app._interrupt_before or ()) if own is None else list(own)
        named = self._nodes if "*" in named else named
        return [*named, *([until] if until else [])]

    def _after(self) -> frozenset[str]:
        own = self._branch.position.after
        named = (self.app._interrupt_after or ()) if own is None else own
        return frozenset(self._nodes if "*" in named else named)

    def _ending(
        self, translation: Translation, failure: Exception | None, reason: str | None
    ) -> list[Event]:
        """Return how a run ended."""
        if failure is not None:
            failed = RunFailed(error=error_of(failure)).with_exception(failure)
            tasks = translation.tasks
            told = [
                TaskFailed(task_id=each.task_id, node=each.node, error=failed.error)
                for each in tasks
            ]
            return [*translation.begun(), *told, failed]
        if translation.asks:
            return [RunPaused(reason="interrupt")]
        if not translation.tasks:
            return [RunFinished()]
        if self._stopping is not None:
            return [RunPaused(reason="pause") if self._stopping.gently else RunStopped()]
        if reason in ("step", "until"):
            return [RunPaused(reason=reason)]
        after = translation.finished in self._after()
        return [RunPaused(reason="after" if after else "before")]

    # --- changes -------------------------------------------------------------------------------

    async def _edit(self, request: Edit) -> AsyncGenerator[_Happened, None]:
        check_edit(request)
        state = await self._state()
        if state is None:
            raise StateUpdateError("The thread is new; start it with an input")
        edited = changed(state, request.update)
        await self._keep(edited)
        values = values_of(edited)
        update = {name: values[name] for name in request.update}
        told = StateEdited(update=update, replaced=tuple(update), by=request.by or login_name())
        for event in self._branch.record([told], edited.model_copy(deep=True)):
            yield event

    async def _fork(self, request: Fork) -> AsyncGenerator[_Happened, None]:
        branch = self._branch
        at, name = self._log.check_fork(branch, request.at, request.name)
        place = branch.place_at(at)
        if place is None:
            raise StateUpdateError(f"AgentFlow keeps nothing of event {at} of {branch.id!r}")
        cut = branch.planned_at(at)
        position = branch.position_at(cut)
        copy = changed(place, request.update or {})
        other = self.on(name)
        if position.tasks:
            stand_before(copy, position.tasks[0].node)
        await other._keep(copy)
        waited = bool(branch.position_at(at).pending)
        forked = self._log.branches[name] = branch.forked(name, cut)
        yield forked.events[-1]
        if request.update:
            values = values_of(copy)
            update = {each: values[each] for each in request.update}
            edit = StateEdited(update=update, replaced=tuple(update), by=login_name())
            for event in forked.record([edit], copy.model_copy(deep=True)):
                yield event
        if waited:  # the copy has the node's first line ahead of it
            running = other._run({}, other._translation(), "step")
            async with aclosing(running) as events:
                async for event in events:
                    yield event
