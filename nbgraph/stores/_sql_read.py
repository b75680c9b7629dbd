"""What a store that speaks SQL reads, each function inside a transaction of its caller."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nbgraph.core.events import Event
from nbgraph.core.store import PositionSnapshot
from nbgraph.errors import DamagedStoreError
from nbgraph.stores._blobs import checked_blob, hashes_in, restored
from nbgraph.stores._log import Place, Row, Stretch, events_of, stretches, where
from nbgraph.stores._sql_rows import (
    Branch,
    Cursor,
    RawRow,
    body_checksum,
    found_branch,
    place_of,
)

__all__ = [
    "FIND_PARENT",
    "RawStretch",
    "ancestry",
    "blobs_of",
    "hash_at",
    "parent_missing",
    "read_log",
    "recall_log",
    "rows_of",
]

FIND_PARENT = """
    SELECT id, thread, name, parent, parent_sequence, created_at, root, identity,
        graph, status, step, head, pending, updated_at, chain, epoch, owner, leased_until, checksum,
        since, snapped
    FROM branches WHERE id = ?
"""

_FIND_FIRST_COMMITS = """
    SELECT place, count, hash, refs, body FROM commits WHERE place BETWEEN ? AND ? ORDER BY place
"""

# From the commit that holds event `low + 1`, which may begin before it.
_FIND_COMMITS = """
    SELECT place, count, hash, refs, body FROM commits
    WHERE place <= ? AND place >= coalesce(
        (SELECT max(place) FROM commits WHERE place BETWEEN ? AND ?), ?)
    ORDER BY place
"""

_FIND_LAST = """
    SELECT place, count, hash FROM commits WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1
"""

_FIND_SNAPSHOT = """
    SELECT place, fingerprint, refs, checksum, body FROM snapshots
    WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1
"""

_FIND_BLOB = "SELECT body FROM blobs WHERE hash = ?"


@dataclass(frozen=True, slots=True)
class RawStretch:
    """The rows of a stretch as they were read: quickly in the transaction, decoded after it."""

    branch: Branch
    stretch: Stretch
    rows: Sequence[RawRow]
    before: bytes
    """The hash that the first row follows."""
    blobs: Mapping[bytes, bytes]

    def events(self) -> list[Event]:
        """Return the events of the stretch.

        Raises
        ------
        DamagedStoreError
            If a row is missing or is not what was written.
        """
        rows = self.checked_rows()
        events, last = events_of(self.branch.thread, self.stretch, rows, self.before)
        if self.stretch.high == self.branch.head and last != self.branch.chain:
            place = where(self.branch.thread, self.branch.name, self.branch.head)
            raise DamagedStoreError(place, "the log does not end there")
        return events

    def checked_rows(self) -> list[Row]:
        """Return the rows in the form that all stores check alike."""
        return [self._row(*row) for row in self.rows]

    def _row(self, place: int, count: int, hash_: bytes, refs: str, body: bytes) -> Row:
        first = place - place_of(self.branch.id, 0)
        return Row(first, count, body, refs, hash_, self.blobs)


def read_log(
    cursor: Cursor, thread_id: str, branch_id: str, *, after: int, upto: int | None
) -> list[RawStretch]:
    """Return the rows that hold the branch's events `after < sequence <= upto`, root first.

    Raises
    ------
    UnknownThreadError
        If the thread or branch does not exist.
    DamagedStoreError
        If the row of a branch is not what was written, or rows are missing at the end.
    """
    branch = found_branch(cursor, thread_id, branch_id)
    return _log_of(cursor, branch, after=after, upto=upto)


def recall_log(
    cursor: Cursor, thread_id: str, branch_id: str, *, upto: int | None
) -> tuple[Branch, PositionSnapshot | None, list[RawStretch]]:
    """Return a branch, its newest readable snapshot at or before event `upto`, and the rows after.

    Raises
    ------
    UnknownThreadError
        If the thread or branch does not exist.
    DamagedStoreError
        If the row of a branch is not what was written, or rows are missing at the end.
    """
    branch = found_branch(cursor, thread_id, branch_id)
    snapshot = _snapshot(cursor, branch, branch.head if upto is None else upto)
    after = 0 if snapshot is None else snapshot.sequence
    return branch, snapshot, _log_of(cursor, branch, after=after, upto=upto)


def _log_of(cursor: Cursor, branch: Branch, *, after: int, upto: int | None) -> list[RawStretch]:
    found: dict[str, Branch] = {}
    places = _noted(ancestry(cursor, branch), found)
    parts = stretches(places, after=after, upto=upto)
    if (upto is None or upto >= branch.head) and not parts:
        _require_end(cursor, branch)  # else whoever reads the rows notices where they end
    return [rows_of(cursor, found[part.branch_id], part) for part in parts]


def _snapshot(cursor: Cursor, branch: Branch, upto: int) -> PositionSnapshot | None:
    high = upto
    for one in ancestry(cursor, branch):
        begin = place_of(one.id, 0)
        if one.snapped:  # else none was made
            row = cursor.execute(_FIND_SNAPSHOT, (begin, begin + high)).fetchone()
            if row is not None:
                return _read_snapshot(cursor, row[0] - begin, *row)
        high = min(high, one.parent_sequence)
    return None


def _read_snapshot(
    cursor: Cursor,
    sequence: int,
    place: int,
    fingerprint: str,
    refs: str,
    checksum: int,
    body: bytes,
) -> PositionSnapshot | None:
    """Return a snapshot, or None if it is not what was written: then the events tell."""
    blobs = blobs_of(cursor, [refs])
    try:
        if body_checksum(refs.encode() + body, place) != checksum:
            return None
        plain = body if body.startswith(b"{") else zlib.decompress(body)
        packed = restored(plain, refs, lambda name: checked_blob(blobs, name))
    except (zlib.error, TypeError, ValueError, AttributeError, LookupError):
        return None
    return PositionSnapshot(sequence, fingerprint, packed.body, packed.blobs)


def _require_end(cursor: Cursor, branch: Branch) -> None:
    begin = place_of(branch.id, 0)
    row = cursor.execute(_FIND_LAST, (begin, place_of(branch.id + 1, 0) - 1)).fetchone()
    if row is None or row[1] != branch.head - (row[0] - begin) + 1 or row[2] != branch.chain:
        place = where(branch.thread, branch.name, branch.head)
        raise DamagedStoreError(place, "the log does not end there")


def _noted(line: Iterator[Branch], found: dict[str, Branch]) -> Iterator[Place]:
    for branch in line:
        found[branch.name] = branch
        yield branch.place


def ancestry(cursor: Cursor, branch: Branch) -> Iterator[Branch]:
    """Return a branch and what it was forked off, back to main.

    Raises
    ------
    DamagedStoreError
        If a parent is missing or is not what was written.
    """
    yield branch
    while branch.parent is not None:
        row = cursor.execute(FIND_PARENT, (branch.parent,)).fetchone()
        if row is None:
            raise parent_missing(branch)
        branch = Branch(*row).checked()
        yield branch


def parent_missing(branch: Branch) -> DamagedStoreError:
    """Return the error for a branch whose parent is not there."""
    place = where(branch.thread, branch.name, branch.parent_sequence)
    return DamagedStoreError(place, "the branch it stands in is missing")


def rows_of(cursor: Cursor, branch: Branch, part: Stretch) -> RawStretch:
    """Return the rows of a stretch of a branch's own log."""
    begin = place_of(branch.id, 0)
    high = begin + part.high
    if part.low == branch.parent_sequence:
        values = (begin + part.low + 1, high)
        rows, before = cursor.execute(_FIND_FIRST_COMMITS, values).fetchall(), branch.root
    else:
        values = (high, begin, begin + part.low + 1, begin)
        rows = cursor.execute(_FIND_COMMITS, values).fetchall()
        before = _hash_before(cursor, branch, rows[0][0]) if rows else branch.root
    return RawStretch(branch, part, rows, before, blobs_of(cursor, [row[3] for row in rows]))


def _hash_before(cursor: Cursor, branch: Branch, place: int) -> bytes:
    begin = place_of(branch.id, 0)
    if place == begin + branch.parent_sequence + 1:
        return branch.root
    row = cursor.execute(_FIND_LAST, (begin, place - 1)).fetchone()
    return branch.root if row is None else row[2]


def hash_at(cursor: Cursor, branch: Branch, sequence: int) -> bytes:
    """Return the hash of the commit that holds an event of the branch or its ancestors.

    Raises
    ------
    DamagedStoreError
        If there is none.
    """
    for one in ancestry(cursor, branch):
        if sequence > one.parent_sequence:
            begin = place_of(one.id, 0)
            row = cursor.execute(_FIND_LAST, (begin, begin + sequence)).fetchone()
            if row is not None:
                return row[2]
            break
    raise DamagedStoreError(where(branch.thread, branch.name, sequence), "it is missing")


def blobs_of(cursor: Cursor, refs: Sequence[str]) -> dict[bytes, bytes]:
    """Return the large texts that rows refer to, by hash, as far as they are there."""
    found: dict[bytes, bytes] = {}
    try:
        names = {name for text in refs if text for name in hashes_in(text)}
    except (ValueError, TypeError):
        return found  # whoever checks the rows notices
    for name in names:
        row = cursor.execute(_FIND_BLOB, (name,)).fetchone()
        if row is not None:
            found[name] = row[0]
    return found
