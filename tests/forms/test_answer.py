"""What was typed becomes an answer of the right type, or an error that keeps what was typed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbgraph.core.answers import UNSET, problems_of
from nbgraph.core.json_values import Json
from nbgraph.forms import Misfit, Parts, answer_of, inputs_of, read, untouched


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "integer"}, "9007199254740993", 9007199254740993),
        ({"type": "integer"}, " -3 ", -3),
        ({"type": "number"}, "6.02e23", 6.02e23),
        ({"type": "number"}, "9007199254740993", 9007199254740993),
        ({"type": "number"}, "1.0", 1.0),
        ({"type": "number"}, "1", 1),
        ({"type": "number", "multipleOf": 0.1}, "0.3", 0.3),
        ({"type": "string"}, "", ""),
        ({"type": "string"}, " kept ", " kept "),
        ({"type": ["string", "null"]}, None, None),
        ({"enum": [1, True]}, 0, 1),
        ({"enum": [1, True]}, 1, True),
        ({}, "[1, 2.0, null]", [1, 2.0, None]),
        ({"type": "string", "format": "duration"}, "1h 30m", "PT1H30M"),
        ({"type": "string", "format": "duration"}, "2 days, 5 min", "P2DT5M"),
        ({"type": "string", "format": "duration"}, "PT90M", "PT90M"),
        ({"anyOf": [{"type": "number"}, {"type": "string", "format": "decimal"}]}, "1.50", "1.50"),
    ],
)
def test_input_becomes_a_value_of_its_type(schema: Any, typed: Any, value: Any) -> None:
    reading = answer_of(read(schema), typed)
    assert (reading.errors, reading.value, type(reading.value)) == ({}, value, type(value))


@pytest.mark.parametrize(
    ("schema", "typed", "error"),
    [
        ({"type": "integer"}, "abc", "Not a whole number. For example 42"),
        ({"type": "integer"}, "1.0", "Not a whole number. For example 42"),
        ({"type": "integer"}, "1e3", "Not a whole number. For example 42"),
        ({"type": "integer"}, "٣", "Not a whole number. For example 42"),
        ({"type": "integer"}, "9" * 5_000, "Too large a number"),
        ({"type": "number"}, "180,00", "Not a number. Use a point: 180.00"),
        ({"type": "number"}, "NaN", "Not a number. Use a point: 180.00"),
        ({"type": "number"}, "inf", "Not a number. Use a point: 180.00"),
        ({"type": "number"}, "1e400", "Too large a number"),
        ({}, "[1", "Not JSON: Expecting ',' delimiter in line 1, column 3"),
        ({}, "[NaN]", "NaN is not a number that JSON knows"),
        ({}, "[1e400]", "1e400 is too large a number"),
        ({}, '{"a": 1, "a": 2}', '"a" is there twice. Keep one.'),
        ({}, "[" * 100_000, "Nested too deep"),
    ],
)
def test_input_that_cannot_be_read_stays_as_typed(schema: Any, typed: str, error: str) -> None:
    reading = answer_of(read(schema), typed)
    assert (reading.value, reading.errors) == (typed, {"": error})


@pytest.mark.parametrize(
    ("schema", "typed", "error"),
    [
        ({"type": "integer", "minimum": 5}, "4", "5 or more"),
        ({"type": "integer", "maximum": 5}, "6", "5 or less"),
        ({"type": "integer", "exclusiveMinimum": 0}, "0", "more than 0"),
        ({"type": "number", "exclusiveMaximum": 1}, "1", "less than 1"),
        ({"type": "number", "multipleOf": 0.1}, "0.35", "in steps of 0.1"),
        ({"type": "string", "minLength": 2}, "a", "2 letters or more"),
        ({"type": "string", "maxLength": 1}, "ab", "1 letter or fewer"),
        ({"type": "string", "format": "date"}, "x", "Not a date. For example 2026-11-29"),
        ({"type": "string", "pattern": "^a$"}, "b", "Does not match the pattern ^a$"),
    ],
)
def test_a_value_out_of_bounds_is_kept_and_told(schema: Any, typed: str, error: str) -> None:
    reading = answer_of(read(schema), typed)
    assert reading.errors == {"": error}
    assert reading.value is not UNSET


ADDRESS = {
    "type": "object",
    "required": ["street"],
    "properties": {
        "street": {"type": "string"},
        "geo": {
            "type": ["object", "null"],
            "required": ["lat"],
            "properties": {
                "lat": {"type": "number"},
                "exact": {"type": "boolean", "default": True},
            },
        },
    },
}


def typed_in(field: Any, raw: Any, *path: str, text: Any) -> Any:
    """Return the inputs of an object with other text in one of them."""
    name, *rest = path
    inner = next(each for each in field.fields if each.name == name)
    below = typed_in(inner, raw.fields[name], *rest, text=text) if rest else text
    return replace(raw, fields={**raw.fields, name: below})


def test_an_optional_object_is_there_when_something_is_filled_in() -> None:
    field = read(ADDRESS)
    inputs = typed_in(field, untouched(field), "street", text="Main St")
    assert answer_of(field, inputs).value == {"street": "Main St"}
    reading = answer_of(field, typed_in(field, inputs, "geo", "exact", text=False))
    assert (reading.value, reading.errors) == (UNSET, {"/geo/lat": "Fill this in"})
    assert answer_of(field, typed_in(field, inputs, "geo", "lat", text="1")).value == {
        "street": "Main St",
        "geo": {"lat": 1, "exact": True},
    }


def test_null_absent_and_empty_are_told_apart() -> None:
    field = read({"type": "object", "properties": {"note": {"type": ["string", "null"]}}})
    given = [{}, {"note": None}, {"note": ""}]
    assert [answer_of(field, inputs_of(field, value)).value for value in given] == given


def test_fields_that_the_schema_does_not_name_are_kept() -> None:
    field = read({"type": "object", "properties": {"a": {"type": "integer"}}})
    value = {"a": 1, "more": [1]}
    raw = inputs_of(field, value)
    assert isinstance(raw, Parts)
    assert raw.others == {"more": [1]}
    assert answer_of(field, raw).value == value


def test_what_an_answer_lacks_is_not_filled_in() -> None:
    schema = {
        "type": "object",
        "required": ["version", "options"],
        "properties": {
            "version": {"const": 2},
            "options": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}},
        },
    }
    field = read(schema)
    assert answer_of(field, untouched(field)).value == {"version": 2, "options": {"a": 1}}
    assert answer_of(field, inputs_of(field, {})).errors == {
        "/version": "Fill this in",
        "/options": "Fill this in",
    }


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, "3"),
        ({"type": "integer"}, 3.0),
        ({"type": "boolean"}, "yes"),
        ({"type": "string"}, 3),
        ({"enum": ["a", "b"]}, "c"),
        ({"type": "string"}, None),
        (ADDRESS, []),
    ],
)
def test_a_value_that_its_field_cannot_show_is_kept_as_it_is(schema: Any, value: Any) -> None:
    field = read(schema)
    inputs = inputs_of(field, value)
    assert inputs == Misfit(value)
    reading = answer_of(field, inputs)
    assert (reading.value, type(reading.value)) == (value, type(value))


# --- every schema of the subset ---------------------------------------------------------------

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers
values = st.recursive(
    scalars | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.text(alphabet="ab/~ $", max_size=3)


@st.composite
def leaf_schemas(draw: st.DrawFn) -> dict[str, Json]:
    kind = draw(
        st.sampled_from([
            {"type": "boolean"},
            {"type": "string"},
            {"type": "string", "minLength": 1, "maxLength": 90},
            {"type": "string", "format": "date"},
            {"type": "string", "pattern": "^[a-z]*$"},
            {"type": "integer"},
            {"type": "integer", "minimum": -3, "exclusiveMaximum": 9},
            {"type": "number"},
            {"type": "number", "multipleOf": 0.5},
            {"anyOf": [{"type": "number"}, {"type": "string", "format": "decimal"}]},
            {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            {"type": "array", "items": {"type": "integer"}},
            {"enum": [1, "1", True, None, "a"]},
            {"const": "x"},
            {"oneOf": [{"const": 0, "title": "Zero"}, {"const": False, "title": "False"}]},
            {"$ref": "#"},
            {},
        ])
    )
    schema: dict[str, Json] = dict(kind)
    if draw(st.booleans()) and "enum" not in schema:
        schema = {"anyOf": [schema, {"type": "null"}]}
    if draw(st.booleans()):
        schema["default"] = draw(values)
    return schema


def object_schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def made(properties: dict[str, Any], required: list[str], closed: bool) -> dict[str, Any]:
        schema: dict[str, Any] = {
            "type": "object",
            "properties": properties,
            "required": sorted({name for name in required if name in properties}),
        }
        return {**schema, "additionalProperties": False} if closed else schema

    return st.builds(
        made,
        st.dictionaries(names, inner, max_size=4),
        st.lists(names, max_size=3),
        st.booleans(),
    )


schemas = st.recursive(leaf_schemas(), object_schemas, max_leaves=8)


@st.composite
def answers_to(draw: st.DrawFn, schema: Any) -> Json:
    """Draw a value that is often good and sometimes not."""
    if not isinstance(schema, dict) or draw(st.integers(0, 9)) == 0:
        return draw(values)
    if "properties" in schema:
        return {
            name: draw(answers_to(inner))
            for name, inner in schema["properties"].items()
            if name in schema["required"] or draw(st.booleans())
        }
    if "anyOf" in schema or "oneOf" in schema:
        return draw(answers_to(draw(st.sampled_from(schema.get("anyOf") or schema["oneOf"]))))
    if "const" in schema or "enum" in schema:
        return draw(st.sampled_from(schema.get("enum") or [schema["const"]]))
    return draw(OF_TYPE.get(schema.get("type"), values))


OF_TYPE = {
    "boolean": st.booleans(),
    "integer": st.integers() | st.integers(-3, 8),
    "number": numbers,
    "string": st.text(max_size=5) | st.sampled_from(["2026-11-29", "1.50", "abc"]),
    "null": st.none(),
}


def text_of(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def holds(value: Json, given: Json) -> bool:
    """Whether all that was given is there; what can only be so (a const, `{}`) may be added."""
    if isinstance(given, dict) and isinstance(value, dict):
        return all(name in value and holds(value[name], given[name]) for name in given)
    return text_of(value) == text_of(given)


@settings(max_examples=400)
@given(st.data())
def test_value_to_input_to_value_is_equal_with_equal_types(data: st.DataObject) -> None:
    schema = data.draw(schemas)
    value = data.draw(answers_to(schema))
    field = read(schema)
    reading = answer_of(field, inputs_of(field, value))
    if problems_of(schema, value):
        assert reading.missing or holds(reading.value, value)
    else:
        assert reading.errors == {}
        assert text_of(reading.value) == text_of(value)


@settings(max_examples=200)
@given(schemas)
def test_an_untouched_form_holds_only_what_the_schema_declares(schema: Any) -> None:
    field = read(schema)
    reading = answer_of(field, untouched(field))
    assert reading.errors.keys() == reading.missing
    if reading.value is not UNSET:
        assert answer_of(field, inputs_of(field, reading.value)).errors == {}
