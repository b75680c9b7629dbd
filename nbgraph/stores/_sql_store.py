"""The state store over a database that speaks SQL: SQLite and PostgreSQL differ below it only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from nbgraph.core.drafts import Draft
from nbgraph.core.events import Event
from nbgraph.core.store import (
    BranchRecord,
    BranchSummary,
    Claim,
    Damage,
    PendingRecord,
    PositionSnapshot,
    Recalled,
    StoreSize,
    ThreadRecord,
)
from nbgraph.stores._appends import Appends
from nbgraph.stores._drafts import draft_text
from nbgraph.stores._log import MAIN, commit_of, require_text
from nbgraph.stores._sql_database import Busy, Database
from nbgraph.stores._sql_drafts import keep_draft, list_drafts
from nbgraph.stores._sql_lists import list_branches, list_questions, list_threads
from nbgraph.stores._sql_read import read_log, recall_log
from nbgraph.stores._sql_rows import Cursor
from nbgraph.stores._sql_size import drop_caches, measure
from nbgraph.stores._sql_transfer import export_lines, import_lines
from nbgraph.stores._sql_verify import verify_store
from nbgraph.stores._sql_write import add_branch, claim_branch, forget, release_branch
from nbgraph.stores._watch import watch_changes

__all__ = ["SqlStateStore"]

_Result = TypeVar("_Result")


class SqlStateStore:
    """Keeps threads in a database, for several event loops, threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._appends: dict[asyncio.AbstractEventLoop, Appends] = {}

    async def _run(
        self, work: Callable[[Cursor], _Result], *, writes: bool = False, aside: bool = False
    ) -> _Result:
        """Do `work` in one transaction, in a thread if it has to wait or is asked to."""
        if self._database.quick and not aside:
            try:
                return self._database.attempt(work, writes=writes)
            except Busy:
                pass
        attempt = partial(self._database.attempt, work, writes=writes)
        return await asyncio.to_thread(self._database.patiently, attempt)

    async def append(
        self,
        thread_id: str,
        branch_id: str,
        events: Sequence[Event],
        *,
        expected: int,
        summary: BranchSummary,
        snapshot: Callable[[], PositionSnapshot | None] | None = None,
        claim: Claim | None = None,
    ) -> int:
        """Keep `events` as one commit after event `expected`, or keep nothing.

        What one turn of the event loop appends is written in one transaction, save for the first
        of it where those before came alone. Returns the branch's epoch.

        Raises
        ------
        ConcurrentRunError
            If the branch does not end at `expected`.
        ClaimLostError
            If somebody else took the branch over after `claim` was made.
        UnknownThreadError
            If the branch does not exist and `expected` is not 0, or it is not `"main"`.
        StoreBusyError
            If another process held the database for longer than `busy_timeout`.
        StateStoreError
            If an event cannot be kept as JSON, or the database cannot be written.
        """
        commit = commit_of(
            thread_id,
            branch_id,
            events,
            expected=expected,
            summary=summary,
            snapshot=snapshot,
            claim=claim,
        )
        return await self._appends_of(asyncio.get_running_loop()).append(commit)

    def _appends_of(self, loop: asyncio.AbstractEventLoop) -> Appends:
        appends = self._appends.get(loop)
        if appends is None:
            appends = Appends(loop, self._database)
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
            If another process held the database for longer than `busy_timeout`.
        """
        require_text(thread_id, "thread id")
        require_text(branch_id, "branch id")
        read = partial(read_log, thread_id=thread_id, branch_id=branch_id, after=after, upto=upto)
        found = await self._run(read)
        return [event for part in found for event in part.events()]

    async def recall(
        self, thread_id: str, branch_id: str = MAIN, *, upto: int | None = None
    ) -> Recalled:
        """Return the newest snapshot at or before event `upto`, and the events after it up to it.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        DamagedStoreError
            If a row cannot be read, or one is missing.
        StoreBusyError
            If another process held the database for longer than `busy_timeout`.
        """
        require_text(thread_id, "thread id")
        require_text(branch_id, "branch id")
        recall = partial(recall_log, thread_id=thread_id, branch_id=branch_id, upto=upto)
        branch, snapshot, found = await self._run(recall)
        recalled = Recalled(snapshot, [event for part in found for event in part.events()])
        self._appends_of(asyncio.get_running_loop()).learn((thread_id, branch_id), branch)
        return recalled

    async def claim(
        self, thread_id: str, branch_id: str = MAIN, *, owner: str, ttl: float | None = None
    ) -> int:
        """Make `owner` the one who writes to a branch, and return the epoch that begins.

        Without `ttl` this is a take-over; with it, another's claim that still lasts is respected.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        ThreadClaimedError
            If `ttl` is given and somebody else's claim still lasts.
        StoreBusyError
            If another process held the database for longer than `busy_timeout`.
        """
        names = _names(thread_id, branch_id, owner)
        now = time.time()
        work = partial(claim_branch, names=names, owner=owner, now=now, ttl=ttl)
        return await self._run(work, writes=True)

    async def release(self, thread_id: str, branch_id: str = MAIN, *, owner: str) -> None:
        """End a claim of `owner`, so that others need not wait; one that is over is no error.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        StoreBusyError
            If another process held the database for longer than `busy_timeout`.
        """
        names = _names(thread_id, branch_id, owner)
        await self._run(partial(release_branch, names=names, owner=owner), writes=True)

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
            be kept as JSON, or the database cannot be written.
        StoreBusyError
            If another process held the database for longer than `busy_timeout`.
        """
        require_text(branch.parent_branch_id, "branch id")
        commit = commit_of(
            branch.thread_id,
            branch.id,
            events,
            expected=branch.parent_sequence,
            summary=summary,
        )
        await self._run(partial(add_branch, record=branch, commit=commit), writes=True)

    async def branches(self, thread_id: str) -> Sequence[BranchRecord]:
        """Return the thread's branches other than main, oldest first.

        Raises
        ------
        UnknownThreadError
            If the thread does not exist.
        """
        require_text(thread_id, "thread id")
        return await self._run(partial(list_branches, thread_id=thread_id))

    async def threads(
        self, *, limit: int | None = None, after: ThreadRecord | None = None
    ) -> Sequence[ThreadRecord]:
        """Return threads, the one written last first: at most `limit`, those that follow `after`.

        The threads of sub-graphs are not among them. Where two were written at the same time, the
        greater id is first.
        """
        return await self._run(partial(list_threads, limit=limit, after=after))

    async def pending(
        self, *, limit: int | None = None, after: PendingRecord | None = None
    ) -> Sequence[PendingRecord]:
        """Return pending questions of all threads and branches, oldest first.

        At most `limit`, those that follow `after`. Questions of the same time come by thread,
        branch, key and asking.
        """
        return await self._run(partial(list_questions, limit=limit, after=after))

    async def keep_draft(
        self, thread_id: str, branch_id: str, key: str, asked: int, draft: Draft | None
    ) -> None:
        """Keep what is filled in so far of an answer, beside the log; None forgets it.

        For a question that does not wait nothing is kept, and an answer takes its draft away.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        StateStoreError
            If the value is no JSON, or the database cannot be written.
        StoreBusyError
            If another process held the database for longer than `busy_timeout`.
        """
        names = _names(thread_id, branch_id, key)[:2]
        text = draft_text(draft)
        work = partial(keep_draft, names=names, question=(key, asked), draft=draft, text=text)
        await self._run(work, writes=True)

    async def drafts(
        self, thread_id: str, branch_id: str = MAIN
    ) -> Mapping[tuple[str, int], Draft]:
        """Return the drafts of the questions that wait, by key and asking.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        """
        names = _names(thread_id, branch_id, "")[:2]
        return await self._run(partial(list_drafts, names=names))

    async def delete(self, thread_id: str) -> None:
        """Remove a thread with its branches, questions and the threads of its sub-graphs.

        An unknown thread is no error.
        """
        require_text(thread_id, "thread id")
        # A long thread takes a while to delete, so this never runs on the event loop.
        await self._run(partial(forget, thread_id=thread_id), writes=True, aside=True)

    async def verify(self) -> Sequence[Damage]:
        """Check everything that is stored, and return what is not as it was written.

        Events before a damaged one can be read: `events(thread, branch, upto=sequence - 1)`.

        Raises
        ------
        DamagedStoreError
            If the database itself is too damaged to be read through.
        StoreBusyError
            If another process held the database for longer than `busy_timeout`.
        """
        return await self._run(verify_store, aside=True)

    def watch(self, callback: Callable[[], None], *, every: float = 0.5) -> Callable[[], None]:
        """Call `callback` after anything was written, by anybody, and return what ends that.

        It is called in a thread of the store's, and must not raise. Several writes can be one
        call. A file is looked at every `every` seconds; a server tells at once.
        """
        return watch_changes(partial(self._database.changes, every=every), callback)

    async def size(self) -> StoreSize:
        """Return what the store holds, in rows and bytes."""
        return await self._run(measure, aside=True)

    async def prune(self) -> StoreSize:
        """Drop what can be made again or is not needed, give the space back, and return the size.

        Snapshots go, and large values that no thread holds. No event, question or state does;
        `delete` removes threads.

        Raises
        ------
        StoreBusyError
            If another process held the database for longer than `busy_timeout`.
        """
        await self._run(drop_caches, writes=True, aside=True)
        await asyncio.to_thread(self._database.patiently, self._database.compact)
        return await self.size()

    async def export_thread(self, thread_id: str) -> Sequence[str]:
        """Return a thread with its branches and questions as lines of JSON, hashes included.

        The threads of its sub-graphs are among them.

        Raises
        ------
        UnknownThreadError
            If the thread does not exist.
        DamagedStoreError
            If a part of it is not what was written.
        """
        require_text(thread_id, "thread id")
        return await self._run(partial(export_lines, thread_id=thread_id), aside=True)

    async def import_thread(self, lines: Iterable[str]) -> str:
        """Write a thread that was exported, whole or not at all, and return its id.

        Raises
        ------
        StateStoreError
            If the thread is there already, or the lines are no export.
        DamagedStoreError
            If a hash does not fit: the lines are not what was exported.
        """
        work = partial(import_lines, lines=list(lines))
        return await self._run(work, writes=True, aside=True)

    async def aclose(self) -> None:
        """Let go of the database. Using the store afterwards is an error."""
        self.close()

    def close(self) -> None:
        """Do what `aclose` does, from sync code. A collected store lets go of it too."""
        self._database.close()


def _names(thread_id: str, branch_id: str, owner: str) -> tuple[str, str]:
    require_text(thread_id, "thread id")
    require_text(branch_id, "branch id")
    require_text(owner, "owner")
    return thread_id, branch_id
