"""Tell somebody, in a thread of its own, that a store was written to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

__all__ = ["watch_changes"]


def watch_changes(
    changes: Callable[[threading.Event], Iterator[None]], callback: Callable[[], None]
) -> Callable[[], None]:
    """Call `callback` for all changes but the first, and return what ends that.

    `changes` takes the event that stops it, and yields once when it has begun.
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

    watcher = threading.Thread(target=look, name="nbgraph store watcher", daemon=True)
    watcher.start()
    begun.wait()

    def end() -> None:
        stop.set()
        if threading.current_thread() is not watcher:
            watcher.join()

    return end
