"""What stands in the inputs -> the answer, as far as it is there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as datafield

from nbgraph.core import plain_words as words
from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.json_values import Json, pointer
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
from nbgraph.forms.parsing import (
    parse_decimal,
    parse_integer,
    parse_json,
    parse_number,
    parse_text,
)

__all__ = ["Part", "Reading", "answer_of", "is_default", "read_part", "shown_fields"]


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


@dataclass(frozen=True, slots=True)
class Part:
    """What stands in one input.

    Attributes
    ----------
    value, errors, missing
        As in `Reading`, from this part on.
    touched : bool
        Somebody put something in; defaults alone are not that.
    misfits, unknown : int
        How many values no field can show, and how many no field is there for.
    """

    value: Json | Unset = UNSET
    errors: Mapping[str, str] = datafield(default_factory=dict[str, str])
    missing: frozenset[str] = frozenset()
    touched: bool = False
    misfits: int = 0
    unknown: int = 0


def answer_of(field: Field, raw: Raw) -> Reading:
    """Return the answer that stands in the inputs."""
    part = read_part(field, raw)
    value = UNSET if part.missing else part.value
    return Reading(value, part.value, part.errors, part.missing)


def shown_fields(field: ObjectField, raw: Raw) -> ObjectField:
    """Return an object with the fields of the shape that its inputs have."""
    if field.live is None or not isinstance(raw, Parts):
        return field
    return field.live.at(raw.shape)


def read_part(field: Field, raw: Raw) -> Part:
    """Return what stands in one input."""
    match raw:
        case Misfit():
            return Part(raw.value, _misfit_errors(field, raw.value), touched=True, misfits=1)
        case None:
            return Part(None, touched=not is_default(field, None))
        case Unset() if not isinstance(field, ObjectField):
            return _absent(field)
        case _:
            return _read(field, raw)


def _misfit_errors(field: Field, value: Json) -> dict[str, str]:
    """Return what no judge would say: true is not the option 1, though they are equal."""
    match field:
        case ChoiceField() if any(option.value == value for option in field.options):
            return {"": words.one_of([option.label for option in field.options])}
        case ConstField() if field.value == value:
            return {"": words.one_of([field.value])}
        case _:
            return {}


def _read(field: Field, raw: Raw) -> Part:
    match field:
        case ObjectField():
            return _object(shown_fields(field, raw), raw if isinstance(raw, Parts) else Parts())
        case ListField() if isinstance(raw, Items):
            return _list(field, raw)
        case TupleField() if isinstance(raw, Items):
            return _tuple(field, raw)
        case MapField() if isinstance(raw, Pairs):
            return _map(field, raw)
        case UnionField() if isinstance(raw, Picked):
            return _picked(field, raw)
        case LaterField():
            return read_part(field.opened(), raw)
        case _:
            return _scalar(field, raw)


def _absent(field: Field) -> Part:
    if not field.required:
        return Part()
    return Part(UNSET, {"": _missing_words(field)}, frozenset({""}))


def _missing_words(field: Field) -> str:
    match field:
        case BooleanField():
            return words.YES_OR_NO
        case ChoiceField() | UnionField():
            return words.CHOOSE
        case _:
            return words.FILL_IN


def is_default(field: Field, value: Json) -> bool:
    """Return whether a value is what the schema declares for a field anyway."""
    return not isinstance(field.default, Unset) and _text(value) == _text(field.default)


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


# --- parts of parts ---------------------------------------------------------------------------


class _Whole:
    """Gathers parts under their names."""

    def __init__(self) -> None:
        self.errors: dict[str, str] = {}
        self.missing: set[str] = set()
        self.touched = False
        self.misfits = self.unknown = 0

    def add(self, name: str | int, part: Part) -> Part:
        below = pointer([name])
        for at, text in part.errors.items():
            self.errors.setdefault(f"{below}{at}", text)
        self.missing |= {f"{below}{at}" for at in part.missing}
        self.include(part)
        return part

    def include(self, part: Part) -> None:
        self.touched = self.touched or part.touched
        self.misfits += part.misfits
        self.unknown += part.unknown

    def part(self, value: Json | Unset, *, touched: bool) -> Part:
        found = frozenset(self.missing)
        return Part(value, self.errors, found, touched, self.misfits, self.unknown)


def _object(field: ObjectField, raw: Parts) -> Part:
    whole = _Whole()
    value: dict[str, Json] = {}
    for inner in field.fields:
        part = whole.add(inner.name, read_part(inner, raw.fields.get(inner.name, UNSET)))
        if part.value is not UNSET:
            value[inner.name] = part.value
    value |= raw.others
    whole.unknown += len(raw.others)
    if field.rest is not None:
        _add_rest(whole, value, field.rest, raw.rest)
    there = raw.there or bool(raw.others)
    if not (there or whole.touched) and (raw.lacking or not field.required):
        return _absent(field)
    declared = not whole.missing and is_default(field, value)
    return whole.part(value, touched=(there or whole.touched) and not declared)


def _add_rest(whole: _Whole, value: dict[str, Json], field: MapField, raw: Raw) -> None:
    part = read_part(field, raw)
    known = {pointer([name]) for name in value}
    rest: dict[str, Json] = {} if isinstance(part.value, Unset) else part.value
    for name in rest:
        if name in value:
            whole.errors[pointer([name])] = words.twice(name)
        value.setdefault(name, rest[name])
    whole.errors |= {at: text for at, text in part.errors.items() if at not in known}
    whole.missing |= part.missing
    whole.include(part)


def _list(field: ListField, raw: Items) -> Part:
    whole = _Whole()
    parts = [whole.add(index, read_part(field.item, each)) for index, each in enumerate(raw.raws)]
    value = [part.value for part in parts if part.value is not UNSET]
    if field.unique:
        whole.errors = {**_twins(part.value for part in parts), **whole.errors}
    problem = _count_error(field, len(parts))
    if problem:
        whole.errors[""] = problem
    return whole.part(value, touched=not is_default(field, value))


def _twins(values: Iterable[Json | Unset]) -> dict[str, str]:
    seen: set[str] = set()
    errors: dict[str, str] = {}
    for index, value in enumerate(values):
        if isinstance(value, Unset):
            continue
        if _text(value) in seen:
            errors[f"/{index}"] = words.twice(value)
        seen.add(_text(value))
    return errors


def _count_error(field: ListField | MapField, count: int) -> str | None:
    if count < field.min_items:
        return words.at_least(field.min_items)
    if field.max_items is not None and count > field.max_items:
        return words.at_most(field.max_items)
    return None


def _tuple(field: TupleField, raw: Items) -> Part:
    """Read the places up to the last that is filled in; one before it cannot be left out."""
    whole = _Whole()
    parts = [*map(read_part, field.items, raw.raws)]
    beyond = raw.raws[len(field.items) :]
    parts += [Part(each.value, touched=True) for each in beyond if isinstance(each, Misfit)]
    filled = [index for index, part in enumerate(parts) if part.value is not UNSET]
    last = filled[-1] if filled else -1
    for index, part in enumerate(parts):
        is_gap = index < last and part.value is UNSET and not part.missing
        gap = Part(UNSET, {"": words.FILL_IN}, frozenset({""}))
        whole.add(index, gap if is_gap else part)
    if not (raw.there or whole.touched or (field.required and (filled or whole.missing))):
        return _absent(field)
    value = [part.value for part in parts if part.value is not UNSET]
    touched = raw.there or whole.touched
    return whole.part(value, touched=touched and not is_default(field, value))


def _map(field: MapField, raw: Pairs) -> Part:
    whole = _Whole()
    value: dict[str, Json] = {}
    for key, each in raw.rows:
        part = read_part(field.value, each)
        if isinstance(key, Unset):
            whole.add("", _no_key(part))
            continue
        problem = words.twice(key) if key in value else _key_error(field, key)
        whole.add(key, replace(part, errors={**part.errors, "": problem}) if problem else part)
        if part.value is not UNSET:
            value.setdefault(key, part.value)
    problem = _count_error(field, len(raw.rows))
    if problem:
        whole.errors[""] = problem
    return whole.part(value, touched=not is_default(field, value))


def _no_key(part: Part) -> Part:
    return replace(part, errors={"": words.NAME_KEY}, missing=frozenset({""}))


def _key_error(field: MapField, key: str) -> str | None:
    match field.key:
        case TextField():
            return parse_text(field.key, key)[1]
        case ChoiceField():
            names = [option.value for option in field.key.options]
            return None if key in names else words.one_of(names)


def _picked(field: UnionField, raw: Picked) -> Part:
    part = read_part(field.branches[raw.index].field, raw.raw)
    value = part.value
    is_touched = isinstance(value, Unset) or not is_default(field, value)
    return replace(part, touched=is_touched)


# --- scalars ----------------------------------------------------------------------------------


def _scalar(field: Field, raw: Raw) -> Part:
    if isinstance(field, ConstField):
        return Part(field.value)
    if not isinstance(raw, str | int | float):
        return Part(UNSET, {"": words.FILL_IN}, frozenset({""}))
    value, error = _parsed(field, raw)
    return Part(value, {"": error} if error else {}, touched=not is_default(field, value))


def _parsed(field: Field, raw: str | float) -> tuple[Json, str | None]:
    """Return the value of an input, and what is wrong with it. Bad text stays text."""
    match field:
        case BooleanField():
            return raw, None if isinstance(raw, bool) else words.YES_OR_NO
        case ChoiceField():
            return _chosen(field, raw)
        case TextField():
            return parse_text(field, str(raw))
        case IntegerField():
            return parse_integer(field.bounds, str(raw))
        case NumberField():
            return parse_number(field.bounds, str(raw))
        case DecimalField():
            return parse_decimal(field.bounds, raw)
        case JsonField():
            return parse_json(str(raw))
        case _:
            return raw, words.CHOOSE  # a part of parts whose input is none


def _chosen(field: ChoiceField, raw: str | float) -> tuple[Json, str | None]:
    if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw < len(field.options):
        return field.options[raw].value, None
    return raw, words.one_of([option.label for option in field.options])
