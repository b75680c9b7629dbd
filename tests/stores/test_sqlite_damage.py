"""A file that is not what was written is noticed, and what is before the damage can be read."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from pathlib import Path

import pytest

from nbgraph.core.store import StateStore
from nbgraph.errors import DamagedStoreError, StateStoreError
from nbgraph.stores import SQLiteStateStore
from nbgraph.stores._chain import link
from nbgraph.stores._sql_rows import found_branch, place_of
from nbgraph.testing._store_log import append, fork_at, notes, question, seen, summary

OVERWRITES = 1_000


async def fill(store: StateStore) -> None:
    for after in range(0, 60, 3):
        await append(store, notes(3, after=after), question("t:0", asked=3))
    events = notes(2, after=30, branch_id="b")
    await store.fork(fork_at(30, "b"), events, summary=summary(2, question("t:1", asked=31)))
    await append(store, notes(2), thread_id="other")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = SQLiteStateStore(tmp_path / "threads.db")
    asyncio.run(fill(store))
    store.close()
    return tmp_path / "threads.db"


def alter(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute(statement, values).rowcount
    connection.close()


def read(path: Path, branch_id: str = "main", upto: int | None = None) -> list[object]:
    store = SQLiteStateStore(path)
    try:
        return list(asyncio.run(store.events("t", branch_id, upto=upto)))
    finally:
        store.close()


def damage(path: Path, branch_id: str = "main") -> str:
    with pytest.raises(DamagedStoreError) as raised:
        read(path, branch_id)
    return str(raised.value)


def test_a_changed_byte_is_found_and_earlier_events_stay_readable(path: Path) -> None:
    content = path.read_bytes()
    assert content.count(b'"key":"35"') == 1
    path.write_bytes(content.replace(b'"key":"35"', b'"key":"95"'))
    assert damage(path).startswith("Thread 't', branch 'main', event 34 ")
    assert read(path, upto=33) == notes(33)
    assert read(path, "b") == [*notes(30), *notes(2, after=30, branch_id="b")]


@pytest.mark.parametrize("place", [1, 31, 58], ids=["the first", "one within", "the last"])
def test_a_missing_commit_is_found(path: Path, place: int) -> None:
    alter(path, "DELETE FROM commits WHERE place = ?", (1 << 32) + place)
    assert damage(path)
    assert read(path, upto=place - 1) == notes(place - 1)


def test_a_commit_that_was_moved_is_found(path: Path) -> None:
    alter(path, "DELETE FROM commits WHERE place = ?", (1 << 32) + 31)
    alter(path, "UPDATE commits SET place = ? WHERE place = ?", (1 << 32) + 31, (1 << 32) + 34)
    assert "event 31 " in damage(path)


@pytest.mark.parametrize(
    "change",
    [
        "head = 57",
        "head = 30",
        "head = 63",
        "status = 'completed' || status",
        "step = step + 1",
        "parent_sequence = 27",
        "created_at = 0",
        "pending = 0",
        "chain = root",
        "epoch = 7",
        "owner = 'somebody'",
    ],
)
def test_a_changed_branch_is_found(path: Path, change: str) -> None:
    alter(path, f"UPDATE branches SET {change} WHERE name = 'main' AND thread = 't'")
    assert damage(path).startswith("Thread 't', branch 'main', event ")
    store = SQLiteStateStore(path)
    with pytest.raises(DamagedStoreError):
        asyncio.run(store.threads())
    store.close()


@pytest.mark.parametrize("change", ["parent = 3", "parent_sequence = 27", "parent = NULL"])
def test_a_fork_that_points_elsewhere_is_found(path: Path, change: str) -> None:
    alter(path, f"UPDATE branches SET {change} WHERE name = 'b'")
    assert damage(path, "b").startswith("Thread 't', branch 'b', event ")


def test_a_fork_without_its_parent_is_found(path: Path) -> None:
    alter(path, "DELETE FROM branches WHERE name = 'main' AND thread = 't'")
    assert damage(path, "b").startswith("Thread 't', branch 'b', event 30 ")


def test_a_changed_question_is_found(path: Path) -> None:
    change = "UPDATE questions SET body = CAST(replace(body, 'ask', 'ASK') AS BLOB) WHERE key = ?"
    alter(path, change, "t:0")
    store = SQLiteStateStore(path)
    with pytest.raises(DamagedStoreError, match="A question of thread 't', branch 'main'"):
        asyncio.run(store.pending())
    store.close()


def test_text_that_is_no_utf8_is_found(path: Path) -> None:
    alter(path, "UPDATE branches SET graph = CAST(x'ff' AS TEXT) WHERE thread = 't'")
    assert damage(path)


@pytest.mark.parametrize(
    "body",
    [
        '[{"type":"os.system","command":"true"}]',
        '[{"type":"run_stopped","created_at":1,"py/object":"os.system"}]',
        '[{"lc":1,"type":"constructor","id":["os","system"],"kwargs":{}}]',
        '[{"type":"run_stopped","created_at":1},{"type":"run_stopped","created_at":1}]',
        '{"type":"run_stopped","created_at":1}',
        "\x80\x04cos\nsystem\n",
        "!!python/object/apply:os.system ['true']",
        "[" * 100_000,
        "",
    ],
)
def test_a_foreign_row_is_refused_though_its_checksum_fits(path: Path, body: str) -> None:
    forge(path, body.encode())
    assert damage(path).startswith("Thread 't', branch 'main', event 58 ")
    assert read(path, upto=57) == notes(57)


def forge(path: Path, body: bytes) -> None:
    """Write another body into the last commit of a thread, and everything that vouches for it."""
    connection = sqlite3.connect(path)
    with connection:
        branch = found_branch(connection.cursor(), "t", "main")
        before = connection.execute(
            "SELECT hash FROM commits WHERE place = ?", (place_of(branch.id, 55),)
        ).fetchone()[0]
        forged = branch.changed(chain=link(before, 58, 3, body))
        connection.execute(
            "UPDATE commits SET body = ?, hash = ? WHERE place = ?",
            (body, forged.chain, place_of(branch.id, 58)),
        )
        connection.execute(
            "UPDATE branches SET chain = ?, checksum = ? WHERE id = ?",
            (forged.chain, forged.checksum, branch.id),
        )
    connection.close()


def test_changed_tables_are_found(path: Path) -> None:
    path.write_bytes(
        path.read_bytes().replace(b"id INTEGER PRIMARY KEY", b"id INTEGER qRIMARY KEY")
    )
    with pytest.raises(DamagedStoreError, match="its tables are not as made"):
        SQLiteStateStore(path)


def test_bytes_overwritten_anywhere_never_change_what_is_read(path: Path) -> None:
    content, chance = path.read_bytes(), random.Random(11)
    expected = asyncio.run(_shown(path))
    for _ in range(OVERWRITES):
        size = chance.choice([1, 1, 4, 64])
        place = chance.randrange(len(content) - size)
        path.write_bytes(content[:place] + chance.randbytes(size) + content[place + size :])
        try:
            shown = asyncio.run(_shown(path))
        except StateStoreError:
            continue
        assert shown == expected, f"{size} bytes at {place}"


async def _shown(path: Path) -> object:
    store = SQLiteStateStore(path)
    try:
        return await seen(store)
    finally:
        store.close()
