"""The timeline strip: one box for each superstep, newest first in the box, so that it shows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from nbgraph.boxes import Box, boxes
from nbgraph.core.driver import Shape
from nbgraph.notebook.greeted import Greeted, module
from nbgraph.notebook.labels import set_text, visible
from nbgraph.notebook.lean import Column, row
from nbgraph.notebook.lean import said as text
from nbgraph.snapshot import Snapshot

__all__ = ["Boxes", "Strip"]

_SHOWN = 40
"""How many supersteps the strip shows; the oldest are counted instead."""


class Boxes(Greeted):
    """The boxes themselves: what changes travels as one message, however many boxes it is.

    Parameters
    ----------
    chosen : function
        Takes the number of the superstep whose box a person pressed.
    """

    _esm = module("strip.js")
    boxes = traitlets.List().tag(sync=True)
    selected = traitlets.Int(0).tag(sync=True)

    def __init__(self, chosen: Callable[[int], object]) -> None:
        self._chosen = chosen
        self._rows: dict[int, list[Any]] = {}  # the newest first
        self._at = 0
        self._lock = threading.RLock()
        super().__init__()

    @property
    def shown(self) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
        """What stands there, oldest first: the number, the head and the tasks of each box."""
        rows = reversed(self._rows.values())
        return tuple(
            (number, head, tuple(said for _, said in tasks)) for number, head, tasks, _ in rows
        )

    def show(self, wanted: tuple[Box, ...], selected: int | None) -> None:
        """Show these boxes, oldest first, one of them as selected; what is there is not sent."""
        rows = {box.number: _row(box) for box in reversed(wanted)}
        with self._lock:
            old, at = self._rows, self._at
            self._rows, self._at = rows, selected or 0
            changed = [made for number, made in rows.items() if old.get(number) != made]
            if changed or [*old] != [*rows] or at != self._at:
                self._tell(changed)

    def choose(self, number: int) -> None:
        """Look at a superstep, as a press on its box does."""
        self._chosen(number)

    def _tell(self, changed: list[list[Any]], **more: bool) -> None:
        order = [*self._rows]
        told = {"kind": "boxes", "order": order, "changed": changed, "selected": self._at}
        self.send({**told, **more})

    def _answer_hello(self) -> None:
        with self._lock:
            self._tell([*self._rows.values()], full=True)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the widget's state for a page; the boxes are put in when a page asks."""
        state = super().get_state(key, drop_defaults)
        return state | {"boxes": [*self._rows.values()]} if "boxes" in state else state

    def _receive(self, widget: object, content: Mapping[str, Any], buffers: object) -> None:
        super()._receive(widget, content, buffers)
        match content:
            case {"kind": "choose", "number": int(number)} if number in self._rows:
                self.choose(number)
            case _:
                pass


class Strip(Column):
    """What ran in each superstep of a thread.

    Parameters
    ----------
    shape : Shape
        The thread's graph.
    chosen : function
        Takes the number of the superstep whose box a person pressed.
    """

    def __init__(self, shape: Shape, chosen: Callable[[int], object]) -> None:
        self._shape = shape
        self._title = text("", "nbgraph-2nd", "nbgraph-small")
        self.boxes = Boxes(chosen)
        title = text("Timeline", "nbgraph-h3")
        super().__init__([row([title, self._title], "nbgraph-row"), self.boxes])

    def show(self, snapshot: Snapshot, selected: int | None = None) -> None:
        """Draw a snapshot's supersteps, one of them as selected."""
        count = len(snapshot.supersteps)
        earlier = f", {count - _SHOWN} earlier not shown" if count > _SHOWN else ""
        set_text(self._title, f"{count} superstep{'' if count == 1 else 's'}{earlier}")
        self.boxes.show(boxes(snapshot, self._shape, time.time(), most=_SHOWN), selected)


def _row(box: Box) -> list[Any]:
    tasks = [[mark, visible(said)] for mark, said in box.tasks]
    return [box.number, box.head, tasks, box.look]
