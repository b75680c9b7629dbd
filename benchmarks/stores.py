"""What the state stores cost: CPU time, transactions, bytes.

Run as `python benchmarks/stores.py [--heavy] [folder]`. CPU time is the least of several rounds,
beside the least SQLite can do on this machine (one INSERT in one transaction); bytes and counts are
exact. `--heavy` adds long threads, many of them and large states, which takes minutes and 1 GB.
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
from typing import Annotated

import scale
from pydantic import Field

from nbgraph import END, START, BaseState, Graph, add, branch, interrupt, node
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


class Talk(BaseState):
    messages: Annotated[list[dict[str, str]], add] = Field(default_factory=list)
    left: int = 0


def talk(store: StateStore) -> Graph:
    """Return a graph that says `left` messages of 200 bytes, and then asks."""

    @node
    async def speak(state: Talk) -> dict[str, object]:
        message = {"role": "assistant", "content": f"{state.left:0200d}"}
        return {"messages": [message], "left": state.left - 1}

    @node
    async def ask(_: Talk) -> dict[str, object]:
        return {"left": interrupt(id="more", message="How many more?", response_schema=int)}

    flow = (START >> speak, speak >> branch(_further, {"speak": speak, "ask": ask}), ask >> END)
    return Graph(Talk, name="talk", state_store=store, max_steps=100_000).flow(*flow)


def _further(state: Talk) -> str:
    return "speak" if state.left > 0 else "ask"


async def graphs(folder: Path) -> dict[str, float]:
    """Return what whole runs cost on a file: steps, a resume, pages of a long list."""
    found: dict[str, float] = {}
    for steps in (10, 1000, 2000):
        path = folder / f"{steps}.db"
        store = SQLiteStateStore(path)
        run = await cpu(lambda s=steps, t=store: talk(t).ainvoke({"left": s}, thread_id="t"))
        store.close()
        found[f"{steps:,} steps (us a step)"] = run / steps * 1e6
        found[f"{steps:,} steps (MB)"] = path.stat().st_size / 1e6
        found[f"load at {steps:,} (ms)"] = min([await _loaded(path) for _ in range(ROUNDS)]) * 1e3
    return found


async def _loaded(path: Path) -> float:
    store = SQLiteStateStore(path)
    graph = talk(store)
    spent = await cpu(lambda: graph.position("t"))
    store.close()
    return spent


async def lists(folder: Path) -> dict[str, float]:
    """Return what pages of many waiting questions and the end of a long log cost."""
    store = SQLiteStateStore(folder / "lists.db", durability="fast")
    for begin in range(0, 10_000, 500):
        await asyncio.gather(*(_ask(store, number) for number in range(begin, begin + 500)))
    first = await store.pending(limit=100)
    page = [await cpu(lambda: store.pending(limit=100, after=first[-1])) for _ in range(ROUNDS)]
    await append_alone(store, "long", [superstep(2 * number) for number in range(5_000)])
    last = [await cpu(lambda: store.events("long", after=9_990)) for _ in range(ROUNDS)]
    begin = time.process_time()
    assert await store.verify() == []
    verified = time.process_time() - begin
    store.close()
    return {
        "100 of 10,000 questions (ms)": min(page) * 1e3,
        "last 10 of 10,000 events (ms)": min(last) * 1e3,
        "verify 15,000 commits (ms)": verified * 1e3,
    }


async def _ask(store: StateStore, number: int) -> None:
    asked = Interrupt(
        key="t:0", id="0", node="agent", task_id="t", asked=1, created_at=float(number)
    )
    summary = BranchSummary("bench", "interrupted", 1, (asked,))
    await store.append(f"t{number}", "main", superstep(0), expected=0, summary=summary)


def show(title: str, figures: dict[str, float]) -> None:
    print(title)
    for name, value in figures.items():
        print(f"  {name:<32}{value:>10.2f}")


def heavy(folder: Path) -> None:
    print("SQLiteStateStore, what grows")
    for part in scale.PARTS:
        for what, figure, goal in part(folder):
            print(f"  {what:<46}{figure:>14}   {goal}", flush=True)


def main(folder: Path) -> None:
    show("InMemoryStateStore", asyncio.run(times(InMemoryStateStore())))
    store = SQLiteStateStore(folder / "times.db")
    figures = asyncio.run(times(store))
    store.close()
    show("SQLiteStateStore", {"floor, one thread (us)": floor(folder / "floor.db")} | figures)
    show("SQLiteStateStore, bytes", bytes_of(folder))
    show("SQLiteStateStore, graphs", asyncio.run(graphs(folder)))
    show("SQLiteStateStore, lists", asyncio.run(lists(folder)))


if __name__ == "__main__":
    folders = [each for each in sys.argv[1:] if each != "--heavy"]
    with tempfile.TemporaryDirectory(dir=folders[0] if folders else None) as name:
        main(Path(name))
        if "--heavy" in sys.argv[1:]:
            heavy(Path(name))
