"""An answer or a payload as rows of words, for reading."""

from __future__ import annotations

import json
from collections.abc import Iterator

from nbgraph.core.json_values import Json, is_object
from nbgraph.forms.answer import inputs_of
from nbgraph.forms.fields import ChoiceField, Field, ObjectField, TextField

__all__ = ["answer_rows", "payload_rows", "value_words"]

_MAX_TEXT = 2_000


def answer_rows(field: Field, value: Json) -> list[tuple[str, str]]:
    """Return the labels and values of an answer; an object's fields carry its label in front."""
    return list(_rows(field, value, ""))


def payload_rows(payload: Json) -> list[tuple[str, str]]:
    """Return the names and values of a payload that is an object; else one row without a name."""
    if not is_object(payload):
        return [("", value_words(payload))]
    return [(name, value_words(item)) for name, item in payload.items()]


def value_words(value: Json) -> str:
    """Return a value as a person reads it, cut when very long."""
    match value:
        case bool():
            text = "Yes" if value else "No"
        case str():
            text = value
        case _:
            text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _MAX_TEXT:
        return text
    return f"{text[:_MAX_TEXT]}… {len(text) - _MAX_TEXT:,} more characters"


def _rows(field: Field, value: Json, before: str) -> Iterator[tuple[str, str]]:
    label = f"{before}{field.label}"
    if not isinstance(field, ObjectField) or not is_object(value):
        yield label, _words(field, value)
        return
    inside = f"{label}: " if field.pointer else ""
    known: set[str] = set()
    for inner in field.fields:
        name = inner.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        known.add(name)
        if name in value:
            yield from _rows(inner, value[name], inside)
    yield from (
        (f"{inside}{name}", value_words(value[name])) for name in value if name not in known
    )


def _words(field: Field, value: Json) -> str:
    if isinstance(field, TextField) and field.secret:
        return "••••••"
    if isinstance(field, ChoiceField):
        index = inputs_of(field, value)[field.pointer]
        if isinstance(index, int):
            return field.options[index].label
    return value_words(value)
