"""The one loop thread of the process: where sync code meets async code.

Every run begun from sync code lives on this loop, so that a client made in one run still works in
the next, and so that a run goes on while the caller's own loop is busy.

When Python ends, the loop and what it keeps going stand still: a thread that is in the middle of
something while the interpreter is taken apart can crash the process. What was running is left as a
stop of the process leaves it.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import inspect
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import aclosing
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import Any, TypeVar

from nbgraph.core.eager import Starter
from nbgraph.core.tracebacks import result_of_future
from nbgraph.core.workers import finish, waiting

__all__ = ["SyncTwin", "call_soon", "iterate", "on_loop_thread", "run_sync", "submit"]

T = TypeVar("T")
_LAST_WORK = 1.0
"""Seconds that what is being done has, when Python ends."""

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_over = False


def _forget() -> None:
    global _loop, _lock, _starter
    _loop, _lock, _starter = None, threading.Lock(), Starter()


os.register_at_fork(after_in_child=_forget)


def loop() -> asyncio.AbstractEventLoop:
    """Return the process's loop, started on first use."""
    global _loop
    with _lock:
        if _loop is None:
            started = asyncio.new_event_loop()
            thread = threading.Thread(target=started.run_forever, name="nbgraph-loop", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system has no more threads now
                started.close()
                raise
            _loop = started
        return _loop


@atexit.register
def _stand_still() -> None:
    """Hold the loop for ever, and let the workers finish what is short."""
    global _over
    _over = True
    if _loop is not None:
        held = threading.Event()
        _loop.call_soon_threadsafe(_hold, held)
        held.wait(_LAST_WORK)  # an async node may hold it already
        finish(_LAST_WORK)


def _hold(held: threading.Event) -> None:
    held.set()
    threading.Event().wait()


def call_soon(function: Callable[..., object], *args: Any) -> None:
    """Call a function on the loop thread."""
    loop().call_soon_threadsafe(function, *args)


def submit(
    coroutine: Coroutine[Any, Any, T], *, ended: Callable[[], object] | None = None
) -> Future[T]:
    """Start a coroutine on the loop thread, in a copy of the caller's context.

    Its first steps are taken as soon as the loop gets there, before anything that the loop hears of
    later: a run that is told to pause hears it before the outcome that came after. A result of any
    kind comes through the future, `KeyboardInterrupt` and `SystemExit` too: inside the loop they
    would end it. Cancelling the future cancels the coroutine; `ended` is called once it is really
    over.

    Raises
    ------
    RuntimeError
        When Python ends.
    """
    if _over:
        coroutine.close()
        raise RuntimeError("Python is ending: nothing can be run any more. Run it before the end")
    future: Future[T] = Future()
    call_soon(_start, coroutine, future, copy_context(), ended)
    return future


def _start(
    coroutine: Coroutine[Any, Any, T],
    future: Future[T],
    context: Context,
    ended: Callable[[], object] | None,
) -> None:
    def over() -> None:
        coroutine.close()  # it never began, if the future was cancelled first
        if ended is not None:
            ended()

    if future.cancelled():
        over()
        return
    begun = context.run(_starter.start, [("nbgraph-call", _settled(coroutine, future))])
    if not begun:  # it never waited
        over()
        return
    task = begun[0]
    _running.add(task)
    task.add_done_callback(_running.discard)
    task.add_done_callback(lambda _: over())
    future.add_done_callback(lambda done: call_soon(task.cancel) if done.cancelled() else None)


async def _settled(coroutine: Coroutine[Any, Any, T], future: Future[T]) -> None:
    try:
        result = await coroutine
    except asyncio.CancelledError:
        future.cancel()
        future.set_running_or_notify_cancel()
    except BaseException as error:  # noqa: BLE001 - it is handed to whoever waits
        if future.set_running_or_notify_cancel():
            future.set_exception(error)
    else:
        if future.set_running_or_notify_cancel():
            future.set_result(result)


_running: set[asyncio.Task[None]] = set()
_starter = Starter()


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop thread and wait for it, from any other thread.

    Interrupting the wait cancels the coroutine and lets it put things in order first.

    Raises
    ------
    RuntimeError
        On the loop thread itself, where waiting would never end.
    """
    _refuse_loop_thread(coroutine)
    ended = threading.Event()
    future = submit(coroutine, ended=ended.set)
    try:
        with waiting():
            return result_of_future(future)
    except BaseException:
        if not future.done():
            future.cancel()
            ended.wait(timeout=5)
        raise


def on_loop_thread() -> bool:
    """Return whether the caller runs on the loop thread, where nothing may be waited for."""
    try:
        return asyncio.get_running_loop() is _loop
    except RuntimeError:
        return False


def _refuse_loop_thread(coroutine: Coroutine[Any, Any, Any]) -> None:
    if on_loop_thread():
        coroutine.close()
        raise RuntimeError("An async node cannot wait for a sync call; await the async method")


def iterate(source: AsyncGenerator[T, None]) -> Generator[T]:
    """Iterate an async generator on the loop thread; leaving the loop closes it.

    As with an async loop, the source goes on when the next item is asked for.
    """
    items: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
    wanted: asyncio.Queue[None] = asyncio.Queue()

    async def pump() -> None:
        async with aclosing(source):
            async for item in source:
                items.put((True, item))
                await wanted.get()

    coroutine = pump()
    _refuse_loop_thread(coroutine)
    future = submit(coroutine, ended=lambda: items.put((False, None)))
    try:
        while True:
            with waiting():
                more, item = items.get()
            if not more:
                future.result()
                return
            yield item
            call_soon(wanted.put_nowait, None)
    finally:
        if not future.done():
            future.cancel()
            while items.get()[0]:
                pass


class SyncTwin:
    """The async methods of an object, as sync ones: each waits for its result."""

    def __init__(self, target: object) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._target, name, None)
        if name.startswith("_") or not inspect.iscoroutinefunction(method):
            kind = type(self._target).__name__
            raise AttributeError(f"{kind} has no async method {name!r}; there are {dir(self)}")
        return functools.wraps(method)(lambda *args, **kwargs: run_sync(method(*args, **kwargs)))

    def __dir__(self) -> list[str]:
        names = (name for name in dir(type(self._target)) if not name.startswith("_"))
        kind = type(self._target)
        return [name for name in names if inspect.iscoroutinefunction(getattr(kind, name))]
