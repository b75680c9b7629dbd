"""Disks that take nothing more at any write, and files that are damaged anywhere."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from nbgraph import SQLiteStateStore
from tests.reliability.damage import SEED, damaged
from tests.reliability.faults import FILE_FAULTS, SERVER_FAULTS, failing_file, failing_server
from tests.reliability.processes import NIGHTLY, count, on_both_cores, report
from tests.reliability.runs import calls_of, calm_log, open_store
from tests.reliability.walks import VARIANTS, Variant, go_on, walk
from tests.stores.postgres import URL

SHORT = 10


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_disk_that_fails_at_any_write_is_a_typed_error_and_the_run_can_go_on_later(
    tmp_path: Path, variant: Variant
) -> None:
    steps = count(SHORT, 30)
    expected = calm_log(variant, tmp_path / "calm.db", steps)
    calls, _ = calls_of(variant, tmp_path / "counted.db", steps)
    cases = [(name, at) for name in FILE_FAULTS for at in range(calls)]
    outcomes = on_both_cores(failing_file, cases, variant, steps, expected)
    assert sum(outcome is not None for outcome in outcomes) > len(FILE_FAULTS) * steps // 2
    report(f"disks that fail, {variant}", outcomes, 0)


@pytest.mark.timeout(3600)
@pytest.mark.skipif(not URL, reason="NBGRAPH_TEST_PG names no PostgreSQL server")
@pytest.mark.parametrize("variant", VARIANTS if NIGHTLY else ("sub-graph", "effect"))
def test_a_server_that_fails_at_any_write_is_a_typed_error_and_the_run_can_go_on_later(
    tmp_path: Path, variant: Variant
) -> None:
    expected = calm_log(variant, tmp_path / "calm.db", SHORT)
    calls, _ = calls_of(variant, tmp_path / "counted.db", SHORT)
    cases = [(name, at) for name in SERVER_FAULTS for at in range(0, calls, count(5, 1))]
    outcomes = on_both_cores(failing_server, cases, variant, SHORT, expected)
    assert sum(outcome is not None for outcome in outcomes) > SHORT
    report(f"servers that fail, {variant}", outcomes, 0)


@pytest.mark.timeout(3600)
def test_a_damaged_file_is_never_read_as_another_state(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    store = open_store(path, durability="fast")
    expected = asyncio.run(_interrupted(store))
    content, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    store.close()
    outcomes = on_both_cores(damaged, range(count(500, 20_000)), content, log, expected)
    seen = outcomes.count("error")
    assert seen > len(outcomes) // 10
    report("damaged files", ["" if one in ("error", "same") else one for one in outcomes], SEED)


async def _interrupted(store: SQLiteStateStore) -> list[str]:
    """Leave a store as a killed process does, part of it in the log; return a thread's state."""
    graph = walk("interrupt", store, [])
    await go_on(graph, lambda line: None)
    with store._file._lock:
        store._file._cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    await graph.ainvoke({}, thread_id="t")
    return (await graph.load("t"))["log"]
