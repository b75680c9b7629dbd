"""Shapes that the drawing tests share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from nbgraph.core.driver import EdgeShape, NodeShape, Shape


def chain(*labels: str, name: str = "chain") -> Shape:
    """Return a graph that runs through nodes with these labels."""
    nodes = tuple(NodeShape(f"path{i}", label) for i, label in enumerate(labels))
    paths = ["__start__", *(node.path for node in nodes), "__end__"]
    edges = tuple(EdgeShape(*ends) for ends in pairwise(paths))
    return Shape(name, nodes, edges, {})


def refund() -> Shape:
    """Return a graph with every kind of edge."""
    return Shape(
        "refund",
        tuple(NodeShape(name, name, f"does {name}") for name in ("ask", "pay", "deny")),
        (
            EdgeShape("__start__", "ask"),
            EdgeShape("ask", "pay", "branch", "yes"),
            EdgeShape("ask", "deny", "branch", "no"),
            EdgeShape("deny", "ask", "goto"),
            EdgeShape("pay", "__end__"),
        ),
        {"type": "object"},
    )


def tree(count: int) -> Shape:
    """Return a tree of so many nodes."""
    nodes = tuple(NodeShape(f"n{i}", f"node {i}") for i in range(count))
    edges = tuple(EdgeShape(f"n{(i - 1) // 2}", f"n{i}") for i in range(1, count))
    return Shape("tree", nodes, edges, {})


HOSTILE: Sequence[str] = (
    'say "hi"',
    "<b>bold</b>",
    "<<table><tr><td href='javascript:alert(1)'>x</td></tr></table>>",
    "<script>alert(1)</script>",
    "</text><script>alert(1)</script>",
    "A::B",
    "a:b:c",
    "ends in \\",
    "\\N \\G \\E \\T \\l \\r",
    "$x^2$ \\(y\\)",
    "&lt;b&gt; &amp; &#60; &nbsp;",
    "nul\x00 bell\x07 escape\x1b[31m",
    "two\nlines\tand a tab",
    "\u202egnp.exe",
    "zero\u200bwidth",
    "\ud800 half a pair",
    "\ufffe",
    "שלום עולם",
    "处理退款 🙂",
    "]]> <!-- --> <![CDATA[",
    "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e 'boom'>]>&e;",
    "",
    "   ",
    "node",
    "digraph { a -> b }",
    "// comment /* and */ # more",
    "x" * 39,
)
"""Names that break naive drawings."""


def nested() -> Shape:
    """Return a graph with a sub-graph in a sub-graph."""
    nodes = (
        NodeShape("refund", "refund"),
        NodeShape("refund/deep", "deep", parent="refund"),
        NodeShape("refund/pay", "pay", parent="refund"),
        NodeShape("refund/deep/ask", "ask", parent="refund/deep"),
    )
    ends = (
        ("__start__", "refund"),
        ("refund", "__end__"),
        ("refund", "refund/deep"),
        ("refund/deep", "refund/pay"),
        ("refund/deep", "refund/deep/ask"),
    )
    return Shape("nested", nodes, tuple(EdgeShape(*each) for each in ends), {"type": "object"})
