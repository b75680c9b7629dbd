"""Breakpoints in a LangGraph graph's sub-graphs: LangGraph knows those of the graph that is run.

A graph that is itself a node is run as a copy with breakpoints of its own. One that a node's
function calls cannot be reached.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["ALL", "NO_NODE", "breakpoints_of", "out_of_reach", "pausing"]

ALL = "*"
NO_NODE = [""]
"""An empty list would have the engine take the one the graph was compiled with."""


def breakpoints_of(app: Any, side: str, parent: str = "") -> Iterator[str]:
    """Return the paths of the nodes that a graph was compiled to pause `"before"` or `"after"`."""
    prefix = f"{parent}/" if parent else ""
    named = getattr(app, f"interrupt_{side}_nodes", ())
    names = getattr(app, "builder", app).nodes
    yield from (f"{prefix}{name}" for name in (names if named == ALL else named))
    for name, child in app.get_subgraphs():
        if hasattr(child, "nodes") and child is not app:
            yield from breakpoints_of(child, side, f"{prefix}{name}")


def out_of_reach(app: Any, paths: Sequence[str]) -> dict[str, str]:
    """Return which nodes of sub-graphs the engine cannot pause at, and why not."""
    found: dict[str, str] = {}
    for name, child in app.get_subgraphs():
        inner = _inside(name, paths)
        if app.nodes[name].bound is not child:
            why = f"the node {name!r} calls that graph itself, so LangGraph pauses only in it whole"
            found |= {f"{name}/{path}": why for path in inner}
        elif hasattr(child, "get_subgraphs"):
            below = out_of_reach(child, inner)
            found |= {f"{name}/{path}": why for path, why in below.items()}
    return found


def pausing(app: Any, before: Sequence[str], after: Sequence[str]) -> Any:
    """Return the graph, or a copy of it whose sub-graphs pause at these nodes inside them."""
    changed: dict[str, Any] = {}
    for name, child in app.get_subgraphs():
        node = app.nodes[name]
        if node.bound is not child:
            continue
        inner = [_inside(name, paths) for paths in (before, after)]
        copy = pausing(child, *inner)
        own = [*breakpoints_of(child, "before")], [*breakpoints_of(child, "after")]
        if (sorted(own[0]), sorted(own[1])) != (sorted(inner[0]), sorted(inner[1])):
            lists = {
                f"interrupt_{side}_nodes": [path for path in paths if path in child.nodes]
                for side, paths in zip(("before", "after"), inner, strict=True)
            }
            copy = copy.copy(lists)
        if copy is not child:
            changed[name] = node.copy({"bound": copy, "subgraphs": [copy]})
    return app.copy({"nodes": {**app.nodes, **changed}}) if changed else app


def _inside(name: str, paths: Sequence[str]) -> list[str]:
    return [path.removeprefix(f"{name}/") for path in paths if path.startswith(f"{name}/")]
