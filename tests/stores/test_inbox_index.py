"""A page of the questions that wait is found by an index, however many there are."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from nbgraph import SQLiteStateStore
from nbgraph.stores import _sql_lists


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [
        (_sql_lists._LIST_QUESTIONS, (25,)),
        (_sql_lists._LIST_LATER_QUESTIONS, (0.0, 0.0, "t", "main", "ask:0", 4, 25)),
    ],
)
def test_questions_come_by_age_from_an_index_and_their_threads_by_key(
    statement: str, parameters: tuple[object, ...], tmp_path: Path
) -> None:
    SQLiteStateStore(tmp_path / "t.db").close()
    connection = sqlite3.connect(tmp_path / "t.db")
    plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters).fetchall()
    connection.close()
    steps = [row[3] for row in plan]
    assert any("questions USING INDEX questions_by_age" in step for step in steps), steps
    assert any("branches USING INTEGER PRIMARY KEY" in step for step in steps), steps
    # Questions of one moment are put in order; all of them never are.
    assert "USE TEMP B-TREE FOR ORDER BY" not in steps
