"""What a person typed -> the answer, and an answer -> what stands in the inputs.

Inputs are kept by the pointer of their field: text as typed, the index of an option, yes or no.
`None` is a ticked "no value (null)", `UNSET` is untouched or cleared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as datafield
from typing import assert_never

from nbgraph.core import plain_words as words
from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.json_values import Json, is_object
from nbgraph.forms.fields import (
    BooleanField,
    ChoiceField,
    ConstField,
    DecimalField,
    Field,
    IntegerField,
    JsonField,
    NumberField,
    ObjectField,
    TextField,
)
from nbgraph.forms.parsing import (
    parse_decimal,
    parse_integer,
    parse_json,
    parse_number,
    text_error,
)

__all__ = ["Given", "Misfit", "Raw", "Reading", "answer_of", "fits", "inputs_of", "untouched"]


@dataclass(frozen=True, slots=True)
class Misfit:
    """A value that its field cannot show: kept as it is. What is wrong with it, the judge says."""

    value: Json


@dataclass(frozen=True, slots=True)
class Given:
    """An object that is there even if none of its fields is filled in, with its other fields."""

    others: Mapping[str, Json] = datafield(default_factory=dict[str, Json])


Raw = str | int | float | bool | None | Unset | Misfit | Given
"""What stands in one input."""

Inputs = Mapping[str, Raw]


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer as far as it is there.

    `value` is UNSET while a required part is missing; `partial` has what is filled in already.
    `errors` is by pointer, a missing part at its own place; `missing` are those places. What a
    field cannot know (rules between fields, values it cannot show) the judge has to say.
    """

    value: Json | Unset
    partial: Json | Unset
    errors: Mapping[str, str]
    missing: frozenset[str]


def answer_of(field: Field, inputs: Inputs) -> Reading:
    """Return the answer that stands in the inputs."""
    part = _read(field, inputs)
    return Reading(UNSET if part.missing else part.value, part.value, part.errors, part.missing)


def inputs_of(field: Field, value: Json | Unset) -> dict[str, Raw]:
    """Return the inputs that stand for an answer: reading them gives it back, equally typed."""
    if not isinstance(field, ObjectField):
        return {field.pointer: _absent(field) if value is UNSET else _raw(field, value)}
    if value is UNSET:
        return {**_untouched_fields(field), field.pointer: UNSET}
    if value is None and field.nullable:
        return {**_untouched_fields(field), field.pointer: None}
    if not is_object(value):
        return {**_untouched_fields(field), field.pointer: Misfit(value)}
    names = {_name(inner): inner for inner in field.fields}
    others = {name: item for name, item in value.items() if name not in names}
    inputs: dict[str, Raw] = {field.pointer: Given(others)}
    for name, inner in names.items():
        inputs |= inputs_of(inner, value.get(name, UNSET))
    return inputs


def untouched(field: Field) -> dict[str, Raw]:
    """Return the inputs of a form nobody has touched: unset, save for the schema's defaults."""
    if not isinstance(field.default, Unset):
        return inputs_of(field, field.default)
    return inputs_of(field, UNSET)


def fits(field: Field, value: Json) -> bool:
    """Return whether a value is a good one for a field, as far as the field can tell."""
    inputs = inputs_of(field, value)
    misfits = any(isinstance(raw, Misfit) for raw in inputs.values())
    return not misfits and not answer_of(field, inputs).errors


def _untouched_fields(field: ObjectField) -> dict[str, Raw]:
    inputs: dict[str, Raw] = {}
    for inner in field.fields:
        inputs |= untouched(inner)
    return inputs


def _absent(field: Field) -> Raw:
    """Return the input of a value that is not there; a const that must be there is."""
    return True if isinstance(field, ConstField) and field.required else UNSET


def _name(field: Field) -> str:
    last = field.pointer.rpartition("/")[2]
    return last.replace("~1", "/").replace("~0", "~")


# --- value -> input ---------------------------------------------------------------------------


def _raw(field: Field, value: Json) -> Raw:
    if value is None and not isinstance(field, ChoiceField | ConstField | JsonField):
        return None if field.nullable else Misfit(None)
    match field:
        case ChoiceField():
            return _index(field, value)
        case ConstField():
            return True if _text_of(value) == _text_of(field.value) else Misfit(value)
        case JsonField():
            return _json_text(value)
        case _:
            return _raw_if_fit(field, value)


def _raw_if_fit(field: Field, value: Json) -> Raw:
    match field:
        case BooleanField() if isinstance(value, bool):
            return value
        case TextField() if isinstance(value, str):
            return value
        case IntegerField() if _is_integer(value):
            return str(value)
        case NumberField() if _is_number(value):
            return _text_of(value)
        case DecimalField() if isinstance(value, str) or _is_number(value):
            return value
        case _:
            return Misfit(value)


def _index(field: ChoiceField, value: Json) -> Raw:
    text = _text_of(value)
    for index, option in enumerate(field.options):
        if _text_of(option.value) == text:
            return index
    return None if value is None and field.nullable else Misfit(value)


def _text_of(value: Json) -> str:
    """Return one text for values that are equal and of the same type."""
    return json.dumps(value, sort_keys=True)


def _json_text(value: Json) -> str:
    indent = 2 if isinstance(value, dict | list) and value else None
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _is_integer(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Json) -> bool:
    return _is_integer(value) or (isinstance(value, float) and math.isfinite(value))


# --- input -> value ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    value: Json | Unset
    errors: Mapping[str, str] = datafield(default_factory=dict[str, str])
    missing: frozenset[str] = frozenset()


def _read(field: Field, inputs: Inputs) -> _Part:
    raw = inputs.get(field.pointer, UNSET)
    if isinstance(raw, Misfit):
        return _Part(raw.value)
    if raw is None:
        return _Part(None)
    if isinstance(field, ObjectField):
        return _read_object(field, inputs)
    if isinstance(raw, Unset | Given):
        return _absent_part(field)
    value, error = _parsed(field, raw)
    return _Part(value, {} if error is None else {field.pointer: error})


def _absent_part(field: Field) -> _Part:
    if not field.required:
        return _Part(UNSET)
    return _Part(UNSET, {field.pointer: _missing_words(field)}, frozenset({field.pointer}))


def _missing_words(field: Field) -> str:
    match field:
        case BooleanField():
            return words.YES_OR_NO
        case ChoiceField():
            return words.CHOOSE
        case _:
            return words.FILL_IN


def _read_object(field: ObjectField, inputs: Inputs) -> _Part:
    if not (field.required or _is_given(field, inputs)):
        return _Part(UNSET)
    raw = inputs.get(field.pointer, UNSET)
    value: dict[str, Json] = {}
    errors: dict[str, str] = {}
    missing: frozenset[str] = frozenset()
    for inner in field.fields:
        part = _read(inner, inputs)
        errors |= part.errors
        missing |= part.missing
        if part.value is not UNSET:
            value[_name(inner)] = part.value
    if isinstance(raw, Given):
        value |= raw.others
    return _Part(value, errors, missing)


def _is_given(field: ObjectField, inputs: Inputs) -> bool:
    """Whether somebody put something into an object; defaults alone do not."""
    if isinstance(inputs.get(field.pointer), Given):
        return True
    return any(_is_touched(inner, inputs) for inner in field.fields)


def _is_touched(field: Field, inputs: Inputs) -> bool:
    raw = inputs.get(field.pointer, UNSET)
    if isinstance(field, ObjectField) and raw is UNSET:
        return _is_given(field, inputs)
    return raw is not UNSET and raw != untouched(field)[field.pointer]


def _parsed(field: Field, raw: str | float) -> tuple[Json, str | None]:
    """Return the value of an input, and what is wrong with it. Bad text stays text."""
    match field:
        case BooleanField():
            return raw, None if isinstance(raw, bool) else words.YES_OR_NO
        case ChoiceField():
            return _chosen(field, raw)
        case ConstField():
            return field.value, None
        case TextField():
            return raw, text_error(field, str(raw))
        case IntegerField():
            return parse_integer(field.bounds, str(raw))
        case NumberField():
            return parse_number(field.bounds, str(raw))
        case DecimalField():
            return parse_decimal(field.bounds, raw)
        case JsonField():
            return parse_json(str(raw))
        case ObjectField():
            return raw, words.not_a("object")
        case _:
            assert_never(field)


def _chosen(field: ChoiceField, raw: Raw) -> tuple[Json, str | None]:
    if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw < len(field.options):
        return field.options[raw].value, None
    return raw, words.one_of([option.label for option in field.options])
