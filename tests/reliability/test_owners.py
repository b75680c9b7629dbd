"""Stopped owners, clocks that jump, disks that are full, files that are damaged."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from nbgraph import SQLiteStateStore
from nbgraph.errors import StateStoreError
from tests.reliability.processes import count, process, report, told
from tests.reliability.program import (
    effects,
    held_up,
    run_by_another_clock,
    run_to_the_end,
    walk,
    work_until_told,
)
from tests.reliability.test_kills import expected_log, final_log, recorded

SEED = 20_252


async def taken_over(path: Path, outside: Path) -> list[str]:
    store = SQLiteStateStore(path)
    graph = held_up(store, outside, lambda: None)
    result = await graph.ainvoke(None, thread_id="t")
    await store.aclose()
    return result.data["log"]


@pytest.mark.timeout(3600)
def test_a_stopped_owner_that_wakes_after_a_take_over_commits_nothing(tmp_path: Path) -> None:
    runs = count(25, 100)

    def one(number: int) -> str:
        path, outside = tmp_path / f"{number}.db", tmp_path / f"{number}"
        with process(work_until_told, path, outside) as (old, said):
            assert said.recv() == "in the node"
            os.kill(old.pid or 0, signal.SIGSTOP)
            log = asyncio.run(taken_over(path, outside))
            before = recorded(path)
            said.send("go on")
            os.kill(old.pid or 0, signal.SIGCONT)
            became = said.recv()
        if became not in {"ConcurrentRunError", "ClaimLostError"}:
            return f"run {number}: the old owner {became}"
        if log != [f"n{at}" for at in range(5)] or recorded(path) != before:
            return f"run {number}: {log}, {recorded(path)}"
        most = max(map(effects(outside).count, effects(outside)))
        return "" if most <= 2 else f"run {number}: {effects(outside)}"

    with ThreadPoolExecutor(2) as pool:
        failed = list(filter(None, pool.map(one, range(runs))))
    report("take-overs", runs, failed, 0)


@pytest.mark.parametrize(
    "shifts",
    [[0.0, -3600.0], [0.0, 315_360_000.0], [0.0, -3600.0, 315_360_000.0], [-1.7e9]],
    ids=["back an hour", "forward ten years", "both", "stuck in 1970"],
)
def test_clocks_that_jump_change_neither_order_nor_state(
    tmp_path: Path, shifts: list[float]
) -> None:
    expected = expected_log("interrupt", tmp_path)
    path, outside = tmp_path / "t.db", tmp_path / "effects"
    with process(run_by_another_clock, path, outside, shifts, place=2) as (_, told_here):
        lines = told(told_here)
    assert lines[-1] == "end"
    numbers = [int(line.split()[0].rpartition(":")[2]) for line in lines[:-1]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert final_log(path, "interrupt") == expected


def run_on_a_small_disk(path: Path, outside: Path, told_here: Connection, limit: int) -> None:
    """Run until no file may grow any more, and tell what the error is and where it stands."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = SQLiteStateStore(path)
    graph = walk("line", store, outside)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    try:
        asyncio.run(graph.ainvoke({}, thread_id="t"))
    except StateStoreError as error:
        said = type(error).__name__
    else:
        said = "finished"
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    stands = asyncio.run(_stands(store, "line", outside))
    told_here.send((said, stands))
    store.close()


async def _stands(store: SQLiteStateStore, variant: str, outside: Path) -> str:
    graph = walk("line", store, outside)
    return (await graph.position("t")).status if await graph.exists("t") else "new"


@pytest.mark.timeout(3600)
def test_a_full_disk_is_a_typed_error_and_the_run_can_go_on_later(tmp_path: Path) -> None:
    runs, chance = count(20, 200), random.Random(SEED)
    expected = expected_log("line", tmp_path)
    failed: list[str] = []
    for number in range(runs):
        path, outside = tmp_path / f"{number}.db", tmp_path / f"{number}"
        SQLiteStateStore(path).close()
        limit = chance.randrange(36_000, 400_000)
        with process(run_on_a_small_disk, path, outside, limit, place=2) as (_, told_here):
            said, stands = told_here.recv()
        if (said == "finished") != (stands == "completed"):
            failed.append(f"run {number}, limit {limit}: {said}, but it is {stands}")
        with process(run_to_the_end, path, outside, "line") as (_, told_here):
            lines = told(told_here)
        if lines[-1:] != ["end"] or final_log(path, "line") != expected:
            failed.append(f"run {number}, limit {limit}: it did not go on")
    report("full disks", runs, failed, SEED)


def test_a_damaged_file_is_never_read_as_another_state(tmp_path: Path) -> None:
    runs, chance = count(500, 5000), random.Random(SEED)
    expected = expected_log("interrupt", tmp_path)
    content = (tmp_path / "calm.db").read_bytes()
    path, silent, seen = tmp_path / "damaged.db", [], 0
    for number in range(runs):
        size = chance.choice([1, 8, 64])
        place = chance.randrange(len(content) - size)
        made = content[:place] + chance.randbytes(size) + content[place + size :]
        if number % 10 == 9:
            made = content[: chance.randrange(len(content))]
        path.write_bytes(made)
        try:
            log = asyncio.run(_read(path))
        except StateStoreError:
            seen += 1
            continue
        if log != expected:
            silent.append(f"run {number}: {size} bytes at {place}: {log}")
    assert seen > runs // 10
    report("damaged files", runs, silent, SEED)


async def _read(path: Path) -> list[str]:
    store = SQLiteStateStore(path)
    try:
        return (await walk("interrupt", store, path).load("t"))["log"]
    finally:
        await store.aclose()
