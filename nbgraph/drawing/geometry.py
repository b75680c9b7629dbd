"""Where Graphviz puts the parts of a graph: numbers, and nothing else that it says.

The origin is the lower left corner and y grows downwards, so what is drawn has a negative y.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbgraph.drawing.loops import Loop, loops
from nbgraph.errors import DrawingError

__all__ = ["PAD", "Box", "Geometry", "Line", "read_geometry"]

PAD = 15.84
"""The room around a drawing, as `pad` in the DOT source asks for."""

_INCH = 72.0
_HALF_HEAD = 2.1
_NUMBERS = re.compile(r"[-+.,\de ]*")


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        """Where its left and right halves meet."""
        return (self.left + self.right) / 2

    @property
    def centre(self) -> float:
        """Where its upper and lower halves meet."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Line:
    """An edge: the `d` of its path, the `points` of its head, and the middle of its label."""

    path: str
    head: str
    label: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Geometry:
    """Where everything lies; nodes, the boxes of sub-graphs and edges by their `id` in DOT."""

    width: float
    height: float
    nodes: Mapping[str, Box]
    boxes: Mapping[str, Box]
    edges: Mapping[str, Line]


def read_geometry(text: str) -> Geometry:
    """Return what Graphviz's `json0` says about places.

    Raises
    ------
    DrawingError
        If it is not that, or a place is no number.
    """
    try:
        said = json.loads(text)
        objects = said.get("objects", ())
        _, _, width, height = _floats(said.get("bb", "0,0,0,0"))
        return Geometry(
            width,
            height,
            nodes={each["id"]: _node(each) for each in objects if "pos" in each},
            boxes={each["id"]: _box(each) for each in objects if "bb" in each and "id" in each},
            edges=_lines(said.get("edges", ()), objects),
        )
    except (ValueError, KeyError) as error:
        raise DrawingError(f"Graphviz's answer could not be read: {error}") from error


def _floats(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


def _node(said: Mapping[str, Any]) -> Box:
    x, y = _floats(said["pos"])
    right, down = _INCH * float(said["width"]) / 2, _INCH * float(said["height"]) / 2
    return Box(x - right, -y - down, x + right, -y + down)


def _box(said: Mapping[str, Any]) -> Box:
    left, bottom, right, top = _floats(said["bb"])
    return Box(left, -top, right, -bottom)


def _lines(
    edges: Sequence[Mapping[str, Any]], objects: Sequence[Mapping[str, Any]]
) -> dict[str, Line]:
    lines = {each["id"]: _line(each) for each in edges if each["tail"] != each["head"]}
    looping: dict[int, list[Mapping[str, Any]]] = {}
    for each in edges:
        if each["tail"] == each["head"]:
            looping.setdefault(each["tail"], []).append(each)
    for node in objects:
        if node["_gvid"] in looping:
            lines |= _loops(_node(node), looping[node["_gvid"]])
    return lines


def _loops(box: Box, said: Sequence[Mapping[str, Any]]) -> dict[str, Line]:
    """Return the loops of a node, drawn from where Graphviz has theirs."""
    places = {(_furthest(each), _label(each)): each["id"] for each in said}
    outwards = sorted(places, key=lambda place: (place[0][0], -place[0][1]))
    found = loops(box.left, box.top, box.right, box.bottom, outwards)
    names = [places[place] for place in outwards]
    return {name: _loop(loop) for name, loop in zip(names, found, strict=True)}


def _furthest(said: Mapping[str, Any]) -> tuple[float, float]:
    """Return the point of a loop that is furthest to the right, and up."""
    points = [_floats(point) for point in said["pos"].removeprefix("e,").split(" ")]
    return max(x for x, _ in points), -max(y for _, y in points)


def _loop(loop: Loop) -> Line:
    begin, *way = [f"{x:.2f},{y:.2f}" for x, y in loop.way]
    tip = "{:.2f},{:.2f}".format(*loop.tip)
    return Line(f"M{begin}C{' '.join(way)}", _head(way[-1], tip), loop.label)


def _label(said: Mapping[str, Any]) -> tuple[float, float]:
    x, y = _floats(said["lp"])
    return x, -y


def _line(said: Mapping[str, Any]) -> Line:
    points: str = said["pos"].removeprefix("e,")
    if _NUMBERS.fullmatch(points) is None:
        raise ValueError(f"an edge at {points[:80]!r}")
    end, begin, *way = points.replace(",", ",-").replace("--", "").split(" ")
    path = f"M{begin}C{' '.join(way)}"
    return Line(path, _head(way[-1], end), _label(said) if "lp" in said else (0.0, 0.0))


def _head(base: str, tip: str) -> str:
    """Return the corners of an arrow's head."""
    (x, y), (right, down) = _floats(base), _floats(tip)
    length = math.hypot(right - x, down - y) or 1.0
    aside, along = _HALF_HEAD * (down - y) / length, _HALF_HEAD * (x - right) / length
    return f"{x + aside:.1f},{y + along:.1f} {tip} {x - aside:.1f},{y - along:.1f}"
