"""What running nodes show while they run: a bar, a note, the text they write."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from itertools import islice
from typing import Any

import traitlets

from nbgraph.activity import Activity
from nbgraph.notebook.greeted import Greeted, module
from nbgraph.notebook.labels import visible
from nbgraph.notebook.lean import Column, set_hidden
from nbgraph.snapshot import Snapshot

__all__ = ["Activities", "Doing"]

_SHOWN = 4
_Card = list[Any]
"""A task's id, its note, its share of the whole or None, and its text."""


class Activities(Greeted):
    """The cards themselves: what changes travels as one message, however many cards it is."""

    _esm = module("doing.js")
    cards = traitlets.List().tag(sync=True)
    more = traitlets.Int(0).tag(sync=True)

    def __init__(self, doing: Mapping[str, Activity]) -> None:
        self._cards, self._more = _cards(doing)
        self._lock = threading.RLock()
        super().__init__()

    @property
    def shown(self) -> tuple[_Card, ...]:
        """What stands there: of each task its id, its note, its share and its text."""
        return tuple(self._cards.values())

    def show(self, doing: Mapping[str, Activity]) -> None:
        """Show the first few of these, by task; the rest is counted, what is there is not sent."""
        cards, more = _cards(doing)
        with self._lock:
            old, rest = self._cards, self._more
            self._cards, self._more = cards, more
            changed = [card for task_id, card in cards.items() if old.get(task_id) != card]
            if changed or [*old] != [*cards] or more != rest:
                self._tell(changed)

    def _tell(self, changed: list[_Card], **full: bool) -> None:
        self.send({
            "kind": "cards",
            "order": [*self._cards],
            "changed": changed,
            "more": self._more,
            **full,
        })

    def _answer_hello(self) -> None:
        with self._lock:
            self._tell([*self.shown], full=True)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the widget's state for a page; the cards are put in when a page asks."""
        state = super().get_state(key, drop_defaults)
        return state | {"cards": [*self.shown], "more": self._more} if "cards" in state else state


class Doing(Column):
    """One card for each of the first few tasks that say how far they are, or write text."""

    def __init__(self) -> None:
        super().__init__((), "nbgraph-doing", hidden=True)
        self._activities: Activities | None = None

    def show(self, snapshot: Snapshot) -> None:
        """Show what a snapshot's tasks are doing."""
        doing: Mapping[str, Activity] = snapshot.doing if snapshot.running else {}
        if doing and self._activities is None:
            self._activities = Activities(doing)
            self.children = (self._activities,)
        if self._activities is not None:
            self._activities.show(doing)
        set_hidden(self, hidden=not doing)


def _cards(doing: Mapping[str, Activity]) -> tuple[dict[str, _Card], int]:
    """Return the cards of the first few tasks, and how many more there are."""
    shown = {task_id: _card(task_id, each) for task_id, each in islice(doing.items(), _SHOWN)}
    return shown, len(doing) - len(shown)


def _card(task_id: str, activity: Activity) -> _Card:
    share = activity.share
    percent = "" if share is None else f"{share:.0%}"
    note = " · ".join(filter(None, [activity.note, percent]))
    return [task_id, visible(note), share, visible(activity.text)]
