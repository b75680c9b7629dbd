"""Every promise names tests that hold it, and they exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)
PROMISES = re.split(r"(?m)^\d+\. \*\*", PAGE.partition("\n## ")[0])[1:]
ROWS = [line for line in PAGE.partition("\n## ")[2].splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED)))
def test_a_test_that_a_promise_names_exists(file: str, name: str) -> None:
    folder = ROOT if file.startswith("nbgraph/") else ROOT / "tests"
    tree = ast.parse((folder / file).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    assert name in {one.name for one in ast.walk(tree) if isinstance(one, functions)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_what_a_store_does_names_a_test(row: str) -> None:
    assert "::test_" in row


@pytest.mark.parametrize("promise", PROMISES, ids=lambda text: text.partition("*")[0])
def test_a_promise_names_a_test(promise: str) -> None:
    assert "::test_" in promise
