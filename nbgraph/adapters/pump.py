"""What an engine says while it runs, wherever it runs, read on a loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

__all__ = ["EngineExit", "pumped"]

_PAUSE = 0.02
"""Seconds between two looks while parts keep coming: waking a loop costs more than a part."""

T = TypeVar("T")


async def pumped(
    run: Callable[[Callable[[T], None]], Awaitable[None]],
) -> AsyncGenerator[list[T], None]:
    """Run something that is given where to put its parts, from any thread, and yield them.

    Closed early, it waits for the end of what runs.

    Raises
    ------
    EngineExit
        If it ended with what is no `Exception`: on a loop, that would end the loop.
    """
    pump: _Pump[T] = _Pump()
    job = asyncio.ensure_future(_ended(run, pump))
    try:
        while not pump.over:
            parts = await pump.taken()
            if parts:
                yield parts
    finally:
        await asyncio.wait([job])
    error = job.result()
    if isinstance(error, Exception):
        raise error
    if error is not None:
        raise EngineExit(error)


async def _ended(
    run: Callable[[Callable[[T], None]], Awaitable[None]], pump: _Pump[T]
) -> BaseException | None:
    """Return what a run ended with."""
    try:
        await run(pump.put)
    except BaseException as error:  # noqa: BLE001 - it is raised where the parts are read
        return error
    finally:
        pump.end()
    return None


class EngineExit(Exception):
    """A node asked to leave the process, or was interrupted: `cause` is what it raised."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(repr(cause))
        self.cause = cause


class _Pump(Generic[T]):
    """Parts on their way to the loop, which is woken once for many."""

    def __init__(self) -> None:
        self.over = False
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._parts: list[T] = []
        self._ended = False
        self._awake = False
        self._arrived = asyncio.Event()

    def put(self, part: T) -> None:
        """Send a part on its way; called from any thread."""
        with self._lock:
            self._parts.append(part)
            wake, self._awake = not self._awake, True
        if wake:
            self._loop.call_soon_threadsafe(self._arrived.set)

    def end(self) -> None:
        """Take up that no more parts will come."""
        self._ended = True
        self._arrived.set()

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
