"""Threads go from one store to another with their hashes; what is not needed can be dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nbgraph.core.events import OnceRecorded
from nbgraph.core.store import StateStore
from nbgraph.errors import StateStoreError, UnknownThreadError
from nbgraph.stores import InMemoryStateStore, PostgresStateStore, SQLiteStateStore
from nbgraph.stores._sql_store import SqlStateStore
from nbgraph.testing._store_log import append, fork_at, notes, question, refused, seen, summary

from .postgres import URL, fresh_schema

LARGE = "large \U0001f9ea " * 10_000


async def fill(store: StateStore) -> None:
    for after in range(0, 9, 3):
        await append(store, notes(3, after=after), question("t:0", asked=3))
    events = notes(2, after=4, branch_id="b")
    await store.fork(fork_at(4, "b"), events, summary=summary(2, question("t:1", asked=5)))
    own = notes(1, after=5, branch_id="c")
    await store.fork(fork_at(5, "c", parent="b"), own, summary=summary())
    large = OnceRecorded(sequence=10, task_id="t", key="k", value=[LARGE], created_at=10.0)
    await append(store, [large], question("t:0", asked=3))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStateStore]:
    made = SQLiteStateStore(tmp_path / "one.db")
    asyncio.run(fill(made))
    yield made
    made.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[SQLiteStateStore]:
    made = SQLiteStateStore(tmp_path / "other.db")
    yield made
    made.close()


async def moved(store: StateStore, other: StateStore) -> None:
    lines = await store.export_thread("t")
    assert await other.import_thread(lines) == "t"
    assert await seen(other) == await seen(store)
    assert list(await other.export_thread("t")) == list(lines)
    assert await other.verify() == []


def test_a_thread_comes_out_of_another_store_as_it_went_in(
    store: SQLiteStateStore, other: SQLiteStateStore
) -> None:
    asyncio.run(moved(store, other))


def test_a_thread_moves_from_memory_to_a_file_and_back(other: SQLiteStateStore) -> None:
    async def scenario() -> None:
        here = InMemoryStateStore()
        await fill(here)
        await moved(here, other)
        await moved(other, InMemoryStateStore())

    asyncio.run(scenario())


@pytest.mark.skipif(not URL, reason="NBGRAPH_TEST_PG names no PostgreSQL server")
def test_a_thread_moves_from_a_file_to_a_server_and_its_hashes_stay(
    store: SQLiteStateStore,
) -> None:
    with fresh_schema() as schema:
        server = PostgresStateStore(URL, schema=schema)
        asyncio.run(moved(store, server))
        server.close()


def test_pruning_changes_nothing_that_is_seen_and_gives_space_back(
    store: SQLiteStateStore, tmp_path: Path
) -> None:
    async def scenario() -> None:
        await append(store, notes(900, text="x" * 300), thread_id="gone")
        before = await seen(store)
        await store.delete("gone")
        del before["events"][("gone", "main")]
        before["threads"] = [one for one in before["threads"] if one.thread_id != "gone"]
        size = await store.prune()
        assert (size.threads, size.branches, size.commits, size.large_values) == (1, 3, 6, 1)
        assert size.large_value_bytes == len(LARGE.encode())
        assert size.snapshot_bytes == 0
        assert await seen(store) == before
        assert (tmp_path / "one.db").stat().st_size <= 170_000
        assert await store.size() == size

    asyncio.run(scenario())


def test_the_threads_of_sub_graphs_go_with_their_root(
    store: SQLiteStateStore, other: SQLiteStateStore
) -> None:
    asyncio.run(moved_with_sub_graphs(store, other))


async def moved_with_sub_graphs(store: SqlStateStore, other: SqlStateStore) -> None:
    under = replace(summary(), root="t")
    await store.append("t:a:1", "main", notes(2), expected=0, summary=under)
    await append(store, notes(1), thread_id="u")
    lines = await store.export_thread("t")
    assert await other.import_thread(lines) == "t"
    assert list(await other.events("t:a:1")) == list(await store.events("t:a:1"))
    assert [one.thread_id for one in await other.threads()] == ["t"]
    assert (await other.size()).threads == 1
    assert (await store.size()).threads == 2
    assert list(await other.export_thread("t")) == list(lines)
    with pytest.raises(StateStoreError, match="'t:a:1' is in the store already"):
        await store.import_thread(await other.export_thread("t:a:1"))
    await other.delete("t")
    await refused(other.events("t:a:1"), UnknownThreadError)
