"""Processes are killed at any moment; what was told as recorded stays, and the end is right."""

from __future__ import annotations

import os
import random
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.reliability.processes import (
    NIGHTLY,
    count,
    forked,
    in_memory,
    on_both_cores,
    report,
    told,
)
from tests.reliability.runs import (
    Kind,
    calls_of,
    calm_log,
    dying_at,
    dying_at_statement,
    place,
    run_to_the_end,
    wrong_after,
)
from tests.reliability.walks import STEPS, VARIANTS, Variant
from tests.stores.postgres import URL

SEED = 20_251
SHORT = 10


def heard(said: Connection, lines: int) -> list[str]:
    """Return the first lines a process tells, as many as are wanted or there are."""
    found: list[str] = []
    while len(found) < lines:
        try:
            found.append(said.recv())
        except (EOFError, ConnectionResetError):
            break
    return found


def killed(number: int, variant: Variant, expected: list[str], kind: Kind) -> str:
    """Kill a run at a random moment; return what is wrong then."""
    chance = random.Random(f"{SEED} {variant} {number}")
    moment, spin = chance.randrange(62), chance.randrange(20_000)
    with in_memory() as folder, place(kind, folder) as path:
        outside = folder / "effects"
        with forked(run_to_the_end, path, outside, variant, STEPS, None) as (child, said):
            lines = heard(said, moment)
            for _ in range(spin):
                pass  # a moment between two events
            os.kill(child, signal.SIGKILL)
            lines += told(said)
        wrong = wrong_after(path, outside, variant, expected, lines)
    return f"run {number}, after {moment}: {wrong}" if wrong else ""


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_was_told_as_recorded_survives_a_kill_at_any_moment(
    tmp_path: Path, variant: Variant
) -> None:
    expected = calm_log(variant, tmp_path / "calm.db")
    outcomes = on_both_cores(killed, range(count(67, 400)), variant, expected, "sqlite")
    report(f"kill -9, {variant}", outcomes, SEED)


@pytest.mark.timeout(3600)
@pytest.mark.skipif(not URL, reason="NBGRAPH_TEST_PG names no PostgreSQL server")
@pytest.mark.parametrize("variant", VARIANTS if NIGHTLY else ("interrupt", "effect"))
def test_what_a_server_was_told_survives_a_kill_at_any_moment(
    tmp_path: Path, variant: Variant
) -> None:
    expected = calm_log(variant, tmp_path / "calm.db")
    outcomes = on_both_cores(killed, range(count(10, 200)), variant, expected, "postgres")
    report(f"kill -9 on PostgreSQL, {variant}", outcomes, SEED)


def killed_at(moment: int, variant: Variant, expected: list[str], *, each: bool) -> str | None:
    """Kill a short run at a call of the store, or at each statement; None if it ended before."""
    prepare = dying_at_statement(moment) if each else dying_at(moment)
    with in_memory() as folder:
        path, outside = folder / "t.db", folder / "effects"
        with forked(run_to_the_end, path, outside, variant, SHORT, prepare) as (_, said):
            lines = told(said)
        if lines[-1:] == ["end"]:
            return None
        wrong = wrong_after(path, outside, variant, expected, lines, SHORT)
    return f"moment {moment}: {wrong}" if wrong else ""


def killed_at_call(moment: int, variant: Variant, expected: list[str]) -> str | None:
    return killed_at(moment, variant, expected, each=False)


def killed_at_statement(moment: int, variant: Variant, expected: list[str]) -> str | None:
    return killed_at(moment, variant, expected, each=True)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_kill_before_or_after_any_call_of_the_store_loses_nothing(
    tmp_path: Path, variant: Variant
) -> None:
    expected = calm_log(variant, tmp_path / "calm.db", SHORT)
    calls, _ = calls_of(variant, tmp_path / "counted.db", SHORT)
    outcomes = on_both_cores(killed_at_call, range(2 * calls), variant, expected)
    assert sum(outcome is not None for outcome in outcomes) > SHORT
    report(f"kill at a store call, {variant}", outcomes, 0)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("variant", VARIANTS if NIGHTLY else ("sub-graph", "effect"))
def test_a_kill_at_any_statement_loses_nothing(tmp_path: Path, variant: Variant) -> None:
    expected = calm_log(variant, tmp_path / "calm.db", SHORT)
    _, statements = calls_of(variant, tmp_path / "counted.db", SHORT)
    moments = range(0, statements, count(7, 1))
    outcomes = on_both_cores(killed_at_statement, moments, variant, expected)
    assert sum(outcome is not None for outcome in outcomes) > SHORT
    report(f"kill at a statement, {variant}", outcomes, 0)
