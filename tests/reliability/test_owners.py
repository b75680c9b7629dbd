"""Stopped owners that wake up after a take-over, and clocks that jump."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.processes import count, in_memory, on_both_cores, process, report, told
from tests.reliability.runs import calm_log, final_log, run_by_another_clock
from tests.reliability.takeovers import taken_over
from tests.reliability.walks import Variant

HOUR, TEN_YEARS = 3600.0, 315_360_000.0


@pytest.mark.timeout(3600)
def test_a_stopped_owner_that_wakes_after_a_take_over_commits_nothing() -> None:
    report("take-overs", on_both_cores(taken_over, range(count(100, 2000))), 0)


@pytest.mark.parametrize("variant", ["interrupt", "sub-graph"])
@pytest.mark.parametrize(
    "shifts",
    [[0.0, -HOUR], [0.0, TEN_YEARS], [0.0, -HOUR, TEN_YEARS], [-1.7e9]],
    ids=["back an hour", "forward ten years", "both", "stuck in 1970"],
)
def test_clocks_that_jump_change_neither_order_nor_state(
    tmp_path: Path, shifts: list[float], variant: Variant
) -> None:
    expected = calm_log(variant, tmp_path / "calm.db")
    with in_memory() as folder:
        path, outside = folder / "t.db", folder / "effects"
        with process(run_by_another_clock, path, outside, variant, shifts) as (_, said):
            lines = told(said)
        found = final_log(path, variant)
    assert lines[-1] == "end"
    own = [line.split() for line in lines[:-1] if line.startswith("- ")]
    numbers = [int(number) for _, number, _ in own]
    assert numbers == list(range(1, len(numbers) + 1))
    assert found == expected
