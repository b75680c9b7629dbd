"""Group commit: what one turn of an event loop appends is written in one transaction.

To be gathered costs a commit two turns of the loop, which is half of what writing it does. Whoever
has appended alone is therefore not made to wait, until a second commit comes in the same turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from nbgraph.errors import StateStoreError, StoreBusyError
from nbgraph.stores._log import Commit
from nbgraph.stores._sql_database import Busy, Database
from nbgraph.stores._sql_rows import Cursor
from nbgraph.stores._sql_write import keep

__all__ = ["Appends"]

_Asked: TypeAlias = list[tuple[Commit, "asyncio.Future[int]"]]
_Outcomes: TypeAlias = Sequence[StateStoreError | int]


class Appends:
    """The commits that one event loop has asked for and that are not written yet.

    What goes wrong is sorted out in a thread. While it waits for a busy file, further commits
    gather here, so that a loop never keeps more than one thread waiting.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, database: Database) -> None:
        self._loop = loop
        self._database = database
        self._asked: _Asked = []
        self._waiting: asyncio.Task[None] | None = None
        self._alone = False
        self._wrote = False

    async def append(self, commit: Commit) -> int:
        """Keep a commit, and return the epoch of its branch.

        Raises
        ------
        StateStoreError
            If it is refused, or the database cannot be written.
        """
        outcome = self._at_once(commit)
        if outcome is None:
            return await self._gathered(commit)
        if isinstance(outcome, int):
            return outcome
        raise outcome

    def _at_once(self, commit: Commit) -> StateStoreError | int | None:
        """Write the first commit of a turn, if those before it came alone; None if it waits."""
        if not self._alone or self._wrote or self._asked or self._waiting is not None:
            return None
        self._wrote = True
        self._loop.call_soon(self._turned)
        try:
            return self._database.attempt(partial(_outcome, commit=commit), writes=True)
        except (Busy, StateStoreError):
            return None  # sorted out in a thread, as for many

    def _turned(self) -> None:
        if not self._asked:  # else those that came in the same turn are written next, and count
            self._wrote = False

    def _gathered(self, commit: Commit) -> asyncio.Future[int]:
        """Ask for a commit; the future ends when it is kept or refused."""
        future: asyncio.Future[int] = self._loop.create_future()
        if not self._asked and self._waiting is None:
            self._loop.call_soon(self._flush)
        self._asked.append((commit, future))
        return future

    def _flush(self) -> None:
        asked = [one for one in self._asked if not one[1].done()]
        self._asked = []
        self._alone = self._database.quick and len(asked) + self._wrote == 1
        self._wrote = False
        commits = [commit for commit, _ in asked]
        work = partial(_outcomes, commits=commits)
        try:
            if not self._database.quick:
                raise Busy
            _deliver(asked, self._database.attempt(work, writes=True))
        except (Busy, StateStoreError):
            self._waiting = self._loop.create_task(self._flush_patiently(asked))
        finally:
            if self._waiting is None:
                self._end(asked)

    async def _flush_patiently(self, asked: _Asked) -> None:
        commits = [commit for commit, _ in asked]
        try:
            _deliver(asked, await asyncio.to_thread(_kept_patiently, self._database, commits))
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
        if isinstance(outcome, int):
            future.set_result(outcome)
        else:
            future.set_exception(outcome)


def _kept_patiently(database: Database, commits: Sequence[Commit]) -> _Outcomes:
    work = partial(_outcomes, commits=commits)
    try:
        return database.patiently(partial(database.attempt, work, writes=True))
    except StateStoreError as error:
        if len(commits) == 1 or isinstance(error, StoreBusyError):
            return [error] * len(commits)
    # The database refused the transaction, perhaps for one commit that is too big for it: the
    # others must not suffer for that.
    return [_kept_patiently(database, [commit])[0] for commit in commits]


def _outcomes(cursor: Cursor, commits: Sequence[Commit]) -> _Outcomes:
    if len(commits) == 1:
        return [_outcome(cursor, commits[0])]
    # In one order everywhere, so that two processes that lock rows do not wait for one another.
    order = sorted(range(len(commits)), key=lambda at: _names(commits[at]))
    found = {at: _outcome(cursor, commits[at]) for at in order}
    return [found[at] for at in range(len(commits))]


def _names(commit: Commit) -> tuple[str, str]:
    return commit.thread_id, commit.branch_id


def _outcome(cursor: Cursor, commit: Commit) -> StateStoreError | int:
    try:
        return keep(cursor, commit)
    except StateStoreError as error:
        return error
