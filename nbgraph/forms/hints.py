"""What a form says about a field: its hint, and its error in the summary."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, assert_never

from nbgraph.core import plain_words as words
from nbgraph.core.pattern_words import pattern_words
from nbgraph.forms.answer import answer_of
from nbgraph.forms.fields import (
    BooleanField,
    Bounds,
    ChoiceField,
    ConstField,
    DecimalField,
    Field,
    IntegerField,
    JsonField,
    LaterField,
    ListField,
    MapField,
    NumberField,
    ObjectField,
    TextField,
    TupleField,
    UnionField,
)
from nbgraph.forms.inputs import Raw
from nbgraph.forms.secrets import is_secret

__all__ = ["echo", "hint", "summary"]

_MAX_TEXT = 2_000
_SHORT = (TextField, IntegerField, NumberField, DecimalField)
_FORMATS = {
    "date": "a date, for example 2026-11-29",
    "date-time": "date and time, for example 2026-11-29T12:04:00+01:00",
    "time": "a time of day, for example 12:04:00",
    "duration": "a duration, for example 1h 30m or PT1H30M",
    "email": "an e-mail address",
    "uri": "a web address",
    "uuid": "a UUID",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
}


def hint(field: Field) -> str:
    """Return what stands below a field: what it is about, and what fits."""
    parts = [field.description, *_of_kind(field), _examples(field), *_state(field)]
    return ", ".join(_cut(part.strip().rstrip(".")) for part in parts if part.strip())


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"


def summary(field: Field, error: str, raw: Raw) -> str:
    """Return an error with its label in front and, where it is text, with what was read."""
    if isinstance(raw, str) and not is_secret(field) and error.startswith("Not ") and raw.strip():
        return f"{field.label}: “{words.shown(raw)}” is not {error[4:]}"
    return f"{field.label}: {error[:1].lower()}{error[1:]}"


def _state(field: Field) -> list[str]:
    said: list[str] = []
    if field.read_only:
        said.append("set by the program")
    if field.deprecated:
        said.append("no longer used")
    return said


def _examples(field: Field) -> str:
    shown = " or ".join(words.shown(example) for example in field.examples[:2])
    return f"for example {shown}" if shown else ""


def _of_kind(field: Field) -> list[str]:
    match field:
        case IntegerField():
            return ["a whole number", *_bounds(field.bounds)]
        case NumberField() | DecimalField():
            return _bounds(field.bounds)
        case TextField():
            return _text(field)
        case JsonField():
            return [f"{field.why}, written as JSON" if field.why != "JSON" else "written as JSON"]
        case ConstField():
            return ["the only value, filled in"]
        case ListField() | MapField():
            return _counts(field)
        case BooleanField() | ChoiceField() | ObjectField() | TupleField() | UnionField():
            return []
        case LaterField():
            return []
        case _:
            assert_never(field)


def _counts(field: ListField | MapField) -> list[str]:
    """Return what entries there are; how many at most stands beside the heading."""
    item = field.item if isinstance(field, ListField) else field.value
    each = ", ".join(_of_kind(item)) if isinstance(item, _SHORT) else ""
    low = [f"{field.min_items} or more"] if field.min_items and field.max_items is None else []
    unique = ["each only once"] if isinstance(field, ListField) and field.unique else []
    return [*low, *unique, f"each {each}" if each else ""]


def echo(field: Field, raw: Raw) -> str:
    """Return how an input is read, where that does not look like what was typed."""
    if not isinstance(raw, str):
        return ""
    value = answer_of(field, raw).value
    if isinstance(field, TextField) and field.format == "duration" and value != raw:
        return f"read as {value}"
    if isinstance(field, NumberField) and isinstance(value, float) and "e" in raw.lower():
        return f"read as {Decimal(raw.strip()):,f}" if 1e-9 < abs(value) < 1e30 else ""
    return ""


def _text(field: TextField) -> list[str]:
    said: list[str] = []
    if field.format in _FORMATS:
        said.append(_FORMATS[field.format])
    if field.max_length is not None and field.max_length == field.min_length:
        said.append(words.count(field.max_length, "letter"))
    elif field.max_length is not None:
        low = f"{field.min_length:,} to" if field.min_length else "up to"
        said.append(f"{low} {words.count(field.max_length, 'letter')}")
    elif field.min_length > 1:
        said.append(words.shortest(field.min_length))
    if field.pattern and field.pattern_is_checked:
        said.append(pattern_words(field.pattern) or f"pattern {field.pattern}")
    elif field.pattern:
        said.append(f"pattern {field.pattern} (shown, not checked here)")
    return said


def _bounds(bounds: Bounds) -> list[str]:
    said: list[str] = []
    if bounds.minimum is not None and bounds.maximum is not None:
        said.append(f"{_plain(bounds.minimum)} to {_plain(bounds.maximum)}")
    elif bounds.minimum is not None:
        said.append(words.at_least(_plain(bounds.minimum)))
    elif bounds.maximum is not None:
        said.append(words.at_most(_plain(bounds.maximum)))
    if bounds.above is not None:
        said.append(words.above(_plain(bounds.above)))
    if bounds.below is not None:
        said.append(words.below(_plain(bounds.below)))
    if bounds.step is not None:
        said.append(f"steps of {_plain(bounds.step)}")
    return said


def _plain(bound: Any) -> Any:
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound
