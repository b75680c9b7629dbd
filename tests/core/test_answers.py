"""An answer is judged in one place: by the type that asked, or by its JSON Schema."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from typing_extensions import TypedDict

from nbgraph.core import answers
from nbgraph.core.answers import (
    UNSET,
    NotJsonError,
    Unset,
    judge,
    problems_of,
    publish,
    remember,
    remembered,
    to_json,
    typed,
)
from nbgraph.core.events import Interrupt
from nbgraph.errors import AnswerError, GraphConfigError, ResumeError


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Item(BaseModel):
    name: Annotated[str, Field(min_length=2)]
    price: Annotated[float, Field(gt=0)]


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")

    agreed: bool
    due: date | None = None
    items: list[Item] = []
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    either: int | list[str] = 1

    @field_validator("agreed")
    @classmethod
    def must_agree(cls, agreed: bool) -> bool:
        if not agreed:
            raise ValueError("Nothing happens without a yes")
        return agreed


class Point(NamedTuple):
    x: int
    y: int = 0


class Movie(TypedDict):
    title: str


@dataclass
class Size:
    width: int


def question(response_schema: Any, key: str = "ask:0") -> Interrupt:
    return Interrupt(
        key=key, id="0", node="ask", task_id="ask", response_schema=publish(response_schema)
    )


def refused(call: Callable[[], object]) -> dict[str, str]:
    with pytest.raises(AnswerError) as caught:
        call()
    return caught.value.problems


# --- publishing -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "document"),
    [
        (None, None),
        (bool, {"type": "boolean"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Literal["yes", "no"], {"enum": ["yes", "no"], "type": "string"}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ({"type": "string"}, {"type": "string"}),
        ({}, {}),
    ],
)
def test_a_response_schema_is_published_as_json_schema(given: Any, document: Any) -> None:
    assert publish(given) == document


@pytest.mark.parametrize("kind", [Order, Movie, Size, Point, Colour, Annotated[int, Field(gt=0)]])
def test_any_annotation_has_a_json_schema(kind: Any) -> None:
    assert isinstance(publish(kind), dict)


def test_decimal_text_is_told_apart_from_other_text() -> None:
    assert publish(Decimal) != publish(float | str)


@pytest.mark.parametrize(("one", "other"), [(bool | int, int | bool), (int | bool, bool | int)])
def test_equal_types_are_published_each_in_its_own_order(one: Any, other: Any) -> None:
    def order(kind: Any) -> list[Any]:
        return [each["type"] for each in (publish(kind) or {})["anyOf"]]

    assert order(one) == order(other)[::-1]


def test_what_is_published_can_be_changed_without_changing_the_next() -> None:
    first = publish(Order)
    assert first is not None
    first.clear()
    assert publish(Order)


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        (["yes", "no"], "Literal['yes', 'no']"),
        (True, "pass the type bool"),
        ("bool", "pass a type such as bool"),
        (3, "pass a type such as bool"),
        (Item(name="lamp", price=1), "pass the class Item itself"),
    ],
)
def test_a_value_in_place_of_a_type_is_refused_with_what_to_pass(given: Any, advice: str) -> None:
    with pytest.raises(TypeError) as caught:
        publish(given)
    assert advice in str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"type": "text"}, "/type"),
        ({"properties": 1}, "/properties"),
        ({"minLength": -1}, "/minLength"),
        ({"default": float("nan")}, "/default"),
        (Callable[[], int], "has no JSON Schema"),
    ],
)
def test_no_json_schema_is_refused_with_its_fault(given: Any, words: str) -> None:
    with pytest.raises(GraphConfigError) as caught:
        publish(given)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("given", "path", "reference"),
    [
        ({"$ref": "#/$defs/gone"}, "at its top", "#/$defs/gone"),
        ({"properties": {"a/b": {"items": {"$ref": "#no"}}}}, "/properties/a~1b/items", "#no"),
        ({"anyOf": [{}, {"$dynamicRef": "#no"}]}, "/anyOf/1", "#no"),
        ({"$defs": {"a": {"$ref": "b.json"}}}, "/$defs/a", "b.json"),
        ({"$ref": "https://127.0.0.1:9/x"}, "at its top", "https://127.0.0.1:9/x"),
        ({"$ref": "#/$defs/a/enum/0", "$defs": {"a": {"enum": [1]}}}, "at its top", "enum/0"),
        ({"items": [{"$ref": "#/definitions/no"}], "definitions": {}}, "/prefixItems/0", "no"),
    ],
)
def test_a_reference_to_nowhere_is_refused_with_its_path(
    given: Any, path: str, reference: str
) -> None:
    with pytest.raises(GraphConfigError) as caught:
        publish(given)
    assert f"{path}: it refers to " in str(caught.value)
    assert f"{reference}', which is not in it" in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"$ref": "#"},
        {"properties": {"a": {"$ref": "#/properties/b"}, "b": {}}},
        {"$ref": "#/$defs/a~1b", "$defs": {"a/b": True}},
        {"$ref": "#n", "$defs": {"a": {"$anchor": "n"}}},
        {"$dynamicRef": "#n", "$defs": {"a": {"$dynamicAnchor": "n"}}},
        {"$id": "https://127.0.0.1:9/a", "$ref": "b", "$defs": {"c": {"$id": "b"}}},
        {"const": {"$ref": "#/gone"}, "default": {"$ref": "#/gone"}},
        {"$ref": "#/components/schemas/a", "components": {"schemas": {"a": {}}}},
    ],
)
def test_a_reference_within_the_document_is_published(given: Any) -> None:
    assert publish(given) == given


# --- JSON values ------------------------------------------------------------------------------


def test_values_become_json() -> None:
    value = {
        "model": Item(name="lamp", price=2),
        "day": date(2026, 11, 29),
        "tuple": (1, "two"),
        "enum": Colour.RED,
        "wait": timedelta(minutes=90),
        "big": 2**80,
        3: None,
    }
    assert to_json(value, where="the payload") == {
        "model": {"name": "lamp", "price": 2.0},
        "day": "2026-11-29",
        "tuple": [1, "two"],
        "enum": "red",
        "wait": "PT1H30M",
        "big": 2**80,
        "3": None,
    }


def _cycle() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def _deep() -> Any:
    value: Any = 1
    for _ in range(300):
        value = [value]
    return value


class Login(BaseModel):
    password: SecretStr


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, float("nan")]}, "/a/1"),
        ({"a": float("inf")}, "/a"),
        ({"a/b": "\ud800"}, "/a~1b"),
        ({1: "a", "1": "b"}, "/1"),
        ({"a": object()}, "/a"),
        (_cycle(), "/0"),
        (_deep(), "/0/0/0"),
        (SecretStr("hush"), ""),
        ({"login": Login(password=SecretStr("hush"))}, "/login"),
        ([10**5_000], "/0"),
    ],
)
def test_a_value_without_an_exact_json_form_is_refused_at_its_path(value: Any, path: str) -> None:
    with pytest.raises(NotJsonError) as caught:
        to_json(value, where="the payload")
    assert list(caught.value.problems) == [path]
    assert "hush" not in str(caught.value)


def test_unset_is_one_falsy_value_that_says_its_name() -> None:
    assert (Unset() is UNSET, bool(UNSET), repr(UNSET)) == (True, False, "UNSET")


# --- judging ----------------------------------------------------------------------------------

GOOD = {"agreed": True, "items": [{"name": "lamp", "price": 2}], "pet": {"kind": "cat", "lives": 9}}

BAD: list[tuple[Any, dict[str, str], dict[str, str]]] = [
    ({}, {"/agreed": "Fill this in"}, {"/agreed": "Choose Yes or No"}),
    ({"agreed": "yes"}, {"/agreed": "Choose Yes or No"}, {"/agreed": "Choose Yes or No"}),
    (
        {"agreed": True, "items": [{"name": "l", "price": 0}]},
        {"/items/0/name": "2 letters or more", "/items/0/price": "more than 0"},
        {"/items/0/name": "2 letters or more", "/items/0/price": "more than 0"},
    ),
    (
        {"agreed": True, "pet": {"kind": "cat", "lives": "nine"}},
        {"/pet/lives": "Not a whole number. For example 42"},
        {"/pet/lives": "Not a whole number. For example 42"},
    ),
    (
        {"agreed": True, "pet": {"kind": "fish"}},
        {"/pet/kind": "Choose one of: cat, dog"},
        {"/pet/kind": "Choose one of: cat, dog"},
    ),
    (
        {"agreed": True, "due": "tomorrow"},
        {"/due": "Not a date. For example 2026-11-29"},
        {"/due": "Not a date. For example 2026-11-29"},
    ),
    (
        {"agreed": True, "surprise": 1},
        {"/surprise": "There is no such field"},
        {"/surprise": "There is no such field"},
    ),
    (
        {"agreed": True, "either": "x"},
        {"/either": "Not a whole number. For example 42, or: Not a list"},
        {"/either": "Needs to be one of: integer, array"},
    ),
    ([], {"": "Not an object with named fields"}, {"": "Not an object with named fields"}),
]


@pytest.mark.parametrize("thread_id", ["seen", None])
def test_a_good_answer_comes_back_as_json(thread_id: str | None) -> None:
    asked = question(Order)
    remember("seen", asked.key, Order)
    assert judge(asked, GOOD, thread_id=thread_id) == GOOD
    assert judge(asked, Order(agreed=True), thread_id=thread_id)["agreed"] is True


@pytest.mark.parametrize(("answer", "by_type", "by_schema"), BAD)
def test_a_bad_answer_has_one_problem_at_each_path(
    answer: Any, by_type: dict[str, str], by_schema: dict[str, str]
) -> None:
    asked = question(Order)
    remember("seen", asked.key, Order)
    assert refused(lambda: judge(asked, answer, thread_id="seen")) == by_type
    assert refused(lambda: judge(asked, answer)) == by_schema


def test_a_rule_of_the_python_type_counts_where_the_process_has_seen_it() -> None:
    asked = question(Order)
    remember("seen", asked.key, Order)
    assert refused(lambda: judge(asked, {"agreed": False}, thread_id="seen")) == {
        "/agreed": "Nothing happens without a yes"
    }
    assert judge(asked, {"agreed": False}) == {"agreed": False}


def test_an_answer_error_is_a_resume_error_that_names_the_key() -> None:
    with pytest.raises(ResumeError) as caught:
        judge(question(bool, key="confirm:0"), "yes")
    assert isinstance(caught.value, AnswerError)
    assert caught.value.key == "confirm:0"


def test_unset_is_no_answer_and_null_is_one() -> None:
    free = Interrupt(key="ask:0", id="0", node="ask", task_id="ask")
    assert refused(lambda: judge(free, UNSET)) == {"": "It is not filled in"}
    assert judge(free, None) is None
    assert judge(free, {}) == {}


def test_a_remembered_type_is_forgotten_when_the_question_changes() -> None:
    remember("thread", "ask:0", Literal[1])
    assert remembered("thread", "ask:0", publish(Literal[1])) == Literal[1]
    assert remembered("thread", "ask:0", {"const": True, "type": "integer"}) is None
    assert remembered("other", "ask:0", publish(Literal[1])) is None


def test_only_the_latest_questions_are_remembered() -> None:
    for number in range(answers._MAX_REMEMBERED + 1):
        remember("many", f"ask:{number}", bool)
    assert remembered("many", "ask:0", publish(bool)) is None
    assert remembered("many", f"ask:{answers._MAX_REMEMBERED}", publish(bool)) is bool


def test_interrupt_gets_its_answer_as_the_type() -> None:
    assert typed(Order, GOOD, "ask:0") == Order.model_validate(GOOD)
    assert typed(date, "2026-11-29", "ask:0") == date(2026, 11, 29)
    assert typed(Point, [1, 2], "ask:0") == Point(1, 2)
    assert typed(Decimal, "120.00", "ask:0") == Decimal("120.00")
    assert typed({"type": "integer"}, 3, "ask:0") == 3
    assert typed(None, {"a": 1}, "ask:0") == {"a": 1}
    assert refused(lambda: typed(int, "3", "ask:0")) == {"": "Not a whole number. For example 42"}


def test_a_validator_that_breaks_is_a_problem_and_no_crash() -> None:
    class Fragile(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def look_up(cls, name: str) -> str:
            return {"lamp": "ok"}[name]

    problems = problems_of(Fragile, {"name": "cable"})
    assert list(problems) == [""]
    assert "KeyError" in problems[""]


# --- strictness of JSON Schema ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"type": "integer"}, 1.0),
        ({"type": "integer"}, True),
        ({"type": "number"}, True),
        ({"enum": [1]}, True),
        ({"const": 0}, False),
        ({"multipleOf": 0.1}, 0.35),
        ({"format": "date"}, "2026-02-30"),
        ({"format": "date-time"}, "2026-11-29"),
        ({"format": "time"}, "25:00"),
        ({"format": "email"}, "name@"),
        ({"format": "uri"}, "shop"),
        ({"format": "uuid"}, "123"),
        ({"pattern": "^a+$"}, "b"),
        ({"patternProperties": {"^a": {"type": "string"}}}, {"ab": 1}),
        ({"patternProperties": {"^a": {}}, "additionalProperties": False}, {"b": 1}),
        ({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, {"b": 1}),
        ({"uniqueItems": True}, [1, 1.0]),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 3),
        ({"not": {}}, 1),
        (False, 1),
    ],
)
def test_json_schema_is_judged_strictly(schema: Any, answer: Any) -> None:
    wrapped = {"properties": {"f": schema}}
    assert problems_of(wrapped, {"f": answer})


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"type": "integer"}, 2**53 + 1),
        ({"const": 1}, 1.0),
        ({"multipleOf": 0.1}, 0.3),
        ({"multipleOf": 1e-300}, 1e300),
        ({"format": "date-time"}, "2026-11-29 12:04Z"),
        ({"format": "email"}, "name@shop.example"),
        ({"format": "uri"}, "https://shop.example/lamp?x=1"),
        ({"format": "unheard-of"}, "anything"),
        ({"pattern": "^(?=a)"}, "b"),
        ({"uniqueItems": True}, [1, True]),
        ({"patternProperties": {"^a": {}}, "unevaluatedProperties": False}, {"ab": 1}),
        (
            {
                "if": {"required": ["a"]},
                "then": {"properties": {"b": {}}},
                "properties": {"a": {}},
                "unevaluatedProperties": False,
            },
            {"a": 1, "b": 2},
        ),
    ],
)
def test_json_schema_takes_what_is_good(schema: Any, answer: Any) -> None:
    assert problems_of({"properties": {"f": schema}}, {"f": answer}) == {}


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)


@pytest.mark.usefixtures("no_sockets")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$id": "http://127.0.0.1:9/a.json", "$ref": "b.json"},
        {"$ref": "file:///etc/hostname"},
        {"$schema": "http://127.0.0.1:9/meta", "$ref": "#/$defs/missing"},
        {"$dynamicRef": "http://127.0.0.1:9/x#node"},
    ],
)
def test_a_reference_out_of_the_document_is_refused_and_never_fetched(schema: Any) -> None:
    assert list(problems_of(schema, 1)) == [""]


def _doubling() -> dict[str, Any]:
    twice = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(30)}
    return {"$ref": "#/$defs/d0", "$defs": {**twice, "d30": {}}}


def _nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        _doubling(),
        _nested(3_000),
        {"type": "unheard-of"},
        {"properties": 1},
    ],
)
def test_a_schema_that_cannot_be_used_refuses_instead_of_hanging(schema: Any) -> None:
    assert list(problems_of(schema, {"a": 1})) == [""]


EVIL = ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(.*a){20}$", "(x+x+)+y", r"^(\w+\s?)*$"]


@pytest.mark.parametrize("pattern", EVIL)
@pytest.mark.parametrize("dialect", [None, "http://json-schema.org/draft-07/schema#"])
def test_patterns_run_in_linear_time(pattern: str, dialect: str | None) -> None:
    text = "a" * 50_000 + "!"
    inner: dict[str, Any] = {
        "pattern": pattern,
        "patternProperties": {pattern: {}},
        "additionalProperties": False,
        "unevaluatedProperties": False,
    }
    if dialect:
        inner["$schema"] = dialect
    schema = {"$ref": "#/$defs/inner", "$defs": {"inner": inner}}
    problems_of(schema, text)
    problems_of(schema, {text: 1})


def test_a_huge_enum_and_many_unique_objects_are_judged_in_good_time() -> None:
    assert problems_of({"enum": list(range(400_000))}, -1)
    assert problems_of({"uniqueItems": True}, [{"n": n} for n in range(3_000)]) == {}
