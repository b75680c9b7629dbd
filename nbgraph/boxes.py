"""What the strip of supersteps says: one box each, which tasks ran, and what surely comes next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nbgraph import words
from nbgraph.clocks import age
from nbgraph.core.driver import NodeShape, Shape
from nbgraph.drawing.dot import END
from nbgraph.snapshot import Mark, Snapshot, Superstep, TaskBar

__all__ = ["Box", "boxes"]

_MANY = 8
"""From here on the tasks of a superstep are counted, not named."""
_WORST: tuple[Mark, ...] = ("failed", "waiting", "running", "idle")


@dataclass(frozen=True, slots=True)
class Box:
    """A superstep in the strip.

    Attributes
    ----------
    number : int
        Which one.
    head : str
        `4`, `4, now`, `5, next`.
    tasks : tuple of (mark, text)
        Its tasks; the mark is a `Mark`, or `"break"` where the run pauses before the node.
    look : str
        Words for its style: `done`, `now` with the gravest mark, `next`, `next ahead` for one that
        is not planned yet.
    """

    number: int
    head: str
    tasks: tuple[tuple[str, str], ...]
    look: str


def boxes(snapshot: Snapshot, shape: Shape, now: float, *, most: int) -> tuple[Box, ...]:
    """Return the newest supersteps of a snapshot, oldest first, and the one that surely follows.

    `now` is what running and waiting tasks are timed by.
    """
    steps = snapshot.supersteps[-most:]
    is_open = bool(steps and snapshot.position.tasks and not snapshot.position.merged)
    made = [_box(step, snapshot, now) for step in (steps[:-1] if is_open else steps)]
    if not is_open:
        return tuple(made)
    last = steps[-1]
    if not snapshot.running and all(bar.mark == "idle" for bar in last.tasks):
        return (*made, _coming(last, snapshot, shape))
    made.append(_box(last, snapshot, now, look=f"now {_worst(last)}", head=f"{last.number}, now"))
    return (*made, *_ahead(last, snapshot, shape))


def _box(step: Superstep, snapshot: Snapshot, now: float, look: str = "", head: str = "") -> Box:
    if len(step.tasks) > _MANY:
        tasks = tuple((step.mark(node), _counted(step, node)) for node in _nodes(step))
    else:
        tasks = tuple((bar.mark, _told(bar, snapshot, now)) for bar in step.tasks)
    return Box(step.number, head or str(step.number), tasks, look or _worst(step))


def _nodes(step: Superstep) -> Iterable[str]:
    return dict.fromkeys(bar.node for bar in step.tasks)


def _counted(step: Superstep, node: str) -> str:
    """Return what is said of a node with many tasks: `order ×1000, 300 done`."""
    count, done = step.count(node), step.count(node, "done", "skipped")
    return f"{node} ×{count}{f', {done} done' if 0 < done < count else ''}"


def _coming(step: Superstep, snapshot: Snapshot, shape: Shape) -> Box:
    """Return the box of a superstep that is planned and has not begun."""
    stops = words.breakpoints(snapshot, shape)
    several = len(step.tasks) > _MANY
    told = (
        [(node, _counted(step, node)) for node in _nodes(step)]
        if several
        else [(bar.node, bar.task_id) for bar in step.tasks]
    )
    tasks = tuple((_before(node, stops), said) for node, said in told)
    return Box(step.number, f"{step.number}, next", tasks, "next")


def _ahead(step: Superstep, snapshot: Snapshot, shape: Shape) -> Iterator[Box]:
    """Yield the superstep after one that goes on, if its nodes follow whatever happens."""
    nodes = _following({bar.node for bar in step.tasks}, snapshot, shape)
    if nodes:
        stops = words.breakpoints(snapshot, shape)
        tasks = tuple((_before(node.path, stops), node.label) for node in nodes)
        yield Box(step.number + 1, f"{step.number + 1}, next", tasks, "next ahead")


def _following(here: set[str], snapshot: Snapshot, shape: Shape) -> list[NodeShape]:
    """Return the nodes that surely follow these; none where a router or a node decides."""
    outer = {node.path for node in shape.nodes if node.parent is None} | {END}
    edges = [each for each in shape.edges if each.target in outer]
    out = [each for each in edges if each.source in here]
    if any(each.kind != "edge" for each in out):
        return []
    targets = {each.target for each in out}
    passed = here | {path for path, mark in snapshot.marks.items() if mark == "done"}
    always = [each for each in edges if each.kind == "edge" and each.target in targets]
    if any(each.source not in passed for each in always):
        return []  # perhaps it waits for that one too
    return [node for node in shape.nodes if node.path in targets]


def _before(path: str, stops: Mapping[str, str]) -> str:
    return "break" if "before" in stops.get(path, "") else "idle"


def _told(bar: TaskBar, snapshot: Snapshot, now: float) -> str:
    """Return a task with how long it ran, runs or waits, or how often it was tried."""
    return f"{bar.task_id} {_long(bar, snapshot, now)}".rstrip()


def _long(bar: TaskBar, snapshot: Snapshot, now: float) -> str:
    match bar.mark:
        case "waiting":
            asked = [q.created_at for q in snapshot.pending.values() if q.task_id == bar.task_id]
            waits = now - min(asked, default=now)
            return age(waits) if waits >= 60 else ""
        case "running":
            ran = now - (bar.started or now)
            return words.duration(math.floor(ran)) if ran >= 1 else ""
        case "failed":
            return f"{bar.tries} tries" if bar.tries > 1 else ""
        case _ if bar.how:
            return bar.how
        case _:
            return "" if bar.seconds is None else words.duration(bar.seconds)


def _worst(step: Superstep) -> Mark:
    marks = {bar.mark for bar in step.tasks}
    for mark in _WORST:
        if mark in marks:
            return mark
    return "done"
