"""Two branches of a thread side by side: their paths, and how their states differ."""

from __future__ import annotations

import json
from typing import Any

import ipywidgets

from nbgraph import words
from nbgraph.core.compare import Difference, compare_states
from nbgraph.core.loop import run_sync
from nbgraph.notebook.display import static_bundle, unattended
from nbgraph.notebook.graph_view import GraphView
from nbgraph.notebook.left import Stay
from nbgraph.notebook.painter import Painter
from nbgraph.notebook.parts import classed, column, mark, row, text
from nbgraph.notebook.records import record_card
from nbgraph.session import Session

__all__ = ["Compare", "branches", "compare", "state_table"]

_CLASSES = {"+": "add", "-": "rem", "~": "chg"}
_SIGNS = {"+": "+", "-": "−", "~": "~"}
_VALUE_LIMIT = 300


def compare(session_a: Session, session_b: Session) -> Compare:
    """Return two sessions side by side: drawings, answers, and how their states differ.

    Parameters
    ----------
    session_a, session_b : Session
        As `session.fork(...)` and `Panel.fork(...)` return them.
    """
    return Compare(session_a, session_b)


class Compare(ipywidgets.VBox):
    """Two sessions side by side; it follows both."""

    def __init__(self, session_a: Session, session_b: Session) -> None:
        super().__init__()
        classed(self, "nbgraph")
        self._sides = (_Side(session_a), _Side(session_b))
        self._states = column([], "nbgraph-section")
        self._painter = Painter(self._draw)
        self._stay = Stay(
            super()._repr_mimebundle_,
            self._still,
            lambda: [side.session for side in self._sides],
            lambda: any(side.has_focus for side in self._sides),
        )
        self._stops = [side.session.watch(self._wanted) for side in self._sides]
        both = row(self._sides, "nbgraph-body")
        self.children = (column([both, self._states], "nbgraph-panel"),)
        self._painter.now()

    def _wanted(self, _: object) -> None:
        if any(side.stale for side in self._sides):
            self._painter.want()

    def _draw(self) -> None:
        for side in self._sides:
            side.show()
        self._states.children = (state_table(*(side.session for side in self._sides)),)
        self._stay.drawn()

    def close(self) -> None:
        """Close the widget; the sessions go on."""
        for stop in self._stops:
            stop()
        self._stay.gone()
        super().close()

    def _ipython_display_(self, **_: Any) -> None:
        self._stay.show()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self._still() if unattended() else super()._repr_mimebundle_(**options)

    def _still(self) -> dict[str, str]:
        bundles = [static_bundle(side.session) for side in self._sides]
        differing = str(self.comparison)
        return {
            "text/html": "".join(bundle["text/html"] for bundle in bundles),
            "text/plain": "\n\n".join([*(bundle["text/plain"] for bundle in bundles), differing]),
        }

    @property
    def comparison(self) -> Any:
        """How the two states differ, by path."""
        return compare_states(*(side.session.state for side in self._sides))


class _Side(ipywidgets.VBox):
    """One of the two: its drawing, status and answers."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._shown: object = None
        self._graph = GraphView(session.driver.shape)
        self._mark = mark("idle")
        self._status = text("")
        head = row(
            [text(session.branch_id, "nbgraph-strong"), row([self._mark, self._status])],
            "nbgraph-head",
        )
        self._records = column([])
        super().__init__([head, self._graph, self._records])
        classed(self, "nbgraph-side")

    @property
    def has_focus(self) -> bool:
        """Whether the focus is in the comparison."""
        return self._graph.has_focus

    @property
    def stale(self) -> bool:
        """Whether there is something newer to show."""
        return self.session.snapshot is not self._shown

    def show(self) -> None:
        """Draw the session's snapshot, unless it stands there already."""
        snapshot = self.session.snapshot
        if snapshot is self._shown:
            return
        self._shown = snapshot
        self._graph.show(snapshot.marks, words.lines(snapshot), snapshot.taken)
        self._status.value = words.status(snapshot)
        for name in ("idle", "running", "done", "waiting", "failed"):
            self._mark.remove_class(name)
        self._mark.add_class(words.status_mark(snapshot))
        self._records.children = tuple(record_card(item, None) for item in snapshot.records)


def state_table(session_a: Session, session_b: Session) -> ipywidgets.VBox:
    """Return how the states of two branches differ, one row a path."""
    found = compare_states(session_a.state, session_b.state)
    count = len(found.differences)
    title = row(
        [
            classed(ipywidgets.Label("State"), "nbgraph-h3"),
            text(
                f"{count} path{'' if count == 1 else 's'} differ, {found.same} the same",
                "nbgraph-2nd",
            ),
        ],
        "nbgraph-row",
    )
    names = ["", "path", session_a.branch_id, session_b.branch_id]
    head = row([text(name, "nbgraph-2nd") for name in names], "hd")
    rows = [_row(item) for item in found.differences]
    return column([title, column([head, *rows], "nbgraph-diff", "two")])


def _row(item: Difference) -> ipywidgets.HBox:
    first = "not there" if item.sign == "+" else _shown(item.first)
    second = "not there" if item.sign == "-" else _shown(item.second)
    cells = [text(_SIGNS[item.sign], "sign"), *map(text, (item.path, first, second))]
    return row(cells, _CLASSES[item.sign])


def _shown(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    if len(shown) <= _VALUE_LIMIT:
        return shown
    return f"{shown[:_VALUE_LIMIT]}… ({len(shown):,} characters)"


class Differences(ipywidgets.VBox):
    """How the states of two branches differ, while there are two to look at."""

    def __init__(self) -> None:
        super().__init__()
        classed(self, "nbgraph-section", "nbgraph-compare")
        self._compared: tuple[Any, Any] | None = None

    def show(self, session: Session, other: Session | None) -> None:
        """Show how a session's state differs from another branch's; without one, nothing."""
        if other is None or other.branch_id == session.branch_id:
            self.layout.display = "none"
            return
        self.layout.display = None
        shown = session.state, other.state
        if shown != self._compared:
            self._compared = shown
            self.children = (state_table(other, session),)


def branches(session: Session) -> tuple[str, ...]:
    """Return the branches of a session's thread, main first."""
    return run_sync(session.driver.branches())
