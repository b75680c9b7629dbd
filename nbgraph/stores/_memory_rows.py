"""The rows of the store in memory, and how they are found and listed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter

from nbgraph.core.store import BranchSummary, PendingRecord, PositionSnapshot, ThreadRecord
from nbgraph.stores._log import MAIN, Place, QuestionName, Row, Stretch

__all__ = [
    "Branch",
    "ancestry",
    "hash_at",
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
    begin = max(bisect_right(branch.rows, part.low + 1, key=first) - 1, 0)
    before = branch.rows[begin - 1].hash if begin else branch.root
    return branch.rows[begin : bisect_right(branch.rows, part.high, key=first)], before


def hash_at(branch: Branch, sequence: int) -> bytes:
    """Return the hash of the chain at an event of a branch or its ancestors."""
    own = next(one for one in ancestry(branch) if sequence > one.parent_sequence)
    return own.rows[bisect_right(own.rows, sequence, key=attrgetter("first")) - 1].hash


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
