"""What a SQLite store writes, each function inside a transaction of its caller.

A refusal is raised before the first statement that writes, so that the transaction can go on with
somebody else's commit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from sqlite3 import Cursor
from typing import cast

from nbgraph.core.events import Interrupt
from nbgraph.core.store import BranchRecord
from nbgraph.stores._log import (
    Commit,
    QuestionName,
    name_of,
    new_questions,
    require_event,
    require_fit,
    require_new,
)
from nbgraph.stores._sqlite_rows import (
    body_checksum,
    branch_checksum,
    branch_identity,
    found_branch,
    place_of,
)

__all__ = ["add_branch", "forget", "keep"]

_FIND_HEAD = "SELECT id, head, pending FROM branches WHERE thread = ? AND name = ?"

_ADD_BRANCH = """
    INSERT INTO branches (thread, name, parent, parent_sequence, created_at, identity)
    VALUES (?, ?, ?, ?, ?, ?)
"""

_MOVE_HEAD = """
    UPDATE branches
    SET graph = ?, status = ?, step = ?, head = ?, pending = ?, updated_at = ?, checksum = ?
    WHERE id = ?
"""

_ADD_COMMIT = "INSERT INTO commits (place, count, checksum, body) VALUES (?, ?, ?, ?)"

_FIND_QUESTIONS = "SELECT key, asked FROM questions WHERE branch = ?"

_DROP_QUESTION = "DELETE FROM questions WHERE branch = ? AND key = ? AND asked = ?"

_ADD_QUESTION = """
    INSERT INTO questions (branch, key, asked, created_at, checksum, body)
    VALUES (?, ?, ?, ?, ?, ?)
"""

_FORGET_THREAD = (
    """
    DELETE FROM commits WHERE place IN (
        SELECT place FROM branches
        JOIN commits ON place BETWEEN branches.id << 32 AND (branches.id << 32) + 4294967295
        WHERE thread = ?)
    """,
    "DELETE FROM questions WHERE branch IN (SELECT id FROM branches WHERE thread = ?)",
    "DELETE FROM branches WHERE thread = ?",
    "DELETE FROM children WHERE thread = ?",
)

_ADD_CHILD = "INSERT INTO children (thread, root) VALUES (?, ?)"

_FIND_CHILDREN = "SELECT thread FROM children WHERE root = ?"


def keep(cursor: Cursor, commit: Commit) -> None:
    """Write a commit if it fits.

    Raises
    ------
    ConcurrentRunError, UnknownThreadError
        If it does not fit.
    StateStoreError
        If a question cannot be kept as JSON.
    """
    names = (commit.thread_id, commit.branch_id)
    row = cursor.execute(_FIND_HEAD, names).fetchone()
    branch, head, pending = row or (0, None, 0)
    require_fit(commit, head)
    stored = _stored_questions(cursor, branch) if pending else ()
    texts = new_questions(stored, commit.summary.pending)
    if row is None:
        branch = _add_row(cursor, *names, None, 0, commit.first_at)
        if commit.summary.root is not None:
            cursor.execute(_ADD_CHILD, (commit.thread_id, commit.summary.root))
    _write(cursor, branch, commit)
    if stored or texts:
        _drop_answered(cursor, branch, stored, commit.summary.pending)
        _add_questions(cursor, branch, commit.summary.pending, texts)


def add_branch(cursor: Cursor, record: BranchRecord, commit: Commit) -> None:
    """Write a branch with its first commit.

    Raises
    ------
    UnknownThreadError
        If the thread or the parent branch does not exist.
    StateStoreError
        If the branch exists, the parent has no such event, or a question cannot be kept as JSON.
    """
    names, at = (record.thread_id, record.id), record.parent_sequence
    parent = found_branch(cursor, record.thread_id, record.parent_branch_id)
    require_event(parent.place, at)
    exists = cursor.execute(_FIND_HEAD, names).fetchone() is not None
    require_new(record.id, exists=exists, thread_id=record.thread_id)
    texts = new_questions((), commit.summary.pending)
    branch = _add_row(cursor, *names, parent.id, at, record.created_at)
    _write(cursor, branch, commit)
    _add_questions(cursor, branch, commit.summary.pending, texts)


def forget(cursor: Cursor, thread_id: str) -> None:
    """Delete all rows of a thread, and of the threads of its sub-graphs."""
    children = cursor.execute(_FIND_CHILDREN, (thread_id,)).fetchall()
    for names in [(thread_id,), *children]:
        for statement in _FORGET_THREAD:
            cursor.execute(statement, names)


def _add_row(
    cursor: Cursor,
    thread_id: str,
    branch_id: str,
    parent: int | None,
    parent_sequence: int,
    created_at: float,
) -> int:
    # SQLite gives back a float, and the checksum has to fit what it gives back.
    lasting = (thread_id, branch_id, parent, parent_sequence, float(created_at))
    cursor.execute(_ADD_BRANCH, (*lasting, branch_identity(*lasting)))
    return cast(int, cursor.lastrowid)


def _write(cursor: Cursor, branch: int, commit: Commit) -> None:
    summary = commit.summary
    changing = (
        summary.graph,
        summary.status,
        summary.step,
        commit.head,
        len(summary.pending),
        float(commit.last_at),
    )
    cursor.execute(_MOVE_HEAD, (*changing, branch_checksum(*changing), branch))
    place = place_of(branch, commit.expected + 1)
    checksum = body_checksum(commit.body.encode(), place, commit.count)
    cursor.execute(_ADD_COMMIT, (place, commit.count, checksum, commit.body))


def _stored_questions(cursor: Cursor, branch: int) -> Collection[QuestionName]:
    return set(cursor.execute(_FIND_QUESTIONS, (branch,)))


def _drop_answered(
    cursor: Cursor, branch: int, stored: Collection[QuestionName], pending: Sequence[Interrupt]
) -> None:
    waiting = set(map(name_of, pending))
    cursor.executemany(_DROP_QUESTION, [(branch, *name) for name in stored if name not in waiting])


def _add_questions(
    cursor: Cursor, branch: int, pending: Sequence[Interrupt], texts: Mapping[QuestionName, str]
) -> None:
    rows = [
        (branch, *name, one.created_at, body_checksum(body.encode(), branch), body)
        for one in pending
        if (body := texts.get(name := name_of(one))) is not None
    ]
    cursor.executemany(_ADD_QUESTION, rows)
