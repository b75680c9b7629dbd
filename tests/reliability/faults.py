"""Disks and servers that do not take what is written to them, from some write on."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nbgraph.errors import StateStoreError, StoreBusyError
from tests.reliability.processes import in_memory
from tests.reliability.runs import (
    Where,
    final_log,
    open_store,
    recorded,
    status_of,
    too_often,
)
from tests.reliability.walks import Variant, effects, go_on, walk
from tests.stores.postgres import URL, fresh_schema

Attempt = Callable[..., Any]


@contextmanager
def full(store: Any) -> Iterator[None]:
    """Let the database not grow any more, as where the disk is full."""
    cursor = store._file._cursor
    pages = cursor.execute("PRAGMA page_count").fetchone()[0]
    cursor.execute(f"PRAGMA max_page_count = {pages}")
    yield
    cursor.execute("PRAGMA max_page_count = 1000000")


@contextmanager
def unwritable(store: Any) -> Iterator[None]:
    """Let the system refuse each byte that is written to any file."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@contextmanager
def read_only(store: Any) -> Iterator[None]:
    cursor = store._file._cursor
    cursor.execute("PRAGMA query_only = ON")
    yield
    cursor.execute("PRAGMA query_only = OFF")


@contextmanager
def busy(store: Any) -> Iterator[None]:
    """Let somebody else be in the middle of a write that does not end."""
    other = sqlite3.connect(store._file.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.close()


FILE_FAULTS: dict[str, Any] = {
    "full": full,
    "unwritable": unwritable,
    "read-only": read_only,
    "busy": busy,
    "unheard": None,
}


def _ended(cursor: Any) -> None:
    """Let the server end the connection that is in use."""
    import psycopg

    (number,) = cursor.execute("SELECT pg_backend_pid()").fetchone()
    with psycopg.connect(URL, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 60000)", (number,))


def _ended_before(work: Attempt, cursor: Any) -> Any:
    _ended(cursor)
    return work(cursor)


def _ended_at_its_commit(work: Attempt, cursor: Any) -> Any:
    result = work(cursor)
    _ended(cursor)
    return result


def _in_a_read_only_transaction(work: Attempt, cursor: Any) -> Any:
    cursor.execute("SET TRANSACTION READ ONLY")
    return work(cursor)


SERVER_FAULTS: dict[str, Any] = {
    "ended before": _ended_before,
    "ended at its commit": _ended_at_its_commit,
    "read-only": _in_a_read_only_transaction,
    "unheard": None,
}


class Fault:
    """Lets a store fail from its `at`-th write on, until it is mended.

    One that is `"unheard"` writes, and then the word of it is lost.
    """

    def __init__(self, store: Any, name: str, at: int) -> None:
        self.name = name
        self.error = StoreBusyError if name == "busy" else StateStoreError
        self.happens = False
        self.happened = False
        self._writes = 0
        self._at = at
        self._store = store
        self._on_file = hasattr(store, "_file")
        database = store._file if self._on_file else store._server
        self._attempt: Attempt = database.attempt
        database.attempt = self._counted

    def _counted(self, work: Attempt, *, writes: bool) -> Any:
        if writes and self._writes == self._at and not self.happened:
            self._begin()
        self._writes += writes
        if not (writes and self.happens):
            return self._attempt(work, writes=writes)
        if self.name == "unheard":
            self._attempt(work, writes=writes)
            raise StateStoreError("nothing was heard of the commit")
        if self._on_file:
            return self._attempt(work, writes=writes)
        hurt = SERVER_FAULTS[self.name]
        return self._attempt(lambda cursor: hurt(work, cursor), writes=writes)

    def _begin(self) -> None:
        self.happens = self.happened = True
        fault = FILE_FAULTS.get(self.name) if self._on_file else None
        self._fault = fault and fault(self._store)
        if self._fault:
            self._fault.__enter__()

    def mend(self) -> None:
        self.happens = False
        if self.happened and self._fault:
            self._fault.__exit__(None, None, None)


Case = tuple[str, int]
"""A fault, and the write it begins with."""


def failing_file(case: Case, variant: Variant, steps: int, expected: list[str]) -> str | None:
    """Run on a file that fails, and again when it works; return what is wrong, or None.

    None stands for a run that ended before its fault.
    """
    with in_memory() as folder:
        return _failing(case, variant, steps, expected, folder / "t.db")


def failing_server(case: Case, variant: Variant, steps: int, expected: list[str]) -> str | None:
    """Run on a server that fails, and again when it works."""
    with fresh_schema() as schema:
        return _failing(case, variant, steps, expected, schema)


def _failing(
    case: Case, variant: Variant, steps: int, expected: list[str], where: Where
) -> str | None:
    """Let a run fail and go on, every second time with the same store, as a kernel does."""
    name, at = case
    lines: list[str] = []
    outside: list[str] = []
    store = open_store(where, busy_timeout=0.02)
    fault = Fault(store, name, at)
    graph = walk(variant, store, outside, steps)
    said: BaseException | None = None
    try:
        asyncio.run(go_on(graph, lines.append))
    except BaseException as error:  # noqa: BLE001 - which it is, is the question
        said = error
    fault.mend()
    if not fault.happened:
        store.close()
        return None
    wrong = _wrong_then(said, fault, status_of(graph), lines, where)
    if not wrong:
        _, done = recorded(where)
        before = effects(outside)
        if at % 2:
            store.close()
            store = open_store(where)
        asyncio.run(go_on(walk(variant, store, outside, steps), lambda line: None))
        found = final_log(where, variant, steps)
        wrong = too_often(variant, before, effects(outside), done)
        wrong = wrong if found == expected else f"state {found}"
    store.close()
    return f"{name} at write {at}: {wrong}" if wrong else ""


def _wrong_then(
    said: BaseException | None, fault: Fault, stands: str, lines: list[str], where: Where
) -> str:
    if said is None:
        return "" if stands == "completed" else f"it ended without an error, and is {stands}"
    if not isinstance(said, fault.error):
        return f"it raised {said!r}"
    if stands == "completed" and fault.name != "unheard":
        return "it failed, and is completed"
    lost = [line for line in lines if line not in recorded(where)[0]]
    return f"lost {lost}" if lost else ""
