"""What a node says while it runs: how far it is, text piece by piece, lines of the log, tokens."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nbgraph.activity import Activity, LogLine, Usage, active, line, used
from nbgraph.core.live import Logged, TaskEmitted


def said(kind: Any, data: Any) -> TaskEmitted:
    return TaskEmitted("t", "n", kind, data, 1.0)


@pytest.mark.parametrize(
    ("data", "share", "note"),
    [
        ({"progress": 0.4}, 0.4, ""),
        ({"progress": 3}, 1.0, ""),
        ({"progress": -1, "message": "reading"}, 0.0, "reading"),
        ({"done": 3, "total": 8}, 0.375, "3 of 8"),
        ({"done": 3, "total": 8, "message": "page 3"}, 0.375, "page 3"),
    ],
)
def test_a_task_says_how_far_it_is(data, share, note):
    assert active(None, "n", said("custom", data)) == Activity("n", share, note)
    assert line("n", said("custom", data)) is None


@pytest.mark.parametrize(
    "data",
    [
        {"progress": "half"},
        {"progress": float("nan")},
        {"progress": True},
        {"done": 1, "total": 0},
        {"done": 1},
        "40 %",
        [0.4],
    ],
)
def test_what_is_no_progress_is_a_line_of_the_log(data):
    assert active(None, "n", said("custom", data)) is None
    shown = line("n", said("custom", data))
    assert shown is not None
    assert shown.text in (data, repr(data))


def test_a_note_stays_until_there_is_another():
    first = active(None, "n", said("custom", {"progress": 0.1, "message": "reading"}))
    second = active(first, "n", said("custom", {"progress": 0.2}))
    assert second == Activity("n", 0.2, "reading")


def test_pieces_of_text_are_put_together():
    one = active(None, "n", said("token", "Dear "))
    two = active(one, "n", said("token", SimpleNamespace(content="Front Desk")))
    assert two == Activity("n", text="Dear Front Desk")
    assert line("n", said("token", "Dear ")) is None


def test_prints_and_records_are_lines_of_their_own_kind():
    grave = Logged("ERROR", "shop", "gone", grave=True)
    assert line("n", said("print", "hello")) == LogLine(1.0, "n", "hello", kind="print")
    assert line("n", said("log", grave)) == LogLine(1.0, "n", "ERROR shop: gone", "failed", "log")


def test_a_node_that_held_the_loop_is_told_how_to_mend_it():
    shown = line("n", said("held", 1.25))
    assert shown is not None
    assert shown.text.startswith("held the loop for 1.2 s")
    assert shown.mark == "failed"


@pytest.mark.parametrize(
    "usage",
    [{"input_tokens": 10, "output_tokens": 3}, {"prompt_tokens": 10, "completion_tokens": 3}],
)
def test_messages_tell_what_they_cost(usage):
    update = {"messages": [{"role": "assistant", "usage": usage}, {"role": "user"}], "n": 1}
    assert used(Usage(1, 1), update) == Usage(11, 4)


@pytest.mark.parametrize("usage", [None, "many", {"input_tokens": "many"}, {"input_tokens": None}])
def test_a_usage_that_says_nothing_counts_nothing(usage):
    before = Usage(1, 1)
    assert used(before, {"messages": [{"usage": usage}]}) is before
