"""How a store that speaks SQL exports and imports a thread, inside a transaction of its caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nbgraph.core.store import BranchRecord
from nbgraph.stores._log import Stretch
from nbgraph.stores._sql_lists import branches_of, children_of
from nbgraph.stores._sql_read import rows_of
from nbgraph.stores._sql_rows import Branch, Cursor
from nbgraph.stores._sql_write import add_branch, keep
from nbgraph.stores._transfer import (
    Imported,
    KeptBranch,
    commits_in,
    lines_of,
    require_chain,
    require_no_thread,
)

__all__ = ["export_lines", "import_lines"]

_LIST_QUESTIONS = "SELECT body FROM questions WHERE branch = ? ORDER BY id"
_FIND_CHAIN = "SELECT chain FROM branches WHERE thread = ? AND name = ?"
_FIND_THREAD = "SELECT id FROM branches WHERE thread = ?"
_FIND_ROOT = "SELECT root FROM children WHERE thread = ?"


def export_lines(cursor: Cursor, thread_id: str) -> list[str]:
    """Return a thread, and those of its sub-graphs, as lines of JSON.

    Raises
    ------
    UnknownThreadError
        If the thread does not exist.
    DamagedStoreError
        If a part of it is not what was written.
    """
    threads = (thread_id, *children_of(cursor, thread_id))
    return [line for one in threads for line in lines_of(one, *_told(cursor, one))]


def _told(cursor: Cursor, thread_id: str) -> tuple[str | None, Iterator[KeptBranch]]:
    branches = branches_of(cursor, thread_id)
    names = {one.id: one.name for one in branches}
    root = cursor.execute(_FIND_ROOT, (thread_id,)).fetchone()
    kept = (_kept(cursor, one, names.get(one.parent or 0)) for one in branches)
    return (None if root is None else root[0]), kept


def _kept(cursor: Cursor, branch: Branch, parent: str | None) -> KeptBranch:
    raw = rows_of(cursor, branch, Stretch(branch.name, branch.parent_sequence, branch.head))
    raw.events()  # raises if it is not what was written
    questions = cursor.execute(_LIST_QUESTIONS, (branch.id,)).fetchall()
    names = (branch.thread, branch.name, parent or "")
    return KeptBranch(
        BranchRecord(*names, branch.parent_sequence, branch.created_at),
        parent,
        branch.updated_at,
        (branch.graph, branch.status, branch.step),
        [body.decode() for (body,) in questions],
        raw.checked_rows(),
        raw.blobs,
    )


def import_lines(cursor: Cursor, lines: Sequence[str]) -> str:
    """Write a thread and those of its sub-graphs from their lines, and return its id.

    Raises
    ------
    StateStoreError
        If a thread is there already, or the lines are no export.
    DamagedStoreError
        If a hash does not fit.
    """
    made: list[str] = []
    for imported in commits_in(lines):
        _import(cursor, imported, made)
    return made[0]


def _import(cursor: Cursor, imported: Imported, made: list[str]) -> None:
    commit = imported.commit
    if commit.thread_id not in made:
        exists = cursor.execute(_FIND_THREAD, (commit.thread_id,)).fetchone() is not None
        require_no_thread(commit.thread_id, exists=exists)
        made.append(commit.thread_id)
    if imported.record is None:
        keep(cursor, commit)
    else:
        add_branch(cursor, imported.record, commit)
    names = (commit.thread_id, commit.branch_id)
    (chain,) = cursor.execute(_FIND_CHAIN, names).fetchone()
    require_chain(imported, chain)
