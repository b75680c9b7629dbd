"""Which driver runs an app: a `Graph` brings its own, and other engines have adapters."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from nbgraph.adapters import adapter_of
from nbgraph.core.context import NOT_PROVIDED
from nbgraph.core.driver import Driver
from nbgraph.core.graph import Graph
from nbgraph.core.store import StateStore
from nbgraph.errors import GraphConfigError
from nbgraph.stores import InMemoryStateStore

__all__ = ["driver_for"]


def driver_for(
    app: Any, thread_id: str | None, branch_id: str, store: StateStore | None, context: Any
) -> tuple[Driver, str | None]:
    """Return the driver for a graph's thread, and what a person should know about it."""
    if not isinstance(app, Graph):
        return _adapted(app, thread_id, branch_id, store, context)
    notice = None
    kept = store or app.state_store
    if kept is None:
        kept, notice = InMemoryStateStore(), "Kept in memory only: gone when the kernel stops."
    given = NOT_PROVIDED if context is None else context
    name = thread_id or f"{app.name}-{uuid4().hex[:6]}"
    return app.thread(name, branch_id=branch_id, state_store=kept, context=given), notice


def _adapted(
    app: Any, thread_id: str | None, branch_id: str, store: StateStore | None, context: Any
) -> tuple[Driver, str | None]:
    adapter = adapter_of(app)
    if adapter is None and callable(getattr(app, "compile", None)):
        name = type(app).__qualname__
        raise GraphConfigError(f"This {name} is not compiled; pass what its compile() returns")
    if adapter is None:
        raise GraphConfigError(
            f"There is no driver for {type(app).__qualname__}; pass a Graph, or a compiled graph "
            "of LangGraph or AgentFlow"
        )
    if store is not None:
        raise GraphConfigError(
            f"A {type(app).__qualname__} keeps its threads itself; leave store= out, and compile "
            "it with a checkpointer"
        )
    return adapter.open_thread(app, thread_id or f"thread-{uuid4().hex[:6]}", branch_id, context)
