"""A shape as a Graphviz graph."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import graphviz

from nbgraph.core.driver import ANYWHERE, EdgeShape, Shape
from nbgraph.drawing.folding import subgraphs
from nbgraph.drawing.labels import cut, reveal
from nbgraph.drawing.loops import room

__all__ = ["END", "START", "TERMINALS", "Direction", "dot", "node_names"]

START = "__start__"
END = "__end__"

Direction = Literal["TB", "LR"]
"""Which way the edges run: from top to bottom, or from left to right."""

TERMINALS = {START: "start", END: "end", ANYWHERE: "anywhere"}
"""What is drawn at the ends of ways that are no nodes."""
_GRAPH = {"bgcolor": "transparent", "ranksep": "0.3", "pad": "0.22"}
_CLOSE, _APART = "0.16", "0.26"
"""How far nodes are from one another, and edges between the same two; the latter need more."""
_NODE = {
    "shape": "box",
    "style": "rounded",
    "fontname": "Helvetica-Bold",
    "fontsize": "13",
    "width": "1.14",
    "height": "0.58",
    "margin": "0.22,0.03",
}
_TERMINAL = 'fontsize=11 height=0.3 id={name} margin="0.06,0.03" width=0.5'
_EDGE = {"arrowsize": "0.6", "fontname": "Helvetica", "fontsize": "11"}
_CLUSTER = {"style": "rounded", "margin": "10", "label": ""}
_SECOND_LINE = r"\n "


def dot(shape: Shape, *, direction: Direction = "TB") -> graphviz.Digraph:
    """Return the shape as a graph that any Graphviz can draw.

    Names are generated; what the user wrote stands in labels only, as data. Each node keeps room
    for a second line.
    """
    look = {"rankdir": direction, "nodesep": _APART if _is_doubled(shape) else _CLOSE, **_GRAPH}
    graph = graphviz.Digraph("g", graph_attr=look, node_attr=_NODE, edge_attr=_EDGE)
    names = node_names(shape)
    labels = {node.path: node.label for node in shape.nodes}
    for path, name in names.items():
        if path in TERMINALS:
            graph.body.append(f"\t{name} [label={name} {_TERMINAL.format(name=name)}]\n")
        else:
            label = _quoted(labels.get(path, path), suffix=_SECOND_LINE)
            graph.body.append(f"\t{name} [label={label} id={name}]\n")
    _add_clusters(graph, shape, names, None)
    for index, edge in enumerate(shape.edges):
        label = _label(edge, direction)
        style = " style=dashed" if edge.kind == "goto" else ""
        ends = f"{names[edge.source]} -> {names[edge.target]}"
        graph.body.append(f"\t{ends} [{label}id=e{index}{style}]\n")
    return graph


def _is_doubled(shape: Shape) -> bool:
    """Return whether two edges lie between the same two nodes, in whichever direction."""
    ends = Counter(frozenset((each.source, each.target)) for each in shape.edges)
    return any(count > 1 and len(pair) > 1 for pair, count in ends.items())


def _label(edge: EdgeShape, direction: Direction) -> str:
    """Return an edge's label as an attribute in DOT; the one of a loop keeps room for it."""
    if edge.source == edge.target:
        return f"label={_quoted(f' {edge.label} ' if edge.label else ' ', *room(direction))} "
    return "" if edge.label is None else f"label={_quoted(f' {edge.label} ')} "


def _add_clusters(
    graph: graphviz.Digraph, shape: Shape, names: dict[str, str], outer: str | None
) -> None:
    parents = {node.path: node.parent for node in shape.nodes}
    for path in subgraphs(shape):
        if parents.get(path) != outer:
            continue
        box = graphviz.Digraph(f"cluster_{names[path]}", graph_attr=_CLUSTER)
        box.attr(id=f"c{names[path]}")
        box.node(names[path])
        for node in shape.nodes:
            if node.parent == path:
                box.node(names[node.path])
        _add_clusters(box, shape, names, path)
        graph.subgraph(box)


def node_names(shape: Shape) -> dict[str, str]:
    """Return the name in DOT of each path that is drawn: `start`, `n0`, `n1`, ..., `end`."""
    reached = [path for edge in shape.edges for path in (edge.source, edge.target)]
    paths = dict.fromkeys([node.path for node in shape.nodes] + reached)
    inner = [path for path in paths if path not in TERMINALS]
    names = {path: f"n{index}" for index, path in enumerate(inner)}
    start = {START: TERMINALS[START]} if START in paths else {}
    ends = {path: name for path, name in TERMINALS.items() if path != START and path in paths}
    return start | names | ends


def _quoted(text: str, prefix: str = "", suffix: str = "") -> str:
    """Return a DOT string that shows exactly this text; what stands around it is DOT of ours.

    No line of it is empty: pygraphviz 2.0's Graphviz corrupts memory over an empty one.
    """
    shown = cut(reveal(text)) or " "
    data = shown.replace("\\", "\\\\").replace("&", "&amp;").replace('"', '\\"')
    return f'"{prefix}{data}{suffix}"'
