"""The page of schema keywords says what a form does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .controls import controls, untouched

PAGE = Path(__file__).parents[2] / "docs" / "schema-keywords.md"
ROWS = re.findall(r"(?m)^\| (.*) \| `(\{.*\})` \| (.*) \| `(.*)` \|$", PAGE.read_text("utf-8"))


def test_every_row_of_the_page_is_read() -> None:
    lines = PAGE.read_text("utf-8").splitlines()
    heads = sum(line.startswith("| the schema says") for line in lines)
    assert len(ROWS) == sum(line.startswith("| ") for line in lines) - heads


@pytest.mark.parametrize(("words", "schema", "shown", "answer"), ROWS, ids=[row[0] for row in ROWS])
def test_a_row_says_what_stands_on_the_page(
    words: str, schema: str, shown: str, answer: str
) -> None:
    assert (controls(json.loads(schema)), untouched(json.loads(schema))) == (shown, answer)
