"""A thread as lines of JSON and back, with the hashes of its chain: the same in every store.

The threads of its sub-graphs follow it, each with a first line of its own.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from nbgraph.core.events import Interrupt
from nbgraph.core.store import BranchRecord, BranchSummary
from nbgraph.errors import DamagedStoreError, StateStoreError
from nbgraph.stores._blobs import hashes_in
from nbgraph.stores._chain import content_hash
from nbgraph.stores._log import Commit, Stretch, require_new, where
from nbgraph.stores._sql_lists import branches_of, children_of
from nbgraph.stores._sql_read import rows_of
from nbgraph.stores._sql_rows import Branch, Cursor
from nbgraph.stores._sql_write import add_branch, keep

__all__ = ["export_lines", "import_lines"]

_FORMAT = 1

_LIST_QUESTIONS = "SELECT body FROM questions WHERE branch = ? ORDER BY id"
_FIND_CHAIN = "SELECT chain FROM branches WHERE thread = ? AND name = ?"
_FIND_THREAD = "SELECT id FROM branches WHERE thread = ?"
_FIND_ROOT = "SELECT root FROM children WHERE thread = ?"

_PROBLEMS = (KeyError, TypeError, ValueError, AttributeError, ValidationError)
"""What reading lines raises that are not those of an export."""


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
    return [to_json(line).decode() for one in threads for line in _told(cursor, one)]


def _told(cursor: Cursor, thread_id: str) -> Iterator[dict[str, Any]]:
    branches = branches_of(cursor, thread_id)
    names = {one.id: one.name for one in branches}
    head: dict[str, Any] = {"nbgraph": "thread", "format": _FORMAT, "thread": thread_id}
    found = cursor.execute(_FIND_ROOT, (thread_id,)).fetchone()
    yield head if found is None else {**head, "root": found[0]}
    for branch in branches:
        yield from _exported(cursor, branch, names.get(branch.parent or 0))


def _exported(cursor: Cursor, branch: Branch, parent: str | None) -> Iterator[dict[str, Any]]:
    own = Stretch(branch.name, branch.parent_sequence, branch.head)
    raw = rows_of(cursor, branch, own)
    raw.events()  # raises if it is not what was written
    questions = cursor.execute(_LIST_QUESTIONS, (branch.id,)).fetchall()
    yield {
        "branch": branch.name,
        "parent": parent,
        "after": branch.parent_sequence,
        "created_at": branch.created_at,
        "updated_at": branch.updated_at,
        "summary": [branch.graph, branch.status, branch.step],
        "questions": [body.decode() for (body,) in questions],
        "commits": len(raw.rows),
    }
    for name, body in raw.blobs.items():
        yield {"large": name.hex(), **_told_content(body)}
    for _, count, hash_, refs, body in raw.rows:
        yield {"count": count, "hash": hash_.hex(), "refs": refs, "body": body.decode()}


def _told_content(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(content).decode()}


def _content(line: dict[str, Any]) -> bytes:
    return line["text"].encode() if "text" in line else b64decode(line["base64"], validate=True)


def import_lines(cursor: Cursor, lines: Iterable[str]) -> str:
    """Write a thread and those of its sub-graphs from their lines, and return its id.

    Raises
    ------
    StateStoreError
        If a thread is there already, or the lines are no export.
    DamagedStoreError
        If a hash does not fit.
    """
    try:
        told: list[dict[str, Any]] = [from_json(line) for line in lines if line.strip()]
        head: dict[str, Any] = told[0] if told else {}
        _require_new_thread(cursor, head)
        thread_id: str = head["thread"]
        rest = iter(told[1:])
        for line in rest:
            if "nbgraph" in line:
                _require_new_thread(cursor, head := line)
            else:
                _imported(cursor, head, line, rest)
    except _PROBLEMS as error:
        raise StateStoreError(f"These lines are no exported thread: {error!r}") from error
    return thread_id


def _require_new_thread(cursor: Cursor, head: dict[str, Any]) -> None:
    if head.get("nbgraph") != "thread" or head.get("format") != _FORMAT:
        raise StateStoreError(f"These lines are no exported thread of format {_FORMAT}")
    exists = cursor.execute(_FIND_THREAD, (head["thread"],)).fetchone() is not None
    if exists:
        raise StateStoreError(f"Thread {head['thread']!r} is in the store already")


def _imported(
    cursor: Cursor, head: dict[str, Any], told: dict[str, Any], rest: Iterator[dict[str, Any]]
) -> None:
    thread_id = head["thread"]
    blobs: dict[bytes, bytes] = {}
    after, left = told["after"], told["commits"]
    while left:
        line = next(rest, None) or {}
        if "large" in line:
            content = _content(line)
            blobs[content_hash(content)] = content
            continue
        left -= 1
        if not blobs.keys() >= set(hashes_in(line["refs"])):
            place = where(thread_id, told["branch"], after + 1)
            raise DamagedStoreError(place, "a large value of it is missing")
        commit = _commit(head, told, line, after=after, blobs=blobs, last=not left)
        if after == told["after"] and told["parent"] is not None:
            names = (thread_id, told["branch"], told["parent"])
            record = BranchRecord(*names, after, told["created_at"])
            require_new(record.id, exists=record.id == "main", thread_id=thread_id)
            add_branch(cursor, record, commit)
        else:
            keep(cursor, commit)
        (chain,) = cursor.execute(_FIND_CHAIN, (thread_id, told["branch"])).fetchone()
        if chain.hex() != line["hash"]:
            place = where(thread_id, told["branch"], after + 1)
            raise DamagedStoreError(place, "it does not fit its hash")
        after = commit.head


def _commit(
    head: dict[str, Any],
    told: dict[str, Any],
    line: dict[str, Any],
    *,
    after: int,
    blobs: dict[bytes, bytes],
    last: bool,
) -> Commit:
    graph, status, step = told["summary"]
    questions = map(Interrupt.model_validate_json, told["questions"] if last else ())
    return Commit(
        head["thread"],
        told["branch"],
        after,
        line["count"],
        line["body"].encode(),
        line["refs"],
        blobs,
        BranchSummary(graph, status, step, tuple(questions), head.get("root")),
        first_at=told["created_at"],
        last_at=told["updated_at"],
    )
