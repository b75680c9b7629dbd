"""Any schema becomes a field tree; what has no field of its own is a JSON field, and only that."""

from __future__ import annotations

from dataclasses import replace
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
    Branch,
    ChoiceField,
    ConstField,
    DecimalField,
    IntegerField,
    JsonField,
    LaterField,
    ListField,
    MapField,
    NumberField,
    ObjectField,
    Option,
    Parts,
    Picked,
    TextField,
    TupleField,
    UnionField,
    added,
    answer_of,
    fields_of,
    hint,
    inputs_of,
    read,
    settled,
    shown_fields,
    untouched,
)


class Geo(BaseModel):
    lat: float


class Linked(BaseModel):
    value: int
    next: Linked | None = None


KEY = TextField(label="Key", required=False)
UNION = UnionField(
    branches=(Branch("number", NumberField()), Branch("text", TextField())),
)


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
        (float | str, UNION),
        (float | str | None, replace(UNION, nullable=True)),
        (list[int], ListField(item=IntegerField())),
        (set[str] | None, ListField(item=TextField(), unique=True, nullable=True)),
        (
            Annotated[list[bool], Info(min_length=1, max_length=3)],
            ListField(item=BooleanField(), min_items=1, max_items=3),
        ),
        (
            tuple[int, str],
            TupleField(items=(IntegerField(label="1"), TextField(label="2"))),
        ),
        (dict[str, int], MapField(key=KEY, value=IntegerField())),
        (dict[str, Any], MapField(key=KEY, value=JsonField(why="anything"))),
        (list[Any], ListField(item=JsonField(why="anything"))),
        (Any, JsonField(why="anything")),
        (
            Geo,
            ObjectField(label="Geo", fields=(NumberField(name="lat", label="Lat"),)),
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
        ({"type": "string", "writeOnly": True}, TextField(secret=True, write_only=True)),
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
        ({}, "anything, written as JSON"),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 3}, "each a whole number"),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
            "1 or more, each only once",
        ),
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
    kinds = [(each.name, type(each)) for each in fields_of(read(schema))]
    assert kinds == [
        ("", ObjectField),
        ("name", TextField),
        ("tags", ListField),
        ("", JsonField),
        ("any", JsonField),
    ]


def test_a_recursive_type_is_read_when_it_is_opened() -> None:
    field = read(publish(Linked))
    kinds = [(each.name, type(each)) for each in fields_of(field)]
    assert kinds == [("", ObjectField), ("value", IntegerField), ("next", LaterField)]
    value = {"value": 1, "next": {"value": 2, "next": {"value": 3, "next": None}}}
    assert answer_of(field, inputs_of(field, value)).value == value


def _deep() -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(2_000):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def _defaults_without_end() -> dict[str, Any]:
    inner: dict[str, Any] = {"anyOf": [{"$ref": "#"}, {"type": "null"}], "default": {"b": {}}}
    for _ in range(4):
        inner = {"properties": {"a": inner, "b": {"$ref": "#"}}, "default": {"a": {"b": {}}}}
    return inner


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
        _defaults_without_end(),
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


# --- objects that are not only their properties -----------------------------------------------


def names_shown(field: Any, value: Any) -> list[str]:
    return [each.name for each in shown_fields(field, inputs_of(field, value)).fields]


def test_what_all_of_says_is_merged() -> None:
    schema = {
        "allOf": [
            {"properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]},
            {"properties": {"a": {"maximum": 9}, "b": {"type": "string"}}},
        ]
    }
    assert read(schema) == ObjectField(
        fields=(
            IntegerField(name="a", label="A", bounds=Bounds(minimum=1, maximum=9)),
            TextField(name="b", label="B", required=False),
        )
    )


def test_what_contradicts_itself_is_json() -> None:
    schema = {"properties": {"a": {"allOf": [{"type": "string"}, {"type": "integer"}]}, "b": {}}}
    kinds = [type(each) for each in fields_of(read(schema))]
    assert kinds == [ObjectField, JsonField, JsonField]


def test_beside_a_reference_the_siblings_win() -> None:
    schema = {
        "$defs": {"n": {"type": "integer", "title": "N", "minimum": 0}},
        "$ref": "#/$defs/n",
        "title": "Mine",
        "maximum": 5,
    }
    assert read(schema) == IntegerField(label="Mine", bounds=Bounds(minimum=0, maximum=5))


CAT = {"title": "Cat", "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}}
DOG = {"title": "Dog", "properties": {"kind": {"const": "dog"}, "name": {"type": "string"}}}


def test_the_tag_of_a_union_is_hidden_and_filled_in() -> None:
    field = read({"oneOf": [CAT, DOG], "discriminator": {"propertyName": "kind"}})
    assert isinstance(field, UnionField)
    assert [branch.label for branch in field.branches] == ["Cat", "Dog"]
    tags = [branch.field.fields[0] for branch in field.branches]  # type: ignore[union-attr]
    assert [(tag.hidden, tag.value) for tag in tags] == [(True, "cat"), (True, "dog")]
    assert answer_of(field, Picked(1, added(field.branches[1].field))).value == {"kind": "dog"}


@pytest.mark.parametrize(
    ("value", "index"),
    [
        ({"kind": "dog"}, 1),
        ({"kind": "cat", "name": "x"}, 0),
        ({"name": "x"}, 1),
        ({"lives": 3}, 0),
    ],
)
def test_the_branch_of_a_value_is_the_one_it_fits_best(value: Any, index: int) -> None:
    raw = inputs_of(read({"oneOf": [CAT, DOG]}), value)
    assert isinstance(raw, Picked)
    assert raw.index == index


def test_branches_that_only_require_are_left_to_the_judge() -> None:
    schema = {
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert isinstance(read(schema), ObjectField)


def test_an_object_beside_a_union_is_part_of_each_branch() -> None:
    field = read({"properties": {"id": {"type": "string"}}, "oneOf": [CAT, DOG]})
    assert isinstance(field, UnionField)
    assert [each.name for each in field.branches[0].field.fields] == ["kind", "lives", "id"]  # type: ignore[union-attr]


SHIPPING = {
    "type": "object",
    "required": ["way"],
    "properties": {"way": {"enum": ["post", "pick up"]}, "card": {"type": "string"}},
    "if": {"properties": {"way": {"const": "post"}}},
    "then": {"properties": {"street": {"type": "string"}}, "required": ["street"]},
    "else": {"properties": {"shop": {"enum": ["north", "south"]}}},
    "dependentRequired": {"card": ["holder"]},
    "dependentSchemas": {"card": {"properties": {"holder": {"type": "string"}}}},
}


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ({}, ["way", "card"]),
        ({"way": "post"}, ["way", "card", "street"]),
        ({"way": "pick up"}, ["way", "card", "shop"]),
        ({"way": "pick up", "card": "4242"}, ["way", "card", "shop", "holder"]),
    ],
)
def test_fields_depend_on_the_answer(value: Any, names: list[str]) -> None:
    assert names_shown(read(SHIPPING), value) == names


def test_what_is_hidden_is_not_sent() -> None:
    field = read(SHIPPING)
    raw = inputs_of(field, {"way": "post", "street": "Main St"})
    assert isinstance(raw, Parts)
    turned = settled(field, replace(raw, fields={**raw.fields, "way": 1}))
    assert answer_of(field, turned).value == {"way": "pick up"}


def test_a_choice_that_changes_its_options_is_emptied() -> None:
    cities = {"north": ["Kiel", "Bremen"], "south": ["Ulm", "Bremen"]}
    schema = {
        "properties": {"region": {"enum": list(cities)}},
        "required": ["region"],
        "allOf": [
            {
                "if": {"properties": {"region": {"const": region}}},
                "then": {"properties": {"city": {"enum": names}}, "required": ["city"]},
            }
            for region, names in cities.items()
        ],
    }
    field = read(schema)
    raw = inputs_of(field, {"region": "north", "city": "Kiel"})
    assert isinstance(raw, Parts)
    turned = settled(field, replace(raw, fields={**raw.fields, "region": 1}))
    assert answer_of(field, turned).errors == {"/city": "Choose one"}
    raw = inputs_of(field, {"region": "north", "city": "Bremen"})
    assert isinstance(raw, Parts)
    turned = settled(field, replace(raw, fields={**raw.fields, "region": 1}))
    assert answer_of(field, turned).value == {"region": "south", "city": "Bremen"}


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ({"properties": {"b": {}, "a": {}}}, ["b", "a"]),
        ({"properties": {"b": {}, "a": {"x-order": 1}}}, ["a", "b"]),
        ({"properties": {"b": {}, "a": {}, "c": {}}, "x-order": ["c", "*", "b"]}, ["c", "a", "b"]),
        ({"properties": {"b": {}, "a": {}}, "ui:order": ["a"]}, ["a", "b"]),
    ],
)
def test_fields_stand_in_the_order_the_schema_asks_for(schema: Any, names: list[str]) -> None:
    field = read(schema)
    assert isinstance(field, ObjectField)
    assert [each.name for each in field.fields] == names


def test_fields_of_any_name_are_a_map_beside_the_named_ones() -> None:
    schema = {
        "properties": {"a": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    }
    field = read(schema)
    value = {"a": 1, "more": "x"}
    assert isinstance(field, ObjectField)
    assert field.rest == MapField(
        label="More fields", required=False, key=KEY, value=TextField(label="More fields")
    )
    assert answer_of(field, inputs_of(field, value)).value == value


# --- names in a document ----------------------------------------------------------------------

NAMED = [
    {"$ref": "#leaf", "$defs": {"x": {"$anchor": "leaf", "type": "integer"}}},
    {"$ref": "#/$defs/a%20b%C3%A9", "$defs": {"a bé": {"type": "integer"}}},
    {"$ref": "#/$defs/~1x~0y~1", "$defs": {"/x~y/": {"type": "integer"}}},
    {"$id": "https://x.example/root.json", "$ref": "leaf.json",
     "$defs": {"x": {"$id": "leaf.json", "type": "integer"}}},
    {"$id": "https://x.example/root.json", "$ref": "https://x.example/root.json#/$defs/x",
     "$defs": {"x": {"type": "integer"}}},
    {"$id": "https://x.example/root.json", "$ref": "leaf.json#deep",
     "$defs": {"x": {"$id": "leaf.json", "$defs": {"y": {"$anchor": "deep", "type": "integer"}}}}},
    {"$dynamicRef": "#leaf", "$defs": {"x": {"$dynamicAnchor": "leaf", "type": "integer"}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", NAMED)
def test_a_reference_finds_what_is_named_in_the_document(schema: Any) -> None:
    assert read(schema) == IntegerField()


@pytest.mark.parametrize(
    "reference", ["#nowhere", "other.json", "https://x.example/", "#/$defs/9", "http://[", "%"]
)
def test_a_reference_to_what_is_not_there_is_json(reference: str) -> None:
    schema = {"$ref": reference, "$defs": {"x": {"const": {"$id": "other.json", "type": "null"}}}}
    assert isinstance(read(schema), JsonField)


def test_names_in_values_and_deep_down_are_not_looked_for() -> None:
    deep: Any = {"$anchor": "deep"}
    for _ in range(500):
        deep = {"not": deep}
    assert isinstance(read({"$ref": "#deep", "x": deep}), JsonField)


def test_a_map_of_anything_has_the_names_that_the_schema_allows() -> None:
    field = read({"type": "object", "propertyNames": {"enum": ["a", "b"]}})
    assert isinstance(field, MapField)
    assert isinstance(field.key, ChoiceField)
    assert isinstance(field.value, JsonField)


def test_of_two_patterns_the_first_is_shown() -> None:
    field = read({"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "z$"}]})
    assert field == TextField(pattern="^a")


def test_what_stands_beyond_the_places_of_a_tuple_is_kept() -> None:
    field = read({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]})
    for value in ([1, "a", 2.5, None], [1, "a", {"b": 1}], ["x", 2, 3]):
        assert answer_of(field, inputs_of(field, value)).value == value
