"""What comes of a node beside one run of it: a kept result, further attempts, what stands in."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from nbgraph.core.asking import GraphInterrupt, bound
from nbgraph.core.effects import decided, how_it_failed
from nbgraph.core.node_hooks import Result
from nbgraph.core.prints import heard, listens
from nbgraph.core.retry import Attempts
from nbgraph.core.superstep import read_result
from nbgraph.core.workers import call_in_worker

if TYPE_CHECKING:
    from nbgraph.core.task_call import TaskCall

__all__ = ["set_result", "tried"]

Once = Callable[[], Awaitable[Result]]
"""Runs the node once."""


async def tried(call: TaskCall, attempts: Attempts, once: Once) -> Result:
    """Return what a node's cache has, else what its attempts lead to, else what stands in."""
    cache = call.node.cache
    if cache is None:
        return await _stood_in(call, attempts, once)
    address = cache.address(call.node, call.schema, call.before())
    found: Result | None = cache.get(address)
    if found is not None:
        attempts.told["cached"] = True
        attempts.made = 1
        return found
    result = await _stood_in(call, attempts, once)
    if not (call.frame.answers or attempts.told):  # neither an answer's nor a stand-in's
        cache.put(address, result)
    return result


async def _stood_in(call: TaskCall, attempts: Attempts, once: Once) -> Result:
    handler = call.node.on_error
    if handler is None:
        return await attempts.run(once)
    if handler == "ask":
        return await _asking(call, attempts, once)
    try:
        return await attempts.run(once)
    except Exception as error:
        instead = await _handled(call, handler, error)
        if instead is None:
            raise
        attempts.told["error"] = call.described(error)
        return instead


async def _handled(
    call: TaskCall, handler: Callable[[Any, Exception], Any], error: Exception
) -> Result | None:
    """Return what a node's own function makes of its error; None if it lets it be.

    It may ask: its questions are told from the node's own by `error/` in their key.
    """
    before = call.before()
    given = call.schema.shown(before)
    frame = call.frame.again().of_call("error", None)
    listening = partial(heard, call.said) if listens() else nullcontext

    def called() -> Any:
        with bound(frame), listening():
            return handler(given, error)

    if inspect.iscoroutinefunction(handler):
        with bound(frame), listening():
            returned = await handler(given, error)
    else:
        returned = called() if call.inline else await call_in_worker(called)
    if returned is None:
        return None
    return read_result(call.node, returned, given, before, call.schema)


async def _asking(call: TaskCall, attempts: Attempts, once: Once) -> Result:
    """Run a node until it returns, or a person says what stands in; the answer comes first."""
    while True:
        said = decided(how_it_failed(call.frame), call.frame, read=lambda it: set_result(call, it))
        if said is not None:
            return said[0] or ({}, (), None)
        try:
            return await attempts.run(once)
        except Exception as error:
            if call.port.home().store is None:
                raise
            question = how_it_failed(call.frame, call.described(error))
            hooks = call.hooks
            answer = None if hooks is None else await hooks.answer(call.before(), question)
            if not call.frame.take(question, answer):
                raise GraphInterrupt(question) from error
            await asyncio.sleep(0)  # a hook may say the same for ever


def set_result(call: TaskCall, result: Any) -> Result:
    """Return what a person said that a node returned."""
    checked = call.schema.update(result or {}, f"result of {call.node.name!r}")
    return dict(checked.values), checked.replaced, None
