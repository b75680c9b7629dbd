"""Files that are damaged, and disks that do not take what is written to them."""

from __future__ import annotations

import asyncio
import random
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nbgraph import SQLiteStateStore
from nbgraph.errors import StateStoreError, StoreBusyError
from tests.reliability.processes import in_memory
from tests.reliability.runs import final_log, open_store, recorded, status_of, too_often
from tests.reliability.walks import Variant, effects, go_on, walk

SEED = 20_252


# --- damaged files ----------------------------------------------------------------------------


def damaged(number: int, content: bytes, log: bytes, expected: list[str]) -> str:
    """Read a damaged file; return "" for an error, "same", or what it was silently read as.

    Every fourth time the damage is in the write-ahead log, where it may cut off the last events:
    SQLite takes a log that breaks off for one whose last writes did not happen.
    """
    chance = random.Random(f"{SEED} {number}")
    torn = number % 4 == 3
    hurt = _hurt(log if torn else content, chance, cut=number % 10 == 9)
    with in_memory() as folder:
        path = folder / "t.db"
        path.write_bytes(content if not torn else hurt and content)
        Path(f"{path}-wal").write_bytes(hurt if torn else log)
        if not torn:
            path.write_bytes(hurt)
        try:
            found = asyncio.run(_read(path))
        except StateStoreError:
            return "error"
    if found == expected or (torn and found == expected[: len(found)]):
        return "same"
    return f"run {number}: {found}"


def _hurt(content: bytes, chance: random.Random, *, cut: bool) -> bytes:
    """Return a file with some bytes overwritten, or cut off."""
    if cut:
        return content[: chance.randrange(len(content))]
    size = chance.choice([1, 8, 64])
    place = chance.randrange(len(content) - size)
    return content[:place] + chance.randbytes(size) + content[place + size :]


async def _read(path: Path) -> list[str]:
    store = open_store(path)
    try:
        graph = walk("interrupt", store, [])
        return (await graph.load("t"))["log"] if await graph.exists("t") else []
    finally:
        await store.aclose()


# --- disks that fail --------------------------------------------------------------------------


@contextmanager
def _full(store: SQLiteStateStore) -> Iterator[None]:
    """The database may not grow any more, as where the disk is full."""
    cursor = store._file._cursor
    pages = cursor.execute("PRAGMA page_count").fetchone()[0]
    cursor.execute(f"PRAGMA max_page_count = {pages}")
    yield
    cursor.execute("PRAGMA max_page_count = 1000000")


@contextmanager
def _unwritable(store: SQLiteStateStore) -> Iterator[None]:
    """No byte can be written to any file: the system refuses each write."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@contextmanager
def _read_only(store: SQLiteStateStore) -> Iterator[None]:
    cursor = store._file._cursor
    cursor.execute("PRAGMA query_only = ON")
    yield
    cursor.execute("PRAGMA query_only = OFF")


@contextmanager
def _busy(store: SQLiteStateStore) -> Iterator[None]:
    """Somebody else is in the middle of a write that does not end."""
    other = sqlite3.connect(store._file.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.close()


FAULTS: dict[str, tuple[Any, type[StateStoreError]]] = {
    "full": (_full, StateStoreError),
    "unwritable": (_unwritable, StateStoreError),
    "read-only": (_read_only, StateStoreError),
    "busy": (_busy, StoreBusyError),
}


class _Fault:
    """Lets a store fail from its `at`-th write on, until it is mended."""

    def __init__(self, store: SQLiteStateStore, name: str, at: int) -> None:
        self.fault, self.error = FAULTS[name]
        self.fault = self.fault(store)
        self.happened = False
        self._writes = 0
        self._at = at
        self._attempt = store._file.attempt
        store._file.attempt = self._counted  # type: ignore[method-assign]

    def _counted(self, work: Callable[..., Any], *, writes: bool) -> Any:
        if writes and self._writes == self._at and not self.happened:
            self.fault.__enter__()
            self.happened = True
        self._writes += writes
        return self._attempt(work, writes=writes)

    def mend(self) -> None:
        if self.happened:
            self.fault.__exit__(None, None, None)


def failing(case: tuple[str, int], variant: Variant, steps: int, expected: list[str]) -> str | None:
    """Run until the disk fails, and again when it works; return what is wrong then.

    None if it never failed. Every second time the same store goes on, as in a kernel that lives.
    """
    name, at = case
    lines: list[str] = []
    outside: list[str] = []
    with in_memory() as folder:
        path = folder / "t.db"
        store = open_store(path, busy_timeout=0.02)
        fault = _Fault(store, name, at)
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
        wrong = _wrong_then(said, fault.error, status_of(graph), lines, path)
        if not wrong:
            _, done = recorded(path)
            before = effects(outside)
            if at % 2:
                store.close()
                store = open_store(path)
            asyncio.run(go_on(walk(variant, store, outside, steps), lambda line: None))
            wrong = _wrong_at_the_end(variant, path, steps, expected)
            wrong = wrong or too_often(variant, before, effects(outside), done)
        store.close()
    return f"{name} at write {at}: {wrong}" if wrong else ""


def _wrong_then(
    said: BaseException | None,
    expected: type[StateStoreError],
    stands: str,
    lines: list[str],
    path: Path,
) -> str:
    if said is None:
        return "" if stands == "completed" else f"it ended without an error, and is {stands}"
    if not isinstance(said, expected):
        return f"it raised {said!r}"
    if stands == "completed":
        return "it failed, and is completed"
    lost = [line for line in lines if line not in recorded(path)[0]]
    return f"lost {lost}" if lost else ""


def _wrong_at_the_end(variant: Variant, path: Path, steps: int, expected: list[str]) -> str:
    found = final_log(path, variant, steps)
    return "" if found == expected else f"state {found}"
