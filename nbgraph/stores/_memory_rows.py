"""The rows of the store in memory, and how they are found and listed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TypeAlias

from nbgraph.core.store import (
    BranchRecord,
    BranchSummary,
    PendingRecord,
    PositionSnapshot,
    ThreadRecord,
)
from nbgraph.errors import UnknownThreadError
from nbgraph.stores._chain import link, root_of
from nbgraph.stores._log import (
    MAIN,
    Commit,
    Place,
    QuestionName,
    Row,
    Stretch,
    epoch_after,
    name_of,
    new_questions,
    require_event,
    require_fit,
    require_new,
)

__all__ = [
    "Branch",
    "Threads",
    "ancestry",
    "forked",
    "found",
    "hash_at",
    "kept",
    "newest_snapshot",
    "place_of",
    "question_order",
    "rows_of",
    "thread_order",
    "thread_record",
]


@dataclass(slots=True)
class Branch:
    """A branch and what stands in it."""

    thread_id: str
    id: str
    parent: Branch | None
    parent_sequence: int
    created_at: float
    summary: BranchSummary
    root: bytes
    chain: bytes
    """The hash of the last row that has one."""
    head: int
    hidden_under: str | None = None
    updated_at: float = 0.0
    epoch: int = 0
    claim: tuple[str | None, float] = (None, 0.0)
    """Who owns it, and until when others wait."""
    rows: list[Row] = field(default_factory=list[Row])
    questions: dict[QuestionName, str] = field(default_factory=dict[QuestionName, str])
    drafts: dict[QuestionName, tuple[str, float]] = field(
        default_factory=dict[QuestionName, tuple[str, float]]
    )
    """What is filled in so far, as JSON text, and since when."""
    snapshot: PositionSnapshot | None = None
    since: int = 0
    """Bytes of the commits since the snapshot."""
    linked: int = 0
    """How many rows have their hash: it is computed when somebody asks for one."""

    def hashed(self) -> list[Row]:
        """Return the rows, each with its hash."""
        for row in self.rows[self.linked :]:
            row.hash = self.chain = link(self.chain, row.first, row.count, row.body, row.refs)
        self.linked = len(self.rows)
        return self.rows


Threads: TypeAlias = dict[str, dict[str, Branch]]
"""Threads by id, and their branches by name, main first."""


def ancestry(branch: Branch | None) -> Iterator[Branch]:
    """Yield a branch and what it was forked off, nearest first."""
    while branch is not None:
        yield branch
        branch = branch.parent


def place_of(branch: Branch) -> Place:
    """Return where a branch stands in an ancestry."""
    return Place(branch.id, branch.parent_sequence, branch.head)


def rows_of(branch: Branch, part: Stretch) -> tuple[list[Row], bytes]:
    """Return the rows of a stretch, and the hash they follow."""
    first = attrgetter("first")
    rows = branch.hashed()
    begin = max(bisect_right(rows, part.low + 1, key=first) - 1, 0)
    before = rows[begin - 1].hash if begin else branch.root
    return rows[begin : bisect_right(rows, part.high, key=first)], before


def hash_at(branch: Branch, sequence: int) -> bytes:
    """Return the hash of the chain at an event of a branch or its ancestors."""
    own = next(one for one in ancestry(branch) if sequence > one.parent_sequence)
    rows = own.hashed()
    return rows[bisect_right(rows, sequence, key=attrgetter("first")) - 1].hash


def newest_snapshot(branch: Branch, upto: int) -> PositionSnapshot | None:
    """Return the newest snapshot at or before an event, of a branch or its ancestors."""
    high = upto
    for one in ancestry(branch):
        if one.snapshot is not None and one.snapshot.sequence <= high:
            return one.snapshot
        high = min(high, one.parent_sequence)
    return None


def thread_order(record: ThreadRecord) -> tuple[float, str]:
    """Return what threads are listed by, the last first."""
    return record.updated_at, record.thread_id


def question_order(record: PendingRecord) -> tuple[float, str, str, str, int]:
    """Return what questions are listed by, the first first."""
    asked = record.interrupt
    return asked.created_at, record.thread_id, record.branch_id, asked.key, asked.asked


def thread_record(branches: dict[str, Branch]) -> ThreadRecord:
    """Return a thread as it is listed."""
    main = branches[MAIN]
    summary = main.summary
    return ThreadRecord(
        main.thread_id,
        summary.graph,
        summary.status,
        summary.step,
        branches=len(branches),
        created_at=main.created_at,
        updated_at=max(one.updated_at for one in branches.values()),
    )


def found(threads: Threads, thread_id: str, branch_id: str) -> Branch:
    """Return a branch.

    Raises
    ------
    UnknownThreadError
        If the thread or branch does not exist.
    """
    branches = threads.get(thread_id)
    if branches is None:
        raise UnknownThreadError(thread_id)
    if branch_id not in branches:
        raise UnknownThreadError(thread_id, branch_id)
    return branches[branch_id]


def kept(threads: Threads, commit: Commit) -> Branch:
    """Keep a commit in its branch, which is made if it begins a thread; return the branch.

    Raises
    ------
    ConcurrentRunError, ClaimLostError, UnknownThreadError
        If it does not fit.
    StateStoreError
        If a question cannot be kept as JSON.
    """
    thread_id = commit.thread_id
    branches = threads.get(thread_id)
    branch = None if branches is None else branches.get(commit.branch_id)
    require_fit(commit, None if branch is None else branch.head)
    if branch is None:
        root = root_of(thread_id, MAIN)
        at, summary = commit.first_at, commit.summary
        branch = Branch(thread_id, MAIN, None, 0, at, summary, root, root, 0)
        branch.hidden_under = summary.root
    _keep(branch, commit)
    if branches is None:
        threads[thread_id] = {MAIN: branch}
    return branch


def forked(threads: Threads, record: BranchRecord, commit: Commit) -> Branch:
    """Make a branch with its first commit, and return it.

    Raises
    ------
    UnknownThreadError
        If the thread or the parent branch does not exist.
    StateStoreError
        If it exists, or its parent has no such event.
    """
    thread_id, at = record.thread_id, record.parent_sequence
    parent = found(threads, thread_id, record.parent_branch_id)
    require_event(place_of(parent), at)
    require_new(record.id, exists=record.id in threads[thread_id], thread_id=thread_id)
    root = root_of(thread_id, record.id, hash_at(parent, at), at)
    summary = commit.summary
    made = Branch(thread_id, record.id, parent, at, record.created_at, summary, root, root, at)
    made.since = 0 if parent.snapshot is None else len(parent.snapshot.body)
    _keep(made, commit)
    threads[thread_id][record.id] = made
    return made


def _keep(branch: Branch, commit: Commit) -> None:
    epoch = epoch_after(commit, branch.epoch)
    pending, first = commit.summary.pending, commit.expected + 1
    if pending or branch.questions:
        known = branch.questions | new_questions(branch.questions, pending)
        branch.questions = {name: known[name] for name in map(name_of, pending)}
    if branch.drafts:
        waiting = branch.questions.keys() & branch.drafts.keys()
        branch.drafts = {name: branch.drafts[name] for name in waiting}
    if commit.claim is not None and commit.claim.epoch is None:
        branch.claim = (commit.claim.owner, 0.0)
    branch.epoch = epoch
    branch.rows.append(Row(first, commit.count, commit.body, commit.refs, b"", commit.blobs))
    branch.head = commit.head
    branch.summary = commit.summary
    branch.updated_at = commit.last_at
    _snap(branch, commit)


def _snap(branch: Branch, commit: Commit) -> None:
    branch.since += commit.weight
    last = branch.snapshot
    made = commit.snapshot_after(branch.since, 0 if last is None else len(last.body))
    if made is not None:
        branch.snapshot, branch.since = made, 0
