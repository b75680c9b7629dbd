"""A shape as Mermaid text, for pages that draw it themselves."""

from __future__ import annotations

from nbgraph.core.driver import EdgeShape, Shape
from nbgraph.drawing.dot import TERMINALS, Direction, node_names
from nbgraph.drawing.folding import subgraphs
from nbgraph.drawing.labels import cut, reveal

__all__ = ["mermaid"]

_PLAIN = frozenset(" _:/(),")


def mermaid(shape: Shape, *, direction: Direction = "TB") -> str:
    """Return the shape as a Mermaid flowchart; labels are data there too."""
    names = node_names(shape)
    labels = {node.path: node.label for node in shape.nodes} | TERMINALS
    nodes = [_node(name, path, labels.get(path, path)) for path, name in names.items()]
    edges = [_edge(names, edge) for edge in shape.edges]
    boxes = [line for path in subgraphs(shape) for line in _box(names, shape, path)]
    return "\n".join([f"flowchart {direction}", *nodes, *boxes, *edges, ""])


def _box(names: dict[str, str], shape: Shape, path: str) -> list[str]:
    """Return the block of a sub-graph: the names of its node, and of the nodes and blocks in it."""
    boxed = subgraphs(shape)
    inside = [node.path for node in shape.nodes if node.parent == path]
    found = [f"c{names[each]}" if each in boxed else names[each] for each in inside]
    members = [f"        {_safe(name)}" for name in (names[path], *found)]
    return [f'    subgraph {_safe(f"c{names[path]}")}[" "]', *members, "    end"]


def _node(name: str, path: str, label: str) -> str:
    left, right = ("([", "])") if path in TERMINALS else ("(", ")")
    return f'    {_safe(name)}{left}"{_escaped(label)}"{right}'


def _edge(names: dict[str, str], edge: EdgeShape) -> str:
    arrow = "-.->" if edge.kind == "goto" else "-->"
    label = "" if edge.label is None else f'|"{_escaped(edge.label)}"|'
    return f"    {_safe(names[edge.source])} {arrow}{label} {_safe(names[edge.target])}"


def _safe(name: str) -> str:
    """Keep clear of Mermaid's own words: `end` closes a block."""
    return f"{name}_"


def _escaped(text: str) -> str:
    shown = cut(reveal(text))
    return "".join(
        character if character.isalnum() or character in _PLAIN else f"#{ord(character)};"
        for character in shown
    )
