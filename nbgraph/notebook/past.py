"""The past of a branch: a slider over its steps, what stood there, and a fork from there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets

from nbgraph.core.events import Event
from nbgraph.core.loop import run_sync
from nbgraph.covering import call_secrets, covered
from nbgraph.errors import NbgraphError
from nbgraph.moments import Change, Moment, changes, moments, writers
from nbgraph.notebook.labels import set_text, visible
from nbgraph.notebook.lean import button, column, row, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.parts import classed, spacer
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import slim
from nbgraph.notebook.state_form import StateForm
from nbgraph.notebook.state_view import Tree, counted, difference_rows
from nbgraph.notebook.value_view import own_view
from nbgraph.prefix import seen
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot

__all__ = ["Past"]

_BEFORE = "the step before"
_MODES = ("Diff", "Before", "After")


class Past(ipywidgets.VBox):
    """A slider over the steps of a session's branch, and the state at the chosen one.

    Parameters
    ----------
    session : Session
        Whose branch.
    moved : function
        Called when another step is chosen.
    forked : function
        Takes the session of a branch that a person started here.
    lock : RLock
        Held while it draws.
    closable : bool
        Whether it stands there only while a step is looked at.

    Attributes
    ----------
    moments : tuple of Moment
        The steps there are, oldest first.
    """

    def __init__(
        self,
        session: Session,
        moved: Callable[[], object],
        forked: Callable[[Session], object],
        *,
        lock: threading.RLock,
        closable: bool = False,
    ) -> None:
        self._session, self._moved, self._forked = session, moved, forked
        self._lock, self._closable = lock, closable
        self._events: Sequence[Event] = ()
        self.moments: tuple[Moment, ...] = ()
        self._at: int | None = None
        self._seen: dict[tuple[str, int], Snapshot] = {}
        self._drawn: object = None
        self._form: StateForm | None = None
        self._parts = (self._slide(), self._section())
        super().__init__(() if closable else self._parts)
        classed(self, "nbgraph-past")

    def _slide(self) -> ipywidgets.Widget:
        self._slider = ipywidgets.IntSlider(min=0, max=1, readout=False, continuous_update=False)
        self._slider.observe(self._slid, names="value")
        self._where = text("", "nbgraph-strong")
        back = _arrow("left", lambda: self._go(-1), "Step back")
        on = _arrow("right", lambda: self._go(1), "Step on")
        parts: list[ipywidgets.Widget] = [back, self._slider, on, self._where]
        if self._closable:
            back_to_now = button(
                "Back to now", lambda: self.choose(None), "quiet", "nbgraph-to-now"
            )
            parts.append(back_to_now)
        return row(parts, "nbgraph-slider")

    def _section(self) -> ipywidgets.Widget:
        self._title, self._count = text("", "nbgraph-h3"), text("", "nbgraph-2nd", "nbgraph-small")
        self._mode: Any = classed(slim(ipywidgets.ToggleButtons)(options=_MODES), "nbgraph-choice")
        self._mode.observe(lambda _: self._again(), names="index")
        self._other: Any = slim(ipywidgets.Dropdown)(options=(_BEFORE,), tooltip="Compared with")
        classed(self._other, "nbgraph-branch", "nbgraph-with")
        self._other.observe(lambda _: self._again(), names="value")
        self._fork = button(
            "Fork here", self.open_fork, "nbgraph-fork-here", "quiet", icon="code-fork"
        )
        head = row(
            [
                self._title,
                self._count,
                spacer(),
                text("compared with", "nbgraph-2nd", "nbgraph-small"),
                self._other,
                self._mode,
                self._fork,
            ],
            "nbgraph-row",
        )
        self._body = column([], "nbgraph-diff")
        self._forking = column([], "nbgraph-forking")
        self._why = text("", "nbgraph-why")
        set_hidden(self._why, hidden=True)
        return column([head, self._why, self._forking, self._body], "nbgraph-section")

    # --- where it stands ----------------------------------------------------------------------

    @property
    def at(self) -> int | None:
        """Which of `moments` is looked at; None for the newest."""
        return self._at

    @property
    def moment(self) -> Moment | None:
        """The step that is looked at; None before there is one."""
        if not self.moments:
            return None
        return self.moments[-1 if self._at is None else min(self._at, len(self.moments) - 1)]

    @property
    def seen(self) -> Snapshot | None:
        """What there was to see at the chosen step; None while none is chosen."""
        moment = self.moment
        return None if self._at is None or moment is None else self._snapshot(moment)

    def choose(self, at: int | None) -> None:
        """Look at a step, by its place in `moments`; None goes back to the newest."""
        with self._lock:
            self.show()
            last = len(self.moments) - 1
            self._at = None if at is None or last < 0 else max(0, min(at, last))
            if self._closable:
                self.children = () if self._at is None else self._parts
            elif self._at == last:
                self._at = None
            self._end_fork()
            self.show()
        self._moved()

    def _go(self, by: int) -> None:
        here = len(self.moments) - 1 if self._at is None else self._at
        self.choose(here + by)

    def _slid(self, change: Mapping[str, Any]) -> None:
        moment = self.moment
        if moment is not None and self.moments.index(moment) != change["new"]:
            self.choose(change["new"])

    # --- what it shows ------------------------------------------------------------------------

    def show(self) -> None:
        """Take up what happened, and draw the chosen step."""
        with self._lock:
            if self._session.snapshot.position.sequence != len(self._events):
                self._events = self._session.history()
                self.moments = moments(self._events)
            moment = self.moment
            if moment is not None:
                self._show_slider(moment)
                self._show_state(moment)

    def _show_slider(self, moment: Moment) -> None:
        last = len(self.moments) - 1
        slider: Any = self._slider
        with slider.hold_trait_notifications():
            slider.max, slider.value = max(last, 1), self.moments.index(moment)
        set_text(
            self._where, f"{moment.name} of {self.moments[-1].number}" if not moment.now else "now"
        )
        options = [_BEFORE, *(each.name for each in self.moments), *self._branches()]
        shown = [(visible(each), each) for each in options]
        if [each for _, each in self._other.options[1:]] != options[1:]:
            chosen = self._other.value
            self._other.options = shown
            self._other.value = chosen if chosen in options else _BEFORE

    def _branches(self) -> list[str]:
        found = run_sync(self._session.driver.branches())
        return [f"branch {name}" for name in found if name != self._session.branch_id]

    def _again(self) -> None:
        with self._lock:
            self._drawn = None
            self.show()

    def _show_state(self, moment: Moment) -> None:
        wanted = moment, self._other.value, self._mode.index
        if wanted == self._drawn:
            return
        self._drawn = wanted
        name, before, found, same = self.difference(moment)
        after = self._snapshot(moment)
        set_text(self._title, f"State: {name} → {moment.name}")
        set_text(self._count, counted(found, same))
        gone = self._body.children
        folding = self._session.driver.folding
        if self._mode.index == 0:
            self._body.children = tuple(difference_rows(found, before.state, after.state))
        else:
            side = before if self._mode.index == 1 else after
            shown = covered(folding.to_json(side.state), call_secrets(self._events))
            self._body.children = (Tree(shown, side.state),)
        for each in gone:
            each.close()
        serve_while_busy(self)

    def difference(self, moment: Moment) -> tuple[str, Snapshot, tuple[Change, ...], int]:
        """Return what a step is compared with: its name, what stood there, and how they differ."""
        folding = self._session.driver.folding
        name, before, after = self._compared(moment)
        wrote = {} if after is None else writers(self._events, after, moment.sequence, folding)
        secrets, sides = call_secrets(self._events), (before, self._snapshot(moment))
        first, second = (covered(folding.to_json(each.state), secrets) for each in sides)
        return name, before, *changes(first, second, wrote)

    def _compared(self, moment: Moment) -> tuple[str, Snapshot, int | None]:
        """Return what stands on the other side, and its event if the chosen step follows it."""
        chosen: str = self._other.value or _BEFORE
        if chosen.startswith("branch "):
            driver = self._session.driver.on(chosen.removeprefix("branch "))
            last = len(run_sync(driver.events()))
            return chosen, run_sync(seen(driver, last)), None
        if chosen == _BEFORE:
            place = self.moments.index(moment) - 1
            other = self.moments[place] if place >= 0 else Moment(0, 0)
            name = other.name if place >= 0 else "nothing"
        else:
            other = next(each for each in self.moments if each.name == chosen)
            name = other.name
        follows = other.sequence <= moment.sequence
        return name, self._snapshot(other), other.sequence if follows else None

    def _snapshot(self, moment: Moment) -> Snapshot:
        place = self._session.branch_id, moment.sequence
        if place not in self._seen:
            while len(self._seen) > 8:
                self._seen.pop(next(iter(self._seen)))
            self._seen[place] = self._session.at(moment.sequence)
        return self._seen[place]

    # --- fork from here -----------------------------------------------------------------------

    def open_fork(self) -> StateForm | None:
        """Show the form in which the state is edited that a branch from here starts with."""
        moment = self.moment
        if moment is None:
            return None
        with self._lock:
            self._end_fork()
            state = self._editable(moment)
            self._form = StateForm(
                self._session, lambda update: self._start(moment, update), _fork_words, state=state
            )
            said = text(
                f"A branch from {moment.name}. What you change here is its first edit; the thread "
                "it comes from stays.",
                "nbgraph-note",
            )
            cancel = button("Cancel", self._cancel, "quiet")
            self._forking.children = (said, self._form, row([cancel]))
            serve_while_busy(self._forking)
        return self._form

    def _editable(self, moment: Moment) -> dict[str, Any]:
        """Return the state at a step as JSON, without what no form can write."""
        values = self._snapshot(moment).state
        written = self._session.driver.folding.to_json(values)
        return {name: each for name, each in written.items() if own_view(values.get(name)) is None}

    def _cancel(self) -> None:
        with self._lock:
            self._end_fork()

    def _end_fork(self) -> None:
        gone, self._forking.children = self._forking.children, ()
        for each in gone:
            each.close()
        self._form = None
        self._say("")

    def _start(self, moment: Moment, update: Mapping[str, Any]) -> None:
        try:
            branch = self._session.fork(at=moment.sequence, update=update or None)
        except NbgraphError as error:
            self._say(str(error))
            if self._form is not None:
                self._form.form.enable()
            return
        with self._lock:
            self._end_fork()
        self._forked(branch)

    def _say(self, sentence: str) -> None:
        set_text(self._why, sentence)
        set_hidden(self._why, hidden=not sentence)


def _fork_words(count: int) -> str:
    return f"Fork with {count} change{'' if count == 1 else 's'}" if count else "Fork"


def _arrow(to: str, pressed: Callable[[], object], tooltip: str) -> ipywidgets.Button:
    return button("", pressed, "only", "quiet", icon=f"chevron-{to}", tooltip=tooltip)
