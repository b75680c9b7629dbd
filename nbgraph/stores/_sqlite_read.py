"""What a SQLite store reads, each function inside a transaction of its caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Cursor

from pydantic import ValidationError

from nbgraph.core.events import Event, Interrupt
from nbgraph.core.store import BranchRecord, PendingRecord, ThreadRecord
from nbgraph.errors import DamagedStoreError, UnknownThreadError
from nbgraph.stores._log import MAIN, Row, Stretch, events_of, stretches, where
from nbgraph.stores._sqlite_rows import Branch, RawRow, body_checksum, found_branch, place_of

__all__ = ["RawStretch", "list_branches", "list_questions", "list_threads", "read_log"]

_FIND_PARENT = """
    SELECT id, thread, name, parent, parent_sequence, created_at, identity,
        graph, status, step, head, pending, updated_at, checksum
    FROM branches WHERE id = ?
"""

# From the commit that holds event `low + 1`, which may begin before it.
_FIND_COMMITS = """
    SELECT place, count, checksum, CAST(body AS BLOB) FROM commits
    WHERE place <= :high AND place >= coalesce(
        (SELECT max(place) FROM commits WHERE place BETWEEN :begin AND :due), :begin)
    ORDER BY place
"""

_FIND_END = "SELECT max(place), count FROM commits WHERE place BETWEEN ? AND ?"

_LIST_QUESTIONS = """
    SELECT branches.thread, branches.name, branches.graph,
        questions.branch, questions.checksum, CAST(questions.body AS BLOB)
    FROM questions JOIN branches ON branches.id = questions.branch
    ORDER BY questions.created_at, questions.id
"""

_LIST_BRANCHES = """
    SELECT id, thread, name, parent, parent_sequence, created_at, identity,
        graph, status, step, head, pending, updated_at, checksum
    FROM branches WHERE thread = ? ORDER BY id
"""

_LIST_THREADS = """
    SELECT main.id, main.thread, main.name, main.parent, main.parent_sequence, main.created_at,
        main.identity, main.graph, main.status, main.step, main.head, main.pending,
        main.updated_at, main.checksum, count(*), max(branches.updated_at) AS written_at
    FROM branches AS main JOIN branches ON branches.thread = main.thread
    WHERE main.name = ? AND main.thread NOT IN (SELECT thread FROM children)
    GROUP BY main.id ORDER BY written_at DESC, main.id DESC
"""


@dataclass(frozen=True, slots=True)
class RawStretch:
    """The rows of a stretch as they were read: quickly in the transaction, decoded after it."""

    thread: str
    begin: int
    stretch: Stretch
    rows: Sequence[RawRow]

    def events(self) -> list[Event]:
        """Return the events of the stretch.

        Raises
        ------
        DamagedStoreError
            If a row is missing or is not what was written.
        """
        return events_of(self.thread, self.stretch, [self._row(*row) for row in self.rows])

    def _row(self, place: int, count: int, checksum: int, body: bytes | None) -> Row:
        first = place - self.begin
        if body is None or body_checksum(body, place, count) != checksum:
            raise DamagedStoreError(
                where(self.thread, self.stretch.branch_id, first), "it is not what was written"
            )
        return Row(first, count, body.decode())


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
    if upto is None or upto >= branch.head:
        _require_end(cursor, branch)
    begins: dict[str, int] = {}
    places = (one.place for one in _ancestry(cursor, branch, begins))
    return [
        RawStretch(thread_id, begins[part.branch_id], part, _rows(cursor, begins, part))
        for part in stretches(places, after=after, upto=upto)
    ]


def _require_end(cursor: Cursor, branch: Branch) -> None:
    begin = place_of(branch.id, 0)
    last, count = cursor.execute(_FIND_END, (begin, place_of(branch.id + 1, 0) - 1)).fetchone()
    if last is None or count != branch.head - (last - begin) + 1:
        place = where(branch.thread, branch.name, branch.head)
        raise DamagedStoreError(place, "the log does not end there")


def _ancestry(cursor: Cursor, branch: Branch, begins: dict[str, int]) -> Iterator[Branch]:
    begins[branch.name] = place_of(branch.id, 0)
    yield branch
    while branch.parent is not None:
        row = cursor.execute(_FIND_PARENT, (branch.parent,)).fetchone()
        if row is None:
            raise _parent_missing(branch)
        branch = Branch(*row).checked()
        begins[branch.name] = place_of(branch.id, 0)
        yield branch


def _rows(cursor: Cursor, begins: dict[str, int], part: Stretch) -> list[RawRow]:
    begin = begins[part.branch_id]
    values = {"begin": begin, "due": begin + part.low + 1, "high": begin + part.high}
    return cursor.execute(_FIND_COMMITS, values).fetchall()


def list_branches(cursor: Cursor, thread_id: str) -> list[BranchRecord]:
    """Return the branches of a thread other than main, oldest first.

    Raises
    ------
    UnknownThreadError
        If the thread does not exist.
    """
    rows = cursor.execute(_LIST_BRANCHES, (thread_id,)).fetchall()
    if not rows:
        raise UnknownThreadError(thread_id)
    found = [Branch(*row).checked() for row in rows]
    names = {one.id: one.name for one in found}
    return [_branch_record(one, names.get(one.parent)) for one in found if one.parent is not None]


def _branch_record(branch: Branch, parent: str | None) -> BranchRecord:
    if parent is None:
        raise _parent_missing(branch)
    return BranchRecord(
        branch.thread, branch.name, parent, branch.parent_sequence, branch.created_at
    )


def _parent_missing(branch: Branch) -> DamagedStoreError:
    place = where(branch.thread, branch.name, branch.parent_sequence)
    return DamagedStoreError(place, "the branch it stands in is missing")


def list_threads(cursor: Cursor) -> list[ThreadRecord]:
    """Return all threads but those of sub-graphs, the one written last first."""
    rows = cursor.execute(_LIST_THREADS, (MAIN,)).fetchall()
    return [_thread_record(Branch(*row[:-2]).checked(), *row[-2:]) for row in rows]


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


def list_questions(cursor: Cursor) -> list[PendingRecord]:
    """Return the pending questions of all threads and branches, oldest first."""
    return [_pending_record(*row) for row in cursor.execute(_LIST_QUESTIONS)]


def _pending_record(
    thread: str, name: str, graph: str, branch: int, checksum: int, body: bytes | None
) -> PendingRecord:
    place = f"A question of thread {thread!r}, branch {name!r},"
    if body is None or body_checksum(body, branch) != checksum:
        raise DamagedStoreError(place, "it is not what was written")
    try:
        interrupt = Interrupt.model_validate_json(body)
    except ValidationError as error:
        raise DamagedStoreError(place, str(error).splitlines()[0]) from error
    return PendingRecord(thread, name, graph, interrupt)
