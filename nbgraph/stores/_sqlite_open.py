"""How the file of a SQLite store is made, recognised and opened, and what its errors mean.

A file is recognised by its header before SQLite touches it, because opening somebody else's
database can already write to it. For that to hold, the header is written to the file itself, in
one transaction with the tables, before the write-ahead log is switched on.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, TypeVar

from nbgraph.errors import DamagedStoreError, StateStoreError, StoreBusyError

__all__ = ["SQLITE_ERRORS", "Busy", "Durability", "opened", "patiently", "transact", "translated"]

Durability = Literal["full", "fast"]

_Result = TypeVar("_Result")

_APPLICATION_ID = 0x6E626772
_SCHEMA_VERSION = 1

_TABLES = (
    """CREATE TABLE branches (
        id INTEGER PRIMARY KEY,
        thread TEXT NOT NULL,
        name TEXT NOT NULL,
        parent INTEGER,
        parent_sequence INTEGER NOT NULL,
        created_at REAL NOT NULL,
        identity INTEGER NOT NULL,
        graph TEXT NOT NULL DEFAULT '',
        status TEXT NOT NULL DEFAULT '',
        step INTEGER NOT NULL DEFAULT 0,
        head INTEGER NOT NULL DEFAULT 0,
        pending INTEGER NOT NULL DEFAULT 0,
        updated_at REAL NOT NULL DEFAULT 0,
        checksum INTEGER NOT NULL DEFAULT 0,
        UNIQUE (thread, name)
    )""",
    """CREATE TABLE commits (
        place INTEGER PRIMARY KEY,
        count INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        body TEXT NOT NULL
    )""",
    """CREATE TABLE questions (
        id INTEGER PRIMARY KEY,
        branch INTEGER NOT NULL,
        key TEXT NOT NULL,
        asked INTEGER NOT NULL,
        created_at REAL NOT NULL,
        checksum INTEGER NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (branch, key, asked)
    )""",
    """CREATE TABLE children (
        thread TEXT PRIMARY KEY,
        root TEXT NOT NULL
    )""",
    "CREATE INDEX questions_by_age ON questions (created_at)",
)

_MARKS = ("PRAGMA application_id = 1851942770", "PRAGMA user_version = 1")

_FIND_TABLES = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"

_SYNCHRONOUS: dict[Durability, str] = {
    "full": "PRAGMA synchronous = FULL",
    "fast": "PRAGMA synchronous = NORMAL",
}


# A lost commit leaves a gap, but a lost branch or question leaves nothing: where rows are found
# through damaged pages, they may be passed over. These tables are small, and are checked whole.
_CHECKS = ("PRAGMA integrity_check(branches)", "PRAGMA integrity_check(questions)")

SQLITE_ERRORS = (sqlite3.Error, OverflowError, UnicodeDecodeError)
"""What the module `sqlite3` raises: the last two for numbers and texts that are not SQL's."""


class Busy(Exception):
    """Another connection holds the file at this moment."""


def opened(path: Path, *, durability: Durability, wait: float) -> sqlite3.Connection:
    """Open the store at `path`, making it where there is none.

    The connection itself never waits for a busy file: callers wait, off the event loop.

    Raises
    ------
    StateStoreError
        If the file cannot be made or opened, is no nbgraph store, or is one of a later schema.
    DamagedStoreError
        If the lists of branches and questions cannot be trusted.
    StoreBusyError
        If the file was held for longer than `wait` seconds.
    """
    return patiently(lambda: _attempted(path, durability), path=path, wait=wait)


def _attempted(path: Path, durability: Durability) -> sqlite3.Connection:
    try:
        _make(path)
        _require_ours(path)
    except OSError as error:
        raise StateStoreError(
            f"The state store {str(path)!r} cannot be opened: {error.strerror}"
        ) from error
    try:
        return _connected(path, durability)
    except SQLITE_ERRORS as error:
        raise translated(error, path) from error


def _make(path: Path) -> None:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Made before SQLite opens it, so that nobody else can read it at any moment; SQLite gives
        # its side files the mode of the file.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _require_ours(path: Path) -> None:
    # Opened for writing, so that a read-only file is refused here and not in the middle of a run.
    with path.open("r+b") as file:
        header = file.read(100)
    if not header:
        return
    application, version = header[68:72], int.from_bytes(header[60:64], "big")
    if application != _APPLICATION_ID.to_bytes(4, "big"):
        raise StateStoreError(
            f"{str(path)!r} is not an nbgraph state store; it was not touched. Give another path"
        )
    if version != _SCHEMA_VERSION:
        raise StateStoreError(
            f"The state store {str(path)!r} has schema {version}, and this nbgraph reads schema "
            f"{_SCHEMA_VERSION}; update nbgraph"
        )


def _connected(path: Path, durability: Durability) -> sqlite3.Connection:
    with ExitStack() as undo:
        connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        undo.callback(connection.close)
        cursor = connection.cursor()
        if not _has_tables(cursor):
            transact(cursor, "BEGIN IMMEDIATE", _make_tables)
        if cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise StateStoreError(
                f"The state store {str(path)!r} is on a file system without shared memory; "
                "put it on a local disk"
            )
        cursor.execute(_SYNCHRONOUS[durability])
        _require_sound(cursor, path)
        undo.pop_all()
    return connection


def _require_sound(cursor: sqlite3.Cursor, path: Path) -> None:
    tables = {sql for (sql,) in cursor.execute(_FIND_TABLES)}
    if not tables.issuperset(_TABLES):
        raise DamagedStoreError(f"The state store {str(path)!r}", "its tables are not as made")
    for check in _CHECKS:
        (found,) = cursor.execute(check).fetchone()
        if found != "ok":
            raise DamagedStoreError(f"The state store {str(path)!r}", found)


def _has_tables(cursor: sqlite3.Cursor) -> bool:
    return cursor.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION_ID


def _make_tables(cursor: sqlite3.Cursor) -> None:
    if not _has_tables(cursor):  # another process may have made them since
        for statement in (*_TABLES, *_MARKS):
            cursor.execute(statement)


def transact(
    cursor: sqlite3.Cursor, begin: str, work: Callable[[sqlite3.Cursor], _Result]
) -> _Result:
    """Do `work` in one transaction, and leave no transaction open whatever happens."""
    cursor.execute(begin)
    try:
        result = work(cursor)
        cursor.execute("COMMIT")
        return result
    finally:
        if cursor.connection.in_transaction:
            cursor.execute("ROLLBACK")


def patiently(attempt: Callable[[], _Result], *, path: Path, wait: float) -> _Result:
    """Call `attempt` again while it finds the file busy, for `wait` seconds. Blocks.

    Raises
    ------
    StoreBusyError
        If the file was held all the time.
    """
    deadline = time.monotonic() + wait
    pause = 0.001
    while True:
        try:
            return attempt()
        except Busy:
            left = deadline - time.monotonic()
            if left <= 0:
                raise StoreBusyError(str(path), wait) from None
        time.sleep(min(pause, left))
        pause = min(2 * pause, 0.05)


def translated(error: Exception, path: Path) -> Exception:
    """Return what one of `SQLITE_ERRORS` means here."""
    code = getattr(error, "sqlite_errorcode", None)
    match code and code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Busy()
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return DamagedStoreError(f"The state store {str(path)!r}", str(error))
        case None if isinstance(error, (sqlite3.OperationalError, UnicodeDecodeError)):
            # Python's own, without a code: text in the file is no UTF-8.
            return DamagedStoreError(f"The state store {str(path)!r}", str(error))
        case _:
            return StateStoreError(f"The state store {str(path)!r} cannot be used: {error}")
