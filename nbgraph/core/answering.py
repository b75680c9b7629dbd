"""What a `Resume` records, decided without I/O: which questions it answers, and with what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nbgraph.core import answers
from nbgraph.core.events import AnswersGiven, Event, Lapsed
from nbgraph.core.lapses import Lapse, overdue
from nbgraph.core.naming import listed, login_name
from nbgraph.core.position import Position
from nbgraph.core.requests import Resume
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    QuestionExpiredError,
    ResumeError,
    StaleAnswerError,
)

__all__ = ["answers_given", "check_unanswered", "expired"]


def answers_given(
    request: Resume, position: Position, *, thread_id: str, now: float
) -> AnswersGiven:
    """Return the answers of a `Resume`, with those of the questions whose time is over.

    Raises
    ------
    ResumeError
        If it does not fit what is pending.
    QuestionExpiredError
        If it answers a question whose time is over.
    AnswerError
        If an answer does not fit its question.
    """
    _check_pending(request, position)
    late = overdue(position.pending, now)
    given = _by_key(request, position, late)
    _check_asked(request, position)
    _check_keys(request, position, given, late)
    recorded = _recorded({**late, **given}, position, thread_id, request.by or login_name())
    return recorded.model_copy(update={"comment": request.comment})


def expired(position: Position, *, thread_id: str, now: float) -> AnswersGiven | None:
    """Return what is recorded of the questions whose time is over; None if there are none."""
    late = overdue(position.pending, now)
    return _recorded(late, position, thread_id, None) if late else None


def _check_pending(request: Resume, position: Position) -> None:
    if position.pending:
        return
    where = {"before": "at a breakpoint", "after": "at a breakpoint"}.get(position.paused or "")
    stands = f"pauses {where}; continue it without an answer" if where else "asks nothing now"
    _check_asked(request, position)
    raise ResumeError(f"The thread {stands}")


def _by_key(request: Resume, position: Position, late: Mapping[str, Any]) -> Mapping[str, Any]:
    if request.answers is not None:
        return request.answers
    waiting = [key for key in position.pending if key not in late] or list(position.pending)
    if len(waiting) > 1:
        raise ResumeError(
            f"Resume(value) answers the only pending question, and {listed(waiting)} "
            "are pending; pass Resume(answers={key: value})"
        )
    return {waiting[0]: request.value}


def _check_asked(request: Resume, position: Position) -> None:
    for key, asked in request.asked.items():
        pending = position.pending.get(key)
        if pending is None or pending.asked != asked:
            raise StaleAnswerError(key, asked, pending.asked if pending else None)


def _check_keys(
    request: Resume, position: Position, given: Mapping[str, Any], late: Mapping[str, Any]
) -> None:
    unknown = [key for key in given if key not in position.pending]
    if unknown:
        raise ResumeError(
            f"{listed(unknown)} is not pending; pending are {listed(position.pending)}"
        )
    for key in late:
        if key in given and not isinstance(given[key], Lapse):
            raise QuestionExpiredError(key, position.pending[key].expires_at or 0.0)
    missing = [key for key in position.pending if key not in given and key not in late]
    if missing and not request.partial:
        raise ResumeError(
            f"{listed(missing)} has no answer; answer all, or pass partial=True to answer some"
        )


def _recorded(
    given: Mapping[str, Any], position: Position, thread_id: str, by: str | None
) -> AnswersGiven:
    lapsed: dict[str, Lapsed] = {
        key: answer.word for key, answer in given.items() if isinstance(answer, Lapse)
    }
    defaults = {key: position.pending[key].default for key in lapsed}
    answered = {key: answer for key, answer in given.items() if key not in lapsed}
    return AnswersGiven(
        answers={**_judged(answered, position, thread_id), **defaults},
        asked={key: position.pending[key].asked for key in given},
        by=by,
        lapsed=lapsed,
    )


def _judged(given: Mapping[str, Any], position: Position, thread_id: str) -> dict[str, Any]:
    judged: dict[str, Any] = {}
    problems: dict[str, AnswerError] = {}
    for key, answer in given.items():
        try:
            judged[key] = answers.judge(position.pending[key], answer, thread_id=thread_id)
        except AnswerError as error:
            problems[key] = error
    if problems:
        raise next(iter(problems.values()))
    return judged


def check_unanswered(
    events: Sequence[Event], keys: Iterable[str], asked: Mapping[str, int]
) -> None:
    """Refuse an answer to a question that these events tell the end of.

    Raises
    ------
    AlreadyAnsweredError
        Saying who answered, and when.
    QuestionExpiredError
        If its time was over.
    """
    given = [event for event in events if isinstance(event, AnswersGiven)]
    for event in given:
        for key in keys:
            if key not in event.answers or asked.get(key, event.asked[key]) != event.asked[key]:
                continue
            match event.lapsed.get(key):
                case "again":
                    continue
                case "expired":
                    raise QuestionExpiredError(key, event.created_at)
                case _:
                    raise AlreadyAnsweredError(key, event.by, event.created_at)
