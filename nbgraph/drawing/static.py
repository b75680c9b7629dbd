"""A shape as a picture that needs no page around it: colours written in, on a white plate."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from types import MappingProxyType
from typing import NamedTuple

from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.drawing.dot import TERMINALS, Direction, node_names
from nbgraph.drawing.folding import subgraphs
from nbgraph.drawing.geometry import Box, Geometry, Line
from nbgraph.drawing.labels import cut, fitting, reveal
from nbgraph.drawing.marks import BADGES, EdgeMark, Mark, edge_marks, with_ends
from nbgraph.drawing.svg import attribute, frame, geometry, name_place, sub_place, title

__all__ = ["LIGHT", "picture", "small_picture"]

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
_PATH = '<path d="'
_NUMBER = re.compile(r"-?\d+\.\d+")


class _Piece(NamedTuple):
    """An element with its place; `style` holds the attributes that many elements share."""

    element: str
    style: str
    text: str = ""


class _Part(NamedTuple):
    """What is drawn for a node, an edge or the box of a sub-graph; `group` says which it is."""

    group: str
    pieces: tuple[_Piece, ...]
    mark: Mark = "idle"
    badge: tuple[float, float] | None = None


def picture(
    shape: Shape,
    marks: Mapping[str, Mark] = MappingProxyType({}),
    lines: Mapping[str, str] = MappingProxyType({}),
    *,
    taken: Collection[tuple[str, str]] = (),
    direction: Direction = "TB",
) -> str:
    """Return SVG for a page: each node with its mark and second line, each edge as it went.

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
    places = geometry(shape, direction=direction)
    parts = _parts(shape, places, with_ends(marks, taken), lines, edge_marks(shape, marks, taken))
    return _plate(shape, places, "".join(map(_grouped, parts)))


def small_picture(
    shape: Shape,
    marks: Mapping[str, Mark] = MappingProxyType({}),
    lines: Mapping[str, str] = MappingProxyType({}),
    *,
    taken: Collection[tuple[str, str]] = (),
) -> str:
    """Return SVG for an `<img>` that looks like `picture` and has less than half of its length.

    What looks alike shares its style, and says no longer which node or edge it belongs to. Badges
    are drawn once and have an `id`, so it must not stand in a page itself.

    Raises
    ------
    DrawingError
        If Graphviz is missing, fails, or takes too long.
    """
    places = geometry(shape)
    marks_shown, edges = with_ends(marks, taken), edge_marks(shape, marks, taken)
    parts = tuple(_parts(shape, places, marks_shown, lines, edges))
    return _plate(shape, places, _by_style(parts))


def _plate(shape: Shape, places: Geometry, content: str) -> str:
    head, canvas = frame(places)
    name = escape(cut(reveal(shape.name), 200))
    return (
        f'<svg {head} font-family="{_FONT}" font-size="11.5" text-anchor="middle" role="img" '
        f'aria-label="{name}"><rect width="100%" height="100%" fill="{LIGHT["bg"]}"/>'
        f"{canvas}{content}</g></svg>"
    )


# --- the two ways to write it down --------------------------------------------------------------


def _grouped(part: _Part) -> str:
    """Return a part as an element of its own that says what it stands for."""
    pieces = "".join(_element(piece.element, piece.style, piece.text) for piece in part.pieces)
    badge = ""
    if part.badge is not None:
        x, y = part.badge
        inside = _badge(part.mark)
        badge = f'<g class="nbgraph-badge" transform="translate({x:.2f} {y:.2f})">{inside}</g>'
    return f"<g {part.group}{pieces}{badge}</g>"


def _by_style(parts: Iterable[_Part]) -> str:
    """Return the pieces of all parts, those of one style together, and the badges on top."""
    styles: dict[str, list[str]] = {}
    badges: list[str] = []
    used: dict[Mark, str] = {}
    for part in parts:
        for element, style, text in part.pieces:
            place = _NUMBER.sub(_shorter, element)
            styles.setdefault(style, []).append(_element(place, "", text))
        if part.badge is not None and part.mark != "idle":
            used[part.mark] = f'<g id="{part.mark}">{_badge(part.mark)}</g>'
            x, y = part.badge
            badges.append(f'<use href="#{part.mark}" x="{x:.1f}" y="{y:.1f}"/>')
    texts_last = sorted(styles.items(), key=lambda item: item[1][0].startswith("<text"))
    drawn = "".join(_alike(style, elements) for style, elements in texts_last)
    return f"<defs>{''.join(used.values())}</defs>{drawn}{''.join(badges)}"


def _alike(style: str, elements: Sequence[str]) -> str:
    """Return elements of one style; paths become one."""
    if all(each.startswith(_PATH) for each in elements):
        ways = "".join(each.removeprefix(_PATH).removesuffix('"/>') for each in elements)
        return f'{_PATH}{ways}"{style}/>'
    return f"<g{style}>{''.join(elements)}</g>"


def _element(element: str, style: str, text: str) -> str:
    if not text:
        return f"<{element}{style}/>"
    return f"<{element}{style}>{text}</{element.partition(' ')[0]}>"


def _shorter(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 1):g}"


# --- what is drawn ------------------------------------------------------------------------------


def _parts(
    shape: Shape,
    places: Geometry,
    marks: Mapping[str, Mark],
    lines: Mapping[str, str],
    edges: Mapping[int, EdgeMark],
) -> Iterator[_Part]:
    """Return what is drawn, from the back to the front."""
    names = node_names(shape)
    for path in subgraphs(shape):
        group = f'class="nbgraph-cluster" data-cluster="{attribute(path)}">'
        yield _Part(group, (_rectangle(places.boxes[f"c{names[path]}"], 12, _style(_CLUSTER)),))
    for index, edge in enumerate(shape.edges):
        yield _edge(edge, index, places.edges[f"e{index}"], edges.get(index))
    nodes = {node.path: node for node in shape.nodes}
    for path, name in names.items():
        node, mark = nodes.get(path) or NodeShape(path, path), marks.get(path, "idle")
        draw = _terminal if path in TERMINALS else _node
        yield draw(node, places.nodes[name], mark, lines.get(path, ""))


def _edge(edge: EdgeShape, index: int, line: Line, mark: EdgeMark | None) -> _Part:
    goto = edge.kind == "goto"
    look = {"stroke-dasharray": "6 3", **_EDGES[mark]} if goto else _EDGES[mark]
    ink = look["stroke"]
    pieces = [
        _Piece(f'path d="{line.path}"', _style({"fill": "none", **look})),
        _Piece(f'path d="M{line.head}z"', _style({"fill": ink, "stroke": ink})),
    ]
    if edge.label is not None:
        x, y = line.label
        pieces.append(_text(x, y + 3.8, _style({"fill": "ink-2"}), edge.label))
    group = f'class="edge{" nbgraph-goto" if goto else ""}" data-edge="{index}">'
    return _Part(group, tuple(pieces))


def _terminal(node: NodeShape, box: Box, mark: Mark, _: str) -> _Part:
    look = _OUTLINES[mark] if mark != "idle" else {**_OUTLINES[mark], "fill": "sunken"}
    pieces = (
        _rectangle(box, 7, _style(look)),
        _text(box.middle, box.centre + 3.8, _style({"fill": "ink-2"}), TERMINALS[node.path]),
    )
    return _Part(f'class="node nbgraph-terminal" data-node="{node.path}">', pieces)


def _node(node: NodeShape, box: Box, mark: Mark, line: str) -> _Part:
    ink, weight = ("ink-2", "400") if mark == "skipped" else ("ink", "600")
    x, y = name_place(box)
    look = _style({"fill": ink, "font-size": "13", "font-weight": weight})
    pieces = [
        _rectangle(box, 12, _style(_OUTLINES[mark])),
        _text(x, y if line else y + 7, look, node.label),
    ]
    if line:
        told = fitting(line, box.right - box.left - 8)
        pieces.append(_text(*sub_place(box), _style({"fill": "ink-2"}), told))
    group = f'class="node" data-node="{attribute(node.path)}"><title>{escape(title(node))}</title>'
    return _Part(group, tuple(pieces), mark, (box.right - 5, box.top + 2))


def _rectangle(box: Box, radius: int, style: str) -> _Piece:
    width, height = box.right - box.left, box.bottom - box.top
    place = f'x="{box.left:.2f}" y="{box.top:.2f}" width="{width:.2f}" height="{height:.2f}"'
    return _Piece(f'rect {place} rx="{radius}"', style)


def _text(x: float, y: float, style: str, text: str, limit: int = 40) -> _Piece:
    return _Piece(f'text x="{x:.2f}" y="{y:.2f}"', style, escape(cut(reveal(text), limit)))


@cache
def _badge(mark: Mark) -> str:
    """Return a mark's badge around (0, 0)."""
    return "".join(_badge_piece(mark, tag, attributes) for tag, attributes in BADGES[mark])


def _badge_piece(mark: Mark, tag: str, attributes: Mapping[str, str]) -> str:
    kind = attributes["class"]
    solid = {"fill": f"{mark}-fill", **_SOLID_EDGE.get(mark, {})}
    look = solid if kind == "nbgraph-m-solid" else _BADGE_PARTS[kind]
    place = "".join(f' {name}="{value}"' for name, value in attributes.items() if name != "class")
    return f"<{tag}{place}{_style(look)}/>"


def _style(look: Mapping[str, str]) -> str:
    return "".join(f' {name}="{LIGHT.get(value, value)}"' for name, value in look.items())
