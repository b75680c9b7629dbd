"""Every promise names tests that hold it, and they exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)
PROMISES = re.split(r"(?m)^\d+\. \*\*", PAGE)[1:]


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED)))
def test_a_test_that_a_promise_names_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    assert name in {one.name for one in ast.walk(tree) if isinstance(one, functions)}


@pytest.mark.parametrize("promise", PROMISES, ids=lambda text: text.partition("*")[0])
def test_a_promise_names_a_test(promise: str) -> None:
    assert "::test_" in promise
