"""An engine's sync stream, iterated in a worker thread and read on a loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Generic, TypeVar

from nbgraph.core.workers import call_in_worker

__all__ = ["pumped"]

_PAUSE = 0.02
"""Seconds between two looks while parts keep coming: waking a loop costs more than a part."""

T = TypeVar("T")


async def pumped(begin: Callable[[], Iterable[T]]) -> AsyncGenerator[T, None]:
    """Iterate in a worker thread, and yield on the loop. Closed early, it waits for the thread."""
    pump = _Pump(begin)
    job = asyncio.create_task(call_in_worker(pump.iterate))
    try:
        while not pump.over:
            for part in await pump.taken():
                yield part
    finally:
        await asyncio.shield(job)
    if pump.error is not None:
        raise pump.error


class _Pump(Generic[T]):
    """Parts on their way from the thread to the loop, which is woken once for many."""

    def __init__(self, begin: Callable[[], Iterable[T]]) -> None:
        self.over = False
        self.error: BaseException | None = None
        self._begin = begin
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._parts: list[T] = []
        self._ended = False
        self._awake = False
        self._arrived = asyncio.Event()

    def iterate(self) -> None:
        """Take all parts; called in the thread."""
        try:
            for part in self._begin():
                with self._lock:
                    self._parts.append(part)
                    wake, self._awake = not self._awake, True
                if wake:
                    self._loop.call_soon_threadsafe(self._arrived.set)
        except BaseException as error:  # noqa: BLE001 - it is raised where the parts are read
            self.error = error
        self._ended = True
        self._loop.call_soon_threadsafe(self._arrived.set)

    async def taken(self) -> list[T]:
        """Return the parts that are there, once there is one or the end."""
        await self._arrived.wait()
        with self._lock:
            self.over = self._ended
            parts, self._parts = self._parts, []
            if not parts and not self.over:
                self._awake = False
        self._arrived.clear()
        if not self.over and self._awake:
            self._loop.call_later(_PAUSE, self._arrived.set)
        return parts
