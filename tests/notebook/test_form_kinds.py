"""Dates, durations, colours, files, secrets, examples, and the controls one asks for."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, date, datetime
from typing import Any

import ipywidgets
import pytest
from form_parts import inputs, named, parts, words
from pydantic import BaseModel, Field, SecretStr

from nbgraph.core.answers import UNSET
from nbgraph.forms import MASK, answer_rows, read
from nbgraph.notebook.form import Form

DAY = {"type": "string", "format": "date"}
MOMENT = {"type": "string", "format": "date-time"}


def part(form: Form, kind: type) -> Any:
    return next(each for each in parts(form) if isinstance(each, kind))


def test_a_day_is_typed_or_picked() -> None:
    form = Form(DAY)
    part(form, ipywidgets.DatePicker).value = date(2026, 11, 29)
    assert form.value == "2026-11-29"
    inputs(form, "Answer")[0].value = "2026-12-01"
    assert part(form, ipywidgets.DatePicker).value == date(2026, 12, 1)
    inputs(form, "Answer")[0].value = "tomorrow"
    assert (form.value, part(form, ipywidgets.DatePicker).value) == ("tomorrow", None)
    assert form.errors == {"": "Not a date. For example 2026-11-29"}


@pytest.mark.parametrize(
    ("typed", "zone", "value"),
    [
        ("2026-11-29 12:04", "+01:00", "2026-11-29T12:04:00+01:00"),
        ("2026-03-08T02:30:00-05:00", "Z", "2026-03-08T02:30:00Z"),
        ("2026-03-08T02:30:00.5-05:00", "no zone", "2026-03-08T02:30:00.5"),
    ],
)
def test_the_zone_of_a_moment_is_chosen(typed: str, zone: str, value: str) -> None:
    form = Form(MOMENT)
    inputs(form, "Answer")[0].value = typed
    part(form, ipywidgets.Dropdown).value = zone
    assert (form.value, form.errors) == (value, {})


@pytest.mark.parametrize("value", ["2026-03-08T02:30:00-05:00", "2026-03-08T02:30:00+05:13"])
def test_the_zone_of_a_moment_is_shown_and_kept(value: str) -> None:
    form = Form({**MOMENT, "default": value})
    assert form.value == value
    assert part(form, ipywidgets.Dropdown).value == value[-6:]


def test_a_duration_in_words_is_read_and_said() -> None:
    form = Form({"type": "string", "format": "duration"})
    inputs(form, "Answer")[0].value = "1h 30m"
    assert (form.value, form.errors) == ("PT1H30M", {})
    assert "read as PT1H30M" in words(form)
    form.value = "P1D"
    assert form.value == "P1D"
    assert "read as PT1H30M" not in words(form)


def test_a_pattern_is_said_in_words_and_stands_in_the_tooltip() -> None:
    form = Form({"type": "string", "pattern": "^[0-9]{5}$"})
    assert "5 digits" in words(form)
    assert inputs(form, "Answer")[0].tooltip == "Pattern: ^[0-9]{5}$"
    unseen = Form({"type": "string", "pattern": "^a\u202eb$"})
    assert "\u202e" not in inputs(unseen, "Answer")[0].tooltip


def test_a_large_number_is_said_in_digits() -> None:
    form = Form(float)
    inputs(form, "Answer")[0].value = "6.02e23"
    assert "read as 602,000,000,000,000,000,000,000" in [text[:39] for text in words(form)]


def test_a_colour_is_typed_or_picked() -> None:
    form = Form({"type": "string", "format": "color"})
    assert form.value is UNSET
    part(form, ipywidgets.ColorPicker).value = "#1f77b4"
    assert form.value == "#1f77b4"
    inputs(form, "Answer")[0].value = "teal"
    assert (form.value, form.errors) == ("teal", {})
    inputs(form, "Answer")[0].value = "#12"
    assert list(form.errors) == [""]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"format": "base64"}, b64encode(b"lamp").decode()),
        ({"contentEncoding": "base64"}, b64encode(b"lamp").decode()),
        ({"format": "data-url"}, "data:text/plain;base64,bGFtcA=="),
        ({"format": "binary"}, "lamp"),
    ],
)
def test_a_file_fills_a_text_in(schema: dict[str, Any], value: str) -> None:
    form = Form({"type": "string", **schema})
    upload(form, b"lamp")
    assert (form.value, form.errors) == (value, {})
    assert part(form, ipywidgets.FileUpload).value == ()


def test_a_file_that_is_too_large_is_refused() -> None:
    form = Form({"type": "string", "format": "base64"})
    upload(form, b"x" * 5_000_001)
    assert form.value is UNSET
    assert "lamp.txt is too large, or no text. Up to 5 MB." in words(form)


def upload(form: Form, content: bytes) -> None:
    file = {"name": "lamp.txt", "type": "text/plain", "size": len(content), "content": content,
            "last_modified": datetime(2026, 11, 29, tzinfo=UTC)}  # fmt: skip
    part(form, ipywidgets.FileUpload).value = (file,)


# --- secrets ----------------------------------------------------------------------------------


class Login(BaseModel):
    name: str
    key: SecretStr


def test_a_secret_is_sent_and_then_nowhere_on_the_page() -> None:
    form, sent = Form(Login, value={"name": "desk", "key": "hunter2"}), []
    form.on_submit(sent.append)
    assert form.submit()
    assert sent == [{"name": "desk", "key": "hunter2"}]
    assert "hunter2" not in state_of(form)
    assert form.value == {"name": "desk", "key": "hunter2"}


def test_a_secret_is_not_in_the_json_nor_in_code() -> None:
    form = Form(Login, value={"name": "desk", "key": "hunter2"})
    named(form, "nbgraph-json")[0].index = 1
    text = inputs(form, "Answer")[0]
    assert "hunter2" not in text.value
    text.value = text.value.replace("desk", "night")
    assert form.value == {"name": "night", "key": "hunter2"}
    assert "hunter2" not in form.code()
    named(form, "nbgraph-json")[0].index = 0
    assert form.value == {"name": "night", "key": "hunter2"}
    assert eval(form.code(), {"getpass": lambda: "x"}) == {"name": "night", "key": "x"}


def test_a_secret_is_not_in_an_error_nor_in_what_is_read_of_an_answer() -> None:
    form = Form({"type": "string", "format": "password", "minLength": 20}, value="hunter2")
    form.submit()
    assert not any("hunter2" in text for text in words(form))
    assert answer_rows(read({"type": "string", "format": "password"}), "hunter2") == [
        ("Answer", MASK)
    ]


def state_of(form: Form) -> str:
    return repr([each.get_state() for each in parts(form)])


# --- examples, order, overrides ---------------------------------------------------------------


class Order(BaseModel):
    city: str = Field(examples=["Bremen", "Ulm"])
    count: int = Field(examples=[3])
    note: str


def test_examples_are_proposed_and_filled_in_where_nothing_is() -> None:
    form = Form(Order)
    assert inputs(form, "City")[0].options == ("Bremen", "Ulm")
    inputs(form, "Count")[0].value = "7"
    named(form, "nbgraph-example")[0].click()
    assert form.errors == {"/note": "Fill this in"}
    inputs(form, "Note")[0].value = "x"
    assert form.value == {"city": "Bremen", "count": 7, "note": "x"}


def test_without_examples_there_is_no_button_for_them() -> None:
    assert named(Form(Login), "nbgraph-example") == []


def test_parts_of_an_answer_can_be_filled_in_at_first() -> None:
    form = Form(Order, initial={"city": "Kiel", "count": "not a number"})
    assert form.errors == {"/count": "Fill this in", "/note": "Fill this in"}
    assert inputs(form, "City")[0].value == "Kiel"


def test_a_control_of_ones_own_stands_at_its_pointer() -> None:
    form = Form(
        {"properties": {"rows": {"type": "array", "items": {"type": "integer"}}}},
        widgets={"/rows/*": lambda field: ipywidgets.IntSlider(value=5, max=9)},
        value={"rows": [2]},
    )
    slider = part(form, ipywidgets.IntSlider)
    assert slider.value == 2
    slider.value = 7
    assert form.value == {"rows": [7]}


@pytest.mark.parametrize("key", ["x-widget", "ui:widget"])
@pytest.mark.parametrize(
    ("schema", "asked", "kind"),
    [
        ({"type": "string"}, "textarea", ipywidgets.Textarea),
        ({"type": "string"}, "password", ipywidgets.Password),
        ({"type": "string", "maxLength": 500}, "text", ipywidgets.Text),
        ({"type": "integer", "minimum": 0, "maximum": 9}, "slider", ipywidgets.IntSlider),
        ({"type": "number", "minimum": 0, "maximum": 1}, "slider", ipywidgets.FloatSlider),
        ({"enum": ["a", "b"]}, "select", ipywidgets.Dropdown),
        ({"enum": list("abcdef")}, "radio", ipywidgets.RadioButtons),
    ],
)
def test_a_schema_can_ask_for_a_control(schema: Any, asked: str, kind: type, key: str) -> None:
    form = Form({**schema, key: asked})
    assert isinstance(inputs(form, "Answer")[0], kind)
    assert form.value is UNSET


def test_a_slider_says_what_is_chosen() -> None:
    form = Form({"type": "integer", "minimum": 0, "maximum": 9, "x-widget": "slider"})
    assert "nothing chosen" in words(form)
    inputs(form, "Answer")[0].value = 4
    assert form.value == 4
    assert "4" in words(form)


def test_a_field_that_is_no_longer_used_says_so() -> None:
    form = Form({"properties": {"old": {"type": "string", "deprecated": True}}})
    assert len(named(form, "nbgraph-deprecated")) == 1
    assert "no longer used" in words(form)


def test_json_keeps_what_the_form_cannot_show() -> None:
    form = Form({"properties": {"a": {"type": "integer"}}}, value={"a": 1, "more": {"b": [2]}})
    switch = named(form, "nbgraph-json")[0]
    switch.index = 1
    assert form.value == {"a": 1, "more": {"b": [2]}}
    switch.index = 0
    inputs(form, "A")[0].value = "3"
    assert form.value == {"a": 3, "more": {"b": [2]}}
