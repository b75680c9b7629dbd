"""How often a node is tried: attempts, the waits between them, and what is said about them."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from nbgraph.core.events import ErrorInfo
from nbgraph.core.live import Attempt
from nbgraph.core.quick_dataclass import dataclass

if TYPE_CHECKING:
    from tenacity import AsyncRetrying, BaseRetrying, RetryCallState

__all__ = ["Attempts", "Retry", "checked_retry"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a node that raises is tried, and how long to wait in between.

    Parameters
    ----------
    attempts : int
        How often it runs at most, the first time included.
    wait : float or tenacity wait strategy
        Seconds between two attempts, or for example `tenacity.wait_exponential()`.
    on : exception type or tuple of them
        What is tried again; other errors fail the task at once.

    Raises
    ------
    ValueError
        If `attempts` is below 1, or `wait` below 0.
    TypeError
        If `on` is no exception type.
    """

    attempts: int = 3
    wait: float | Callable[[Any], float] = 0.0
    on: type[Exception] | tuple[type[Exception], ...] = Exception

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts is 1 or more, got {self.attempts!r}")
        if not callable(self.wait) and not self.wait >= 0:
            raise ValueError(f"wait is a number of seconds from 0, got {self.wait!r}")
        for kind in self.on if isinstance(self.on, tuple) else (self.on,):
            if not (isinstance(kind, type) and issubclass(kind, Exception)):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
                raise TypeError(f"on lists exception types, got {kind!r}")


def checked_retry(retry: Any) -> Retry | BaseRetrying | None:
    """Return what `@node(retry=...)` was given, if it is something to try again by.

    Raises
    ------
    TypeError
        If it is neither a `Retry` nor an object of tenacity's.
    """
    tenacity = sys.modules.get("tenacity")  # whoever passes an object of its has imported it
    if retry is None or isinstance(retry, Retry):
        return retry
    if tenacity is not None and isinstance(retry, tenacity.BaseRetrying):
        return retry
    raise TypeError(f"retry takes Retry(attempts=...) or tenacity.Retrying(...), got {retry!r}")


class Attempts:
    """The attempts of one task; `made` counts them, `times` says when each began and ended.

    `told` is what else is recorded of its result.

    Parameters
    ----------
    retry : Retry, tenacity retrying or None
        As the node has it.
    describe : function
        Returns an error as it is kept.
    say : function
        Is told of every attempt that will be repeated.
    """

    __slots__ = ("_describe", "_retry", "_say", "made", "times", "told")

    def __init__(
        self,
        retry: Retry | BaseRetrying | None,
        describe: Callable[[BaseException], ErrorInfo],
        say: Callable[[Attempt, float], None],
    ) -> None:
        self.made = 0
        self.told: dict[str, Any] = {}
        self.times: list[tuple[float, float]] = []
        self._retry = retry
        self._describe = describe
        self._say = say

    @property
    def several(self) -> tuple[tuple[float, float], ...]:
        """The times, where there was more than one attempt."""
        return tuple(self.times) if self.made > 1 else ()

    async def run(self, once: Callable[[], Awaitable[T]]) -> T:
        """Return what `once` returns, after as many attempts as it may take.

        A pause, a cancellation and the end of the process are no errors, and not tried again.
        """
        if self._retry is None:
            self.made = 1
            return await once()
        result: Any = None
        async for attempt in self._retrying(self._retry):
            self.made += 1
            state, began = attempt.retry_state, time.time()
            try:
                result = await once()
            except Exception as error:  # noqa: BLE001 - the strategy says which are tried again
                state.set_exception((type(error), error, error.__traceback__))
            else:
                state.set_result(result)
            self.times.append((round(began, 4), round(time.time(), 4)))
        return result

    def _retrying(self, retry: Retry | BaseRetrying) -> AsyncRetrying:
        retrying, limit = _strategy(retry)

        def repeated(state: RetryCallState) -> None:
            self._repeated(state, limit)

        retrying.before_sleep = repeated
        return retrying

    def _repeated(self, state: RetryCallState, limit: int | None) -> None:
        assert state.outcome is not None
        error = state.outcome.exception() if state.outcome.failed else None
        info = ErrorInfo(type="Repeated", message="its result is to be tried again")
        told = info if error is None else self._describe(error)
        self._say(Attempt(self.made, limit, told, state.upcoming_sleep), time.time())


def _strategy(retry: Retry | BaseRetrying) -> tuple[AsyncRetrying, int | None]:
    """Return a retrying object of one's own, and how many attempts it allows, if that is known."""
    import tenacity

    if not isinstance(retry, Retry):
        own = tenacity.AsyncRetrying(
            sleep=asyncio.sleep, stop=retry.stop, wait=retry.wait, retry=retry.retry, reraise=True
        )
        return own, getattr(retry.stop, "max_attempt_number", None)
    wait = retry.wait if callable(retry.wait) else tenacity.wait_fixed(retry.wait)
    own = tenacity.AsyncRetrying(
        sleep=asyncio.sleep,
        stop=tenacity.stop_after_attempt(retry.attempts),
        wait=wait,
        retry=tenacity.retry_if_exception_type(retry.on),
        reraise=True,
    )
    return own, retry.attempts
