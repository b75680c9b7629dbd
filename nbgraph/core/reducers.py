"""Reducers: how a task's update meets the value a field has.

A reducer is declared with the field, `items: Annotated[list[str], add]`. It takes the current value
(None before the first write) and the update, returns the value that follows, and changes neither.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any, cast

from nbgraph.core.quick_dataclass import dataclass
from nbgraph.errors import GraphConfigError, StateUpdateError

__all__ = [
    "GROWING",
    "SPECIAL",
    "Reducer",
    "Replace",
    "Special",
    "add",
    "grown",
    "merge_dict",
    "replace",
]

Reducer = Callable[[Any, Any], Any]
"""Takes the current value and an update; returns the value that follows."""


@dataclass(frozen=True, slots=True)
class Special:
    """What a field must know of a reducer whose updates are of another type than the field.

    Attributes
    ----------
    delta_type : function
        Takes the field's name and type, and returns the type of an update.
    completed : function
        Takes a checked update and where it stands, and returns it as it is recorded.
    difference : function
        Takes the field's name, the value before and the one after; returns the update between them.
    """

    delta_type: Callable[[str, Any], Any]
    completed: Callable[[Any, str], Any]
    difference: Callable[[str, Any, Any], Any]


SPECIAL: dict[Reducer, Special] = {}
"""Filled where such a reducer is defined, so that its types are loaded only by who uses it."""


@dataclass(frozen=True, slots=True)
class Replace:
    """Sets a field to `value`, past its reducer."""

    value: Any


def replace(current: Any, update: Any) -> Any:  # noqa: ARG001 - a reducer takes both
    """Return the update: the last value written stands.

    Parameters
    ----------
    current : Any
        What the field holds; None before its first value.
    update : Any
        What a node writes.
    """
    return update


def add(current: Any, update: Any) -> Any:
    """Return the list with the update's items at its end.

    Parameters
    ----------
    current : list or None
        What the field holds; None before its first value.
    update : list
        What a node writes.

    Raises
    ------
    StateUpdateError
        If the update is no list.
    """
    if not isinstance(update, list):
        raise StateUpdateError(f"add takes a list of items, got {update!r}; pass [{update!r}]")
    return [*(current or ()), *update]  # pyright: ignore[reportUnknownVariableType] - any items


def merge_dict(current: Any, update: Any) -> Any:
    """Return the dict with the update's keys over its own; the merge is shallow.

    Parameters
    ----------
    current : dict or None
        What the field holds; None before its first value.
    update : dict
        What a node writes.

    Raises
    ------
    StateUpdateError
        If the update is no dict.
    """
    if not isinstance(update, Mapping):
        raise StateUpdateError(f"merge_dict takes a dict, got {update!r}")
    return {**(current or {}), **update}  # pyright: ignore[reportUnknownVariableType] - any dict


GROWING: tuple[Reducer, ...] = (add, operator.add, merge_dict)
"""Those that put a list or dict into another, which takes no copy where that one is one's own."""


def grown(value: Any, update: Any) -> bool:
    """Put an update into a list or dict, in place, as one of `GROWING` would; else return False."""
    if isinstance(value, list) and isinstance(update, list):
        cast("list[Any]", value).extend(cast("list[Any]", update))
    elif isinstance(value, dict) and isinstance(update, dict):
        cast("dict[Any, Any]", value).update(cast("dict[Any, Any]", update))
    else:
        return False
    return True


def checked_reducer(field: str, candidates: list[Any]) -> Reducer | None:
    """Return the field's reducer among its annotations; None where the last value stands.

    Raises
    ------
    GraphConfigError
        If there are several, or one does not take exactly a current value and an update.
    """
    if len(candidates) > 1:
        raise GraphConfigError(f"Field {field!r} has {len(candidates)} reducers; give it one")
    if not candidates or candidates[0] is replace:
        return None
    reducer = candidates[0]
    if inspect.isclass(reducer) or not _takes_two(reducer):
        raise GraphConfigError(
            f"The reducer {reducer!r} of field {field!r} must be a function of two positional "
            "parameters, (current, update)"
        )
    return reducer


def _takes_two(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return False
    return len(parameters) == 2 and all(
        parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.default is parameter.empty
        for parameter in parameters
    )
