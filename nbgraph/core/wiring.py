"""How the states of a graph and its sub-graph meet: shared fields, or two functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel

from nbgraph.core.events import RunStarted
from nbgraph.core.fold import fold
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.reducers import Replace
from nbgraph.errors import GraphConfigError

if TYPE_CHECKING:
    from nbgraph.core.graph import Graph
    from nbgraph.core.node import Node
    from nbgraph.core.schema import StateSchema
    from nbgraph.core.thread import Thread

__all__ = ["Reader", "Wiring", "Writer", "check_shared", "wiring"]

Reader = Callable[[Any], Mapping[str, Any] | BaseModel]
"""Makes a sub-graph's input of its parent's state."""
Writer = Callable[[Any], Mapping[str, Any] | None]
"""Makes the parent's update of a sub-graph's last state."""


class Wiring(Protocol):
    """What goes into a sub-graph, and what comes back; `shared` fields go both ways."""

    @property
    def shared(self) -> tuple[str, ...]:
        """The fields both states have."""
        ...

    def given(self, state: Any) -> Mapping[str, Any] | BaseModel:
        """Return the sub-graph's input."""
        ...

    async def returned(self, thread: Thread, state: Any, schema: StateSchema) -> Any:
        """Return the parent's update once the sub-graph's thread has finished."""
        ...


def wiring(
    graph: Graph,
    share: Sequence[str] | None,
    state_in: Reader | None,
    state_out: Writer | None,
) -> Wiring:
    """Return the one wiring that is given.

    Raises
    ------
    GraphConfigError
        If it is not exactly one, or `share` names a field the sub-graph does not have.
    """
    if share is not None and state_in is None and state_out is None:
        return _Shared(_known(graph, share))
    if share is None and state_in is not None and state_out is not None:
        return _Mapped(state_in, state_out)
    raise GraphConfigError(
        "A sub-graph is wired by share=[fields], or by state_in= and state_out=; pass one of them"
    )


def _known(graph: Graph, share: Sequence[str]) -> tuple[str, ...]:
    if isinstance(share, str) or not share:
        raise GraphConfigError(f"share is a list of field names, got {share!r}")
    fields = graph.schema.fields
    unknown = [name for name in share if name not in fields and not graph.schema.is_open]
    if unknown:
        raise GraphConfigError(
            f"The state of graph {graph.name!r} has no field {', '.join(map(repr, unknown))} to "
            f"share; it has {', '.join(map(repr, fields))}"
        )
    return tuple(share)


def check_shared(nodes: Iterable[Node], schema: StateSchema) -> None:
    """Refuse a sub-graph that shares fields which its parent's state does not have.

    Raises
    ------
    GraphConfigError
        Naming the node and the field.
    """
    for node in nodes:
        for name in () if node.inner is None or schema.is_open else node.inner.shared:
            if name not in schema.fields:
                known = ", ".join(map(repr, schema.fields))
                raise GraphConfigError(
                    f"Sub-graph {node.name!r} shares {name!r}, which the state does not have; it "
                    f"has {known}"
                )


@dataclass(frozen=True, slots=True)
class _Mapped:
    state_in: Reader
    state_out: Writer
    shared: tuple[str, ...] = ()

    def given(self, state: Any) -> Mapping[str, Any] | BaseModel:
        return self.state_in(state)

    async def returned(self, thread: Thread, state: Any, schema: StateSchema) -> Any:  # noqa: ARG002 - the protocol's
        return self.state_out(thread.folding.view(thread.known.state))


@dataclass(frozen=True, slots=True)
class _Shared:
    shared: tuple[str, ...]

    def given(self, state: Any) -> Mapping[str, Any]:
        # A stable thread has values of its last turn, which the parent's replace.
        return {name: Replace(value) for name, value in self._of(state).items()}

    def _of(self, state: Any) -> dict[str, Any]:
        if isinstance(state, Mapping):
            return {name: state[name] for name in self.shared if name in state}
        return {name: getattr(state, name) for name in self.shared}

    async def returned(self, thread: Thread, state: Any, schema: StateSchema) -> Any:
        """Return what the sub-graph changed since its turn began.

        Compared is with what it was given, not with the parent's state, which somebody may have
        edited while the sub-graph waited.
        """
        before = self._of(state)
        events = await thread.events()
        starts = [at for at, event in enumerate(events) if isinstance(event, RunStarted)]
        if starts:
            given = fold(events[: starts[-1] + 1], thread.folding)
            before = self._of(given.state)
        return schema.between(before, self._of(thread.known.state))
