"""A shape as a picture that needs no page around it: colours written in, on a white plate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from nbgraph.core.driver import Shape
from nbgraph.drawing.dot import Direction
from nbgraph.drawing.labels import address, cut, reveal
from nbgraph.drawing.marks import BADGES, EdgeMark, Mark, edge_marks, with_ends
from nbgraph.drawing.svg import XMLNS, tree

__all__ = ["LIGHT", "picture"]

LIGHT: Mapping[str, str] = MappingProxyType({
    "bg": "#fff",
    "sunken": "#f5f5f5",
    "ink": "#212121",
    "ink-2": "#5c5c5c",
    "idle-ink": "#858585",
    "running-fill": "#1976d2",
    "running-tint": "#e8f1fb",
    "done-fill": "#00695c",
    "done-tint": "#e6f3f1",
    "waiting-fill": "#ffb74d",
    "waiting-ink": "#8a3c00",
    "waiting-tint": "#fff3e0",
    "failed-fill": "#b71c1c",
    "failed-tint": "#fdecec",
    "skipped-ink": "#858585",
    "on-mark": "#fff",
})
"""The light theme, by the style sheet's names; a picture cannot read the page's variables."""

_FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"

_OUTLINES: Mapping[Mark, Mapping[str, str]] = {
    "idle": {"fill": "bg", "stroke": "idle-ink", "stroke-width": "1"},
    "running": {
        "fill": "running-tint",
        "stroke": "running-fill",
        "stroke-width": "2",
        "stroke-dasharray": "8 3",
    },
    "done": {"fill": "done-tint", "stroke": "done-fill", "stroke-width": "1.5"},
    "waiting": {"fill": "waiting-tint", "stroke": "waiting-ink", "stroke-width": "2.5"},
    "failed": {"fill": "failed-tint", "stroke": "failed-fill", "stroke-width": "2"},
    "skipped": {
        "fill": "bg",
        "stroke": "skipped-ink",
        "stroke-width": "1",
        "stroke-dasharray": "3 3",
    },
}
_BADGE_PARTS: Mapping[str, Mapping[str, str]] = {
    "nbgraph-m-back": {"fill": "bg"},
    "nbgraph-m-line": {"fill": "none", "stroke": "on-mark", "stroke-width": "2"},
    "nbgraph-m-arc": {
        "fill": "none",
        "stroke": "running-fill",
        "stroke-width": "2.2",
        "stroke-dasharray": "32 12",
    },
    "nbgraph-m-person": {"fill": "waiting-ink"},
    "nbgraph-m-ring": {
        "fill": "none",
        "stroke": "skipped-ink",
        "stroke-width": "1.4",
        "stroke-dasharray": "2.6 1.7",
    },
    "nbgraph-m-slash": {"stroke": "skipped-ink", "stroke-width": "1.6"},
}
_SOLID_EDGE = {"waiting": {"stroke": "waiting-ink", "stroke-width": "1.6"}}
_CLUSTER = {"fill": "sunken", "stroke": "idle-ink", "stroke-width": "1"}
_EDGES: Mapping[EdgeMark | None, Mapping[str, str]] = {
    None: {"stroke": "idle-ink", "stroke-width": "1"},
    "taken": {"stroke": "ink", "stroke-width": "1.8"},
    "skipped": {"stroke": "idle-ink", "stroke-width": "1", "stroke-dasharray": "3 3"},
}


def picture(
    shape: Shape,
    marks: Mapping[str, Mark] = MappingProxyType({}),
    lines: Mapping[str, str] = MappingProxyType({}),
    *,
    taken: Collection[tuple[str, str]] = (),
    direction: Direction = "TB",
) -> str:
    """Return SVG for an `<img>`: each node with its mark and second line, each edge as it went.

    Parameters
    ----------
    shape : Shape
        What is drawn.
    marks : Mapping of str to Mark
        By node path; a node without one is idle.
    lines : Mapping of str to str
        The text below a node's name, by node path.
    taken : Collection of (str, str)
        The edges that were taken, as (source, target).
    direction : "TB" or "LR"
        Which way the edges run.

    Raises
    ------
    DrawingError
        If Graphviz is missing, fails, or takes too long.
    """
    root = tree(shape, direction=direction)
    by_address: dict[str, Mark] = {
        address(path): mark for path, mark in with_ends(marks, taken).items()
    }
    text_by_address = {address(path): text for path, text in lines.items()}
    edges = edge_marks(shape, marks, taken)
    for group in root.iter("g"):
        path, index = group.get("data-node"), group.get("data-edge")
        if path is not None:
            _draw_node(group, by_address.get(path, "idle"), text_by_address.get(path, ""))
        elif index is not None:
            _draw_edge(group, edges.get(int(index)))
        elif group.get("data-cluster") is not None:
            for element in group:
                _colour(element, _CLUSTER)
    _frame(root, shape)
    return ElementTree.tostring(root, encoding="unicode")


def _frame(root: Element, shape: Shape) -> None:
    root.set("xmlns", XMLNS)
    root.set("font-family", _FONT)
    root.set("role", "img")
    root.set("aria-label", cut(reveal(shape.name), 200))
    x, y, width, height = root.get("viewBox", "0 0 0 0").split()
    plate = {"x": x, "y": y, "width": width, "height": height, "fill": LIGHT["bg"]}
    root.insert(0, Element("rect", plate))


def _draw_node(group: Element, mark: Mark, line: str) -> None:
    terminal = "nbgraph-terminal" in group.get("class", "")
    outline = dict(_OUTLINES[mark])
    if terminal and mark == "idle":
        outline["fill"] = "sunken"
    for element in list(group):
        match element.tag:
            case "text":
                _draw_text(element, mark, line)
            case "g":
                _draw_badge(element, mark)
            case "title":
                pass
            case _:
                _colour(element, outline)


def _draw_text(element: Element, mark: Mark, line: str) -> None:
    if element.get("class") == "nbgraph-name":
        element.set("font-size", "13")
        element.set("font-weight", "400" if mark == "skipped" else "600")
        element.set("fill", LIGHT["ink-2" if mark == "skipped" else "ink"])
        if not line:
            element.set("y", f"{float(element.get('y', '0')) + 7:.2f}")
        return
    element.set("font-size", "11.5")
    element.set("fill", LIGHT["ink-2"])
    if element.get("class") == "nbgraph-sub":
        element.text = cut(reveal(line), 24)


def _draw_badge(place: Element, mark: Mark) -> None:
    if place.get("class") != "nbgraph-badge":
        return
    for tag, attributes in BADGES[mark]:
        part = SubElement(place, tag, dict(attributes))
        kind = attributes["class"]
        if kind == "nbgraph-m-solid":
            _colour(part, {"fill": f"{mark}-fill", **_SOLID_EDGE.get(mark, {})})
        else:
            _colour(part, _BADGE_PARTS[kind])


def _draw_edge(group: Element, mark: EdgeMark | None) -> None:
    style = dict(_EDGES[mark])
    head = {"fill": style["stroke"], "stroke": style["stroke"]}
    if "nbgraph-goto" in group.get("class", ""):
        style.setdefault("stroke-dasharray", "6 3")
    for element in group:
        if element.tag == "path":
            _colour(element, {"fill": "none", **style})
        elif element.tag == "text":
            _colour(element, {"fill": "ink-2", "font-size": "11.5"})
        else:
            _colour(element, head)


def _colour(element: Element, style: Mapping[str, str]) -> None:
    for name, value in style.items():
        element.set(name, LIGHT.get(value, value))
