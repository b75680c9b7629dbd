"""Run one task and say how it went; whatever a node raises ends here."""

from __future__ import annotations

import asyncio
import os
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar, cast

from nbgraph.core import answers
from nbgraph.core.asking import ChildPause, Frame, GraphInterrupt, bound
from nbgraph.core.context import NodeContext, Port, driven
from nbgraph.core.effects import Effect, begin, outcome
from nbgraph.core.events import (
    AnswerRefused,
    ErrorInfo,
    Event,
    OnceRecorded,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
    made,
)
from nbgraph.core.live import Attempt, TaskEmitted
from nbgraph.core.node import Node
from nbgraph.core.node_hooks import NodeHooks, Result
from nbgraph.core.prints import heard, listens
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.retry import Attempts
from nbgraph.core.schema import StateSchema
from nbgraph.core.secrets import masked, secrets_of
from nbgraph.core.superstep import read_result
from nbgraph.core.timeout import Timeout, in_time
from nbgraph.core.trying import set_result, tried
from nbgraph.core.workers import call_in_worker
from nbgraph.errors import GraphExecutionError

__all__ = ["Outcome", "TaskCall", "broken", "described", "failed", "is_cancelled", "run_task"]

T = TypeVar("T", bound=BaseException)


_PACKAGE = str(Path(__file__).parents[1]) + os.sep


@dataclass(slots=True)  # a frozen one takes 0.5 us longer to make, for each task
class TaskCall:
    """All that a task needs to run; `values` are what middleware gives the node instead."""

    task: TaskSpec
    node: Node
    schema: StateSchema
    state: Mapping[str, Any]
    frame: Frame
    context: NodeContext | None
    port: Port
    hooks: NodeHooks | None = None
    values: Mapping[str, Any] | None = None
    inline: bool = False
    """Whether a sync node runs on the loop, instead of in a worker thread."""

    @property
    def is_bound(self) -> bool:
        """Whether the task needs its run's process.

        A sub-graph does, a node whose start must be recorded, one with a cache, one that asks when
        it fails, and one whose graph's parent may answer what it asks.
        """
        node, hooks = self.node, self.hooks
        is_own = node.inner is not None or node.effect is not None or node.cache is not None
        return is_own or node.on_error == "ask" or (hooks is not None and hooks.is_bound)

    def before(self) -> Mapping[str, Any]:
        """Return the values of the state the node is given."""
        if self.values is not None:
            return self.values
        return self.schema.laid(self.state, self.task.payload)

    def said(self, kind: Literal["print", "log"], data: Any) -> None:
        """Show what the node printed or logged."""
        self.port.say(TaskEmitted(self.task.task_id, self.node.name, kind, data, time.time()))

    def emit_attempt(self, attempt: Attempt, at: float) -> None:
        """Show an attempt that will be repeated."""
        self.port.say(TaskEmitted(self.task.task_id, self.node.name, "attempt", attempt, at))

    def described(self, error: BaseException) -> ErrorInfo:
        """Return an error as it is kept: without the secrets in the call's context."""
        info = described(error)
        context = None if self.context is None else self.context.given
        secrets = set(secrets_of(context))
        return ErrorInfo(
            type=info.type,
            message=masked(info.message, secrets),
            traceback=masked(info.traceback, secrets),
        )

    def heard_by(self, alive: Callable[[], None]) -> TaskCall:
        """Return the call with somebody to hear the node's signs of life."""
        context = self.context
        if context is None:
            return self
        return replace(self, context=replace(context, port=replace(context.port, alive=alive)))

    def again(self, attempt: int = 1) -> TaskCall:
        """Return the call for another run of the node."""
        context = None if self.context is None else self.context.again(attempt)
        return replace(self, frame=self.frame.again(), context=context)


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

    @property
    def events(self) -> tuple[Event, ...]:
        """What is recorded of it: what it kept, and then how it ended."""
        return (*self.once, self.event)


def described(error: BaseException) -> ErrorInfo:
    """Return an error as it is kept."""
    try:
        message = str(error)
    except Exception as problem:  # noqa: BLE001 - the error's class is the user's own
        message = f"<no message: its __str__ raised {type(problem).__name__}>"
    text = "".join(traceback.format_exception(type(error), error, _own(error.__traceback__)))
    return ErrorInfo(
        type=type(error).__name__, message=_readable(message), traceback=_readable(text)
    )


def _own(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback from the user's first line on, or whole if there is none of theirs."""
    own = trace
    while own is not None and own.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        own = own.tb_next
    return own or trace


def _readable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


async def run_task(call: TaskCall) -> Outcome:
    """Run a task to its outcome; only a cancellation gets out of here."""
    started, clock = time.time(), time.perf_counter()
    task_id, name = call.task.task_id, call.node.name
    attempts = Attempts(call.node.retry, call.described, call.emit_attempt)
    try:
        update, replaced, routes = await _work(call, attempts)
        cache = _kept_cache(call) if call.node.accepts_context else {}
    except GraphInterrupt as pause:
        return _asked(call, [pause], attempts)
    except ChildPause as pause:
        return _held(call, pause)
    except asyncio.CancelledError as error:
        if is_cancelled():
            raise
        return failed(call, _own_cancellation(name, error), attempts)
    except BaseExceptionGroup as group:
        pauses, others = group.split(GraphInterrupt)
        if pauses is None or others is not None:
            return failed(call, group, attempts)
        return _asked(call, list(_leaves(pauses)), attempts)
    except BaseException as error:  # noqa: BLE001 - the one place where any error is an outcome
        return failed(call, error, attempts)
    return Outcome(
        task_id,
        made(
            TaskFinished,
            task_id=task_id,
            node=name,
            update=update,
            replaced=replaced,
            routes=routes,
            cache=cache,
            started=started,
            duration=time.perf_counter() - clock,
            attempts=attempts.made if call.node.effect is None or _began(call) else 0,
            tries=attempts.several,
            child=call.frame.child,
            **attempts.told,
        ),
    )


def runs_in_worker(call: TaskCall) -> bool:
    """Return whether all there is to a task is a sync node, so that it needs no coroutine."""
    return not (call.node.is_async or call.inline) and call.node.is_bare and call.hooks is None


def run_in_worker(call: TaskCall) -> Outcome:
    """Run such a task to its outcome, in the worker thread that calls this; it raises nothing."""
    try:
        return driven(run_task(replace(call, inline=True)))
    except BaseException as error:  # noqa: BLE001 - a run that hears nothing of a task waits for ever
        return broken(call, error)


def _began(call: TaskCall) -> bool:
    """Return whether a node that runs once ran, and its result is not what a person set."""
    return None in call.frame.began


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
    return Outcome(task_id, event, error)


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


def is_cancelled() -> bool:
    """Return whether the run cancels this task; a node may raise CancelledError of its own."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # a worker: nobody cancels a thread
        return False
    return task is not None and task.cancelling() > 0


def _own_cancellation(name: str, cause: BaseException) -> GraphExecutionError:
    """Return an error that nobody takes for the end of a task that somebody cancelled."""
    error = GraphExecutionError(f"Node {name!r} raised CancelledError, and nobody cancelled it")
    error.__cause__ = cause
    return error


def _leaves(group: BaseExceptionGroup[T]) -> Iterator[T]:
    for item in group.exceptions:
        if isinstance(item, BaseExceptionGroup):
            yield from _leaves(cast("BaseExceptionGroup[T]", item))
        else:
            yield item


def _asked(call: TaskCall, pauses: Sequence[GraphInterrupt], attempts: Attempts) -> Outcome:
    task_id = call.task.task_id
    for pause in pauses:
        if pause.problems:
            return Outcome(task_id, AnswerRefused(key=pause.question.key, problems=pause.problems))
    try:
        cache = _kept_cache(call)
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


def _kept_cache(call: TaskCall) -> dict[str, Any]:
    if call.context is None or not call.context.cache:
        return {}
    return answers.to_json(call.context.cache, where=f"ctx.cache of {call.node.name!r}")


def _work(call: TaskCall, attempts: Attempts) -> Coroutine[Any, Any, Result]:
    """Return what runs the node, with nothing between where nothing is to be: each layer costs."""
    if call.hooks is None and call.node.is_bare:
        attempts.made = 1
        return _named(call)
    return _hooked(call, attempts)


async def _hooked(call: TaskCall, attempts: Attempts) -> Result:
    """Run the node's attempts, with middleware around all of them."""
    hooks = call.hooks
    if hooks is None:
        return await tried(call, attempts, lambda: _timed(_attempted(call, attempts)))
    with bound(call.frame):
        values = await hooks.before(call.before())
    call.frame.asker = hooks.asker(values)
    call.frame.ask = hooks.asks_now(values, asyncio.get_running_loop(), inline=call.inline)
    given = replace(call, values=values)
    try:
        result = await tried(given, attempts, lambda: _answered(_attempted(given, attempts), hooks))
    except Exception as error:  # on_error may stand in for any of them
        with bound(call.frame):
            instead = await hooks.instead(values, error)
        if instead is None:
            raise
        attempts.told["error"] = call.described(error)
        return instead
    finally:
        hooks.close()
    with bound(call.frame):
        return await hooks.after(result)


def _attempted(call: TaskCall, attempts: Attempts) -> TaskCall:
    return call.again(attempts.made) if attempts.made > 1 else call


async def _answered(call: TaskCall, hooks: NodeHooks) -> Result:
    """Run the node, and once more where an async hook answers what an async node asked."""
    if call.frame.ask is not None:
        return await _timed(call)
    while True:
        try:
            return await _timed(call)
        except (GraphInterrupt, BaseExceptionGroup) as raised:
            if not await _taken(call, hooks, raised):
                raise
        call = call.again(1 if call.context is None else call.context.attempt)


async def _taken(
    call: TaskCall,
    hooks: NodeHooks,
    raised: GraphInterrupt | BaseExceptionGroup[BaseException],
) -> bool:
    """Return whether a hook answered one of the questions that ended a node's run."""
    pauses = [raised] if isinstance(raised, GraphInterrupt) else list(_leaves(raised))
    answered = False
    for pause in pauses:
        if not isinstance(pause, GraphInterrupt) or pause.problems:
            return False
        answer = await hooks.answer(call.before(), pause.question)
        answered = call.frame.take(pause.question, answer) or answered
    return answered


def _timed(call: TaskCall) -> Coroutine[Any, Any, Result]:
    """Run the node once, for as long as it may take; each coroutine in between costs all."""
    return _inside_time(call) if call.node.effect is None else _once(call)


async def _once(call: TaskCall) -> Result:
    """Run a node that happens once, unless it began before and a person says how it ended."""
    found = await _settled(call)
    if found is not None:
        return found
    await begin(None, call.frame, call.port)
    return await _inside_time(call)


def _inside_time(call: TaskCall) -> Coroutine[Any, Any, Result]:
    return _named(call) if call.node.timeout is None else _limited(call, call.node.timeout)


async def _limited(call: TaskCall, limit: float | Timeout) -> Result:
    async with in_time(call.node.name, limit) as alive:
        return await _named(call.heard_by(alive))


async def _settled(call: TaskCall) -> Result | None:
    """Return what a person says of a node that began before; None if the node is to run.

    Middleware is asked where the node would ask it: a sync node's in a worker.
    """

    def found() -> tuple[Any] | None:
        return outcome(None, _OF_A_NODE, call.frame, read=lambda it: set_result(call, it))

    if None not in call.frame.began:
        return None
    on_loop = call.node.is_async or call.inline
    settled = found() if on_loop else await call_in_worker(found)
    return settled and (settled[0] or ({}, (), None))


_OF_A_NODE = Effect(returns=dict[str, Any])


def _named(call: TaskCall) -> Coroutine[Any, Any, Result]:
    """Run the node, heard by its name if somebody listens to the run."""
    return _heard(call) if listens() else _called(call)


async def _heard(call: TaskCall) -> Result:
    with heard(call.said):
        return await _called(call)


async def _called(call: TaskCall) -> Result:
    if call.node.is_async:
        before = call.before()
        given = call.schema.shown(before)
        with bound(call.frame):
            returned = await call.node.call(given, call.context)
        call.frame.check_paused()
        return read_result(call.node, returned, given, before, call.schema)
    if call.inline:
        return _called_sync(call)
    return await call_in_worker(lambda: _called_sync(call))


def _called_sync(call: TaskCall) -> Result:
    before = call.before()
    given = call.schema.shown(before)
    with bound(call.frame):
        returned = call.node.call(given, call.context)
    call.frame.check_paused()
    return read_result(call.node, returned, given, before, call.schema)
