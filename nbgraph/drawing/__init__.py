"""A graph's shape as DOT, SVG and text."""

from __future__ import annotations

from nbgraph.drawing.dot import dot
from nbgraph.drawing.drawing import Drawing
from nbgraph.drawing.folding import folded, subgraphs
from nbgraph.drawing.labels import address, cut, reveal
from nbgraph.drawing.marks import BADGES, BREAKPOINT, UNLIKE, WORDS, Mark, edge_marks, with_ends
from nbgraph.drawing.mermaid import mermaid
from nbgraph.drawing.static import picture, small_picture
from nbgraph.drawing.svg import is_small, svg
from nbgraph.drawing.text import describe

__all__ = [
    "BADGES",
    "BREAKPOINT",
    "UNLIKE",
    "WORDS",
    "Drawing",
    "Mark",
    "address",
    "cut",
    "describe",
    "dot",
    "edge_marks",
    "folded",
    "is_small",
    "mermaid",
    "picture",
    "reveal",
    "small_picture",
    "subgraphs",
    "svg",
    "with_ends",
]
