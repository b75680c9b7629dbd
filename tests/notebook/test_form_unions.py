"""Unions, recursion, and fields that depend on the answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from form_parts import add, errors_shown, inputs, named
from pydantic import BaseModel, Field

from nbgraph.core.answers import UNSET
from nbgraph.notebook.form import Form


class Card(BaseModel):
    kind: Literal["card"]
    last_digits: Annotated[str, Field(pattern=r"^\d{4}$")]
    holder: str = "nobody"


class Bank(BaseModel):
    kind: Literal["bank"] = "bank"
    iban: str
    holder: str


class Payment(BaseModel):
    how: Annotated[Card | Bank, Field(discriminator="kind")]
    tip: Annotated[Card | Bank, Field(discriminator="kind")] | None = None


class Linked(BaseModel):
    value: int
    next: Linked | None = None


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


type_of_json = dict[str, Any]


def choice(form: Form, index: int = 0) -> Any:
    return inputs(form, "Kind")[index]


def test_nothing_is_chosen_before_a_person_chooses() -> None:
    form = Form(Payment)
    assert (form.value, form.errors) == (UNSET, {"/how": "Choose one"})
    assert choice(form).index is None


def test_the_branch_that_is_chosen_has_its_fields_and_its_tag() -> None:
    form = Form(Payment)
    choice(form).index = 1
    assert form.errors == {"/how/iban": "Fill this in", "/how/holder": "Fill this in"}
    inputs(form, "Iban")[0].value = "DE00"
    inputs(form, "Holder")[0].value = "Front Desk"
    assert form.value == {
        "how": {"kind": "bank", "iban": "DE00", "holder": "Front Desk"},
        "tip": None,
    }


def test_what_two_branches_share_is_carried_over_and_the_rest_is_not_sent() -> None:
    form = Form(Payment)
    choice(form).index = 1
    inputs(form, "Iban")[0].value = "DE00"
    inputs(form, "Holder")[0].value = "Front Desk"
    choice(form).index = 0
    inputs(form, "Last Digits")[0].value = "4242"
    assert form.value["how"] == {
        "kind": "card",
        "last_digits": "4242",
        "holder": "Front Desk",
    }


def test_none_is_one_more_choice() -> None:
    form = Form(int | str | None)
    assert form.value is UNSET
    choice(form).index = 2
    assert (form.value, form.errors) == (None, {})
    choice(form).index = 0
    assert form.value is UNSET


@pytest.mark.parametrize(
    ("kind", "value", "index"),
    [
        (int | str, 3, 0),
        (int | str, "3", 1),
        (str | list[str], ["a"], 1),
        (bool | int, 1, 1),
        (Card | Bank, {"iban": "DE00", "holder": "x"}, 1),
        (Annotated[Card | Bank, Field(discriminator="kind")] | None, None, 2),
    ],
)
def test_the_branch_is_guessed_from_a_value(kind: Any, value: Any, index: int) -> None:
    form = Form(kind, value=value)
    assert (form.value, type(form.value), form.errors) == (value, type(value), {})
    assert choice(form).index == index


def test_text_is_carried_over_to_a_number_where_it_is_one() -> None:
    form = Form({"anyOf": [{"type": "string"}, {"type": "integer"}]}, value="12")
    choice(form).index = 1
    assert form.value is UNSET
    form.value = 12
    choice(form).index = 0
    assert form.value == "12"


def test_an_error_inside_a_branch_stands_at_its_field() -> None:
    form = Form(Payment, value={"how": {"kind": "card", "last_digits": "x"}})
    assert list(form.errors) == ["/how/last_digits"]
    assert len(errors_shown(form)) == 1


def test_a_value_of_no_branch_is_kept_and_told() -> None:
    form = Form(int | bool, value=[1])
    assert (form.value, form.errors) == ([1], {"": form.errors[""]})
    choice(form).index = 1
    assert form.value is UNSET


def test_the_fields_of_a_branch_left_behind_are_not_sent() -> None:
    schema = {
        "oneOf": [
            {"properties": {"mode": {"const": "off"}}, "required": ["mode"]},
            {
                "properties": {"mode": {"const": "verify"}, "ca": {"type": "string"}},
                "required": ["mode", "ca"],
            },
        ],
        "type": "object",
    }
    form = Form(schema)
    choice(form).index = 1
    inputs(form, "Ca")[0].value = "/etc/ca.pem"
    assert form.value == {"mode": "verify", "ca": "/etc/ca.pem"}
    choice(form).index = 0
    assert (form.value, form.errors) == ({"mode": "off"}, {})


def test_a_map_of_unions() -> None:
    form = Form(dict[str, Card | Bank])
    add(form)
    named(form, "nbgraph-map-key")[0].value = "first"
    choice(form).index = 1
    inputs(form, "Iban")[0].value = "DE00"
    inputs(form, "Holder")[0].value = "Desk"
    assert form.value == {"first": {"kind": "bank", "iban": "DE00", "holder": "Desk"}}


# --- recursion --------------------------------------------------------------------------------


def test_a_recursive_optional_opens_one_level_at_a_time() -> None:
    form = Form(Linked)
    for level in range(3):
        inputs(form, "Value")[level].value = str(level)
        add(form)
    assert list(form.errors) == ["/next/next/next/value"]
    named(form, "nbgraph-remove")[0].click()
    assert form.errors == {}
    inner = form.value["next"]["next"]
    assert inner["value"] == 2


def test_a_recursive_list_opens_with_each_row() -> None:
    form = Form(Tree)
    inputs(form, "Name")[0].value = "root"
    add(form)
    inputs(form, "Name")[1].value = "leaf"
    assert form.value == {"name": "root", "children": [{"name": "leaf", "children": []}]}


def test_a_deep_recursive_value_is_shown_and_comes_back() -> None:
    value: dict[str, Any] = {"value": 0, "next": None}
    for number in range(1, 40):
        value = {"value": number, "next": value}
    form = Form(Linked, value=value)
    assert (form.value, form.errors) == (value, {})


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        {"allOf": [{"$ref": "#"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"properties": {"other": {"$ref": "#", "default": {}}, "a": {"$ref": "#", "default": {}}}},
        {
            "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
            | {"d40": True},
            "$ref": "#/$defs/d0",
        },
        {
            "$defs": {"e": {"anyOf": [
                {"properties": {"l": {"$ref": "#/$defs/e"}, "r": {"$ref": "#/$defs/e"}}},
                {"properties": {"a": {"$ref": "#/$defs/e"}, "b": {"$ref": "#/$defs/e"}}},
            ]}},
            "$ref": "#/$defs/e",
        },
    ],
)  # fmt: skip
def test_a_schema_that_never_ends_has_a_form(schema: dict[str, Any]) -> None:
    form = Form(schema)
    assert form.value is UNSET or form.value == {}
    deep: dict[str, Any] = {}
    for _ in range(30):
        deep = {"l": deep, "r": {"a": deep}}
    form.value = {"a": {}, "b": {"l": {}}}
    assert form.value == {"a": {}, "b": {"l": {}}}


# --- fields that depend on the answer ---------------------------------------------------------

SHIPPING: dict[str, Any] = {
    "type": "object",
    "required": ["way"],
    "properties": {"way": {"enum": ["post", "pick up"]}},
    "if": {"properties": {"way": {"const": "post"}}},
    "then": {"properties": {"street": {"type": "string"}}, "required": ["street"]},
    "else": {"properties": {"shop": {"enum": ["north", "south"]}}},
}


def test_fields_come_and_go_with_the_answer() -> None:
    form = Form(SHIPPING)
    assert inputs(form, "Street") == inputs(form, "Shop") == []
    inputs(form, "Way")[0].index = 0
    inputs(form, "Street")[0].value = "Main St"
    assert form.value == {"way": "post", "street": "Main St"}
    inputs(form, "Way")[0].index = 1
    assert (form.value, inputs(form, "Street")) == ({"way": "pick up"}, [])
    inputs(form, "Way")[0].index = 0
    assert form.value == {"way": "post", "street": "Main St"}


def test_the_star_of_a_dependent_field_appears() -> None:
    schema = {
        "properties": {"card": {"type": "string"}, "holder": {"type": "string"}},
        "dependentRequired": {"card": ["holder"]},
    }
    form = Form(schema)
    assert inputs(form, "Holder")[0].description == "Holder"
    inputs(form, "Card")[0].value = "4242"
    assert inputs(form, "Holder")[0].description == "Holder *"
    assert form.errors == {"/holder": "Fill this in"}
    inputs(form, "Holder")[0].value = "Desk"
    inputs(form, "Card")[0].value = ""
    assert (form.value, inputs(form, "Holder")[0].value) == ({"holder": "Desk"}, "Desk")


def test_a_value_in_another_shape_shows_its_fields() -> None:
    form = Form(SHIPPING, value={"way": "pick up", "shop": "south"})
    assert (form.value, len(inputs(form, "Shop"))) == ({"way": "pick up", "shop": "south"}, 1)
    form.value = {"way": "post", "street": "Main St", "more": 1}
    assert (form.value, len(inputs(form, "Street"))) == (
        {"way": "post", "street": "Main St", "more": 1},
        1,
    )


def test_conditions_inside_conditions() -> None:
    schema = {
        "required": ["a"],
        "properties": {"a": {"enum": [1, 2, 3]}},
        "if": {"properties": {"a": {"const": 1}}},
        "then": {"properties": {"one": {"type": "string"}}},
        "else": {
            "if": {"properties": {"a": {"const": 2}}},
            "then": {"properties": {"two": {"type": "string"}}},
            "else": {"properties": {"three": {"type": "string"}}},
        },
    }
    form = Form(schema)
    for index, label in enumerate(["One", "Two", "Three"]):
        inputs(form, "A")[0].index = index
        assert [bool(inputs(form, each)) for each in ("One", "Two", "Three")] == [
            each == label for each in ("One", "Two", "Three")
        ]


def test_all_of_is_one_form() -> None:
    schema = {
        "allOf": [
            {"properties": {"p": {"type": "string"}}},
            {"properties": {"q": {"type": "integer"}}},
        ]
    }
    form = Form(schema)
    inputs(form, "P")[0].value = "x"
    inputs(form, "Q")[0].value = "1"
    assert form.value == {"p": "x", "q": 1}
