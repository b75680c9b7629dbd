"""A driver without an engine, for tests of whatever shows threads: it plays events from a script.

>>> asks = Interrupt(key="ask:ok", id="ok", node="ask", task_id="ask")
>>> ask = TaskSpec(task_id="ask", node="ask")
>>> driver = FakeDriver(
...     [
...         [
...             RunStarted(tasks=(ask,)),
...             TaskInterrupted(task_id="ask", node="ask", interrupts=(asks,)),
...             RunPaused(reason="interrupt"),
...         ],
...         [TaskFinished(task_id="ask", node="ask"), SuperstepFinished(next=()), RunFinished()],
...     ]
... )
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nbgraph.core.codec import stamped
from nbgraph.core.driver import Capability, NodeShape, Shape, needed
from nbgraph.core.events import Event, Forked, RunStarted, RunStopped, StateEdited
from nbgraph.core.fold import fold
from nbgraph.core.live import ChildEvent, LiveEvent
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
from nbgraph.core.schema import StateSchema
from nbgraph.core.stand_ins import opening_for
from nbgraph.errors import (
    ResumeError,
    StateStoreError,
    StateUpdateError,
    UnknownThreadError,
    UnsupportedByEngineError,
)

__all__ = ["FakeDriver"]

_SCRIPTED = "a script runs in one go"
_CAPABILITIES: Mapping[Capability, str | None] = {
    "step": _SCRIPTED,
    "until": _SCRIPTED,
    "pause": _SCRIPTED,
    "breakpoints": _SCRIPTED,
    "stop": None,
    "edit": None,
    "skip": None,
    "fork": None,
}


@dataclass(slots=True)
class _Branch:
    """A branch's events, its ancestors' included, and what it will play."""

    events: list[Event] = field(default_factory=list[Event])
    turns: list[Sequence[Event | LiveEvent]] = field(
        default_factory=list[Sequence[Event | LiveEvent]]
    )


class FakeDriver:
    """Plays the next turn of a script for every start, answer and continuation.

    A request that does not fit where the thread stands is refused as any engine refuses it, and
    answers are recorded as they are given. Events need no sequence: the driver counts.

    Parameters
    ----------
    turns : iterable of lists of events
        What happens, request by request. A turn that is played for `Start` begins with
        `RunStarted`, whose input is then the one that was given; one for `Resume` follows the
        answers. What `Stop` leaves of a turn is played when the thread is continued.
    shape : Shape, optional
        What is drawn; by default a node for every task in the script.
    thread_id, branch_id : str
        The thread, and the branch of it.
    capabilities : mapping, optional
        What it says that it can do, beside its own.
    """

    engine = "fake"

    def __init__(
        self,
        turns: Iterable[Sequence[Event | LiveEvent]] = (),
        *,
        shape: Shape | None = None,
        thread_id: str = "fake",
        branch_id: str = "main",
        capabilities: Mapping[Capability, str | None] | None = None,
    ) -> None:
        script = list(turns)
        self.thread_id = thread_id
        self.branch_id = branch_id
        self.shape = shape or _shape(script)
        self.folding = StateSchema(dict)
        self.capabilities = {**_CAPABILITIES, **(capabilities or {})}
        self.requests: list[Request] = []
        self.closed = False
        self._branches = {branch_id: _Branch(turns=script)}
        self._stopping: Stop | None = None
        self._running = False

    async def events(self, after: int = 0) -> Sequence[Event]:
        """Return the stored events after number `after`; none for a thread that is new."""
        return self._branch.events[after:]

    @property
    def _branch(self) -> _Branch:
        if self.branch_id not in self._branches:
            raise UnknownThreadError(self.thread_id, self.branch_id)
        return self._branches[self.branch_id]

    @property
    def _position(self) -> Position:
        return fold(self._branch.events, self.folding)

    async def send(self, request: Request) -> AsyncGenerator[Event | LiveEvent, None]:
        """Carry out `request`: play the next turn, or record what was asked for."""
        self.requests.append(request)
        self._check_capable(request)
        match request:
            case Stop():
                self._stopping = request if self._running else None
            case Fork():
                for event in self._fork(request):
                    yield event
            case Edit() | Skip() | SetBreakpoints():
                for event in self._opening(request):
                    yield self._recorded(event)
            case Start() | Resume() | Continue():
                for event in self._opening(request):
                    if not isinstance(event, RunStarted):
                        yield self._recorded(event)
                async for event in self._played(request):
                    yield event

    def _check_capable(self, request: Request) -> None:
        for capability in needed(request):
            if self.capabilities[capability] is not None:
                raise UnsupportedByEngineError(self.engine, capability)

    def _opening(
        self, request: Start | Resume | Continue | Edit | Skip | SetBreakpoints
    ) -> list[Event]:
        if self._running:
            raise ResumeError(f"Thread {self.thread_id!r} is running")
        return opening_for(
            request, self.shape, self._branch.events, self._position, self.thread_id, self.folding
        )

    async def _played(
        self, request: Start | Resume | Continue
    ) -> AsyncGenerator[Event | LiveEvent, None]:
        turns = self._branch.turns
        if not turns:
            raise AssertionError(f"The script of thread {self.thread_id!r} has no turn for this")
        waiting = list(turns.pop(0))
        self._running = True
        try:
            while waiting and self._stopping is None:
                yield self._shown(waiting.pop(0), request)
            if self._stopping is not None:
                yield self._recorded(RunStopped())
        finally:
            self._running, self._stopping = False, None
            if waiting:
                turns.insert(0, waiting)

    def _shown(
        self, event: Event | LiveEvent, request: Start | Resume | Continue
    ) -> Event | LiveEvent:
        if isinstance(event, LiveEvent):
            return event
        if isinstance(event, RunStarted) and isinstance(request, Start):
            update = self.folding.update(request.input, "input")
            event = event.model_copy(update={"input": dict(update.values)})
        return self._recorded(event)

    def _recorded(self, event: Event) -> Event:
        events = self._branch.events
        events.append(stamped(event, branch_id=self.branch_id, sequence=len(events) + 1))
        return events[-1]

    def _fork(self, request: Fork) -> list[Event]:
        events = self._branch.events
        at = len(events) if request.at is None else request.at
        if not 1 <= at <= len(events):
            raise StateUpdateError(f"Branch {self.branch_id!r} has no event {at}")
        name = request.name or f"fork-{len(self._branches)}"
        if name in self._branches:
            raise StateStoreError(f"Thread {self.thread_id!r} has a branch {name!r} already")
        self._branches[name] = _Branch(list(events[:at]), list(self._branch.turns))
        branch = self.on(name)
        made = [branch._recorded(Forked(parent_branch_id=self.branch_id, parent_sequence=at))]
        if request.update is not None:
            update = dict(self.folding.update(request.update, "fork").values)
            made.append(branch._recorded(StateEdited(update=update)))
        return made

    async def branches(self) -> tuple[str, ...]:
        """Return the thread's branches, the first one first."""
        return tuple(self._branches)

    def on(self, branch_id: str) -> FakeDriver:
        """Return a driver for branch `branch_id` of the same thread."""
        other = FakeDriver(shape=self.shape, thread_id=self.thread_id, branch_id=branch_id)
        other.capabilities = self.capabilities
        other._branches = self._branches
        return other

    async def close(self) -> None:
        """Stop what plays."""
        self.closed = True
        self._stopping = Stop() if self._running else None


def _shape(turns: Iterable[Iterable[Event | LiveEvent]]) -> Shape:
    names = dict.fromkeys(
        str(event.node)
        for turn in turns
        for event in turn
        if not isinstance(event, ChildEvent) and event.node is not None
    )
    nodes = tuple(NodeShape(name, name) for name in names)
    return Shape("fake", nodes, (), {"type": "object"})
