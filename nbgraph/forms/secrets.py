"""Secrets in an answer: where they stand, and the answer without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nbgraph.core.answers import Unset
from nbgraph.core.json_values import Json, is_array, is_object, pointer
from nbgraph.forms.answer import read_part, shown_fields
from nbgraph.forms.fields import (
    Field,
    JsonField,
    LaterField,
    ListField,
    MapField,
    ObjectField,
    TextField,
    TupleField,
    UnionField,
)
from nbgraph.forms.inputs import Items, Pairs, Parts, Picked, Raw

__all__ = ["MASK", "is_secret", "replaced", "secret_fields", "secret_places", "unkept_places"]

MASK = "••••••"
"""What is shown for a secret."""


def is_secret(field: Field) -> bool:
    """Return whether what stands in a field is not to be shown."""
    return field.write_only or (isinstance(field, TextField) and field.secret)


def secret_places(field: Field, raw: Raw) -> Iterator[str]:
    """Yield the JSON Pointers of the secrets that stand in the inputs."""
    for at, _ in secret_fields(field, raw):
        yield at


def secret_fields(field: Field, raw: Raw, at: str = "") -> Iterator[tuple[str, Field]]:
    """Yield the fields of the secrets that stand in the inputs, with their JSON Pointers."""
    if is_secret(field):
        if not (raw is None or isinstance(raw, Unset)):
            yield at, field
        return
    for below, inner, inside in _inside(field, raw):
        yield from secret_fields(inner, inside, f"{at}{below}")


def unkept_places(field: Field, raw: Raw, at: str = "") -> Iterator[str]:
    """Yield the JSON Pointers of what a draft leaves out: what is write-only, and no JSON yet."""
    if is_secret(field) or (isinstance(field, JsonField) and read_part(field, raw).errors):
        yield at
        return
    for below, inner, inside in _inside(field, raw):
        yield from unkept_places(inner, inside, f"{at}{below}")


def _inside(field: Field, raw: Raw) -> Iterator[tuple[str, Field, Raw]]:
    match field, raw:
        case ObjectField(), Parts():
            yield from _fields(shown_fields(field, raw), raw)
        case ListField(), Items():
            yield from ((f"/{index}", field.item, each) for index, each in enumerate(raw.raws))
        case TupleField(), Items():
            places = zip(field.items, raw.raws, strict=False)
            yield from ((f"/{index}", *each) for index, each in enumerate(places))
        case MapField(), Pairs():
            yield from ((pointer([str(key)]), field.value, each) for key, each in raw.rows)
        case UnionField(), Picked():
            yield "", field.branches[raw.index].field, raw.raw
        case LaterField(), Parts() | Items() | Pairs() | Picked() | str():
            yield "", field.opened(), raw
        case _:
            return


def _fields(field: ObjectField, raw: Parts) -> Iterator[tuple[str, Field, Raw]]:
    for inner in field.fields:
        yield pointer([inner.name]), inner, raw.fields[inner.name]
    if field.rest is not None:
        yield from _inside(field.rest, raw.rest)


def replaced(value: Json, changes: Mapping[str, Callable[[Json], Any]], at: str = "") -> Any:
    """Return a value in which what stands at some JSON Pointers is changed."""
    if at in changes:
        return changes[at](value)
    if is_object(value):
        return {
            name: replaced(item, changes, f"{at}{pointer([name])}") for name, item in value.items()
        }
    if is_array(value):
        return [replaced(item, changes, f"{at}/{index}") for index, item in enumerate(value)]
    return value
