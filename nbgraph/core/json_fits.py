"""Sees that an answer fits a JSON Schema where that is plain, without a library.

The library takes 70 ms to import, which the first answer in a process would wait for. Only what is
beyond doubt is said to fit; of all else, and of what does not fit, the library tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from nbgraph.core.json_values import Json, is_array, is_object

__all__ = ["plainly_fits"]

_STEPS = 2_000
"""How many places are looked at; the library judges what has more, within its budget."""

_DEFS = "#/$defs/"

_SAYS_NOTHING = frozenset((
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$defs",
))


def plainly_fits(schema: Mapping[str, Json], answer: Json) -> bool:
    """Return whether an answer surely fits; False where that takes more to tell."""
    try:
        return _Look(schema).fits(schema, answer)
    except (RecursionError, _NowhereError):
        return False


class _NowhereError(LookupError):
    """A schema refers to what is not found; the library says so, whatever else would fit."""


class _Look:
    """One look at an answer."""

    def __init__(self, document: Mapping[str, Json]) -> None:
        self._document = document
        self._left = _STEPS

    def fits(self, schema: Json, value: Json) -> bool:
        self._left -= 1
        if self._left < 0 or not is_object(schema):
            return False
        return all(
            name in _SAYS_NOTHING or self._holds(name, told, schema, value)
            for name, told in schema.items()
        )

    def _holds(self, name: str, told: Json, schema: Mapping[str, Json], value: Json) -> bool:
        """Return whether a keyword surely holds."""
        match name:
            case "type":
                return isinstance(told, str) and told in _TYPES and _TYPES[told](value)
            case "enum":
                return is_array(told) and any(_is(one, value) for one in told)
            case "const":
                return _is(told, value)
            case "anyOf":
                return is_array(told) and any(self.fits(one, value) for one in told)
            case "$ref":
                return self._refers(told, value)
            case "items":
                return is_array(value) and all(self.fits(told, item) for item in value)
            case "required":
                return is_array(told) and is_object(value) and all(key in value for key in told)
            case "properties":
                return self._has_properties(told, value)
            case "additionalProperties":
                return self._has_no_more(told, schema.get("properties"), value)
            case _:
                return False

    def _refers(self, told: Json, value: Json) -> bool:
        defs = self._document.get("$defs")
        found = told.removeprefix(_DEFS) if isinstance(told, str) else None
        if not is_object(defs) or found not in defs:
            raise _NowhereError
        return self.fits(defs[found], value)

    def _has_properties(self, told: Json, value: Json) -> bool:
        if not (is_object(told) and is_object(value)):
            return False
        return all(self.fits(told[key], value[key]) for key in told.keys() & value.keys())

    def _has_no_more(self, told: Json, properties: Json, value: Json) -> bool:
        if not is_object(value):
            return False
        known = properties if is_object(properties) else {}
        return told is True or value.keys() <= known.keys()


def _is(left: Json, right: Json) -> bool:
    """Return whether two values are the same text, number or truth value beyond doubt."""
    return type(left) is type(right) and type(left) in (str, int, bool) and left == right


def _is_null(value: Any) -> bool:
    return value is None


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "null": _is_null,
    "boolean": lambda value: type(value) is bool,
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) is int or (type(value) is float and isfinite(value)),
    "array": lambda value: type(value) is list,
    "object": lambda value: type(value) is dict,
}
