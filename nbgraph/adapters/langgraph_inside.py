"""A LangGraph graph's sub-graphs: the breakpoints in them, and where they stand.

LangGraph knows the breakpoints of the graph that is run. A graph that is itself a node is run as a
copy with breakpoints of its own. One that a node's function calls cannot be reached.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nbgraph.core.events import ChildPlace

__all__ = [
    "ALL",
    "NOWHERE",
    "NO_NODE",
    "asking_inside",
    "breakpoints_of",
    "names_of",
    "out_of_reach",
    "paused_inside",
    "pausing",
]

ALL = "*"
NO_NODE = [""]
"""An empty list would have the engine take the one the graph was compiled with."""
NOWHERE = ChildPlace(thread_id="", branch_id="main", sequence=0, parent_branch_id="main")
"""Of a sub-graph that stands at no breakpoint: its thread is the engine's."""


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


# --- where they stand ---------------------------------------------------------------------------


def names_of(namespace: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes of a namespace of the engine's: `("refund:<task>",)` is in `refund`."""
    return tuple(part.partition(":")[0] for part in namespace)


def asking_inside(task: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Return the questions asked inside a task's sub-graph: the engine's id, and the node's path.

    As in all of these, the task is one of a snapshot that has its sub-graphs' too.
    """
    for inner in getattr(task.state, "tasks", ()):
        here = f"{path}/{inner.name}" if path else inner.name
        yield from ((str(interrupt.id), here) for interrupt in inner.interrupts)
        yield from asking_inside(inner, here)


def paused_inside(task: Any, before: Iterable[str]) -> ChildPlace | None:
    """Return where a task's sub-graph stands; None if it does not, or has nothing to run next.

    `before` are the paths of the nodes that the graph pauses before.
    """
    inner = tuple(_next_inside(task))
    if not inner:
        return None
    stops = {path.removeprefix(f"{task.name}/") for path in before}
    side = "before" if stops & {*inner} else "after"
    return NOWHERE.model_copy(update={"next": inner, "paused": side})


def _next_inside(task: Any) -> Iterator[str]:
    """Return the nodes that run next in a task's sub-graph, and in those in it."""
    for inner in getattr(task.state, "tasks", ()):
        if inner.result is None:
            below = [f"{inner.name}/{path}" for path in _next_inside(inner)]
            yield from below or [inner.name]
