"""Draws soon, not too often, and away from the loop thread."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable

from nbgraph.core.loop import call_soon, on_loop_thread
from nbgraph.core.workers import call_in_worker

__all__ = ["Painter", "every"]

_PAUSE = 1 / 7


class Painter:
    """Coalesces wishes to draw: what is wanted while it draws is drawn once, next.

    Parameters
    ----------
    draw : function
        Draws what there is to see at that moment; never called twice at once.
    pause : function, optional
        Returns the seconds to rest after a drawing. The server drops messages that come in a
        burst, so what sends many rests long. A hurried wish cuts a long rest short.
    before : function, optional
        Returns the seconds to wait before a drawing, which a hurried wish cuts short too: what is
        over by then is never drawn.
    lock : RLock, optional
        Held while it draws; several painters of the same widgets share one.

    Attributes
    ----------
    lock : RLock
        Whoever changes what is drawn on holds it too.
    """

    def __init__(
        self,
        draw: Callable[[], None],
        pause: Callable[[], float] = lambda: _PAUSE,
        *,
        before: Callable[[], float] = lambda: 0.0,
        lock: threading.RLock | None = None,
    ) -> None:
        self._draw = draw
        self._pause, self._before = pause, before
        self._wanted = self._ended = False
        self._hurry: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None
        self.lock = lock or threading.RLock()

    def want(self, *, hurry: bool = False) -> None:
        """Have it drawn soon; from any thread."""
        if self._wanted and not hurry:
            return
        if on_loop_thread():
            self._want(hurry)
        else:
            call_soon(self._want, hurry)

    def _want(self, hurry: bool) -> None:
        self._wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._keep_up())
        elif hurry and self._hurry is not None:
            self._hurry.set()

    def now(self) -> None:
        """Draw before returning, on this thread."""
        with self.lock:
            if not self._ended:
                self._draw()

    def end(self) -> None:
        """Draw nothing any more; what is being drawn is finished before this returns."""
        with self.lock:
            self._ended = True

    async def _keep_up(self) -> None:
        while self._wanted:
            await self._rest(self._before())
            self._wanted = False
            await call_in_worker(self.now)
            await asyncio.sleep(_PAUSE)
            await self._rest(self._pause() - _PAUSE)

    async def _rest(self, seconds: float) -> None:
        if seconds <= 0:
            return
        self._hurry = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
        except TimeoutError:
            pass
        finally:
            self._hurry = None


def every(seconds: float, method: Callable[[], bool]) -> None:
    """Call a method in a worker every so often, until it returns False or its object is gone."""
    call_soon(_repeat, seconds, weakref.WeakMethod(method))


def _repeat(seconds: float, reference: weakref.WeakMethod[Callable[[], bool]]) -> None:
    async def once() -> None:
        method = reference()
        if method is not None and await call_in_worker(method):
            del method
            loop.call_later(seconds, _repeat, seconds, reference)

    loop = asyncio.get_running_loop()
    task = loop.create_task(once())
    _repeating.add(task)
    task.add_done_callback(_repeating.discard)


_repeating: set[asyncio.Task[None]] = set()
