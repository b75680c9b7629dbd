"""Hears what a run's nodes print and log, and who holds the loop, for as long as it goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Literal

from nbgraph.core.blocking import watched
from nbgraph.core.live import TaskEmitted
from nbgraph.core.loop import call_soon
from nbgraph.core.prints import listening

__all__ = ["Held", "heard"]

Held = Callable[[str | None], object]
"""Takes the node that holds the loop, from another thread; None when it has let go."""


@contextmanager
def heard(show: Callable[[TaskEmitted], object], held: Held | None) -> Generator[None]:
    """Have the prints and log records of this context shown; without `held` nothing is heard."""
    if held is None:
        yield
        return

    def say(kind: Literal["print", "log"], data: Any) -> None:
        call_soon(show, TaskEmitted("", "", kind, data, time.time()))

    def holds(node: str, seconds: float | None) -> None:
        held(node if seconds is None else None)
        if seconds is not None:
            call_soon(show, TaskEmitted(node, node, "held", seconds, time.time()))

    with listening(say), watched(asyncio.get_running_loop(), holds):
        yield
