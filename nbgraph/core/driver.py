"""What a session can drive: one engine, one thread, one branch.

nbgraph's own is `nbgraph.core.thread.Thread`; adapters look like it, and so does the fake in
`nbgraph.testing`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from nbgraph.core.events import Event
from nbgraph.core.live import ChildEvent, LiveEvent
from nbgraph.core.quick_dataclass import dataclass
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

__all__ = [
    "ANYWHERE",
    "BreaksWhen",
    "Capability",
    "Driver",
    "EdgeShape",
    "Folding",
    "HasReducers",
    "HasSource",
    "InnerLog",
    "NodeShape",
    "Shape",
    "TellsInside",
    "needed",
]

ANYWHERE = "__anywhere__"
"""Where a way leads whose router does not say: an end of an edge, beside `START` and `END`."""

Capability = Literal[
    "step", "until", "stop", "pause", "edit", "skip", "breakpoints", "break_when", "fork"
]
"""What an engine may be able to do beyond starting, resuming and continuing."""


def needed(request: Request) -> tuple[Capability, ...]:
    """Return what an engine must be able to do for a request."""
    match request:
        case Continue(steps=steps, until=until):
            named: list[Capability] = ["step"] if steps else []
            return (*named, "until") if until else tuple(named)
        case Stop(gently=gently):
            return ("pause",) if gently else ("stop",)
        case SetBreakpoints():
            return ("breakpoints",)
        case Edit():
            return ("edit",)
        case Skip():
            return ("skip",)
        case Fork():
            return ("fork",)
        case Start() | Resume():
            return ()


@dataclass(frozen=True, slots=True)
class NodeShape:
    """A node as it is drawn. `path` addresses it (`"pay"`, in a sub-graph `"refund/pay"`).

    `parent` is the path of the sub-graph it stands in.
    """

    path: str
    label: str
    description: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class EdgeShape:
    """A way from one node to another; the ends are `START` and `END`, and `ANYWHERE`.

    `kind`: `"edge"` is always taken, `"branch"` when its router says `label`, `"goto"` when the
    node says so itself.
    """

    source: str
    target: str
    kind: Literal["edge", "branch", "goto"] = "edge"
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """The structure of a graph, for drawing and for the start form."""

    name: str
    nodes: tuple[NodeShape, ...]
    edges: tuple[EdgeShape, ...]
    input_schema: Mapping[str, Any]
    """JSON Schema of an input."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    """Where a branch pauses that has set no breakpoints of its own."""
    fixed_before: tuple[str, ...] = ()
    fixed_after: tuple[str, ...] = ()
    """Where sub-graphs pause because their own graphs say so, whatever the branch has set."""

    def ways(self) -> Mapping[str, tuple[str, ...]]:
        """Return for each node's path the paths of the sub-graphs it stands in, outermost first."""
        found: dict[str, tuple[str, ...]] = {}
        for node in self.nodes:
            outer = node.parent
            found[node.path] = () if outer is None else (*found.get(outer, ()), outer)
        return found


@runtime_checkable
class HasSource(Protocol):
    """A driver that can show the code of its nodes."""

    def source(self, path: str) -> str | None:
        """Return a node's source; None where it cannot be had."""
        ...


class Folding(Protocol):
    """How updates become state, so that a session can fold events of any engine."""

    def apply(
        self, state: Mapping[str, Any], update: Mapping[str, Any], replaced: Sequence[str]
    ) -> Mapping[str, Any]:
        """Return the state after one JSON update; fields in `replaced` go past their reducer."""
        ...

    def apply_all(
        self,
        state: Mapping[str, Any],
        updates: Iterable[tuple[Mapping[str, Any], Sequence[str]]],
    ) -> Mapping[str, Any]:
        """Return the state after several updates, in order; each as `apply` takes it."""
        ...

    def to_json(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state as JSON."""
        ...

    def view(self, state: Mapping[str, Any]) -> Any:
        """Return the state as its users have it: an instance of its type, or a dict."""
        ...


@runtime_checkable
class HasReducers(Protocol):
    """A folding that can tell how a field's updates are merged."""

    def reducer(self, name: str) -> str | None:
        """Return what merges a field's updates; None where an update replaces the value."""
        ...


class BreaksWhen(Protocol):
    """A driver with the capability `"break_when"`: a run pauses where a predicate says so."""

    def send(
        self, request: Request, *, break_when: Callable[[Any], bool] | None
    ) -> AsyncGenerator[Event | LiveEvent, None]:
        """Carry out a request as `Driver.send` does; `break_when` takes the state."""
        ...


@dataclass(frozen=True, slots=True)
class InnerLog:
    """The events of a sub-graph's thread, and how they become its state."""

    events: Sequence[Event]
    folding: Folding


@runtime_checkable
class TellsInside(Protocol):
    """A driver whose sub-graphs keep events of their own: a restart finds their marks there."""

    async def inside(self, event: Event) -> Sequence[ChildEvent]:
        """Return what happened in the sub-graphs that a stored event tells of, in order."""
        ...

    async def inner_log(self, path: str) -> InnerLog | None:
        """Return the log of a sub-graph's newest thread, by its path; None before there is one."""
        ...


class Driver(Protocol):
    """One branch of one thread of any engine."""

    @property
    def engine(self) -> str:
        """The engine's name, as it is shown."""
        ...

    @property
    def thread_id(self) -> str:
        """The thread's id."""
        ...

    @property
    def branch_id(self) -> str:
        """The branch's id, `"main"` unless it was forked."""
        ...

    @property
    def shape(self) -> Shape:
        """The graph's structure."""
        ...

    @property
    def folding(self) -> Folding:
        """How this engine's updates become state."""
        ...

    @property
    def capabilities(self) -> Mapping[Capability, str | None]:
        """What the engine can do: None where it can, else the reason why not, as it is shown."""
        ...

    async def events(self, after: int = 0) -> Sequence[Event]:
        """Return the stored events after number `after`; none for a thread that is new."""
        ...

    def send(self, request: Request) -> AsyncGenerator[Event | LiveEvent, None]:
        """Carry out a request; iterate to see what happens, close to end it.

        Each stored event is yielded after it is recorded. A request that does not fit raises a
        `ResumeError` before anything is recorded. A node that fails is no exception here: the last
        event is then `RunFailed`. `Stop` is sent while another request is carried out; it yields
        nothing.
        """
        ...

    async def branches(self) -> tuple[str, ...]:
        """Return the thread's branches, `"main"` first, then oldest first."""
        ...

    def on(self, branch_id: str) -> Driver:
        """Return a driver for another branch of the same thread."""
        ...

    async def close(self) -> None:
        """Let go of what the driver holds; a run is stopped."""
        ...
