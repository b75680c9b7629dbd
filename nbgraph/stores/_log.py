"""What every store does alike: make a commit of events, and read a branch's log across forks.

A branch keeps only its own events; those before its fork stand in its ancestors' logs. Reading a
branch is therefore reading a few stretches, root first, and the stretches must join without a gap.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from nbgraph.core.blob import Packed
from nbgraph.core.codec import decode_events
from nbgraph.core.events import Event, Interrupt
from nbgraph.core.store import BranchSummary, Claim, PositionSnapshot
from nbgraph.errors import (
    ClaimLostError,
    ConcurrentRunError,
    DamagedStoreError,
    StateStoreError,
    ThreadClaimedError,
    UnknownThreadError,
)
from nbgraph.stores._blobs import checked_blob, restored
from nbgraph.stores._chain import link

__all__ = [
    "MAIN",
    "Commit",
    "Place",
    "QuestionName",
    "Row",
    "Stretch",
    "epoch_after",
    "events_of",
    "name_of",
    "new_questions",
    "require_event",
    "require_fit",
    "require_new",
    "require_text",
    "require_unclaimed",
    "stretches",
    "where",
]

SNAPSHOT_BYTES = 16 * 1024
"""Fewer bytes of commits than these are not worth a snapshot."""

COMPRESSED_BYTES = 256 * 1024
"""From how many bytes on a snapshot is kept compressed."""

MAIN = "main"
"""The branch that makes a thread."""

QuestionName: TypeAlias = tuple[str, int]
"""A question's key and the event that asked it, which together name it within its branch."""


@dataclass(slots=True)
class Commit:
    """Events that became known together, ready to be kept after event `expected`."""

    thread_id: str
    branch_id: str
    expected: int
    count: int
    body: bytes
    refs: str
    """Where large texts and blobs stood in the body, and their hashes."""
    blobs: Mapping[bytes, bytes]
    summary: BranchSummary
    first_at: float
    """When its first event happened."""
    last_at: float
    """When its last event happened."""
    snapshot: Callable[[], PositionSnapshot | None] | None = None
    claim: Claim | None = None

    @property
    def weight(self) -> int:
        """How many bytes are read where the commit is."""
        weight = len(self.body)
        return weight + sum(map(len, self.blobs.values())) if self.blobs else weight

    @property
    def head(self) -> int:
        """Where the branch stands once the commit is kept."""
        return self.expected + self.count

    def snapshot_after(self, since: int, snapped: int) -> PositionSnapshot | None:
        """Return the snapshot to keep after `since` bytes of commits; the last had `snapped`.

        The distance grows with the snapshot, so that all that is ever written of them grows as the
        log does; a quarter, because an event takes longer to read than the same bytes of a state.
        A large one is compressed, which takes its time, and stands further off.
        """
        distance = snapped // (4 if snapped < COMPRESSED_BYTES else 2)
        if self.snapshot is None or since <= max(SNAPSHOT_BYTES, distance):
            return None
        return self.snapshot()


@dataclass(slots=True)
class Row:
    """A commit as it is stored: its first sequence, how many events, their text and hash."""

    first: int
    count: int
    body: bytes
    refs: str
    hash: bytes
    blobs: Mapping[bytes, bytes]
    """The contents that belong to it, as far as they were found."""

    def packed(self, before: bytes, place: str) -> Packed:
        """Return the events, if the row is what was written after the hash `before`.

        Raises
        ------
        DamagedStoreError
            If it is not; `place` names it.
        """
        try:
            fits = link(before, self.first, self.count, self.body, self.refs) == self.hash
        except (TypeError, AttributeError, ValueError, struct.error):
            fits = False  # a damaged row holds anything
        if not fits:
            raise DamagedStoreError(place, "it is not what was written")
        try:
            return restored(self.body, self.refs, lambda name: checked_blob(self.blobs, name))
        except (LookupError, ValueError) as error:
            raise DamagedStoreError(
                place, "a large value of it is missing, or is not what was written"
            ) from error


@dataclass(frozen=True, slots=True)
class Place:
    """A branch in an ancestry: its own events are `parent_sequence < sequence <= head`."""

    branch_id: str
    parent_sequence: int
    head: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """The events `low < sequence <= high`, all of which stand in one branch's own log."""

    branch_id: str
    low: int
    high: int


def name_of(question: Interrupt) -> QuestionName:
    """Return what names a question within its branch."""
    return question.key, question.asked


def new_questions(
    stored: Container[QuestionName], pending: Sequence[Interrupt]
) -> dict[QuestionName, str]:
    """Return the text of each pending question that is not stored yet.

    Raises
    ------
    StateStoreError
        If a question cannot be kept as JSON.
    """
    try:
        return {
            name_of(question): question.model_dump_json(exclude_defaults=True)
            for question in pending
            if name_of(question) not in stored
        }
    except ValueError as error:
        raise StateStoreError(f"A pending question cannot be kept as JSON: {error}") from error


def require_text(text: str, what: str) -> None:
    """Refuse text that UTF-8 cannot hold; any other text is data.

    Raises
    ------
    StateStoreError
        If the text has half of a surrogate pair in it.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise StateStoreError(
            f"The {what} {text!r} has a lone surrogate at position {error.start}; "
            "use text that UTF-8 can hold"
        ) from error


def require_fit(commit: Commit, head: int | None) -> None:
    """Refuse a commit that does not follow `head`, the branch's last event; None: no such branch.

    Raises
    ------
    UnknownThreadError
        If the branch does not exist and the commit does not make a thread.
    ConcurrentRunError
        If the branch does not end where the commit expects it to.
    """
    if head is None and (commit.expected or commit.branch_id != MAIN):
        raise UnknownThreadError(commit.thread_id, commit.branch_id)
    if (head or 0) != commit.expected:
        raise ConcurrentRunError(commit.thread_id, commit.branch_id, commit.expected, head or 0)


def epoch_after(commit: Commit, epoch: int) -> int:
    """Return the branch's epoch after a commit that finds it at `epoch`.

    Raises
    ------
    ClaimLostError
        If the commit belongs to an earlier epoch.
    """
    if commit.claim is None:
        return epoch
    if commit.claim.epoch is None:
        return epoch + 1
    if commit.claim.epoch != epoch:
        raise ClaimLostError(commit.thread_id, commit.branch_id, commit.expected, epoch)
    return epoch


def require_unclaimed(
    names: tuple[str, str], held: tuple[str | None, float], *, owner: str, now: float
) -> None:
    """Refuse a claim while somebody else's lasts.

    Raises
    ------
    ThreadClaimedError
        If it does.
    """
    holder, until = held
    if holder not in {None, owner} and until > now:
        raise ThreadClaimedError(*names, str(holder), until)


def require_event(parent: Place, sequence: int) -> None:
    """Refuse to fork where the parent has no event.

    Raises
    ------
    StateStoreError
        If `sequence` is not among the parent's events, its ancestors' included.
    """
    if not 1 <= sequence <= parent.head:
        raise StateStoreError(
            f"Branch {parent.branch_id!r} has no event {sequence} to fork at; "
            f"its events are 1 to {parent.head}"
        )


def require_new(branch_id: str, *, exists: bool, thread_id: str) -> None:
    """Refuse to make a branch that exists.

    Raises
    ------
    StateStoreError
        If the branch exists.
    """
    if exists:
        raise StateStoreError(
            f"Thread {thread_id!r} has a branch {branch_id!r} already; give the fork another name"
        )


def where(thread_id: str, branch_id: str, sequence: int) -> str:
    """Name a place in a log, for a message."""
    return f"Thread {thread_id!r}, branch {branch_id!r}, event {sequence}"


def stretches(ancestry: Iterable[Place], *, after: int, upto: int | None) -> list[Stretch]:
    """Return what to read for `after < sequence <= upto`, root first.

    `ancestry` begins with the branch itself; no more of it is taken than needed.
    """
    found: list[Stretch] = []
    high: int | None = None
    for place in ancestry:
        # Only the branch itself is cut at its head: an ancestor that ends before its child forks
        # off has lost events, which must not pass for a shorter log.
        if high is None:
            high = place.head if upto is None else min(upto, place.head)
        low = max(after, place.parent_sequence)
        if low < high:
            found.append(Stretch(place.branch_id, low, high))
        high = min(high, place.parent_sequence)
        if high <= after:
            break
    return found[::-1]


def events_of(
    thread_id: str, stretch: Stretch, rows: Sequence[Row], before: bytes
) -> tuple[list[Event], bytes]:
    """Return the events of a stretch from the rows that hold them, in order, and the last hash.

    The rows begin with the one that holds the first event; `before` is the hash it follows.

    Raises
    ------
    DamagedStoreError
        If a row cannot be read, or one is missing.
    """
    start = due = min(stretch.low + 1, rows[0].first) if rows else stretch.low + 1
    events: list[Event] = []
    for row in rows:
        place = where(thread_id, stretch.branch_id, due)
        if row.first != due:
            raise DamagedStoreError(place, "it is missing")
        found = decode_events(
            row.packed(before, place), branch_id=stretch.branch_id, first=due, where=place
        )
        if len(found) != row.count:
            raise DamagedStoreError(place, f"{row.count} events were kept, {len(found)} are there")
        events += found
        due += row.count
        before = row.hash
    if due <= stretch.high:
        raise DamagedStoreError(where(thread_id, stretch.branch_id, due), "it is missing")
    return events[stretch.low + 1 - start : stretch.high + 1 - start], before
