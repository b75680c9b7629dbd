"""Frozen values that are kept as JSON, and a quick way to make one of values that fit."""

# Annotations are evaluated as they stand, as in `events.py`.

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticUndefined

__all__ = ["ErrorInfo", "Record", "Route", "empty", "made", "made_of"]

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with str keys."""


class Record(BaseModel):
    """A frozen value that is kept as JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def empty() -> dict[str, Any]:
    """Return a dict with nothing in it: as a default, ten times as quick as `dict[str, Any]()`."""
    return {}


R = TypeVar("R", bound=Record)
_new: Callable[[type[Any]], Any] = object.__new__
_SLOTS: Mapping[str, Any] = vars(BaseModel)
_set_fields = _SLOTS["__dict__"].__set__
_set_given = _SLOTS["__pydantic_fields_set__"].__set__
_set_extra = _SLOTS["__pydantic_extra__"].__set__
_set_private = _SLOTS["__pydantic_private__"].__set__


def made(kind: type[R], **values: Any) -> R:
    """Return a record of values that fit, without checking them; it equals a checked one.

    For what the runtime itself has just checked or computed, a few times a task. Every value must
    be of its field's type as it stands, with tuples where the record has tuples, and owned by the
    record. A record with private attributes is made by its class.
    """
    return made_of(kind, values)


def made_of(kind: type[R], values: dict[str, Any]) -> R:
    """Return what `made` does, of values by name."""
    fixed, factories = _blank(kind)
    contents = fixed | values
    for name, factory in factories:
        if contents[name] is PydanticUndefined:
            contents[name] = factory()
    record = _new(kind)
    _set_fields(record, contents)
    _set_given(record, set(values))
    _set_extra(record, None)
    _set_private(record, None)
    return record


@functools.cache
def _blank(kind: type[Record]) -> tuple[dict[str, Any], tuple[tuple[str, Any], ...]]:
    """Return a record's fields in order, with their fixed defaults, and those that are computed."""
    fields = kind.model_fields
    factories = tuple(
        (name, info.default_factory) for name, info in fields.items() if info.default_factory
    )
    return {name: info.default for name, info in fields.items()}, factories


class ErrorInfo(Record):
    """An error as it is kept: its type's name, its message, and its traceback as text."""

    type: str
    message: str
    traceback: str = ""


class Route(Record):
    """Where a node leads by its own word; `node` is a node's name or `END`."""

    node: str
    payload: dict[str, Json] | None = None
