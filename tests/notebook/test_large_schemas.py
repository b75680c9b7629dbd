"""Schemas that are very large in one way or another have a form at once, and it stays small."""

from __future__ import annotations

import json
import time
from functools import reduce
from typing import Any

import pytest
from form_parts import parts

from nbgraph.notebook.form import Form

LONG = "x" * 1_000_000


def _with(field: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": field}}


LARGE = {
    "title": _with({"type": "string", "title": LONG, "description": LONG}),
    "enum": _with({"enum": [f"option {number} {'x' * 80}" for number in range(100_000)]}),
    "searched enum": _with({"enum": [f"option {number}" for number in range(19_000)]}),
    "definitions": {
        **_with({"$ref": "#/$defs/d5"}),
        "$defs": {f"d{number}": {"type": "string", "title": "x" * 90} for number in range(50_000)},
    },
    "properties": {"properties": {f"f{number}": {"type": "string"} for number in range(50_000)}},
    "default": _with({"type": "array", "items": {"type": "string"}, "default": ["x"] * 90_000}),
    "examples": _with({"type": "string", "examples": [LONG] * 8}),
    "pattern": _with({"type": "string", "pattern": LONG}),
    "constant": _with({"const": [LONG]}),
    "branches": {"oneOf": [_with({"type": "string", "title": f"T {n}"}) for n in range(1_000)]},
    "all of": {"allOf": [_with({"minLength": number}) for number in range(1_000)]},
    "depth": reduce(lambda inner, _: _with(inner), range(60), {"type": "string"}),
    "required": {"type": "object", "required": [f"f{number}" for number in range(50_000)]},
    "conditions": {
        **_with({"type": "integer"}),
        "allOf": [
            {"if": _with({"const": number}), "then": _with({"maximum": number})}
            for number in range(300)
        ],
    },
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_schema_has_a_form_at_once(name: str) -> None:
    schema = json.loads(json.dumps(LARGE[name]))
    began = time.process_time()
    form = Form(schema)
    assert time.process_time() - began < 2
    sizes = [len(repr(each.get_state())) for each in parts(form)]
    assert (len(sizes) < 4_000, sum(sizes) < 6_000_000) == (True, True)
    form.close()
