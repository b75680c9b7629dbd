"""A shape as SVG that a style sheet colours."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from html import escape

from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.drawing.dot import TERMINALS, Direction, dot, node_names
from nbgraph.drawing.folding import subgraphs
from nbgraph.drawing.geometry import PAD, Box, Geometry, Line, read_geometry
from nbgraph.drawing.labels import address, cut, reveal
from nbgraph.drawing.layout import lay_out

__all__ = ["attribute", "frame", "geometry", "is_small", "name_place", "sub_place", "svg", "title"]

_SMALL_NODES, _SMALL_EDGES = 60, 120
_TITLE_LIMIT = 300
_BOX_RADIUS, _TERMINAL_RADIUS = 12, 7
_KEPT_BLANKS = {ord(blank): f"&#{ord(blank)};" for blank in "\n\r\t"}


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
    places = geometry(shape, direction=direction)
    head, canvas = frame(places)
    return f'<svg class="nbgraph-svg" {head}>{canvas}{"".join(_parts(shape, places))}</g></svg>'


def geometry(shape: Shape, *, direction: Direction = "TB") -> Geometry:
    """Return where the parts of a shape lie.

    Raises
    ------
    DrawingError
        If Graphviz is missing, fails, or takes too long.
    """
    return _laid_out(shape.nodes, shape.edges, direction)


def is_small(shape: Shape) -> bool:
    """Return whether a layout takes so little time that a caller may wait for it."""
    return len(shape.nodes) <= _SMALL_NODES and len(shape.edges) <= _SMALL_EDGES


@lru_cache(maxsize=64)
def _laid_out(
    nodes: tuple[NodeShape, ...], edges: tuple[EdgeShape, ...], direction: Direction
) -> Geometry:
    shape = Shape("", nodes, edges, {})
    return read_geometry(lay_out(dot(shape, direction=direction).source, small=is_small(shape)))


def frame(places: Geometry) -> tuple[str, str]:
    """Return the attributes of the `svg` element, and the start of the group that holds all."""
    width, height = f"{places.width + 2 * PAD:.2f}", f"{places.height + 2 * PAD:.2f}"
    head = (
        f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}"'
    )
    return head, f'<g class="graph" transform="translate({PAD} {places.height + PAD:.2f})">'


def _parts(shape: Shape, places: Geometry) -> Iterator[str]:
    names = node_names(shape)
    for path in subgraphs(shape):
        yield _cluster(path, places.boxes[f"c{names[path]}"])
    for index, edge in enumerate(shape.edges):
        yield _edge(edge, index, places.edges[f"e{index}"])
    nodes = {node.path: node for node in shape.nodes}
    for path, name in names.items():
        yield _node(nodes.get(path) or NodeShape(path, path), places.nodes[name])


def _cluster(path: str, box: Box) -> str:
    outline = _outline(box, _BOX_RADIUS)
    return f'<g class="nbgraph-cluster" data-cluster="{attribute(path)}"><path d="{outline}"/></g>'


def _edge(edge: EdgeShape, index: int, line: Line) -> str:
    label = ""
    if edge.label is not None:
        x, y = line.label
        text = escape(cut(reveal(edge.label)))
        label = f'<text text-anchor="middle" x="{x:.2f}" y="{y + 3.8:.2f}">{text}</text>'
    return (
        f'<g class="edge{" nbgraph-goto" if edge.kind == "goto" else ""}" data-edge="{index}" '
        f'data-source="{attribute(edge.source)}" data-target="{attribute(edge.target)}" '
        f'data-kind="{escape(edge.kind)}">'
        f'<path d="{line.path}"/><polygon points="{line.head}"/>{label}</g>'
    )


def _node(node: NodeShape, box: Box) -> str:
    start = f'data-node="{attribute(node.path)}">'
    if node.path in TERMINALS:
        return (
            f'<g class="node nbgraph-terminal" {start}<path d="{_outline(box, _TERMINAL_RADIUS)}"/>'
            f'<text text-anchor="middle" x="{box.middle:.2f}" y="{box.centre + 3.8:.2f}">'
            f"{TERMINALS[node.path]}</text></g>"
        )
    name, sub = name_place(box), sub_place(box)
    return (
        f'<g class="node" {start}<title>{escape(title(node))}</title>'
        f'<path d="{_outline(box, _BOX_RADIUS)}"/>'
        f'<text class="nbgraph-name" text-anchor="middle" x="{name[0]:.2f}" y="{name[1]:.2f}">'
        f"{escape(cut(reveal(node.label)))}</text>"
        f'<text class="nbgraph-sub" text-anchor="middle" x="{sub[0]:.2f}" y="{sub[1]:.2f}"/>'
        f'<g class="nbgraph-badge" transform="translate({box.right - 5:.2f} {box.top + 2:.2f})"/>'
        f'<g class="nbgraph-break" transform="translate({box.left + 14:.2f} {box.top:.2f})"/></g>'
    )


def name_place(box: Box) -> tuple[float, float]:
    """Return where the name stands in a node's box, above its second line."""
    return box.middle, box.centre - 3.6


def sub_place(box: Box) -> tuple[float, float]:
    """Return where the second line stands in a node's box."""
    return box.middle, box.centre + 11.4


def title(node: NodeShape) -> str:
    """Return what a pointer on a node is told."""
    told = f"{node.label}: {node.description}" if node.description else node.label
    return cut(reveal(told), _TITLE_LIMIT)


def attribute(path: str) -> str:
    """Return a path's address as it stands between the quotes of an attribute."""
    return escape(address(path)).translate(_KEPT_BLANKS)


def _outline(box: Box, r: int) -> str:
    """Return a rounded box as the `d` of a path."""
    across = f"{box.right - box.left - 2 * r:.5g}"
    down = f"{box.bottom - box.top - 2 * r:.5g}"
    bend = f"a{r},{r} 0 0 1 "
    return (
        f"M{box.left + r:.2f},{box.top:.2f}h{across}{bend}{r},{r}v{down}{bend}-{r},{r}"
        f"h-{across}{bend}-{r},-{r}v-{down}{bend}{r},-{r}z"
    )
