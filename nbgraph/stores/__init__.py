"""State stores: one file each, one conformance suite for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nbgraph.stores.memory import InMemoryStateStore

if TYPE_CHECKING:
    from nbgraph.stores.postgres import PostgresStateStore
    from nbgraph.stores.sqlite import SQLiteStateStore

__all__ = ["InMemoryStateStore", "PostgresStateStore", "SQLiteStateStore"]


def __getattr__(name: str) -> Any:
    # sqlite3 is imported by those who use it, so that `import nbgraph` stays quick.
    if name == "SQLiteStateStore":
        from nbgraph.stores.sqlite import SQLiteStateStore

        return SQLiteStateStore
    if name == "PostgresStateStore":
        from nbgraph.stores.postgres import PostgresStateStore

        return PostgresStateStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
