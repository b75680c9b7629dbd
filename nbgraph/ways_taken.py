"""Which edges of a drawing were taken, and what a branch did not choose: in sub-graphs too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from nbgraph.core.driver import Shape
from nbgraph.core.events import RunStarted, SuperstepFinished, TaskSpec

__all__ = ["Edges", "Within", "led", "passed", "still_joining", "within"]

Edges = frozenset[tuple[str, str]]
"""Edges by the paths they lead from and to."""
_END = "__end__"


@dataclass(frozen=True, slots=True)
class Within:
    """Where a sub-graph's thread stands, as far as its edges tell: its tasks and open joins."""

    tasks: tuple[TaskSpec, ...] = ()
    joins: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def passed(
    tasks: Iterable[TaskSpec],
    before: Mapping[str, tuple[str, ...]],
    after: Mapping[str, tuple[str, ...]],
) -> set[str]:
    """Return the nodes that edges were taken from: those that ran, and those a full join held."""
    sources = {task.node for task in tasks}
    for name in before.keys() - after.keys() if before else ():
        sources |= {*before[name]}
    return sources


def led(
    shape: Shape, sources: Collection[str], targets: Collection[str], marks: Mapping[str, str]
) -> tuple[Edges, list[str]]:
    """Return the edges from some paths to others, and the idle ones that a branch passed over."""
    taken: set[tuple[str, str]] = set()
    left: list[str] = []
    for edge in shape.edges:
        if edge.source in sources and edge.target in targets:
            taken.add((edge.source, edge.target))
        elif edge.source in sources and edge.kind == "branch" and marks.get(edge.target) == "idle":
            left.append(edge.target)
    return frozenset(taken), left


def to_the_end(shape: Shape, sources: Collection[str]) -> Edges:
    """Return the edges from some paths to the end of a turn."""
    ways = ((edge.source, edge.target) for edge in shape.edges)
    return frozenset(way for way in ways if way[0] in sources and way[1] == _END)


def still_joining(
    shape: Shape, joins: Mapping[str, tuple[str, ...]], taken: Edges, marks: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the nodes that joins which are still open hold back: of these, none has run."""
    arrived = {source for sources in joins.values() for source in sources}
    ways = ((each.source, each.target) for each in shape.edges if each.kind == "edge")
    held = (way for way in ways if way[0] in arrived and way not in taken)
    return tuple(dict.fromkeys(target for _, target in held if marks.get(target) == "idle"))


def within(
    shape: Shape, path: str, at: Within | None, event: object, marks: Mapping[str, str]
) -> tuple[Within, Edges, list[str]] | None:
    """Return where a sub-graph stands after an event that plans tasks in it, and what it tells.

    `path` is the sub-graph's own, from which the way into it leads.
    """
    at = at or Within()
    match event:
        case RunStarted(tasks=tasks):
            sources, now = {path}, Within(tasks)
        case SuperstepFinished(next=tuple(tasks), joins=joins):
            sources = {f"{path}/{node}" for node in passed(at.tasks, at.joins, joins)}
            now = Within(tasks, joins)
        case _:
            return None
    targets = {f"{path}/{task.node}" for task in tasks}
    return now, *led(shape, sources, targets, marks)
