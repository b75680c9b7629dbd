"""The tables of a SQLite store, and how those of an earlier nbgraph become these.

A migration goes forward only, in one transaction, after a copy of the file was made.
"""

from __future__ import annotations

import sqlite3
from zlib import crc32

from nbgraph.errors import DamagedStoreError
from nbgraph.stores._chain import link, root_of
from nbgraph.stores._log import where
from nbgraph.stores._sql_read import FIND_PARENT, hash_at, parent_missing
from nbgraph.stores._sql_rows import Branch, place_of

__all__ = ["MARKS", "SCHEMA_VERSION", "TABLES", "migrate"]

SCHEMA_VERSION = 3

TABLES = (
    """CREATE TABLE branches (
        id INTEGER PRIMARY KEY,
        thread TEXT NOT NULL,
        name TEXT NOT NULL,
        parent INTEGER,
        parent_sequence INTEGER NOT NULL,
        created_at REAL NOT NULL,
        root BLOB NOT NULL,
        identity INTEGER NOT NULL,
        graph TEXT NOT NULL DEFAULT '',
        status TEXT NOT NULL DEFAULT '',
        step INTEGER NOT NULL DEFAULT 0,
        head INTEGER NOT NULL DEFAULT 0,
        pending INTEGER NOT NULL DEFAULT 0,
        updated_at REAL NOT NULL DEFAULT 0,
        chain BLOB NOT NULL,
        epoch INTEGER NOT NULL DEFAULT 0,
        owner TEXT,
        leased_until REAL NOT NULL DEFAULT 0,
        checksum INTEGER NOT NULL DEFAULT 0,
        since INTEGER NOT NULL DEFAULT 0,
        snapped INTEGER NOT NULL DEFAULT 0,
        UNIQUE (thread, name)
    )""",
    """CREATE TABLE commits (
        place INTEGER PRIMARY KEY,
        count INTEGER NOT NULL,
        hash BLOB NOT NULL,
        refs TEXT NOT NULL,
        body BLOB NOT NULL
    )""",
    """CREATE TABLE questions (
        id INTEGER PRIMARY KEY,
        branch INTEGER NOT NULL,
        key TEXT NOT NULL,
        asked INTEGER NOT NULL,
        created_at REAL NOT NULL,
        checksum INTEGER NOT NULL,
        body BLOB NOT NULL,
        UNIQUE (branch, key, asked)
    )""",
    "CREATE INDEX questions_by_age ON questions (created_at)",
    """CREATE TABLE children (
        thread TEXT NOT NULL PRIMARY KEY,
        root TEXT NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX children_by_root ON children (root)",
    """CREATE TABLE snapshots (
        place INTEGER PRIMARY KEY,
        fingerprint TEXT NOT NULL,
        refs TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        body BLOB NOT NULL
    )""",
    "CREATE TABLE blobs (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, body BLOB NOT NULL)",
    """CREATE TABLE blob_uses (
        branch INTEGER NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (branch, hash)
    ) WITHOUT ROWID""",
)

MARKS = ("PRAGMA application_id = 1851942770", "PRAGMA user_version = 3")

_ASIDE = (
    "ALTER TABLE branches RENAME TO old_branches",
    "ALTER TABLE commits RENAME TO old_commits",
    "ALTER TABLE questions RENAME TO old_questions",
    "DROP INDEX questions_by_age",
)

_COPIES = (
    """
    INSERT INTO branches (id, thread, name, parent, parent_sequence, created_at, root, identity,
        graph, status, step, head, pending, updated_at, chain, since)
    SELECT id, thread, name, parent, parent_sequence, created_at, x'', 0,
        graph, status, step, head, pending, updated_at, x'', 0
    FROM old_branches
    """,
    """
    INSERT INTO questions (id, branch, key, asked, created_at, checksum, body)
    SELECT id, branch, key, asked, created_at, checksum, CAST(body AS BLOB) FROM old_questions
    """,
)

# The first files of schema 1 are from before there were sub-graphs.
_HAS_CHILDREN = "SELECT 1 FROM sqlite_master WHERE name = 'children'"

_CHILDREN_ASIDE = ("ALTER TABLE children RENAME TO old_children",)

_COPY_CHILDREN = (
    "INSERT INTO children (thread, root) SELECT thread, root FROM old_children",
    "DROP TABLE old_children",
)

_GONE = ("DROP TABLE old_branches", "DROP TABLE old_commits", "DROP TABLE old_questions")

_OLD_BRANCHES = """
    SELECT id, thread, name, parent, parent_sequence, created_at, root, identity,
        graph, status, step, head, pending, updated_at, chain, epoch, owner, leased_until, checksum,
        since, snapped
    FROM branches ORDER BY id
"""

_OLD_COMMITS = """
    SELECT place, count, checksum, CAST(body AS BLOB) FROM old_commits
    WHERE place BETWEEN ? AND ? ORDER BY place
"""

_ADD_COMMIT = "INSERT INTO commits (place, count, hash, refs, body) VALUES (?, ?, ?, '', ?)"

_CHAIN_BRANCH = """
    UPDATE branches SET root = ?, identity = ?, chain = ?, checksum = ?, since = ? WHERE id = ?
"""

_SEAL_BRANCH = "SELECT identity, checksum FROM old_branches WHERE id = ?"


def migrate(cursor: sqlite3.Cursor) -> None:
    """Bring the tables to this schema; to be called inside a transaction.

    Raises
    ------
    DamagedStoreError
        If a row is not what was written. The file stays as it was.
    """
    if cursor.execute("PRAGMA user_version").fetchone()[0] == 1:
        _chain_commits(cursor)
    # What schema 3 has more than schema 2, values kept as bytes, stands in tables that were there:
    # an earlier nbgraph must not read them, and there is nothing to change.
    for statement in MARKS:
        cursor.execute(statement)


def _chain_commits(cursor: sqlite3.Cursor) -> None:
    """Give every commit its hash in a chain, where schema 1 had a checksum each."""
    has_children = cursor.execute(_HAS_CHILDREN).fetchone() is not None
    aside, copies = (_CHILDREN_ASIDE, _COPY_CHILDREN) if has_children else ((), ())
    for statement in (*_ASIDE, *aside, *TABLES, *_COPIES, *copies):
        cursor.execute(statement)
    # A branch is made after its parent, so that its parent's hashes are there.
    for row in cursor.execute(_OLD_BRANCHES).fetchall():
        _chain_branch(cursor, Branch(*row))
    for statement in _GONE:
        cursor.execute(statement)


def _chain_branch(cursor: sqlite3.Cursor, branch: Branch) -> None:
    _require_sealed(cursor, branch)
    branch.root = root_of(branch.thread, branch.name, *_parent_of(cursor, branch))
    branch.chain, begin = branch.root, place_of(branch.id, 0)
    values = (begin, place_of(branch.id + 1, 0) - 1)
    for place, count, checksum, body in cursor.execute(_OLD_COMMITS, values).fetchall():
        if crc32(body, crc32(repr((place, count)).encode())) != checksum:
            raise DamagedStoreError(
                where(branch.thread, branch.name, place - begin), "it is not what was written"
            )
        branch.chain = link(branch.chain, place - begin, count, body)
        branch.since += len(body)
        cursor.execute(_ADD_COMMIT, (place, count, branch.chain, body))
    lasting, changing = branch.lasting_checksum(), branch.changing_checksum()
    sealed = (branch.root, lasting, branch.chain, changing, branch.since, branch.id)
    cursor.execute(_CHAIN_BRANCH, sealed)


def _require_sealed(cursor: sqlite3.Cursor, branch: Branch) -> None:
    lasting = (branch.thread, branch.name, branch.parent, branch.parent_sequence, branch.created_at)
    summary = (branch.graph, branch.status, branch.step, branch.head)
    changing = (*summary, branch.pending, branch.updated_at)
    sums = tuple(crc32(repr(values).encode()) for values in (lasting, changing))
    if cursor.execute(_SEAL_BRANCH, (branch.id,)).fetchone() != sums:
        place = where(branch.thread, branch.name, branch.head)
        raise DamagedStoreError(place, "the row of the branch is not what was written")


def _parent_of(cursor: sqlite3.Cursor, branch: Branch) -> tuple[bytes, int]:
    if branch.parent is None:
        return b"", 0
    row = cursor.execute(FIND_PARENT, (branch.parent,)).fetchone()
    if row is None:
        raise parent_missing(branch)
    at = branch.parent_sequence
    return hash_at(cursor, Branch(*row).checked(), at), at
