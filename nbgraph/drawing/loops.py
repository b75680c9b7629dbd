"""Edges that lead back to the node they come from, as loops that can be seen and told apart.

Graphviz draws such a loop a few points wide, and several with their labels on one another. So the
DOT source keeps room in each loop's label, and the loop is drawn here from where that label lies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Loop", "loops", "room"]

Point = tuple[float, float]

_ROOM: Mapping[str, tuple[str, str]] = {"TB": (" " * 4, ""), "LR": ("", r"\n ")}
_WIDER, _TO_TEXT = 9.0, 5.0
"""How much further out than Graphviz's a loop goes, and from there to the text."""
_HEAD = 6.0
_BEND = 3.0


@dataclass(frozen=True, slots=True)
class Loop:
    """The four points of a way, the tip of the head at its end, and the middle of the label."""

    way: tuple[Point, Point, Point, Point]
    tip: Point
    label: Point


def room(direction: str) -> tuple[str, str]:
    """Return what stands before and after a loop's label in DOT, to keep a place for the loop."""
    return _ROOM[direction]


def loops(
    left: float, top: float, right: float, bottom: float, drawn: Sequence[tuple[Point, Point]]
) -> list[Loop]:
    """Return the loops of a node with these borders, the inner ones first.

    `drawn` are Graphviz's: of each the point that is furthest out, where its label begins, and the
    middle of that. They stand on the node's right, or above it if those do.
    """

    def aside(out: float, along: float) -> Point:
        return right + out, (top + bottom) / 2 + along

    def above(out: float, along: float) -> Point:
        return (left + right) / 2 + along, top - out

    if all(tip[0] > right for tip, _ in drawn):
        outs = sorted((tip[0] - right, text[0] - right) for tip, text in drawn)
        return [_loop(each, at, (bottom - top) / 2, aside) for at, each in enumerate(outs)]
    outs = sorted((top - tip[1], top - text[1]) for tip, text in drawn)
    return [_loop(each, at, (right - left) / 2, above) for at, each in enumerate(outs)]


def _loop(
    out: tuple[float, float], number: int, half: float, placed: Callable[[float, float], Point]
) -> Loop:
    """Return a loop by how far out its label begins and has its middle; it is around the others."""
    begin, middle = out
    far, aside = (begin + _WIDER) / 0.75, half * min(0.34 + 0.18 * number, 0.7)
    length = math.hypot(far, _BEND)
    base = _HEAD * far / length, aside + _HEAD * _BEND / length
    way = (0, -aside), (far, -aside - _BEND), (far, aside + _BEND), base
    text = middle + (_WIDER + _TO_TEXT) / 2
    first, second, third, last = (placed(*point) for point in way)
    return Loop((first, second, third, last), placed(0, aside), placed(text, 0))
