"""What a store that speaks SQL lists, each function inside a transaction of its caller."""

from __future__ import annotations

from pydantic import ValidationError

from nbgraph.core.events import Interrupt
from nbgraph.core.store import BranchRecord, PendingRecord, ThreadRecord
from nbgraph.errors import DamagedStoreError, UnknownThreadError
from nbgraph.stores._log import MAIN
from nbgraph.stores._sql_read import parent_missing
from nbgraph.stores._sql_rows import Branch, Cursor, body_checksum

__all__ = ["branches_of", "children_of", "list_branches", "list_questions", "list_threads"]

_LIST_QUESTIONS = """
    SELECT branches.thread, branches.name, branches.graph,
        questions.branch, questions.checksum, questions.body
    FROM questions JOIN branches ON branches.id = questions.branch
    ORDER BY questions.created_at, branches.thread, branches.name, questions.key, questions.asked
    LIMIT ?
"""

_LIST_LATER_QUESTIONS = """
    SELECT branches.thread, branches.name, branches.graph,
        questions.branch, questions.checksum, questions.body
    FROM questions JOIN branches ON branches.id = questions.branch
    WHERE questions.created_at >= ?
        AND (questions.created_at, branches.thread, branches.name, questions.key, questions.asked)
            > (?, ?, ?, ?, ?)
    ORDER BY questions.created_at, branches.thread, branches.name, questions.key, questions.asked
    LIMIT ?
"""

_LIST_BRANCHES = """
    SELECT id, thread, name, parent, parent_sequence, created_at, root, identity,
        graph, status, step, head, pending, updated_at, chain, epoch, owner, leased_until, checksum,
        since, snapped
    FROM branches WHERE thread = ? ORDER BY id
"""

_THREADS = """
    SELECT main.id, main.thread, main.name, main.parent, main.parent_sequence, main.created_at,
        main.root, main.identity, main.graph, main.status, main.step, main.head, main.pending,
        main.updated_at, main.chain, main.epoch, main.owner, main.leased_until, main.checksum,
        main.since, main.snapped, count(*), max(branches.updated_at) AS written_at
    FROM branches AS main JOIN branches ON branches.thread = main.thread
    WHERE main.name = ? AND main.thread NOT IN (SELECT thread FROM children)
    GROUP BY main.id
"""

_NEWEST_FIRST = "ORDER BY written_at DESC, main.thread DESC LIMIT ?"

_LIST_THREADS = f"{_THREADS} {_NEWEST_FIRST}"

_LIST_EARLIER_THREADS = f"""
    {_THREADS} HAVING (max(branches.updated_at), main.thread) < (?, ?) {_NEWEST_FIRST}
"""

_FIND_CHILDREN = "SELECT thread FROM children WHERE root = ? ORDER BY thread"

_ALL = 2**62


def list_branches(cursor: Cursor, thread_id: str) -> list[BranchRecord]:
    """Return the branches of a thread other than main, oldest first.

    Raises
    ------
    UnknownThreadError
        If the thread does not exist.
    """
    found = branches_of(cursor, thread_id)
    names = {one.id: one.name for one in found}
    return [_branch_record(one, names.get(one.parent)) for one in found if one.parent is not None]


def branches_of(cursor: Cursor, thread_id: str) -> list[Branch]:
    """Return the rows of a thread's branches, main and then oldest first.

    Raises
    ------
    UnknownThreadError
        If the thread does not exist.
    """
    rows = cursor.execute(_LIST_BRANCHES, (thread_id,)).fetchall()
    if not rows:
        raise UnknownThreadError(thread_id)
    return [Branch(*row).checked() for row in rows]


def children_of(cursor: Cursor, thread_id: str) -> list[str]:
    """Return the threads of a thread's sub-graphs, theirs included."""
    return [name for (name,) in cursor.execute(_FIND_CHILDREN, (thread_id,)).fetchall()]


def _branch_record(branch: Branch, parent: str | None) -> BranchRecord:
    if parent is None:
        raise parent_missing(branch)
    return BranchRecord(
        branch.thread, branch.name, parent, branch.parent_sequence, branch.created_at
    )


def list_threads(
    cursor: Cursor, *, limit: int | None = None, after: ThreadRecord | None = None
) -> list[ThreadRecord]:
    """Return threads but those of sub-graphs, the one written last first."""
    most = _ALL if limit is None else limit
    if after is None:
        found = cursor.execute(_LIST_THREADS, (MAIN, most))
    else:
        place = (float(after.updated_at), after.thread_id)
        found = cursor.execute(_LIST_EARLIER_THREADS, (MAIN, *place, most))
    return [_thread_record(Branch(*row[:-2]).checked(), *row[-2:]) for row in found.fetchall()]


def _thread_record(main: Branch, branches: int, written_at: float) -> ThreadRecord:
    return ThreadRecord(
        main.thread,
        main.graph,
        main.status,
        main.step,
        branches=branches,
        created_at=main.created_at,
        updated_at=written_at,
    )


def list_questions(
    cursor: Cursor, *, limit: int | None = None, after: PendingRecord | None = None
) -> list[PendingRecord]:
    """Return pending questions of all threads and branches, oldest first."""
    most = _ALL if limit is None else limit
    if after is None:
        found = cursor.execute(_LIST_QUESTIONS, (most,))
    else:
        asked = after.interrupt
        at = float(asked.created_at)
        place = (at, at, after.thread_id, after.branch_id, asked.key, asked.asked)
        found = cursor.execute(_LIST_LATER_QUESTIONS, (*place, most))
    return [_pending_record(*row) for row in found.fetchall()]


def _pending_record(
    thread: str, name: str, graph: str, branch: int, checksum: int, body: bytes
) -> PendingRecord:
    place = f"A question of thread {thread!r}, branch {name!r},"
    if not isinstance(body, bytes) or body_checksum(body, branch) != checksum:  # pyright: ignore[reportUnnecessaryIsInstance] - a damaged row holds anything
        raise DamagedStoreError(place, "it is not what was written")
    try:
        interrupt = Interrupt.model_validate_json(body)
    except ValidationError as error:
        raise DamagedStoreError(place, str(error).splitlines()[0]) from error
    return PendingRecord(thread, name, graph, interrupt)
