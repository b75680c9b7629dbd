"""Worker threads for sync nodes: they pull calls from one queue, and hand results to the loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

__all__ = ["call_in_worker", "waiting"]

T = TypeVar("T")
_LIMIT = 64
"""How many calls run at once; a worker that waits for another run does not count."""


@dataclass(slots=True)
class _Call:
    """A call on its way to a worker, and its outcome on the way back."""

    function: Callable[[], Any]
    context: Context
    future: asyncio.Future[None]
    outbox: _Outbox
    result: Any = None
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.context.run(self.function)
        except BaseException as error:  # noqa: BLE001 - it is raised where the call is awaited
            self.error = error

    def settle(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


@dataclass(slots=True)
class _Outbox:
    """Outcomes for one loop: it is woken once for all that come before it looks."""

    calls: deque[_Call] = field(default_factory=deque[_Call])
    woken: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, call: _Call) -> None:
        with self.lock:
            self.calls.append(call)
            wake, self.woken = not self.woken, True
        if wake:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                call.future.get_loop().call_soon_threadsafe(self.settle)

    def settle(self) -> None:
        with self.lock:
            calls, self.calls, self.woken = self.calls, deque(), False
        for call in calls:
            call.settle()


class _Workers:
    """Daemon threads, started as they are needed: a stuck node does not hold the process."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[_Call] = SimpleQueue()
        self.local = threading.local()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._limit = _LIMIT

    def submit(self, call: _Call) -> None:
        with self._lock:
            if self._idle:
                self._idle -= 1
            else:
                self._grow()
            self.calls.put(call)

    def _grow(self) -> None:
        if self._threads < self._limit:
            self._threads += 1
            name = f"nbgraph-node-{self._threads}"
            threading.Thread(target=self._pull, name=name, daemon=True).start()

    def _pull(self) -> None:
        self.local.works = True
        while True:
            call = self.calls.get()
            call.run()
            with self._lock:
                self._idle += self.calls.empty()
            call.outbox.put(call)
            del call

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Let another worker start while this one waits for a run that may need one."""
        if not getattr(self.local, "works", False):
            yield
            return
        with self._lock:
            self._limit += 1
            if not self.calls.empty():
                self._grow()
        try:
            yield
        finally:
            with self._lock:
                self._limit -= 1


_workers = _Workers()
_outboxes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Outbox] = WeakKeyDictionary()


def _forget() -> None:
    global _workers
    _workers = _Workers()
    _outboxes.clear()


os.register_at_fork(after_in_child=_forget)


def waiting() -> AbstractContextManager[None]:
    """Return a context in which the current thread waits for another run."""
    return _workers.waiting()


async def call_in_worker(function: Callable[[], T]) -> T:
    """Call a blocking function in a worker thread, in a copy of the caller's context."""
    loop = asyncio.get_running_loop()
    outbox = _outboxes.get(loop)
    if outbox is None:
        outbox = _outboxes[loop] = _Outbox()
    call = _Call(function, copy_context(), loop.create_future(), outbox)
    _workers.submit(call)
    await call.future
    if call.error is not None:  # not set on the future: that changes some errors on their way
        raise call.error
    return call.result
