"""The timeline of a thread: when what ran, any step to look at, and who changed what."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets

from nbgraph import words
from nbgraph.moments import Change, Moment
from nbgraph.notebook.as_test import AsTest
from nbgraph.notebook.display import static_bundle, unattended
from nbgraph.notebook.gantt import Gantt, person_words
from nbgraph.notebook.graph_view import GraphView
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.lean import Column, column, row, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.left import Stay
from nbgraph.notebook.painter import Painter
from nbgraph.notebook.parts import classed, spacer
from nbgraph.notebook.past import Past
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import slim
from nbgraph.notebook.strip import Strip
from nbgraph.replay import as_test
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot
from nbgraph.timetable import TaskRow, timetable

__all__ = ["PanelTimeline", "Timeline"]


class Timeline(ipywidgets.VBox):
    """Shows when what ran in a thread, and any of its steps: drawing, state and difference.

    Parameters
    ----------
    session : Session
        Whose branch is shown; the timeline follows it while it runs.

    Examples
    --------
    >>> timeline = Timeline(session)
    >>> timeline.step = 2
    >>> timeline.state["amount"]
    120.0
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        classed(self, "nbgraph")
        self._painter = Painter(self._draw)
        self._stay = Stay(
            super()._repr_mimebundle_,
            lambda: static_bundle(self.session),
            lambda: (self.session,),
            lambda: self._graph.has_focus or self._past.at is not None,
        )
        self._unwatch: Callable[[], object] = lambda: None
        self.branch: Session | None = None
        self._build(session)

    def _build(self, session: Session) -> None:
        self._unwatch()
        with self._painter.lock:
            self.session = session
            self._drawn: Snapshot | None = None
            self._graph = GraphView(session.driver.shape)
            self._gantt = Gantt(self._choose_step)
            lock = self._painter.lock
            self._past = Past(session, self._moved, self._forked, lock=lock)
            self._scale: Any = slim(ipywidgets.ToggleButtons)(
                options=("Compact", "Full"), _dom_classes=("nbgraph-choice",)
            )
            self._scale.observe(lambda _: self._moved(), names="index")
            self._people = text("", "nbgraph-2nd", "nbgraph-small", "nbgraph-people")
            chips = [_chip("thread", session.thread_id), _chip("branch", session.branch_id)]
            self._test = AsTest(lambda: session)
            parts = [
                text("Timeline", "nbgraph-h3"),
                *chips,
                spacer(),
                self._scale,
                self._test.switch,
            ]
            head = row(parts, "nbgraph-toolbar")
            side = column([self._graph], "nbgraph-side")
            main = column([self._gantt, Gantt.legend(), self._people], "nbgraph-main")
            body = row([side, main], "nbgraph-body")
            whole = [head, self._test, body, self._past]
            self.children = (column(whole, "nbgraph-panel", "nbgraph-timeline"),)
            self._painter.now()
        self._unwatch = session.watch(self._wanted)

    def _wanted(self, snapshot: Snapshot) -> None:
        if snapshot is not self._drawn:
            self._painter.want()

    # --- what it shows ------------------------------------------------------------------------

    def _draw(self) -> None:
        snapshot = self.session.snapshot
        if snapshot is self._drawn:
            return
        self._past.show()
        seen = self._past.seen or snapshot
        self._graph.show(seen.marks, words.lines(seen), seen.taken, heading=words.heading(seen))
        rows = timetable(self.session.history(), snapshot).rows
        chosen = self._selected
        self._gantt.show(rows, chosen, compact=self._scale.index == 0)
        set_text(self._people, _people(rows, chosen))
        set_hidden(self._people, hidden=not self._people.value)
        self._drawn = snapshot
        serve_while_busy(self)
        self._stay.drawn()

    @property
    def _selected(self) -> int | None:
        moment = self._past.moment
        if moment is None:
            return None
        return moment.number + 1 if moment.now else moment.number

    def _moved(self) -> None:
        self._drawn = None
        self._painter.now()

    def _choose_step(self, number: int) -> None:
        self._past.choose(_place(self._past.moments, number))

    def _forked(self, branch: Session) -> None:
        self.branch = branch
        self._build(branch)

    # --- what a person does -------------------------------------------------------------------

    @property
    def step(self) -> int:
        """Which step is looked at: a place in `steps`; the newest until one is chosen."""
        moment = self._past.moment
        return 0 if moment is None else self._past.moments.index(moment)

    @step.setter
    def step(self, at: int) -> None:
        self._past.choose(at + len(self._past.moments) if at < 0 else at)

    @property
    def steps(self) -> tuple[Moment, ...]:
        """The steps there are: the start, after each superstep, and now if one is unfinished."""
        self._painter.now()
        return self._past.moments

    @property
    def snapshot(self) -> Snapshot:
        """What there was to see at the chosen step."""
        return self._past.seen or self.session.snapshot

    @property
    def state(self) -> dict[str, Any]:
        """The state at the chosen step, as JSON."""
        return self.session.driver.folding.to_json(self.snapshot.state)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the chosen step changed, by path, with who wrote it and the reducer."""
        self._painter.now()
        moment = self._past.moment
        return () if moment is None else self._past.difference(moment)[2]

    def fork(self) -> Any:
        """Show the form of a fork from the chosen step, as the button does, and return it."""
        return self._past.open_fork()

    def as_test(self) -> str:
        """Return a cell that runs the thread again, and asserts where it ends.

        It needs the graph under the name `graph`. Its input, edits and answers are the thread's;
        secrets are covered, and have to be put in.
        """
        return as_test(self.session)

    def to_frame(self) -> Any:
        """Return a row for each task, as a pandas data frame.

        The columns are `step task node status began ended work waited tries asked by`.

        Raises
        ------
        IntegrationNotInstalledError
            If pandas is not installed.
        """
        return timetable(self.session.history(), self.session.snapshot).to_frame()

    def close(self) -> None:
        """Close the widget; the session goes on."""
        self._unwatch()
        self._painter.end()
        self._stay.gone()
        super().close()

    def __repr__(self) -> str:
        session = self.session
        return f"<Timeline of thread {session.thread_id!r}, branch {session.branch_id!r}>"

    def _ipython_display_(self, **_: Any) -> None:
        self._stay.show()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if unattended():
            return static_bundle(self.session)
        return super()._repr_mimebundle_(**options)


class PanelTimeline(Column):
    """The timeline of a panel: the strip, and below it the step that is looked at.

    Parameters
    ----------
    session : Session
        Whose branch.
    moved : function
        Called when another step is chosen: the drawing follows `seen`.
    forked : function
        Takes the session of a branch that a person started here.
    lock : RLock
        The panel's.
    trying : function
        Calls an action, and says what it refuses.
    """

    def __init__(
        self,
        session: Session,
        moved: Callable[[], object],
        forked: Callable[[Session], object],
        lock: threading.RLock,
        trying: Callable[[Callable[[], object]], object],
    ) -> None:
        self._session, self._looked, self._try = session, moved, trying
        self.past = Past(session, self._moved, forked, lock=lock, closable=True)
        self._strip = Strip(session.driver.shape, self._pressed)
        super().__init__([self._strip, self.past], "nbgraph-section", "nbgraph-timeline")
        self.show(session.snapshot)

    @property
    def seen(self) -> Snapshot | None:
        """What there was to see at the step that is looked at; None while none is."""
        return self.past.seen

    def show(self, snapshot: Snapshot) -> None:
        """Draw a snapshot's supersteps, and the step that is looked at."""
        self._show_strip(snapshot)
        if self.past.at is not None:
            self.past.show()

    def _show_strip(self, snapshot: Snapshot) -> None:
        moment = self.past.moment if self.past.at is not None else None
        self._strip.show(snapshot, None if moment is None else moment.number + moment.now)

    def tick(self) -> None:
        """Say how long tasks run and wait."""
        self._show_strip(self._session.snapshot)

    def _pressed(self, number: int) -> None:
        self._try(lambda: self._choose(number))

    def _choose(self, number: int) -> None:
        self.past.show()
        self.past.choose(_place(self.past.moments, number))

    def _moved(self) -> None:
        self.show(self._session.snapshot)
        self._looked()


def _place(steps: tuple[Moment, ...], number: int) -> int:
    """Return the place of the step that shows a superstep: after it, or now if it goes on."""
    found = (at for at, each in enumerate(steps) if each.number + each.now >= number)
    return next(found, len(steps) - 1)


def _chip(name: str, value: str) -> ipywidgets.Widget:
    return row([text(name, "nbgraph-2nd"), text(value, "nbgraph-mono")], "nbgraph-chip")


def _people(rows: tuple[TaskRow, ...], step: int | None) -> str:
    """Return what happened with people in a superstep: `confirm: asked 12:02:09, answered by …`."""
    return "   ".join(
        f"{row.task_id}: {', '.join(map(person_words, row.people))}"
        for row in rows
        if row.step == step and row.people
    )
