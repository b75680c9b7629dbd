"""Until when a question waits, as a person reads it, and what counts when nobody has answered."""

from __future__ import annotations

import math
import time

from nbgraph.activity import brief
from nbgraph.clocks import clock, duration
from nbgraph.core.events import Interrupt
from nbgraph.core.json_values import Json
from nbgraph.core.lapses import is_expired
from nbgraph.forms import Field, answer_rows

__all__ = ["SOON", "deadline", "remaining"]

SOON = 60.0
"""Seconds before the end from which on every second is shown."""

_DAY = 86_400
_MOST = 120


def remaining(seconds: float) -> str:
    """Return how long there is still time, in words that change seldom until it is short.

    `3 d`, `2 h 5 min`, `4 min`, and in the last minute `42 s`.
    """
    if seconds < SOON:
        return f"{max(0, math.ceil(seconds))} s"
    if seconds >= 2 * _DAY:
        return f"{int(seconds // _DAY)} d"
    return duration(math.ceil(seconds / 60) * 60)


def deadline(question: Interrupt, field: Field, now: float) -> str:
    """Return until when a question waits, and what happens then; empty if it waits for ever.

    `field` is what an answer is typed into: it says how the default reads, and hides secrets.
    """
    ends = question.expires_at
    if ends is None:
        return ""
    if is_expired(question, now):
        then = _then(question, field, gone="it gets no answer, which fails it")
        return f"Expired at {_at(ends, now)}: nobody answered. When {question.node} goes on, {then}"
    then = _then(question, field, gone=f"{question.node} gets no answer, which fails it")
    return f"Expires in {remaining(ends - now)}, at {_at(ends, now)}. Then {then}"


def _then(question: Interrupt, field: Field, *, gone: str) -> str:
    if not question.has_default:
        return f"{gone} unless it expects that."
    return f"{_default(field, question.default)} counts."


def _default(field: Field, default: Json) -> str:
    rows = answer_rows(field, default)
    if len(rows) == 1 and rows[0][0] == field.label:
        return brief(rows[0][1], _MOST) or "an empty text"
    return brief(", ".join(f"{name}: {text}" for name, text in rows), _MOST) or "an empty answer"


def _at(ends: float, now: float) -> str:
    """Return a moment as a time of day, with its day where that is another one."""
    if time.localtime(ends)[:3] == time.localtime(now)[:3]:
        return clock(ends)
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(ends))
