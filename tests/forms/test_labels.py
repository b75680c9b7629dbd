"""What a field is called: its own title, else its name; a title it refers to names the kind."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel, Field

from nbgraph.forms import ObjectField, read


class Address(BaseModel):
    street: str


class Colour(Enum):
    red = "red"
    blue = "blue"


class Parcel(BaseModel):
    sent_from: Address
    sent_to: Address | None = None
    return_to: Address = Field(title="Where it goes back")
    ribbon: Colour
    stops: list[Address] = []


def labels(schema: Any) -> list[str]:
    field = read(schema)
    assert isinstance(field, ObjectField)
    return [each.label for each in field.fields]


def test_two_fields_of_one_model_have_names_of_their_own() -> None:
    assert labels(Parcel.model_json_schema()) == [
        "Sent from",
        "Sent to",
        "Where it goes back",
        "Ribbon",
        "Stops",
    ]


@pytest.mark.parametrize(
    "field",
    [
        {"$ref": "#/$defs/Address"},
        {"allOf": [{"$ref": "#/$defs/Address"}]},
        {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}]},
    ],
    ids=["reference", "allOf", "anyOf"],
)
def test_a_title_that_is_referred_to_names_no_field(field: dict[str, Any]) -> None:
    defs = {"Address": {"type": "object", "title": "An address", "properties": {"a": {}}}}
    schema = {"type": "object", "properties": {"home": field}, "$defs": defs}
    assert labels(schema) == ["Home"]
    assert labels({**schema, "properties": {"home": {**field, "title": "At home"}}}) == ["At home"]


def test_the_whole_is_named_by_the_title_it_refers_to() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"title": "Address", "type": "string"}}}
    assert read(schema).label == "Address"
