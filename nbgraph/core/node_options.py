"""What `@node` takes beside a function: options that are checked where they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from nbgraph.core.node_cache import NodeCache

__all__ = ["OnError", "checked_cache", "checked_effect", "checked_on_error"]

OnError = Callable[[Any, Exception], Any] | Literal["ask"]
"""What stands in for a node that fails: a function of the state and the error, or a person."""


def checked_on_error(on_error: Any, effect: Any) -> OnError | None:
    """Return what stands in for a node that fails, if that is something that can.

    Raises
    ------
    TypeError
        If it is not.
    """
    if not (on_error is None or on_error == "ask" or callable(on_error)):
        raise TypeError(f"on_error is a function of state and error, or 'ask', got {on_error!r}")
    if on_error is not None and effect is not None:
        raise TypeError("A node with effect='once' asks by itself; leave on_error= out")
    return on_error


def checked_cache(cache: Any, effect: Any) -> NodeCache | None:
    """Return what keeps a node's results, if a node with such an effect may have it.

    Raises
    ------
    TypeError
        If it is not.
    """
    if not (cache is None or isinstance(cache, NodeCache)):
        raise TypeError(f"cache takes a NodeCache, got {cache!r}; NodeCache(ttl=60), for example")
    if cache is not None and effect is not None:
        raise TypeError("A node with effect='once' has an effect each time; leave cache= out")
    return cache


def checked_effect(effect: Any, retry: Any) -> Literal["once"] | None:
    """Return how often a node may run for a task, if it is a word for that.

    Raises
    ------
    TypeError
        If it is not.
    """
    if effect not in (None, "once"):
        raise TypeError(f"effect is 'once' or None, got {effect!r}")
    if effect is not None and retry is not None:
        raise TypeError("A node with effect='once' is not tried again; leave retry= out")
    return effect
