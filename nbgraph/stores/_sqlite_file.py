"""The one connection of a SQLite store, shared by event loops and threads."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from nbgraph.errors import StateStoreError
from nbgraph.stores._sql_database import Busy, patiently
from nbgraph.stores._sql_rows import Cursor
from nbgraph.stores._sqlite_open import (
    SQLITE_ERRORS,
    Durability,
    opened,
    transact,
    translated,
)

__all__ = ["SQLiteFile"]

_BEGIN = {True: "BEGIN IMMEDIATE", False: "BEGIN"}

_VERSION = "PRAGMA data_version"

_BRIEFLY = 0.005
"""How long an event loop waits, in seconds, while another thread uses the connection."""

_forks = 0
"""How often this process was forked off another: to ask the system at each use takes longer."""


def _forked() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_forked)

_Result = TypeVar("_Result")
_Work = Callable[[Cursor], _Result]


class SQLiteFile:
    """Runs transactions on a file, without making an event loop wait.

    A transaction is short, so it runs where it is asked for. If the file or the connection is
    busy, it is tried again in a thread, for `wait` seconds.
    """

    quick = True
    """A transaction is short enough for an event loop."""

    def __init__(self, path: Path, *, durability: Durability, wait: float) -> None:
        self.path = path
        self._wait = wait
        self._lock = threading.Lock()
        self._forks = _forks
        self._closed = False
        self._undone = 0
        connection = opened(path, durability=durability, wait=wait)
        self._cursor = connection.cursor()
        self._close = weakref.finalize(self, connection.close)

    def written(self, cursor: Cursor) -> tuple[int, int]:
        """Return what others' writes change, and what those of this connection do.

        SQLite counts a change that is undone as it counts any other, and not that it was undone.
        """
        others = cursor.execute(_VERSION).fetchone()[0]
        return others, self._cursor.connection.total_changes + self._undone

    def attempt(self, work: _Work[_Result], *, writes: bool) -> _Result:
        """Do `work` in one transaction, here and at once.

        Raises
        ------
        Busy
            If somebody else writes at this moment.
        StateStoreError
            If the file is closed or cannot be used; nothing of the work was kept.
        """
        lock = self._lock
        if not lock.acquire(blocking=False) and not lock.acquire(timeout=_BRIEFLY):
            raise Busy
        try:
            if self._closed or self._forks != _forks:
                raise self._not_usable()
            return transact(self._cursor, _BEGIN[writes], work)
        except BaseException as error:
            self._undone += 1
            if isinstance(error, SQLITE_ERRORS):
                raise translated(error, self.path) from error
            raise
        finally:
            lock.release()

    def _not_usable(self) -> StateStoreError:
        if self._closed:
            return StateStoreError(f"The state store {str(self.path)!r} is closed")
        # SQLite's locks belong to the process that opened the file.
        return StateStoreError(
            f"The state store {str(self.path)!r} was opened before this process forked; "
            "open it again here"
        )

    def patiently(self, work: Callable[[], _Result]) -> _Result:
        """Call `work` again while it finds the file busy. Blocks.

        Raises
        ------
        StoreBusyError
            If it did so all the time.
        """
        return patiently(work, name=str(self.path), wait=self._wait)

    def compact(self) -> None:
        """Give space that is not used back to the system. Blocks.

        Raises
        ------
        Busy
            If somebody else uses the file.
        """
        with self._lock:
            if self._closed or self._forks != _forks:
                raise self._not_usable()
            try:
                self._cursor.execute("VACUUM")
                self._cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except SQLITE_ERRORS as error:
                raise translated(error, self.path) from error

    def changes(self, stop: threading.Event, every: float) -> Iterator[None]:
        """Yield once when watching has begun, and then whenever somebody wrote. Blocks."""
        # A connection of its own, which every write is somebody else's to.
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            last = _version_of(connection)
            yield
            while not stop.wait(every):
                version = _version_of(connection)
                if version not in (None, last):
                    last = version
                    yield

    def close(self) -> None:
        """Close the connection; a second time is no error."""
        with self._lock:
            self._closed = True
            self._close()


def _version_of(connection: sqlite3.Connection) -> int | None:
    """Return a number that every write of others changes; None while the file cannot be read."""
    try:
        return connection.execute(_VERSION).fetchone()[0]
    except sqlite3.OperationalError:  # it is busy, or away for a moment: the next look tells
        return None
