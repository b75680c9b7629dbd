"""The one loop thread of the process, and the worker threads for sync nodes.

Every run begun from sync code lives on this loop, so that a client made in one run still works in
the next, and so that a run goes on while the caller's own loop is busy.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import Any, TypeVar

__all__ = ["call_in_worker", "call_soon", "iterate", "run_sync", "submit"]

T = TypeVar("T")
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_workers: ThreadPoolExecutor | None = None


def _forget() -> None:
    global _loop, _workers, _lock
    _loop, _workers, _lock = None, None, threading.Lock()


os.register_at_fork(after_in_child=_forget)


def loop() -> asyncio.AbstractEventLoop:
    """Return the process's loop, started on first use."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_loop.run_forever, name="nbgraph-loop", daemon=True)
            thread.start()
        return _loop


def call_soon(function: Callable[..., object], *args: Any) -> None:
    """Call a function on the loop thread."""
    loop().call_soon_threadsafe(function, *args)


def submit(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a coroutine on the loop thread, in a copy of the caller's context.

    A result of any kind comes through the future, `KeyboardInterrupt` and `SystemExit` too: inside
    the loop they would end it. Cancelling the future cancels the coroutine.
    """
    future: Future[T] = Future()
    context = copy_context()
    call_soon(_start, coroutine, future, context)
    return future


def _start(coroutine: Coroutine[Any, Any, T], future: Future[T], context: Context) -> None:
    async def guarded() -> None:
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

    task = loop().create_task(guarded(), context=context)
    _running.add(task)
    task.add_done_callback(_running.discard)
    future.add_done_callback(lambda done: call_soon(task.cancel) if done.cancelled() else None)


_running: set[asyncio.Task[None]] = set()


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

    async def watched() -> T:
        try:
            return await coroutine
        finally:
            ended.set()

    future = submit(watched())
    try:
        return future.result()
    except BaseException:
        if not future.done():
            future.cancel()
            ended.wait(timeout=5)
        raise


def _refuse_loop_thread(coroutine: Coroutine[Any, Any, Any]) -> None:
    try:
        inside = asyncio.get_running_loop() is _loop
    except RuntimeError:
        return
    if inside:
        coroutine.close()
        raise RuntimeError("An async node cannot wait for a sync call; await the async method")


def iterate(source: AsyncGenerator[T, None]) -> Generator[T]:
    """Iterate an async generator on the loop thread; leaving the loop closes it."""
    items: SimpleQueue[tuple[bool, Any]] = SimpleQueue()

    async def pump() -> None:
        try:
            async for item in source:
                items.put((True, item))
        finally:
            await source.aclose()
            items.put((False, None))

    future = submit(pump())
    try:
        while True:
            more, item = items.get()
            if not more:
                future.result()
                return
            yield item
    finally:
        if not future.done():
            future.cancel()
            while items.get()[0]:
                pass


async def call_in_worker(function: Callable[[], T]) -> T:
    """Call a blocking function in a worker thread, in a copy of the caller's context."""
    global _workers
    with _lock:
        if _workers is None:
            _workers = ThreadPoolExecutor(max_workers=64, thread_name_prefix="nbgraph-node")
    context = copy_context()
    return await asyncio.get_running_loop().run_in_executor(_workers, context.run, function)
