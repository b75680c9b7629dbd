"""What runs a task's node: its attempts, what is around them, and the call itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from nbgraph.core.asking import GraphInterrupt, bind, bound, unbind
from nbgraph.core.effects import Effect, begin, outcome
from nbgraph.core.node_hooks import NodeHooks, Result
from nbgraph.core.outcome import leaves
from nbgraph.core.prints import heard, listens
from nbgraph.core.retry import Attempts
from nbgraph.core.superstep import read_result
from nbgraph.core.task_call import TaskCall
from nbgraph.core.timeout import Timeout, in_time
from nbgraph.core.trying import set_result, tried
from nbgraph.core.workers import call_in_worker

__all__ = ["node_run"]


def node_run(call: TaskCall, attempts: Attempts) -> Coroutine[Any, Any, Result]:
    """Return what runs a task's node, with nothing between where nothing is to be: layers cost."""
    if call.hooks is None and call.node.is_bare:
        attempts.made = 1
        return _heard(call) if listens() else _called(call)
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
    pauses = [raised] if isinstance(raised, GraphInterrupt) else list(leaves(raised))
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
    effect = Effect(returns=dict[str, Any])

    def found() -> tuple[Any] | None:
        return outcome(None, effect, call.frame, read=lambda it: set_result(call, it))

    if None not in call.frame.began:
        return None
    on_loop = call.node.is_async or call.inline
    settled = found() if on_loop else await call_in_worker(found)
    return settled and (settled[0] or ({}, (), None))


def _named(call: TaskCall) -> Coroutine[Any, Any, Result]:
    """Run the node, heard by its name if somebody listens to the run."""
    return _heard(call) if listens() else _called(call)


async def _heard(call: TaskCall) -> Result:
    with heard(call.said):
        return await _called(call)


async def _called(call: TaskCall) -> Result:
    node = call.node
    if not node.is_async:
        return (
            _called_sync(call) if call.inline else await call_in_worker(partial(_called_sync, call))
        )
    before = call.before()
    given = call.schema.shown(before)
    token = bind(call.frame)  # as `bound`, for less
    try:
        returned = await node.call(given, call.context)
    finally:
        unbind(token)
    call.frame.check_paused()
    return read_result(node, returned, given, before, call.schema)


def _called_sync(call: TaskCall) -> Result:
    before = call.before()
    given = call.schema.shown(before)
    with bound(call.frame):
        returned = call.node.call(given, call.context)
    call.frame.check_paused()
    return read_result(call.node, returned, given, before, call.schema)
