"""The contract on a real PostgreSQL server, and what a server adds to it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nbgraph.core.store import StateStore
from nbgraph.errors import ConcurrentRunError, StateStoreError, StoreBusyError
from nbgraph.stores import InMemoryStateStore, PostgresStateStore
from nbgraph.testing._store_log import append, fork_at, notes, question, refused, seen, summary
from nbgraph.testing.stores import DraftConformance, StoreConformance

from .postgres import URL, fresh_schema, require_postgres

require_postgres()


@pytest.fixture
def schema() -> Iterator[str]:
    with fresh_schema() as name:
        yield name


class TestPostgresStateStore(StoreConformance, DraftConformance):
    @pytest.fixture(autouse=True)
    def _in_a_schema(self, schema: str) -> None:
        self.schema = schema

    def make_store(self, folder: Path) -> StateStore:
        return PostgresStateStore(URL, schema=self.schema)


def test_a_store_opened_again_shows_what_one_in_memory_does(schema: str) -> None:
    async def played(store: StateStore) -> object:
        await append(store, notes(3), question("t:0", asked=3))
        events = notes(2, after=2, branch_id="b")
        await store.fork(fork_at(2, "b"), events, summary=summary(1, question("x", asked=3)))
        return await seen(store)

    store = PostgresStateStore(URL, schema=schema)
    expected = asyncio.run(played(InMemoryStateStore()))
    assert asyncio.run(played(store)) == expected
    store.close()
    again = PostgresStateStore(URL, schema=schema)
    assert asyncio.run(seen(again)) == expected
    again.close()


def test_a_schema_is_data(schema: str) -> None:
    odd = f'{schema}"; DROP TABLE branches; --'
    store = PostgresStateStore(URL, schema=odd)
    asyncio.run(append(store, notes(1)))
    assert list(asyncio.run(store.events("t"))) == notes(1)
    store.close()
    import psycopg
    from psycopg import sql

    with psycopg.connect(URL, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(odd)))


def test_a_store_can_be_made_by_several_at_once(schema: str) -> None:
    makers = 8
    barrier = threading.Barrier(makers)

    def make(name: str) -> None:
        barrier.wait(timeout=60)
        store = PostgresStateStore(URL, schema=schema)
        asyncio.run(append(store, notes(1), thread_id=name))
        store.close()

    with ThreadPoolExecutor(makers) as pool:
        list(pool.map(make, "abcdefgh"))
    store = PostgresStateStore(URL, schema=schema)
    assert sorted(one.thread_id for one in asyncio.run(store.threads())) == list("abcdefgh")
    store.close()


def test_stores_that_make_one_thread_at_once_keep_one_beginning(schema: str) -> None:
    writers = 6
    stores = [PostgresStateStore(URL, schema=schema) for _ in range(writers)]
    barrier = threading.Barrier(writers)

    def begin(store: StateStore) -> int:
        wins = 0
        for place in range(20):
            barrier.wait(timeout=60)
            try:
                asyncio.run(append(store, notes(1), thread_id=str(place)))
            except ConcurrentRunError:
                continue
            wins += 1
        return wins

    with ThreadPoolExecutor(writers) as pool:
        assert sum(pool.map(begin, stores)) == 20
    for store in stores:
        store.close()


def test_batches_that_lock_the_same_threads_do_not_wait_for_one_another(schema: str) -> None:
    stores = [PostgresStateStore(URL, schema=schema) for _ in range(2)]
    names = [f"t{number}" for number in range(20)]

    async def write(store: StateStore, order: list[str]) -> int:
        calls = [append(store, notes(1), thread_id=name) for name in order]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(one) for one in outcomes} <= {type(None), ConcurrentRunError}
        return outcomes.count(None)

    with ThreadPoolExecutor(2) as pool:
        orders = (names, names[::-1])
        wins = pool.map(lambda pair: asyncio.run(write(*pair)), zip(stores, orders, strict=True))
        assert sum(wins) == len(names)
    for store in stores:
        store.close()


def test_a_thread_that_stays_locked_is_an_error_and_keeps_nothing(schema: str) -> None:
    import psycopg

    async def scenario() -> None:
        store = PostgresStateStore(URL, schema=schema, busy_timeout=0.05)
        await append(store, notes(1))
        with psycopg.connect(URL) as connection:
            connection.execute("SELECT set_config('search_path', quote_ident(%s), true)", (schema,))
            connection.execute("SELECT id FROM branches FOR UPDATE")
            error = await refused(append(store, notes(1, after=1)), StoreBusyError)
            assert error.waited == 0.05
            assert list(await store.events("t")) == notes(1)
        await append(store, notes(1, after=1))
        await store.aclose()

    asyncio.run(scenario())


def test_a_connection_that_the_server_ended_is_made_again(schema: str) -> None:
    import psycopg

    async def scenario() -> None:
        store = PostgresStateStore(URL, schema=schema)
        await append(store, notes(1))
        (connection,) = store._server._idle
        with psycopg.connect(URL, autocommit=True) as other:
            ending = (connection.info.backend_pid, 60_000)  # waits until it is gone
            other.execute("SELECT pg_terminate_backend(%s, %s)", ending)
        await append(store, notes(1, after=1))
        assert list(await store.events("t")) == notes(2)
        await store.aclose()

    asyncio.run(scenario())


def test_a_store_of_a_later_nbgraph_is_refused(schema: str) -> None:
    import psycopg

    PostgresStateStore(URL, schema=schema).close()
    with psycopg.connect(URL, autocommit=True) as connection:
        connection.execute("SELECT set_config('search_path', quote_ident(%s), false)", (schema,))
        connection.execute("UPDATE store SET version = 99")
    with pytest.raises(
        StateStoreError, match=r"has schema 99, .* reads schemas up to 3; update nbgraph"
    ):
        PostgresStateStore(URL, schema=schema)


def at_schema(schema: str, version: int | None = None) -> int:
    """Set, if one is given, and return the version that a store's tables say they have."""
    import psycopg

    with psycopg.connect(URL, autocommit=True) as connection:
        connection.execute("SELECT set_config('search_path', quote_ident(%s), false)", (schema,))
        if version is not None:
            connection.execute("UPDATE store SET version = %s", (version,))
        (found,) = connection.execute("SELECT version FROM store").fetchone() or (0,)
    return found


async def shown(schema: str) -> object:
    store = PostgresStateStore(URL, schema=schema)
    try:
        return await seen(store)
    finally:
        await store.aclose()


def test_an_earlier_store_is_brought_up_to_date_by_the_first_that_opens_it(schema: str) -> None:
    store = PostgresStateStore(URL, schema=schema)
    asyncio.run(append(store, notes(3), question("t:0", asked=3)))
    expected = asyncio.run(seen(store))
    store.close()
    assert at_schema(schema, 2) == 2
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: asyncio.run(shown(schema)), range(4))
        assert list(found) == [expected] * 4
    assert at_schema(schema) == 3


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresStateStore(URL, schema=schema)
    asyncio.run(append(store, notes(3), question("t:0", asked=3)))
    expected = asyncio.run(seen(store))
    store.close()
    at_schema(schema, 2)
    with monkeypatch.context() as patch:
        steps = ("DELETE FROM commits", "ALTER TABLE branches DROP COLUMN head", "SELECT 1 / 0")
        patch.setattr("nbgraph.stores._postgres_server.MIGRATIONS", {2: steps})
        with pytest.raises(StateStoreError, match="division by zero"):
            PostgresStateStore(URL, schema=schema)
    assert at_schema(schema) == 2
    assert asyncio.run(shown(schema)) == expected


def test_a_store_from_before_all_that_can_be_brought_up_to_date_is_refused(schema: str) -> None:
    PostgresStateStore(URL, schema=schema).close()
    at_schema(schema, 1)
    with pytest.raises(StateStoreError, match=r"has schema 1, .* from 2 on"):
        PostgresStateStore(URL, schema=schema)
    assert at_schema(schema) == 1
