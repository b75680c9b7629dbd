"""Worker threads for sync nodes: they pull calls from one queue, and hand results to the loop.

Who waits for a result in a coroutine awaits `call_in_worker`. A result that somebody is only told
of takes neither an asyncio task nor a future: an eighth of what a task of a fan-out costs.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import Context, copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from nbgraph.core.quick_dataclass import dataclass

__all__ = ["call_in_worker", "finish", "tell_from_worker", "waiting"]

S = TypeVar("S")
T = TypeVar("T")
_LIMIT = 64
"""How many calls run at once; a worker that waits for another run does not count."""


@dataclass(slots=True)
class _Call:
    """A call on its way to a worker, and its outcome on the way back to `told`."""

    function: Callable[[], Any]
    context: Context
    outbox: _Outbox
    told: Callable[[_Call], object]
    result: Any = None
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.context.run(self.function)
        except BaseException as error:  # noqa: BLE001 - it is raised where the call is awaited
            self.error = error


class _Outbox:
    """Outcomes for one loop: it is woken once for all that come before it looks."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._calls: deque[_Call] = deque()
        self._woken = False
        self._lock = threading.Lock()

    def put(self, call: _Call) -> None:
        with self._lock:
            self._calls.append(call)
            wake, self._woken = not self._woken, True
        if wake:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._settle)

    def _settle(self) -> None:
        with self._lock:
            calls, self._calls, self._woken = self._calls, deque(), False
        for call in calls:
            call.told(call)


class _Workers:
    """Daemon threads, started as they are needed: a stuck node does not hold the process."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[_Call] = SimpleQueue()
        self.local = threading.local()
        self._lock = threading.Lock()
        self._threads = 0
        self._unfinished = 0
        self._waiting = 0
        self._ended: threading.Event | None = None

    def submit(self, call: _Call) -> None:
        """Have a worker call a function.

        Raises
        ------
        RuntimeError
            If the system starts no thread, and there is no worker that will ever be free.
        """
        with self._lock:
            if self._unfinished >= self._threads:
                self._grow()
            self._unfinished += 1
            self.calls.put(call)

    def _grow(self) -> None:
        if self._threads < _LIMIT + self._waiting:
            self._threads += 1
            name = f"nbgraph-node-{self._threads}"
            try:
                threading.Thread(target=self._pull, name=name, daemon=True).start()
            except RuntimeError:  # the system has no more: another worker may come to the call
                self._threads -= 1
                if self._threads <= self._waiting:
                    raise

    def _pull(self) -> None:
        self.local.works = True
        while True:
            call = self.calls.get()
            call.run()
            with self._lock:
                self._unfinished -= 1
            call.outbox.put(call)
            del call
            if self._ended is not None and not self._unfinished:
                self._ended.set()

    def finish(self, seconds: float) -> None:
        """Wait until all calls have ended, for at most so long."""
        self._ended = threading.Event()
        if self._unfinished:
            self._ended.wait(seconds)

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Let another worker start while this one waits for a run that may need one."""
        if not getattr(self.local, "works", False):
            yield
            return
        try:
            with self._lock:
                self._waiting += 1
                if not self.calls.empty():
                    self._grow()
            yield
        finally:
            with self._lock:
                self._waiting -= 1


_workers = _Workers()
_outboxes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Outbox] = WeakKeyDictionary()


def _forget() -> None:
    global _workers
    _workers = _Workers()
    _outboxes.clear()


os.register_at_fork(after_in_child=_forget)


def finish(seconds: float) -> None:
    """Wait until the workers have done all calls, for at most so long."""
    _workers.finish(seconds)


def waiting() -> AbstractContextManager[None]:
    """Return a context in which the current thread waits for another run."""
    return _workers.waiting()


def _outbox(loop: asyncio.AbstractEventLoop) -> _Outbox:
    found = _outboxes.get(loop)
    if found is None:
        found = _outboxes[loop] = _Outbox(loop)
    return found


async def call_in_worker(function: Callable[[], T]) -> T:
    """Call a blocking function in a worker thread, in a copy of the caller's context.

    Raises
    ------
    RuntimeError
        If there is no worker, and the system starts none; and whatever the function raises.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def told(_: _Call) -> None:
        if not future.done():
            future.set_result(None)

    call = _Call(function, copy_context(), _outbox(loop), told)
    _workers.submit(call)
    await future
    if call.error is not None:  # not set on the future: that changes some errors on their way
        raise call.error
    return call.result


def tell_from_worker(
    work: Callable[[S], T],
    items: Iterable[S],
    told: Callable[[T], object],
    lost: Callable[[S, Exception], T],
) -> None:
    """Do blocking work as `call_in_worker` does; `told` is given each item's result, on this loop.

    The work raises nothing. Of an item that no worker can take, `lost` gives the result.
    """
    outbox = _outbox(asyncio.get_running_loop())

    def each(call: _Call) -> None:
        told(call.result)

    for item in items:
        try:
            _workers.submit(_Call(partial(work, item), copy_context(), outbox, each))
        except RuntimeError as error:
            told(lost(item, error))
