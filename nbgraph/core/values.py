"""Values as JSON and back: equal and of the same type, or refused with their path."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections import deque
from collections.abc import Mapping
from datetime import datetime, time
from typing import Any, TypeGuard, cast

from pydantic import BaseModel

from nbgraph.core.blob import Blob, blob_of, codec_for, has_codec
from nbgraph.errors import StateStoreError

__all__ = ["DEPTH_LIMIT", "IMMUTABLE", "fresh", "plain_copy", "same"]

DEPTH_LIMIT = 150
"""How deep a kept value may be nested."""
_DIGIT_LIMIT = 4300
_BIT_LIMIT = int(_DIGIT_LIMIT * math.log2(10))
IMMUTABLE = frozenset((str, int, float, bool, type(None), bytes, Blob))
"""Types whose values may be shared."""


def plain_copy(value: Any, path: str, depth: int = 0) -> Any:
    """Return a copy of a value that is JSON as it stands, with blobs for what is kept as bytes.

    Raises
    ------
    StateStoreError
        If a part would not come back equal and of the same type; the message has its path and
        type, never the value.
    """
    kind = type(value)  # pyright: ignore[reportUnknownVariableType] - any value
    if kind is bool or value is None:
        return value
    if kind is str:
        return _checked_text(value, path)
    if kind is int:
        return value if value.bit_length() <= _BIT_LIMIT else _refused(path, "int", "4,300 digits")
    if kind is float:
        return value if math.isfinite(value) else _refused(path, "float", "finite numbers")
    if depth >= DEPTH_LIMIT:
        return _refused(path, kind.__name__, f"{DEPTH_LIMIT} levels")
    if kind is list:
        return [plain_copy(item, f"{path}/{at}", depth + 1) for at, item in enumerate(value)]
    if kind is dict:
        return {
            _checked_key(key, path): plain_copy(item, f"{path}/{key}", depth + 1)
            for key, item in value.items()
        }
    if has_codec(kind):
        return blob_of(value, path)
    raise StateStoreError(
        f"{path} holds a {kind.__qualname__}, which does not come back from JSON as it was; "
        "declare the field with its type, or store str, int, float, bool, None, list or dict"
    )


def _checked_text(value: str, path: str) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise StateStoreError(f"{path} holds text with a lone surrogate") from None
    return value


def _checked_key(key: Any, path: str) -> str:
    if type(key) is not str:
        raise StateStoreError(f"{path} has a key of type {type(key).__qualname__}; use str keys")
    return _checked_text(key, path)


def _refused(path: str, kind: str, limit: str) -> Any:
    raise StateStoreError(f"{path} holds a {kind} beyond what is kept ({limit})")


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal with equal types, all the way down."""
    if left is right:
        return True
    if left.__class__ is not right.__class__:
        return False
    if isinstance(left, BaseModel):
        return same(_contents(left), _contents(right))
    if _is_dict(left):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - any items
    if left.__class__ in IMMUTABLE:
        return bool(left == right)
    codec = codec_for(left.__class__)
    if codec is not None:
        return codec.same(left, right)
    if dataclasses.is_dataclass(left):
        return same(_fields(left), _fields(right))
    return bool(left == right) and _unsaid(left) == _unsaid(right)


def _unsaid(value: Any) -> Any:
    """Return what `==` does not ask of a value, and that is part of it all the same.

    Those are the sign of a zero, the second of two equal times, and how long a deque may become. A
    zone whose offset changes is told by itself, since of equal times each may have another.
    """
    match value:
        case complex():
            return repr(value)
        case datetime() | time():
            zone = value.tzinfo
            changes = zone is not None and zone.utcoffset(None) is None
            return (value.fold, repr(zone) if changes else None)
        case deque():
            return value.maxlen, [*map(type, cast("deque[Any]", value))]
        case _:
            return None


def _fields(value: Any) -> dict[str, Any]:
    return {one.name: getattr(value, one.name, None) for one in dataclasses.fields(value)}


def _contents(model: BaseModel) -> dict[str, Any]:
    return {**model.__dict__, **(model.__pydantic_extra__ or {})}


def _is_dict(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, dict)


def fresh(value: Any) -> Any:
    """Return a value that can be changed in place without changing the given one."""
    kind = type(value)  # pyright: ignore[reportUnknownVariableType] - any value
    if kind in IMMUTABLE:
        return value
    if kind is list:
        return [item if type(item) in IMMUTABLE else fresh(item) for item in value]
    if kind is dict:
        return {key: fresh(item) for key, item in value.items()}
    return copy.deepcopy(value)
