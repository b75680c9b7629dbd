"""Where Graphviz puts the parts of a graph: numbers, and nothing else that it says.

The origin is the lower left corner and y grows downwards, so what is drawn has a negative y.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
            edges={each["id"]: _line(each) for each in said.get("edges", ())},
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


def _line(said: Mapping[str, Any]) -> Line:
    points: str = said["pos"].removeprefix("e,")
    if _NUMBERS.fullmatch(points) is None:
        raise ValueError(f"an edge at {points[:80]!r}")
    end, begin, *way = points.replace(",", ",-").replace("--", "").split(" ")
    path = f"M{begin}C{' '.join(way)}"
    label = _floats(said["lp"]) if "lp" in said else (0.0, 0.0)
    return Line(path, _head(way[-1], end), (label[0], -label[1]))


def _head(base: str, tip: str) -> str:
    """Return the corners of an arrow's head."""
    (x, y), (right, down) = _floats(base), _floats(tip)
    length = math.hypot(right - x, down - y) or 1.0
    aside, along = _HALF_HEAD * (down - y) / length, _HALF_HEAD * (x - right) / length
    return f"{x + aside:.1f},{y + along:.1f} {tip} {x - aside:.1f},{y - along:.1f}"
