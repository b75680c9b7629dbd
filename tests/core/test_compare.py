"""How two states differ, by path."""

from __future__ import annotations

from typing import Any

import pytest

from nbgraph.core.compare import Difference, compare_states


@pytest.mark.parametrize(
    ("first", "second", "differences"),
    [
        ({"a": 1}, {"a": 1}, ()),
        ({"a": 1}, {"a": 2}, (Difference("/a", "~", 1, 2),)),
        ({"a": 1}, {}, (Difference("/a", "-", 1, None),)),
        ({}, {"a": None}, (Difference("/a", "+", None, None),)),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, (Difference("/a/b", "~", 1, 2),)),
        ({"a": [1]}, {"a": [1, 2]}, (Difference("/a", "~", [1], [1, 2]),)),
        ({"a": 1}, {"a": True}, (Difference("/a", "~", 1, True),)),
        ({"a": 1}, {"a": 1.0}, (Difference("/a", "~", 1, 1.0),)),
        (
            {"a/b": 1, "~": 2},
            {"a/b": 2, "~": 3},
            (Difference("/a~1b", "~", 1, 2), Difference("/~0", "~", 2, 3)),
        ),
    ],
)
def test_states_differ_by_path_and_by_type(
    first: Any, second: Any, differences: tuple[Difference, ...]
) -> None:
    assert compare_states(first, second).differences == differences


def test_a_comparison_reads_as_text() -> None:
    found = compare_states({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 5, "d": 4})
    assert str(found).splitlines() == [
        "~ /b  2 -> 5",
        "- /c  3 -> None",
        "+ /d  None -> 4",
        "3 differ, 1 the same",
    ]
