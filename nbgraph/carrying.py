"""Carries out the requests of a session, one run at a time, and keeps what there is to see of it.

What is kept is a fold of the driver's events; whoever watches is told after each of them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Any, cast

from nbgraph.core.driver import BreaksWhen, Driver
from nbgraph.core.events import Event, RunFailed
from nbgraph.core.live import LiveEvent
from nbgraph.core.loop import submit
from nbgraph.core.requests import Continue, Request, Resume, Start
from nbgraph.core.result import GraphResult, result_of
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    NbgraphError,
    NodeFailedError,
    QuestionExpiredError,
    ResumeError,
    StaleAnswerError,
)
from nbgraph.handles import Run
from nbgraph.listening import Held, heard
from nbgraph.prefix import blank, with_inside
from nbgraph.snapshot import Snapshot, shown

__all__ = ["RUNNING", "Carrier", "Predicate"]

Predicate = Callable[[Any], bool]
RUNNING = "The thread is running; stop it, or wait for its end"
_REFUSED_ANSWER = (AlreadyAnsweredError, AnswerError, QuestionExpiredError, StaleAnswerError)
_LOGGER = logging.getLogger("nbgraph")


class Carrier:
    """Sends requests to a driver and folds what happens.

    Parameters
    ----------
    driver : Driver
        The engine's thread.

    Attributes
    ----------
    snapshot : Snapshot
        What there is to see, as of the last event.
    held : function or None
        Is told who holds the loop; with it, what nodes print and log is heard.
    """

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.snapshot = blank(driver.shape)
        self.held: Held | None = None
        self._watchers: list[Callable[[Snapshot], None]] = []
        self._run: Run | None = None
        self._first_step = 0
        self._lock = threading.RLock()  # a watcher may begin the next run

    def watch(self, callback: Callable[[Snapshot], None]) -> Callable[[], None]:
        """Call `callback` with the snapshot now and after every event; return how to stop that."""
        self._watchers.append(callback)
        callback(self.snapshot)
        return lambda: self._watchers.remove(callback) if callback in self._watchers else None

    def begin(
        self,
        request: Start | Resume | Continue,
        break_when: Predicate | None,
        stop: Callable[[], None],
    ) -> Run:
        """Begin a run; `stop` ends it.

        An answer to what everything waits for may come while the run that asked is ending: it is
        taken up right after that.

        Raises
        ------
        ResumeError
            If one goes on.
        """
        with self._lock:
            before = None if self._run is None or self._run.done else self._run
            if before is not None and not (isinstance(request, Resume) and self._only_waits()):
                raise ResumeError(RUNNING)
            self._first_step = self.snapshot.step
            self._show(running=True)
            self._run = Run(submit(self._carried(request, break_when, before)), stop)
            return self._run

    def _only_waits(self) -> bool:
        position = self.snapshot.position
        return bool(position.pending) and not position.runnable

    def settle(self) -> GraphResult:
        """Wait for the end of the run that goes on, if one does, and return where that left it."""
        return self._result() if self._run is None else self._run.result()

    def rested(self) -> GraphResult:
        """Return what `settle` does; an answer that was refused ran nothing, and is passed over."""
        with suppress(*_REFUSED_ANSWER):
            return self.settle()
        return self._result()

    # --- on the loop thread ----------------------------------------------------------------

    async def tell(self, request: Request) -> None:
        """Carry out a request that begins no run."""
        async for event in self.driver.send(request):
            self._show(event)

    async def follow(self) -> None:
        """Take up what was recorded since the last event."""
        events = await self.driver.events(after=self.snapshot.position.sequence)
        for event in await with_inside(self.driver, events):
            self._fold(event)
        self._notify()

    async def close(self) -> None:
        """Tell nobody any more, stop what runs, and wait until it has ended."""
        self._watchers.clear()
        await self.driver.close()
        if self._run is not None:
            await self._run.ended()

    async def _carried(
        self, request: Request, break_when: Predicate | None, before: Run | None
    ) -> GraphResult:
        if before is not None:
            await before.ended()
            self._show(running=True)
        with heard(self._show, self.held):
            return await self._followed(request, break_when)

    async def _followed(self, request: Request, break_when: Predicate | None) -> GraphResult:
        last: Event | LiveEvent | None = None
        try:
            async with aclosing(self._sent(request, break_when)) as happening:
                async for event in happening:
                    last = event
                    self._show(event, running=True)
        except NbgraphError:
            await self.follow()
            raise
        finally:
            self._show(running=False)
        if isinstance(last, RunFailed):
            error = last.error
            raise last.exception or NodeFailedError(
                self.driver.thread_id, error.type, error.message
            )
        return self._result()

    def _sent(
        self, request: Request, break_when: Predicate | None
    ) -> AsyncGenerator[Event | LiveEvent, None]:
        if break_when is None:
            return self.driver.send(request)
        return cast("BreaksWhen", self.driver).send(request, break_when=break_when)

    def _result(self) -> GraphResult:
        position = self.snapshot.position
        return result_of(position, self.driver, position.step - self._first_step)

    def _fold(self, event: Event | LiveEvent) -> None:
        self.snapshot = shown(self.snapshot, event, self.driver.shape, self.driver.folding)

    def _show(self, event: Event | LiveEvent | None = None, *, running: bool | None = None) -> None:
        if event is not None:
            self._fold(event)
        if running is not None and running != self.snapshot.running:
            self.snapshot = self.snapshot.moved(running=running)
        self._notify()

    def _notify(self) -> None:
        for watcher in tuple(self._watchers):
            try:
                watcher(self.snapshot)
            except Exception:
                _LOGGER.exception("A watcher of thread %r failed", self.driver.thread_id)
