"""How large a store is, and what of it can be made again or is not needed."""

from __future__ import annotations

from nbgraph.core.store import StoreSize
from nbgraph.stores._sql_rows import Cursor

__all__ = ["drop_caches", "measure"]

_COUNT = """
    SELECT (SELECT count(*) FROM branches WHERE name = 'main')
            - (SELECT count(*) FROM children),
        (SELECT count(*) FROM branches),
        (SELECT count(*) FROM commits), (SELECT coalesce(sum(length(body)), 0) FROM commits),
        (SELECT coalesce(sum(length(body)), 0) FROM snapshots),
        (SELECT count(*) FROM blobs), (SELECT coalesce(sum(length(body)), 0) FROM blobs)
"""

_PRUNE = (
    "DELETE FROM blob_uses WHERE branch NOT IN (SELECT id FROM branches)",
    "DELETE FROM blobs WHERE hash NOT IN (SELECT hash FROM blob_uses)",
    "DELETE FROM snapshots",
    "UPDATE branches SET since = 0, snapped = 0",
)


def measure(cursor: Cursor) -> StoreSize:
    """Return what a store holds, in rows and bytes."""
    return StoreSize(*map(int, cursor.execute(_COUNT).fetchone()))


def drop_caches(cursor: Cursor) -> None:
    """Remove snapshots, which are made again, and large values that nothing refers to."""
    for statement in _PRUNE:
        cursor.execute(statement)
