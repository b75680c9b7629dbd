"""Under which import path another process finds a function, a class or a node."""

from __future__ import annotations

import importlib
from functools import reduce
from typing import Any

__all__ = ["found_at", "is_importable", "path_of"]


def path_of(thing: Any) -> str:
    """Return the path of a function or class, `"module:name"`, whether or not it leads there."""
    return f"{thing.__module__}:{thing.__qualname__}"


def found_at(module: str, name: str) -> Any:
    """Return what stands under a path.

    Raises
    ------
    ImportError, AttributeError
        If nothing does.
    """
    return reduce(getattr, name.split("."), importlib.import_module(module))


def is_importable(thing: Any) -> bool:
    """Return whether another process finds a function or class under its import path.

    A node that was made of the function, by a decorator, stands for it.
    """
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if module in (None, "__main__") or name is None or "<" in name:
        return False
    try:
        found = found_at(module, name)
    except (ImportError, AttributeError):
        return False
    return found is thing or getattr(found, "handler", None) is thing
