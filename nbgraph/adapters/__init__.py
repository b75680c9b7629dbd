"""Graphs of other engines, each as a `Driver`; found by their type, and imported when first met.

An adapter keeps no second copy of a thread: its events are made of what the engine says and keeps.
What all of them do is in `nbgraph.adapters.driver`, what an engine must do in
`nbgraph.adapters.engine`; `register` makes another engine known.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

from nbgraph.core.driver import Driver, Shape

__all__ = ["Adapter", "adapter_of", "register"]

_ENGINES = {
    ("langgraph", "Pregel"): "nbgraph.adapters.langgraph",
    ("tenxgraph", "CompiledGraph"): "nbgraph.adapters.agentflow",
}


class Adapter(Protocol):
    """What an adapter gives, a module or an object."""

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
        if kind in _registered:
            return _registered[kind]
        name = _ENGINES.get((kind.__module__.partition(".")[0], kind.__name__))
        if name is not None:
            return cast("Adapter", import_module(name))
    return None


_registered: dict[type, Adapter] = {}


def register(kind: type, adapter: Adapter) -> None:
    """Have `Panel`, `draw`, `play` and `open_session` take graphs of a type.

    Parameters
    ----------
    kind : type
        The type; one that derives from it counts too.
    adapter : module or object
        What has `shape_of(app)` and `open_thread(app, thread_id, branch_id, context)`.
    """
    _registered[kind] = adapter
