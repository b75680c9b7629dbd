"""What an inbox says above its rows of what happened, here and elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nbgraph import clocks
from nbgraph.core.questions import Answered
from nbgraph.one_line import in_a_line
from nbgraph.waiting import Address, Question

__all__ = ["and_more", "due", "elsewhere", "failed", "how_it_ended", "sent"]

_NAME_LIMIT = 80


def elsewhere(question: Question, record: Answered) -> str:
    """Return who answered a question that was shown here."""
    thread = in_a_line(question.record.thread_id, _NAME_LIMIT)
    if record.lapsed is None:
        who, at = record.by or "somebody", clocks.clock(record.at)
        return f"{thread}: answered by {who} at {at}, elsewhere."
    return f"{thread}: {how_it_ended(record)} at {clocks.clock(record.at)}, elsewhere."


def how_it_ended(record: Answered) -> str:
    """Return in a word how a question came to its end."""
    return {"again": "asked again", None: "answered"}.get(record.lapsed, record.lapsed or "")


def sent(count: int, problems: Mapping[Address, Exception]) -> str:
    """Return how many of several answers were recorded, and why others were not."""
    if not problems:
        return f"{count} answers recorded."
    (thread_id, *_), error = next(iter(problems.items()))
    more = f" So it is with {len(problems) - 1} more." if len(problems) > 1 else ""
    thread = in_a_line(thread_id, _NAME_LIMIT)
    return f"{count - len(problems)} of {count} answers recorded. {thread}: {error}.{more}"


def failed(thread_id: str, error: BaseException) -> str:
    """Return what ended the run of a thread that went on."""
    return f"{in_a_line(thread_id, _NAME_LIMIT)} failed: {type(error).__name__}: {error}"


def and_more(sentences: Sequence[str]) -> str:
    """Return the first of several sentences, and how many more there are."""
    more = f" And {len(sentences) - 1} more." if len(sentences) > 1 else ""
    return f"{sentences[0]}{more}"


def due(question: Question, now: float) -> str:
    """Return until when a question waits: `due in 58 min`; empty where it waits for ever."""
    at = question.record.interrupt.expires_at
    if at is None:
        return ""
    return "its time is over" if question.is_overdue(now) else f"due in {clocks.age(at - now)}"
