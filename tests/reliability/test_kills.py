"""Processes are killed at any moment; what was told as recorded stays, and the end is right."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from nbgraph import SQLiteStateStore
from nbgraph.core.events import TaskFinished
from tests.reliability.processes import count, process, report, told
from tests.reliability.program import Variant, effects, run_to_the_end, walk

SEED = 20_251
VARIANTS: tuple[Variant, ...] = ("line", "fan-out", "interrupt", "once")


def expected_log(variant: Variant, folder: Path) -> list[str]:
    """Return the state of a run that nobody disturbs."""
    path = folder / "calm.db"
    with process(run_to_the_end, path, folder / "calm", variant) as (_, told_here):
        assert told(told_here)[-1] == "end"
    return final_log(path, variant)


def final_log(path: Path, variant: Variant) -> list[str]:
    async def look() -> list[str]:
        store = SQLiteStateStore(path)
        try:
            assert await store.verify() == []
            graph = walk(variant, store, path)
            assert (await graph.position("t")).status == "completed"
            return (await graph.load("t"))["log"]
        finally:
            await store.aclose()

    return asyncio.run(look())


def recorded(path: Path) -> tuple[list[str], Counter[str]]:
    """Return the events in a store, and the tasks that are finished there."""

    async def look() -> tuple[list[str], Counter[str]]:
        store = SQLiteStateStore(path)
        try:
            if not await store.threads():
                return [], Counter()
            events = await store.events("t")
            done = Counter(one.task_id for one in events if isinstance(one, TaskFinished))
            return [f"{one.id} {one.type}" for one in events], done
        finally:
            await store.aclose()

    return asyncio.run(look()) if path.exists() and path.stat().st_size else ([], Counter())


def wrong_after_kill(
    folder: Path, variant: Variant, expected: list[str], acknowledged: list[str]
) -> str:
    """Go on after a kill to the end, and return what is wrong then."""
    path, outside = folder / "t.db", folder / "effects"
    events, done = recorded(path)
    before = Counter(effects(outside))
    lost = [line for line in acknowledged if line not in events and line != "end"]
    if lost:
        return f"lost {lost}"
    with process(run_to_the_end, path, outside, variant) as (_, told_here):
        lines = told(told_here)
    if lines[-1:] != ["end"]:
        return f"did not end: {lines[-3:]}"
    if (log := final_log(path, variant)) != expected:
        return f"state {log}"
    after = Counter(effects(outside))
    again = [one for one in done if after[one] != before[one] and variant != "interrupt"]
    if again:
        return f"finished tasks ran again: {again}"
    most = 3 if variant == "interrupt" else 2  # a node that asks runs once more when answered
    repeated = {one: times for one, times in after.items() if times > most}
    return f"ran too often: {repeated}" if repeated else ""


def kill_after(connection: Connection, acknowledgements: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < acknowledgements:
        try:
            lines.append(connection.recv())
        except EOFError:
            break
    return lines


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_was_told_as_recorded_survives_a_kill_at_any_moment(
    tmp_path: Path, variant: Variant
) -> None:
    runs, chance = count(40, 400), random.Random(SEED)
    expected = expected_log(variant, tmp_path)
    moments = [chance.randrange(62) for _ in range(runs)]

    def one(number: int) -> str:
        folder = tmp_path / str(number)
        folder.mkdir()
        path, outside = folder / "t.db", folder / "effects"
        with process(run_to_the_end, path, outside, variant) as (made, told_here):
            lines = kill_after(told_here, moments[number])
            made.kill()
            lines += told(told_here)
        problem = wrong_after_kill(folder, variant, expected, lines)
        return f"run {number}, after {moments[number]}: {problem}" if problem else ""

    with ThreadPoolExecutor(2) as pool:
        failed = list(filter(None, pool.map(one, range(runs))))
    report(f"kill -9, {variant}", runs, failed, SEED)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_kill_before_or_after_any_transaction_loses_nothing(
    tmp_path: Path, variant: Variant
) -> None:
    expected = expected_log(variant, tmp_path)
    step = count(5, 1)

    def one(moment: int) -> str | None:
        folder = tmp_path / str(moment)
        folder.mkdir()
        path, outside = folder / "t.db", folder / "effects"
        with process(run_to_the_end, path, outside, variant, moment, place=3) as (_, told_here):
            lines = told(told_here)
        if lines[-1:] == ["end"]:
            return None
        problem = wrong_after_kill(folder, variant, expected, lines)
        return f"moment {moment}: {problem}" if problem else ""

    outcomes: list[str] = []
    with ThreadPoolExecutor(2) as pool:
        for outcome in pool.map(one, range(0, 2 * 60, step)):
            if outcome is not None:
                outcomes.append(outcome)
    assert len(outcomes) >= 2 * 10 // step
    report(f"kill at a transaction, {variant}", len(outcomes), list(filter(None, outcomes)), 0)
