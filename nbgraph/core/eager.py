"""Begin a coroutine at once: one that never waits needs no task of its own and no turn of the loop.

As `asyncio.Task(..., eager_start=True)`, which Python has from 3.12 on, and which makes a task for
each coroutine. With it a superstep of one node that never waits takes 29 us, and 36 us with a task
of its own (Python 3.11).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterable
from contextvars import Context, copy_context
from typing import Any

__all__ = ["Starter"]

_Told = Callable[[Any], object]
_Turn = Callable[[asyncio.AbstractEventLoop, asyncio.Task[Any]], None]
# Python documents both under "Extending asyncio", for whoever runs tasks in another way.
_enter_task: _Turn = asyncio.tasks._enter_task  # type: ignore[attr-defined]
_leave_task: _Turn = asyncio.tasks._leave_task  # type: ignore[attr-defined]
_NOTHING = object()


class Starter:
    """Begins coroutines, each in a copy of the context; used on one loop.

    While a coroutine's first steps run, the current task is the one that will go on with it if it
    waits: a timeout or a task group that it enters belongs to that task, and not to the caller's.
    A task that no coroutine needed serves the next one, until its turn of the loop comes.
    """

    def __init__(self) -> None:
        self._spare: tuple[asyncio.Task[None], _Rest] | None = None
        self._name = ""

    def start(
        self,
        coroutines: Iterable[tuple[str, Coroutine[Any, Any, Any]]],
        told: _Told | None = None,
    ) -> list[asyncio.Task[None]]:
        """Run coroutines, each up to where it waits, and return the tasks that go on with them.

        There is none for a coroutine that ends without waiting. Each comes with its task's name; an
        error of its own is its task's, and what it returns is told, at once or later.
        """
        loop = asyncio.get_running_loop()
        caller = asyncio.current_task(loop)
        waiting: list[asyncio.Task[None]] = []
        if caller is not None:
            _leave_task(loop, caller)
        try:
            for name, coroutine in coroutines:
                task = self._begun(loop, name, coroutine, told)
                if task is not None:
                    waiting.append(task)
        finally:
            if caller is not None:
                _enter_task(loop, caller)
        return waiting

    def _begun(
        self,
        loop: asyncio.AbstractEventLoop,
        name: str,
        coroutine: Coroutine[Any, Any, Any],
        told: _Told | None,
    ) -> asyncio.Task[None] | None:
        task, rest = self._taken(loop, name)
        context = copy_context()
        _enter_task(loop, task)
        try:
            rest.takes(coroutine, context, told, context.run(coroutine.send, None))
        except StopIteration as end:
            if not task.cancelling():  # else it is not as it was
                self._spare = task, rest
            if told is not None:
                told(end.value)
            return None
        except BaseException as error:  # noqa: BLE001 - as any task, it ends with it
            rest.takes(_raising(error), context, None)
        finally:
            _leave_task(loop, task)
        return task

    def _taken(
        self, loop: asyncio.AbstractEventLoop, name: str
    ) -> tuple[asyncio.Task[None], _Rest]:
        """Return a task for a coroutine; another one that is begun in between needs its own."""
        spare, self._spare = self._spare, None
        if spare is None or spare[0].done():
            rest = _Rest()
            # Past the loop's task factory: one that begins tasks at once would end this one.
            spare = asyncio.Task(rest, loop=loop, name=name), rest
        elif name != self._name:
            spare[0].set_name(name)
        self._name = name
        return spare


async def _raising(error: BaseException) -> None:
    raise error


def _mark(awaited: Any, *, asked_for: bool) -> None:
    """Set the flag by which a future tells its task that it was awaited, and not just yielded.

    It holds from the `await` until that task looks, and until then nobody else may await it.
    """
    if awaited is not None and awaited is not _NOTHING:
        awaited._asyncio_future_blocking = asked_for


class _Rest(Coroutine[Any, Any, None]):
    """What a task runs: the rest of a coroutine from where it waits, or nothing."""

    __slots__ = ("_awaited", "_context", "_coroutine", "_told")

    def __init__(self) -> None:
        self._coroutine: Coroutine[Any, Any, Any] | None = None
        self._context: Context | None = None
        self._told: _Told | None = None
        self._awaited: Any = _NOTHING

    def takes(
        self,
        coroutine: Coroutine[Any, Any, Any],
        context: Context,
        told: _Told | None,
        awaited: Any = _NOTHING,
    ) -> None:
        """Go on with a coroutine that waits for something, or has not begun."""
        self._coroutine, self._context, self._told = coroutine, context, told
        self._awaited = awaited
        _mark(awaited, asked_for=False)

    def send(self, value: Any) -> Any:
        if self._coroutine is None or self._context is None:
            raise StopIteration
        if self._awaited is not _NOTHING:
            return self._handed()
        return self._goes_on(self._context, self._coroutine.send, value)

    def _goes_on(self, context: Context, step: Callable[[Any], Any], given: Any) -> Any:
        try:
            return context.run(step, given)
        except StopIteration as end:
            if self._told is not None:
                self._told(end.value)
            raise StopIteration from None

    def _handed(self) -> Any:
        """Return what the coroutine waits for as if it were just asked for."""
        awaited, self._awaited = self._awaited, _NOTHING
        _mark(awaited, asked_for=True)
        return awaited

    def throw(self, error: Any, *_: Any) -> Any:
        self._awaited = _NOTHING
        if self._coroutine is None or self._context is None:
            raise error
        return self._goes_on(self._context, self._coroutine.throw, error)

    def close(self) -> None:
        if self._coroutine is not None:
            self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, None]:
        raise TypeError("it is its task's alone")
