"""The state store over a database that speaks SQL: SQLite and PostgreSQL differ below it only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from typing_extensions import override

from nbgraph.core.drafts import Draft, DraftStore
from nbgraph.core.events import Event
from nbgraph.core.reached import Reached, ReachedStore
from nbgraph.core.store import (
    BranchRecord,
    Damage,
    PendingRecord,
    Recalled,
    StoreSize,
    ThreadRecord,
)
from nbgraph.stores._appends import Appends
from nbgraph.stores._commit_store import CommitStore
from nbgraph.stores._drafts import draft_text
from nbgraph.stores._log import MAIN, Commit, require_text
from nbgraph.stores._sql_database import Busy, Database
from nbgraph.stores._sql_drafts import keep_draft, list_drafts
from nbgraph.stores._sql_lists import list_branches, list_questions, list_threads
from nbgraph.stores._sql_reached import LeftBranches
from nbgraph.stores._sql_read import read_log, recall_log
from nbgraph.stores._sql_rows import Cursor
from nbgraph.stores._sql_size import drop_caches, measure
from nbgraph.stores._sql_transfer import export_lines, import_lines
from nbgraph.stores._sql_verify import verify_store
from nbgraph.stores._sql_write import add_branch, claim_branch, forget, release_branch
from nbgraph.stores._watch import watch_changes

__all__ = ["SqlStateStore"]

_Result = TypeVar("_Result")


class SqlStateStore(CommitStore, DraftStore, ReachedStore):
    """Keeps threads in a database, for several event loops, threads and processes.

    What one turn of an event loop appends is written in one transaction, save for whoever appends
    alone. A collected store lets go of its database as a closed one does.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._left = LeftBranches(database)
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

    @override
    def _append(self, commit: Commit) -> int | Awaitable[int]:
        return self._appends_of(asyncio.get_running_loop()).append(commit)

    def _appends_of(self, loop: asyncio.AbstractEventLoop) -> Appends:
        appends = self._appends.get(loop)
        if appends is None:
            appends = Appends(loop, self._database, self._left)
            kept = {one: its for one, its in self._appends.items() if not one.is_closed()}
            self._appends = kept | {loop: appends}
        return appends

    @override
    async def events(
        self, thread_id: str, branch_id: str = MAIN, *, after: int = 0, upto: int | None = None
    ) -> Sequence[Event]:
        require_text(thread_id, "thread id")
        require_text(branch_id, "branch id")
        read = partial(read_log, thread_id=thread_id, branch_id=branch_id, after=after, upto=upto)
        found = await self._run(read)
        return [event for part in found for event in part.events()]

    @override
    async def recall(
        self, thread_id: str, branch_id: str = MAIN, *, upto: int | None = None
    ) -> Recalled:
        require_text(thread_id, "thread id")
        require_text(branch_id, "branch id")
        recall = partial(recall_log, thread_id=thread_id, branch_id=branch_id, upto=upto)
        branch, snapshot, found = await self._run(recall)
        recalled = Recalled(snapshot, [event for part in found for event in part.events()])
        self._appends_of(asyncio.get_running_loop()).learn((thread_id, branch_id), branch)
        return recalled

    @override
    async def reached(self, thread_id: str, branch_id: str = MAIN) -> Reached | None:
        names = thread_id, branch_id
        left = self._left.take(names)
        if left is None:
            return None
        branch = await self._run(partial(left.branch, database=self._database))
        if branch is None:
            return None
        self._appends_of(asyncio.get_running_loop()).learn(names, branch)
        return left.reached

    @override
    async def claim(
        self, thread_id: str, branch_id: str = MAIN, *, owner: str, ttl: float | None = None
    ) -> int:
        names = _names(thread_id, branch_id, owner)
        now = time.time()
        work = partial(claim_branch, names=names, owner=owner, now=now, ttl=ttl)
        return await self._run(work, writes=True)

    @override
    async def release(self, thread_id: str, branch_id: str = MAIN, *, owner: str) -> None:
        names = _names(thread_id, branch_id, owner)
        await self._run(partial(release_branch, names=names, owner=owner), writes=True)

    @override
    async def _fork(self, branch: BranchRecord, commit: Commit) -> None:
        await self._run(partial(add_branch, record=branch, commit=commit), writes=True)

    @override
    async def branches(self, thread_id: str) -> Sequence[BranchRecord]:
        require_text(thread_id, "thread id")
        return await self._run(partial(list_branches, thread_id=thread_id))

    @override
    async def threads(
        self, *, limit: int | None = None, after: ThreadRecord | None = None
    ) -> Sequence[ThreadRecord]:
        return await self._run(partial(list_threads, limit=limit, after=after))

    @override
    async def pending(
        self, *, limit: int | None = None, after: PendingRecord | None = None
    ) -> Sequence[PendingRecord]:
        return await self._run(partial(list_questions, limit=limit, after=after))

    @override
    async def keep_draft(
        self, thread_id: str, branch_id: str, key: str, asked: int, draft: Draft | None
    ) -> None:
        names = _names(thread_id, branch_id, key)[:2]
        text = draft_text(draft)
        work = partial(keep_draft, names=names, question=(key, asked), draft=draft, text=text)
        await self._run(work, writes=True)

    @override
    async def drafts(
        self, thread_id: str, branch_id: str = MAIN
    ) -> Mapping[tuple[str, int], Draft]:
        names = _names(thread_id, branch_id, "")[:2]
        return await self._run(partial(list_drafts, names=names))

    @override
    async def delete(self, thread_id: str) -> None:
        require_text(thread_id, "thread id")
        # A long thread takes a while to delete, so this never runs on the event loop.
        await self._run(partial(forget, thread_id=thread_id), writes=True, aside=True)
        self._left.forget(thread_id)

    @override
    async def verify(self) -> Sequence[Damage]:
        return await self._run(verify_store, aside=True)

    @override
    def watch(self, callback: Callable[[], None], *, every: float = 0.5) -> Callable[[], None]:
        return watch_changes(partial(self._database.changes, every=every), callback)

    @override
    async def size(self) -> StoreSize:
        return await self._run(measure, aside=True)

    @override
    async def prune(self) -> StoreSize:
        self._left.forget()
        await self._run(drop_caches, writes=True, aside=True)
        await asyncio.to_thread(self._database.patiently, self._database.compact)
        return await self.size()

    @override
    async def export_thread(self, thread_id: str) -> Sequence[str]:
        require_text(thread_id, "thread id")
        return await self._run(partial(export_lines, thread_id=thread_id), aside=True)

    @override
    async def import_thread(self, lines: Iterable[str]) -> str:
        work = partial(import_lines, lines=list(lines))
        return await self._run(work, writes=True, aside=True)

    @override
    def close(self) -> None:
        self._left.forget()
        self._database.close()


def _names(thread_id: str, branch_id: str, owner: str) -> tuple[str, str]:
    require_text(thread_id, "thread id")
    require_text(branch_id, "branch id")
    require_text(owner, "owner")
    return thread_id, branch_id
