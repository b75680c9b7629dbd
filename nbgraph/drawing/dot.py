"""A shape as a Graphviz graph."""

from __future__ import annotations

from typing import Literal

import graphviz

from nbgraph.core.driver import ANYWHERE, Shape
from nbgraph.drawing.folding import subgraphs
from nbgraph.drawing.labels import cut, reveal

__all__ = ["END", "START", "TERMINALS", "Direction", "dot", "node_names"]

START = "__start__"
END = "__end__"

Direction = Literal["TB", "LR"]
"""Which way the edges run: from top to bottom, or from left to right."""

TERMINALS = {START: "start", END: "end", ANYWHERE: "anywhere"}
"""What is drawn at the ends of ways that are no nodes."""
_GRAPH = {"bgcolor": "transparent", "nodesep": "0.16", "ranksep": "0.3", "pad": "0.22"}
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
    graph = graphviz.Digraph(
        "g", graph_attr={"rankdir": direction, **_GRAPH}, node_attr=_NODE, edge_attr=_EDGE
    )
    names = node_names(shape)
    labels = {node.path: node.label for node in shape.nodes}
    for path, name in names.items():
        if path in TERMINALS:
            graph.body.append(f"\t{name} [label={name} {_TERMINAL.format(name=name)}]\n")
        else:
            label = _quoted(labels.get(path, path), _SECOND_LINE)
            graph.body.append(f"\t{name} [label={label} id={name}]\n")
    _add_clusters(graph, shape, names, None)
    for index, edge in enumerate(shape.edges):
        label = "" if edge.label is None else f"label={_quoted(f' {edge.label} ')} "
        style = " style=dashed" if edge.kind == "goto" else ""
        ends = f"{names[edge.source]} -> {names[edge.target]}"
        graph.body.append(f"\t{ends} [{label}id=e{index}{style}]\n")
    return graph


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


def _quoted(text: str, suffix: str = "") -> str:
    """Return a DOT string that shows exactly this text; the suffix is DOT of ours.

    No line of it is empty: pygraphviz 2.0's Graphviz corrupts memory over an empty one.
    """
    shown = cut(reveal(text)) or " "
    data = shown.replace("\\", "\\\\").replace("&", "&amp;").replace('"', '\\"')
    return f'"{data}{suffix}"'
