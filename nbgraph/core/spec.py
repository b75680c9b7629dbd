"""A graph as data: what other tools can read of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, cast

from nbgraph.core.flow import Structure
from nbgraph.core.importing import is_importable, path_of
from nbgraph.core.node import END, Node
from nbgraph.core.path import Branch
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.errors import GraphConfigError

if TYPE_CHECKING:
    from nbgraph.core.driver import Shape
    from nbgraph.core.graph import Graph

__all__ = [
    "BranchSpec",
    "EdgeSpec",
    "GraphData",
    "GraphNodeSpec",
    "GraphSpec",
    "JoinSpec",
    "graph_spec",
]

_END = "END"
"""How the end is written; a node may not have the name then."""


@dataclass(frozen=True, slots=True)
class GraphNodeSpec:
    """A node: its name, the import path of its function, and where it may lead by its own word."""

    name: str
    ref: str
    kind: Literal["node"] = "node"
    goto: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeSpec:
    """A way that is always taken."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class BranchSpec:
    """A choice after a node: the import path of its router, and where each answer leads."""

    source: str
    router_ref: str
    mapping: dict[str, str]


@dataclass(frozen=True, slots=True)
class JoinSpec:
    """A node that waits for several."""

    sources: tuple[str, ...]
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSpec:
    """A graph without its code; `"END"` is the end.

    `start` is the node a turn begins with, or several that begin it side by side.
    """

    version: int = 1
    name: str
    state_ref: str
    start: str | tuple[str, ...]
    nodes: tuple[GraphNodeSpec, ...]
    edges: tuple[EdgeSpec, ...]
    branches: tuple[BranchSpec, ...]
    joins: tuple[JoinSpec, ...] = ()


class GraphData:
    """What can be read of a `Graph` as data."""

    name: str
    state_schema: Any

    draw_as_mermaid: Callable[[Shape], str] | None = None
    """Set from above: returns a shape as Mermaid text."""

    @property
    def structure(self) -> Structure:
        """The checked flow."""
        raise NotImplementedError

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes, by name."""
        return dict(self.structure.nodes)

    @property
    def edges(self) -> dict[str, tuple[str, ...]]:
        """The nodes each node always leads to, by name; the end is `END.name`."""
        return dict(self.structure.edges)

    @property
    def branch_edges(self) -> dict[str, Branch]:
        """The choices made after nodes, by the node's name."""
        return dict(self.structure.branches)

    @property
    def start_node(self) -> str | tuple[str, ...]:
        """The node a turn begins with, or several that begin it side by side."""
        return _one_or_all(self.structure.starts)

    def to_spec(self) -> GraphSpec:
        """Return the graph as data, without its code.

        Raises
        ------
        GraphConfigError
            Listing all that has no import path, and answers of a router that look the same as text.
        """
        return graph_spec(self.name, self.state_schema, self.structure)

    def to_json(self) -> str:
        """Return the graph as JSON text: `to_spec`, and what it raises."""
        return json.dumps(asdict(self.to_spec()), indent=2)

    def to_mermaid(self) -> str:
        """Return the drawing as Mermaid text, for pages that draw it themselves."""
        draw = GraphData.draw_as_mermaid
        assert draw is not None  # importing nbgraph sets it
        return draw(cast("Graph", self).shape)


def graph_spec(name: str, state_schema: Any, structure: Structure) -> GraphSpec:
    """Return a checked flow as data.

    Raises
    ------
    GraphConfigError
        Listing every problem together.
    """
    problems = list(_problems(state_schema, structure))
    if problems:
        listed = "\n".join(f"- {problem}" for problem in problems)
        raise GraphConfigError(f"Graph {name!r} cannot be written as data:\n{listed}")
    nodes = structure.nodes.values()
    return GraphSpec(
        name=name,
        state_ref=path_of(state_schema),
        start=_one_or_all(structure.starts),
        nodes=tuple(_node_spec(each, structure) for each in nodes),
        edges=tuple(
            EdgeSpec(source, _written(target))
            for source, targets in structure.edges.items()
            for target in targets
        ),
        branches=tuple(_branch_spec(*item) for item in structure.branches.items()),
        joins=tuple(JoinSpec(sources, target) for sources, target in structure.joins.values()),
    )


def _problems(state_schema: Any, structure: Structure) -> Iterator[str]:
    if not is_importable(state_schema):
        yield f"the state type {state_schema!r} has no import path; define it in a module"
    for name, each in structure.nodes.items():
        if name == _END:
            yield f"a node is named {_END!r}, which stands for the end"
        if each.ref is None and not is_importable(each.handler):
            yield f"node {name!r} has no import path; define it in a module, or pass node(ref=...)"
    for name, choice in structure.branches.items():
        if choice.ref is None and not is_importable(choice.router):
            yield (
                f"the router after {name!r} has no import path; define it in a module, or pass "
                "branch(..., ref=...)"
            )
        if len({str(key) for key in choice.mapping}) < len(choice.mapping):
            yield f"two answers of the router after {name!r} look the same as text"


def _node_spec(each: Node, structure: Structure) -> GraphNodeSpec:
    gotos = tuple(map(_written, structure.gotos.get(each.name, ())))
    return GraphNodeSpec(each.name, each.ref or path_of(each.handler), goto=gotos)


def _branch_spec(source: str, choice: Branch) -> BranchSpec:
    mapping: Mapping[str, str] = {
        str(key): _written(target.name) for key, target in choice.mapping.items()
    }
    return BranchSpec(source, choice.ref or path_of(choice.router), dict(mapping))


def _one_or_all(starts: tuple[str, ...]) -> str | tuple[str, ...]:
    return starts[0] if len(starts) == 1 else starts


def _written(name: str) -> str:
    return _END if name == END.name else name
