"""What a caller can ask of a thread: the one vocabulary that goes down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pydantic import BaseModel

from nbgraph.core.quick_dataclass import dataclass
from nbgraph.errors import ResumeError

__all__ = [
    "Continue",
    "Edit",
    "Fork",
    "Request",
    "Resume",
    "SetBreakpoints",
    "Skip",
    "Start",
    "Stop",
]


class _Missing:
    """The type of a value that was not given (None is a value)."""

    def __repr__(self) -> str:
        return "<not given>"


_MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class Start:
    """Begin a turn with an input: a dict of named fields, or a whole state object."""

    input: Mapping[str, Any] | BaseModel = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, init=False)
class Resume:
    """Answer what a paused thread asks.

    Parameters
    ----------
    value : JSON or model, optional
        The answer to the only pending question. `None` and `{}` are answers.
    answers : dict of str to JSON or model, optional
        One answer for each pending key.
    partial : bool
        Answer some of the pending questions; without it, `answers` must answer all.
    asked : dict of str to int, optional
        For each key, the `Interrupt.asked` that was shown. An answer to another asking is refused.
    by : str, optional
        Who answers; by default `JUPYTERHUB_USER`, else the login name.
    comment : str, optional
        What is recorded beside the answers, for whoever reads the history; no node sees it.

    Raises
    ------
    ResumeError
        If neither or both of `value` and `answers` are given, or `answers` is empty.
    TypeError
        If `answers` is no mapping of str, or `by` or `comment` is no str.
    """

    answers: Mapping[str, Any] | None
    value: Any
    partial: bool
    asked: Mapping[str, int]
    by: str | None
    comment: str | None

    def __init__(
        self,
        value: Any = _MISSING,
        *,
        answers: Mapping[str, Any] | None = None,
        partial: bool = False,
        asked: Mapping[str, int] | None = None,
        by: str | None = None,
        comment: str | None = None,
    ) -> None:
        _check_resume(value, answers)
        _check_words(by=by, comment=comment)
        object.__setattr__(self, "value", None if value is _MISSING else value)
        object.__setattr__(self, "answers", None if answers is None else dict(answers))
        object.__setattr__(self, "partial", partial)
        object.__setattr__(self, "asked", dict(asked or {}))
        object.__setattr__(self, "by", by)
        object.__setattr__(self, "comment", comment)


def _check_resume(value: Any, answers: Any) -> None:
    if value is not _MISSING and answers is not None:
        raise ResumeError("Resume takes a value or answers={key: value}, not both")
    if value is _MISSING and answers is None:
        raise ResumeError("Resume needs an answer: Resume(value), or Resume(answers={key: value})")
    if answers is None:
        return
    if not isinstance(answers, Mapping) or not all(isinstance(key, str) for key in answers):  # pyright: ignore[reportUnknownVariableType]
        raise TypeError(f"answers must map keys to answers, got {answers!r}")
    if not answers:
        raise ResumeError("answers is empty; give one answer for each pending key")


def _check_words(**given: Any) -> None:
    for name, value in given.items():
        if not (value is None or isinstance(value, str)):
            raise TypeError(f"{name} is a str, got {value!r}")


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on with unfinished tasks, for `steps` supersteps, or until a task of `until` is next.

    `into` steps into sub-graphs: one that begins pauses before its first superstep, and one that
    has begun runs one of its own. `tasks` are the ids of those to run of the current superstep;
    the others wait for the next request.
    """

    steps: int | None = None
    until: str | None = None
    into: bool = False
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """Change the state through its reducers.

    `goto` says what runs next instead of what would: a node or its name, a `Send`, END or a list of
    them. The current superstep and its questions are dropped.
    """

    update: Mapping[str, Any]
    by: str | None = None
    goto: Any = None


@dataclass(frozen=True, slots=True)
class Skip:
    """Count an unfinished task as finished, with `value` as its update."""

    task_id: str
    value: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class SetBreakpoints:
    """Pause before and after these nodes from now on; None keeps a list, `()` clears it."""

    before: tuple[str, ...] | None = None
    after: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Fork:
    """Start branch `name` from event `at` (by default the last one), with an optional edit."""

    at: int | None = None
    name: str | None = None
    update: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """End the current run: at once, or (`gently`) when its superstep is finished."""

    gently: bool = False


Request = Start | Resume | Continue | Edit | Skip | SetBreakpoints | Fork | Stop
"""Anything a thread can be asked."""
