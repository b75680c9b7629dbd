"""Types as pydantic reads them: one adapter for each, built when it is first needed."""

from __future__ import annotations

import functools
import sys
import typing
from typing import Any

import typing_extensions
from pydantic import TypeAdapter

__all__ = ["adapter", "copied", "readable"]


def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return pydantic's adapter of a type, built once where the type is hashable."""
    try:
        return _cached_adapter(kind, repr(kind))
    except TypeError:  # unhashable, such as Annotated[int, Field(gt=0)]
        return TypeAdapter(readable(kind))


@functools.lru_cache(maxsize=256)
def _cached_adapter(kind: Any, spelled: str) -> TypeAdapter[Any]:  # noqa: ARG001 - part of the key
    """Build it; `bool | int` equals `int | bool`, and each is kept in its own order."""
    return TypeAdapter(readable(kind))


def readable(kind: Any) -> Any:
    """Return a type that pydantic reads: before Python 3.12, not the standard library's TypedDict.

    Only the outermost type is exchanged; a nested one has to come from `typing_extensions`.
    """
    if sys.version_info >= (3, 12) or not typing.is_typeddict(kind):
        return kind
    return copied(kind)


def copied(kind: Any) -> Any:
    """Return a TypedDict of its own with the same fields, which pydantic reads."""
    make: Any = typing_extensions.TypedDict  # made at run time, which checkers do not follow
    return make(
        kind.__name__,
        {
            name: hint if _marked(hint) else _marking(kind, name)[hint]
            for name, hint in typing.get_type_hints(kind, include_extras=True).items()
        },
    )


def _marked(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Required, typing.NotRequired)


def _marking(kind: Any, name: str) -> Any:
    return typing.Required if name in kind.__required_keys__ else typing.NotRequired
