"""A state store in this process's memory: for trying things out, for tests, gone at the end."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from nbgraph.core.drafts import Draft
from nbgraph.core.events import Event, Interrupt
from nbgraph.core.store import (
    BranchRecord,
    BranchSummary,
    Claim,
    PendingRecord,
    PositionSnapshot,
    Recalled,
    ThreadRecord,
)
from nbgraph.errors import StateStoreError, UnknownThreadError
from nbgraph.stores._chain import link, root_of
from nbgraph.stores._drafts import draft_text
from nbgraph.stores._log import (
    MAIN,
    Commit,
    Row,
    commit_of,
    epoch_after,
    events_of,
    name_of,
    new_questions,
    require_event,
    require_fit,
    require_new,
    require_text,
    require_unclaimed,
    stretches,
)
from nbgraph.stores._memory_rows import (
    Branch,
    ancestry,
    hash_at,
    newest_snapshot,
    place_of,
    question_order,
    rows_of,
    thread_order,
    thread_record,
)

__all__ = ["InMemoryStateStore"]


class InMemoryStateStore:
    """Keeps threads in memory.

    Events are kept as the JSON text a file would hold, so that nothing stored changes when
    somebody changes a value they passed in or got out, and so that what cannot be kept is refused
    here as it is elsewhere.
    """

    def __init__(self) -> None:
        self._threads: dict[str, dict[str, Branch]] = {}
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
            branch = self._threads.get(thread_id, {}).get(branch_id)
            require_fit(commit, None if branch is None else branch.head)
            if branch is None:
                root = root_of(thread_id, MAIN)
                at = commit.first_at
                branch = Branch(thread_id, MAIN, None, 0, at, summary, root, root, 0)
                branch.hidden_under = summary.root
            self._keep(branch, commit)
            self._threads.setdefault(thread_id, {MAIN: branch})
            return branch.epoch

    def _keep(self, branch: Branch, commit: Commit) -> None:
        epoch = epoch_after(commit, branch.epoch)
        pending, first = commit.summary.pending, commit.expected + 1
        known = branch.questions | new_questions(branch.questions, pending)
        branch.questions = {name: known[name] for name in map(name_of, pending)}
        if branch.drafts:
            waiting = branch.questions.keys() & branch.drafts.keys()
            branch.drafts = {name: branch.drafts[name] for name in waiting}
        if commit.claim is not None and commit.claim.epoch is None:
            branch.claim = (commit.claim.owner, 0.0)
        branch.epoch = epoch
        branch.chain = link(branch.chain, first, commit.count, commit.body, commit.refs)
        branch.rows.append(
            Row(first, commit.count, commit.body, commit.refs, branch.chain, commit.blobs)
        )
        branch.head = commit.head
        branch.summary = commit.summary
        branch.updated_at = commit.last_at
        self._snap(branch, commit)

    def _snap(self, branch: Branch, commit: Commit) -> None:
        branch.since += len(commit.body)
        last = branch.snapshot
        made = commit.snapshot_after(branch.since, 0 if last is None else len(last.body))
        if made is not None:
            branch.snapshot, branch.since = made, 0

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
        found: list[Event] = []
        for part in stretches(map(place_of, line.values()), after=after, upto=upto):
            own = line[part.branch_id]
            rows, before = rows_of(own, part)
            found += events_of(own.thread_id, part, rows, before)[0]
        return found

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
            return branch.epoch

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
            parent = self._branch(thread_id, branch.parent_branch_id)
            require_event(place_of(parent), at)
            exists = branch.id in self._threads[thread_id]
            require_new(branch.id, exists=exists, thread_id=thread_id)
            root = root_of(thread_id, branch.id, hash_at(parent, at), at)
            made = Branch(
                thread_id, branch.id, parent, at, branch.created_at, summary, root, root, at
            )
            made.since = 0 if parent.snapshot is None else len(parent.snapshot.body)
            self._keep(made, commit)
            self._threads[thread_id][branch.id] = made

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
            found = [
                thread_record(branches)
                for branches in self._threads.values()
                if branches[MAIN].hidden_under is None
            ]
        ordered = sorted(found, key=thread_order, reverse=True)
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
            found = [
                PendingRecord(
                    thread_id, branch.id, branch.summary.graph, Interrupt.model_validate_json(text)
                )
                for thread_id, branches in self._threads.items()
                for branch in branches.values()
                for text in branch.questions.values()
            ]
        ordered = sorted(found, key=question_order)
        following = (
            one for one in ordered if after is None or question_order(one) > question_order(after)
        )
        return list(islice(following, limit))

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
            If the value is no JSON.
        """
        text = draft_text(draft)
        with self._lock:
            branch = self._branch(thread_id, branch_id)
            branch.drafts.pop((key, asked), None)
            if draft is not None and text is not None and (key, asked) in branch.questions:
                branch.drafts[key, asked] = (text, draft.saved_at)

    async def drafts(
        self, thread_id: str, branch_id: str = MAIN
    ) -> Mapping[tuple[str, int], Draft]:
        """Return the drafts of the questions that wait, by key and asking.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        """
        with self._lock:
            kept = dict(self._branch(thread_id, branch_id).drafts)
        return {name: Draft(json.loads(text), at) for name, (text, at) in kept.items()}

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
        branches = self._threads.get(thread_id)
        if branches is None:
            raise UnknownThreadError(thread_id)
        if branch_id not in branches:
            raise UnknownThreadError(thread_id, branch_id)
        return branches[branch_id]
