"""LangGraph's compiled graphs as drivers: their threads, forms, steps and forks.

The thread is the engine's own, in its checkpointer; what stands in its branches is read from there.
LangGraph moves a thread's head to whatever ran last, so each branch keeps the checkpoint it stands
at, and runs from there.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from weakref import WeakKeyDictionary

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from nbgraph.adapters.langgraph_events import Translation
from nbgraph.adapters.langgraph_history import Engine, follow, snapshot_parts
from nbgraph.adapters.langgraph_questions import resumption, tools_of
from nbgraph.adapters.langgraph_run import ALL, EngineRun
from nbgraph.adapters.langgraph_shape import field_types, given_to, shape_of
from nbgraph.adapters.log import BranchLog, ThreadLog
from nbgraph.adapters.requests import check_edit, checked
from nbgraph.adapters.values import WholeValues, plain
from nbgraph.core.driver import Capability, Shape
from nbgraph.core.events import (
    Event,
    Interrupt,
    LiveEvent,
    RunFinished,
    RunPaused,
    StateEdited,
    TaskFinished,
)
from nbgraph.core.naming import login_name
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
from nbgraph.errors import ResumeError, StateUpdateError

__all__ = ["LangGraphDriver", "open_thread", "shape_of"]

_CAPABILITIES: Mapping[Capability, str | None] = {
    "step": None,
    "until": None,
    "stop": None,
    "pause": None,
    "edit": None,
    "skip": None,
    "breakpoints": None,
    "break_when": "LangGraph pauses at nodes, not on a condition",
    "fork": None,
}
_ONE_STEP: Mapping[str, Any] = {"before": (ALL,), "reason": "step"}
_copies: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_threads: WeakKeyDictionary[Any, dict[str, ThreadLog]] = WeakKeyDictionary()

_Happened = Event | LiveEvent


def open_thread(
    app: Any, thread_id: str, branch_id: str, context: Any
) -> tuple[LangGraphDriver, str | None]:
    """Return the driver of a thread of a compiled graph, and what a person should know about it."""
    notice = None
    if app.checkpointer is None or isinstance(app.checkpointer, bool):
        notice = (
            "Compiled without a checkpointer: a copy of the graph runs with one in memory, and the "
            "thread is gone when the kernel stops."
        )
        if app not in _copies:
            _copies[app] = app.copy({"checkpointer": InMemorySaver()})
        app = _copies[app]
    elif isinstance(app.checkpointer, InMemorySaver):
        notice = "Kept in memory only: gone when the kernel stops."
    return LangGraphDriver(app, thread_id, branch_id, context=context), notice


class LangGraphDriver:
    """One branch of one thread of a compiled LangGraph graph.

    Parameters
    ----------
    app : CompiledStateGraph or Pregel
        The graph, compiled with a checkpointer.
    thread_id, branch_id : str
        Which thread, and which branch of it.
    context : object, optional
        What nodes find as `runtime.context`.
    """

    engine = "LangGraph"
    capabilities = _CAPABILITIES

    def __init__(
        self, app: Any, thread_id: str, branch_id: str = "main", *, context: Any = None
    ) -> None:
        self.app = app
        self.thread_id = thread_id
        self.branch_id = branch_id
        self._context = context
        self._engine = Engine(app, thread_id)
        self._shape: Shape | None = None
        self.folding = WholeValues(field_types(app))
        self._running: EngineRun | None = None
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
        """Return the events after number `after`, as the checkpointer tells them."""
        if not self._log.loaded:
            await self._follow()
        return self._log.events(self.branch_id, after)

    async def branches(self) -> tuple[str, ...]:
        """Return the thread's branches, `"main"` first, then oldest first."""
        await self.events()
        return tuple(self._log.branches)

    def on(self, branch_id: str) -> LangGraphDriver:
        """Return a driver for another branch of the same thread."""
        return LangGraphDriver(self.app, self.thread_id, branch_id, context=self._context)

    async def close(self) -> None:
        """Stop what runs. The checkpointer stays open: it is the user's."""
        self._stop(Stop())

    async def send(self, request: Request) -> AsyncGenerator[_Happened, None]:
        """Carry out a request; iterate to see what happens.

        Raises
        ------
        ResumeError
            If the request does not fit where the thread stands; the engine is not asked then.
        StateUpdateError
            If LangGraph refuses an edit.
        """
        if isinstance(request, Stop):
            self._stop(request)
            return
        with self._log.busy():
            await self._follow()
            async with aclosing(self._carried_out(request)) as happening:
                async for event in happening:
                    yield event

    def _stop(self, request: Stop) -> None:
        if self._running is not None:
            self._running.stop(request)

    @property
    def _branch(self) -> BranchLog:
        return self._log.branch(self.branch_id)

    async def _follow(self) -> None:
        """Take up what the checkpointer has that is not known here."""
        await follow(self._engine, self._log, self._translation)
        self._log.loaded = True

    def _translation(self, branch: BranchLog) -> Translation:
        place = branch.place
        return Translation(self.thread_id, tools_of(self.app), branch.position, place)

    async def _carried_out(self, request: Request) -> AsyncGenerator[_Happened, None]:
        match request:
            case Start():
                happening = self._start(request)
            case Resume():
                happening = self._resume(request)
            case Continue():
                happening = self._continue(request)
            case Fork():
                happening = self._fork(request)
            case Edit():
                happening = self._edit(request)
            case Skip():
                happening = self._skip(request)
            case SetBreakpoints() | Stop():
                happening = self._recorded(request)
        async with aclosing(happening) as events:
            async for event in events:
                yield event

    async def _recorded(self, request: Any) -> AsyncGenerator[_Happened, None]:
        for event in self._branch.record(self._opening(request)):
            yield event

    def _opening(self, request: Any) -> list[Event]:
        return checked(request, self.shape, self._branch, self.thread_id)

    # --- runs ----------------------------------------------------------------------------------

    async def _start(self, request: Start) -> AsyncGenerator[_Happened, None]:
        self._opening(request)
        translation = self._translation(self._branch)
        translation.given = plain(request.input)
        async with aclosing(self._run(translation, given_to(self.app, request.input))) as events:
            async for event in events:
                yield event

    async def _run(
        self, translation: Translation, given: Any = None, **how: Any
    ) -> AsyncGenerator[_Happened, None]:
        self._running = EngineRun(self._engine, self._branch, translation, **how)
        try:
            async with aclosing(self._running.events(given, self._context)) as events:
                async for event in events:
                    yield event
        finally:
            self._running = None

    async def _resume(self, request: Resume) -> AsyncGenerator[_Happened, None]:
        branch = self._branch
        waiting = dict(branch.position.pending)
        for event in branch.record(self._opening(request)):
            yield event
        ready = _ready(waiting, branch)
        if not ready:  # the others of a batch of calls are not decided yet
            for event in branch.record([RunPaused(reason="interrupt")]):
                yield event
            return
        translation = self._translation(branch)
        translation.answered(ready)
        resumed = Command(resume={each: resumption(asked) for each, asked in ready.items()})
        async with aclosing(self._run(translation, resumed, answers=ready)) as events:
            async for event in events:
                yield event

    async def _continue(self, request: Continue) -> AsyncGenerator[_Happened, None]:
        self._opening(request)
        how: dict[str, Any] = {}
        if request.until is not None:
            how = {"before": (request.until,), "reason": "until"}
        elif request.steps:
            how = dict(_ONE_STEP)
        for _ in range(request.steps or 1):
            async with aclosing(self._run(self._translation(self._branch), **how)) as events:
                async for event in events:
                    yield event
            position = self._branch.position
            if position.pending or position.failure or not position.tasks:
                return

    # --- changes -------------------------------------------------------------------------------

    async def _edit(self, request: Edit) -> AsyncGenerator[_Happened, None]:
        check_edit(request)
        branch = self._branch
        place = await self._engine.edited(branch.place, request.update, self._last_node(branch))
        waited = bool(branch.position.pending)
        moved = self._moved(branch, place, by=request.by or login_name(), waited=waited)
        async with aclosing(moved) as events:
            async for event in events:
                yield event

    def _last_node(self, branch: BranchLog) -> str | None:
        """Return the node that ran last, in whose name an edit is written."""
        for event in reversed(branch.events):
            if isinstance(event, TaskFinished):
                return event.node
        return None

    async def _moved(
        self, branch: BranchLog, place: str, *, by: str | None, waited: bool
    ) -> AsyncGenerator[_Happened, None]:
        """Take up a checkpoint that was written for the branch, and ask again what waited."""
        snapshot = await self._engine.snapshot(place)
        translation = self._translation(branch)
        events = translation.again(place, *snapshot_parts(snapshot))
        for event in branch.record([_named(event, by) for event in events], place):
            yield event
        if not waited:
            return
        async with aclosing(self._run(translation, **_ONE_STEP)) as happening:
            async for event in happening:
                yield event

    async def _skip(self, request: Skip) -> AsyncGenerator[_Happened, None]:
        branch = self._branch
        self._opening(request)
        [*unfinished] = branch.position.unfinished
        if len(branch.position.tasks) > 1:
            raise ResumeError(
                "LangGraph skips a task only where it is the only one of its superstep; here are "
                f"{', '.join(repr(task.task_id) for task in branch.position.tasks)}"
            )
        [task] = unfinished
        place = await self._engine.edited(branch.place, request.value, task.node, keeps_next=False)
        snapshot = await self._engine.snapshot(place)
        values, planned = snapshot_parts(snapshot)
        translation = self._translation(branch)
        update = plain(request.value)
        skipped = TaskFinished(task_id=task.task_id, node=task.node, update=update, attempts=0)
        moved = translation.checkpoint(place, "loop", values, planned)
        events = [skipped, *(event for event in moved if not isinstance(event, TaskFinished))]
        if not translation.tasks:
            events.append(RunFinished())
        for event in branch.record(events, place):
            yield event

    async def _fork(self, request: Fork) -> AsyncGenerator[_Happened, None]:
        branch = self._branch
        at, name = self._log.check_fork(branch, request.at, request.name)
        place = branch.place_at(at)
        if place is None:
            raise StateUpdateError(f"LangGraph keeps nothing of event {at} of {branch.id!r}")
        copied = await self._engine.copied(place)
        if request.update is not None:
            copied = await self._engine.edited(copied, request.update, self._last_node(branch))
        forked = self._log.branches[name] = branch.forked(name, branch.planned_at(at))
        yield forked.events[-1]
        waited = bool(branch.position_at(at).pending)
        moved = self.on(name)._moved(forked, copied, by=login_name(), waited=waited)
        async with aclosing(moved) as events:
            async for event in events:
                yield event


def _named(event: Event, by: str | None) -> Event:
    return event.model_copy(update={"by": by}) if isinstance(event, StateEdited) else event


def _ready(
    waiting: Mapping[str, Interrupt], branch: BranchLog
) -> dict[str, list[tuple[Interrupt, Any]]]:
    """Return the engine's interrupts whose questions are all answered, with the answers."""
    position = branch.position
    asked: dict[str, list[Interrupt]] = {}
    given = {key: item.interrupt for key, item in position.answered.items()}
    for question in {**given, **waiting}.values():
        asked.setdefault(question.id, []).append(question)
    wanted = {question.id for question in waiting.values()}
    return {
        engine_id: [(each, position.answered[each.key].answer) for each in _in_order(found)]
        for engine_id, found in asked.items()
        if engine_id in wanted and all(each.key in position.answered for each in found)
    }


def _in_order(asked: Sequence[Interrupt]) -> list[Interrupt]:
    """Return the questions of one interrupt in the order of its calls."""
    return sorted(asked, key=lambda each: int(each.key.rpartition("/")[2]) if len(asked) > 1 else 0)
