"""A shape with sub-graphs folded to their node."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from nbgraph.core.driver import NodeShape, Shape

__all__ = ["folded", "subgraphs"]


def subgraphs(shape: Shape) -> tuple[str, ...]:
    """Return the paths of the nodes that hold a sub-graph, outer ones first."""
    return tuple(dict.fromkeys(node.parent for node in shape.nodes if node.parent is not None))


def folded(shape: Shape, closed: Collection[str]) -> Shape:
    """Return the shape without what is inside the nodes in `closed`."""
    if not closed:
        return shape
    parents = {node.path: node.parent for node in shape.nodes}
    hidden = {node.path for node in shape.nodes if _is_inside(node, closed, parents)}
    nodes = tuple(node for node in shape.nodes if node.path not in hidden)
    edges = tuple(
        edge for edge in shape.edges if edge.source not in hidden and edge.target not in hidden
    )
    return replace(shape, nodes=nodes, edges=edges)


def _is_inside(node: NodeShape, closed: Collection[str], parents: dict[str, str | None]) -> bool:
    at = node.parent
    while at is not None and at not in closed:
        at = parents[at]
    return at is not None
