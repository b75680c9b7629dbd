"""How the file of a SQLite store is made, recognised and opened, and what its errors mean.

A file is recognised by its header before SQLite touches it, because opening somebody else's
database can already write to it. For that to hold, the header is written to the file itself, in
one transaction with the tables, before the write-ahead log is switched on.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Literal, TypeVar
from uuid import uuid4

from nbgraph.errors import DamagedStoreError, StateStoreError
from nbgraph.stores._sql_database import Busy, patiently
from nbgraph.stores._sql_drafts import DRAFTS
from nbgraph.stores._sqlite_tables import MARKS, SCHEMA_VERSION, TABLES, migrate
from nbgraph.stores._sqlite_where import on_network

__all__ = ["SQLITE_ERRORS", "Durability", "opened", "transact", "translated"]

_HAS_DRAFTS = "SELECT 1 FROM sqlite_master WHERE name = 'drafts'"
_FIND_TABLES = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"

Durability = Literal["full", "fast"]

_Result = TypeVar("_Result")

_APPLICATION_ID = 0x6E626772

_SYNCHRONOUS: dict[Durability, str] = {
    "full": "PRAGMA synchronous = FULL",
    "fast": "PRAGMA synchronous = NORMAL",
}


# A lost commit leaves a gap, but a lost branch or question leaves nothing: where rows are found
# through damaged pages, they may be passed over. These tables are small, and are checked whole.
_CHECKS = (
    "PRAGMA integrity_check(branches)",
    "PRAGMA integrity_check(questions)",
    "PRAGMA integrity_check(children)",
)

SQLITE_ERRORS = (sqlite3.Error, OverflowError, UnicodeDecodeError)
"""What the module `sqlite3` raises: the last two for numbers and texts that are not SQL's."""


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
    return patiently(lambda: _attempted(path, durability), name=str(path), wait=wait)


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
    except OSError as error:
        raise StateStoreError(
            f"The state store {str(path)!r} cannot be copied before it is brought up to date: "
            f"{error.strerror}"
        ) from error
    except SQLITE_ERRORS as error:
        raise translated(error, path) from error


def _make(path: Path) -> None:
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
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
    _require_known(version, path)


def _require_known(version: int, path: Path) -> None:
    if version > SCHEMA_VERSION:
        raise StateStoreError(
            f"The state store {str(path)!r} has schema {version}, and this nbgraph reads schemas "
            f"up to {SCHEMA_VERSION}; update nbgraph"
        )


def _connected(path: Path, durability: Durability) -> sqlite3.Connection:
    with ExitStack() as undo:
        connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        undo.callback(connection.close)
        cursor = connection.cursor()
        if not _has_tables(cursor):
            transact(cursor, "BEGIN IMMEDIATE", _make_tables)
        if not _keeps_log(cursor, path):
            # Where processes share no memory, one file and a lock on it do. Full durability then
            # needs the folder's entry of the journal to be synced too.
            cursor.execute("PRAGMA journal_mode = DELETE")
            durability = "full"
        _migrate(cursor, path)
        if cursor.execute(_HAS_DRAFTS).fetchone() is None:
            transact(cursor, "BEGIN IMMEDIATE", _make_drafts)
        cursor.execute(_SYNCHRONOUS[durability])
        _require_sound(cursor, path)
        undo.pop_all()
    return connection


def _make_drafts(cursor: sqlite3.Cursor) -> None:
    """Add the side table that files of an earlier nbgraph lack; an earlier one reads on."""
    for statement in DRAFTS:
        cursor.execute(statement)


def _keeps_log(cursor: sqlite3.Cursor, path: Path) -> bool:
    """Return whether the file can have a write-ahead log, and switch it on if so."""
    if on_network(path):
        return False
    if cursor.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        return True
    if cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
        return False
    return _can_log(cursor)


def _can_log(cursor: sqlite3.Cursor) -> bool:
    """Return whether a first write to the log works, which some file systems only seem to allow."""
    try:
        transact(cursor, "BEGIN IMMEDIATE", lambda one: one.execute(MARKS[0]))
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
            return False
        raise
    return True


def _migrate(cursor: sqlite3.Cursor, path: Path) -> None:
    version = cursor.execute("PRAGMA user_version").fetchone()[0]
    _require_known(version, path)
    if version == SCHEMA_VERSION:
        return
    _back_up(cursor, path.with_name(f"{path.name}.schema-{version}"))
    transact(cursor, "BEGIN IMMEDIATE", migrate)
    # The version is read from the file itself before it is opened as a database.
    cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _back_up(cursor: sqlite3.Cursor, path: Path) -> None:
    """Copy the file before it is changed, unless somebody who changes it did so already."""
    if path.exists():
        return
    part = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        cursor.execute("VACUUM INTO ?", (str(part),))
        part.chmod(0o600)
        # Linked and not renamed: a copy that is there was made before any change, this one perhaps
        # was not.
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        part.unlink(missing_ok=True)


def _require_sound(cursor: sqlite3.Cursor, path: Path) -> None:
    tables = {sql for (sql,) in cursor.execute(_FIND_TABLES)}
    if not tables.issuperset(TABLES):
        raise DamagedStoreError(f"The state store {str(path)!r}", "its tables are not as made")
    for check in _CHECKS:
        (found,) = cursor.execute(check).fetchone()
        if found != "ok":
            raise DamagedStoreError(f"The state store {str(path)!r}", found)


def _has_tables(cursor: sqlite3.Cursor) -> bool:
    return cursor.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION_ID


def _make_tables(cursor: sqlite3.Cursor) -> None:
    if not _has_tables(cursor):  # another process may have made them since
        for statement in (*TABLES, *MARKS):
            cursor.execute(statement)


def transact(
    cursor: sqlite3.Cursor, begin: str, work: Callable[[sqlite3.Cursor], _Result]
) -> _Result:
    """Do `work` in one transaction, and leave no transaction open whatever happens."""
    cursor.execute(begin)
    try:
        result = work(cursor)
        cursor.execute("COMMIT")
    except BaseException:
        if cursor.connection.in_transaction:
            cursor.execute("ROLLBACK")
        raise
    return result


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
