"""The side table of drafts, in SQL that both databases speak; no part of the log and its hashes."""

from __future__ import annotations

import json

from nbgraph.core.drafts import Draft
from nbgraph.stores._sql_rows import Cursor, found_branch

__all__ = ["DRAFTS", "DROP_DRAFT", "DROP_DRAFTS", "FORGET_DRAFTS", "keep_draft", "list_drafts"]

DRAFTS = (
    """CREATE TABLE IF NOT EXISTS drafts (
        branch BIGINT NOT NULL,
        key TEXT NOT NULL,
        asked BIGINT NOT NULL,
        saved_at DOUBLE PRECISION NOT NULL,
        body TEXT NOT NULL
    )""",
)

DROP_DRAFT = "DELETE FROM drafts WHERE branch = ? AND key = ? AND asked = ?"

DROP_DRAFTS = "DELETE FROM drafts WHERE branch = ?"

FORGET_DRAFTS = "DELETE FROM drafts WHERE branch IN (SELECT id FROM branches WHERE thread = ?)"

_FIND_QUESTION = "SELECT 1 FROM questions WHERE branch = ? AND key = ? AND asked = ?"

_ADD_DRAFT = "INSERT INTO drafts (branch, key, asked, saved_at, body) VALUES (?, ?, ?, ?, ?)"

_LIST_DRAFTS = """
    SELECT drafts.key, drafts.asked, drafts.saved_at, drafts.body FROM drafts
    JOIN questions ON questions.branch = drafts.branch AND questions.key = drafts.key
        AND questions.asked = drafts.asked
    WHERE drafts.branch = ? ORDER BY drafts.saved_at
"""


def keep_draft(
    cursor: Cursor,
    names: tuple[str, str],
    question: tuple[str, int],
    draft: Draft | None,
    text: str | None,
) -> None:
    """Write a draft in place of the one before, if its question waits.

    Raises
    ------
    UnknownThreadError
        If the branch does not exist.
    """
    place = (found_branch(cursor, *names).id, *question)
    cursor.execute(DROP_DRAFT, place)
    waits = cursor.execute(_FIND_QUESTION, place).fetchone() is not None
    if draft is not None and text is not None and waits:
        cursor.execute(_ADD_DRAFT, (*place, float(draft.saved_at), text))


def list_drafts(cursor: Cursor, names: tuple[str, str]) -> dict[tuple[str, int], Draft]:
    """Return the drafts of a branch's questions that wait.

    Raises
    ------
    UnknownThreadError
        If the branch does not exist.
    """
    rows = cursor.execute(_LIST_DRAFTS, (found_branch(cursor, *names).id,)).fetchall()
    return {(key, asked): Draft(json.loads(body), at) for key, asked, at, body in rows}
