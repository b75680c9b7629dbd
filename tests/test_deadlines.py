"""Until when a question waits, in words."""

from __future__ import annotations

import time
from typing import Any

import pytest

from nbgraph import Interrupt
from nbgraph.core.answers import publish
from nbgraph.deadlines import deadline, remaining
from nbgraph.forms import read

NOON = time.mktime((2030, 6, 1, 12, 0, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1, "0 s"),
        (0.2, "1 s"),
        (42, "42 s"),
        (59.5, "60 s"),
        (60, "1 min"),
        (61, "2 min"),
        (3600, "1 h"),
        (3900, "1 h 5 min"),
        (86_400, "24 h"),
        (3 * 86_400 + 5, "3 d"),
    ],
)
def test_what_is_left_is_minutes_and_in_the_last_one_seconds(seconds: float, words: str) -> None:
    assert remaining(seconds) == words


def ending(kind: Any, **more: Any) -> str:
    now = more.pop("now", NOON - 240)
    schema = publish(kind)
    question = Interrupt(
        key="ask:ok", id="ok", node="ask", task_id="ask", response_schema=schema,
        **{"expires_at": NOON, **more},
    )  # fmt: skip
    return deadline(question, read(schema or {}), now)


def defaults(default: Any) -> dict[str, Any]:
    return {"default": default, "has_default": True}


def test_a_question_without_an_end_says_nothing() -> None:
    assert ending(bool, expires_at=None) == ""


def test_it_says_how_long_until_when_and_what_counts_then() -> None:
    assert ending(bool, **defaults(False)) == "Expires in 4 min, at 12:00:00. Then No counts."


def test_without_a_default_it_says_what_that_does() -> None:
    assert ending(bool) == (
        "Expires in 4 min, at 12:00:00. "
        "Then ask gets no answer, which fails it unless it expects that."
    )


def test_what_is_over_says_so_and_what_happens_when_the_thread_goes_on() -> None:
    start = "Expired at 12:00:00: nobody answered. When ask goes on, "
    assert ending(int, now=NOON, **defaults(5)) == f"{start}5 counts."
    assert ending(int, now=NOON + 9) == (
        f"{start}it gets no answer, which fails it unless it expects that."
    )


def test_another_day_is_named() -> None:
    assert ending(int, now=NOON - 3 * 86_400, **defaults(5)) == (
        "Expires in 3 d, at 2030-06-01 12:00. Then 5 counts."
    )


def test_a_default_reads_as_its_answer_would_short_and_without_secrets() -> None:
    parts = {
        "type": "object",
        "properties": {
            "approve": {"type": "boolean"},
            "key": {"type": "string", "writeOnly": True},
            "note": {"type": "string"},
        },
    }
    said = ending(parts, **defaults({"approve": False, "key": "open sesame", "note": "x" * 999}))
    assert said.startswith("Expires in 4 min, at 12:00:00. Then Approve: No, Key: ")
    assert "sesame" not in said
    assert len(said) < 260
    assert ending(str, **defaults("")).endswith("Then an empty text counts.")
    assert ending(None, **defaults({"a": 1})).endswith('Then {"a": 1} counts.')
