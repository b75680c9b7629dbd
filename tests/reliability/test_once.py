"""Tools that run at most once are killed in the middle: each is asked about, none runs twice."""

from __future__ import annotations

import pytest

from tests.reliability.processes import count, on_both_cores, report
from tests.reliability.tools import SEED, fallen
from tests.stores.postgres import URL


@pytest.mark.timeout(3600)
def test_a_call_that_was_killed_in_the_middle_is_asked_about_and_not_repeated() -> None:
    outcomes = on_both_cores(fallen, range(count(100, 3000)), "sqlite")
    report("once-tools killed in the middle, SQLite", outcomes, SEED)


@pytest.mark.timeout(3600)
@pytest.mark.skipif(not URL, reason="NBGRAPH_TEST_PG names no PostgreSQL server")
def test_a_call_on_a_server_that_was_killed_in_the_middle_is_asked_about() -> None:
    outcomes = on_both_cores(fallen, range(count(20, 300)), "postgres")
    report("once-tools killed in the middle, PostgreSQL", outcomes, SEED)
