"""What a commit does to the rows of its branch's questions, inside a transaction of its caller."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from nbgraph.core.events import Interrupt
from nbgraph.stores._log import Commit, QuestionName, name_of, new_questions
from nbgraph.stores._sql_drafts import DROP_DRAFT, DROP_DRAFTS
from nbgraph.stores._sql_rows import Branch, Cursor, body_checksum

__all__ = ["NO_QUESTIONS", "Questions", "questions_after", "write_questions"]

Questions: TypeAlias = tuple[Collection[QuestionName] | None, Mapping[QuestionName, str]]
"""Which questions are stored, None where all of them go, and the texts of those that come."""

NO_QUESTIONS: Questions = (), {}
"""There are none, before and after."""

_ALL_ANSWERED: Questions = None, {}

_FIND_QUESTIONS = "SELECT key, asked FROM questions WHERE branch = ?"

_DROP_QUESTIONS = "DELETE FROM questions WHERE branch = ?"

_DROP_QUESTION = "DELETE FROM questions WHERE branch = ? AND key = ? AND asked = ?"

_ADD_QUESTION = """
    INSERT INTO questions (branch, key, asked, created_at, checksum, body)
    VALUES (?, ?, ?, ?, ?, ?)
"""


def questions_after(cursor: Cursor, branch: Branch | None, commit: Commit) -> Questions:
    """Return what a commit does to the questions of a branch, which is as it was before.

    Raises
    ------
    StateStoreError
        If a question cannot be kept as JSON.
    """
    pending = commit.summary.pending
    waited = branch is not None and branch.pending
    if not pending:
        return _ALL_ANSWERED if waited else NO_QUESTIONS
    stored = set(cursor.execute(_FIND_QUESTIONS, (branch.id,))) if branch and waited else ()
    return stored, new_questions(stored, pending)


def write_questions(
    cursor: Cursor, branch: int, pending: Sequence[Interrupt], questions: Questions
) -> None:
    """Drop the questions of a branch that wait no more, with their drafts, and add what came."""
    stored, texts = questions
    if stored is None:
        cursor.execute(_DROP_QUESTIONS, (branch,))
        cursor.execute(DROP_DRAFTS, (branch,))
    elif stored:
        _drop_answered(cursor, branch, stored, pending)
    if texts:
        _add_questions(cursor, branch, pending, texts)


def _drop_answered(
    cursor: Cursor, branch: int, stored: Collection[QuestionName], pending: Sequence[Interrupt]
) -> None:
    waiting = set(map(name_of, pending))
    gone = [(branch, *name) for name in stored if name not in waiting]
    if gone:
        cursor.executemany(_DROP_QUESTION, gone)
        cursor.executemany(DROP_DRAFT, gone)


def _add_questions(
    cursor: Cursor, branch: int, pending: Sequence[Interrupt], texts: Mapping[QuestionName, str]
) -> None:
    rows = [
        (branch, *name, float(one.created_at), body_checksum(body, branch), body)
        for one in pending
        if (body := texts.get(name := name_of(one), "").encode())
    ]
    if rows:
        cursor.executemany(_ADD_QUESTION, rows)
