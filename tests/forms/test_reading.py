"""Any schema becomes a field tree; what has no field of its own is a JSON field, and only that."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel
from pydantic import Field as Info

from nbgraph.core.answers import UNSET, publish
from nbgraph.forms import (
    BooleanField,
    Bounds,
    ChoiceField,
    ConstField,
    DecimalField,
    IntegerField,
    JsonField,
    NumberField,
    ObjectField,
    Option,
    TextField,
    answer_of,
    fields_of,
    hint,
    read,
    untouched,
)


class Geo(BaseModel):
    lat: float


class Linked(BaseModel):
    value: int
    next: Linked | None = None


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (bool, BooleanField()),
        (Literal["a", "b"], ChoiceField(options=(Option("a", "a"), Option("b", "b")))),
        (Literal["only"], ConstField(value="only")),
        (str, TextField()),
        (
            Annotated[str, Info(min_length=2, max_length=500, pattern="^a")],
            TextField(min_length=2, max_length=500, pattern="^a", multiline=True),
        ),
        (date, TextField(format="date")),
        (date | None, TextField(format="date", nullable=True)),
        (
            Annotated[int, Info(ge=1, lt=9, multiple_of=2)],
            IntegerField(bounds=Bounds(minimum=1, below=9, step=2)),
        ),
        (Annotated[float, Info(gt=0)], NumberField(bounds=Bounds(above=0))),
        (Annotated[Decimal, Info(le=5)], DecimalField(bounds=Bounds(maximum=5))),
        (Decimal | None, DecimalField(nullable=True)),
        (float | str, JsonField(why="one of several kinds")),
        (list[int], JsonField(why="array")),
        (dict[str, int], JsonField(why="an object")),
        (Any, JsonField(why="anything")),
        (
            Geo,
            ObjectField(label="Geo", fields=(NumberField(pointer="/lat", label="Lat"),)),
        ),
    ],
)
def test_a_type_becomes_its_field(kind: Any, field: Any) -> None:
    assert read(publish(kind)) == field


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ({"type": ["string", "null"]}, TextField(nullable=True)),
        (
            {"oneOf": [{"const": 1, "title": "One"}, {"const": True, "title": "Yes"}]},
            ChoiceField(options=(Option("One", 1), Option("Yes", True))),
        ),
        ({"enum": [True, False]}, ChoiceField(options=(Option("Yes", True), Option("No", False)))),
        (
            {"enum": [1, "1", True, None]},
            ChoiceField(
                options=(
                    Option("1 (number)", 1),
                    Option("1 (text)", "1"),
                    Option("true", True),
                    Option("null", None),
                )
            ),
        ),
        (
            {"type": "string", "pattern": "^(?=a)"},
            TextField(pattern="^(?=a)", pattern_is_checked=False),
        ),
        ({"allOf": [{"$ref": "#/$defs/n"}], "$defs": {"n": {"type": "integer"}}}, IntegerField()),
        (
            {"$ref": "#/$defs/a~1b", "title": "Mine", "$defs": {"a/b": {"type": "boolean"}}},
            BooleanField(label="Mine"),
        ),
        ({"type": "string", "writeOnly": True}, TextField(secret=True)),
        ({"type": "integer", "default": 3}, IntegerField(default=3)),
        ({"type": "string", "default": None}, TextField()),
        ({"type": "integer", "default": "three"}, IntegerField()),
        ({"type": "integer", "minimum": 5, "default": 3}, IntegerField(bounds=Bounds(minimum=5))),
    ],
)
def test_a_schema_becomes_its_field(schema: Any, field: Any) -> None:
    assert read(schema) == field


def test_a_pattern_that_is_not_checked_says_so() -> None:
    field = read({"type": "string", "pattern": "^(?=a)"})
    assert hint(field) == "pattern ^(?=a) (shown, not checked here)"


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "integer", "minimum": 0, "maximum": 9}, "a whole number, 0 to 9"),
        ({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}, "more than 0, steps of 0.5"),
        ({"type": "string", "minLength": 2, "maxLength": 5}, "2 to 5 letters"),
        (
            {"type": "string", "description": "A town.", "examples": ["Bremen"]},
            "A town, for example Bremen",
        ),
        (
            {"type": "string", "readOnly": True, "deprecated": True},
            "set by the program, no longer used",
        ),
        ({"type": "array"}, "array, written as JSON"),
    ],
)
def test_a_hint_says_what_fits(schema: Any, text: str) -> None:
    assert hint(read(schema)) == text


def test_a_part_without_a_field_does_not_take_the_rest_with_it() -> None:
    schema = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array"},
            "any": True,
            "never": False,
        },
    }
    kinds = [(each.pointer, type(each)) for each in fields_of(read(schema))]
    assert kinds == [
        ("", ObjectField),
        ("/name", TextField),
        ("/tags", JsonField),
        ("/any", JsonField),
    ]


def test_a_recursive_type_ends_in_a_json_field() -> None:
    kinds = [(each.pointer, type(each)) for each in fields_of(read(publish(Linked)))]
    assert kinds == [("", ObjectField), ("/value", IntegerField), ("/next", JsonField)]


def _deep() -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(2_000):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def _wide() -> dict[str, Any]:
    step = {
        f"d{level}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/$defs/d{level + 1}"} for name in "abc"},
        }
        for level in range(30)
    }
    return {"$ref": "#/$defs/d0", "$defs": step}


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        None,
        [],
        "text",
        5,
        {},
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"$ref": "http://127.0.0.1:9/x.json"},
        {"$ref": 5},
        {"anyOf": []},
        {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        {"enum": []},
        {"enum": list(range(50_000))},
        {"type": 3, "title": [], "examples": 4, "properties": 5, "required": "x"},
        {"type": "string", "minLength": "x", "maxLength": True, "format": 3, "pattern": ["a"]},
        {"type": "integer", "minimum": "x", "maximum": float("nan"), "multipleOf": 0},
        {"type": "object", "properties": {"": {}, "a/b": {}, "~": {"type": "string"}}},
        _deep(),
        _wide(),
    ],
)
def test_any_schema_can_be_read(schema: Any) -> None:
    field = read(schema)
    assert len(list(fields_of(field))) < 1_000
    answer_of(field, untouched(field))


def test_an_untouched_form_invents_nothing() -> None:
    schema = {
        "type": "object",
        "required": ["agreed", "size", "name", "version"],
        "properties": {
            "agreed": {"type": "boolean"},
            "size": {"enum": ["s", "m"]},
            "name": {"type": "string"},
            "version": {"const": 2},
            "copy": {"type": "boolean", "default": True},
            "note": {"type": "string"},
        },
    }
    field = read(schema)
    reading = answer_of(field, untouched(field))
    assert reading.value is UNSET
    assert reading.partial == {"version": 2, "copy": True}
    assert reading.errors == {
        "/agreed": "Choose Yes or No",
        "/size": "Choose one",
        "/name": "Fill this in",
    }
