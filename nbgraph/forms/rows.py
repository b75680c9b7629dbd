"""An answer or a payload as rows of words, for reading."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from nbgraph.core.json_values import Json, is_array, is_object
from nbgraph.forms.answer import shown_fields
from nbgraph.forms.fields import (
    ChoiceField,
    ConstField,
    Field,
    LaterField,
    ListField,
    MapField,
    ObjectField,
    TextField,
    TupleField,
    UnionField,
    fields_of,
)
from nbgraph.forms.filling import inputs_of
from nbgraph.forms.inputs import Parts, Picked, Raw
from nbgraph.forms.secrets import MASK, is_secret

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
    yield from _rows_of(field, inputs_of(field, value), value, before)


def _rows_of(field: Field, raw: Raw, value: Json, before: str) -> Iterator[tuple[str, str]]:
    label = f"{before}{field.label}"
    match field:
        case ObjectField() if isinstance(raw, Parts) and is_object(value):
            yield from _object_rows(shown_fields(field, raw), value, before)
        case ListField() if is_array(value) and value and not _is_plain(field.item):
            for index, item in enumerate(value):
                yield from _rows(replace(field.item, label=f"{label} {index + 1}"), item, "")
        case TupleField() if is_array(value) and len(value) == len(field.items):
            for inner, item in zip(field.items, value, strict=True):
                yield from _rows(inner, item, f"{label}: ")
        case MapField() if is_object(value) and value:
            for name in value:
                yield from _rows(replace(field.value, label=f"{label}: {name}"), value[name], "")
        case UnionField() if isinstance(raw, Picked):
            branch = field.branches[raw.index].field
            yield from _rows_of(replace(branch, label=field.label, name=field.name), raw.raw,
                                value, before)  # fmt: skip
        case LaterField() if raw is not None:
            yield from _rows_of(replace(field.opened(), label=field.label), raw, value, before)
        case _:
            yield label, _words(field, raw, value)


def _object_rows(
    field: ObjectField, value: dict[str, Json], before: str
) -> Iterator[tuple[str, str]]:
    inside = f"{before}{field.label}: " if field.name or before else ""
    known = {inner.name for inner in field.fields}
    for inner in field.fields:
        if inner.name in value and not (isinstance(inner, ConstField) and inner.hidden):
            yield from _rows(inner, value[inner.name], inside)
    yield from (
        (f"{inside}{name}", value_words(value[name])) for name in value if name not in known
    )


def _is_plain(field: Field) -> bool:
    """Whether entries are short enough to stand in one row."""
    if isinstance(field, TextField):
        return not (field.secret or field.multiline)
    return not isinstance(
        field, ObjectField | ListField | TupleField | MapField | UnionField | LaterField
    )


def _words(field: Field, raw: Raw, value: Json) -> str:
    if any(map(is_secret, fields_of(field))):
        return MASK
    if isinstance(field, ChoiceField) and isinstance(raw, int):
        return field.options[raw].label
    if isinstance(field, ListField) and is_array(value) and value:
        return ", ".join(_words(field.item, inputs_of(field.item, item), item) for item in value)
    return value_words(value)
