"""A shape as SVG that a style sheet colours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.drawing.dot import TERMINALS, Direction, dot, node_names
from nbgraph.drawing.folding import subgraphs
from nbgraph.drawing.labels import address, cut, reveal
from nbgraph.drawing.layout import lay_out

__all__ = ["XMLNS", "is_small", "svg", "tree"]

XMLNS = "http://www.w3.org/2000/svg"

_NAMESPACE = f"{{{XMLNS}}}"
_SHAPES = {
    "path": ("d",),
    "polygon": ("points",),
    "polyline": ("points",),
    "ellipse": ("cx", "cy", "rx", "ry"),
}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SMALL_NODES, _SMALL_EDGES = 60, 120
_TITLE_LIMIT = 300


def svg(shape: Shape, *, direction: Direction = "TB") -> str:
    """Return the laid-out shape as SVG without colours; a shape is laid out once.

    Each `g.node` has `data-node`, a text `nbgraph-name`, an empty one `nbgraph-sub` for its second
    line, and empty groups `nbgraph-badge` and `nbgraph-break` at their places. Each `g.edge` has
    `data-source`, `data-target`, `data-kind`, and `data-edge`, its index in the shape. The box
    around a sub-graph is a `g.nbgraph-cluster` with `data-cluster`, the address of its node. No
    `id`, no link, no style is in it.

    Raises
    ------
    DrawingError
        If Graphviz is missing, fails, or takes too long.
    """
    return _laid_out(shape.name, shape.nodes, shape.edges, direction)


def tree(shape: Shape, *, direction: Direction = "TB") -> Element:
    """Return what `svg` returns as elements to fill in; tags bear no namespace."""
    text = svg(shape, direction=direction)
    return ElementTree.fromstring(text.replace(f' xmlns="{XMLNS}"', "", 1))


def is_small(shape: Shape) -> bool:
    """Return whether a layout takes so little time that a caller may wait for it."""
    return len(shape.nodes) <= _SMALL_NODES and len(shape.edges) <= _SMALL_EDGES


@lru_cache(maxsize=64)
def _laid_out(
    name: str, nodes: tuple[NodeShape, ...], edges: tuple[EdgeShape, ...], direction: Direction
) -> str:
    shape = Shape(name, nodes, edges, {})
    raw = lay_out(dot(shape, direction=direction).source, small=is_small(shape))
    return _rebuilt(ElementTree.fromstring(raw[raw.index("<svg") :]), shape)


def _rebuilt(raw: Element, shape: Shape) -> str:
    """Build a document anew and take over geometry only, so that nothing else can come through."""
    drawn = {group.get("id", ""): group for group in raw.iter(f"{_NAMESPACE}g")}
    graph = drawn["graph0"]
    root = Element("svg", _frame(raw))
    canvas = SubElement(root, "g", {"class": "graph", "transform": graph.get("transform", "")})
    names = node_names(shape)
    for path in subgraphs(shape):
        group = SubElement(canvas, "g", {"class": "nbgraph-cluster", "data-cluster": address(path)})
        _copy_shapes(group, drawn[f"c{names[path]}"])
    for index, edge in enumerate(shape.edges):
        _add_edge(canvas, drawn[f"e{index}"], edge, index)
    nodes = {node.path: node for node in shape.nodes}
    for path, name in names.items():
        _add_node(canvas, drawn[name], nodes.get(path, NodeShape(path, path)))
    return ElementTree.tostring(root, encoding="unicode")


def _frame(raw: Element) -> dict[str, str]:
    box = raw.get("viewBox", "0 0 0 0")
    width, height = box.split()[2:]
    return {
        "xmlns": XMLNS,
        "class": "nbgraph-svg",
        "viewBox": box,
        "width": width,
        "height": height,
    }


def _add_edge(canvas: Element, drawn: Element, edge: EdgeShape, index: int) -> None:
    group = SubElement(
        canvas,
        "g",
        {
            "class": "edge nbgraph-goto" if edge.kind == "goto" else "edge",
            "data-edge": str(index),
            "data-source": address(edge.source),
            "data-target": address(edge.target),
            "data-kind": edge.kind,
        },
    )
    _copy_shapes(group, drawn)
    if edge.label is not None:
        label = SubElement(group, "text", _place(drawn.find(f"{_NAMESPACE}text")))
        label.text = cut(reveal(edge.label))


def _add_node(canvas: Element, drawn: Element, node: NodeShape) -> None:
    terminal = node.path in TERMINALS
    kind = "node nbgraph-terminal" if terminal else "node"
    group = SubElement(canvas, "g", {"class": kind, "data-node": address(node.path)})
    if terminal:
        _copy_shapes(group, drawn)
        text = SubElement(group, "text", _place(drawn.find(f"{_NAMESPACE}text")))
        text.text = TERMINALS[node.path]
        return
    box = _box(drawn)
    SubElement(group, "title").text = _title(node)
    SubElement(group, "path", {"d": _outline(box)})
    name = SubElement(group, "text", _text("nbgraph-name", box.middle, box.centre - 3.6))
    name.text = cut(reveal(node.label))
    SubElement(group, "text", _text("nbgraph-sub", box.middle, box.centre + 11.4))
    _add_place(group, "nbgraph-badge", box.right - 5, box.top + 2)
    _add_place(group, "nbgraph-break", box.left + 14, box.top)


def _title(node: NodeShape) -> str:
    told = f"{node.label}: {node.description}" if node.description else node.label
    return cut(reveal(told), _TITLE_LIMIT)


def _copy_shapes(group: Element, drawn: Element) -> None:
    for element in drawn.iter():
        tag = element.tag.removeprefix(_NAMESPACE)
        names = _SHAPES.get(tag)
        if names is not None:
            SubElement(group, tag, {name: element.get(name, "") for name in names})


def _place(text: Element | None) -> dict[str, str]:
    x, y = ("0", "0") if text is None else (text.get("x", "0"), text.get("y", "0"))
    return {"text-anchor": "middle", "x": x, "y": y}


def _text(kind: str, x: float, y: float) -> dict[str, str]:
    return {"class": kind, "text-anchor": "middle", "x": f"{x:.2f}", "y": f"{y:.2f}"}


def _add_place(group: Element, kind: str, x: float, y: float) -> None:
    SubElement(group, "g", {"class": kind, "transform": f"translate({x:.2f} {y:.2f})"})


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2

    @property
    def centre(self) -> float:
        return (self.top + self.bottom) / 2


def _outline(box: _Box, radius: float = 12) -> str:
    """Return a rounded box; Graphviz draws the same one in three times the characters."""
    across = f"{box.right - box.left - 2 * radius:.5g}"
    down = f"{box.bottom - box.top - 2 * radius:.5g}"
    bend, r = f"a{radius},{radius} 0 0 1 ", radius
    return (
        f"M{box.left + r:.2f},{box.top:.2f}h{across}{bend}{r},{r}v{down}{bend}-{r},{r}"
        f"h-{across}{bend}-{r},-{r}v-{down}{bend}{r},-{r}z"
    )


def _box(drawn: Element) -> _Box:
    path = drawn.find(f".//{_NAMESPACE}path")
    outline = "" if path is None else path.get("d", "")
    numbers = [float(number) for number in _NUMBER.findall(outline)]
    xs, ys = numbers[::2], numbers[1::2]
    return _Box(min(xs), min(ys), max(xs), max(ys))
