"""The fields of a form: what a JSON Schema asks for, as a closed union of kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.json_values import Json

__all__ = [
    "BooleanField",
    "Bounds",
    "Branch",
    "ChoiceField",
    "ConstField",
    "DecimalField",
    "Field",
    "IntegerField",
    "JsonField",
    "LaterField",
    "ListField",
    "Live",
    "MapField",
    "NumberField",
    "ObjectField",
    "Option",
    "TextField",
    "TupleField",
    "UnionField",
    "fields_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """What every field has.

    Attributes
    ----------
    name : str
        Its key in the object it belongs to; empty for the whole answer and for what has no name.
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
    read_only, write_only, deprecated : bool
        It is shown and not changed; it is typed and not shown again; it should not be used.
    widget : str
        The control that `x-widget` or `ui:widget` asks for; empty for the usual one.
    """

    name: str = ""
    label: str = "Answer"
    required: bool = True
    nullable: bool = False
    default: Json | Unset = UNSET
    description: str = ""
    examples: tuple[Json, ...] = ()
    read_only: bool = False
    write_only: bool = False
    deprecated: bool = False
    widget: str = ""


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
    """A value that is already decided; `hidden` where it only tells one branch from another."""

    value: Json
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextField(_Field):
    """Text.

    `pattern_is_checked` is False for a pattern that the engine refuses. `upload` says how a file
    becomes this text: as "base64", "base64url", "data-url" or "text"; empty where none does.
    `rows` is how many lines are asked for, 0 for the usual.
    """

    min_length: int = 0
    max_length: int | None = None
    pattern: str | None = None
    pattern_is_checked: bool = True
    format: str | None = None
    multiline: bool = False
    secret: bool = False
    upload: str = ""
    rows: int = 0


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


class Live(Protocol):
    """What shape an object has depends on what is in it: if, then, else and dependent fields."""

    def shape(self, value: Json) -> str:
        """Return a name for the shape that an object with this value has."""
        ...

    def at(self, shape: str) -> ObjectField:
        """Return the field of a shape that `shape` has named."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectField(_Field):
    """Named fields.

    Attributes
    ----------
    fields : tuple of Field
        In the order of the form.
    rest : MapField or None
        Takes fields of any other name; without it they are kept and cannot be changed.
    live : Live or None
        The fields of each shape, where they depend on the answer.
    """

    fields: tuple[Field, ...]
    rest: MapField | None = None
    live: Live | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListField(_Field):
    """Any number of values of one kind."""

    item: Field
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TupleField(_Field):
    """A list whose places have a field each; those after the last required may be left out."""

    items: tuple[Field, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapField(_Field):
    """Values of one kind under keys that the person names."""

    key: TextField | ChoiceField
    value: Field
    min_items: int = 0
    max_items: int | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """One of the kinds a value can have, and what a person reads for it."""

    label: str
    field: Field


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionField(_Field):
    """A value of one of several kinds, which the person chooses."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterField(_Field):
    """What is read when it is opened: it refers to itself, stands deep, or is one of very many."""

    make: Callable[[], Field] = field(compare=False, repr=False)

    def opened(self) -> Field:
        """Return the field that is in it; it is there, so it is required and not null."""
        return self.make()


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
    | ListField
    | TupleField
    | MapField
    | UnionField
    | LaterField
    | JsonField
)


def fields_of(field: Field) -> Iterator[Field]:
    """Yield a field and all fields in it, in the order of the form; what is read later is left."""
    yield field
    for inner in _inner(field):
        yield from fields_of(inner)


def _inner(field: Field) -> tuple[Field, ...]:
    match field:
        case ObjectField():
            return field.fields if field.rest is None else (*field.fields, field.rest)
        case ListField():
            return (field.item,)
        case TupleField():
            return field.items
        case MapField():
            return (field.value,)
        case UnionField():
            return tuple(branch.field for branch in field.branches)
        case _:
            return ()
