"""Runs in processes of their own, and what is looked at when one is gone."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from nbgraph import Graph, PostgresStateStore, SQLiteStateStore
from nbgraph.core.events import OnceRecorded, TaskFinished
from tests.reliability.processes import forked, told
from tests.reliability.walks import (
    STEPS,
    Outside,
    Variant,
    acknowledged,
    effects,
    go_on,
    most,
    walk,
)
from tests.stores.postgres import URL, fresh_schema

Where = Path | str
"""The store of a run: a SQLite file, or the name of a schema on the server."""
Kind = Literal["sqlite", "postgres"]


def open_store(where: Where, **options: Any) -> Any:
    """Return the store of a run."""
    if isinstance(where, Path):
        return SQLiteStateStore(where, **options)
    return PostgresStateStore(URL, schema=where)


def place(kind: Kind, folder: Path) -> AbstractContextManager[Where]:
    """Return where a run keeps its store: a file in a folder, or a schema of its own."""
    return nullcontext(folder / "t.db") if kind == "sqlite" else fresh_schema()


def threads_in(where: Where) -> list[str]:
    """Return the threads in a store, those of sub-graphs too."""
    if isinstance(where, str):
        return _threads_on_server(where)
    if not where.exists() or not where.stat().st_size:
        return []
    with closing(sqlite3.connect(where)) as connection:
        made = connection.execute("SELECT name FROM sqlite_master WHERE name = 'branches'")
        found = connection.execute("SELECT thread FROM branches") if made.fetchall() else ()
        return [name for (name,) in found]


def _threads_on_server(schema: str) -> list[str]:
    import psycopg
    from psycopg import sql

    find = sql.SQL("SELECT thread FROM {}").format(sql.Identifier(schema, "branches"))
    made = "SELECT FROM pg_tables WHERE schemaname = %s AND tablename = 'branches'"
    with psycopg.connect(URL) as connection:
        if connection.execute(made, (schema,)).fetchone() is None:
            return []  # it was killed before its store made them
        return [name for (name,) in connection.execute(find)]


def run_to_the_end(
    path: Path,
    outside: Path,
    variant: Variant,
    steps: int,
    prepare: Callable[[SQLiteStateStore], None] | None,
    said: Connection,
) -> None:
    """Run until the thread is at its end, and tell all that is recorded."""
    store = open_store(path)
    if prepare is not None:
        prepare(store)

    async def main() -> None:
        await go_on(walk(variant, store, outside, steps), said.send)
        await store.aclose()

    asyncio.run(main())
    said.send("end")


def dying_at(moment: int) -> Callable[[SQLiteStateStore], None]:
    """Kill the process before (even) or after (odd) its `moment // 2`-th call of the store."""

    def prepare(store: SQLiteStateStore) -> None:
        attempt, calls = store._file.attempt, iter(range(10_000))

        def counted(work: Any, *, writes: bool) -> Any:
            call = next(calls)
            if moment == 2 * call:
                die()
            result = attempt(work, writes=writes)
            if moment == 2 * call + 1:
                die()
            return result

        store._file.attempt = counted  # type: ignore[method-assign]

    return prepare


def dying_at_statement(moment: int) -> Callable[[SQLiteStateStore], None]:
    """Kill the process when its `moment`-th SQL statement is about to run."""

    def prepare(store: SQLiteStateStore) -> None:
        statements = iter(range(100_000))

        def counted(statement: str) -> None:
            if next(statements) == moment:
                die()

        store._file._cursor.connection.set_trace_callback(counted)

    return prepare


def calls_of(variant: Variant, path: Path, steps: int) -> tuple[int, int]:
    """Return how many calls of the store, and how many SQL statements, an undisturbed run makes."""
    calls, statements = Counter[str](), list[str]()

    async def run() -> None:
        store = open_store(path, durability="fast")
        attempt = store._file.attempt

        def counted(work: Any, *, writes: bool) -> Any:
            calls["all"] += 1
            return attempt(work, writes=writes)

        store._file.attempt = counted  # type: ignore[method-assign]
        store._file._cursor.connection.set_trace_callback(statements.append)
        await go_on(walk(variant, store, [], steps), lambda line: None)
        store._file._cursor.connection.set_trace_callback(None)
        await store.aclose()

    asyncio.run(run())
    return calls["all"], len(statements)


def die() -> None:
    """End this process as an outage does."""
    os.kill(os.getpid(), signal.SIGKILL)


def calm_log(variant: Variant, path: Path, steps: int = STEPS) -> list[str]:
    """Return the state of a run that nobody disturbs, kept at `path`."""

    async def run() -> None:
        store = open_store(path, durability="fast")
        await go_on(walk(variant, store, [], steps), lambda line: None)
        await store.aclose()

    asyncio.run(run())
    return final_log(path, variant, steps)


def final_log(path: Where, variant: Variant, steps: int = STEPS) -> list[str]:
    """Return the state of a thread that is at its end, in a store without damage."""

    async def look() -> list[str]:
        store = open_store(path)
        try:
            assert await store.verify() == []
            graph = walk(variant, store, [], steps)
            assert (await graph.position("t")).status == "completed"
            return (await graph.load("t"))["log"]
        finally:
            await store.aclose()

    return asyncio.run(look())


def status_of(graph: Graph) -> str:
    """Return where a thread stands; "new" if it is not in the store."""

    async def look() -> str:
        return (await graph.position("t")).status if await graph.exists("t") else "new"

    return asyncio.run(look())


def recorded(where: Where) -> tuple[set[str], set[str]]:
    """Return the events in a store, as they are acknowledged, and what is done there for good."""
    threads = threads_in(where)
    if not threads:
        return set(), set()

    async def look() -> tuple[set[str], set[str]]:
        store, lines, done = open_store(where), set[str](), set[str]()
        for thread in threads:
            # A sub-graph's thread is <parent>:<name>:<event>, and so on further down.
            path = "/".join(thread.split(":")[1::2])
            for event in await store.events(thread):
                lines.add(acknowledged(path, event))
                match event:
                    case TaskFinished(task_id=name):
                        done.add(name)
                    case OnceRecorded(task_id=name, key="paid"):
                        done.add(f"paid:{name}")
        await store.aclose()
        return lines, done

    return asyncio.run(look())


def wrong_after(
    path: Where,
    outside: Outside,
    variant: Variant,
    expected: list[str],
    acknowledgements: list[str],
    steps: int = STEPS,
) -> str:
    """Go on to the end after a run was ended in the middle; return what is wrong then."""
    lines, done = recorded(path)
    before = effects(outside)
    lost = [line for line in acknowledgements if line not in lines and line != "end"]
    if lost:
        return f"lost {lost}"
    with forked(run_to_the_end, path, outside, variant, steps, None) as (_, said):
        last = told(said)[-1:]
    if last != ["end"]:
        return f"did not end: {last}"
    if (log := final_log(path, variant, steps)) != expected:
        return f"state {log}"
    return too_often(variant, before, effects(outside), done)


def too_often(variant: Variant, before: Counter[str], after: Counter[str], done: set[str]) -> str:
    """Return what was done though it was recorded as done, or more often than it may be."""
    again = [one for one in done if after[one] != before[one]]
    if again:
        return f"finished tasks ran again: {again}"
    repeated = {one: times for one, times in after.items() if times > most(variant, one)}
    return f"ran too often: {repeated}" if repeated else ""


def run_by_another_clock(
    path: Path, outside: Path, variant: Variant, shifts: list[float], said: Connection
) -> None:
    """Run while the clock jumps from one superstep to the next."""
    real, number = time.time, 0

    def now() -> float:
        nonlocal number
        number += 1
        return real() + shifts[number % len(shifts)]

    time.time = now
    run_to_the_end(path, outside, variant, STEPS, None, said)
