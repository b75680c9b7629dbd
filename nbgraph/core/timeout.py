"""How long a node may run, and for how long it may be silent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from nbgraph.core.quick_dataclass import dataclass
from nbgraph.errors import NodeTimeoutError

__all__ = ["Timeout", "checked_timeout", "in_time"]


@dataclass(frozen=True, slots=True)
class Timeout:
    """How long one run of a node may take.

    Parameters
    ----------
    run : float, optional
        Seconds in all.
    idle : float, optional
        Seconds between two signs of life: `ctx.emit`, `ctx.emit_token`, a result of `ctx.once`, or
        `ctx.heartbeat()`.

    Raises
    ------
    TypeError
        If neither is given, or one is no number above 0.
    """

    run: float | None = None
    idle: float | None = None

    def __post_init__(self) -> None:
        if self.run is None and self.idle is None:
            raise TypeError("Timeout takes run= or idle=, in seconds, or both")
        for name, seconds in (("run", self.run), ("idle", self.idle)):
            if seconds is not None and not _is_time(seconds):
                raise TypeError(f"{name} is a number of seconds above 0, got {seconds!r}")


def _is_time(seconds: Any) -> bool:
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return number and seconds > 0


def checked_timeout(given: Any) -> float | Timeout | None:
    """Return what `@node(timeout=...)` was given, if it is a time.

    Raises
    ------
    TypeError
        If it is no number of seconds above 0, and no `Timeout`.
    """
    if given is None or isinstance(given, Timeout) or _is_time(given):
        return given
    raise TypeError(f"timeout is a number of seconds above 0, or a Timeout, got {given!r}")


@asynccontextmanager
async def in_time(name: str, limit: float | Timeout) -> AsyncGenerator[Callable[[], None]]:
    """Hold a block to a node's time; gives what to call at each sign of life, from any thread.

    Raises
    ------
    NodeTimeoutError
        If it takes too long, or is silent for too long.
    """
    limits = limit if isinstance(limit, Timeout) else Timeout(limit)
    run, idle = asyncio.timeout(limits.run), asyncio.timeout(limits.idle)
    try:
        async with run, idle:
            yield _refreshing(idle, limits.idle)
    except TimeoutError:
        for scope, seconds in ((run, limits.run), (idle, limits.idle)):
            if scope.expired() and seconds is not None:
                raise NodeTimeoutError(name, seconds, idle=scope is idle) from None
        raise


def _refreshing(scope: asyncio.Timeout, seconds: float | None) -> Callable[[], None]:
    """Return what gives a silent node its time anew."""
    loop = asyncio.get_running_loop()

    def refresh() -> None:
        if seconds is not None:
            with suppress(RuntimeError):  # the block has ended
                scope.reschedule(loop.time() + seconds)

    def refreshed() -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(refresh)

    return refreshed
