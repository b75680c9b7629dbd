"""Ways from node to node as they are written, `a >> b`: what a flow is made of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, cast

from nbgraph.core.quick_dataclass import dataclass
from nbgraph.errors import GraphConfigError

__all__ = ["Branch", "Goal", "Join", "Named", "Path", "Source", "Transition", "checked_goal"]


class Source:
    """What a way can begin at: START, a node, a join."""

    __slots__ = ()

    def __rshift__(self, target: Goal | Branch | Sequence[Goal]) -> Path:
        return Path.between(self, target)


class Goal:
    """What a way can lead to: a node, or END."""

    __slots__ = ()

    name: str


@dataclass(frozen=True, slots=True)
class Named(Goal):
    """A node that is known by its name alone until the flow is checked."""

    name: str


@dataclass(frozen=True, slots=True)
class Branch:
    """A choice made on the state when a node has finished. Made by `branch` and `when`."""

    router: Callable[[Any], Any]
    mapping: Mapping[Hashable, Goal]
    ref: str | None = None
    boolean: bool = False


@dataclass(frozen=True, slots=True)
class Join(Source):
    """Several nodes that must all have finished. Made by `join`."""

    sources: tuple[Goal, ...]

    @property
    def name(self) -> str:
        """The join's name: its sources."""
        return "+".join(source.name for source in self.sources)


@dataclass(frozen=True, slots=True)
class Transition:
    """One way: to all `targets`, or to what `choice` says."""

    source: Source
    targets: tuple[Goal, ...] = ()
    choice: Branch | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """One or more transitions written in a row: `START >> a >> b >> END`."""

    transitions: tuple[Transition, ...]

    @classmethod
    def between(cls, source: Source, target: Any) -> Path:
        """Return the way from a source to a node, END, a list of nodes, or a branch.

        Raises
        ------
        GraphConfigError
            If the target is none of these.
        """
        if isinstance(target, Branch):
            if not isinstance(source, Goal):
                raise GraphConfigError(f"{source!r} leads to nodes; put the branch after a node")
            return cls((Transition(source, choice=target),))
        several = isinstance(target, list | tuple)
        goals = tuple(map(checked_goal, cast("Sequence[Any]", target) if several else (target,)))
        if not goals:
            raise GraphConfigError("A list of targets needs at least one node")
        return cls((Transition(source, goals),))

    def __rshift__(self, target: Any) -> Path:
        last = self.transitions[-1].targets
        if len(last) != 1 or not isinstance(last[0], Source):
            raise GraphConfigError("Only a single node can be followed; write a new item for it")
        return Path((*self.transitions, *Path.between(last[0], target).transitions))


def checked_goal(target: Any) -> Goal:
    """Return a target, if a way can lead to it.

    Raises
    ------
    GraphConfigError
        If it is no node and not END.
    """
    if not isinstance(target, Goal):
        raise GraphConfigError(f"A flow leads to nodes and END, got {target!r}; is @node missing?")
    return target
