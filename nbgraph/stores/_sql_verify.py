"""Whether everything in a store is what was written: checksums, hash chains, large values."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from nbgraph.core.store import Damage
from nbgraph.errors import DamagedStoreError, StateStoreError
from nbgraph.stores._blobs import checked_blob, hashes_in
from nbgraph.stores._chain import link, root_of
from nbgraph.stores._sql_lists import list_questions
from nbgraph.stores._sql_read import ancestry, blobs_of, hash_at
from nbgraph.stores._sql_rows import Branch, Cursor, RawRow, place_of

__all__ = ["verify_store"]

_PAGE = 1000

_LIST_BRANCHES = """
    SELECT id, thread, name, parent, parent_sequence, created_at, root, identity,
        graph, status, step, head, pending, updated_at, chain, epoch, owner, leased_until, checksum,
        since, snapped
    FROM branches ORDER BY id
"""

_LIST_COMMITS = """
    SELECT place, count, hash, refs, body FROM commits
    WHERE place > ? AND place <= ? ORDER BY place LIMIT ?
"""

_COUNT_QUESTIONS = "SELECT count(*) FROM questions WHERE branch = ?"

_FIND_STRAY = """
    SELECT place FROM commits WHERE place >> 32 NOT IN (SELECT id FROM branches) LIMIT 1
"""


def verify_store(cursor: Cursor) -> list[Damage]:
    """Return what is not as it was written, thread by thread; nothing if all is well."""
    found: list[Damage] = []
    for row in cursor.execute(_LIST_BRANCHES).fetchall():
        found += _of_branch(cursor, Branch(*row))
    stray = cursor.execute(_FIND_STRAY).fetchone()
    if stray is not None:
        found.append(Damage("", "", 0, "there are events of a branch that is missing"))
    try:
        list_questions(cursor)
    except DamagedStoreError as error:
        found.append(Damage("", "", 0, str(error)))
    return found


def _of_branch(cursor: Cursor, branch: Branch) -> Iterator[Damage]:
    """Return the first damage of a branch: what follows it cannot be told from it."""
    at, problem = branch.head, ""
    try:
        branch.checked()
        problem = _of_beginning(cursor, branch)
        if problem:
            at = branch.parent_sequence + 1
        else:
            at, problem = _of_log(cursor, branch)
    except StateStoreError as error:
        problem = getattr(error, "problem", str(error))
    if problem:
        yield Damage(branch.thread, branch.name, at, problem)
        return
    (waiting,) = cursor.execute(_COUNT_QUESTIONS, (branch.id,)).fetchone()
    if waiting != branch.pending:
        problem = f"{branch.pending} questions wait, {waiting} are there"
        yield Damage(branch.thread, branch.name, branch.head, problem)


def _of_beginning(cursor: Cursor, branch: Branch) -> str:
    names, at = (branch.thread, branch.name), branch.parent_sequence
    if branch.parent is None:
        return "" if branch.root == root_of(*names) else "its chain does not begin where it should"
    _, parent, *_ = ancestry(cursor, branch)
    fits = branch.root == root_of(*names, hash_at(cursor, parent, at), at)
    return "" if fits else "it was forked off another past than its parent has now"


def _of_log(cursor: Cursor, branch: Branch) -> tuple[int, str]:
    """Return the first event that is not what was written, and what is wrong with it."""
    begin, chain, due = place_of(branch.id, 0), branch.root, branch.parent_sequence + 1
    end = place_of(branch.id + 1, 0) - 1
    last = begin
    while rows := cursor.execute(_LIST_COMMITS, (last, end, _PAGE)).fetchall():
        for row in rows:
            problem = _of_commit(cursor, row, due=due, begin=begin, chain=chain)
            if problem:
                return due, problem
            last, chain, due = row[0], row[2], due + row[1]
    if due - 1 != branch.head or chain != branch.chain:
        return min(due, branch.head), "the log does not end there"
    return 0, ""


def _of_commit(cursor: Cursor, row: RawRow, *, due: int, begin: int, chain: bytes) -> str:
    place, count, hash_, refs, body = row
    if place != begin + due:
        return "it is missing"
    try:
        if link(chain, due, count, body, refs) != hash_:
            return "it is not what was written"
        blobs = blobs_of(cursor, [refs])
        for name in hashes_in(refs):
            checked_blob(blobs, name)
    except LookupError:
        return "a large value of it is missing, or is not what was written"
    except (TypeError, AttributeError, ValueError, struct.error):
        return "it is not what was written"
    return ""
