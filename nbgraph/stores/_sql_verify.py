"""Whether all that a store holds is what was written: hash chains, large values, lists."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from nbgraph.core.events import Interrupt
from nbgraph.core.store import Damage
from nbgraph.errors import StateStoreError
from nbgraph.stores._blobs import checked_blob, hashes_in
from nbgraph.stores._chain import link, root_of
from nbgraph.stores._sql_read import ancestry, blobs_of, hash_at
from nbgraph.stores._sql_rows import Branch, Cursor, RawRow, body_checksum, place_of

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

_LIST_QUESTIONS = """
    SELECT key, asked, created_at, checksum, body FROM questions WHERE branch = ? ORDER BY id
"""

_LIST_CHILDREN = "SELECT thread, root FROM children ORDER BY thread"

_LIST_USES = "SELECT hash FROM blob_uses WHERE branch = ?"

_STRAYS = {
    "SELECT place FROM commits WHERE place >> 32 NOT IN (SELECT id FROM branches) LIMIT 1": (
        "there are events of a branch that is missing"
    ),
    "SELECT branch FROM questions WHERE branch NOT IN (SELECT id FROM branches) LIMIT 1": (
        "there are questions of a branch that is missing"
    ),
}

_LARGE_VALUE = "a large value of it is missing, or is not what was written"
_WRITTEN = "it is not what was written"


def verify_store(cursor: Cursor) -> list[Damage]:
    """Return what is not as it was written, thread by thread; nothing if all is well."""
    branches = [Branch(*row) for row in cursor.execute(_LIST_BRANCHES).fetchall()]
    threads = {one.thread for one in branches}
    roots = dict(cursor.execute(_LIST_CHILDREN).fetchall())
    found: list[Damage] = []
    for branch in branches:
        log = _Log(cursor, branch, threads, roots)
        found += log.damages() or _of_questions(cursor, branch)
    for statement, problem in _STRAYS.items():
        if cursor.execute(statement).fetchone() is not None:
            found.append(Damage("", "", 0, problem))
    return [*found, *_of_children(threads, roots)]


def _of_children(threads: set[str], roots: Mapping[str, str]) -> Iterator[Damage]:
    for thread, root in roots.items():
        if thread not in threads:
            yield Damage(thread, "main", 0, "the thread of a sub-graph is missing")
        elif root not in threads or root in roots:
            yield Damage(thread, "main", 0, f"it belongs to {root!r}, which is no thread to list")


@dataclass(frozen=True, slots=True)
class _Log:
    """A branch and its log, and what the store says of threads."""

    cursor: Cursor
    branch: Branch
    threads: set[str]
    roots: Mapping[str, str]
    """Threads of sub-graphs, and what each belongs to."""

    def damages(self) -> list[Damage]:
        """Return the first damage of the branch: what follows it cannot be told from it."""
        branch, at = self.branch, self.branch.head
        try:
            branch.checked()
            problem = self._of_beginning()
            if problem:
                at = branch.parent_sequence + 1
            else:
                at, problem = self._of_commits()
        except StateStoreError as error:
            problem = getattr(error, "problem", str(error))
        return [Damage(branch.thread, branch.name, at, problem)] if problem else []

    def _of_beginning(self) -> str:
        branch = self.branch
        names, at = (branch.thread, branch.name), branch.parent_sequence
        if branch.parent is None:
            fits = branch.root == root_of(*names)
            return "" if fits else "its chain does not begin where it should"
        _, parent, *_ = ancestry(self.cursor, branch)
        fits = branch.root == root_of(*names, hash_at(self.cursor, parent, at), at)
        return "" if fits else "it was forked off another past than its parent has now"

    def _of_commits(self) -> tuple[int, str]:
        """Return the first event that is not what was written, and what is wrong with it."""
        branch, cursor = self.branch, self.cursor
        begin, chain, due = place_of(branch.id, 0), branch.root, branch.parent_sequence + 1
        end, last = place_of(branch.id + 1, 0) - 1, begin
        uses = {name for (name,) in cursor.execute(_LIST_USES, (branch.id,)).fetchall()}
        while rows := cursor.execute(_LIST_COMMITS, (last, end, _PAGE)).fetchall():
            for row in rows:
                problem = self._of_commit(row, due, begin, chain, uses)
                if problem:
                    return due, problem
                last, chain, due = row[0], row[2], due + row[1]
        if due - 1 != branch.head or chain != branch.chain:
            return min(due, branch.head), "the log does not end there"
        return 0, ""

    def _of_commit(self, row: RawRow, due: int, begin: int, chain: bytes, uses: set[bytes]) -> str:
        place, count, hash_, refs, body = row
        if place != begin + due:
            return "it is missing"
        try:
            if link(chain, due, count, body, refs) != hash_:
                return _WRITTEN
            return self._of_contents(refs, uses) or self._of_sub_graphs(body)
        except (TypeError, AttributeError, KeyError, ValueError, struct.error):
            return _WRITTEN

    def _of_contents(self, refs: str, uses: set[bytes]) -> str:
        names = hashes_in(refs)
        blobs = blobs_of(self.cursor, [refs])
        try:
            for name in names:
                checked_blob(blobs, name)
        except LookupError:
            return _LARGE_VALUE
        return "" if uses.issuperset(names) else "a large value of it counts as not needed"

    def _of_sub_graphs(self, body: bytes) -> str:
        if b'"child":' not in body:
            return ""
        root = self.roots.get(self.branch.thread, self.branch.thread)
        events: list[dict[str, Any]] = from_json(body)
        for place in (event["child"] for event in events if event.get("child")):
            thread: str = place["thread_id"]
            if thread in self.threads and self.roots.get(thread) != root:
                return f"the thread of its sub-graph, {thread!r}, does not belong to {root!r}"
        return ""


def _of_questions(cursor: Cursor, branch: Branch) -> list[Damage]:
    names = (branch.thread, branch.name)
    rows = cursor.execute(_LIST_QUESTIONS, (branch.id,)).fetchall()
    if len(rows) != branch.pending:
        problem = f"{branch.pending} questions wait, {len(rows)} are there"
        return [Damage(*names, branch.head, problem)]
    bad = [row for row in rows if not _is_question(branch, *row)]
    return [
        Damage(*names, asked, f"the question {key!r} is not what was written")
        for key, asked, *_ in bad
    ]


def _is_question(
    branch: Branch, key: str, asked: int, created_at: float, checksum: int, body: Any
) -> bool:
    try:
        if body_checksum(body, branch.id) != checksum:
            return False
        question = Interrupt.model_validate_json(body)
    except (TypeError, ValidationError):
        return False
    return (question.key, question.asked, float(question.created_at)) == (key, asked, created_at)
