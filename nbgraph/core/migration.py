"""Read a thread's events as a redefined graph names its nodes and fields.

The record itself is never changed: names are exchanged when it is read. Task ids and keys of
questions stay, since others may hold them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, TypeVar

from nbgraph.core.events import (
    BreakpointsSet,
    Event,
    Route,
    RunFinished,
    RunStarted,
    StateEdited,
    SuperstepFinished,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.core.flow import Structure
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.record import empty
from nbgraph.core.schema import StateSchema
from nbgraph.errors import GraphConfigError

__all__ = ["Migration", "migration"]

Placed = TypeVar("Placed", TaskSpec, Route)


@dataclass(frozen=True, slots=True)
class Migration:
    """What nodes and fields are called now, by the name they had; a field of None is dropped."""

    nodes: Mapping[str, str] = field(default_factory=empty)
    fields: Mapping[str, str | None] = field(default_factory=empty)

    def __bool__(self) -> bool:
        return bool(self.nodes or self.fields)

    def read(self, events: Sequence[Event]) -> Sequence[Event]:
        """Return events with the names that nodes and fields have now."""
        return [self._event(event) for event in events] if self else events

    def _event(self, event: Event) -> Event:
        changes = self._changes(event)
        if event.node is not None and event.node in self.nodes:
            changes["node"] = self.nodes[event.node]
        return event.model_copy(update=changes) if changes else event

    def _changes(self, event: Event) -> dict[str, Any]:
        match event:
            case RunStarted(input=update, replaced=replaced, tasks=tasks):
                return {
                    "input": self._update(update),
                    "replaced": self._kept(replaced),
                    "tasks": tuple(map(self._placed, tasks)),
                }
            case StateEdited(update=update, replaced=replaced, tasks=tasks):
                return {
                    "update": self._update(update),
                    "replaced": self._kept(replaced),
                    "tasks": None if tasks is None else tuple(map(self._placed, tasks)),
                }
            case TaskFinished(update=update, replaced=replaced, routes=routes):
                return {
                    "update": self._update(update),
                    "replaced": self._kept(replaced),
                    "routes": None if routes is None else tuple(map(self._placed, routes)),
                }
            case TaskInterrupted(interrupts=interrupts):
                asked = [
                    item.model_copy(update={"node": self._node(item.node)}) for item in interrupts
                ]
                return {"interrupts": tuple(asked)}
            case SuperstepFinished(next=following, joins=joins):
                tasks = None if following is None else tuple(map(self._placed, following))
                arrived = {self._join(name): self._nodes(there) for name, there in joins.items()}
                return {"next": tasks, "joins": arrived}
            case RunFinished(open_joins=names):
                return {"open_joins": tuple(map(self._join, names))}
            case BreakpointsSet(before=before, after=after):
                return {"before": self._listed(before), "after": self._listed(after)}
            case _:
                return {}

    def _placed(self, item: Placed) -> Placed:
        payload = None if item.payload is None else self._update(item.payload)
        return item.model_copy(update={"node": self._node(item.node), "payload": payload})

    def _update(self, update: Mapping[str, Any]) -> dict[str, Any]:
        named = {self.fields.get(name, name): value for name, value in update.items()}
        return {name: value for name, value in named.items() if name is not None}

    def _kept(self, names: Sequence[str]) -> tuple[str, ...]:
        named = (self.fields.get(name, name) for name in names)
        return tuple(name for name in named if name is not None)

    def _node(self, name: str) -> str:
        return self.nodes.get(name, name)

    def _nodes(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self._node, names))

    def _listed(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if names is None else self._nodes(names)

    def _join(self, name: str) -> str:
        return "+".join(map(self._node, name.split("+")))


def migration(
    names: Mapping[str, str | None], structure: Structure, schema: StateSchema
) -> Migration:
    """Return what `migrate=` says of a graph's nodes and of its fields.

    A name that the graph still has keeps its meaning, so a node and a field that had one name can
    be told apart by what is left of them.

    Raises
    ------
    GraphConfigError
        If a name leads to what is neither a node nor a field.
    """
    known = (*structure.nodes, *schema.fields)
    unknown = [new for new in names.values() if new is not None and new not in known]
    if unknown:
        listed = ", ".join(map(repr, unknown))
        raise GraphConfigError(
            f"migrate leads to {listed}, which is neither a node nor a field of the graph; it maps "
            "the name that was to the name that is"
        )
    nodes = {
        old: new
        for old, new in names.items()
        if new in structure.nodes and old not in structure.nodes
    }
    fields = {
        old: new
        for old, new in names.items()
        if (new is None or new in schema.fields) and not schema.is_open and old not in schema.fields
    }
    return Migration({old: new for old, new in nodes.items() if new is not None}, fields)
