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
        self._cards: dict[str, _Card] = {}
        self._more = text("", "nbgraph-2nd")
        self.layout.display = "none"

    def show(self, snapshot: Snapshot) -> None:
        """Show what a snapshot's tasks are doing."""
        doing: Mapping[str, Activity] = snapshot.doing if snapshot.running else {}
        shown = dict(list(doing.items())[:_SHOWN])
        for gone in set(self._cards) - set(shown):
            self._cards.pop(gone).close()
        for task_id, activity in shown.items():
            if task_id not in self._cards:
                self._cards[task_id] = _Card(task_id)
            self._cards[task_id].show(activity)
        rest = len(doing) - len(shown)
        set_text(self._more, f"and {rest} more" if rest else "")
        children = (*(self._cards[each] for each in shown), *((self._more,) if rest else ()))
        if self.children != children:
            self.children = children
            self.layout.display = None if children else "none"


class _Card(ipywidgets.VBox):
    def __init__(self, task_id: str) -> None:
        self._note = text("", "nbgraph-2nd")
        self._bar: Any = ipywidgets.FloatProgress(max=1.0, layout={"width": "auto"})
        self._bar.layout.display = "none"
        self._text = text("", "nbgraph-text", "nbgraph-tokens")
        self._text.layout.display = "none"
        head = row([mark("running"), text(task_id, "nbgraph-strong"), self._note], "nbgraph-head")
        super().__init__([head, self._bar, self._text])
        classed(self, "nbgraph-activity")

    def show(self, activity: Activity) -> None:
        """Show a task's activity; what is the same is not sent."""
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
