"""A state store in this process's memory: for trying things out, for tests, gone at the end."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from operator import attrgetter

from nbgraph.core.events import Event, Interrupt
from nbgraph.core.store import BranchRecord, BranchSummary, PendingRecord, ThreadRecord
from nbgraph.errors import StateStoreError, UnknownThreadError
from nbgraph.stores._log import (
    MAIN,
    Commit,
    Place,
    QuestionName,
    Row,
    Stretch,
    commit_of,
    events_of,
    name_of,
    new_questions,
    require_event,
    require_fit,
    require_new,
    require_text,
    stretches,
)

__all__ = ["InMemoryStateStore"]


@dataclass(slots=True)
class _Branch:
    id: str
    parent: _Branch | None
    parent_sequence: int
    created_at: float
    summary: BranchSummary
    head: int
    root: str | None = None
    updated_at: float = 0.0
    written: int = 0
    rows: list[Row] = field(default_factory=list[Row])
    questions: dict[QuestionName, str] = field(default_factory=dict[QuestionName, str])


class InMemoryStateStore:
    """Keeps threads in memory.

    Events are kept as the JSON text a file would hold, so that nothing stored changes when
    somebody changes a value they passed in or got out, and so that what cannot be kept is refused
    here as it is elsewhere.
    """

    def __init__(self) -> None:
        self._threads: dict[str, dict[str, _Branch]] = {}
        self._writes = count(1)
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
    ) -> None:
        """Keep `events` as one commit after event `expected`, or keep nothing.

        Raises
        ------
        ConcurrentRunError
            If the branch does not end at `expected`.
        UnknownThreadError
            If the branch does not exist and `expected` is not 0, or it is not `"main"`.
        StateStoreError
            If an event cannot be kept as JSON.
        """
        commit = commit_of(thread_id, branch_id, events, expected=expected, summary=summary)
        with self._lock:
            self._require_open()
            branch = self._threads.get(thread_id, {}).get(branch_id)
            require_fit(commit, None if branch is None else branch.head)
            if branch is None:
                branch = _Branch(MAIN, None, 0, commit.first_at, summary, 0, summary.root)
            self._keep(branch, commit)
            self._threads.setdefault(thread_id, {MAIN: branch})

    def _keep(self, branch: _Branch, commit: Commit) -> None:
        pending = commit.summary.pending
        known = branch.questions | new_questions(branch.questions, pending)
        branch.questions = {name: known[name] for name in map(name_of, pending)}
        branch.rows.append(Row(commit.expected + 1, commit.count, commit.body))
        branch.head = commit.head
        branch.summary = commit.summary
        branch.updated_at = commit.last_at
        branch.written = next(self._writes)

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
            branch = self._branch(thread_id, branch_id)
            line = {one.id: one for one in _ancestry(branch)}
            parts = stretches(map(_place, line.values()), after=after, upto=upto)
            found = [(part, _rows(line[part.branch_id], part)) for part in parts]
        return [event for part, rows in found for event in events_of(thread_id, part, rows)]

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
            require_event(_place(parent), at)
            exists = branch.id in self._threads[thread_id]
            require_new(branch.id, exists=exists, thread_id=thread_id)
            made = _Branch(branch.id, parent, at, branch.created_at, summary, at)
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

    async def threads(self) -> Sequence[ThreadRecord]:
        """Return all threads but those of sub-graphs, the one written last first."""
        with self._lock:
            self._require_open()
            newest_first = sorted(self._threads.items(), key=_written, reverse=True)
            return [_thread_record(*item) for item in newest_first if item[1][MAIN].root is None]

    async def pending(self) -> Sequence[PendingRecord]:
        """Return the pending questions of all threads and branches, oldest first."""
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
        return sorted(found, key=lambda record: record.interrupt.created_at)

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
                if thread_id not in (name, branches[MAIN].root)
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

    def _branch(self, thread_id: str, branch_id: str) -> _Branch:
        self._require_open()
        require_text(thread_id, "thread id")
        require_text(branch_id, "branch id")
        branches = self._threads.get(thread_id)
        if branches is None:
            raise UnknownThreadError(thread_id)
        if branch_id not in branches:
            raise UnknownThreadError(thread_id, branch_id)
        return branches[branch_id]


def _ancestry(branch: _Branch | None) -> Iterator[_Branch]:
    while branch is not None:
        yield branch
        branch = branch.parent


def _place(branch: _Branch) -> Place:
    return Place(branch.id, branch.parent_sequence, branch.head)


def _rows(branch: _Branch, part: Stretch) -> list[Row]:
    first = attrgetter("first")
    begin = bisect_right(branch.rows, part.low + 1, key=first) - 1
    return branch.rows[max(begin, 0) : bisect_right(branch.rows, part.high, key=first)]


def _written(item: tuple[str, dict[str, _Branch]]) -> tuple[float, int]:
    branches = item[1].values()
    return max(one.updated_at for one in branches), max(one.written for one in branches)


def _thread_record(thread_id: str, branches: dict[str, _Branch]) -> ThreadRecord:
    main = branches[MAIN]
    summary = main.summary
    return ThreadRecord(
        thread_id,
        summary.graph,
        summary.status,
        summary.step,
        branches=len(branches),
        created_at=main.created_at,
        updated_at=max(one.updated_at for one in branches.values()),
    )
