"""Files of an earlier nbgraph become files of this one, forward only and with a copy kept."""

from __future__ import annotations

import asyncio
import gzip
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from nbgraph.core.blob import Blob, Packed
from nbgraph.core.codec import decode_events
from nbgraph.core.events import OnceRecorded
from nbgraph.core.store import StateStore
from nbgraph.errors import DamagedStoreError
from nbgraph.stores import InMemoryStateStore, SQLiteStateStore
from nbgraph.stores._sqlite_where import on_network
from nbgraph.testing._store_log import (
    append,
    fork_at,
    notes,
    question,
    seen,
    summary,
)

SCHEMA_1 = gzip.decompress((Path(__file__).parent / "data" / "schema_1.db.gz").read_bytes())
ODD_THREAD = "a'b\x00c"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


async def what_schema_1_holds() -> dict[str, object]:
    store = InMemoryStateStore()
    await append(store, notes(3), question("t:0", asked=3))
    await append(store, notes(3, after=3), question("t:0", asked=3))
    events = notes(2, after=5, branch_id="b")
    await store.fork(fork_at(5, "b"), events, summary=summary(2, question("t:1", asked=6)))
    await append(store, await _of_schema_1(), thread_id=ODD_THREAD)
    await append(store, notes(1, after=7, branch_id="b"), branch_id="b")
    return await seen(store)


async def _of_schema_1() -> list[object]:
    """Return one event of each type with the times they had when the file was made."""
    path = Path(__file__).parent / "data" / "schema_1.db.gz"
    with sqlite3.connect(":memory:") as connection:
        connection.deserialize(gzip.decompress(path.read_bytes()))
        body = connection.execute("SELECT body FROM commits WHERE count = 17").fetchone()[0]
    connection.close()
    packed = Packed(body if isinstance(body, bytes) else body.encode())
    return decode_events(packed, branch_id="main", first=1, where="schema 1")


async def shown(path: Path) -> dict[str, object]:
    store = SQLiteStateStore(path)
    try:
        return await seen(store)
    finally:
        await store.aclose()


def test_a_file_of_schema_1_is_read_and_written_and_a_copy_is_kept(path: Path) -> None:
    path.write_bytes(SCHEMA_1)
    expected = asyncio.run(what_schema_1_holds())
    assert asyncio.run(shown(path)) == expected
    assert asyncio.run(shown(path)) == expected
    copy = path.with_name("threads.db.schema-1")
    with sqlite3.connect(copy) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM commits").fetchone() == (5,)
    connection.close()
    assert copy.stat().st_mode & 0o777 == 0o600


def test_a_migrated_thread_goes_on(path: Path) -> None:
    async def scenario(store: StateStore) -> None:
        await append(store, notes(2, after=6))
        await append(store, notes(1, after=8, branch_id="b"), branch_id="b")
        assert list(await store.events("t")) == notes(8)
        branch = [*notes(5), *notes(4, after=5, branch_id="b")]
        assert list(await store.events("t", "b")) == branch
        await store.aclose()

    path.write_bytes(SCHEMA_1)
    asyncio.run(scenario(SQLiteStateStore(path)))


def test_several_that_open_an_old_file_at_once_migrate_it_once(path: Path) -> None:
    path.write_bytes(SCHEMA_1)
    barrier = threading.Barrier(6)

    def look(_: int) -> object:
        barrier.wait(timeout=60)
        return asyncio.run(shown(path))

    expected = asyncio.run(what_schema_1_holds())
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(look, range(6))) == [expected] * 6


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE commits SET body = replace(body, '2', '3') WHERE place = (1 << 32) + 1",
        "UPDATE branches SET head = 7 WHERE id = 1",
        "DELETE FROM branches WHERE id = 1",
    ],
)
def test_a_damaged_old_file_is_refused_and_stays_as_it_was(path: Path, change: str) -> None:
    path.write_bytes(SCHEMA_1)
    with sqlite3.connect(path) as connection:
        assert connection.execute(change).rowcount == 1
    connection.close()
    with pytest.raises(DamagedStoreError, match="Thread 't'"):
        SQLiteStateStore(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()


SCHEMA_2 = gzip.decompress((Path(__file__).parent / "data" / "schema_2.db.gz").read_bytes())


async def what_schema_2_holds(store: StateStore) -> dict[str, object]:
    await append(store, notes(3), question("t:0", asked=3))
    await append(store, notes(3, after=3), question("t:0", asked=3))
    events = notes(2, after=5, branch_id="b")
    await store.fork(fork_at(5, "b"), events, summary=summary(2, question("t:1", asked=6)))
    value = ["large " * 20_000]
    large = OnceRecorded(sequence=7, task_id="t", key="k", value=value, created_at=7.0)
    await append(store, [large])
    under = replace(summary(), root="t")
    await store.append("t:a:1", "main", notes(2), expected=0, summary=under)
    return await seen(store)


def test_a_file_of_schema_2_is_read_and_written_and_a_copy_is_kept(path: Path) -> None:
    path.write_bytes(SCHEMA_2)
    expected = asyncio.run(what_schema_2_holds(InMemoryStateStore()))
    assert asyncio.run(shown(path)) == expected
    copy = path.with_name("threads.db.schema-2")
    for file, version in ((copy, 2), (path, 3)):
        with sqlite3.connect(file) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (version,)
        connection.close()
    store = SQLiteStateStore(path)
    blob = Blob(kind="bytes", content=b"\xff", summary="1 byte")
    note = OnceRecorded(sequence=8, task_id="t", key="k", value=blob, created_at=8.0)
    asyncio.run(append(store, [note]))
    assert list(asyncio.run(store.events("t", after=7))) == [note]
    assert asyncio.run(store.verify()) == []
    store.close()


MOUNTS = """\
22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw
40 22 0:35 / /home rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2
41 40 0:36 / /home/ada\\040l/local rw - ext4 /dev/sdb rw
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/var/threads.db", False),
        ("/homes/threads.db", False),
        ("/home/ada/threads.db", True),
        ("/home/ada l/local/threads.db", False),
    ],
)
def test_a_network_file_system_is_recognised(tmp_path: Path, path: str, expected: bool) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert on_network(Path(path), mounts=mounts) is expected


def test_a_network_is_not_suspected_where_mounts_cannot_be_read(tmp_path: Path) -> None:
    assert on_network(tmp_path, mounts=tmp_path / "nothing") is False


@pytest.mark.parametrize("case", ["on a network", "no shared memory"])
def test_without_a_write_ahead_log_two_stores_on_one_file_still_decide_like_one(
    path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    if case == "on a network":
        monkeypatch.setattr("nbgraph.stores._sqlite_open.on_network", lambda path: True)
    else:
        connect = sqlite3.connect
        monkeypatch.setattr(
            "nbgraph.stores._sqlite_open.sqlite3.connect",
            lambda path, **options: connect(f"file:{path}?vfs=unix-dotfile", uri=True, **options),
        )

    async def scenario() -> None:
        one, two = SQLiteStateStore(path), SQLiteStateStore(path)
        await append(one, notes(1))
        await append(two, notes(1, after=1))
        await asyncio.gather(
            append(one, notes(1), thread_id="a"), append(two, notes(1), thread_id="b")
        )
        assert list(await one.events("t")) == notes(2)
        assert not path.with_name("threads.db-wal").exists()
        await one.aclose()
        await two.aclose()

    asyncio.run(scenario())


def test_a_file_of_schema_1_that_knows_sub_graphs_keeps_them(path: Path) -> None:
    path.write_bytes(SCHEMA_1)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE children (thread TEXT PRIMARY KEY, root TEXT NOT NULL)")
        connection.execute("INSERT INTO children VALUES ('t', ?)", (ODD_THREAD,))
    connection.close()
    store = SQLiteStateStore(path)
    assert [one.thread_id for one in asyncio.run(store.threads())] == [ODD_THREAD]
    asyncio.run(store.delete(ODD_THREAD))
    assert asyncio.run(store.size()).branches == 0
    store.close()
    SQLiteStateStore(path).close()
