"""What the runtime costs: CPU time of supersteps, fan-outs, pauses and imports.

Run as `python benchmarks/runtime.py [part ...]`. Every figure is the least of several rounds of
CPU time, beside a floor: the same work written by hand, with one task, one check and one JSON text
a step, and with SQLite one row in one transaction. LangGraph and burr do the same work in the same
run where they are installed (`pip install langgraph langgraph-checkpoint-sqlite apache-burr`); what
burr cannot do stays empty. Figures depend on the machine: compare within one run, and compare the
ratio to the floor between machines. Set TMPDIR to a folder in memory to leave out the disk.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
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
PEER_ROUNDS = 2
TEXT = "x" * 200

Work = Callable[[], Coroutine[Any, Any, Any]]


def found(module: str) -> Any:
    """Return a peer's module, or None where the peer is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


PEERS = {"LangGraph": found("langgraph_peer"), "burr": found("burr_peer")}


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
async def begin(_: Talk) -> None:
    """Do nothing: what follows depends on the input."""


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


def cpu(work: Work) -> float:
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


def least(make: Callable[[], Work], *, rounds: int = ROUNDS) -> float:
    return min(cpu(make()) for _ in range(rounds))


Others = list[float | None]


def beside(part: str, *given: Any, rounds: int = PEER_ROUNDS, **options: Any) -> Others:
    """Return what each peer takes for the same work, where it is installed and can do it."""
    works = [getattr(peer, part, None) for peer in PEERS.values()]
    return [
        None if work is None else least(lambda w=work: w(*given, **options), rounds=rounds)
        for work in works
    ]


def row(
    what: str,
    spent: float,
    *,
    times: int = 1,
    floor: float | None = None,
    others: Sequence[float | None] = (),
    goal: str = "",
) -> None:
    """Print one line of the table, in microseconds for each of `times`."""
    cells = ["" if one is None else f"{one / times * 1e6:,.1f}" for one in (spent, floor, *others)]
    line(what, cells[0], cells[1], cells[2:], goal)


def line(
    what: str, spent: str, floor: str = "", others: Sequence[str] = (), goal: str = ""
) -> None:
    cells = [*others, *[""] * len(PEERS)][: len(PEERS)]
    print(
        f"{what:42} {spent:>10} {floor:>10} {' '.join(f'{one:>10}' for one in cells)}   {goal}",
        flush=True,
    )


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

    def run(store: Any) -> Work:
        thread = None if store is None else "t"
        return lambda: graph.ainvoke({"goal": steps}, thread_id=thread, state_store=store)

    def fresh_file() -> SQLiteStateStore:
        for old in folder.glob("steps.db*"):
            old.unlink()
        return SQLiteStateStore(folder / "steps.db")

    bare = least(lambda: lambda: floor_steps(steps, forget))
    disk = least(lambda: lambda: floor_steps(steps, floor_sqlite(folder)))
    kinds: tuple[tuple[str, Callable[[], Any], float, str], ...] = (
        ("nothing", lambda: None, bare, "20"),
        ("memory", InMemoryStateStore, bare, "25"),
        ("SQLite", fresh_file, disk, "45"),
    )
    for keep, store, floor, goal in kinds:
        spent = least(lambda make=store: run(make()))
        others = beside("steps", steps, keep, folder / "peer-steps.db")
        row(f"superstep, {keep}", spent, times=steps, floor=floor, others=others, goal=goal)


def messages(folder: Path) -> None:
    graph = looping(Talk, speak)
    for steps in (500, 2000, 8000):
        for old in folder.glob("*talk.db*"):
            old.unlink()
        store = SQLiteStateStore(folder / "talk.db")
        spent = cpu(
            lambda s=store, n=steps: graph.ainvoke({"goal": n}, thread_id="t", state_store=s)
        )
        store.close()
        size = sum(file.stat().st_size for file in folder.glob("talk.db*"))
        others: Others = []
        if steps <= 2000:  # theirs grow with the square of the steps
            others = beside("steps", steps, "SQLite", folder / "peer-talk.db", TEXT, rounds=1)
        what = f"a step of {steps:,}, 200 bytes each, SQLite"
        row(what, spent, times=steps, others=others, goal="60")
        line("  and its file", f"{size / 1e6:.2f} MB", goal="1.6 MB at 2,000" * (steps == 2000))


def fan_outs(_: Path) -> None:
    for is_async in (True, False):
        graph = fan_out(is_async=is_async)
        for count in (1000, 5000):
            floor = least(lambda n=count, a=is_async: lambda: floor_fan_out(n, is_async=a))
            spent = least(lambda g=graph, n=count: lambda: g.ainvoke({"goal": n}))
            others: Others = []
            if count == 1000:
                others = beside("fan_out", count, is_async=is_async)
            what = f"a task of {count:,} at once, {'async' if is_async else 'sync'}"
            goal = "25" if is_async else "35"
            row(what, spent, times=count, floor=floor, others=others, goal=goal)


def pauses(folder: Path) -> None:
    """Measure a turn that asks, in a thread that has `count` messages, and its answer."""
    graph = Graph(Talk).flow(START >> begin, begin >> when(more, ask), ask >> END)
    for count, goal in ((10, "1,200"), (1000, "3,500")):
        files = [folder / f"pause-{count}-{at}.db" for at in range(ROUNDS)]
        spent = [paused(graph, count, file) for file in files]
        others = peer_paused(count, folder)
        for what, at, limit in (("pause", 0, "800"), ("resume", 1, goal)):
            least_of = min(found[at] for found in spent)
            theirs = [None if others is None else min(found[at] for found in others)]
            row(f"{what} at {count:,} messages, SQLite", least_of, others=theirs, goal=limit)


def peer_paused(count: int, folder: Path) -> list[tuple[float, ...]] | None:
    peer = PEERS["LangGraph"]
    if peer is None:
        return None
    rounds: list[tuple[float, ...]] = []
    for at in range(PEER_ROUNDS):
        start, *turns = peer.pause_and_resume([TEXT] * count, folder / f"peer-{count}-{at}.db")
        cpu(start)
        rounds.append(tuple(map(cpu, turns)))
    return rounds


def paused(graph: Graph, count: int, file: Path) -> tuple[float, float]:
    """Return what a pause costs, and what its answer does to whoever opens the file anew."""
    first = SQLiteStateStore(file)
    options: dict[str, Any] = {"thread_id": "t", "state_store": first}
    asyncio.run(graph.ainvoke({"messages": [TEXT] * count}, **options))
    pause = cpu(lambda: graph.ainvoke({"goal": 1}, **options))
    first.close()
    again = SQLiteStateStore(file)
    asyncio.run(again.threads())
    options["state_store"] = again
    resume = cpu(lambda: graph.ainvoke(resume=Resume(True), **options))
    again.close()
    return pause, resume


def threads(_: Path) -> None:
    graph = Graph(Talk).flow(START >> speak, speak >> when(more, speak, otherwise=ask), ask >> END)

    async def many(store: Any) -> None:
        for number in range(200):
            await graph.ainvoke({"goal": 5}, thread_id=str(number), state_store=store)

    bare = least(lambda: lambda: floor_steps(6 * 200, forget))
    spent = least(lambda: lambda: many(InMemoryStateStore()))
    cells = ["" if one is None else f"{200 / one:,.0f}" for one in beside("threads", 200)]
    what = "threads of 5 steps and a pause, a second"
    line(what, f"{200 / spent:,.0f}", f"{200 / bare:,.0f}", cells, "2,500, memory")


def imports(folder: Path) -> None:
    """Import in new processes whose bytecode is cached, as it is after an installation."""
    modules = {"LangGraph": "langgraph.graph", "burr": "burr.core"}
    names = ["nbgraph", "pydantic", *(modules[name] for name, peer in PEERS.items() if peer)]
    costs = {name: imported(name, folder) for name in names}
    cpus = {name: f"{spent * 1e3:,.0f} ms" for name, (spent, _) in costs.items()}
    sizes = {name: f"{size:.0f} MB" for name, (_, size) in costs.items()}
    for what, figures, goal in (("import", cpus, "110 ms"), ("  and its memory", sizes, "34 MB")):
        others = [figures.get(modules[name], "") for name in PEERS]
        line(what, figures["nbgraph"], figures["pydantic"], others, f"{goal}; floor: pydantic")


def imported(name: str, folder: Path) -> tuple[float, float]:
    """Return the CPU seconds and megabytes of importing a module with a pydantic model in it."""
    code = (
        f"import time; begin = time.process_time(); import asyncio, {name}; "
        "from pydantic import BaseModel; used = time.process_time() - begin; "
        "print(used, open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    settings = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, text=True, env=settings
        )
        for _ in range(ROUNDS + 1)
    ]
    cpus, sizes = zip(*(map(float, run.stdout.split()) for run in runs), strict=True)
    return min(cpus), min(sizes) / 1024


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
    missing = [name for name, peer in PEERS.items() if peer is None]
    if missing:
        print(f"Not installed, so the column stays empty: {', '.join(missing)}")
    line("microseconds of CPU time", "nbgraph", "floor", list(PEERS), "goal")
    with tempfile.TemporaryDirectory() as folder:
        for name in names or PARTS:
            PARTS[name](Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line("peak memory of this process", f"{peak:.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
