"""Run one task and say how it went; whatever a node raises ends here."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbgraph.core import answers
from nbgraph.core.context import NodeContext
from nbgraph.core.events import (
    AnswerRefused,
    ErrorInfo,
    Event,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.core.interrupts import Frame, GraphInterrupt, bound
from nbgraph.core.node import Node
from nbgraph.core.schema import StateSchema
from nbgraph.core.superstep import read_result
from nbgraph.core.workers import call_in_worker
from nbgraph.errors import GraphExecutionError, NodeTimeoutError

__all__ = ["Outcome", "TaskCall", "described", "run_task"]


@dataclass(frozen=True, slots=True)
class TaskCall:
    """All that a task needs to run."""

    task: TaskSpec
    node: Node
    schema: StateSchema
    state: Mapping[str, Any]
    frame: Frame
    context: NodeContext | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended: the event that says so, and the exception where it failed."""

    task_id: str
    event: Event
    exception: BaseException | None = None


def described(error: BaseException) -> ErrorInfo:
    """Return an error as it is kept."""
    try:
        message = str(error)
    except Exception as problem:  # noqa: BLE001 - the error's class is the user's own
        message = f"<no message: its __str__ raised {type(problem).__name__}>"
    text = "".join(traceback.format_exception(error))
    return ErrorInfo(
        type=type(error).__name__, message=_readable(message), traceback=_readable(text)
    )


def _readable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


async def run_task(call: TaskCall) -> Outcome:
    """Run a task to its outcome; only a cancellation gets out of here."""
    started, clock = time.time(), time.perf_counter()
    task_id, name = call.task.task_id, call.node.name
    try:
        update, replaced, routes = await _timed(call)
        cache = _kept_cache(call)
    except GraphInterrupt as pause:
        return _asked(call, [pause])
    except asyncio.CancelledError as error:
        if _is_cancelled():
            raise
        return _failed(call, _own_cancellation(name, error))
    except BaseExceptionGroup as group:
        pauses, others = group.split(GraphInterrupt)
        if pauses is None or others is not None:
            return _failed(call, group)
        return _asked(call, list(_leaves(pauses)))
    except BaseException as error:  # noqa: BLE001 - the one place where any error is an outcome
        return _failed(call, error)
    return Outcome(
        task_id,
        TaskFinished(
            task_id=task_id,
            node=name,
            update=update,
            replaced=replaced,
            routes=routes,
            cache=cache,
            started=started,
            duration=time.perf_counter() - clock,
        ),
    )


def _failed(call: TaskCall, error: BaseException) -> Outcome:
    task_id, name = call.task.task_id, call.node.name
    event = TaskFailed(task_id=task_id, node=name, error=described(error))
    return Outcome(task_id, event, error)


def _is_cancelled() -> bool:
    """Return whether the run cancels this task; a node may raise CancelledError of its own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _own_cancellation(name: str, cause: BaseException) -> GraphExecutionError:
    """Return an error that nobody takes for the end of a task that somebody cancelled."""
    error = GraphExecutionError(f"Node {name!r} raised CancelledError, and nobody cancelled it")
    error.__cause__ = cause
    return error


def _leaves(group: BaseExceptionGroup[GraphInterrupt]) -> Iterator[GraphInterrupt]:
    for item in group.exceptions:
        if isinstance(item, BaseExceptionGroup):
            yield from _leaves(item)
        else:
            yield item


def _asked(call: TaskCall, pauses: Sequence[GraphInterrupt]) -> Outcome:
    task_id = call.task.task_id
    for pause in pauses:
        if pause.problems:
            return Outcome(task_id, AnswerRefused(key=pause.question.key, problems=pause.problems))
    try:
        cache = _kept_cache(call)
    except ValueError as error:
        return _failed(call, error)
    event = TaskInterrupted(
        task_id=task_id,
        node=call.node.name,
        interrupts=tuple(pause.question for pause in pauses),
        cache=cache,
    )
    return Outcome(task_id, event)


def _kept_cache(call: TaskCall) -> dict[str, Any]:
    if call.context is None or not call.context.cache:
        return {}
    return answers.to_json(call.context.cache, where=f"ctx.cache of {call.node.name!r}")


async def _timed(call: TaskCall) -> Any:
    timeout = call.node.timeout
    if timeout is None:
        return await _called(call)
    scope = asyncio.timeout(timeout)
    try:
        async with scope:
            return await _called(call)
    except TimeoutError:
        if scope.expired():
            raise NodeTimeoutError(call.node.name, timeout) from None
        raise


async def _called(call: TaskCall) -> Any:
    if call.node.is_async:
        before = call.schema.laid(call.state, call.task.payload)
        given = call.schema.view(before)
        with bound(call.frame):
            returned = await call.node.call(given, call.context)
        return read_result(call.node, returned, given, before, call.schema)
    return await call_in_worker(lambda: _called_sync(call))


def _called_sync(call: TaskCall) -> Any:
    before = call.schema.laid(call.state, call.task.payload)
    given = call.schema.view(before)
    with bound(call.frame):
        returned = call.node.call(given, call.context)
    return read_result(call.node, returned, given, before, call.schema)
