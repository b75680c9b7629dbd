"""The driver of any engine that is not ours: requests checked, runs begun, what happens recorded.

What differs between engines is behind `Engine`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal, cast

from nbgraph.adapters.engine import (
    Answers,
    Edits,
    Engine,
    Forks,
    Happened,
    Keeps,
    Leg,
    Moved,
    Skips,
    Told,
    call_of,
)
from nbgraph.adapters.errors import error_of
from nbgraph.adapters.log import BranchLog, ThreadLog
from nbgraph.adapters.pump import EngineExit
from nbgraph.adapters.requests import check_edit, checked, expanded
from nbgraph.core.driver import Capability, Folding, Shape, needed
from nbgraph.core.events import Event, Interrupt, RunFailed, RunFinished, RunPaused, RunStopped
from nbgraph.core.live import LiveEvent
from nbgraph.core.naming import login_name
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
from nbgraph.errors import ResumeError, StateUpdateError, UnsupportedByEngineError

__all__ = ["AdaptedDriver"]

_Reason = Literal["step", "until"]


class AdaptedDriver:
    """One branch of one thread of another engine's graph.

    Parameters
    ----------
    engine : Engine
        The engine's thread.
    log : ThreadLog
        What is known of the thread in this process: the same for all its drivers (`thread_log`).
    branch_id : str
        Which branch.
    """

    def __init__(self, engine: Engine, log: ThreadLog, branch_id: str = "main") -> None:
        self.branch_id = branch_id
        self._engine = engine
        self._log = log
        self._stopping: Stop | None = None
        self._runs = False

    @property
    def engine(self) -> str:
        """The engine's name."""
        return self._engine.name

    @property
    def thread_id(self) -> str:
        """The thread's id."""
        return self._log.thread_id

    @property
    def shape(self) -> Shape:
        """The graph's structure."""
        return self._engine.shape

    @property
    def folding(self) -> Folding:
        """How the engine's updates become state."""
        return self._engine.folding

    @property
    def capabilities(self) -> Mapping[Capability, str | None]:
        """What the engine can do."""
        return self._engine.capabilities

    async def events(self, after: int = 0) -> Sequence[Event]:
        """Return the events after number `after`, what others did at the engine included."""
        if not self._log.running:
            await self._follow()
        return self._log.events(self.branch_id, after)

    async def branches(self) -> tuple[str, ...]:
        """Return the thread's branches, `"main"` first, then oldest first."""
        if not self._log.running:
            await self._follow()
        return tuple(self._log.branches)

    def on(self, branch_id: str) -> AdaptedDriver:
        """Return a driver for another branch of the same thread."""
        return AdaptedDriver(self._engine, self._log, branch_id)

    async def close(self) -> None:
        """Stop what runs. What the engine keeps its threads in stays open: it is the user's."""
        self._stop(Stop())

    async def send(self, request: Request) -> AsyncGenerator[Happened, None]:
        """Carry out a request; iterate to see what happens.

        Raises
        ------
        ResumeError
            If the request does not fit where the thread stands; the engine is not asked then.
        StateUpdateError
            If the engine refuses an edit.
        UnsupportedByEngineError
            For what the engine cannot do.
        """
        if isinstance(request, Stop):
            self._stop(request)
            return
        for capability in needed(request):
            if self.capabilities.get(capability, "") is not None:
                raise UnsupportedByEngineError(self.engine, capability)
        with self._log.busy():
            await self._follow()
            async with aclosing(self._carried_out(request)) as happening:
                async for event in happening:
                    yield event

    def _stop(self, request: Stop) -> None:
        if self._runs:
            self._stopping = request
            self._engine.stop()

    @property
    def _branch(self) -> BranchLog:
        return self._log.branch(self.branch_id)

    async def _follow(self) -> None:
        """Take up what others did, unless a run tells of it anyway."""
        async with self._log.reading:
            if not self._runs:
                await self._engine.follow(self._log, self.branch_id)

    def _carried_out(self, request: Any) -> AsyncGenerator[Happened, None]:
        match request:
            case Start():
                return self._start(request)
            case Resume():
                return self._resume(request)
            case Continue():
                return self._continue(request)
            case Edit():
                return self._edit(request)
            case Skip():
                return self._skip(request)
            case Fork():
                return self._fork(request)
            case _:
                return self._opened(request)

    async def _opened(self, request: Resume | SetBreakpoints) -> AsyncGenerator[Happened, None]:
        """Record what a request begins with, once the engine keeps what only we know of it."""
        branch = self._branch
        events = self._checked(request)
        if isinstance(self._engine, Keeps):
            await self._engine.keep(branch, events)
        for event in branch.record(events):
            yield event

    def _checked(self, request: Any) -> list[Event]:
        for name in _named(request):
            if name in self._engine.out_of_reach:
                why = self._engine.out_of_reach[name]
                raise ResumeError(f"A run cannot pause at {name!r}: {why}")
        return checked(request, self.shape, self._branch, self.thread_id)

    # --- runs ----------------------------------------------------------------------------------

    def _start(self, request: Start) -> AsyncGenerator[Happened, None]:
        self._checked(request)
        return self._run(self._leg(given=request.input))

    async def _resume(self, request: Resume) -> AsyncGenerator[Happened, None]:
        branch = self._branch
        waiting = dict(branch.position.pending)
        async for event in self._opened(request):
            yield event
        ready = _ready(waiting, branch)
        if not ready:  # others that the engine wants answered together wait still
            for event in branch.record([RunPaused(reason="interrupt")]):
                yield event
            return
        async for event in self._run(self._leg(answers=ready)):
            yield event

    async def _continue(self, request: Continue) -> AsyncGenerator[Happened, None]:
        self._checked(request)
        stops: tuple[str, ...] = ()
        reason: _Reason | None = None
        if request.until is not None:
            stops, reason = (request.until,), "until"
        elif request.steps:
            stops, reason = self._steps(into=request.into), "step"
        for _ in range(request.steps or 1):
            async for event in self._run(self._leg(before=stops), reason):
                yield event
            position = self._branch.position
            if position.pending or position.failure or not position.tasks or self._stopping:
                return

    def _steps(self, *, into: bool = False) -> tuple[str, ...]:
        """Return the nodes to pause before so that one superstep runs, a sub-graph's as one."""
        return tuple(node.path for node in self.shape.nodes if into or node.parent is None)

    def _leg(
        self, given: Any = None, answers: Answers | None = None, before: Iterable[str] = ()
    ) -> Leg:
        """Return a run that pauses at the branch's own breakpoints, and before these nodes."""
        own, after = self._breakpoints(self._branch.position)
        return Leg(given, answers or {}, tuple(dict.fromkeys((*own, *before))), tuple(after))

    async def _run(self, leg: Leg, reason: _Reason | None = None) -> AsyncGenerator[Happened, None]:
        """Have the engine run, and say what happens and how it ends."""
        branch = self._branch
        self._runs, self._stopping = True, None
        failure: BaseException | None = None
        try:
            async with aclosing(self._told(branch, leg)) as happening:
                async for event in happening:
                    yield event
        except Exception as error:  # noqa: BLE001 - a node's own, or the engine's
            failure = error.cause if isinstance(error, EngineExit) else error
        finally:
            self._runs = False
        for event in branch.record([self._ending(branch.position, failure, reason)]):
            yield event

    async def _told(self, branch: BranchLog, leg: Leg) -> AsyncGenerator[Happened, None]:
        async with aclosing(self._engine.run(branch, leg)) as happening:
            async for told in happening:
                for event in _recorded(branch, told):
                    yield event

    def _ending(
        self, position: Position, failure: BaseException | None, reason: _Reason | None
    ) -> Event:
        """Return how a run ended: from where the branch stands, and from why it was to end."""
        if failure is not None:
            return RunFailed(error=error_of(failure)).with_exception(failure)
        if position.pending:
            return RunPaused(reason="interrupt")
        if not position.tasks:
            return RunFinished()
        if self._stopping is not None:
            return RunPaused(reason="pause") if self._stopping.gently else RunStopped()
        return RunPaused(reason=reason or self._side(position))

    def _side(self, position: Position) -> Literal["before", "after"]:
        """Return on which side of a breakpoint a branch stands that is at one."""
        before, _ = self._breakpoints(position)
        return "before" if {*before} & {*position.next} else "after"

    def _breakpoints(self, position: Position) -> tuple[list[str], list[str]]:
        """Return the nodes that the branch pauses before and after."""
        shape = self.shape
        before = shape.before if position.before is None else position.before
        after = shape.after if position.after is None else position.after
        return expanded(before, shape), expanded(after, shape)

    # --- changes -------------------------------------------------------------------------------

    async def _edit(self, request: Edit) -> AsyncGenerator[Happened, None]:
        check_edit(request)
        branch = self._branch
        if not branch.events:
            raise StateUpdateError("The thread is new; start it with an input")
        waited = bool(branch.position.pending)
        by = request.by or login_name()
        moved = await cast("Edits", self._engine).edited(branch, request.update, by)
        async for event in self._moved(moved, waited=waited):
            yield event

    async def _skip(self, request: Skip) -> AsyncGenerator[Happened, None]:
        self._checked(request)
        engine = cast("Skips", self._engine)
        moved = await engine.skipped(self._branch, request.task_id, request.value)
        ends = [] if self._planned(moved) else [RunFinished()]
        for event in self._branch.record([*moved.events, *ends], moved.place):
            yield event

    def _planned(self, moved: Moved) -> bool:
        """Return whether there is something to run after a change."""
        plans = [event.next for event in moved.events if event.type == "superstep_finished"]
        return bool(plans[-1] if plans else self._branch.position.tasks)

    async def _fork(self, request: Fork) -> AsyncGenerator[Happened, None]:
        branch = self._branch
        at, name = self._log.check_fork(branch, request.at, request.name)
        waited = bool(branch.position_at(at).pending)
        forked = branch.forked(name, branch.planned_at(at))
        engine = cast("Forks", self._engine)
        moved = await engine.copied(branch, at, forked, request.update)
        self._log.branches[name] = forked
        yield forked.events[-1]
        async for event in self.on(name)._moved(moved, waited=waited):
            yield event

    async def _moved(self, moved: Moved, *, waited: bool) -> AsyncGenerator[Happened, None]:
        """Take up a change of where the branch stands, and ask again what waited."""
        for event in self._branch.record(moved.events, moved.place):
            yield event
        if not (waited and moved.asks_again):
            return
        async for event in self._run(self._leg(before=self._steps()), "step"):
            yield event


def _named(request: Request) -> Iterable[str]:
    """Return the nodes that a request has a run pause at."""
    match request:
        case SetBreakpoints(before=before, after=after):
            return (*(before or ()), *(after or ()))
        case Continue(until=str() as node):
            return (node,)
        case _:
            return ()


def _recorded(branch: BranchLog, told: Told) -> list[Happened]:
    """Return what happened as it is recorded; what is only shown keeps its place in between."""
    branch.record((), told.place)
    return [
        event if isinstance(event, LiveEvent) else branch.record((event,))[0]
        for event in told.events
    ]


def _ready(waiting: Mapping[str, Interrupt], branch: BranchLog) -> Answers:
    """Return the engine's interrupts whose questions are all answered, with the answers."""
    answered = branch.position.answered
    asked: dict[tuple[str, str], list[Interrupt]] = {}
    known = {key: item.interrupt for key, item in answered.items()} | dict(waiting)
    for question in known.values():
        asked.setdefault((question.id, call_of(question.key)), []).append(question)
    wanted = {(question.id, call_of(key)) for key, question in waiting.items()}
    return {
        found[0].id: [(each, answered[each.key].answer) for each in _in_order(found)]
        for one, found in asked.items()
        if one in wanted and all(each.key in answered for each in found)
    }


def _in_order(asked: Sequence[Interrupt]) -> list[Interrupt]:
    """Return the questions of one interrupt in the order of its calls."""
    return sorted(asked, key=lambda each: int(each.key.rpartition("/")[2]) if len(asked) > 1 else 0)
