"""A decision that was made on the page is sent a little later, and can be taken back until then."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import ipywidgets

from nbgraph.core.loop import submit
from nbgraph.core.workers import call_in_worker
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.lean import Row, button, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.parts import mark
from nbgraph.notebook.routing import serve_while_busy

__all__ = ["TakeBack"]

Act = Callable[[], object]


class TakeBack:
    """What stands below the cards while a decision waits to be sent.

    Parameters
    ----------
    classes : str
        More CSS classes of the box.

    Attributes
    ----------
    box : widget
        What stands on the page; nothing while no decision waits.
    """

    def __init__(self, *classes: str) -> None:
        self._said: ipywidgets.Label | None = None
        self.box = Row((), "nbgraph-banner", "nbgraph-holding", *classes, hidden=True)
        self._waits: tuple[Act, Act] | None = None
        self._lock = threading.Lock()

    @property
    def is_waiting(self) -> bool:
        """Whether a decision waits to be sent."""
        return self._waits is not None

    def hold(self, what: str, seconds: float, send: Act, back: Act) -> None:
        """Send in so many seconds, in a worker, unless it is taken back.

        A decision that waits already is sent first.
        """
        self.now()
        self._waits = waits = send, back
        self._show(f"{what}. It is sent in {seconds:g} s.")
        submit(self._later(seconds, waits))

    def _show(self, sentence: str) -> None:
        if self._said is None:
            self._said = text("", "nbgraph-text")
            back = button("Take it back", self.back, "nbgraph-take-back")
            now = button("Send now", self.now, "nbgraph-send-now", "quiet")
            self.box.children = (mark("waiting"), self._said, back, now)
            serve_while_busy(self.box)
        set_text(self._said, sentence)
        set_hidden(self.box, hidden=False)

    async def _later(self, seconds: float, waits: tuple[Act, Act]) -> None:
        await self._over(seconds)
        await call_in_worker(lambda: self._end(waits, 0))

    @staticmethod
    async def _over(seconds: float) -> None:
        await asyncio.sleep(seconds)

    def now(self) -> None:
        """Send what waits."""
        self._end(self._waits, 0)

    def back(self) -> None:
        """Take back what waits: nothing is sent."""
        self._end(self._waits, 1)

    def _end(self, waits: tuple[Act, Act] | None, which: int) -> None:
        """Send or take back a decision that waits, once."""
        with self._lock:
            if waits is None or waits is not self._waits:
                return
            self._waits = None
        set_hidden(self.box, hidden=True)
        waits[which]()
