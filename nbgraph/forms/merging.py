"""Two JSON Schemas that both hold -> one that says the same, where there is one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nbgraph.core.json_values import Json, is_array, is_object

__all__ = [
    "CONDITIONS",
    "NOTES",
    "ConflictError",
    "crossed",
    "is_left_to_the_judge",
    "is_note",
    "kinds_of",
    "merged",
    "without_notes",
]

CONDITIONS = "$conditions"
"""Where a merged schema keeps what holds only for some answers."""

NOTES = frozenset({
    *("title", "description", "default", "examples", "readOnly", "writeOnly", "deprecated"),
    *("$schema", "$id", "$comment", "$defs", "definitions", "$anchor"),
})
"""Keywords that say something about a value and do not narrow it."""

_LEFT_TO_THE_JUDGE = frozenset({
    *("not", "contains", "minContains", "maxContains", "unevaluatedProperties"),
    *("unevaluatedItems", "minProperties", "maxProperties", "$dynamicRef", "$dynamicAnchor"),
    *("pattern", "multipleOf"),
})
"""What needs no field of its own. Where two differ the first is shown, and the judge knows both."""


class ConflictError(ValueError):
    """Two schemas cannot be written as one."""


def is_note(key: str) -> bool:
    """Return whether a keyword narrows nothing."""
    return key in NOTES or key.startswith(("x-", "ui:"))


def without_notes(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a schema with what narrows it only."""
    return {key: value for key, value in schema.items() if not is_note(key)}


def kinds_of(schema: Mapping[str, Json]) -> list[str]:
    """Return the types that a schema names."""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return [kinds]
    return [kind for kind in kinds if isinstance(kind, str)] if is_array(kinds) else []


def merged(one: Mapping[str, Json], other: Mapping[str, Json]) -> dict[str, Json]:
    """Return what both say; of notes, those of the first.

    Raises
    ------
    ConflictError
        If nothing can be both, or no schema says so.
    """
    _check_closed(one, other)
    _check_closed(other, one)
    result = dict(one)
    for key, value in other.items():
        if key not in result:
            result[key] = value
        elif not is_note(key) and key not in _LEFT_TO_THE_JUDGE:
            result[key] = _both(key, result[key], value)
    return result


def _check_closed(one: Mapping[str, Json], other: Mapping[str, Json]) -> None:
    """Refuse fields that the other schema names and this one rules out."""
    own, named = one.get("properties"), other.get("properties")
    if one.get("additionalProperties") is not False or not is_object(named):
        return
    if named.keys() - (own.keys() if is_object(own) else set()):
        raise ConflictError("additionalProperties")


def _both(key: str, one: Json, other: Json) -> Json:
    if _text(one) == _text(other):
        return one
    if key in _MERGES:
        return _MERGES[key](one, other)
    raise ConflictError(key)


_JUDGED = {"required", "not", "minProperties", "maxProperties", "dependentRequired"}
_MAX_CROSSED = 24


def is_left_to_the_judge(branches: Sequence[Json]) -> bool:
    """Whether branches only say what must be there, so that there is nothing to choose."""
    return all(
        is_object(branch) and all(key in _JUDGED or is_note(key) for key in branch)
        for branch in branches
    )


def crossed(one: Json, other: Json) -> list[Json]:
    """Return the branches of two unions that both hold: each of one with each of the other.

    Raises
    ------
    ConflictError
        If they are too many.
    """
    if not (is_array(one) and is_array(other)) or len(one) * len(other) > _MAX_CROSSED:
        raise ConflictError("anyOf")
    if is_left_to_the_judge(one) or is_left_to_the_judge(other):
        return other if is_left_to_the_judge(one) else one
    return [_crossing(first, second) for first in one for second in other]


def _crossing(one: Json, other: Json) -> dict[str, Json]:
    titles = [each["title"] for each in (one, other) if is_object(each) and each.get("title")]
    title = {"title": ", ".join(map(str, titles))} if len(titles) == 2 else {}
    return {"allOf": [one, other], **title}


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _types(one: Json, other: Json) -> list[str]:
    first, second = kinds_of({"type": one}), kinds_of({"type": other})
    common = [kind for kind in first if kind in second]
    if "integer" in {*first, *second} and "number" in {*first, *second}:
        common = list(dict.fromkeys([*common, "integer"]))
    if not common:
        raise ConflictError("type")
    return common


def _options(one: Json, other: Json) -> list[Json]:
    kept = {_text(value) for value in other}
    common = [value for value in one if _text(value) in kept]
    if not common:
        raise ConflictError("enum")
    return common


def _fields(one: Json, other: Json) -> dict[str, Json]:
    if not (is_object(one) and is_object(other)):
        raise ConflictError("properties")
    both = {name: {"allOf": [one[name], other[name]]} for name in one if name in other}
    return {**one, **other, **both}


def _all_of(one: Json, other: Json) -> Json:
    if one is True or other is True:
        return other if one is True else one
    if one is False or other is False:
        return False
    return {"allOf": [one, other]}


def _together(one: Json, other: Json) -> list[Json]:
    return [*one, *(each for each in other if each not in one)]


_MERGES: dict[str, Callable[[Any, Any], Json]] = {
    "type": _types,
    "enum": _options,
    "properties": _fields,
    "patternProperties": _fields,
    "additionalProperties": _all_of,
    "items": _all_of,
    "propertyNames": _all_of,
    "required": _together,
    CONDITIONS: _together,
    "anyOf": crossed,
    "oneOf": crossed,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems"), min),
    "uniqueItems": lambda one, other: one or other,
}
