"""A state store in one SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nbgraph.core.events import Event
from nbgraph.core.store import BranchRecord, BranchSummary, PendingRecord, ThreadRecord
from nbgraph.errors import StateStoreError
from nbgraph.stores._appends import Appends, Outcomes
from nbgraph.stores._log import MAIN, Commit, commit_of, require_text
from nbgraph.stores._sqlite_file import (
    Busy,
    Durability,
    connected,
    patiently,
    transact,
    translated,
)
from nbgraph.stores._sqlite_read import list_branches, list_questions, list_threads, read_log
from nbgraph.stores._sqlite_write import add_branch, forget, keep

if TYPE_CHECKING:
    import os

__all__ = ["SQLiteStateStore"]

_Result = TypeVar("_Result")
_Work = Callable[[sqlite3.Connection], _Result]

_READ, _WRITE = "BEGIN", "BEGIN IMMEDIATE"

_BRIEFLY = 0.005
"""How long an event loop waits, in seconds, while another thread uses the connection."""


class SQLiteStateStore:
    """Keeps threads in one SQLite file, for several event loops, threads and processes.

    Parameters
    ----------
    path : str or path
        The file; it is made where there is none, readable by its owner only, and so is its folder.
        `~` is the home folder. Put it on a local disk: SQLite's locks do not hold on network ones.
    durability : {"full", "fast"}
        `"full"` keeps every recorded event through a power cut, `"fast"` through a killed process
        only: the last events before a power cut may be gone. Neither ever tears a commit.
    busy_timeout : float
        How long to wait, in seconds, while another process writes. The event loop goes on.

    Raises
    ------
    StateStoreError
        If the file cannot be made or opened, is no nbgraph store, or is one of a later nbgraph.
    StoreBusyError
        If another process held the file for longer than `busy_timeout`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: Durability = "full",
        busy_timeout: float = 30.0,
    ) -> None:
        self._path = _absolute(path)
        self._busy_timeout = busy_timeout
        self._lock = threading.Lock()
        self._appends: dict[asyncio.AbstractEventLoop, Appends] = {}
        self._connection = connected(self._path, durability=durability, wait=busy_timeout)
        self._close = weakref.finalize(self, self._connection.close)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._path)!r})"

    async def append(
        self,
        thread_id: str,
        branch_id: str,
        events: Sequence[Event],
        *,
        expected: int,
        summary: BranchSummary,
    ) -> None:
        """Keep `events` as one commit after event `expected`, or keep nothing.

        What one turn of the event loop appends is written in one transaction.

        Raises
        ------
        ConcurrentRunError
            If the branch does not end at `expected`.
        UnknownThreadError
            If the branch does not exist and `expected` is not 0, or it is not `"main"`.
        StoreBusyError
            If another process held the file for longer than `busy_timeout`.
        StateStoreError
            If an event cannot be kept as JSON, or the file cannot be written.
        """
        commit = commit_of(thread_id, branch_id, events, expected=expected, summary=summary)
        loop = asyncio.get_running_loop()
        appends = self._appends.get(loop)
        if appends is None:
            done = partial(self._appends.pop, loop)
            appends = Appends(loop, write=self._keep, wait=self._keep_patiently, done=done)
            self._appends[loop] = appends
        await appends.add(commit)

    def _keep(self, commits: Sequence[Commit]) -> Outcomes:
        try:
            return self._attempt(_WRITE, partial(_kept, commits=commits))
        except StateStoreError as error:
            # The file refused the whole transaction. Somebody's commit may be too big for it, and
            # the others must not suffer for that.
            one = len(commits) == 1
            return [error] if one else [self._keep([commit])[0] for commit in commits]

    def _keep_patiently(self, commits: Sequence[Commit]) -> Outcomes:
        try:
            return patiently(partial(self._keep, commits), path=self._path, wait=self._busy_timeout)
        except StateStoreError as error:
            return [error] * len(commits)

    async def events(
        self, thread_id: str, branch_id: str = MAIN, *, after: int = 0, upto: int | None = None
    ) -> Sequence[Event]:
        """Return the branch's events with `after < sequence <= upto`, its ancestors' included.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        DamagedStoreError
            If a row cannot be read, or one is missing. Earlier events can be read with `upto`.
        StoreBusyError
            If another process held the file for longer than `busy_timeout`.
        """
        require_text(thread_id, "thread id")
        require_text(branch_id, "branch id")
        read = partial(read_log, thread_id=thread_id, branch_id=branch_id, after=after, upto=upto)
        found = await self._run(_READ, read)
        return [event for part in found for event in part.events()]

    async def fork(
        self, branch: BranchRecord, events: Sequence[Event], *, summary: BranchSummary
    ) -> None:
        """Make a branch with its first commit; the parent is untouched and not copied.

        Raises
        ------
        UnknownThreadError
            If the thread or the parent branch does not exist.
        StateStoreError
            If the branch exists, `parent_sequence` is not an event of the parent, an event cannot
            be kept as JSON, or the file cannot be written.
        StoreBusyError
            If another process held the file for longer than `busy_timeout`.
        """
        require_text(branch.parent_branch_id, "branch id")
        commit = commit_of(
            branch.thread_id,
            branch.id,
            events,
            expected=branch.parent_sequence,
            summary=summary,
        )
        await self._run(_WRITE, partial(add_branch, record=branch, commit=commit))

    async def branches(self, thread_id: str) -> Sequence[BranchRecord]:
        """Return the thread's branches other than main, oldest first.

        Raises
        ------
        UnknownThreadError
            If the thread does not exist.
        """
        require_text(thread_id, "thread id")
        return await self._run(_READ, partial(list_branches, thread_id=thread_id))

    async def threads(self) -> Sequence[ThreadRecord]:
        """Return all threads, the one written last first."""
        return await self._run(_READ, list_threads)

    async def pending(self) -> Sequence[PendingRecord]:
        """Return the pending questions of all threads and branches, oldest first."""
        return await self._run(_READ, list_questions)

    async def delete(self, thread_id: str) -> None:
        """Remove a thread with its branches and questions; an unknown thread is no error."""
        require_text(thread_id, "thread id")
        # A long thread takes a while to delete, so this never runs on the event loop.
        await asyncio.to_thread(self._run_patiently, _WRITE, partial(forget, thread_id=thread_id))

    async def aclose(self) -> None:
        """Close the file. Using the store afterwards is an error."""
        self.close()

    def close(self) -> None:
        """Do what `aclose` does, from sync code. A collected store closes its file too."""
        with self._lock:
            self._close()

    async def _run(self, begin: str, work: _Work[_Result]) -> _Result:
        try:
            return self._attempt(begin, work)
        except Busy:
            return await asyncio.to_thread(self._run_patiently, begin, work)

    def _run_patiently(self, begin: str, work: _Work[_Result]) -> _Result:
        attempt = partial(self._attempt, begin, work)
        return patiently(attempt, path=self._path, wait=self._busy_timeout)

    def _attempt(self, begin: str, work: _Work[_Result]) -> _Result:
        if not self._lock.acquire(timeout=_BRIEFLY):
            raise Busy
        try:
            if not self._close.alive:
                raise StateStoreError(f"The state store {str(self._path)!r} is closed")
            return transact(self._connection, begin, work)
        except (sqlite3.Error, OverflowError) as error:
            raise translated(error, self._path) from error
        finally:
            self._lock.release()


def _kept(connection: sqlite3.Connection, commits: Sequence[Commit]) -> Outcomes:
    return [_outcome(connection, commit) for commit in commits]


def _outcome(connection: sqlite3.Connection, commit: Commit) -> Exception | None:
    try:
        keep(connection, commit)
    except StateStoreError as error:
        return error
    return None


def _absolute(path: str | os.PathLike[str]) -> Path:
    if str(path) in {"", ":memory:"}:
        raise StateStoreError(f"{str(path)!r} names no file; use InMemoryStateStore()")
    return Path(path).expanduser().absolute()
