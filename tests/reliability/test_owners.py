"""Stopped owners that wake up after a take-over, and clocks that jump."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.reliability.processes import count, forked, in_memory, on_both_cores, report, told
from tests.reliability.runs import calm_log, final_log, run_by_another_clock
from tests.reliability.takeovers import taken_over
from tests.reliability.walks import Variant

SEED = 20_254
HOUR, TEN_YEARS = 3600.0, 315_360_000.0


@pytest.mark.timeout(3600)
def test_a_stopped_owner_that_wakes_after_a_take_over_commits_nothing() -> None:
    report("take-overs", on_both_cores(taken_over, range(count(100, 2000))), 0)


def _jumps() -> list[list[float]]:
    """Return by how much clocks are wrong, from one look at them to the next."""
    chance = random.Random(SEED)
    fixed = [[0.0, -HOUR], [0.0, TEN_YEARS], [0.0, -HOUR, TEN_YEARS], [-1.7e9]]
    more = [
        [chance.uniform(-TEN_YEARS, TEN_YEARS) for _ in range(chance.randrange(1, 6))]
        for _ in range(count(0, 200))
    ]
    return fixed + more


def by_another_clock(shifts: list[float], variant: Variant, expected: list[str]) -> str:
    """Run by clocks that jump; return what is wrong then."""
    with in_memory() as folder:
        path, outside = folder / "t.db", folder / "effects"
        with forked(run_by_another_clock, path, outside, variant, shifts) as (_, said):
            lines = told(said)
        found = final_log(path, variant)
    own = [line.split() for line in lines[:-1] if line.startswith("- ")]
    numbers = [int(number) for _, number, _ in own]
    if lines[-1:] != ["end"] or numbers != list(range(1, len(numbers) + 1)):
        return f"clocks off by {shifts}: told {lines}"
    return "" if found == expected else f"clocks off by {shifts}: state {found}"


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("variant", ["interrupt", "sub-graph"])
def test_clocks_that_jump_change_neither_order_nor_state(tmp_path: Path, variant: Variant) -> None:
    expected = calm_log(variant, tmp_path / "calm.db")
    outcomes = on_both_cores(by_another_clock, _jumps(), variant, expected)
    report(f"clocks that jump, {variant}", outcomes, SEED)
