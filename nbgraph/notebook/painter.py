"""Draws at most 30 times a second, and away from the loop thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from nbgraph.core.loop import call_soon
from nbgraph.core.workers import call_in_worker

__all__ = ["Painter"]

_PAUSE = 1 / 30
"""Seconds between two drawings: the server drops messages that come in a burst."""


class Painter:
    """Coalesces wishes to draw: what is wanted while it draws is drawn once, next.

    Parameters
    ----------
    draw : function
        Draws what there is to see at that moment; never called twice at once.
    """

    def __init__(self, draw: Callable[[], None]) -> None:
        self._draw = draw
        self._wanted = False
        self._task: asyncio.Task[None] | None = None
        self._lock = threading.RLock()

    def want(self) -> None:
        """Have it drawn soon; from any thread."""
        call_soon(self._want)

    def _want(self) -> None:
        self._wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._keep_up())

    def now(self) -> None:
        """Draw before returning, on this thread."""
        with self._lock:
            self._draw()

    async def _keep_up(self) -> None:
        while self._wanted:
            self._wanted = False
            await call_in_worker(self.now)
            await asyncio.sleep(_PAUSE)
