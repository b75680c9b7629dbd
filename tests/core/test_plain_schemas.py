"""What is plainly a JSON Schema is told without the metaschema, which agrees."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbgraph.core.json_schemas import schema_faults
from nbgraph.core.plain_schemas import is_plainly_a_schema

KEYWORDS = [
    *("type", "properties", "required", "items", "enum", "const", "anyOf", "allOf", "not", "if"),
    *("minimum", "multipleOf", "minLength", "uniqueItems", "title", "default", "$ref", "$defs"),
    *("dependentRequired", "dependencies", "prefixItems", "$id", "$anchor", "examples", "readOnly"),
    *("patternProperties", "propertyNames", "additionalProperties", "minProperties", "definitions"),
    *("$recursiveRef", "$vocabulary", "$dynamicAnchor", "contentSchema", "maxContains", "x-order"),
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.floats(-1, 2)
    | st.sampled_from(["string", "object", "a", "#/$defs/a"]),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(st.sampled_from([*KEYWORDS, "a"]), inner, max_size=2),
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=3))
def test_what_is_plainly_a_schema_has_no_fault(document: dict[str, Any]) -> None:
    if is_plainly_a_schema(document):
        assert schema_faults(document) == {}


@pytest.mark.parametrize(
    "document",
    [
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]},
        {"anyOf": [{"$ref": "#/$defs/a"}, True], "$defs": {"a": {"minimum": 1.5}}},
        {"items": {"enum": []}, "uniqueItems": True, "x-widget": "tags", "default": [{}]},
    ],
)
def test_ordinary_schemas_are_plain(document: dict[str, Any]) -> None:
    assert is_plainly_a_schema(document)


def test_the_first_form_of_a_schema_loads_no_judge() -> None:
    code = (
        "import sys; from nbgraph import Form; "
        "Form({'type': 'object', 'properties': {'a': {'type': 'integer'}}, 'required': ['a']}); "
        "print('jsonschema' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
