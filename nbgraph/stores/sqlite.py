"""A state store in one SQLite file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nbgraph.core.events import Event
from nbgraph.core.store import BranchRecord, BranchSummary, PendingRecord, ThreadRecord
from nbgraph.errors import StateStoreError
from nbgraph.stores._appends import Appends
from nbgraph.stores._log import MAIN, commit_of, require_text
from nbgraph.stores._sqlite_file import READ, WRITE, SQLiteFile
from nbgraph.stores._sqlite_open import Durability
from nbgraph.stores._sqlite_read import list_branches, list_questions, list_threads, read_log
from nbgraph.stores._sqlite_write import add_branch, forget

if TYPE_CHECKING:
    import os

__all__ = ["SQLiteStateStore"]


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
    DamagedStoreError
        If the lists of branches and questions in it cannot be trusted.
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
        self._file = SQLiteFile(self._path, durability=durability, wait=busy_timeout)
        self._appends: dict[asyncio.AbstractEventLoop, Appends] = {}

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
        await self._appends_of(asyncio.get_running_loop()).add(commit)

    def _appends_of(self, loop: asyncio.AbstractEventLoop) -> Appends:
        appends = self._appends.get(loop)
        if appends is None:
            appends = Appends(loop, self._file)
            kept = {one: its for one, its in self._appends.items() if not one.is_closed()}
            self._appends = kept | {loop: appends}
        return appends

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
        found = await self._file.run(READ, read)
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
        await self._file.run(WRITE, partial(add_branch, record=branch, commit=commit))

    async def branches(self, thread_id: str) -> Sequence[BranchRecord]:
        """Return the thread's branches other than main, oldest first.

        Raises
        ------
        UnknownThreadError
            If the thread does not exist.
        """
        require_text(thread_id, "thread id")
        return await self._file.run(READ, partial(list_branches, thread_id=thread_id))

    async def threads(self) -> Sequence[ThreadRecord]:
        """Return all threads but those of sub-graphs, the one written last first."""
        return await self._file.run(READ, list_threads)

    async def pending(self) -> Sequence[PendingRecord]:
        """Return the pending questions of all threads and branches, oldest first."""
        return await self._file.run(READ, list_questions)

    async def delete(self, thread_id: str) -> None:
        """Remove a thread with its branches, questions and the threads of its sub-graphs.

        An unknown thread is no error.
        """
        require_text(thread_id, "thread id")
        # A long thread takes a while to delete, so this never runs on the event loop.
        await self._file.run_aside(WRITE, partial(forget, thread_id=thread_id))

    async def aclose(self) -> None:
        """Close the file. Using the store afterwards is an error."""
        self.close()

    def close(self) -> None:
        """Do what `aclose` does, from sync code. A collected store closes its file too."""
        self._file.close()


def _absolute(path: str | os.PathLike[str]) -> Path:
    if str(path) in {"", ":memory:"}:
        raise StateStoreError(f"{str(path)!r} names no file; use InMemoryStateStore()")
    return Path(path).expanduser().absolute()
