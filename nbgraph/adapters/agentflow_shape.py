"""The structure of a compiled AgentFlow graph."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingImports=false

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from nbgraph.core.driver import ANYWHERE, EdgeShape, NodeShape, Shape

__all__ = ["ENDS", "shape_of"]

ENDS = ("__start__", "__end__")
_INPUT: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "messages": {
            "type": "array",
            "title": "Messages",
            "minItems": 1,
            "items": {"type": "string", "title": "Text", "x-widget": "textarea"},
        }
    },
    "required": ["messages"],
}


def shape_of(app: Any) -> Shape:
    """Return a compiled graph's structure."""
    graph = app._state_graph
    nodes = [
        NodeShape(name, name, _described(node))
        for name, node in graph.nodes.items()
        if name not in ENDS
    ]
    edges = dict.fromkeys(_edges(graph.edges, graph.entry_point))
    names = [node.path for node in nodes]
    before, after = (
        tuple(name for name in names if named and ("*" in named or name in named))
        for named in (app._interrupt_before, app._interrupt_after)
    )
    return Shape(_name(graph), tuple(nodes), tuple(edges), _INPUT, before, after)


def _name(graph: Any) -> str:
    name = getattr(graph, "name", None)
    return name if isinstance(name, str) and name else "AgentFlow"


def _described(node: Any) -> str | None:
    function = getattr(node, "func", None)
    text = inspect.getdoc(function) if inspect.isfunction(function) else None
    return text.partition("\n")[0] if text else None


def _edges(edges: Iterable[Any], entry: str | None) -> Iterable[EdgeShape]:
    plain_ways: set[str] = set()
    if entry and not any(edge.from_node == ENDS[0] for edge in edges):
        yield EdgeShape(ENDS[0], entry)
    for edge in edges:
        if edge.condition is None:
            # Of several plain edges the engine takes the first.
            if edge.from_node not in plain_ways:
                yield EdgeShape(edge.from_node, edge.to_node)
            plain_ways.add(edge.from_node)
        elif not edge.to_node:
            yield EdgeShape(edge.from_node, ANYWHERE, "goto")
        else:
            said = edge.condition_result
            label = None if said in (None, edge.to_node) else str(said)
            yield EdgeShape(edge.from_node, edge.to_node, "branch", label)
