"""The rows of a store that speaks SQL, and how a row that is not what was written is noticed.

SQL text is constant and written once for all databases; what a caller gives is a parameter. A
branch row has two checksums, one of what never changes and one of what each commit changes; commits
stand in a hash chain, whose end the branch row knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol
from zlib import crc32

from nbgraph.errors import DamagedStoreError, UnknownThreadError
from nbgraph.stores._log import MAIN, Place, where

__all__ = [
    "Branch",
    "Cursor",
    "RawRow",
    "body_checksum",
    "found_branch",
    "place_of",
]

RawRow = tuple[Any, ...]
"""A row as a database hands it out; a damaged file can hold anything in it."""


class Cursor(Protocol):
    """What is used of a database's cursor. Parameters are written `?`."""

    @property
    def rowcount(self) -> int:
        """How many rows the last statement changed."""
        ...

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Cursor:
        """Run a statement."""
        ...

    def executemany(self, sql: str, parameters: Sequence[Sequence[Any]], /) -> object:
        """Run a statement once for each of the parameters."""
        ...

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


_FIND_BRANCH = """
    SELECT id, thread, name, parent, parent_sequence, created_at, root, identity,
        graph, status, step, head, pending, updated_at, chain, epoch, owner, leased_until, checksum,
        since, snapped
    FROM branches WHERE thread = ? AND name = ?
"""


@dataclass(slots=True)
class Branch:
    """A row of the table `branches`."""

    id: int
    thread: str
    name: str
    parent: int | None
    parent_sequence: int
    created_at: float
    root: bytes
    identity: int = 0
    graph: str = ""
    status: Any = ""
    step: int = 0
    head: int = 0
    pending: int = 0
    updated_at: float = 0.0
    chain: bytes = b""
    epoch: int = 0
    owner: str | None = None
    leased_until: float = 0.0
    checksum: int = 0
    since: int = 0
    """Bytes of the commits since the last snapshot."""
    snapped: int = 0
    """Bytes of the last snapshot."""

    def checked(self) -> Branch:
        """Return the row itself if it is what was written.

        Raises
        ------
        DamagedStoreError
            If it is not.
        """
        if self.checksum != self.changing_checksum() or self.identity != self.lasting_checksum():
            place = where(self.thread, self.name, self.head)
            raise DamagedStoreError(place, "the row of the branch is not what was written")
        return self

    @property
    def place(self) -> Place:
        """Where the branch stands in an ancestry."""
        return Place(self.name, self.parent_sequence, self.head)

    def lasting_checksum(self) -> int:
        """Return the checksum of what never changes."""
        lasting = (self.thread, self.name, self.parent, self.parent_sequence, self.created_at)
        return crc32(repr((*lasting, self.root)).encode())

    def changing_checksum(self) -> int:
        """Return the checksum of what each commit changes."""
        # As two tuples show their parts, which a text made in one go does in half the time.
        text = (
            f"(({self.graph!r}, {self.status!r}, {self.step!r}, {self.head!r}, {self.pending!r}, "
            f"{self.updated_at!r}), ({self.epoch!r}, {self.owner!r}, {self.leased_until!r}))"
        )
        return crc32(self.chain, crc32(text.encode()))

    def changed(self, **changes: Any) -> Branch:
        """Return the row with changes and the checksum that fits them."""
        made = replace(self, **changes)
        made.checksum = made.changing_checksum()
        return made


def found_branch(cursor: Cursor, thread_id: str, branch_id: str) -> Branch:
    """Return the row of a branch.

    Raises
    ------
    UnknownThreadError
        If the thread or branch does not exist.
    DamagedStoreError
        If the row is not what was written.
    """
    row = cursor.execute(_FIND_BRANCH, (thread_id, branch_id)).fetchone()
    if row is not None:
        return Branch(*row).checked()
    main = None
    if branch_id != MAIN:
        main = cursor.execute(_FIND_BRANCH, (thread_id, MAIN)).fetchone()
    if main is None:
        raise UnknownThreadError(thread_id)
    raise UnknownThreadError(thread_id, branch_id)


def place_of(branch: int, first: int) -> int:
    """Return the key of a branch's commit, whose first event is `first`.

    One integer and not two columns, because SQLite appends to a table much more cheaply by it.
    """
    return (branch << 32) + first


def body_checksum(body: bytes, *place: int) -> int:
    """Return the checksum of a text that stands at `place`: moved elsewhere, it does not fit."""
    return crc32(body, crc32(repr(place).encode()))
