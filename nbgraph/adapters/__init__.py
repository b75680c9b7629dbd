"""Graphs of other engines, each as a `Driver`; found by their type, and imported when first met.

An adapter keeps no second copy of a thread: its events are made of what the engine says and keeps.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

from nbgraph.core.driver import Driver, Shape

__all__ = ["Adapter", "adapter_of"]

_ENGINES = {
    ("langgraph", "Pregel"): "nbgraph.adapters.langgraph",
    ("tenxgraph", "CompiledGraph"): "nbgraph.adapters.agentflow",
}


class Adapter(Protocol):
    """What an adapter's module gives."""

    def shape_of(self, app: Any) -> Shape:
        """Return the structure of `app`, for a drawing."""
        ...

    def open_thread(
        self, app: Any, thread_id: str, branch_id: str, context: Any
    ) -> tuple[Driver, str | None]:
        """Return the driver of a thread of `app`, and what a person should know about it."""
        ...


def adapter_of(app: Any) -> Adapter | None:
    """Return the adapter for a compiled graph of another engine; None if there is none."""
    for kind in type(app).__mro__:
        name = _ENGINES.get((kind.__module__.partition(".")[0], kind.__name__))
        if name is not None:
            return cast("Adapter", import_module(name))
    return None
