"""Every statement of `contract.txt` has a test, and every test it names is there."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LINES = [
    line
    for line in (TESTS / "contract.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
STATEMENTS = [line for line in LINES if not line.startswith(" ")]
SHOWN_BY: dict[str, list[str]] = {}
for line in LINES:
    if line.startswith(" "):
        SHOWN_BY[STATEMENTS[len(SHOWN_BY) - 1]].append(line.strip())
    else:
        SHOWN_BY[line] = []


@functools.cache
def named_in(path: str) -> frozenset[str]:
    """Return the names of a file's tests."""
    tree = ast.parse((TESTS / path).read_text("utf-8"))
    functions = (
        each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return frozenset(each.name for each in functions if each.name.startswith("test_"))


def test_no_statement_is_made_twice() -> None:
    assert len(SHOWN_BY) == len(STATEMENTS)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_has_tests_that_are_there(statement: str) -> None:
    assert SHOWN_BY[statement]
    for address in SHOWN_BY[statement]:
        path, _, name = address.partition("::")
        assert name in named_in(path) or (name == "*" and named_in(path)), address
