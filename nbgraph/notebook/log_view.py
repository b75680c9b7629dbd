"""The log: time, node and text of what happened, newest at the bottom; of all nodes, or of one."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import traitlets

from nbgraph import words
from nbgraph.notebook.greeted import Greeted, module
from nbgraph.notebook.labels import visible
from nbgraph.notebook.lean import Column, button, row, tabs
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.parts import set_class, spacer
from nbgraph.snapshot import LogLine, Snapshot

__all__ = ["LogLines", "LogView"]

_SHOWN = 200
_FEW = 6
_CLASSES = {"failed": "err", "waiting": "ask"}
_SIGNS = {"failed": "✕ ", "waiting": "◆ "}
_ALL = "All"


class LogLines(Greeted):
    """The lines themselves: what is added travels as one message, however many lines it is."""

    _esm = module("log.js")
    lines = traitlets.List().tag(sync=True)
    limit = traitlets.Int(_SHOWN).tag(sync=True)

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, str, str]] = []
        self._given: Sequence[LogLine] = ()
        self._lock = threading.Lock()
        super().__init__()

    def show(self, lines: Sequence[LogLine]) -> None:
        """Show these lines; those that stand there already are not sent again."""
        with self._lock:
            lines = lines[-_SHOWN:]
            kept = _overlap(self._given, lines)
            made = [_row(line) for line in lines[kept:]]
            if kept == len(lines) == len(self._given):
                return
            self._given = lines
            whole = kept == 0
            self._rows = made if whole else [*self._rows, *made][-_SHOWN:]
            self.send({"kind": "lines", "whole": whole, "lines": made})

    def _answer_hello(self) -> None:
        with self._lock:
            self.send({"kind": "lines", "whole": True, "full": True, "lines": self._rows})

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the widget's state for a page; the lines are put in when a page asks."""
        state = super().get_state(key, drop_defaults)
        return state | {"lines": self._rows} if "lines" in state else state


class LogView(Column):
    """A thread's log, with a choice of whose lines are shown."""

    def __init__(self) -> None:
        self.lines = LogLines()
        self._all: tuple[LogLine, ...] = ()
        self._from = 0.0
        self._names: tuple[str, ...] = ()
        self._choice: Any = tabs((_ALL,), _ALL, "nbgraph-nodes")
        self._choice.observe(self._chosen, "index")
        clear = button("Clear", self.clear, "nbgraph-clear", "quiet")
        head = row([text("Log", "nbgraph-h3"), self._choice, spacer(), clear], "nbgraph-row")
        super().__init__([head, self.lines], "nbgraph-section", "nbgraph-logs")

    @property
    def node(self) -> str | None:
        """Whose lines are shown; None for all."""
        return self._names[self._choice.index - 1] if self._choice.index else None

    @node.setter
    def node(self, path: str | None) -> None:
        self._choice.index = 0 if path is None else self._names.index(path) + 1

    def show(self, snapshot: Snapshot) -> None:
        """Show a snapshot's lines; only lines that came since are sent."""
        self._all = snapshot.log
        names = tuple(dict.fromkeys(line.node for line in self._all if line.node))
        if names != self._names:
            self._offer(names)
        self._refresh()

    def clear(self) -> None:
        """Show only what comes from now on; what is recorded stays recorded."""
        self._from = self._all[-1].at if self._all else 0.0
        self._refresh()

    def _offer(self, names: tuple[str, ...]) -> None:
        node = self.node
        self._choice.unobserve(self._chosen, "index")
        self._names = names
        with self._choice.hold_sync():  # one message
            self._choice.options = (_ALL, *map(visible, names))
            self._choice.index = names.index(node) + 1 if node in names else 0
            set_class(self._choice, "nbgraph-many", on=len(names) > _FEW)
        self._choice.observe(self._chosen, "index")

    def _chosen(self, _: Mapping[str, Any]) -> None:
        self._refresh()

    def _refresh(self) -> None:
        node = self.node
        wanted = [line for line in self._all if line.at > self._from and node in (None, line.node)]
        self.lines.show(wanted)


def _row(line: LogLine) -> tuple[str, str, str, str]:
    text = visible(_SIGNS.get(line.mark, "") + line.text)
    return words.clock(line.at), visible(line.node), text, _CLASSES.get(line.mark, "")


def _overlap(old: Sequence[LogLine], new: Sequence[LogLine]) -> int:
    """Return how many of the new lines stand at the end of the old ones."""
    if not old:
        return 0
    last = old[-1]
    at = next((at for at in range(len(new) - 1, -1, -1) if new[at] is last), -1)
    same = all(a is b for a, b in zip(reversed(old), reversed(new[: at + 1]), strict=False))
    return at + 1 if same else 0
