"""What a store that speaks SQL writes, each function inside a transaction of its caller.

A refusal is raised before the first statement that writes, so that the transaction can go on with
somebody else's commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from zlib import compress

from nbgraph.core.blob import Packed
from nbgraph.core.store import BranchRecord, PositionSnapshot
from nbgraph.stores._blobs import extracted
from nbgraph.stores._chain import link, root_of
from nbgraph.stores._log import (
    COMPRESSED_BYTES,
    Commit,
    epoch_after,
    require_event,
    require_fit,
    require_new,
    require_unclaimed,
)
from nbgraph.stores._sql_drafts import FORGET_DRAFTS
from nbgraph.stores._sql_lists import children_of
from nbgraph.stores._sql_questions import (
    NO_QUESTIONS,
    Questions,
    questions_after,
    write_questions,
)
from nbgraph.stores._sql_read import hash_at
from nbgraph.stores._sql_rows import Branch, Cursor, body_checksum, found_branch, place_of

__all__ = ["add_branch", "claim_branch", "forget", "keep", "release_branch"]

# What stands in the comment is said to a database that locks rows and not the file.
_FIND_BRANCH = """
    SELECT id, thread, name, parent, parent_sequence, created_at, root, identity,
        graph, status, step, head, pending, updated_at, chain, epoch, owner, leased_until, checksum,
        since, snapped
    FROM branches WHERE thread = ? AND name = ? /* FOR UPDATE */
"""

# What a commit has to know of its branch: fewer columns than a row has, because every append reads.
_FIND_TIP = """
    SELECT id, head, pending, chain, epoch, owner, leased_until, since, snapped
    FROM branches WHERE thread = ? AND name = ? /* FOR UPDATE */
"""

_ADD_BRANCH = """
    INSERT INTO branches (thread, name, parent, parent_sequence, created_at, root, identity,
        graph, status, step, head, pending, updated_at, chain, epoch, owner, leased_until, checksum,
        since, snapped)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    RETURNING id
"""

_LASTING = attrgetter(
    "thread",
    "name",
    "parent",
    "parent_sequence",
    "created_at",
    "root",
    "identity",
)

_CHANGING = attrgetter(
    "graph",
    "status",
    "step",
    "head",
    "pending",
    "updated_at",
    "chain",
    "epoch",
    "owner",
    "leased_until",
    "checksum",
    "since",
    "snapped",
)

_CHANGE_BRANCH = """
    UPDATE branches
    SET graph = ?, status = ?, step = ?, head = ?, pending = ?, updated_at = ?, chain = ?,
        epoch = ?, owner = ?, leased_until = ?, checksum = ?, since = ?, snapped = ?
    WHERE id = ?
"""

_CHANGE_KNOWN = f"{_CHANGE_BRANCH} AND checksum = ? AND chain = ?"

_ADD_COMMIT = "INSERT INTO commits (place, count, hash, refs, body) VALUES (?, ?, ?, ?, ?)"

_ADD_SNAPSHOT = """
    INSERT INTO snapshots (place, fingerprint, refs, checksum, body) VALUES (?, ?, ?, ?, ?)
"""

# Only the newest is kept: it is the one that is read when a thread goes on, and its pages are used
# again by the next.
_DROP_SNAPSHOT = "DELETE FROM snapshots WHERE place BETWEEN ? AND ?"

_ADD_BLOB = "INSERT INTO blobs (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING"

_USE_BLOB = "INSERT INTO blob_uses (branch, hash) VALUES (?, ?) ON CONFLICT DO NOTHING"

_LOCK_THREAD = "SELECT id FROM branches WHERE thread = ? ORDER BY id /* FOR UPDATE */"

_ADD_CHILD = "INSERT INTO children (thread, root) VALUES (?, ?)"

_FORGET_THREAD = (
    """
    DELETE FROM commits WHERE place IN (
        SELECT place FROM branches
        JOIN commits ON place BETWEEN branches.id << 32 AND (branches.id << 32) + 4294967295
        WHERE thread = ?)
    """,
    """
    DELETE FROM snapshots WHERE place IN (
        SELECT place FROM branches
        JOIN snapshots ON place BETWEEN branches.id << 32 AND (branches.id << 32) + 4294967295
        WHERE thread = ?)
    """,
    "DELETE FROM questions WHERE branch IN (SELECT id FROM branches WHERE thread = ?)",
    FORGET_DRAFTS,
    """
    DELETE FROM blobs WHERE
        hash IN (SELECT hash FROM blob_uses JOIN branches ON id = branch WHERE thread = ?)
        AND hash NOT IN (SELECT hash FROM blob_uses JOIN branches ON id = branch WHERE thread <> ?)
    """,
    "DELETE FROM blob_uses WHERE branch IN (SELECT id FROM branches WHERE thread = ?)",
    "DELETE FROM branches WHERE thread = ?",
    "DELETE FROM children WHERE thread = ?",
)


def keep(cursor: Cursor, commit: Commit, known: Branch | None = None) -> Branch:
    """Write a commit if it fits, and return the row of its branch.

    `known` is what an earlier commit returned. If the row is still so, it need not be read; it is
    the caller's no more, whatever happens.

    Raises
    ------
    ConcurrentRunError, UnknownThreadError
        If it does not fit.
    StateStoreError
        If a question cannot be kept as JSON.
    """
    if known is not None and _may_follow(commit, known):
        questions = questions_after(cursor, known, commit)
        was = known.id, known.checksum, known.chain
        _move(known, commit)
        if cursor.execute(_CHANGE_KNOWN, (*_CHANGING(known), *was)).rowcount == 1:
            return _kept(cursor, known, commit, questions)
    names = (commit.thread_id, commit.branch_id)
    branch = _tip(cursor, names)
    require_fit(commit, None if branch is None else branch.head)
    epoch_after(commit, 0 if branch is None else branch.epoch)
    questions = questions_after(cursor, branch, commit)
    if branch is None:
        branch = _begun(names, root_of(*names), commit.first_at)
        if commit.summary.root is not None:
            cursor.execute(_ADD_CHILD, (commit.thread_id, commit.summary.root))
    _write(cursor, branch, commit)
    return _kept(cursor, branch, commit, questions)


def _may_follow(commit: Commit, known: Branch) -> bool:
    """Return whether a commit fits if the row of its branch is still as known."""
    if known.head != commit.expected:
        return False
    return commit.claim is None or commit.claim.epoch in (None, known.epoch)


def _kept(cursor: Cursor, branch: Branch, commit: Commit, questions: Questions) -> Branch:
    """Add a commit and its questions to a branch whose row is written."""
    _add_commit(cursor, branch, commit)
    if questions is not NO_QUESTIONS:
        write_questions(cursor, branch.id, commit.summary.pending, questions)
    return branch


def _tip(cursor: Cursor, names: tuple[str, str]) -> Branch | None:
    row = cursor.execute(_FIND_TIP, names).fetchone()
    if row is None:
        return None
    id_, head, pending, chain, epoch, owner, leased_until, since, snapped = row
    return Branch(
        id_,
        *names,
        *(None, 0, 0.0, b""),
        head=head,
        pending=pending,
        chain=chain,
        epoch=epoch,
        owner=owner,
        leased_until=leased_until,
        since=since,
        snapped=snapped,
    )


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
    exists = cursor.execute(_FIND_BRANCH, names).fetchone() is not None
    require_new(record.id, exists=exists, thread_id=record.thread_id)
    questions = questions_after(cursor, None, commit)
    root = root_of(*names, hash_at(cursor, parent, at), at)
    branch = _begun(names, root, record.created_at, (parent, at))
    _write(cursor, branch, commit)
    _kept(cursor, branch, commit, questions)


def claim_branch(
    cursor: Cursor, names: tuple[str, str], *, owner: str, now: float, ttl: float | None
) -> int:
    """Make somebody the owner of a branch, and return the epoch that begins.

    Raises
    ------
    UnknownThreadError
        If the branch does not exist.
    ThreadClaimedError
        If somebody else holds it, and `ttl` asks for it without a take-over.
    """
    branch = _locked(cursor, names)
    if ttl is not None:
        require_unclaimed(names, (branch.owner, branch.leased_until), owner=owner, now=now)
    renewed = ttl is not None and branch.owner == owner
    epoch = branch.epoch if renewed else branch.epoch + 1
    until = 0.0 if ttl is None else float(now + ttl)
    _change(cursor, branch.changed(owner=owner, epoch=epoch, leased_until=until))
    return epoch


def release_branch(cursor: Cursor, names: tuple[str, str], *, owner: str) -> None:
    """End somebody's claim on a branch; a claim that is over is left alone.

    Raises
    ------
    UnknownThreadError
        If the branch does not exist.
    """
    branch = _locked(cursor, names)
    if branch.owner == owner:
        _change(cursor, branch.changed(owner=None, leased_until=0.0))


def _locked(cursor: Cursor, names: tuple[str, str]) -> Branch:
    row = cursor.execute(_FIND_BRANCH, names).fetchone()
    return found_branch(cursor, *names) if row is None else Branch(*row).checked()


def forget(cursor: Cursor, thread_id: str) -> None:
    """Delete all rows of a thread, and of the threads of its sub-graphs."""
    for name in (thread_id, *children_of(cursor, thread_id)):
        cursor.execute(_LOCK_THREAD, (name,)).fetchall()
        for statement in _FORGET_THREAD:
            cursor.execute(statement, (name,) * statement.count("?"))


def _begun(
    names: tuple[str, str],
    root: bytes,
    created_at: float,
    parent: tuple[Branch, int] | None = None,
) -> Branch:
    """Return the row of a branch that is not written yet."""
    above, at = parent or (None, 0)
    # A database gives back a float, and the checksum has to fit what it gives back.
    branch = Branch(0, *names, above and above.id, at, float(created_at), root, chain=root)
    # A fork makes a snapshot of its own soon: its parent's will move past where it forks off.
    branch.snapped = branch.since = 0 if above is None else above.snapped
    branch.identity = branch.lasting_checksum()
    return branch


def _change(cursor: Cursor, branch: Branch) -> None:
    cursor.execute(_CHANGE_BRANCH, (*_CHANGING(branch), branch.id))


def _write(cursor: Cursor, branch: Branch, commit: Commit) -> None:
    """Write the row of a branch as it is after a commit."""
    _move(branch, commit)
    if branch.id:
        _change(cursor, branch)
        return
    row = cursor.execute(_ADD_BRANCH, (*_LASTING(branch), *_CHANGING(branch))).fetchone()
    (branch.id,) = row


def _add_commit(cursor: Cursor, branch: Branch, commit: Commit) -> None:
    """Add a commit, and a snapshot where one is due, to a branch that was moved to its end."""
    place = place_of(branch.id, commit.expected + 1)
    cursor.execute(_ADD_COMMIT, (place, commit.count, branch.chain, commit.refs, commit.body))
    if commit.blobs:
        _add_blobs(cursor, branch, commit.blobs)
    snapshot = commit.snapshot_after(branch.since, branch.snapped)
    if snapshot is not None:
        branch.since, branch.snapped = 0, _add_snapshot(cursor, branch, snapshot)
        _change(cursor, branch)


def _move(branch: Branch, commit: Commit) -> None:
    """Let the row of a branch stand at the end of a commit."""
    summary, claim = commit.summary, commit.claim
    branch.chain = link(branch.chain, commit.expected + 1, commit.count, commit.body, commit.refs)
    branch.graph, branch.status, branch.step = summary.graph, summary.status, summary.step
    branch.head, branch.pending = commit.head, len(summary.pending)
    branch.updated_at = float(commit.last_at)
    if claim is not None:
        if claim.epoch is None:
            branch.owner, branch.leased_until = claim.owner, 0.0
        branch.epoch = epoch_after(commit, branch.epoch)
    branch.checksum = branch.changing_checksum()
    branch.since += commit.weight


def _add_snapshot(cursor: Cursor, branch: Branch, snapshot: PositionSnapshot) -> int:
    place = place_of(branch.id, snapshot.sequence)
    extract = extracted(Packed(snapshot.body, snapshot.blobs))
    _add_blobs(cursor, branch, extract.blobs)
    large = len(extract.body) >= COMPRESSED_BYTES
    body = compress(extract.body, 1) if large else extract.body
    checksum = body_checksum(extract.refs.encode() + body, place)
    begin = place_of(branch.id, 0)
    cursor.execute(_DROP_SNAPSHOT, (begin, place))
    row = (place, snapshot.fingerprint, extract.refs, checksum, body)
    cursor.execute(_ADD_SNAPSHOT, row)
    return len(extract.body)


def _add_blobs(cursor: Cursor, branch: Branch, blobs: Mapping[bytes, bytes]) -> None:
    for name, body in blobs.items():
        cursor.execute(_ADD_BLOB, (name, body))
        cursor.execute(_USE_BLOB, (branch.id, name))
