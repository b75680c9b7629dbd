"""Group commit: what one turn of an event loop appends is written in one transaction.

To be gathered costs a commit two turns of the loop, which is half of what writing it does. Whoever
wrote last therefore goes on at once, and so does who comes first in a turn, as long as commits come
alone or after a branch was read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from nbgraph.core.reached import Reached
from nbgraph.errors import StateStoreError, StoreBusyError
from nbgraph.stores._log import Commit
from nbgraph.stores._sql_database import Busy, Database
from nbgraph.stores._sql_reached import LeftBranches
from nbgraph.stores._sql_rows import Branch, Cursor
from nbgraph.stores._sql_write import keep

__all__ = ["Appends"]

_Asked: TypeAlias = list[tuple[Commit, "asyncio.Future[int]"]]
_Outcome: TypeAlias = StateStoreError | Branch
_Names: TypeAlias = tuple[str, str]

_KNOWN = 1024
"""How many branches' rows are known: of those that were written or read last."""


class Appends:
    """The commits that one event loop has asked for and that are not written yet.

    What goes wrong is sorted out in a thread. While it waits for a busy file, further commits
    gather here, so that a loop never keeps more than one thread waiting.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, database: Database, left: LeftBranches
    ) -> None:
        self._loop = loop
        self._database = database
        self._left = left
        self._asked: _Asked = []
        self._waiting: asyncio.Task[None] | None = None
        self._last: _Names | None = None
        self._alone = False
        self._wrote = False
        self._known: dict[_Names, Branch] = {}

    def append(self, commit: Commit) -> int | asyncio.Future[int]:
        """Keep a commit, and return the epoch of its branch: at once, or as soon as it is kept.

        Raises
        ------
        StateStoreError
            If it is refused, or the database cannot be written; the future raises it too.
        """
        names = commit.thread_id, commit.branch_id
        if self._asked or self._waiting is not None:
            return self._gathered(commit)
        if names != self._last and not self._first(names):
            return self._gathered(commit)
        # Taken out, so that nothing is known of a branch while its transaction can still fail.
        known = self._known.pop(names, None)
        try:
            work = partial(self._kept_or_refused, commit=commit, known=known)
            outcome = self._database.attempt(work, writes=True)
        except (Busy, StateStoreError):  # it has to be sorted out in a thread, as for many
            self._last = None
            return self._gathered(commit)
        if isinstance(outcome, StateStoreError):
            raise outcome
        self._know(names, outcome)
        return outcome.epoch

    def _first(self, names: _Names) -> bool:
        """Return whether a commit is the first of a turn, and taken to come alone."""
        if not self._alone or self._wrote:
            return False
        self._wrote, self._last = True, names
        self._loop.call_soon(self._turned)
        return True

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
        self._last = _names(asked[0][0]) if self._alone and asked else None
        self._wrote = False
        commits = [commit for commit, _ in asked]
        work = partial(self._outcomes, commits=commits)
        try:
            if not self._database.quick:
                raise Busy
            self._deliver(asked, self._database.attempt(work, writes=True))
        except (Busy, StateStoreError):
            self._waiting = self._loop.create_task(self._flush_patiently(asked))
        finally:
            if self._waiting is None:
                self._end(asked)

    async def _flush_patiently(self, asked: _Asked) -> None:
        commits = [commit for commit, _ in asked]
        try:
            self._deliver(asked, await asyncio.to_thread(self._kept_patiently, commits))
        finally:
            self._waiting = None
            self._end(asked)

    def _end(self, asked: _Asked) -> None:
        for _, future in asked:
            # Not done only where the loop shuts down or the write broke: nobody waits for ever.
            future.cancel()
        if self._asked:
            self._loop.call_soon(self._flush)

    def _deliver(self, asked: _Asked, outcomes: Sequence[_Outcome]) -> None:
        for (commit, future), outcome in zip(asked, outcomes, strict=True):
            if isinstance(outcome, Branch):
                self._know(_names(commit), outcome)
            if future.done():
                continue
            if isinstance(outcome, Branch):
                future.set_result(outcome.epoch)
            else:
                future.set_exception(outcome)

    def learn(self, names: _Names, branch: Branch) -> None:
        """Remember the row of a branch that was read; the row is the caller's no more.

        Who reads a branch goes on there: the first to do so in a turn is taken to come alone.
        """
        if self._waiting is None:  # else a thread is at what is known
            self._know(names, branch)
            self._alone = self._database.quick and not self._asked

    def _know(self, names: _Names, branch: Branch) -> None:
        """Remember the row of a branch that is written: whoever goes on need not read it first."""
        self._known[names] = branch
        if len(self._known) > _KNOWN:
            del self._known[next(iter(self._known))]

    def _kept_patiently(self, commits: Sequence[Commit]) -> Sequence[_Outcome]:
        work = partial(self._outcomes, commits=commits)
        try:
            return self._database.patiently(partial(self._database.attempt, work, writes=True))
        except StateStoreError as error:
            if len(commits) == 1 or isinstance(error, StoreBusyError):
                return [error] * len(commits)
        # The database refused the transaction, perhaps for one commit that is too big for it: the
        # others must not suffer for that.
        return [self._kept_patiently([commit])[0] for commit in commits]

    def _outcomes(self, cursor: Cursor, commits: Sequence[Commit]) -> Sequence[_Outcome]:
        # In one order everywhere, so that two processes that lock rows do not wait for one another.
        names = [_names(commit) for commit in commits]
        order = sorted(range(len(commits)), key=names.__getitem__)
        found: dict[int, _Outcome] = {}
        for at in order:
            known = self._known.pop(names[at], None)
            found[at] = self._kept_or_refused(cursor, commits[at], known)
        return [found[at] for at in range(len(commits))]

    def _kept_or_refused(self, cursor: Cursor, commit: Commit, known: Branch | None) -> _Outcome:
        try:
            branch = keep(cursor, commit, known)
        except StateStoreError as error:
            return error
        if isinstance(commit.snapshot, Reached):
            self._left.note(cursor, branch, commit.snapshot)
        return branch


def _names(commit: Commit) -> _Names:
    return commit.thread_id, commit.branch_id
