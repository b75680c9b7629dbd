"""Judges an answer by a Python type: pydantic in strict JSON mode, problems in plain words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from pydantic import ValidationError

from nbgraph.core import plain_words as words
from nbgraph.core.formats import format_problem
from nbgraph.core.json_values import Json, is_array, is_object, pointer
from nbgraph.core.type_adapters import adapter

__all__ = ["NotValidError", "validated"]

_VALIDATOR_BUGS = (LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What a validator written by the user may raise that pydantic does not turn into an error."""


class NotValidError(ValueError):
    """An answer does not fit a type; `problems` says why, by JSON Pointer."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        self.problems = dict(problems)
        super().__init__("; ".join(problems.values()))


def validated(kind: Any, answer: Json) -> Any:
    """Return an answer as its type.

    Strict JSON: `"3"` is no int and 1.0 is none either, a date is ISO text.

    Raises
    ------
    NotValidError
        With one problem a path.
    """
    try:
        return adapter(kind).validate_json(json.dumps(answer), strict=True)
    except ValidationError as error:
        raise NotValidError(_problems(error, answer)) from error
    except _VALIDATOR_BUGS as error:
        problem = f"The check of this answer failed: {type(error).__name__}: {error}"
        raise NotValidError({"": problem}) from error


def _problems(error: ValidationError, answer: Json) -> dict[str, str]:
    told: dict[str, list[str]] = {}
    for detail in error.errors(include_url=False):
        messages = told.setdefault(pointer(_path(detail, answer)), [])
        message = _in_words(detail)
        if message not in messages:
            messages.append(message)
    return {path: ", or: ".join(messages[:3]) for path, messages in told.items()}


# --- paths ----------------------------------------------------------------------------------


def _path(detail: Mapping[str, Any], answer: Json) -> tuple[str | int, ...]:
    """Return where in the answer an error is.

    pydantic puts union tags, function names and `[key]` between the keys of the answer. Of the
    ways to read its `loc` as a path the first that ends at the value it complains about is right.
    """
    loc: tuple[str | int, ...] = detail["loc"]
    kind: str = detail["type"]
    if kind == "missing" and loc:
        loc, missing = loc[:-1], loc[-1:]
    else:
        missing = ()
    readings = list(islice(_readings(loc, answer), 64))
    path = next((path for path, value in readings if value is detail["input"]), None)
    if path is None:
        path = next((p for p, value in readings if value == detail["input"]), readings[0][0])
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        return (*path, *_tag_field(detail))
    return (*path, *missing)


def _readings(
    loc: tuple[str | int, ...], value: Json
) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield the paths into `value` that `loc` may mean, longest first."""
    if not loc:
        yield (), value
        return
    first, rest = loc[0], loc[1:]
    if _steps_into(first, value):
        for path, end in _readings(rest, value[first]):
            yield (first, *path), end
    yield from _readings(rest, value)


def _steps_into(part: str | int, value: Json) -> bool:
    if is_object(value):
        return part in value
    return is_array(value) and isinstance(part, int) and 0 <= part < len(value)


def _tag_field(detail: Mapping[str, Any]) -> tuple[str, ...]:
    name = str(detail.get("ctx", {}).get("discriminator", "")).strip("'")
    return (name,) if name.isidentifier() else ()


# --- words ----------------------------------------------------------------------------------


def _in_words(detail: Mapping[str, Any]) -> str:
    kind: str = detail["type"]
    context: Mapping[str, Any] = detail.get("ctx", {})
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _WITH_CONTEXT:
        return _WITH_CONTEXT[kind](context)
    for prefix, message in _FAMILIES.items():
        if kind.startswith(prefix):
            return message
    return _own_words(detail)


def _own_words(detail: Mapping[str, Any]) -> str:
    """Return the words of a validator the user wrote, or pydantic's."""
    if detail["type"] in {"value_error", "assertion_error"}:
        return str(detail["ctx"]["error"])
    return str(detail["msg"])


def _format_words(name: str) -> str:
    return format_problem(name, "") or name


def _options(context: Mapping[str, Any]) -> str:
    expected = str(context.get("expected", context.get("expected_tags", "")))
    return f"Choose one of: {expected.replace(' or ', ', ').replace(chr(39), '')}"


_PLAIN: dict[str, str] = {
    "missing": words.FILL_IN,
    "extra_forbidden": words.NO_SUCH_FIELD,
    "unexpected_keyword_argument": words.NO_SUCH_FIELD,
    "none_required": words.not_a("null"),
    "int_from_float": words.not_a("integer"),
    "string_type": words.not_a("string"),
    "union_tag_not_found": words.FILL_IN,
    "recursion_loop": "It contains itself",
}

_WITH_CONTEXT: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "string_too_short": lambda context: words.shortest(context["min_length"]),
    "string_too_long": lambda context: words.longest(context["max_length"]),
    "string_pattern_mismatch": lambda context: words.shaped(context["pattern"]),
    "greater_than": lambda context: words.above(_bound(context["gt"])),
    "greater_than_equal": lambda context: words.at_least(_bound(context["ge"])),
    "less_than": lambda context: words.below(_bound(context["lt"])),
    "less_than_equal": lambda context: words.at_most(_bound(context["le"])),
    "multiple_of": lambda context: words.steps(_bound(context["multiple_of"])),
    "too_short": lambda context: words.at_least(context["min_length"]),
    "too_long": lambda context: words.at_most(context["max_length"]),
    "literal_error": _options,
    "enum": _options,
    "union_tag_invalid": _options,
}

_FAMILIES: dict[str, str] = {
    "bool_": words.YES_OR_NO,
    "int_": words.not_a("integer"),
    "float_": words.not_a("number"),
    "decimal_type": words.not_a("number"),
    "decimal_parsing": words.not_a("number"),
    "finite_number": words.not_a("number"),
    "datetime_from": _format_words("date-time"),
    "datetime_parsing": _format_words("date-time"),
    "datetime_type": _format_words("date-time"),
    "date_parsing": _format_words("date"),
    "date_type": _format_words("date"),
    "date_from": _format_words("date"),
    "time_parsing": _format_words("time"),
    "time_type": _format_words("time"),
    "time_delta_parsing": _format_words("duration"),
    "time_delta_type": _format_words("duration"),
    "uuid_": _format_words("uuid"),
    "url_": _format_words("uri"),
    "list_type": words.not_a("array"),
    "tuple_type": words.not_a("array"),
    "set_type": words.not_a("array"),
    "frozen_set_type": words.not_a("array"),
    "dict_type": words.not_a("object"),
    "model_type": words.not_a("object"),
    "model_attributes_type": words.not_a("object"),
    "dataclass_type": words.not_a("object"),
}


def _bound(value: Any) -> Any:
    """Return a bound as it was written: 0, not 0.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
