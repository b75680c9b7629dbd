"""What grows: long threads, many threads, large states.

Run as `python benchmarks/stores.py --heavy`.

Counts and bytes are exact. Times are CPU time unless the line says otherwise; percentiles of single
calls are elapsed time, because it is what somebody waits for.
"""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from nbgraph import END, START, BaseState, Graph, Resume, add, branch, interrupt, node
from nbgraph.core.events import Event, SuperstepFinished, TaskFinished, TaskSpec
from nbgraph.core.store import BranchSummary, StateStore
from nbgraph.stores import SQLiteStateStore

Line = tuple[str, str, str]
"""What was measured, the figure, and the goal."""

TEXT = "x" * 200
RUNNING = BranchSummary("bench", "stopped", 1)


class Talk(BaseState):
    messages: Annotated[list[dict[str, str]], add] = Field(default_factory=list)
    left: int = 0


@node
async def speak(state: Talk) -> dict[str, object]:
    return {"messages": [{"role": "assistant", "content": TEXT}], "left": state.left - 1}


@node
async def ask(_: Talk) -> dict[str, object]:
    return {"left": interrupt(id="more", message="How many more?", response_schema=int)}


def further(state: Talk) -> str:
    return "speak" if state.left > 0 else "ask"


TALK = Graph(Talk, name="talk", max_steps=100_000).flow(
    START >> speak, speak >> branch(further, {"speak": speak, "ask": ask}), ask >> END
)


async def spent(work: Awaitable[object]) -> float:
    begin = time.process_time()
    await work
    return time.process_time() - begin


def talk(store: StateStore, thread: str, steps: int) -> Awaitable[object]:
    return TALK.ainvoke({"left": steps}, thread_id=thread, state_store=store)


# --- a thread that grows --------------------------------------------------------------------


def growth(folder: Path) -> Iterator[Line]:
    """Yield what 1,000 and 10,000 supersteps with a message each cost, and how that grows."""
    costs = {steps: _grown(folder / f"grown-{steps}.db", steps) for steps in (1_000, 10_000)}
    for steps, (seconds, size, _) in costs.items():
        yield f"{steps:,} steps of 200 bytes, a step", f"{seconds / steps * 1e6:.0f} us", "60"
        yield "  file", f"{size / 1e6:.2f} MB", "1.6 MB at 2,000"
    for at, what in enumerate(("time", "bytes")):
        ratio = costs[10_000][at] / costs[1_000][at]
        yield f"  exponent of {what}, 1,000 to 10,000", f"{math.log10(ratio):.2f}", "1.1"
    for steps, (_, _, resumed) in costs.items():
        yield f"resume after {steps:,} steps", f"{resumed * 1e3:.1f} ms", "3.5 ms at 1,000"


def _grown(path: Path, steps: int) -> tuple[float, int, float]:
    store = SQLiteStateStore(path)
    seconds = asyncio.run(spent(talk(store, "t", steps)))
    store.close()
    size = path.stat().st_size
    again = SQLiteStateStore(path)
    answer = TALK.ainvoke(resume=Resume(0), thread_id="t", state_store=again)
    resumed = asyncio.run(spent(answer))
    again.close()
    return seconds, size, resumed


# --- commits and syncs ----------------------------------------------------------------------


def syncs(folder: Path) -> Iterator[Line]:
    """Yield how often a superstep commits and syncs: one thread alone, and 100 at once."""
    for threads, goal in ((1, "1 and 1.1"), (100, "group commit: 0.2")):
        steps = 2_000 // threads
        commits, supersteps = asyncio.run(_committed(folder / f"c{threads}.db", threads, steps))
        what = f"{threads} live thread{'s' * (threads > 1)}"
        yield f"{what}: commits a superstep", f"{commits / supersteps:.3f}", goal
        synced = _synced(folder, threads, steps)
        figure = "strace is missing" if synced is None else f"{synced / supersteps:.3f}"
        yield f"{what}: fdatasync a superstep", figure, goal


async def _committed(path: Path, threads: int, steps: int) -> tuple[int, int]:
    """Run threads at once, and return how often the file was committed to, and the supersteps."""
    store = SQLiteStateStore(path)
    statements: list[str] = []
    connection: Any = store._file._cursor.connection  # pyright: ignore[reportPrivateUsage]
    connection.set_trace_callback(statements.append)
    await asyncio.gather(*(talk(store, str(number), steps) for number in range(threads)))
    store.close()
    return statements.count("COMMIT"), threads * (steps + 1)


def _synced(folder: Path, threads: int, steps: int) -> int | None:
    """Return how often the same work syncs, as counted by strace in a process of its own."""
    strace = shutil.which("strace")
    if strace is None:
        return None
    counted = folder / "strace.txt"
    work = [sys.executable, __file__, str(folder / f"s{threads}.db"), str(threads), str(steps)]
    command = [strace, "-f", "-c", "-e", "trace=fdatasync,fsync", "-o", str(counted), *work]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    rows = [row.split() for row in counted.read_text().splitlines()]
    return sum(int(row[3]) for row in rows if row and row[-1] in ("fdatasync", "fsync"))


# --- a million events -----------------------------------------------------------------------


def million(folder: Path) -> Iterator[Line]:
    """Yield what a thread of a million events costs whoever goes on with it."""
    path = folder / "million.db"
    store = SQLiteStateStore(path, durability="fast")
    begin = time.process_time()
    asyncio.run(_loaded(store, commits=500_000))
    yield "a million events, loaded in", f"{time.process_time() - begin:.0f} s", ""
    store.close()
    yield "  file", f"{path.stat().st_size / 1e6:.0f} MB", ""
    store = SQLiteStateStore(path)
    took = sorted(asyncio.run(_appended(store, head=1_000_000, commits=1_000)))
    yield "  append, the 99th of 100, elapsed", f"{took[989] * 1e3:.2f} ms", "20 ms"
    last = [asyncio.run(spent(store.events("t", after=1_001_900))) for _ in range(7)]
    yield "  the last 100 events", f"{min(last) * 1e3:.2f} ms", "5 ms"
    store.close()


async def _loaded(store: StateStore, *, commits: int, at_once: int = 1_000) -> None:
    for first in range(0, commits, at_once):
        # One turn of the loop, which is one transaction.
        await asyncio.gather(*(_append(store, 2 * n) for n in range(first, first + at_once)))


async def _appended(store: StateStore, *, head: int, commits: int) -> list[float]:
    took: list[float] = []
    for number in range(commits):
        begin = time.perf_counter()
        await _append(store, head + 2 * number)
        took.append(time.perf_counter() - begin)
    return took


def _append(store: StateStore, head: int) -> Awaitable[int]:
    update = {"messages": [{"role": "assistant", "content": TEXT}]}
    events: list[Event] = [
        TaskFinished(sequence=head + 1, task_id="speak", node="speak", update=update),
        SuperstepFinished(sequence=head + 2, next=(TaskSpec(task_id="speak", node="speak"),)),
    ]
    return store.append("t", "main", events, expected=head, summary=RUNNING)


# --- a large state --------------------------------------------------------------------------


class Archive(BaseState):
    text: str = ""
    pages: list[str] = Field(default_factory=list)
    count: int = 0


@node
async def count(state: Archive) -> dict[str, int]:
    return {"count": state.count + 1}


ARCHIVE = Graph(Archive, name="archive", max_steps=100).flow(
    START >> count, count >> branch(lambda state: state.count % 10 > 0, {True: count, False: END})
)


def large(folder: Path) -> Iterator[Line]:
    """Yield what ten steps add to a thread with 100 MB that they do not touch."""
    contents: dict[str, dict[str, object]] = {
        "one text": {"text": "x" * 100_000_000},
        "100,000 pages": {"pages": ["x" * 1_000] * 100_000},
    }
    for what, given in contents.items():
        path = folder / "large.db"
        store = SQLiteStateStore(path)
        turn = ARCHIVE.ainvoke(given, thread_id=what, state_store=store)
        yield f"100 MB in {what}: the first turn", f"{asyncio.run(spent(turn)):.2f} s", ""
        before = _closed_size(store, path)
        store = SQLiteStateStore(path)
        seconds = asyncio.run(spent(ARCHIVE.ainvoke({}, thread_id=what, state_store=store)))
        added = _closed_size(store, path) - before
        yield "  ten more steps add", f"{added / 1e3:.0f} kB", "1,000 kB"
        yield "  and take, with opening the thread", f"{seconds:.2f} s", ""
        path.unlink()


def _closed_size(store: SQLiteStateStore, path: Path) -> int:
    store.close()
    return path.stat().st_size


# --- many threads ---------------------------------------------------------------------------


def crowd(folder: Path) -> Iterator[Line]:
    """Yield how many threads of 5 steps and a pause a CPU second gets, in a file."""
    for live in (1, 100):
        store = SQLiteStateStore(folder / f"crowd-{live}.db")
        seconds = asyncio.run(spent(_crowded(store, threads=1_000, live=live)))
        store.close()
        what = "one after another" if live == 1 else f"{live} at once"
        yield f"1,000 threads, {what}, a CPU second", f"{1_000 / seconds:,.0f}", "2,500"


async def _crowded(store: StateStore, *, threads: int, live: int) -> None:
    waiting = iter(range(threads))

    async def worker() -> None:
        for number in waiting:
            await talk(store, str(number), 5)

    await asyncio.gather(*(worker() for _ in range(live)))


PARTS: tuple[Callable[[Path], Iterator[Line]], ...] = (syncs, growth, crowd, large, million)


def main(path: str, threads: str, steps: str) -> None:
    """Run threads at once; what strace watches."""
    asyncio.run(_committed(Path(path), int(threads), int(steps)))


if __name__ == "__main__":
    main(*sys.argv[1:])
