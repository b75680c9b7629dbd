"""A state store in this process's memory: for trying things out, for tests, gone at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

from nbgraph.core.events import Event, Interrupt
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
from nbgraph.errors import StateStoreError
from nbgraph.stores._log import (
    MAIN,
    Commit,
    commit_of,
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


class InMemoryStateStore(MemoryDrafts):
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

        Returns the branch's epoch.

        Raises
        ------
        ConcurrentRunError
            If the branch does not end at `expected`.
        ClaimLostError
            If somebody else took the branch over after `claim` was made.
        UnknownThreadError
            If the branch does not exist and `expected` is not 0, or it is not `"main"`.
        StateStoreError
            If an event cannot be kept as JSON.
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
        with self._lock:
            self._require_open()
            epoch = kept(self._threads, self._sharing(commit)).epoch
        self._tell()
        return epoch

    def _sharing(self, commit: Commit) -> Commit:
        """Return the commit with contents that are kept already in the place of equal ones."""
        if commit.blobs:
            commit.blobs = {
                name: self._contents.setdefault(name, content)
                for name, content in commit.blobs.items()
            }
        return commit

    def _tell(self) -> None:
        for watcher in self._watchers:
            watcher.set()

    async def events(
        self, thread_id: str, branch_id: str = MAIN, *, after: int = 0, upto: int | None = None
    ) -> Sequence[Event]:
        """Return the branch's events with `after < sequence <= upto`, its ancestors' included.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        """
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

    async def recall(
        self, thread_id: str, branch_id: str = MAIN, *, upto: int | None = None
    ) -> Recalled:
        """Return the newest snapshot at or before event `upto`, and the events after it up to it.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        """
        with self._lock:
            branch = self._branch(thread_id, branch_id)
            snapshot = newest_snapshot(branch, branch.head if upto is None else upto)
            after = 0 if snapshot is None else snapshot.sequence
            return Recalled(snapshot, self._read(branch, after=after, upto=upto))

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
        """
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

    async def release(self, thread_id: str, branch_id: str = MAIN, *, owner: str) -> None:
        """End a claim of `owner`, so that others need not wait; one that is over is no error.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        """
        with self._lock:
            branch = self._branch(thread_id, branch_id)
            if branch.claim[0] == owner:
                branch.claim = (None, 0.0)
        self._tell()

    async def fork(
        self, branch: BranchRecord, events: Sequence[Event], *, summary: BranchSummary
    ) -> None:
        """Make a branch with its first commit; the parent is untouched and not copied.

        Raises
        ------
        UnknownThreadError
            If the thread or the parent branch does not exist.
        StateStoreError
            If the branch exists, `parent_sequence` is not an event of the parent, or an event
            cannot be kept as JSON.
        """
        thread_id, at = branch.thread_id, branch.parent_sequence
        commit = commit_of(thread_id, branch.id, events, expected=at, summary=summary)
        with self._lock:
            self._require_open()
            forked(self._threads, branch, self._sharing(commit))
        self._tell()

    async def branches(self, thread_id: str) -> Sequence[BranchRecord]:
        """Return the thread's branches other than main, oldest first.

        Raises
        ------
        UnknownThreadError
            If the thread does not exist.
        """
        with self._lock:
            self._branch(thread_id, MAIN)
            return [
                BranchRecord(thread_id, one.id, one.parent.id, one.parent_sequence, one.created_at)
                for one in self._threads[thread_id].values()
                if one.parent is not None
            ]

    async def threads(
        self, *, limit: int | None = None, after: ThreadRecord | None = None
    ) -> Sequence[ThreadRecord]:
        """Return threads, the one written last first: at most `limit`, those that follow `after`.

        The threads of sub-graphs are not among them. Where two were written at the same time, the
        greater id is first.
        """
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

    async def pending(
        self, *, limit: int | None = None, after: PendingRecord | None = None
    ) -> Sequence[PendingRecord]:
        """Return pending questions of all threads and branches, oldest first.

        At most `limit`, those that follow `after`. Questions of the same time come by thread,
        branch, key and asking.
        """
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

    async def delete(self, thread_id: str) -> None:
        """Remove a thread with its branches, questions and the threads of its sub-graphs.

        An unknown thread is no error.
        """
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

    async def verify(self) -> Sequence[Damage]:
        """Check everything that is kept, and return what is not as it was written."""
        with self._lock:
            self._require_open()
            return verified(self._threads)

    def watch(self, callback: Callable[[], None], *, every: float = 0.5) -> Callable[[], None]:
        """Call `callback` after anything was written, and return what ends that.

        It is called in a thread of the store's, and must not raise. Several writes can be one
        call. Whether it shall end is looked at every `every` seconds.
        """
        return watch_changes(partial(self._changes, every=every), callback)

    def _changes(self, stop: threading.Event, every: float) -> Iterator[None]:
        written = threading.Event()
        self._watchers = (*self._watchers, written)
        try:
            yield
            while not stop.is_set():
                if written.wait(every):
                    written.clear()
                    yield
        finally:
            self._watchers = tuple(one for one in self._watchers if one is not written)

    async def size(self) -> StoreSize:
        """Return what the store holds, in rows and bytes."""
        with self._lock:
            self._require_open()
            return measured(self._threads)

    async def prune(self) -> StoreSize:
        """Drop what can be made again, and return the size.

        Snapshots go. No event, question or state does; `delete` removes threads.
        """
        with self._lock:
            self._require_open()
            for branches in self._threads.values():
                for branch in branches.values():
                    branch.snapshot, branch.since = None, 0
            self._contents = contents_of(self._threads)
            return measured(self._threads)

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
        with self._lock:
            self._branch(thread_id, MAIN)
            return exported(thread_id, self._threads)

    async def import_thread(self, lines: Iterable[str]) -> str:
        """Write a thread that was exported, whole or not at all, and return its id.

        Raises
        ------
        StateStoreError
            If the thread is there already, or the lines are no export.
        DamagedStoreError
            If a hash does not fit: the lines are not what was exported.
        """
        with self._lock:
            self._require_open()
            thread_id, self._threads = imported(lines, self._threads)
            self._contents = contents_of(self._threads)
        self._tell()
        return thread_id

    async def aclose(self) -> None:
        """Forget everything. Using the store afterwards is an error."""
        self.close()

    def close(self) -> None:
        """Do what `aclose` does, from sync code."""
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
