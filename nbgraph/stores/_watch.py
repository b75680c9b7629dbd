"""Tell somebody, in a thread of its own, that a store was written to."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable, Iterator

__all__ = ["watch_changes"]


def watch_changes(
    changes: Callable[[threading.Event], Iterator[None]],
    callback: Callable[[], None],
    wake: Callable[[], None] = lambda: None,
) -> Callable[[], None]:
    """Call `callback` for all changes but the first, and return what ends that.

    `changes` takes the event that stops it, and yields once when it has begun; `wake` has it look
    at that event at once.
    """
    stop, begun = threading.Event(), threading.Event()

    def look() -> None:
        try:
            for _ in changes(stop):
                if begun.is_set() and not stop.is_set():
                    callback()
                begun.set()
        finally:
            begun.set()

    def end() -> None:
        stop.set()
        wake()
        if threading.current_thread() is not watcher:
            watcher.join()

    watcher = threading.Thread(target=look, name="nbgraph store watcher", daemon=True)
    watcher.start()
    begun.wait()
    _ends[watcher] = stop, wake
    return end


_LAST_LOOK = 1.0
"""Seconds that watchers have to end in, when Python ends."""

_ends: weakref.WeakKeyDictionary[threading.Thread, tuple[threading.Event, Callable[[], None]]] = (
    weakref.WeakKeyDictionary()
)


@atexit.register
def _stand_still() -> None:
    """End all watchers: what runs while the interpreter is taken apart can crash the process."""
    watchers = list(_ends.items())
    for _, (stop, wake) in watchers:
        stop.set()
        wake()
    over = time.monotonic() + _LAST_LOOK
    for watcher, _ in watchers:
        watcher.join(max(0.0, over - time.monotonic()))
