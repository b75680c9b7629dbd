"""What running nodes show while they run: a bar, a note, the text they write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets

from nbgraph.activity import Activity
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.lean import Column, row, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.parts import mark
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import slim
from nbgraph.snapshot import Snapshot

__all__ = ["Doing"]

_SHOWN = 4


class Doing(Column):
    """One card for each of the first few tasks that say how far they are, or write text."""

    def __init__(self) -> None:
        super().__init__((), "nbgraph-doing", hidden=True)
        self._cards: list[_Card] = []  # used again for other tasks
        self._more: ipywidgets.Label | None = None

    def show(self, snapshot: Snapshot) -> None:
        """Show what a snapshot's tasks are doing."""
        doing: Mapping[str, Activity] = snapshot.doing if snapshot.running else {}
        shown = list(doing.items())[:_SHOWN]
        while len(self._cards) < len(shown):
            self._cards.append(_Card())
            self._arrange()
        for card, (task_id, activity) in zip(self._cards, shown, strict=False):
            card.show(task_id, activity)
        for at, card in enumerate(self._cards):
            set_hidden(card, hidden=at >= len(shown))
        self._say_rest(len(doing) - len(shown))
        set_hidden(self, hidden=not shown)

    def _say_rest(self, count: int) -> None:
        if count and self._more is None:
            self._more = text("", "nbgraph-2nd")
            self._arrange()
        if self._more is not None:
            set_text(self._more, f"and {count} more" if count else "")

    def _arrange(self) -> None:
        self.children = (*self._cards, *([self._more] if self._more else []))
        serve_while_busy(self)


class _Card(Column):
    def __init__(self) -> None:
        self._name = text("", "nbgraph-strong")
        self._note = text("", "nbgraph-2nd")
        self._bar: Any = None
        self._text: ipywidgets.Label | None = None
        self._head = row([mark("running"), self._name, self._note], "nbgraph-head")
        super().__init__([self._head], "nbgraph-activity")

    def show(self, task_id: str, activity: Activity) -> None:
        """Show a task's activity; what is the same is not sent."""
        set_text(self._name, task_id)
        share = activity.share
        percent = "" if share is None else f"{share:.0%}"
        set_text(self._note, " · ".join(filter(None, [activity.note, percent])))
        self._show_share(share)
        self._show_text(activity.text)

    def _show_share(self, share: float | None) -> None:
        if share is not None and self._bar is None:
            self._bar = slim(ipywidgets.FloatProgress)(max=1.0)
            self._arrange()
        if self._bar is not None:
            self._bar.value = share or 0.0
            set_hidden(self._bar, hidden=share is None)

    def _show_text(self, written: str) -> None:
        if written and self._text is None:
            self._text = text("", "nbgraph-text", "nbgraph-tokens")
            self._arrange()
        if self._text is not None:
            set_text(self._text, written)
            set_hidden(self._text, hidden=not written)

    def _arrange(self) -> None:
        self.children = tuple(filter(None, (self._head, self._bar, self._text)))
        serve_while_busy(self)
