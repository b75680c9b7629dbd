"""Times, tags, tables, pasted lines, names of keys, and what is left out again."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any, Literal

import ipywidgets
import pytest
from form_parts import add, errors_shown, inputs, named, parts, words
from pydantic import BaseModel

from nbgraph.core.answers import UNSET
from nbgraph.notebook.form import Form

TIME = {"type": "string", "format": "time"}
MOMENT = {"type": "string", "format": "date-time"}
LETTERS = [chr(97 + at) for at in range(14)]


def part(form: Form, kind: type) -> Any:
    return next(each for each in parts(form) if isinstance(each, kind))


# --- days and times ---


def test_a_time_is_typed_or_picked_and_its_zone_stays() -> None:
    form = Form(TIME, value="12:04:00+02:00")
    picker = part(form, ipywidgets.TimePicker)
    assert picker.value == time(12, 4)
    picker.value = time(13, 5, 6)
    assert form.value == "13:05:06+02:00"
    inputs(form, "Answer")[0].value = "9"
    assert (form.value, picker.value) == ("9", None)
    assert form.errors == {"": "Not a time of day. For example 12:04:00"}


def test_a_moment_is_picked_in_the_zone_that_stands_there() -> None:
    form = Form(MOMENT, value="2026-11-29T12:04:00-03:30")
    picker = part(form, ipywidgets.NaiveDatetimePicker)
    assert picker.value == datetime(2026, 11, 29, 12, 4)
    picker.value = datetime(2026, 12, 1, 8, 0)
    assert form.value == "2026-12-01T08:00:00-03:30"


def test_a_zone_that_is_chosen_first_counts_for_what_is_picked() -> None:
    form = Form(MOMENT)
    next(each for each in inputs(form, "") if isinstance(each, ipywidgets.Dropdown)).value = "Z"
    assert form.value is UNSET
    part(form, ipywidgets.NaiveDatetimePicker).value = datetime(2026, 12, 1, 8, 0)
    assert form.value == "2026-12-01T08:00:00Z"


@pytest.mark.parametrize("text", ["", "x", "2026-13-01T00:00:00Z", "24:00", "2026-11-29 12:04"])
def test_what_is_typed_stays_as_it_is_beside_a_picker(text: str) -> None:
    for schema in (TIME, MOMENT, {"type": "string", "format": "date"}):
        form = Form(schema)
        inputs(form, "Answer")[0].value = text
        assert form.value == (text or UNSET)


# --- tags ---


@pytest.mark.parametrize("more", [[], [5, 6, 7], list(range(5, 40))])
def test_the_option_of_a_number_that_is_written_otherwise_is_seen(more: list[int]) -> None:
    form = Form({"enum": [1, 2, *more]}, value=2.0)
    control = inputs(form, "Answer")[0]
    shown = control.value if isinstance(control, ipywidgets.Combobox) else control.label
    assert (shown, repr(form.value), form.errors) == ("2", "2.0", {})


def test_one_of_many_options_is_a_tag_and_keeps_its_type() -> None:
    kind = {"type": "array", "uniqueItems": True, "items": {"enum": [*range(13), "0"]}}
    form = Form(kind, value=[3, "0"])
    tags = part(form, ipywidgets.TagsInput)
    assert tags.value == ["3", "0 (text)"]
    tags.value = ["0 (number)", "3"]
    assert form.value == [0, 3]


def test_what_cannot_be_a_tag_is_kept_and_shown() -> None:
    form = Form({"type": "array", "uniqueItems": True, "items": {"enum": LETTERS}}, value=["a", 7])
    assert "7" in words(form)
    part(form, ipywidgets.TagsInput).value = ["a", "b"]
    assert form.value == ["a", "b", 7]
    assert form.errors != {}


def test_texts_are_tags_where_the_schema_asks_for_it() -> None:
    kind = {"type": "array", "items": {"type": "string", "minLength": 2}, "x-widget": "tags"}
    form = Form(kind)
    assert form.value is UNSET
    part(form, ipywidgets.TagsInput).value = ["ab", "c"]
    assert (form.value, form.errors) == (["ab", "c"], {"/1": "2 letters or more"})


# --- lists ---


def test_pasted_lines_become_entries() -> None:
    form = Form(list[int], value=[1])
    named(form, "nbgraph-paste")[0].click()
    lines = inputs(form, "Lines")[0]
    lines.value = " 2 \n\nx\n3"
    assert form.value == [1, 2, "x", 3]
    assert form.errors == {"/2": "Not a whole number. For example 42"}
    assert inputs(form, "Lines") == []
    named(form, "nbgraph-paste")[0].click()
    assert inputs(form, "Lines")[0].value == ""


def test_lines_are_options_by_their_names() -> None:
    form = Form({"type": "array", "items": {"enum": [1, "1", "b"]}})
    named(form, "nbgraph-paste")[0].click()
    inputs(form, "Lines")[0].value = "1 (number)\nb\nc"
    assert form.value == [1, "b", "c"]


def test_secrets_and_objects_are_not_pasted() -> None:
    for item in ({"type": "string", "format": "password"}, {"type": "object", "properties": {}}):
        assert named(Form({"type": "array", "items": item}), "nbgraph-paste") == []


class Line(BaseModel):
    article: str
    count: int = 1


def test_more_than_three_flat_objects_are_a_table() -> None:
    form = Form(list[Line], value=[{"article": "lamp", "count": 1}] * 3)
    assert named(form, "nbgraph-as-table") == []
    add(form)
    assert len(named(form, "nbgraph-as-table")) == 1
    named(form, "nbgraph-remove")[0].click()
    assert named(form, "nbgraph-as-table") == []


def test_what_has_parts_of_its_own_is_no_row_of_a_table() -> None:
    class Deep(BaseModel):
        article: str
        labels: list[str]

    form = Form(list[Deep], value=[{"article": "lamp", "labels": []}] * 5)
    assert named(form, "nbgraph-as-table") == []


# --- keys of a map ---


def options(key: Any) -> list[str]:
    return [text for text, _ in key.options]


def test_a_key_is_one_that_no_other_row_has() -> None:
    form = Form(dict[Literal["small", "large", "odd"], int])
    add(form)
    first = named(form, "nbgraph-map-key")[0]
    first.index = 1
    add(form)
    second = named(form, "nbgraph-map-key")[1]
    assert options(second) == ["choose…", "large", "odd"]
    second.index = 2
    assert options(first) == ["choose…", "small", "large"]
    for each, text in zip(inputs(form, "Answer"), ("1", "2"), strict=True):
        each.value = text
    assert form.value == {"small": 1, "odd": 2}
    named(form, "nbgraph-remove")[0].click()
    assert options(named(form, "nbgraph-map-key")[0]) == ["choose…", "small", "large", "odd"]
    assert form.value == {"odd": 2}


# --- left out again ---

ABSENT = [
    {"type": "object", "properties": {"a": {"type": "string"}}},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"type": "array", "prefixItems": [{"type": "string"}]},
    {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b"]}},
    {"type": "array", "uniqueItems": True, "items": {"enum": LETTERS}},
    {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
]
GIVEN = [{"a": "x"}, ["x"], {"a": "x"}, ["x"], ["b"], ["c"], None]


@pytest.mark.parametrize(("schema", "given"), list(zip(ABSENT, GIVEN, strict=True)))
def test_a_part_that_may_be_absent_can_be_left_out_again(schema: Any, given: Any) -> None:
    form = Form({"type": "object", "properties": {"p": schema}})
    assert (form.value, named(form, "nbgraph-leave")) == ({}, [])
    form.value = {"p": given}
    assert form.value == {"p": given}
    named(form, "nbgraph-leave")[0].click()
    assert (form.value, form.errors, named(form, "nbgraph-leave")) == ({}, {}, [])
    assert errors_shown(form) == []


def test_a_part_that_is_needed_cannot_be_left_out() -> None:
    form = Form({"type": "object", "properties": {"p": ABSENT[1]}, "required": ["p"]})
    form.value = {"p": ["x"]}
    assert named(form, "nbgraph-leave") == []


# --- what a form costs ---


def test_a_field_of_a_form_is_three_models_at_most() -> None:
    kinds = [{"type": "string", "minLength": 2}, {"type": "integer"}, {"type": "boolean"}]
    fields = {f"f{at}": kinds[at % 3] for at in range(99)}
    made: list[Any] = []
    ipywidgets.Widget.on_widget_constructed(made.append)
    try:
        form = Form({"type": "object", "properties": fields, "required": list(fields)})
    finally:
        ipywidgets.Widget.on_widget_constructed(None)
    assert len(made) <= 3 * 99 + 30
    form.close()
