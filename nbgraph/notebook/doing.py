"""What running nodes show while they run: a bar, a note, the text they write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets

from nbgraph.activity import Activity
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.parts import classed, mark, row, text
from nbgraph.snapshot import Snapshot

__all__ = ["Doing"]

_SHOWN = 4


class Doing(ipywidgets.VBox):
    """One card for each of the first few tasks that say how far they are, or write text."""

    def __init__(self) -> None:
        super().__init__()
        classed(self, "nbgraph-doing")
        self._cards: list[_Card] = []  # used again for other tasks
        self._more = text("", "nbgraph-2nd")
        self.layout.display = "none"

    def show(self, snapshot: Snapshot) -> None:
        """Show what a snapshot's tasks are doing."""
        doing: Mapping[str, Activity] = snapshot.doing if snapshot.running else {}
        shown = list(doing.items())[:_SHOWN]
        while len(self._cards) < len(shown):
            self._cards.append(_Card())
            self.children = (*self._cards, self._more)
        for card, (task_id, activity) in zip(self._cards, shown, strict=False):
            card.show(task_id, activity)
        for at, card in enumerate(self._cards):
            _display(card, on=at < len(shown))
        rest = len(doing) - len(shown)
        set_text(self._more, f"and {rest} more" if rest else "")
        _display(self, on=bool(shown))


class _Card(ipywidgets.VBox):
    def __init__(self) -> None:
        self._name = text("", "nbgraph-strong")
        self._note = text("", "nbgraph-2nd")
        self._bar: Any = ipywidgets.FloatProgress(max=1.0, layout={"width": "auto"})
        self._bar.layout.display = "none"
        self._text = text("", "nbgraph-text", "nbgraph-tokens")
        self._text.layout.display = "none"
        head = row([mark("running"), self._name, self._note], "nbgraph-head")
        super().__init__([head, self._bar, self._text])
        classed(self, "nbgraph-activity")

    def show(self, task_id: str, activity: Activity) -> None:
        """Show a task's activity; what is the same is not sent."""
        set_text(self._name, task_id)
        share = activity.share
        percent = "" if share is None else f"{share:.0%}"
        set_text(self._note, " · ".join(filter(None, [activity.note, percent])))
        _display(self._bar, on=share is not None)
        self._bar.value = share or 0.0
        _display(self._text, on=bool(activity.text))
        set_text(self._text, activity.text)


def _display(widget: Any, *, on: bool) -> None:
    wanted = None if on else "none"
    if widget.layout.display != wanted:
        widget.layout.display = wanted
