"""What stays of a widget when a person goes on: a page without a kernel has no widgets.

A cell's output says which widget it shows. Where that widget is gone, a front end shows an error in
its place, whatever else the output holds. So when a thread has ended in the widget and another cell
runs, what reads without a kernel is put in the widget's place; evaluated again, the widget is back.
While a thread goes on or waits, and where it had ended before it was shown, the widget stays: a
person looks at it. What stands beside it for other readers is kept up to date.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from IPython.core.getipython import get_ipython
from IPython.display import display

from nbgraph.notebook.display import in_kernel, unattended

__all__ = ["Standing", "Stay"]

Bundle = Mapping[str, Any]


class Ends(Protocol):
    """What is shown of something that may come to an end."""

    @property
    def running(self) -> bool:
        """Whether it goes on by itself."""
        ...

    @property
    def status(self) -> str:
        """Where it stands."""
        ...


class Standing(Protocol):
    """What a widget shows, as it stands: a session, or something like it."""

    @property
    def snapshot(self) -> Ends:
        """What there is to see of it; compared with what was drawn."""
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
    """

    def __init__(
        self,
        live: Callable[[], Bundle | None],
        still: Callable[[], Bundle],
        sessions: Callable[[], Sequence[Standing]],
    ) -> None:
        self._live, self._still, self._sessions = live, still, sessions
        self._fresh: list[Any] = []  # shown by the cell that runs
        self._handles: list[Any] = []
        self._drawn: Sequence[Ends] = ()
        self._first: Sequence[Ends] | None = None

    def begin(self) -> None:
        """Take note of how the threads stood before the widget did anything."""
        self._first = self._snapshots()

    def show(self) -> None:
        """Show the widget in the cell that runs.

        Raises
        ------
        NotImplementedError
            Where there is no live front end; IPython then asks for the bundle.
        """
        if not in_kernel() or unattended():
            raise NotImplementedError
        self._drawn, self._first = self._first or self._snapshots(), None
        handle = display({**(self._live() or {}), **self._still()}, raw=True, display_id=True)
        self._fresh.append(handle)
        _watch(get_ipython(), self)

    def ran(self) -> None:
        """Take note that a cell has run: the one that showed the widget, or a later one."""
        snapshots = self._snapshots()
        if self._handles and snapshots != self._drawn:
            self._leave(ended=all(map(_has_ended, snapshots)))
        self._handles += self._fresh
        self._fresh = []

    def gone(self) -> None:
        """Leave what reads without a kernel: the widget is closed."""
        self._handles += self._fresh
        self._fresh = []
        self._leave(ended=True)

    def _leave(self, *, ended: bool) -> None:
        self._drawn = self._snapshots()
        live = None if ended else self._live()
        left = {**(live or {}), **self._still()} if self._handles else {}
        for handle in self._handles:
            handle.update(left, raw=True)
        if ended:
            self._handles = []

    def _snapshots(self) -> Sequence[Ends]:
        return [session.snapshot for session in self._sessions()]


def _has_ended(snapshot: Ends) -> bool:
    return not snapshot.running and snapshot.status in ("completed", "failed")


_staying: weakref.WeakSet[Stay] = weakref.WeakSet()
_watched: list[Any] = []


def _watch(shell: Any, stay: Stay) -> None:
    _staying.add(stay)
    if shell not in _watched:
        _watched.append(shell)
        shell.events.register("post_run_cell", _ran)


def _ran(result: Any) -> None:
    """Take note that a cell has run; what is no cell of the notebook has no number."""
    if getattr(result, "execution_count", None):
        for each in list(_staying):
            each.ran()
