"""What is known of a thread of another engine: the events of its branches, in this process.

Nothing is kept here that the engine does not keep, save who answered when.
"""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_right
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from nbgraph.core.codec import stamp
from nbgraph.core.driver import Folding
from nbgraph.core.events import (
    AnswerRefused,
    AnswersGiven,
    Event,
    Forked,
    RunFailed,
    RunPaused,
    RunStopped,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
)
from nbgraph.core.fold import advance, fold
from nbgraph.core.position import Position
from nbgraph.errors import (
    ResumeError,
    StateStoreError,
    StateUpdateError,
    UnknownThreadError,
)

__all__ = ["BranchLog", "ThreadLog", "forget", "thread_log"]

_REPORTS = (
    TaskFinished,
    TaskInterrupted,
    TaskFailed,
    AnswersGiven,
    AnswerRefused,
    RunPaused,
    RunStopped,
    RunFailed,
)


class BranchLog:
    """The events of one branch, its ancestors' included.

    `place` is where the engine stands: what it needs to go on from there.
    """

    def __init__(self, branch_id: str, folding: Folding) -> None:
        self.id = branch_id
        self.events: list[Event] = []
        self.position = Position()
        self._folding = folding
        self._places: list[tuple[int, Any]] = []

    @property
    def place(self) -> Any:
        """Where the engine stands; None before it ran."""
        return self._places[-1][1] if self._places else None

    def places(self) -> list[Any]:
        """Return where the engine stood, one after the other."""
        return [place for _, place in self._places]

    def last_at(self, place: Any) -> int:
        """Return the last event while the engine stood at `place`; 0 if it never did."""
        following = [*(sequence for sequence, _ in self._places[1:]), len(self.events) + 1]
        found = [
            after - 1
            for (_, each), after in zip(self._places, following, strict=True)
            if each == place
        ]
        return found[-1] if found else 0

    def planned_at(self, sequence: int) -> int:
        """Return the last event up to `sequence` that planned tasks, and reports nothing of them.

        What an engine copies is a place, where the tasks begin.
        """
        for event in reversed(self.events[:sequence]):
            if not isinstance(event, _REPORTS):
                return event.sequence
        return sequence

    def place_at(self, sequence: int) -> Any:
        """Return where the engine stood after an event; None before it ran."""
        at = bisect_right(self._places, sequence, key=lambda item: item[0])
        return self._places[at - 1][1] if at else None

    def record(self, events: Iterable[Event], place: Any = None) -> list[Event]:
        """Append events of nobody else; from the first on the engine stands at `place`."""
        if place is not None and place != self.place:
            self._places.append((len(self.events) + 1, place))
        made: list[Event] = []
        for event in events:
            stamp((event,), branch_id=self.id, first=len(self.events) + 1)
            self.events.append(event)
            self.position = advance(self.position, event, self._folding)
            made.append(event)
        return made

    def position_at(self, sequence: int) -> Position:
        """Return where the branch stood after an event."""
        return fold(self.events[:sequence], self._folding)

    def forked(self, branch_id: str, at: int) -> BranchLog:
        """Return a branch that has the events up to `at`."""
        other = BranchLog(branch_id, self._folding)
        other.events = self.events[:at]
        other.position = fold(other.events, self._folding)
        other._places = [item for item in self._places if item[0] <= at]
        other.record([Forked(parent_branch_id=self.id, parent_sequence=at)])
        return other


class ThreadLog:
    """The branches of one thread, shared by all drivers of it.

    Attributes
    ----------
    branches : dict of str to BranchLog
        The branches that are known, `"main"` first.
    reading : asyncio.Lock
        Held while somebody takes up what the engine has.
    running : bool
        Whether a request is carried out.
    """

    def __init__(self, thread_id: str, folding: Folding) -> None:
        self.thread_id = thread_id
        self.folding = folding
        self.branches = {"main": BranchLog("main", folding)}
        self.reading = asyncio.Lock()
        self.running = False
        self._lock = threading.Lock()

    def branch(self, branch_id: str) -> BranchLog:
        """Return a branch.

        Raises
        ------
        UnknownThreadError
            If there is none of that name.
        """
        if branch_id not in self.branches:
            raise UnknownThreadError(self.thread_id, branch_id)
        return self.branches[branch_id]

    @contextmanager
    def busy(self) -> Generator[None]:
        """Hold the thread: an engine's thread runs once at a time, whatever the branch.

        Raises
        ------
        ResumeError
            If it is held already.
        """
        with self._lock:
            if self.running:
                raise ResumeError(
                    f"Thread {self.thread_id!r} is running; stop it, or wait for its end"
                )
            self.running = True
        try:
            yield
        finally:
            self.running = False

    def check_fork(self, branch: BranchLog, at: int | None, name: str | None) -> tuple[int, str]:
        """Return the event to fork at, and the new branch's name.

        Raises
        ------
        StateUpdateError
            If `at` is no event of the branch.
        StateStoreError
            If there is a branch of that name.
        """
        last = len(branch.events)
        chosen = last if at is None else at
        if not 1 <= chosen <= last:
            raise StateUpdateError(
                f"Branch {branch.id!r} has no event {chosen}; its last is {last}"
            )
        given = name or self.free_name()
        if given in self.branches:
            raise StateStoreError(f"Thread {self.thread_id!r} has a branch {given!r} already")
        return chosen, given

    def free_name(self) -> str:
        """Return a name for a new branch."""
        numbers = range(1, len(self.branches) + 1)
        return next(f"fork-{n}" for n in numbers if f"fork-{n}" not in self.branches)

    def events(self, branch_id: str, after: int) -> Sequence[Event]:
        """Return a branch's events after number `after`."""
        return tuple(self.branch(branch_id).events[after:])


_threads: WeakKeyDictionary[Any, dict[str, ThreadLog]] = WeakKeyDictionary()


def thread_log(app: Any, thread_id: str, folding: Folding) -> ThreadLog:
    """Return what is known of a thread of a graph: one log for all who look at it."""
    known = _threads.setdefault(app, {})
    if thread_id not in known:
        known[thread_id] = ThreadLog(thread_id, folding)
    return known[thread_id]


def forget(app: Any) -> None:
    """Forget what is known of a graph's threads, as a restart of the kernel does."""
    _threads.pop(app, None)
