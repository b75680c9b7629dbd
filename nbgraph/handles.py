"""What a session hands out or is handed: the run it began, and the answers of a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from typing import Any

from nbgraph.core.events import Interrupt
from nbgraph.core.result import GraphResult
from nbgraph.core.tracebacks import result_of_future
from nbgraph.errors import ResumeError

__all__ = ["Run", "Script"]

_HEARTBEAT = 0.05
"""Seconds between looks while awaiting: an idle await is not reached by a kernel interrupt."""


class Run:
    """The handle of one request that is being carried out."""

    def __init__(self, future: Future[GraphResult], cancel: Callable[[], object]) -> None:
        self._future = future
        self._cancel = cancel

    @property
    def done(self) -> bool:
        """Whether it has ended: at a pause, at the end, or with an error."""
        return self._future.done()

    def result(self, timeout: float | None = None) -> GraphResult:
        """Wait for its end and return where the thread stands.

        Raises
        ------
        TimeoutError
            If it has not ended after `timeout` seconds; it goes on.
        Exception
            What a node raised, or why the request was refused.
        """
        return result_of_future(self._future, timeout)

    def cancel(self) -> None:
        """Stop it; the thread can be continued."""
        self._cancel()

    def on_end(self, callback: Callable[[BaseException | None], object]) -> None:
        """Call `callback` with what it raised, or None, when it has ended; at once if it has."""

        def ended(future: Future[GraphResult]) -> None:
            callback(None if future.cancelled() else future.exception())

        self._future.add_done_callback(ended)

    def __await__(self) -> Generator[Any, None, GraphResult]:
        return self._wait().__await__()

    async def ended(self) -> None:
        """Wait for its end, whatever that is."""
        await asyncio.gather(asyncio.wrap_future(self._future), return_exceptions=True)

    async def _wait(self) -> GraphResult:
        while not self._future.done():  # noqa: ASYNC110 - an idle await misses an interrupt
            await asyncio.sleep(_HEARTBEAT)
        return result_of_future(self._future)


class Script:
    """Answers by key; a list is used up in order."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = dict(answers)
        self._used: dict[str, int] = {}

    def answer(self, question: Interrupt) -> Any:
        """Return the answer to a question, and count that it was asked.

        Raises
        ------
        ResumeError
            If there is none, or none is left.
        """
        key = question.key
        if key not in self._answers:
            raise ResumeError(f"Nobody is here to answer {key!r}; pass answers={{{key!r}: ...}}")
        given = self._answers[key]
        if callable(given):
            return given(question)
        if not isinstance(given, list):
            return given
        number = self._used.get(key, 0)
        self._used[key] = number + 1
        if number >= len(given):  # pyright: ignore[reportUnknownArgumentType] - any answers
            raise ResumeError(
                f"{key!r} was asked {number + 1} times and answers has {number} for it"
            )
        return given[number]  # pyright: ignore[reportUnknownVariableType]
