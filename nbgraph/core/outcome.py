"""How a task ended: the outcome of what it asked, of what it raised, and of what went wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast

from nbgraph.core import answers
from nbgraph.core.asking import ChildPause, GraphInterrupt
from nbgraph.core.events import (
    AnswerRefused,
    ErrorInfo,
    Event,
    OnceRecorded,
    TaskFailed,
    TaskInterrupted,
)
from nbgraph.core.live import TaskEmitted
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.retry import Attempts
from nbgraph.core.task_call import TaskCall
from nbgraph.core.tracebacks import from_users_line
from nbgraph.errors import GraphExecutionError

__all__ = ["Outcome", "broken", "ended_by", "failed", "kept_cache", "leaves"]

T = TypeVar("T", bound=BaseException)


@dataclass(slots=True)  # not frozen, as a call
class Outcome:
    """How a task ended: the event that says so, and the exception where it failed.

    `once` and `said` are what it kept and said while nobody listened, if it ran elsewhere.
    """

    task_id: str
    event: Event
    exception: BaseException | None = None
    once: tuple[OnceRecorded, ...] = ()
    said: tuple[TaskEmitted, ...] = ()


def ended_by(call: TaskCall, error: BaseException, attempts: Attempts) -> Outcome:
    """Return the outcome of a task that was ended by an error or a pause; this raises nothing."""
    try:
        return _ended_by(call, error, attempts)
    except Exception as problem:  # noqa: BLE001 - a run that hears nothing of a task waits for ever
        is_pause = isinstance(error, GraphInterrupt | ChildPause | BaseExceptionGroup)
        return broken(call, problem if is_pause else error)


def _ended_by(call: TaskCall, error: BaseException, attempts: Attempts) -> Outcome:
    match error:
        case GraphInterrupt():
            return _asked(call, [error], attempts)
        case ChildPause():
            return _held(call, error)
        case asyncio.CancelledError():
            return failed(call, _own_cancellation(call.node.name, error), attempts)
        case BaseExceptionGroup():
            pauses, others = cast("BaseExceptionGroup[Any]", error).split(GraphInterrupt)
            if pauses is not None and others is None:
                return _asked(call, list(leaves(pauses)), attempts)
        case _:
            pass
    return failed(call, error, attempts)


def failed(call: TaskCall, error: BaseException, attempts: Attempts | None = None) -> Outcome:
    """Return the outcome of a task that failed with an error."""
    task_id, name = call.task.task_id, call.node.name
    event = TaskFailed(
        task_id=task_id,
        node=name,
        error=call.described(error),
        attempts=max(attempts.made, 1) if attempts else 1,
        tries=attempts.several if attempts else (),
        child=call.frame.child,
    )
    _say_where(error, name)
    return Outcome(task_id, event, error.with_traceback(from_users_line(error.__traceback__)))


def _say_where(error: BaseException, node: str) -> None:
    """Note the node on an error, as Python shows it below the message."""
    note = f"In node {node!r}"
    with suppress(Exception):  # the error's class is the user's own code
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def broken(call: TaskCall, error: BaseException) -> Outcome:
    """Return the outcome of a task that was not run to one: what failed is not the node."""
    try:
        return failed(call, error)
    except Exception:  # noqa: BLE001 - the error is told without what could not be read of it
        kind = type(error).__name__
        info = ErrorInfo(type=kind, message="<the error could not be described>")
        event = TaskFailed(task_id=call.task.task_id, node=call.node.name, error=info)
        return Outcome(call.task.task_id, event, error)


def _held(call: TaskCall, pause: ChildPause) -> Outcome:
    """Return the outcome of a task whose sub-graph pauses."""
    event = TaskInterrupted(
        task_id=call.task.task_id,
        node=call.node.name,
        interrupts=pause.questions,
        child=call.frame.child,
    )
    return Outcome(call.task.task_id, event)


def _own_cancellation(name: str, cause: BaseException) -> GraphExecutionError:
    """Return an error that nobody takes for the end of a task that somebody cancelled."""
    error = GraphExecutionError(f"Node {name!r} raised CancelledError, and nobody cancelled it")
    error.__cause__ = cause
    return error


def leaves(group: BaseExceptionGroup[T]) -> Iterator[T]:
    """Yield the errors of a group, however deep they are."""
    for item in group.exceptions:
        if isinstance(item, BaseExceptionGroup):
            yield from leaves(cast("BaseExceptionGroup[T]", item))
        else:
            yield item


def _asked(call: TaskCall, pauses: Sequence[GraphInterrupt], attempts: Attempts) -> Outcome:
    task_id = call.task.task_id
    for pause in pauses:
        if pause.problems:
            return Outcome(task_id, AnswerRefused(key=pause.question.key, problems=pause.problems))
    try:
        cache = kept_cache(call)
    except ValueError as error:
        return failed(call, error, attempts)
    event = TaskInterrupted(
        task_id=task_id,
        node=call.node.name,
        interrupts=tuple(pause.question for pause in pauses),
        cache=cache,
        answers=call.frame.hooked,
        ended=tuple(sorted(call.frame.ended)),
    )
    return Outcome(task_id, event)


def kept_cache(call: TaskCall) -> dict[str, Any]:
    """Return what the node keeps for its next run, as JSON."""
    if call.context is None or not call.context.cache:
        return {}
    return answers.to_json(call.context.cache, where=f"ctx.cache of {call.node.name!r}")
