"""A thread as lines of JSON and back, with the hashes of its chain: the same in every store.

The threads of its sub-graphs follow it, each with a first line of its own.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from nbgraph.core.events import Interrupt
from nbgraph.core.store import BranchRecord, BranchSummary
from nbgraph.errors import DamagedStoreError, StateStoreError
from nbgraph.stores._blobs import hashes_in
from nbgraph.stores._chain import content_hash
from nbgraph.stores._log import MAIN, Commit, Row, require_new, where

__all__ = ["Imported", "KeptBranch", "commits_in", "lines_of", "require_chain", "require_no_thread"]

_FORMAT = 1

_FEWEST = 3
"""Lines of a thread with one commit."""

_PROBLEMS = (KeyError, TypeError, ValueError, AttributeError, ValidationError)
"""What reading lines raises that are not those of an export."""


@dataclass(frozen=True, slots=True)
class KeptBranch:
    """A branch as it is exported: how it is listed, what waits in it, and its own commits."""

    record: BranchRecord
    parent: str | None
    updated_at: float
    summary: Sequence[Any]
    """Its graph, status and step."""
    questions: Sequence[str]
    rows: Sequence[Row]
    blobs: Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Imported:
    """A commit to be kept, and the hash it has then; `record` if it makes a fork."""

    commit: Commit
    record: BranchRecord | None
    hash: str


def lines_of(thread_id: str, root: str | None, branches: Iterable[KeptBranch]) -> Iterator[str]:
    """Return a thread as lines of JSON; `root` is what it is hidden under."""
    head: dict[str, Any] = {"nbgraph": "thread", "format": _FORMAT, "thread": thread_id}
    yield to_json(head if root is None else {**head, "root": root}).decode()
    for branch in branches:
        for line in _exported(branch):
            yield to_json(line).decode()


def _exported(branch: KeptBranch) -> Iterator[dict[str, Any]]:
    yield {
        "branch": branch.record.id,
        "parent": branch.parent,
        "after": branch.record.parent_sequence,
        "created_at": branch.record.created_at,
        "updated_at": branch.updated_at,
        "summary": branch.summary,
        "questions": branch.questions,
        "commits": len(branch.rows),
    }
    for name, content in sorted(branch.blobs.items()):
        yield {"large": name.hex(), **_told_content(content)}
    for row in branch.rows:
        told = {"count": row.count, "hash": row.hash.hex(), "refs": row.refs}
        yield {**told, "body": row.body.decode()}


def _told_content(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(content).decode()}


def _content(line: dict[str, Any]) -> bytes:
    return line["text"].encode() if "text" in line else b64decode(line["base64"], validate=True)


def commits_in(lines: Iterable[str]) -> Iterator[Imported]:
    """Return what lines tell, in an order in which it can be kept: the named thread first.

    Raises
    ------
    StateStoreError
        If the lines are no export.
    DamagedStoreError
        If a large value is missing.
    """
    try:
        told: list[dict[str, Any]] = [from_json(line) for line in lines if line.strip()]
        rest, head = iter(told), _checked_head(told[0] if told else {})
        if len(told) < _FEWEST:
            raise StateStoreError("These lines are no exported thread: there is no event in them")
        for line in rest:
            if "nbgraph" in line:
                head = _checked_head(line)
            else:
                yield from _imported(head, line, rest)
    except _PROBLEMS as error:
        raise StateStoreError(f"These lines are no exported thread: {error!r}") from error


def _checked_head(head: dict[str, Any]) -> dict[str, Any]:
    if head.get("nbgraph") != "thread" or head.get("format") != _FORMAT:
        raise StateStoreError(f"These lines are no exported thread of format {_FORMAT}")
    return head


def _imported(
    head: dict[str, Any], told: dict[str, Any], rest: Iterator[dict[str, Any]]
) -> Iterator[Imported]:
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
        needed = set(hashes_in(line["refs"]))
        if not blobs.keys() >= needed:
            place = where(thread_id, told["branch"], after + 1)
            raise DamagedStoreError(place, "a large value of it is missing")
        own = {name: blobs[name] for name in needed}
        commit = _commit(head, told, line, after=after, blobs=own, last=not left)
        record = None
        if after == told["after"] and told["parent"] is not None:
            names = (thread_id, told["branch"], told["parent"])
            record = BranchRecord(*names, after, told["created_at"])
            require_new(record.id, exists=record.id == MAIN, thread_id=thread_id)
        yield Imported(commit, record, line["hash"])
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


def require_no_thread(thread_id: str, *, exists: bool) -> None:
    """Refuse to import over a thread.

    Raises
    ------
    StateStoreError
        If it exists.
    """
    if exists:
        raise StateStoreError(f"Thread {thread_id!r} is in the store already")


def require_chain(imported: Imported, chain: bytes) -> None:
    """Refuse a commit whose branch does not end with its hash once it is kept.

    Raises
    ------
    DamagedStoreError
        If it does not: the lines are not what was exported.
    """
    if chain.hex() != imported.hash:
        commit = imported.commit
        place = where(commit.thread_id, commit.branch_id, commit.expected + 1)
        raise DamagedStoreError(place, "it does not fit its hash")
