"""A shape in words, for `text/plain` and for who cannot see the picture."""

from __future__ import annotations

from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.drawing.dot import TERMINALS
from nbgraph.drawing.labels import reveal

__all__ = ["describe"]


def describe(shape: Shape) -> str:
    """Return the graph's name, its nodes and its edges, one a line; the same text every time."""
    nodes = [f"  {_node(node)}" for node in shape.nodes]
    edges = [f"  {_edge(edge)}" for edge in shape.edges]
    return "\n".join([f"Graph {reveal(shape.name)}", "Nodes", *nodes, "Edges", *edges])


def _node(node: NodeShape) -> str:
    path, label = reveal(node.path), reveal(node.label)
    name = path if path == label else f"{path} ({label})"
    return f"{name}: {reveal(node.description)}" if node.description else name


def _edge(edge: EdgeShape) -> str:
    way = f"{_end(edge.source)} -> {_end(edge.target)}"
    label = "" if edge.label is None else f" [{reveal(edge.label)}]"
    return f"{way}{label}{' (goto)' if edge.kind == 'goto' else ''}"


def _end(path: str) -> str:
    return TERMINALS.get(path, reveal(path))
