"""The states of two branches side by side: a row for each path at which they differ, or for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import ipywidgets

from nbgraph.core.compare import Alike, Difference, compare_states, walked
from nbgraph.covering import call_secrets, covered
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.lean import Column, column, row, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.parts import spacer, take_away
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import slim
from nbgraph.notebook.state_view import SIGNS, field_of
from nbgraph.notebook.value_view import ValueView, own_view
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot

__all__ = ["Differences", "StateTable"]

_CLASSES = {"+": "add", "-": "rem", "~": "chg"}
_MOST = 200
"""How many paths are shown."""


class StateTable(Column):
    """How the states of two branches differ, one row a path; on request what is the same too."""

    def __init__(self) -> None:
        self._shown: tuple[Session, Session] | None = None
        self._drawn: tuple[Snapshot, Snapshot] | None = None
        self._title, self._told = text("", "nbgraph-h3"), text("", "nbgraph-2nd")
        self._only: Any = slim(ipywidgets.ToggleButton)(
            value=True,
            description="Only what differs",
            _dom_classes=("nbgraph-only-differing", "quiet"),
        )
        self._only.observe(lambda _: self._turned(), names="value")
        head = row([self._title, self._told, spacer(), self._only], "nbgraph-row")
        self._rows = column([], "nbgraph-diff", "two")
        super().__init__([head, self._rows], "nbgraph-section")

    @property
    def only_differing(self) -> bool:
        """Whether the paths at which both are the same are left out; it can be set."""
        return self._only.value

    @only_differing.setter
    def only_differing(self, value: bool) -> None:
        self._only.value = value

    def show(self, session_a: Session, session_b: Session) -> None:
        """Show how the states of two branches differ."""
        drawn, now = self._drawn, (session_a.snapshot, session_b.snapshot)
        if drawn is None or drawn[0] is not now[0] or drawn[1] is not now[1]:
            self._shown, self._drawn = (session_a, session_b), now
            self._draw(session_a, session_b)

    def _turned(self) -> None:
        if self._shown is not None:
            self._draw(*self._shown)

    def _draw(self, a: Session, b: Session) -> None:
        first, second = (_covered(each) for each in (a, b))
        found = compare_states(first, second)
        count = len(found.differences)
        many = f"{count} {'path differs' if count == 1 else 'paths differ'}"
        set_text(self._told, f"{many}, {found.same} the same")
        ended = a.status == b.status == "completed"
        set_text(self._title, "State at the end" if ended else "State")
        items = found.differences if self.only_differing else walked(first, second)
        whole = count if self.only_differing else count + found.same
        names = ["", "path", a.branch_id, b.branch_id]
        head = row([text(name, "nbgraph-2nd") for name in names], "hd")
        states = a.snapshot.state, b.snapshot.state
        rows = [head, *(_row(item, *states) for item in islice(items, _MOST))]
        rows += _rest(whole - _MOST, self.only_differing)
        gone, self._rows.children = self._rows.children, tuple(rows)
        take_away(*gone)
        serve_while_busy(self)


def _covered(session: Session) -> Any:
    return covered(session.state, call_secrets(session.history()))


def _rest(count: int, only_differing: bool) -> Iterator[ipywidgets.HBox]:
    if count > 0:
        yield row([text(""), text(f"{count:,} more paths{' differ' if only_differing else ''}")])


def _row(
    item: Difference | Alike, state_a: Mapping[str, Any], state_b: Mapping[str, Any]
) -> ipywidgets.HBox:
    path, name = text(item.path, "nbgraph-mono"), field_of(item.path)
    if isinstance(item, Alike):
        value = own_view(state_a.get(name)) or ValueView(item.value)
        return row([text("=", "sign"), path, value, text("the same", "nbgraph-2nd")], "alike")
    cells = [
        text("not there", "nbgraph-2nd")
        if item.sign == missing
        else own_view(state.get(name)) or ValueView(value)
        for missing, state, value in (("+", state_a, item.first), ("-", state_b, item.second))
    ]
    return row([text(SIGNS[item.sign], "sign"), path, *cells], _CLASSES[item.sign])


class Differences(Column):
    """How the states of two branches differ, while there are two to look at."""

    def __init__(self) -> None:
        self._states: StateTable | None = None
        super().__init__((), "nbgraph-compare", hidden=True)

    def show(self, session: Session, other: Session | None) -> None:
        """Show how a session's state differs from another branch's; without one, nothing."""
        if other is None or other.branch_id == session.branch_id:
            set_hidden(self, hidden=True)
            return
        set_hidden(self, hidden=False)
        if self._states is None:
            self._states = StateTable()
            self.children = (self._states,)
        self._states.show(other, session)
