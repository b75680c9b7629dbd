"""What the runtime costs: CPU time of supersteps, fan-outs, pauses and imports.

Run as `python benchmarks/runtime.py [part ...]`. Every figure is the least of several rounds of
CPU time, beside a floor: the same work written by hand, with one task, one check and one JSON text
a step, and with SQLite one row in one transaction. Figures depend on the machine: compare within
one run, and compare the ratio to the floor between machines. Set TMPDIR to a folder in memory.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from nbgraph import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    Resume,
    Send,
    SQLiteStateStore,
    add,
    interrupt,
    node,
    when,
)

ROUNDS = 5
TEXT = "x" * 200


class Count(BaseState):
    count: int = 0
    goal: int = 0


class Talk(BaseState):
    messages: Annotated[list[str], add] = Field(default_factory=list)
    count: int = 0
    goal: int = 0


@node
async def tick(state: Count) -> dict[str, Any]:
    return {"count": state.count + 1}


@node
async def speak(state: Talk) -> dict[str, Any]:
    return {"messages": [TEXT], "count": state.count + 1}


@node
async def ask(state: Talk) -> dict[str, Any]:
    agreed = interrupt(f"go on after {state.count}?", id="ok", response_schema=bool)
    return {"messages": ["yes" if agreed else "no"]}


def more(state: Any) -> bool:
    return state.count < state.goal


def looping(schema: Any, step: Any) -> Graph:
    graph = Graph(schema, max_steps=100_000)
    return graph.flow(START >> step, step >> when(more, step))


def fan_out(*, is_async: bool) -> Graph:
    async def work(state: Talk) -> dict[str, Any]:
        return {"messages": [str(state.count)]}

    def sync_work(state: Talk) -> dict[str, Any]:
        return {"messages": [str(state.count)]}

    each = node(name="each")(work if is_async else sync_work)

    def spread(state: Talk) -> Command:
        return Command(goto=[Send(each, {"count": at}) for at in range(state.goal)])

    return Graph(Talk).flow(START >> node(goto=[each])(spread), each >> END)


def cpu(work: Callable[[], Coroutine[Any, Any, Any]]) -> float:
    """Return the CPU seconds of one run."""

    async def measured() -> float:
        begin = time.process_time()
        await work()
        return time.process_time() - begin

    gc.collect()
    gc.disable()
    try:
        return asyncio.run(measured())
    finally:
        gc.enable()


def least(make: Callable[[], Callable[[], Coroutine[Any, Any, Any]]]) -> float:
    return min(cpu(make()) for _ in range(ROUNDS))


def row(what: str, spent: float, goal: str, floor: float | None = None) -> None:
    beside = "" if floor is None else f"{floor * 1e6:9.1f}"
    print(f"{what:44} {spent * 1e6:9.1f} us  floor {beside:>9}   goal {goal}")


# --- floors ---------------------------------------------------------------------------------


async def floor_steps(count: int, keep: Callable[[int, str], None]) -> None:
    adapter = TypeAdapter(int)
    state: dict[str, Any] = {"count": 0}

    async def step() -> dict[str, Any]:
        return {"count": state["count"] + 1}

    for number in range(count):
        update = await asyncio.create_task(step())
        state["count"] = adapter.validate_python(update["count"])
        keep(number, json.dumps({"type": "done", "update": update}))


def forget(_number: int, _body: str) -> None:
    """Keep nothing."""


def floor_sqlite(folder: Path) -> Callable[[int, str], None]:
    connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS log (n INTEGER PRIMARY KEY, body TEXT)")

    def keep(number: int, body: str) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT OR REPLACE INTO log VALUES (?, ?)", (number, body))
        connection.execute("COMMIT")

    return keep


async def floor_fan_out(count: int, *, is_async: bool) -> None:
    async def work(at: int) -> str:
        return str(at)

    if is_async:
        await asyncio.gather(*(work(at) for at in range(count)))
        return
    with ThreadPoolExecutor(8) as pool:
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(pool, str, at) for at in range(count)))


# --- parts ----------------------------------------------------------------------------------


def supersteps(folder: Path) -> None:
    steps, graph = 1000, looping(Count, tick)

    def run(store: Any) -> Callable[[], Coroutine[Any, Any, Any]]:
        thread = None if store is None else "t"
        return lambda: graph.ainvoke({"goal": steps}, thread_id=thread, state_store=store)

    def fresh_file() -> SQLiteStateStore:
        for old in folder.glob("steps.db*"):
            old.unlink()
        return SQLiteStateStore(folder / "steps.db")

    bare = least(lambda: lambda: floor_steps(steps, forget)) / steps
    disk = least(lambda: lambda: floor_steps(steps, floor_sqlite(folder))) / steps
    row("superstep, no store", least(lambda: run(None)) / steps, "20", bare)
    row("superstep, memory", least(lambda: run(InMemoryStateStore())) / steps, "25", bare)
    row("superstep, SQLite", least(lambda: run(fresh_file())) / steps, "45", disk)


def messages(folder: Path) -> None:
    graph = looping(Talk, speak)
    for steps in (500, 2000, 8000):
        for old in folder.glob("talk.db*"):
            old.unlink()
        store = SQLiteStateStore(folder / "talk.db")
        spent = cpu(
            lambda s=store, n=steps: graph.ainvoke({"goal": n}, thread_id="t", state_store=s)
        )
        size = sum(file.stat().st_size for file in folder.glob("talk.db*"))
        row(f"{steps:,} steps of 200 bytes, SQLite, a step", spent / steps, "60")
        print(f"{'':44} {size / 1e6:9.2f} MB of files")


def fan_outs(_: Path) -> None:
    for is_async in (True, False):
        graph = fan_out(is_async=is_async)
        for count in (1000, 5000):
            floor = least(lambda n=count, a=is_async: lambda: floor_fan_out(n, is_async=a)) / count
            spent = least(lambda g=graph, n=count: lambda: g.ainvoke({"goal": n})) / count
            kind = "async" if is_async else "sync"
            row(f"fan-out of {count:,}, {kind}, a task", spent, "25" if is_async else "35", floor)


def pauses(folder: Path) -> None:
    graph = Graph(Talk).flow(START >> ask >> END)
    for count in (10, 1000):
        spent = [paused(graph, count, folder / f"pause-{count}-{at}.db") for at in range(ROUNDS)]
        row(f"pause at {count:,} messages", min(first for first, _ in spent), "800")
        row(f"resume at {count:,} messages", min(then for _, then in spent), "1,200 / 3,500")


def paused(graph: Graph, count: int, file: Path) -> tuple[float, float]:
    """Return what a pause costs, in a file that is open, and what its answer does."""
    store = SQLiteStateStore(file)
    asyncio.run(store.threads())
    options: dict[str, Any] = {"thread_id": "t", "state_store": store}
    pause = cpu(lambda: graph.ainvoke({"messages": [TEXT] * count}, **options))
    return pause, cpu(lambda: graph.ainvoke(resume=Resume(True), **options))


def threads(_: Path) -> None:
    graph = Graph(Talk).flow(START >> speak, speak >> when(more, speak, otherwise=ask), ask >> END)

    async def many(store: Any) -> None:
        for number in range(200):
            await graph.ainvoke({"goal": 5}, thread_id=str(number), state_store=store)

    spent = least(lambda: lambda: many(InMemoryStateStore()))
    rate = f"{200 / spent:9.0f} a CPU second"
    print(f"{'threads of 5 steps and a pause, memory':44} {rate}   goal 2,500")


def imports(_: Path) -> None:
    code = (
        "import time; begin = time.process_time(); import nbgraph; "
        "used = time.process_time() - begin; "
        "print(used, open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    found = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
        for _ in range(ROUNDS)
    ]
    cpus, sizes = zip(*(map(float, each.stdout.split()) for each in found), strict=True)
    figures = f"{min(cpus) * 1e3:9.1f} ms, {min(sizes) / 1024:.1f} MB"
    print(f"{'import nbgraph':44} {figures}   goal 110 / 34")


PARTS: dict[str, Callable[[Path], None]] = {
    "supersteps": supersteps,
    "messages": messages,
    "fan_outs": fan_outs,
    "pauses": pauses,
    "threads": threads,
    "imports": imports,
}


def main(names: list[str]) -> None:
    """Measure the named parts, or all of them."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names or PARTS:
            PARTS[name](Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'peak memory of this process':44} {peak:9.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
