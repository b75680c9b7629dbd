"""Lists, tuples, sets and maps: rows that are added, moved and taken away."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import ipywidgets
import pytest
from form_parts import add, errors_shown, inputs, named, parts, words
from pydantic import BaseModel, Field

from nbgraph.core.answers import UNSET
from nbgraph.notebook.form import Form


class Item(BaseModel):
    name: str
    price: Annotated[float, Field(gt=0)] = 1.0


class Point(NamedTuple):
    x: float
    label: str = "p"


def press(form: Form, name: str, index: int = 0) -> None:
    named(form, name)[index].click()


def test_an_untouched_list_is_unset_and_missing() -> None:
    form = Form(list[str])
    assert (form.value, form.errors) == (UNSET, {"": "Fill this in"})


def test_rows_are_added_filled_in_and_taken_away() -> None:
    form = Form(list[str])
    add(form)
    assert form.errors == {"/0": "Fill this in"}
    add(form)
    for box, text in zip(inputs(form, "Answer"), ["desk", "lamp"], strict=True):
        box.value = text
    assert form.value == ["desk", "lamp"]
    press(form, "nbgraph-remove")
    assert form.value == ["lamp"]
    press(form, "nbgraph-remove")
    assert (form.value, form.errors) == ([], {})


def test_rows_move_up_and_down() -> None:
    form = Form(list[int], value=[1, 2, 3])
    press(form, "nbgraph-down", 0)
    assert form.value == [2, 1, 3]
    press(form, "nbgraph-up", 2)
    assert form.value == [2, 3, 1]
    press(form, "nbgraph-up", 0)
    assert form.value == [2, 3, 1]
    assert [button for button in named(form, "nbgraph-up") if "nbgraph-held" in
            button._dom_classes] == named(form, "nbgraph-up")[:1]  # fmt: skip


def test_a_moved_row_takes_its_error_along() -> None:
    form = Form(list[int])
    add(form)
    add(form)
    inputs(form, "Answer")[0].value = "x"
    press(form, "nbgraph-down", 0)
    assert list(form.errors) == ["/0", "/1"]
    assert errors_shown(form) == ["Not a whole number. For example 42"]
    inputs(form, "Answer")[1].value = "1"
    assert errors_shown(form) == []


def test_an_empty_list_can_be_meant() -> None:
    form = Form(list[str])
    press(form, "nbgraph-empty")
    assert (form.value, form.errors, named(form, "nbgraph-empty")) == ([], {}, [])


def test_an_optional_list_is_left_out_until_it_is_touched() -> None:
    form = Form({"properties": {"tags": {"type": "array", "items": {"type": "string"}}}})
    assert form.value == {}
    add(form)
    inputs(form, "Tags")[0].value = "vip"
    assert form.value == {"tags": ["vip"]}


def test_no_more_rows_than_allowed() -> None:
    form = Form(Annotated[list[int], Field(min_length=1, max_length=2)], value=[1])
    assert "1 of 1 to 2" in words(form)
    add(form)
    add(form)
    assert len(named(form, "nbgraph-item")) == 2
    assert "nbgraph-held" in named(form, "nbgraph-add")[0]._dom_classes
    form.value = []
    assert form.errors == {"": "1 or more"}


def test_a_set_tells_what_is_there_twice() -> None:
    form = Form(set[str], value=["vip", "eu", "vip"])
    assert form.value == ["vip", "eu", "vip"]
    assert errors_shown(form) == ['"vip" is there twice. Keep one.']


def test_a_set_of_a_few_options_is_ticked() -> None:
    form = Form(set[Literal["mail", "phone", "post"]])
    ticks = [each for each in parts(form) if isinstance(each, ipywidgets.Checkbox)]
    assert (form.value, [tick.description for tick in ticks]) == (UNSET, ["mail", "phone", "post"])
    ticks[2].value = True
    ticks[0].value = True
    assert form.value == ["mail", "post"]
    ticks[0].value = ticks[2].value = False
    assert (form.value, form.errors) == ([], {})


def test_the_order_of_ticked_options_is_kept_until_one_is_changed() -> None:
    form = Form(set[Literal["a", "b", "c"]], value=["c", "a"])
    assert form.value == ["c", "a"]


def test_a_list_of_objects_is_a_row_of_fields_each() -> None:
    form = Form(list[Item])
    add(form)
    assert form.errors == {"/0/name": "Fill this in"}
    inputs(form, "Name")[0].value = "desk"
    inputs(form, "Price")[0].value = "-4.9"
    assert errors_shown(form) == ["more than 0"]
    inputs(form, "Price")[0].value = "4.9"
    assert (form.value, form.errors) == ([{"name": "desk", "price": 4.9}], {})


def test_a_list_of_lists() -> None:
    form = Form(list[list[int]], value=[[1, 2], []])
    assert form.value == [[1, 2], []]
    form.value = [[1], ["x"]]
    assert form.errors == {"/1/0": "Not a whole number. For example 42"}


def test_a_tuple_has_a_field_for_each_place() -> None:
    form = Form(tuple[int, str])
    assert form.errors == {"/0": "Fill this in", "/1": "Fill this in"}
    inputs(form, "1")[0].value = "3"
    inputs(form, "2")[0].value = "y"
    assert form.value == [3, "y"]


def test_the_last_places_of_a_tuple_can_be_left_out() -> None:
    form = Form(Point, value=[1.5])
    assert form.value == [1.5]
    inputs(form, "Label")[0].value = "q"
    assert form.value == [1.5, "q"]


def test_places_a_tuple_does_not_have_are_kept() -> None:
    form = Form({"type": "array", "prefixItems": [{"type": "integer"}]}, value=[1, "more", None])
    assert form.value == [1, "more", None]


def test_a_map_is_rows_of_key_and_value() -> None:
    form = Form(dict[str, int])
    add(form)
    assert form.errors == {"/": "Name this entry"}
    named(form, "nbgraph-map-key")[0].value = "lamp"
    assert form.errors == {"/lamp": "Fill this in"}
    inputs(form, "Answer")[0].value = "2"
    assert form.value == {"lamp": 2}
    named(form, "nbgraph-map-key")[0].value = "desk"
    assert form.value == {"desk": 2}
    press(form, "nbgraph-remove")
    assert (form.value, form.errors) == ({}, {})


def test_a_key_that_is_there_twice_is_told_at_the_second() -> None:
    form = Form(dict[str, int], value={"lamp": 2})
    add(form)
    named(form, "nbgraph-map-key")[1].value = "lamp"
    inputs(form, "Answer")[1].value = "1"
    assert errors_shown(form) == ['"lamp" is there twice. Keep one.']
    assert form.submit() is False


def test_the_keys_of_a_map_can_be_a_few_names() -> None:
    form = Form(dict[Literal["a", "b"], bool])
    add(form)
    key = named(form, "nbgraph-map-key")[0]
    assert isinstance(key, ipywidgets.Dropdown)
    key.index = 2
    inputs(form, "Answer")[0].index = 0
    assert form.value == {"b": True}
    form.value = {"c": True}
    assert (form.value, list(form.errors)) == ({"c": True}, ["/c"])


def test_a_key_is_checked_against_its_pattern() -> None:
    schema = {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}}
    form = Form({**schema, "additionalProperties": False})
    form.value = {"x-a": 1}
    assert form.errors == {}
    named(form, "nbgraph-map-key")[0].value = "a"
    assert list(form.errors) == ["/a"]


def test_fields_of_any_name_can_be_added_beside_the_named_ones() -> None:
    form = Form({
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    })
    add(form)
    named(form, "nbgraph-map-key")[0].value = "note"
    inputs(form, "More fields")[0].value = "hello"
    assert form.value == {"note": "hello"}
    named(form, "nbgraph-map-key")[0].value = "a"
    inputs(form, "A")[0].value = "1"
    assert list(form.errors) == ["/a"]


@pytest.mark.parametrize("value", [[], {}, "x", 3, [1, {}], {"a": [1]}, None])
@pytest.mark.parametrize("kind", [list[int], dict[str, int], tuple[int, str], set[Literal["a"]]])
def test_what_rows_cannot_show_is_kept_and_told(kind: Any, value: Any) -> None:
    form = Form(kind, value=value)
    assert form.value == value or form.value is UNSET
    assert form.errors or value in ([], {})


def test_null_is_not_an_empty_list() -> None:
    form = Form(list[str] | None)
    named(form, "nbgraph-null")[0].value = True
    assert (form.value, form.errors) == (None, {})
    named(form, "nbgraph-null")[0].value = False
    assert form.value is UNSET
    form.value = []
    assert form.value == []


def test_a_locked_list_has_no_buttons_that_act() -> None:
    form = Form({"type": "array", "items": {"type": "string"}, "readOnly": True}, value=["a"])
    pressed = [*named(form, "nbgraph-add"), *named(form, "nbgraph-remove")]
    assert [button.disabled for button in pressed] == [True, True]


def test_rows_that_are_gone_leave_no_widget_behind() -> None:
    form = Form(list[Item], value=[{"name": "desk"}])
    row = named(form, "nbgraph-item")[0]
    inner = list(parts(row))
    press(form, "nbgraph-remove")
    assert [each for each in inner if each.comm is not None] == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (list[str], [f"word {number}" for number in range(5_000)]),
        (dict[str, int], {f"key {number}": number for number in range(5_000)}),
        (list[list[int]], [[1, 2]] * 120),
    ],
)
def test_what_is_too_long_for_rows_is_kept_and_shown_as_it_is(kind: Any, value: Any) -> None:
    form = Form(kind, value=value)
    assert (form.value, form.errors) == (value, {})
    assert len(list(parts(form))) < 8_000
    form.value = value[:-1] if isinstance(value, list) else {}
    assert form.errors == {}


def test_a_default_that_is_too_long_for_rows_is_not_filled_in() -> None:
    form = Form({"properties": {"a": {"type": "array", "items": {}, "default": [1] * 90_000}}})
    assert len(list(parts(form))) < 100
    assert (form.value, form.errors) == ({}, {})


def test_too_many_lines_are_not_pasted() -> None:
    form = Form(list[str])
    named(form, "nbgraph-paste")[0].click()
    lines = named(form, "nbgraph-lines")[0]
    lines.value = "\n".join(map(str, range(301)))
    assert form.errors == {"": "Fill this in"}
    assert "up to 300 rows; write more as JSON" in words(form)
