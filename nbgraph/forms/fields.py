"""The fields of a form: what a JSON Schema asks for, as a closed union of kinds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.json_values import Json

__all__ = [
    "BooleanField",
    "Bounds",
    "ChoiceField",
    "ConstField",
    "DecimalField",
    "Field",
    "IntegerField",
    "JsonField",
    "NumberField",
    "ObjectField",
    "Option",
    "TextField",
    "fields_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """What every field has.

    Attributes
    ----------
    pointer : str
        Where its value stands in the answer, as JSON Pointer.
    label : str
        Its title, or its name made readable.
    required : bool
        The answer needs it.
    nullable : bool
        null is a value of it, and not the same as its absence.
    default : JSON or UNSET
        What the schema says it is when it is absent; UNSET too if it does not fit the field.
    description, examples
        What the schema says about it.
    read_only, deprecated : bool
        It is shown and not changed; it should not be used.
    """

    pointer: str = ""
    label: str = "Answer"
    required: bool = True
    nullable: bool = False
    default: Json | Unset = UNSET
    description: str = ""
    examples: tuple[Json, ...] = ()
    read_only: bool = False
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a number must keep to; None where there is no bound."""

    minimum: int | float | None = None
    maximum: int | float | None = None
    above: int | float | None = None
    below: int | float | None = None
    step: int | float | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """One value to choose, and what a person reads for it."""

    label: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class BooleanField(_Field):
    """Yes or no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceField(_Field):
    """One of several values, known by its place: 1, 1.0 and true stay three."""

    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstField(_Field):
    """A value that is already decided."""

    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class TextField(_Field):
    """Text. `pattern_is_checked` is False for a pattern that the engine refuses."""

    min_length: int = 0
    max_length: int | None = None
    pattern: str | None = None
    pattern_is_checked: bool = True
    format: str | None = None
    multiline: bool = False
    secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerField(_Field):
    """A whole number, of any size."""

    bounds: Bounds = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberField(_Field):
    """A number."""

    bounds: Bounds = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalField(_Field):
    """A decimal number that is sent as text, as it was written."""

    bounds: Bounds = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectField(_Field):
    """Named fields."""

    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonField(_Field):
    """Anything else: JSON text, checked against the schema. `why` says what it holds."""

    why: str = "JSON"


Field = (
    BooleanField
    | ChoiceField
    | ConstField
    | TextField
    | IntegerField
    | NumberField
    | DecimalField
    | ObjectField
    | JsonField
)


def fields_of(field: Field) -> Iterator[Field]:
    """Yield a field and all fields in it, in the order of the form."""
    yield field
    if isinstance(field, ObjectField):
        for inner in field.fields:
            yield from fields_of(inner)
