"""The log: time, node and text of what happened, newest at the bottom."""

from __future__ import annotations

import ipywidgets

from nbgraph import words
from nbgraph.notebook.parts import classed, column, row, text
from nbgraph.snapshot import LogLine, Snapshot

__all__ = ["LogView"]

_SHOWN = 30
_CLASSES = {"failed": "err", "waiting": "ask"}


class LogView(ipywidgets.VBox):
    """The newest lines of a thread's log."""

    def __init__(self) -> None:
        self._lines: tuple[LogLine, ...] = ()
        self._rows = column([], "nbgraph-log")
        head = row([classed(ipywidgets.Label("Log"), "nbgraph-h3")], "nbgraph-row")
        super().__init__([head, self._rows])
        classed(self, "nbgraph-section")

    def show(self, snapshot: Snapshot) -> None:
        """Show a snapshot's lines; only lines that came since are made."""
        lines = snapshot.log[-_SHOWN:]
        if lines == self._lines:
            return
        kept = {id(line): each for line, each in zip(self._lines, self._rows.children, strict=True)}
        made = [kept.pop(id(line), None) or _row(line) for line in lines]
        self._lines = lines
        self._rows.children = tuple(made)
        for gone in kept.values():
            gone.close()


def _row(line: LogLine) -> ipywidgets.HBox:
    parts = [text(words.clock(line.at)), text(line.node), text(line.text)]
    return row(parts, "nbgraph-log-row", *filter(None, [_CLASSES.get(line.mark)]))
