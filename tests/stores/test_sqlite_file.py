"""Which files a store takes, how it makes them, and when it lets go of them."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nbgraph.errors import StateStoreError
from nbgraph.stores import SQLiteStateStore
from nbgraph.testing._store_log import append, notes, refused


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


def test_a_store_is_readable_by_its_owner_only_and_its_folder_is_made(path: Path) -> None:
    path = path.parent / "a" / "b" / path.name
    store = SQLiteStateStore(path)
    asyncio.run(append(store, notes(1)))
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
    assert modes == dict.fromkeys(("threads.db", "threads.db-shm", "threads.db-wal"), 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    store.close()


def test_a_path_is_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    names = ("a?mode=memory", "file:b?mode=ro", "c#d%20'e\"", "~/f.db", "\u00fc.db")
    for name in names:
        store = SQLiteStateStore(name)
        asyncio.run(append(store, notes(1)))
        store.close()
    files = {str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*") if one.is_file()}
    assert files == {*names} - {"~/f.db"} | {"home/f.db"}


@pytest.mark.parametrize("name", ["", ":memory:"])
def test_what_names_no_file_is_refused(name: str) -> None:
    with pytest.raises(StateStoreError, match="use InMemoryStateStore"):
        SQLiteStateStore(name)


def _database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (id)")
    connection.close()


def _database_with_its_log_open(path: Path) -> None:
    _database(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("INSERT INTO theirs VALUES (1)")
    log = path.with_name(path.name + "-wal")
    connection.commit()
    kept = log.read_bytes()
    connection.close()
    log.write_bytes(kept)


@pytest.mark.parametrize(
    "make",
    [
        _database,
        _database_with_its_log_open,
        lambda path: path.write_text("dear diary"),
        lambda path: path.write_bytes(bytes(200)),
        lambda path: path.write_text("x" * 5000),
    ],
)
def test_a_file_that_is_no_store_is_refused_and_not_touched(
    path: Path, make: Callable[[Path], object]
) -> None:
    make(path)
    before = {one: (one.read_bytes(), one.stat().st_mtime_ns) for one in path.parent.iterdir()}
    with pytest.raises(StateStoreError, match="is not an nbgraph state store"):
        SQLiteStateStore(path)
    after = {one: (one.read_bytes(), one.stat().st_mtime_ns) for one in path.parent.iterdir()}
    assert after == before


def test_a_store_of_a_later_nbgraph_is_refused_and_not_touched(path: Path) -> None:
    SQLiteStateStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(
        StateStoreError, match=r"has schema 99, .* reads schemas up to 3; update nbgraph"
    ):
        SQLiteStateStore(path)
    assert path.read_bytes() == before


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Be somebody whom permissions bind."""
    user = os.geteuid()
    if user:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_folder_that_cannot_be_written_to_is_an_error() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        with ordinary_user(), pytest.raises(StateStoreError, match="cannot be opened: Permission"):
            SQLiteStateStore(Path(folder) / "threads.db")
        with ordinary_user(), pytest.raises(StateStoreError, match="cannot be opened: Permission"):
            SQLiteStateStore(Path(folder) / "made" / "threads.db")


def test_a_file_that_cannot_be_written_to_is_an_error() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "threads.db"
        SQLiteStateStore(path).close()
        path.chmod(0o444)
        with ordinary_user(), pytest.raises(StateStoreError, match="cannot be opened: Permission"):
            SQLiteStateStore(path)


def test_a_folder_that_takes_no_log_is_an_error_and_the_file_stays_as_it_was() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "threads.db"
        store = SQLiteStateStore(path)
        asyncio.run(append(store, notes(2)))
        store.close()
        before = path.read_bytes()
        path.chmod(0o666)
        Path(folder).chmod(0o555)
        with ordinary_user(), pytest.raises(StateStoreError, match="cannot be used"):
            SQLiteStateStore(path)
        Path(folder).chmod(0o755)
        assert path.read_bytes() == before


def test_a_store_that_becomes_read_only_refuses_writes_and_is_read_on(path: Path) -> None:
    async def scenario() -> None:
        store = SQLiteStateStore(path)
        await append(store, notes(2))
        store._file._cursor.execute("PRAGMA query_only = ON")
        await refused(append(store, notes(1, after=2)), StateStoreError)
        await refused(store.delete("t"), StateStoreError)
        assert list(await store.events("t")) == notes(2)
        store._file._cursor.execute("PRAGMA query_only = OFF")
        await append(store, notes(1, after=2))
        assert list(await store.events("t")) == notes(3)
        await store.aclose()

    asyncio.run(scenario())


class SeemsToLog(sqlite3.Cursor):
    """A file system that takes a write-ahead log and breaks at the first write to it."""

    broken = 0

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        if sql.startswith("PRAGMA application_id ="):
            type(self).broken += 1
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMMAP
            raise error
        return super().execute(sql, *values)


def test_a_log_that_only_seems_to_work_is_not_used(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Connection(sqlite3.Connection):
        def cursor(self) -> SeemsToLog:
            return super().cursor(SeemsToLog)

    SQLiteStateStore(path).close()
    with sqlite3.connect(path) as plain:
        plain.execute("PRAGMA journal_mode = DELETE")
    plain.close()
    connect = sqlite3.connect
    monkeypatch.setattr(
        "nbgraph.stores._sqlite_open.sqlite3.connect",
        lambda path, **options: connect(path, factory=Connection, **options),
    )
    made = SQLiteStateStore(path)
    assert SeemsToLog.broken == 1
    asyncio.run(append(made, notes(2)))
    assert not path.with_name("threads.db-wal").exists()
    assert list(asyncio.run(made.events("t"))) == notes(2)
    made.close()


def test_a_path_through_a_file_and_a_folder_as_the_file_are_errors(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateStoreError, match="cannot be opened"):
        SQLiteStateStore(tmp_path / "file" / "threads.db")
    with pytest.raises(StateStoreError, match="cannot be opened: Is a directory"):
        SQLiteStateStore(tmp_path)


def test_a_collected_store_closes_its_file(path: Path) -> None:
    store = SQLiteStateStore(path)
    asyncio.run(append(store, notes(1)))
    assert path.with_name("threads.db-wal").exists()
    del store
    gc.collect()
    assert not path.with_name("threads.db-wal").exists()
