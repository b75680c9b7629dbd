"""The timeline strip: one box for each superstep, newest first in the box, so that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets

from nbgraph import words
from nbgraph.notebook.labels import visible
from nbgraph.notebook.parts import classed, row, set_classes, text
from nbgraph.session import Session
from nbgraph.snapshot import Mark, Snapshot, Superstep, TaskBar

__all__ = ["Timeline"]

_SIGNS: Mapping[Mark, str] = {
    "idle": "○",
    "running": "▷",
    "done": "✓",
    "waiting": "◆",
    "failed": "✕",
    "skipped": "⊘",
}
_SHOWN = 40
"""How many supersteps the strip shows; the oldest are counted instead."""
_SHOWN_RUNNING = 8
"""While it runs all boxes change all the time, and each is a message."""


class Timeline(ipywidgets.VBox):
    """What ran in each superstep of a session's thread.

    Parameters
    ----------
    session : Session
        Whose supersteps are shown at first; `show` brings it up to date.
    """

    def __init__(self, session: Session) -> None:
        self._title = text("", "nbgraph-2nd", "nbgraph-small")
        self._strip = row([], "nbgraph-strip")
        self._boxes: list[Any] = []  # the newest first; used again for other supersteps
        head = row(
            [classed(ipywidgets.Label("Timeline"), "nbgraph-h3"), self._title], "nbgraph-row"
        )
        super().__init__([head, self._strip])
        classed(self, "nbgraph-section", "nbgraph-timeline")
        self.show(session.snapshot)

    def show(self, snapshot: Snapshot) -> None:
        """Draw a snapshot's supersteps; boxes that are the same stay as they are."""
        shown = _SHOWN_RUNNING if snapshot.running else _SHOWN
        steps = snapshot.supersteps[-shown:]
        hidden = len(snapshot.supersteps) - len(steps)
        count = len(snapshot.supersteps)
        earlier = f", {hidden} earlier not shown" if hidden else ""
        self._title.value = f"{count} superstep{'' if count == 1 else 's'}{earlier}"
        current = snapshot.position.tasks and not snapshot.position.merged
        while len(self._boxes) < len(steps):
            self._boxes.append(classed(ipywidgets.Button(), "step"))
        boxes = tuple(self._boxes[: len(steps)])
        for box, step in zip(boxes, reversed(steps), strict=True):
            self._fill(box, step, now=bool(current) and step is steps[-1])
        if self._strip.children != boxes:
            self._strip.children = boxes

    def _fill(self, box: Any, step: Superstep, *, now: bool) -> None:
        tasks = "  ".join(_task(bar) for bar in step.tasks)
        description = visible(f"{step.number}{', now' if now else ''}\n{tasks}")
        if box.description != description:
            box.description = description
        worst = _worst(step)
        set_classes(box, {"now": now, "done": not now and worst == "done"})


def _task(bar: TaskBar) -> str:
    took = f" {words.duration(bar.seconds)}" if bar.seconds is not None else ""
    return f"{_SIGNS[bar.mark]} {bar.task_id}{took}"


def _worst(step: Superstep) -> Mark:
    marks = {bar.mark for bar in step.tasks}
    for mark in ("failed", "waiting", "running", "idle"):
        if mark in marks:
            return mark
    return "done"
