"""Run one task and say how it went; whatever a node raises ends here."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from nbgraph.core.context import driven
from nbgraph.core.events import TaskFinished
from nbgraph.core.node_hooks import Result
from nbgraph.core.node_run import node_run
from nbgraph.core.outcome import Outcome, broken, ended_by, kept_cache
from nbgraph.core.record import made_of
from nbgraph.core.retry import Attempts
from nbgraph.core.task_call import TaskCall

__all__ = ["is_cancelled", "run_in_worker", "run_task"]


async def run_task(call: TaskCall) -> Outcome:
    """Run a task to its outcome; only a cancellation gets out of here."""
    began, clock = time.time(), time.perf_counter()
    attempts = Attempts(call.node.retry, call.described, call.emit_attempt)
    try:
        result = await node_run(call, attempts)
        return _finished(call, attempts, result, (began, time.perf_counter() - clock))
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and is_cancelled():
            raise
        return ended_by(call, error, attempts)


def _finished(
    call: TaskCall, attempts: Attempts, result: Result, times: tuple[float, float]
) -> Outcome:
    """Return the outcome of a task whose node returned; few tell more than these five."""
    node, frame, task_id = call.node, call.frame, call.task.task_id
    update, replaced, routes = result
    told = attempts.told
    told["task_id"], told["node"], told["update"] = task_id, node.name, update
    told["started"], told["duration"] = times
    if replaced:
        told["replaced"] = replaced
    if routes is not None:
        told["routes"] = routes
    if node.accepts_context:
        told["cache"] = kept_cache(call)
    times_run = attempts.made if node.effect is None or None in frame.began else 0
    if times_run != 1:
        told["attempts"], told["tries"] = times_run, attempts.several
    if frame.child is not None:
        told["child"] = frame.child
    return Outcome(task_id, made_of(TaskFinished, told))


def run_in_worker(call: TaskCall) -> Outcome:
    """Run a sync node's task to its outcome in the worker that calls this; it raises nothing."""
    try:
        return driven(run_task(replace(call, inline=True)))
    except BaseException as error:  # noqa: BLE001 - a run that hears nothing of a task waits for ever
        return broken(call, error)


def is_cancelled() -> bool:
    """Return whether the run cancels this task; a node may raise CancelledError of its own."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # a worker: nobody cancels a thread
        return False
    return task is not None and task.cancelling() > 0
