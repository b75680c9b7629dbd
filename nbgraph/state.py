"""State types, reducers, and what is kept of threads: the names that concern the state alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nbgraph.core.messages import RemoveMessage, add_messages
from nbgraph.core.queries import History, StateSnapshot
from nbgraph.core.reducers import Reducer, Replace, add, merge_dict, replace
from nbgraph.core.schema import BaseState, StateSchema
from nbgraph.core.store import BranchRecord, StateStore
from nbgraph.stores.memory import InMemoryStateStore

if TYPE_CHECKING:
    from nbgraph.stores.sqlite import SQLiteStateStore as FilesystemStateStore

__all__ = [
    "BaseState",
    "BranchRecord",
    "FilesystemStateStore",
    "History",
    "InMemoryStateStore",
    "Reducer",
    "RemoveMessage",
    "Replace",
    "StateSchema",
    "StateSnapshot",
    "StateStore",
    "add",
    "add_messages",
    "merge_dict",
    "replace",
]


def __getattr__(name: str) -> Any:
    if name != "FilesystemStateStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nbgraph.stores.sqlite import SQLiteStateStore

    return SQLiteStateStore  # a store in one file, which is what the name says
