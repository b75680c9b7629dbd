"""Two branches of a thread side by side: their paths, and how their states differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from nbgraph import words
from nbgraph.branching import same_up_to, unlike
from nbgraph.core.compare import Comparison, compare_states
from nbgraph.core.loop import run_sync
from nbgraph.core.position import Answered
from nbgraph.notebook.branch_tree import BranchTree
from nbgraph.notebook.display import static_bundle, unattended
from nbgraph.notebook.graph_view import GraphView
from nbgraph.notebook.labels import set_text, visible
from nbgraph.notebook.left import Stay
from nbgraph.notebook.marks import show_mark
from nbgraph.notebook.painter import Painter
from nbgraph.notebook.parts import classed, column, mark, row, spacer, text
from nbgraph.notebook.records import record_card
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.state_table import StateTable
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot

__all__ = ["Compare", "branches", "compare"]


def compare(session_a: Session, session_b: Session) -> Compare:
    """Return two sessions side by side: drawings, answers, and how their states differ.

    Parameters
    ----------
    session_a, session_b : Session
        As `session.fork(...)` and `Panel.fork(...)` return them.
    """
    return Compare(session_a, session_b)


class Compare(ipywidgets.VBox):
    """Two sessions side by side; it follows both.

    Above them stands the tree of branches; which two are compared is chosen there.
    """

    def __init__(self, session_a: Session, session_b: Session) -> None:
        super().__init__()
        classed(self, "nbgraph")
        self._sides = (_Side(session_a, self._changed), _Side(session_b, self._changed))
        self._tree = BranchTree(self._sides[1].choose)
        self._shared = text("", "nbgraph-2nd")
        self._states = StateTable()
        self._painter = Painter(self._draw)
        self._stay = Stay(
            super()._repr_mimebundle_,
            self._still,
            lambda: [side.session for side in self._sides],
            lambda: any(side.has_focus for side in self._sides),
        )
        title = classed(ipywidgets.Label("Compare"), "nbgraph-h3")
        first, second = (side.choice for side in self._sides)
        parts = [title, first, text("with"), second, spacer(), self._shared]
        head = row(parts, "nbgraph-toolbar", "nbgraph-comparing")
        both = row(self._sides, "nbgraph-body", "nbgraph-two")
        self.children = (column([head, self._tree, both, self._states], "nbgraph-panel"),)
        self._painter.now()
        for side in self._sides:
            side.follow()

    def _changed(self) -> None:
        if any(side.stale for side in self._sides):
            self._painter.want()

    def _draw(self) -> None:
        first, second = self._sides
        a, b = first.session, second.session
        differing = unlike(a.snapshot, b.snapshot)
        for side, other in ((first, second), (second, first)):
            side.show(differing, other.session.snapshot)
        self._states.show(a, b)
        self._tree.show(a, a.branch_id, b.branch_id)
        set_text(self._shared, f"≠ differs. {_shared(a, b)}")
        serve_while_busy(self)
        self._stay.drawn()

    def close(self) -> None:
        """Close the widget; the sessions go on."""
        for side in self._sides:
            side.leave()
        self._painter.end()
        self._stay.gone()
        super().close()

    def __repr__(self) -> str:
        first, second = (side.session for side in self._sides)
        return f"<Compare of {first!r} and {second!r}>"

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
    def sessions(self) -> tuple[Session, Session]:
        """The two sessions that are compared."""
        return self._sides[0].session, self._sides[1].session

    @property
    def comparison(self) -> Comparison:
        """How the two states differ, by path."""
        return compare_states(*(session.state for session in self.sessions))


class _Side(ipywidgets.VBox):
    """One of the two: its drawing, status and answers."""

    def __init__(self, session: Session, changed: Callable[[], object]) -> None:
        self.session = session
        self._changed = changed
        self._stop: Callable[[], object] = lambda: None
        self._shown: object = None
        self._drawn: tuple[Answered, ...] | None = None
        self._graph = GraphView(session.driver.shape)
        self._mark, self._status = mark("idle"), text("")
        self._chip = row([self._mark, self._status], "nbgraph-chip", "nbgraph-status")
        self._name = text(session.branch_id, "nbgraph-strong")
        self.choice: Any = classed(ipywidgets.Dropdown(), "nbgraph-branch", "nbgraph-with")
        self.choice.observe(self._chosen, "value")
        head = row([self._name, spacer(), self._chip], "nbgraph-head")
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

    def follow(self) -> None:
        """Be told of what happens in the session."""
        self._stop = self.session.watch(self._moved)

    def _moved(self, _: Snapshot) -> None:
        self._changed()

    def leave(self) -> None:
        """Be told nothing any more."""
        self._stop()

    def choose(self, branch_id: str) -> None:
        """Compare another branch of the thread."""
        if branch_id == self.session.branch_id:
            return
        self.leave()
        self.session = Session(self.session.driver.on(branch_id), notice=self.session.notice)
        self.follow()

    def _chosen(self, change: Mapping[str, Any]) -> None:
        if change["new"]:
            self.choose(change["new"])

    def show(self, differing: frozenset[str], other: Snapshot) -> None:
        """Draw the session's snapshot beside the other one's."""
        snapshot = self._shown = self.session.snapshot
        lines = words.lines(snapshot)
        self._graph.show(
            snapshot.marks,
            lines,
            snapshot.taken,
            breakpoints=dict.fromkeys(differing, "differs"),
            heading=words.heading(snapshot),
        )
        set_text(self._name, self.session.branch_id)
        set_text(self._status, words.status(snapshot))
        for each, prefix in ((self._mark, ""), (self._chip, "is-")):
            show_mark(each, words.status_mark(snapshot), prefix)
        self._show_records(snapshot, other)
        self._show_choice()

    def _show_records(self, snapshot: Snapshot, other: Snapshot) -> None:
        shown = (*snapshot.records, *other.records)
        if shown == self._drawn:
            return
        self._drawn = shown
        beside = {each.interrupt.key: each for each in other.records}
        self._records.children = tuple(
            record_card(item, None, beside.get(item.interrupt.key)) for item in snapshot.records
        )

    def _show_choice(self) -> None:
        options = tuple((visible(name), name) for name in branches(self.session))
        self.choice.unobserve(self._chosen, "value")
        if self.choice.options != options:
            self.choice.options = options
        self.choice.value = self.session.branch_id
        self.choice.observe(self._chosen, "value")


def _shared(session_a: Session, session_b: Session) -> str:
    if session_a.thread_id != session_b.thread_id:
        return "Two threads."
    steps = same_up_to(session_a.history(), session_b.history())
    return f"The same up to superstep {steps}." if steps else "Different from the start."


def branches(session: Session) -> tuple[str, ...]:
    """Return the branches of a session's thread, main first."""
    return run_sync(session.driver.branches())
