"""An answer -> what stands in the inputs; reading them gives it back, equally typed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace

from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.json_values import Json, is_array, is_object
from nbgraph.forms.answer import read_part, shown_fields
from nbgraph.forms.fields import (
    BooleanField,
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
from nbgraph.forms.inputs import Items, Misfit, Pairs, Parts, Picked, Raw

__all__ = [
    "MAX_ROWS",
    "added",
    "carried",
    "fits",
    "inputs_of",
    "prefilled",
    "same",
    "settled",
    "untouched",
]

_MAX_TURNS = 8
_MAX_TRIES = 2_000
_LINE = 60
MAX_ROWS = 300
"""How many entries of lists and maps a form draws; a longer list is shown whole, and kept."""
_NULL_IS_ONE_OF_MANY = (ChoiceField, ConstField, JsonField)


def inputs_of(field: Field, value: Json | Unset, *, typed: bool = False) -> Raw:
    """Return the inputs that stand for an answer; those of an absent one for `UNSET`.

    With `typed`, text in the place of a number is what somebody typed there.
    """
    if isinstance(value, Unset):
        return _absent(field)
    return _Filling(typed=typed).inputs(field, value)


def untouched(field: Field) -> Raw:
    """Return the inputs of a field nobody has touched: unset, save for the schema's defaults."""
    if not isinstance(field.default, Unset):
        return inputs_of(field, field.default)
    return inputs_of(field, UNSET)


def added(field: Field, raw: Raw | None = None) -> Raw:
    """Return the inputs of what a person has just added or chosen, so that it is there.

    `raw` is what stands in them already; default is what the schema declares.
    """
    if isinstance(field, LaterField):
        return added(field.opened())
    given = untouched(field) if raw is None else raw
    return replace(given, there=True, lacking=False) if isinstance(given, Parts) else given


def fits(field: Field, value: Json) -> bool:
    """Return whether a value is a good one for a field, as far as the field can tell."""
    part = read_part(field, inputs_of(field, value))
    return not (part.misfits or part.errors)


def settled(field: Field, raw: Raw) -> Raw:
    """Return the inputs of an object in the shape that they lead to."""
    if not isinstance(field, ObjectField) or field.live is None or not isinstance(raw, Parts):
        return raw
    for _ in range(_MAX_TURNS):
        value = read_part(field, raw).value
        shape = field.live.shape({} if isinstance(value, Unset) else value)
        if shape == raw.shape:
            break
        before = {inner.name: inner for inner in field.live.at(raw.shape).fields}
        fields = {
            inner.name: carried(before[inner.name], raw.fields[inner.name], inner)
            if inner.name in before
            else untouched(inner)
            for inner in field.live.at(shape).fields
        }
        raw = replace(raw, fields=fields, shape=shape)
    return raw


def carried(old: Field, raw: Raw, new: Field) -> Raw:
    """Return the input of one field as that of another in its place, if what it says fits there."""
    if old == new:
        return raw
    if isinstance(old, ObjectField) and isinstance(new, ObjectField) and isinstance(raw, Parts):
        return _carried_parts(old, raw, new)
    value = read_part(old, raw).value
    if isinstance(value, Unset):
        return untouched(new)
    if isinstance(raw, str) and isinstance(new, TextField):
        return raw
    return inputs_of(new, value) if fits(new, value) else untouched(new)


def _carried_parts(old: ObjectField, raw: Parts, new: ObjectField) -> Raw:
    """Return the inputs of an object with what it shares with the one before."""
    blank = untouched(new)
    if not isinstance(blank, Parts):
        return blank
    before = {inner.name: inner for inner in shown_fields(old, raw).fields}
    fields = {
        inner.name: carried(before[inner.name], raw.fields[inner.name], inner)
        if inner.name in before and not isinstance(inner, ConstField)
        else blank.fields[inner.name]
        for inner in shown_fields(new, blank).fields
    }
    return settled(new, replace(blank, fields=fields))


def prefilled(field: Field, raw: Raw, value: Json) -> Raw:
    """Return the inputs with parts of an answer put in; what does not fit is left out."""
    if isinstance(field, ObjectField) and isinstance(raw, Parts) and is_object(value):
        fields = {
            inner.name: prefilled(inner, raw.fields[inner.name], value[inner.name])
            for inner in shown_fields(field, raw).fields
            if inner.name in value
        }
        return settled(field, replace(raw, fields={**raw.fields, **fields}))
    given = inputs_of(field, value)
    return raw if isinstance(given, Misfit) else given


def _absent(field: Field) -> Raw:
    """Return the input of a value that is not there; a const that must be there is."""
    match field:
        case ConstField() if field.required:
            return True
        case ObjectField() if field.live is not None:
            return _absent_live(field)
        case ObjectField():
            return _blank(field)
        case TupleField():
            return Items(tuple(untouched(item) for item in field.items), there=False)
        case _:
            return UNSET


def _lacking(field: Field) -> Raw:
    """Return the input of what an answer does not have: no default or const is filled in."""
    raw = UNSET if isinstance(field, ConstField) else _absent(field)
    return replace(raw, lacking=True) if isinstance(raw, Parts) else raw


def _blank(field: ObjectField, shape: str = "") -> Parts:
    return Parts({inner.name: untouched(inner) for inner in field.fields}, shape=shape)


def _absent_live(field: ObjectField) -> Raw:
    """Return the untouched inputs of the shape that they themselves lead to."""
    assert field.live is not None
    shape = field.live.shape({})
    return settled(field, _blank(field.live.at(shape), shape))


class _Filling:
    """Fills one answer in. Which of several kinds was meant is tried out, within a budget.

    So are the rows it draws: a list or map that is longer than what is left is kept as it is.
    """

    def __init__(self, *, typed: bool) -> None:
        self._tries = _MAX_TRIES
        self._rows = MAX_ROWS
        self._typed = typed

    def inputs(self, field: Field, value: Json) -> Raw:
        if value is None and field.nullable and not isinstance(field, _NULL_IS_ONE_OF_MANY):
            return None
        match field:
            case ObjectField() if is_object(value):
                return self._parts(field, value)
            case ListField() if is_array(value) and self._have_room(value):
                return Items(tuple(self.inputs(field.item, item) for item in value))
            case TupleField() if is_array(value):
                return Items(tuple(self._places(field, value)))
            case MapField() if is_object(value) and self._have_room(value):
                rows = ((name, self.inputs(field.value, value[name])) for name in value)
                return Pairs(tuple(rows))
            case UnionField():
                return self._picked(field, value)
            case LaterField():
                return self.inputs(field.opened(), value)
            case IntegerField() | NumberField() | DecimalField() if self._is_typed(field, value):
                return str(value)
            case _:
                return _scalar(field, value)

    def _have_room(self, entries: list[Json] | dict[str, Json]) -> bool:
        if len(entries) > self._rows:
            return False
        self._rows -= len(entries)
        return True

    def _is_typed(self, field: Field, value: Json) -> bool:
        is_text = self._typed and isinstance(value, str)
        return is_text and isinstance(read_part(field, value).value, str)

    def _parts(self, field: ObjectField, value: Mapping[str, Json]) -> Parts:
        shape = "" if field.live is None else field.live.shape(value)
        shown = field if field.live is None else field.live.at(shape)
        fields = {
            inner.name: self.inputs(inner, value[inner.name])
            if inner.name in value
            else _lacking(inner)
            for inner in shown.fields
        }
        others = {name: item for name, item in value.items() if name not in fields}
        if shown.rest is None or not others:
            return Parts(fields, others, UNSET, there=True, shape=shape)
        return Parts(fields, {}, self.inputs(shown.rest, others), there=True, shape=shape)

    def _places(self, field: TupleField, value: list[Json]) -> list[Raw]:
        extra: list[Raw] = [Misfit(item) for item in value[len(field.items) :]]
        gaps = map(_lacking, field.items[len(value) :])
        return [*map(self.inputs, field.items, value), *gaps, *extra]

    def _picked(self, field: UnionField, value: Json) -> Raw:
        """Return the branch that was meant: of those that fit, the one that knows most."""
        likely = sorted((_unlikely(each.field, value), i) for i, each in enumerate(field.branches))
        found: list[tuple[tuple[int, int], int, Raw]] = []
        for _, index in likely:
            branch = field.branches[index].field
            self._tries -= 1
            raw = self.inputs(branch, value)
            if not isinstance(raw, Misfit):
                found.append((_badness(branch, raw), index, raw))
            if found and (self._tries < 0 or found[-1][0] == (0, 0)):
                break
        if not found:
            return Misfit(value)
        _, index, raw = min(found, key=lambda each: each[:2])
        return Picked(index, raw)


def _unlikely(field: Field, value: Json) -> int:
    """Return how little a value looks like one of a field, from its outside alone."""
    if not isinstance(field, ObjectField) or not is_object(value):
        return 0
    names = {inner.name for inner in field.fields}
    tags = [inner for inner in field.fields if isinstance(inner, ConstField)]
    wrong = sum(tag.name in value and not same(value[tag.name], tag.value) for tag in tags)
    lacking = sum(inner.required and inner.name not in value for inner in field.fields)
    return 100 * wrong + lacking + sum(name not in names for name in value)


def _badness(field: Field, raw: Raw) -> tuple[int, int]:
    """Return how much is wrong with a value as one of a field, and how much it does not know."""
    part = read_part(field, raw)
    return len(part.errors) + part.misfits, part.unknown


# --- scalars ----------------------------------------------------------------------------------


def _scalar(field: Field, value: Json) -> Raw:
    match field:
        case ChoiceField():
            return _index(field, value)
        case ConstField():
            return True if same(value, field.value) else Misfit(value)
        case JsonField():
            return _json_text(value)
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
    for index, option in enumerate(field.options):
        if option.value == value and same(option.value, value):
            return index
    return None if value is None and field.nullable else Misfit(value)


def same(one: Json, other: Json) -> bool:
    """Return whether two values are equal and of the same type."""
    return _text_of(one) == _text_of(other)


def _text_of(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _json_text(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LINE else json.dumps(value, ensure_ascii=False, indent=2)


def _is_integer(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Json) -> bool:
    return _is_integer(value) or (isinstance(value, float) and math.isfinite(value))
