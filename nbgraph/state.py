"""State types, reducers, and what is kept of threads: the names that concern the state alone."""

from __future__ import annotations

from nbgraph.core.messages import RemoveMessage, add_messages
from nbgraph.core.queries import StateSnapshot
from nbgraph.core.reducers import Reducer, Replace, add, merge_dict, replace
from nbgraph.core.schema import BaseState, StateSchema
from nbgraph.core.store import BranchRecord, StateStore
from nbgraph.stores.memory import InMemoryStateStore

__all__ = [
    "BaseState",
    "BranchRecord",
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
