"""What a store asks of its database: short transactions, and to be told when it is busy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from nbgraph.errors import StoreBusyError
from nbgraph.stores._sql_rows import Cursor

__all__ = ["Busy", "Database", "patiently"]

_Result = TypeVar("_Result")


class Busy(Exception):
    """Somebody else writes at this moment: try again."""


class Database(Protocol):
    """Runs transactions. Safe to use from several threads."""

    @property
    def quick(self) -> bool:
        """Whether a transaction is short enough to run on an event loop."""
        ...

    def written(self, cursor: Cursor) -> tuple[int, int] | None:
        """Return two numbers, inside a transaction; None where nothing tells.

        What others write changes the first, and what is written here the second.
        """
        ...

    def attempt(self, work: Callable[[Cursor], _Result], *, writes: bool) -> _Result:
        """Do `work` in one transaction, here and at once.

        Raises
        ------
        Busy
            If somebody else writes at this moment.
        StateStoreError
            If the database is closed or cannot be used; nothing of the work was kept.
        """
        ...

    def patiently(self, work: Callable[[], _Result]) -> _Result:
        """Call `work` again while it finds the database busy. Blocks.

        Raises
        ------
        StoreBusyError
            If it did so all the time.
        """
        ...

    def compact(self) -> None:
        """Give space that is not used back to the system. Blocks.

        Raises
        ------
        Busy
            If somebody else uses the database.
        """
        ...

    def changes(self, stop: threading.Event, every: float) -> Iterator[None]:
        """Yield once when watching has begun, and then whenever somebody wrote. Blocks.

        Looks whether to stop every `every` seconds.
        """
        ...

    def close(self) -> None:
        """Let go of what is open; a second time is no error."""
        ...


def patiently(attempt: Callable[[], _Result], *, name: str, wait: float) -> _Result:
    """Call `attempt` again while it finds the database busy, for `wait` seconds. Blocks.

    Raises
    ------
    StoreBusyError
        If the database was busy all the time.
    """
    deadline = time.monotonic() + wait
    pause = 0.001
    while True:
        try:
            return attempt()
        except Busy:
            left = deadline - time.monotonic()
            if left <= 0:
                raise StoreBusyError(name, wait) from None
        time.sleep(min(pause, left))
        pause = min(2 * pause, 0.05)
