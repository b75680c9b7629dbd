"""What the state stores cost: CPU time, transactions, bytes.

Run as `python benchmarks/stores.py [folder]`. CPU time is the least of several rounds, beside the
least SQLite can do on this machine (one INSERT in one transaction); bytes and counts are exact.
"""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from nbgraph.core.events import Event, Interrupt, SuperstepFinished, TaskFinished, TaskSpec
from nbgraph.core.store import BranchRecord, BranchSummary, StateStore
from nbgraph.stores import InMemoryStateStore, SQLiteStateStore

ROUNDS = 7
STEPS = 500
RUNNING = BranchSummary("bench", "running", 1)


def superstep(expected: int, branch_id: str = "main") -> list[Event]:
    message = {"id": "m", "role": "assistant", "content": "x" * 200}
    place = {"branch_id": branch_id, "node": "agent"}
    return [
        TaskFinished(
            sequence=expected + 1,
            task_id="t1",
            update={"messages": [message]},
            started=1.5e9,
            duration=0.1,
            **place,
        ),
        SuperstepFinished(
            sequence=expected + 2, next=(TaskSpec(task_id="t2", node="agent"),), **place
        ),
    ]


async def cpu(work: Callable[[], Awaitable[object]]) -> float:
    gc.collect()
    gc.disable()
    begin = time.process_time()
    await work()
    spent = time.process_time() - begin
    gc.enable()
    return spent


async def append_alone(store: StateStore, thread: str, commits: list[list[Event]]) -> None:
    for number, commit in enumerate(commits):
        await store.append(thread, "main", commit, expected=2 * number, summary=RUNNING)


async def append_together(store: StateStore, name: str, commits: list[list[Event]]) -> None:
    threads = [append_alone(store, f"{name}-{number}", commits) for number in range(100)]
    await asyncio.gather(*threads)


async def times(store: StateStore) -> dict[str, float]:
    commits = [superstep(2 * number) for number in range(STEPS)]
    few = commits[:10]
    alone = [
        await cpu(lambda n=n: append_alone(store, f"alone-{n}", commits)) for n in range(ROUNDS)
    ]
    together = [
        await cpu(lambda n=n: append_together(store, f"group-{n}", few)) for n in range(ROUNDS)
    ]
    reading = [await cpu(lambda: store.events("alone-0")) for _ in range(ROUNDS)]
    forks = [await cpu(lambda n=n: fork(store, f"fork-{n}")) for n in range(ROUNDS)]
    return {
        "append, one thread (us)": min(alone) / STEPS * 1e6,
        "append, 100 threads (us)": min(together) / (len(few) * 100) * 1e6,
        "read 1,000 events (ms)": min(reading) * 1e3,
        "fork in the middle (ms)": min(forks) * 1e3,
    }


async def fork(store: StateStore, name: str) -> None:
    record = BranchRecord("alone-0", name, "main", STEPS, 1.5e9)
    pending = (Interrupt(key="t:0", id="0", node="agent", task_id="t", asked=STEPS + 1),)
    summary = BranchSummary("bench", "interrupted", 1, pending)
    await store.fork(record, superstep(STEPS, name)[:1], summary=summary)


def floor(path: Path) -> float:
    """Return the CPU microseconds of one INSERT in one transaction, written ahead and synced."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT)")
    rounds: list[float] = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(STEPS):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO rows (body) VALUES (?)", ("x" * 500,))
            connection.execute("COMMIT")
        rounds.append((time.process_time() - begin) / STEPS * 1e6)
    connection.close()
    return min(rounds)


def size(path: Path, work: Callable[[StateStore], Awaitable[object]]) -> int:
    """Return the bytes of the closed file after `work`."""
    store = SQLiteStateStore(path)
    asyncio.run(work(store))
    store.close()
    return path.stat().st_size


def bytes_of(folder: Path) -> dict[str, float]:
    commits = [superstep(2 * number) for number in range(2000)]
    path = folder / "bytes.db"
    log = size(path, lambda store: append_alone(store, "alone-0", commits))
    forked = size(path, lambda store: fork(store, "forked"))
    return {"2,000 commits (MB)": log / 1e6, "one fork (kB)": (forked - log) / 1e3}


def show(title: str, figures: dict[str, float]) -> None:
    print(title)
    for name, value in figures.items():
        print(f"  {name:<28}{value:>10.2f}")


def main(folder: Path) -> None:
    show("InMemoryStateStore", asyncio.run(times(InMemoryStateStore())))
    store = SQLiteStateStore(folder / "times.db")
    figures = asyncio.run(times(store))
    store.close()
    show("SQLiteStateStore", {"floor, one thread (us)": floor(folder / "floor.db")} | figures)
    show("SQLiteStateStore, bytes", bytes_of(folder))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None) as folder:
        main(Path(folder))
