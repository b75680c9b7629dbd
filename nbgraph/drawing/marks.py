"""What a mark on a node looks like and is called, and which edges were taken."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal

from nbgraph.core.driver import Shape
from nbgraph.drawing.dot import END, START

__all__ = [
    "BADGES",
    "BREAKPOINT",
    "UNLIKE",
    "WORDS",
    "EdgeMark",
    "Figure",
    "Mark",
    "edge_marks",
    "with_ends",
]

Mark = Literal["idle", "running", "done", "waiting", "failed", "skipped"]
"""Where a node stands."""

EdgeMark = Literal["taken", "skipped"]
"""What became of an edge; most have none."""

Figure = tuple[tuple[str, Mapping[str, str]], ...]
"""SVG elements around (0, 0): tags and attributes, coloured by their class."""

WORDS: Mapping[Mark, str] = MappingProxyType({
    "idle": "not yet",
    "running": "running",
    "done": "done",
    "waiting": "waiting for you",
    "failed": "failed",
    "skipped": "skipped",
})
"""Each mark in words."""

BADGES: Mapping[Mark, Figure] = MappingProxyType({
    "idle": (),
    "running": (
        ("circle", {"class": "nbgraph-m-back", "r": "9"}),
        ("circle", {"class": "nbgraph-m-arc", "r": "7"}),
        ("path", {"class": "nbgraph-m-solid", "d": "M-2.2,-3.4L3.6,0L-2.2,3.4z"}),
    ),
    "done": (
        ("circle", {"class": "nbgraph-m-back", "r": "9.5"}),
        ("circle", {"class": "nbgraph-m-solid", "r": "8"}),
        ("path", {"class": "nbgraph-m-line", "d": "M-3.6,0.2L-1.2,2.8L3.8,-2.8"}),
    ),
    "waiting": (
        ("path", {"class": "nbgraph-m-back", "d": "M0,-13.5L13.5,0L0,13.5L-13.5,0z"}),
        ("path", {"class": "nbgraph-m-solid", "d": "M0,-11L11,0L0,11L-11,0z"}),
        ("circle", {"class": "nbgraph-m-person", "cy": "-3.4", "r": "2.6"}),
        (
            "path",
            {
                "class": "nbgraph-m-person",
                "d": "M-4.6,4.2c0,-2.9 2,-4.1 4.6,-4.1s4.6,1.2 4.6,4.1z",
            },
        ),
    ),
    "failed": (
        (
            "rect",
            {
                "class": "nbgraph-m-back",
                "x": "-9.5",
                "y": "-9.5",
                "width": "19",
                "height": "19",
                "rx": "3",
            },
        ),
        (
            "rect",
            {
                "class": "nbgraph-m-solid",
                "x": "-8",
                "y": "-8",
                "width": "16",
                "height": "16",
                "rx": "2",
            },
        ),
        ("path", {"class": "nbgraph-m-line", "d": "M-3.4,-3.4L3.4,3.4M3.4,-3.4L-3.4,3.4"}),
    ),
    "skipped": (
        ("circle", {"class": "nbgraph-m-back", "r": "8"}),
        ("circle", {"class": "nbgraph-m-ring", "r": "6"}),
        ("path", {"class": "nbgraph-m-slash", "d": "M-4.2,4.2L4.2,-4.2"}),
    ),
})
"""The badge of each mark; every one has a shape of its own."""

BREAKPOINT: Figure = (
    ("circle", {"class": "nbgraph-m-back", "r": "6.5"}),
    ("circle", {"class": "nbgraph-m-dot", "r": "5"}),
)
"""The dot of a breakpoint."""

UNLIKE: Figure = (
    ("circle", {"class": "nbgraph-m-back", "r": "9"}),
    ("circle", {"class": "nbgraph-m-disc", "r": "7.5"}),
    ("path", {"class": "nbgraph-m-unlike", "d": "M-4,-1.7h8M-4,1.7h8M2,-4.5l-4,9"}),
)
"""What says that a node is not the same in another branch."""


def edge_marks(
    shape: Shape, marks: Mapping[str, Mark], taken: Collection[tuple[str, str]]
) -> dict[int, EdgeMark]:
    """Return what became of each edge, by its index; edges that may still be taken have no entry.

    An edge into or out of a skipped node is skipped, unless it was taken.
    """
    skipped = {path for path, mark in marks.items() if mark == "skipped"}
    found: dict[int, EdgeMark] = {}
    for index, edge in enumerate(shape.edges):
        if (edge.source, edge.target) in taken:
            found[index] = "taken"
        elif edge.source in skipped or edge.target in skipped:
            found[index] = "skipped"
    return found


def with_ends(marks: Mapping[str, Mark], taken: Collection[tuple[str, str]]) -> Mapping[str, Mark]:
    """Return the marks and those of start and end, which are done when an edge there was taken."""
    ends: dict[str, Mark] = {}
    if any(source == START for source, _ in taken):
        ends[START] = "done"
    if any(target == END for _, target in taken):
        ends[END] = "done"
    return {**marks, **ends}
