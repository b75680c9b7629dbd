"""Who holds the loop: an async node that computes or sleeps without awaiting stops all others."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

__all__ = ["LIMIT", "named", "watched"]

LIMIT = 0.5
"""Seconds after which who holds the loop is named."""

_BETWEEN = 0.25
_PREFIX = "nbgraph node "


@functools.lru_cache(maxsize=1024)
def named(node: str) -> str:
    """Return the name of the asyncio task that runs a node."""
    return _PREFIX + node


@contextmanager
def watched(
    loop: asyncio.AbstractEventLoop, held: Callable[[str, float | None], object]
) -> Generator[None]:
    """Watch a loop from a thread of its own.

    `held` is called there with the node that has held the loop for `LIMIT` seconds and None, and
    with the seconds it took once it has let go.
    """
    over = threading.Event()
    arguments = (loop, held, over)
    threading.Thread(target=_watch, args=arguments, name="nbgraph-watch", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _watch(
    loop: asyncio.AbstractEventLoop,
    held: Callable[[str, float | None], object],
    over: threading.Event,
) -> None:
    while not over.wait(_BETWEEN):
        beat, since = threading.Event(), time.monotonic()
        try:
            loop.call_soon_threadsafe(beat.set)
        except RuntimeError:  # the loop is closed
            return
        if beat.wait(LIMIT):
            continue
        name = _holder(loop)
        if name is None:
            continue
        held(name, None)
        beat.wait()
        held(name, time.monotonic() - since)


def _holder(loop: asyncio.AbstractEventLoop) -> str | None:
    """Return the node whose task is running, or else what its coroutine is called."""
    task = asyncio.current_task(loop)
    if task is None:
        return None
    name = task.get_name()
    if name.startswith(_PREFIX):
        return name.removeprefix(_PREFIX)
    return getattr(task.get_coro(), "__qualname__", name)
