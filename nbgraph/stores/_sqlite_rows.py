"""The rows of a SQLite store, and how a row that is not what was written is noticed.

A branch row has two checksums, one of what never changes and one of what each commit changes;
a commit and a question have one each. SQL text is constant; what a caller gives is a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Cursor
from typing import Any
from zlib import crc32

from nbgraph.errors import DamagedStoreError, UnknownThreadError
from nbgraph.stores._log import MAIN, Place, where

__all__ = [
    "Branch",
    "RawRow",
    "body_checksum",
    "branch_checksum",
    "branch_identity",
    "found_branch",
]

RawRow = tuple[Any, ...]
"""A row as SQLite hands it out; a damaged file can hold anything in it."""

_FIND_BRANCH = """
    SELECT id, thread, name, parent, parent_sequence, created_at, identity,
        graph, status, step, head, pending, updated_at, checksum
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
    identity: int
    graph: str
    status: Any
    step: int
    head: int
    pending: int
    updated_at: float
    checksum: int

    def checked(self) -> Branch:
        """Return the row itself if it is what was written.

        Raises
        ------
        DamagedStoreError
            If it is not.
        """
        changing = (self.graph, self.status, self.step, self.head, self.pending, self.updated_at)
        lasting = (self.thread, self.name, self.parent, self.parent_sequence, self.created_at)
        if self.checksum != branch_checksum(*changing) or self.identity != branch_identity(
            *lasting
        ):
            place = where(self.thread, self.name, self.head)
            raise DamagedStoreError(place, "the row of the branch is not what was written")
        return self

    @property
    def place(self) -> Place:
        """Where the branch stands in an ancestry."""
        return Place(self.name, self.parent_sequence, self.head)


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
    if cursor.execute(_FIND_BRANCH, (thread_id, MAIN)).fetchone() is None:
        raise UnknownThreadError(thread_id)
    raise UnknownThreadError(thread_id, branch_id)


def branch_identity(
    thread: str, name: str, parent: int | None, parent_sequence: int, created_at: float
) -> int:
    """Return the checksum of what never changes in the row of a branch."""
    return crc32(repr((thread, name, parent, parent_sequence, created_at)).encode())


def branch_checksum(
    graph: str, status: str, step: int, head: int, pending: int, updated_at: float
) -> int:
    """Return the checksum of what each commit changes in the row of a branch."""
    return crc32(repr((graph, status, step, head, pending, updated_at)).encode())


def place_of(branch: int, first: int) -> int:
    """Return the key of a branch's commit, whose first event is `first`.

    One integer and not two columns, because SQLite appends to a table much more cheaply by it.
    """
    return (branch << 32) + first


def body_checksum(body: bytes, *place: int) -> int:
    """Return the checksum of a text that stands at `place`: moved elsewhere, it does not fit."""
    return crc32(body, crc32(repr(place).encode()))
