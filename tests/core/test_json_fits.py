"""What plainly fits a schema is judged without the library, and never otherwise than by it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from nbgraph.core.answers import publish
from nbgraph.core.json_fits import plainly_fits
from nbgraph.core.json_schemas import schema_problems

_NAMES = st.sampled_from(["a", "b", "c"])
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.0, 1.0, 0.5]), _NAMES
)
_ANSWERS = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3)
)
_TYPES = st.sampled_from([
    "null",
    "boolean",
    "string",
    "integer",
    "number",
    "array",
    "object",
    ["string", "null"],
])


def _keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    known: dict[str, st.SearchStrategy[Any]] = {
        "type": _TYPES,
        "title": _NAMES,
        "enum": st.lists(_SCALARS, min_size=1, max_size=4),
        "const": _SCALARS,
        "anyOf": st.lists(inner, min_size=1, max_size=3),
        "oneOf": st.lists(inner, min_size=1, max_size=3),
        "not": inner,
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "properties": st.dictionaries(_NAMES, inner, max_size=3),
        "required": st.lists(_NAMES, max_size=2, unique=True),
        "additionalProperties": st.booleans() | inner,
        "minimum": st.integers(-1, 1),
        "maxLength": st.integers(0, 1),
        "$ref": st.sampled_from(["#/$defs/d", "#/$defs/none", "#"]),
    }
    pairs = [st.tuples(st.just(name), values) for name, values in known.items()]
    return st.lists(st.one_of(pairs), max_size=3).map(dict)


_SCHEMAS = st.recursive(st.booleans() | _keywords(st.booleans()), _keywords, max_leaves=6)


@settings(max_examples=300)
@given(_keywords(_SCHEMAS), st.dictionaries(st.just("d"), _SCHEMAS, max_size=1), _ANSWERS)
def test_what_plainly_fits_has_no_problems(
    schema: dict[str, Any], defs: dict[str, Any], answer: Any
) -> None:
    whole = schema | ({"$defs": defs} if defs else {})
    if plainly_fits(whole, answer):
        assert schema_problems(whole, answer) == {}


class _Address(BaseModel):
    street: str
    number: int | None = None


class _Order(BaseModel):
    kind: Literal["now", "later"]
    to: _Address
    items: list[str] = []


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (bool, True),
        (int, 3),
        (float, 2.5),
        (Literal["a", 1], 1),
        (list[int], [1, 2]),
        (_Order, {"kind": "now", "to": {"street": "Low", "number": None}, "items": ["pen"]}),
    ],
)
def test_answers_to_common_types_fit_plainly(kind: Any, answer: Any) -> None:
    published = publish(kind)
    assert published is not None
    assert plainly_fits(published, answer)


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"type": "integer"}, 1.0),
        ({"type": "integer"}, True),
        ({"const": 1}, True),
        ({"type": "object", "required": ["a"]}, {}),
        ({"additionalProperties": False, "properties": {"a": {}}}, {"b": 1}),
        ({"type": "string", "format": "email"}, "desk@example.org"),
        ({"$ref": "#"}, 1),
        ({"type": "array", "items": {"type": "string"}}, ["x", 1]),
    ],
)
def test_what_is_wrong_or_in_doubt_is_left_to_the_library(schema: Any, answer: Any) -> None:
    assert not plainly_fits(schema, answer)


def test_a_schema_that_grows_without_end_is_left_to_the_library() -> None:
    doubling = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    assert not plainly_fits({"$ref": "#/$defs/d0", "$defs": doubling}, 1)
    assert not plainly_fits({"$ref": "#/$defs/d", "$defs": {"d": {"$ref": "#/$defs/d"}}}, 1)


_PROGRAM = """
import asyncio, sys
from nbgraph import END, START, BaseState, Graph, Resume, SQLiteStateStore, interrupt, node

class State(BaseState):
    agreed: bool = False

@node
async def ask(state: State):
    return {"agreed": interrupt("Go on?", id="ok", response_schema=bool)}

graph = Graph(State, state_store=SQLiteStateStore(sys.argv[1])).flow(START >> ask, ask >> END)
given = {"resume": Resume(True)} if sys.argv[2] == "resume" else {"initial_state": {}}
result = asyncio.run(graph.ainvoke(**given, thread_id="t"))
agreed = result.state.agreed
print(result.status, agreed, "jsonschema" in sys.modules)
"""


def test_a_plain_answer_in_another_process_waits_for_no_library(tmp_path: Path) -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, str(tmp_path / "t.db"), what],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.split()
        for what in ("start", "resume")
    ]
    assert said == [["interrupted", "False", "False"], ["completed", "True", "False"]]


def test_beside_a_reference_to_nothing_nothing_plainly_fits() -> None:
    nowhere = {"$ref": "#/$defs/gone"}
    assert not plainly_fits({"anyOf": [nowhere, {}]}, None)
    assert not plainly_fits({"anyOf": [{"items": nowhere}, {}]}, [1])
    assert plainly_fits({"anyOf": [{}, nowhere]}, None)
    assert schema_problems({"anyOf": [{}, nowhere]}, None) == {}
