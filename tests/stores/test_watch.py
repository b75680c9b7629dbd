"""Whoever watches a store is told that somebody wrote, wherever that was."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbgraph.stores import PostgresStateStore, SQLiteStateStore
from nbgraph.stores._sql_store import SqlStateStore
from nbgraph.testing._store_log import append, notes

from .postgres import URL, fresh_schema

NO_SERVER = "NBGRAPH_TEST_PG names no PostgreSQL server; .ci/run starts one"


@pytest.fixture(
    params=["file", pytest.param("server", marks=pytest.mark.skipif(not URL, reason=NO_SERVER))]
)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[SqlStateStore]]:
    if request.param == "file":
        made: list[SqlStateStore] = [SQLiteStateStore(tmp_path / "t.db") for _ in range(2)]
        yield made
    else:
        with fresh_schema() as schema:
            made = [PostgresStateStore(URL, schema=schema) for _ in range(2)]
            yield made
    for store in made:
        store.close()


def test_a_watcher_is_told_of_its_own_and_others_writes_until_it_ends(
    stores: list[SqlStateStore],
) -> None:
    told, before = threading.Event(), threading.enumerate()
    end = stores[0].watch(told.set, every=0.01)
    for number, store in enumerate(stores):
        asyncio.run(append(store, notes(1, after=number)))
        assert told.wait(timeout=60)
        told.clear()
    end()
    end()
    told.clear()
    asyncio.run(append(stores[1], notes(1, after=2)))
    assert not told.is_set()
    new = [one.name for one in threading.enumerate() if one not in before]
    assert "nbgraph store watcher" not in new
