"""Objects that lie deep in an answer are closed until somebody, a value or a problem opens them."""

from __future__ import annotations

from typing import Any

from form_parts import inputs, named
from pydantic import BaseModel

from nbgraph import Form


class Street(BaseModel):
    name: str
    number: int = 1


class Look(BaseModel):
    colour: str = "blue"
    size: int = 3


class Person(BaseModel):
    look: Look = Look()
    second: Street | None = None


class Order(BaseModel):
    person: Person


class Answer(BaseModel):
    order: Order


class Needed(BaseModel):
    place: Street


class Lot(BaseModel):
    needed: Needed


class Deep(BaseModel):
    lot: Lot


def openers(form: Form) -> list[Any]:
    return named(form, "nbgraph-open")


def objects(form: Form) -> int:
    """Return how many objects, one in the other, show their fields."""
    return len(named(form, "nbgraph-fields"))


def test_below_two_frames_an_object_is_closed_to_how_many_fields_it_has() -> None:
    form = Form(Answer)
    assert [each.description for each in openers(form)] == ["2 fields"]
    assert objects(form) == 3
    look = {"colour": "blue", "size": 3}
    assert form.value == {"order": {"person": {"look": look, "second": None}}}


def test_a_press_opens_it_and_another_closes_it() -> None:
    form = Form(Answer)
    (opener,) = openers(form)
    opener.click()
    assert objects(form) == 4
    assert opener.icon == "caret-down"
    opener.click()
    assert objects(form) == 3
    assert opener.icon == "caret-right"


def test_what_stands_in_it_opens_it() -> None:
    form = Form(Answer)
    form.value = {"order": {"person": {"look": {"colour": "red"}}}}
    assert objects(form) == 4
    assert form.value == {"order": {"person": {"look": {"colour": "red"}}}}


def test_what_must_be_filled_in_is_open() -> None:
    assert objects(Form(Deep)) == 4


def test_a_problem_opens_it() -> None:
    form = Form(Answer)
    (opener,) = openers(form)
    opener.click()
    size = inputs(form, "Size")[0]
    size.value = "large"
    opener.click()
    assert objects(form) == 3
    assert not form.submit()
    assert objects(form) == 4


def test_one_that_is_null_has_nothing_to_open() -> None:
    schema: dict[str, Any] = {"type": ["object", "null"], "default": None}
    schema["properties"] = {"d": {"type": "string"}}
    for name in "cba":
        schema = {"type": "object", "properties": {name: schema}}
    form = Form(schema)
    assert openers(form) == []
