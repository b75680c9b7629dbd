"""What stays of a widget when a person goes on: a page without a kernel has no widgets.

A widget stands in one output, and what reads without a kernel in the next one, which the style
sheet hides for as long as the widget is on the page. So that one is kept up to date beside a person
who works in the widget, whose focus, text and place stay where they are: an output that is written
again is drawn again.

Where a widget is gone, a front end shows an error in its place, which a style that is kept with the
rest hides in JupyterLab. For other front ends the widget's output is emptied, once:
when it is closed, or when its thread has finished in it, another cell has run and nobody works in
it. Evaluated again, the widget is back.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, Protocol

from IPython.core.getipython import get_ipython
from IPython.display import display

from nbgraph.notebook.display import in_kernel, unattended

__all__ = ["Seen", "Standing", "Stay"]

Bundle = Mapping[str, Any]

_NOTHING: Bundle = {"text/html": "", "text/plain": ""}
_NO_ERROR = (
    "<style>.jp-OutputArea:has(.nbgraph-still) > .jp-OutputArea-child > "
    ".jp-OutputArea-output.jupyter-widgets:not(:has(*)) { display: none }</style>"
)
"""Hides what JupyterLab says in place of a widget that is gone; our style sheet is gone with it."""


class Seen(Protocol):
    """What a widget shows at a moment; another object once it shows something else."""

    @property
    def running(self) -> bool:
        """Whether it goes on by itself."""
        ...

    @property
    def status(self) -> str:
        """Where it stands."""
        ...

    @property
    def pending(self) -> Sized:
        """What waits for a person."""
        ...


class Standing(Protocol):
    """What a widget shows: a session, or something like it."""

    @property
    def snapshot(self) -> Seen:
        """What there is to see of it."""
        ...


class Stay:
    """Shows a widget in a cell, and leaves its static bundle there.

    Parameters
    ----------
    live : function
        Returns the widget's own bundle.
    still : function
        Returns what reads without a kernel.
    sessions : function
        Returns the sessions that the widget shows, or what is like one.
    engaged : function
        Returns whether somebody works in the widget.
    """

    def __init__(
        self,
        live: Callable[[], Bundle | None],
        still: Callable[[], Bundle],
        sessions: Callable[[], Sequence[Standing]],
        engaged: Callable[[], bool],
    ) -> None:
        self._live, self._still = live, still
        self._sessions, self._engaged = sessions, engaged
        self._fresh: list[_Place] = []  # shown by the cell that runs
        self._places: list[_Place] = []
        self._begun: Sequence[Seen] = ()
        self._lock = threading.RLock()  # a cell ends beside a worker that draws

    def begin(self) -> None:
        """Take note of how the threads stood before the widget did anything."""
        self._begun = self._snapshots()

    def show(self) -> None:
        """Show the widget in the cell that runs.

        Raises
        ------
        NotImplementedError
            Where there is no live front end; IPython then asks for the bundle.
        """
        if not in_kernel() or unattended():
            raise NotImplementedError
        with self._lock:
            self._begun = self._begun or self._snapshots()
            self._fresh.append(_Place(self._live() or {}))
        _watch(get_ipython(), self)

    def drawn(self) -> None:
        """Take note that the widget shows something else: where a thread rests, that is kept."""
        with self._lock:
            snapshots = self._snapshots()
            if all(map(_rests, snapshots)):
                self._keep(self._places, snapshots)

    def ran(self) -> None:
        """Take note that a cell has run: the one that showed the widget, or a later one."""
        with self._lock:
            earlier, self._places = self._places, [*self._places, *self._fresh]
            self._fresh = []
            snapshots = self._snapshots()  # one that ends now is left by the next cell
            self._keep(self._places, snapshots)
            if self._has_ended(snapshots) and not self._engaged():
                self._leave(earlier)

    def gone(self) -> None:
        """Leave what reads without a kernel: the widget is closed."""
        with self._lock:
            places = [*self._places, *self._fresh]
            self._keep(places, self._snapshots())
            self._leave(places)

    def _keep(self, places: Sequence[_Place], snapshots: Sequence[Seen]) -> None:
        behind = [place for place in places if not _same(place.kept, snapshots)]
        if behind:
            bundle = self._still()
            for place in behind:
                place.keep(bundle, snapshots)

    def _leave(self, places: Sequence[_Place]) -> None:
        for place in places:
            place.leave()
        self._places = [place for place in self._places if place not in places]

    def _has_ended(self, snapshots: Sequence[Seen]) -> bool:
        return not _same(self._begun, snapshots) and all(map(_has_ended, snapshots))

    def _snapshots(self) -> Sequence[Seen]:
        return [session.snapshot for session in self._sessions()]


class _Place:
    """Two outputs of a cell: the widget, and below it what reads without a kernel."""

    def __init__(self, live: Bundle) -> None:
        self._live: Any = display({**live, "text/plain": ""}, raw=True, display_id=True)
        self._still: Any = display(_NOTHING, raw=True, display_id=True)
        self.kept: Sequence[Seen] = ()

    def keep(self, bundle: Bundle, snapshots: Sequence[Seen]) -> None:
        """Have this read without a kernel; the widget is not touched."""
        self.kept = snapshots
        marked = f'<div class="nbgraph-still">{bundle["text/html"]}</div>{_NO_ERROR}'
        self._still.update({**bundle, "text/html": marked}, raw=True)

    def leave(self) -> None:
        """Take the widget away, so that what is below it is seen."""
        self._live.update(_NOTHING, raw=True)


def _same(these: Sequence[Seen], those: Sequence[Seen]) -> bool:
    return [*map(id, these)] == [*map(id, those)]


def _rests(snapshot: Seen) -> bool:
    """Return whether a thread goes on by a person only, or not at all."""
    return not snapshot.running and (
        snapshot.status in ("completed", "failed") or bool(snapshot.pending)
    )


def _has_ended(snapshot: Seen) -> bool:
    return snapshot.status == "completed"


_staying: weakref.WeakSet[Stay] = weakref.WeakSet()
_watched: list[Any] = []


def _watch(shell: Any, stay: Stay) -> None:
    _staying.add(stay)
    if shell not in _watched:
        _watched.append(shell)
        shell.events.register("post_run_cell", _ran)


def _ran(result: Any) -> None:
    """Take note that a cell has run; what is no cell of the notebook leaves no history."""
    info = getattr(result, "info", None)
    if getattr(info, "store_history", False) and not getattr(info, "silent", False):
        for each in list(_staying):
            each.ran()
