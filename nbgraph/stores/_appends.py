"""Group commit: what one turn of an event loop appends is written in one transaction."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from nbgraph.errors import StateStoreError, StoreBusyError
from nbgraph.stores._log import Commit
from nbgraph.stores._sqlite_file import WRITE, SQLiteFile
from nbgraph.stores._sqlite_open import Busy
from nbgraph.stores._sqlite_write import keep

__all__ = ["Appends"]

_Asked: TypeAlias = list[tuple[Commit, "asyncio.Future[None]"]]
_Outcomes: TypeAlias = Sequence[StateStoreError | None]


class Appends:
    """The commits that one event loop has asked for and that are not written yet.

    What goes wrong is sorted out in a thread. While it waits for a busy file, further commits
    gather here, so that a loop never keeps more than one thread waiting.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, file: SQLiteFile) -> None:
        self._loop = loop
        self._file = file
        self._asked: _Asked = []
        self._waiting: asyncio.Task[None] | None = None

    def add(self, commit: Commit) -> asyncio.Future[None]:
        """Ask for a commit; the future ends when it is kept or refused."""
        future: asyncio.Future[None] = self._loop.create_future()
        if not self._asked and self._waiting is None:
            self._loop.call_soon(self._flush)
        self._asked.append((commit, future))
        return future

    def _flush(self) -> None:
        asked = [one for one in self._asked if not one[1].done()]
        self._asked = []
        commits = [commit for commit, _ in asked]
        try:
            _deliver(asked, self._file.attempt(WRITE, partial(_outcomes, commits=commits)))
        except (Busy, StateStoreError):
            self._waiting = self._loop.create_task(self._flush_patiently(asked))
        finally:
            if self._waiting is None:
                self._end(asked)

    async def _flush_patiently(self, asked: _Asked) -> None:
        commits = [commit for commit, _ in asked]
        try:
            _deliver(asked, await asyncio.to_thread(_kept_patiently, self._file, commits))
        finally:
            self._waiting = None
            self._end(asked)

    def _end(self, asked: _Asked) -> None:
        for _, future in asked:
            # Not done only where the loop shuts down or the write broke: nobody waits for ever.
            future.cancel()
        if self._asked:
            self._loop.call_soon(self._flush)


def _deliver(asked: _Asked, outcomes: _Outcomes) -> None:
    for (_, future), outcome in zip(asked, outcomes, strict=True):
        if future.done():
            continue
        if outcome is None:
            future.set_result(None)
        else:
            future.set_exception(outcome)


def _kept_patiently(file: SQLiteFile, commits: Sequence[Commit]) -> _Outcomes:
    write = partial(file.attempt, WRITE, partial(_outcomes, commits=commits))
    try:
        return file.patiently(write)
    except StateStoreError as error:
        if len(commits) == 1 or isinstance(error, StoreBusyError):
            return [error] * len(commits)
    # The file refused the transaction, perhaps for one commit that is too big for it: the others
    # must not suffer for that.
    return [_kept_patiently(file, [commit])[0] for commit in commits]


def _outcomes(cursor: sqlite3.Cursor, commits: Sequence[Commit]) -> _Outcomes:
    return [_outcome(cursor, commit) for commit in commits]


def _outcome(cursor: sqlite3.Cursor, commit: Commit) -> StateStoreError | None:
    try:
        keep(cursor, commit)
    except StateStoreError as error:
        return error
    return None
