"""A graph's shape as DOT, SVG and text."""

from __future__ import annotations

from nbgraph.draw.dot import dot
from nbgraph.draw.drawing import Drawing
from nbgraph.draw.labels import address, cut, reveal
from nbgraph.draw.marks import BADGES, BREAKPOINT, WORDS, Mark, edge_marks, with_ends
from nbgraph.draw.mermaid import mermaid
from nbgraph.draw.static import picture
from nbgraph.draw.svg import svg
from nbgraph.draw.text import describe

__all__ = [
    "BADGES",
    "BREAKPOINT",
    "WORDS",
    "Drawing",
    "Mark",
    "address",
    "cut",
    "describe",
    "dot",
    "edge_marks",
    "mermaid",
    "picture",
    "reveal",
    "svg",
    "with_ends",
]
