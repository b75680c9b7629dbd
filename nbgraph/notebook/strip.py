"""The timeline strip: one box for each superstep, newest first in the box, so that it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ipywidgets

from nbgraph import words
from nbgraph.notebook.labels import visible
from nbgraph.notebook.parts import classed, row, set_class, text
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.snapshot import Mark, Snapshot, Superstep, TaskBar

__all__ = ["Strip"]

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


class Strip(ipywidgets.VBox):
    """What ran in each superstep of a thread.

    Parameters
    ----------
    chosen : function
        Takes the number of the superstep whose box a person pressed.
    more : widget, optional
        What stands at the end of the title's line.
    """

    def __init__(
        self, chosen: Callable[[int], object], more: ipywidgets.Widget | None = None
    ) -> None:
        self._chosen = chosen
        self._title = text("", "nbgraph-2nd", "nbgraph-small")
        self._strip = row([], "nbgraph-strip")
        self._boxes: list[ipywidgets.Button] = []  # the newest first
        self._numbers: list[int] = []
        title = classed(ipywidgets.Label("Timeline"), "nbgraph-h3")
        head = row([title, self._title, *([more] if more else [])], "nbgraph-row")
        super().__init__([head, self._strip])

    def show(self, snapshot: Snapshot, selected: int | None = None) -> None:
        """Draw a snapshot's supersteps, one of them as selected; boxes are used again."""
        steps = snapshot.supersteps[-(_SHOWN_RUNNING if snapshot.running else _SHOWN) :]
        count = len(snapshot.supersteps)
        hidden = count - len(steps)
        earlier = f", {hidden} earlier not shown" if hidden else ""
        self._title.value = f"{count} superstep{'' if count == 1 else 's'}{earlier}"
        current = snapshot.position.tasks and not snapshot.position.merged
        while len(self._boxes) < len(steps):
            self._boxes.append(self._box(len(self._boxes)))
        self._numbers = [step.number for step in reversed(steps)]
        boxes = tuple(self._boxes[: len(steps)])
        for box, step in zip(boxes, reversed(steps), strict=True):
            _fill(box, step, now=bool(current) and step is steps[-1])
            set_class(box, "sel", on=step.number == selected)
        if self._strip.children != boxes:
            self._strip.children = boxes
            serve_while_busy(self._strip)

    def _box(self, at: int) -> ipywidgets.Button:
        box = classed(ipywidgets.Button(tooltip="Look at this superstep"), "step")
        box.on_click(lambda _: self._chosen(self._numbers[at]))
        return box


def _fill(box: ipywidgets.Button, step: Superstep, *, now: bool) -> None:
    tasks = "  ".join(_task(bar) for bar in step.tasks)
    description = visible(f"{step.number}{', now' if now else ''}\n{tasks}")
    if box.description != description:
        box.description = description
    worst = _worst(step)
    set_class(box, "now", on=now)
    set_class(box, "done", on=not now and worst == "done")


def _task(bar: TaskBar) -> str:
    took = f" {words.duration(bar.seconds)}" if bar.seconds is not None else ""
    return f"{_SIGNS[bar.mark]} {bar.task_id}{took}"


def _worst(step: Superstep) -> Mark:
    marks = {bar.mark for bar in step.tasks}
    for mark in ("failed", "waiting", "running", "idle"):
        if mark in marks:
            return mark
    return "done"
