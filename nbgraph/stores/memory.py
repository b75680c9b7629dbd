"""A state store in this process's memory: for trying things out, for tests, gone at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

from typing_extensions import override

from nbgraph.core.events import Event, Interrupt
from nbgraph.core.store import (
    BranchRecord,
    Damage,
    PendingRecord,
    Recalled,
    StoreSize,
    ThreadRecord,
)
from nbgraph.errors import StateStoreError
from nbgraph.stores._commit_store import CommitStore
from nbgraph.stores._log import (
    MAIN,
    Commit,
    events_of,
    require_text,
    require_unclaimed,
    stretches,
)
from nbgraph.stores._memory_care import contents_of, exported, imported, measured, verified
from nbgraph.stores._memory_drafts import MemoryDrafts
from nbgraph.stores._memory_rows import (
    Branch,
    Threads,
    ancestry,
    forked,
    found,
    kept,
    newest_snapshot,
    place_of,
    question_order,
    rows_of,
    thread_order,
    thread_record,
)
from nbgraph.stores._watch import watch_changes

__all__ = ["InMemoryStateStore"]


class InMemoryStateStore(MemoryDrafts, CommitStore):
    """Keeps threads in memory.

    Events are kept as the JSON text a file would hold, so that nothing stored changes when
    somebody changes a value they passed in or got out, and so that what cannot be kept is refused
    here as it is elsewhere.
    """

    def __init__(self) -> None:
        self._threads: Threads = {}
        self._contents: dict[bytes, bytes] = {}
        self._watchers: tuple[threading.Event, ...] = ()
        self._lock = threading.Lock()
        self._closed = False

    @override
    def _append(self, commit: Commit) -> int:
        with self._lock:
            self._require_open()
            if commit.blobs:
                self._share(commit)
            epoch = kept(self._threads, commit).epoch
        self._tell()
        return epoch

    def _share(self, commit: Commit) -> None:
        """Put contents that are kept already in the place of a commit's equal ones."""
        commit.blobs = {
            name: self._contents.setdefault(name, content) for name, content in commit.blobs.items()
        }

    def _tell(self) -> None:
        for watcher in self._watchers:
            watcher.set()

    @override
    async def events(
        self, thread_id: str, branch_id: str = MAIN, *, after: int = 0, upto: int | None = None
    ) -> Sequence[Event]:
        with self._lock:
            return self._read(self._branch(thread_id, branch_id), after=after, upto=upto)

    def _read(self, branch: Branch, *, after: int, upto: int | None) -> list[Event]:
        line = {one.id: one for one in ancestry(branch)}
        events: list[Event] = []
        for part in stretches(map(place_of, line.values()), after=after, upto=upto):
            own = line[part.branch_id]
            rows, before = rows_of(own, part)
            events += events_of(own.thread_id, part, rows, before)[0]
        return events

    @override
    async def recall(
        self, thread_id: str, branch_id: str = MAIN, *, upto: int | None = None
    ) -> Recalled:
        with self._lock:
            branch = self._branch(thread_id, branch_id)
            snapshot = newest_snapshot(branch, branch.head if upto is None else upto)
            after = 0 if snapshot is None else snapshot.sequence
            return Recalled(snapshot, self._read(branch, after=after, upto=upto))

    @override
    async def claim(
        self, thread_id: str, branch_id: str = MAIN, *, owner: str, ttl: float | None = None
    ) -> int:
        require_text(owner, "owner")
        now = time.time()
        with self._lock:
            branch = self._branch(thread_id, branch_id)
            if ttl is not None:
                require_unclaimed((thread_id, branch_id), branch.claim, owner=owner, now=now)
            if ttl is None or branch.claim[0] != owner:
                branch.epoch += 1
            branch.claim = (owner, 0.0 if ttl is None else now + ttl)
            epoch = branch.epoch
        self._tell()
        return epoch

    @override
    async def release(self, thread_id: str, branch_id: str = MAIN, *, owner: str) -> None:
        with self._lock:
            branch = self._branch(thread_id, branch_id)
            if branch.claim[0] == owner:
                branch.claim = (None, 0.0)
        self._tell()

    @override
    async def _fork(self, branch: BranchRecord, commit: Commit) -> None:
        with self._lock:
            self._require_open()
            self._share(commit)
            forked(self._threads, branch, commit)
        self._tell()

    @override
    async def branches(self, thread_id: str) -> Sequence[BranchRecord]:
        with self._lock:
            self._branch(thread_id, MAIN)
            return [
                BranchRecord(thread_id, one.id, one.parent.id, one.parent_sequence, one.created_at)
                for one in self._threads[thread_id].values()
                if one.parent is not None
            ]

    @override
    async def threads(
        self, *, limit: int | None = None, after: ThreadRecord | None = None
    ) -> Sequence[ThreadRecord]:
        with self._lock:
            self._require_open()
            listed = [
                thread_record(branches)
                for branches in self._threads.values()
                if branches[MAIN].hidden_under is None
            ]
        ordered = sorted(listed, key=thread_order, reverse=True)
        following = (
            one for one in ordered if after is None or thread_order(one) < thread_order(after)
        )
        return list(islice(following, limit))

    @override
    async def pending(
        self, *, limit: int | None = None, after: PendingRecord | None = None
    ) -> Sequence[PendingRecord]:
        with self._lock:
            self._require_open()
            listed = [
                PendingRecord(
                    thread_id, branch.id, branch.summary.graph, Interrupt.model_validate_json(text)
                )
                for thread_id, branches in self._threads.items()
                for branch in branches.values()
                for text in branch.questions.values()
            ]
        ordered = sorted(listed, key=question_order)
        following = (
            one for one in ordered if after is None or question_order(one) > question_order(after)
        )
        return list(islice(following, limit))

    @override
    async def delete(self, thread_id: str) -> None:
        require_text(thread_id, "thread id")
        with self._lock:
            self._require_open()
            self._threads = {
                name: branches
                for name, branches in self._threads.items()
                if thread_id not in (name, branches[MAIN].hidden_under)
            }
            self._contents = contents_of(self._threads)
        self._tell()

    @override
    async def verify(self) -> Sequence[Damage]:
        with self._lock:
            self._require_open()
            return verified(self._threads)

    @override
    def watch(self, callback: Callable[[], None], *, every: float = 0.5) -> Callable[[], None]:
        written = threading.Event()
        changes = partial(self._changes, written=written, every=every)
        return watch_changes(changes, callback, written.set)

    def _changes(
        self, stop: threading.Event, written: threading.Event, every: float
    ) -> Iterator[None]:
        self._watchers = (*self._watchers, written)
        try:
            yield
            while not stop.is_set():
                if written.wait(every):
                    written.clear()
                    yield
        finally:
            self._watchers = tuple(one for one in self._watchers if one is not written)

    @override
    async def size(self) -> StoreSize:
        with self._lock:
            self._require_open()
            return measured(self._threads)

    @override
    async def prune(self) -> StoreSize:
        with self._lock:
            self._require_open()
            for branches in self._threads.values():
                for branch in branches.values():
                    branch.snapshot, branch.since = None, 0
            self._contents = contents_of(self._threads)
            return measured(self._threads)

    @override
    async def export_thread(self, thread_id: str) -> Sequence[str]:
        with self._lock:
            self._branch(thread_id, MAIN)
            return exported(thread_id, self._threads)

    @override
    async def import_thread(self, lines: Iterable[str]) -> str:
        with self._lock:
            self._require_open()
            thread_id, self._threads = imported(lines, self._threads)
            self._contents = contents_of(self._threads)
        self._tell()
        return thread_id

    @override
    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._threads.clear()

    def _require_open(self) -> None:
        if self._closed:
            raise StateStoreError("The in-memory state store is closed")

    def _branch(self, thread_id: str, branch_id: str) -> Branch:
        self._require_open()
        require_text(thread_id, "thread id")
        require_text(branch_id, "branch id")
        return found(self._threads, thread_id, branch_id)
