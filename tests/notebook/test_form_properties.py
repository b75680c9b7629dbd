"""What holds for every form: values come back, and nothing a person types breaks it."""

from __future__ import annotations

import enum
import json
import string
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal, NamedTuple, NotRequired
from uuid import UUID

from form_parts import named, visible
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import (
    BaseModel,
    Discriminator,
    Field,
    Json,
    RootModel,
    SecretStr,
    Tag,
    create_model,
)
from typing_extensions import TypedDict

from nbgraph.core.answers import UNSET, problems_of
from nbgraph.notebook.form import Form

SLOW = settings(max_examples=60, suppress_health_check=list(HealthCheck))

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.text(alphabet=string.ascii_lowercase, min_size=1, max_size=4).filter(
    lambda name: not hasattr(BaseModel, name)  # pydantic warns of a field named "copy"
)
words = st.text(max_size=6)


class Shade(enum.Enum):
    DARK = "dark"
    ONE = 1
    MIDDLE = 1.5
    NOTHING = None


class Month(enum.IntEnum):
    JAN, FEB, MAR, APR, MAY, JUN, JUL, AUG, SEP, OCT, NOV, DEC, ANY = range(1, 14)


class Pair(NamedTuple):
    x: int
    y: int = 0


class Wrapped(RootModel[list[int]]):
    pass


class Options(TypedDict):
    a: int
    b: NotRequired[str]


class One(BaseModel):
    kind: Literal["one"]
    a: int


class Two(BaseModel):
    kind: Literal["two"]
    b: str


Tagged = Annotated[
    Annotated[One, Tag("one")] | Annotated[Two, Tag("two")],
    Discriminator(lambda given: given.get("kind") if isinstance(given, dict) else given.kind),
]


class Branch(BaseModel):
    n: int
    left: Branch | None = None
    more: list[Branch] = []


Kind = tuple[Any, st.SearchStrategy[Any]]
"""A type, and JSON values of it."""

LEAVES: list[Kind] = [
    (bool, st.booleans()),
    (int, st.integers()),
    (float, numbers),
    (str, words),
    (Decimal, st.decimals(allow_nan=False, allow_infinity=False, places=2).map(str)),
    (date, st.dates().map(str)),
    (datetime, st.datetimes(timezones=st.timezones()).map(lambda each: each.isoformat()).filter(
        lambda text: text[-3] == ":" and text[-6] in "+-")),
    (timedelta, st.integers(0, 10**6).map(lambda seconds: f"PT{seconds}S")),
    (Literal["a", "b", "c"], st.sampled_from("abc")),
    (Literal[1, "1", True], st.sampled_from([1, "1", True])),
    (Annotated[int, Field(ge=0, le=9)], st.integers(0, 9)),
    (Annotated[str, Field(min_length=1, max_length=3)], st.text("xyz", min_size=1, max_size=3)),
    (Any, json_values),
    (time, st.times().map(lambda each: each.replace(microsecond=0).isoformat())),
    (UUID, st.uuids().map(str)),
    (IPv4Network, st.sampled_from(["192.0.2.0/24", "0.0.0.0/0", "10.0.0.1"])),
    (SecretStr, words),
    (Shade, st.sampled_from(["dark", 1, 1.5, None])),
    (set[Literal["a", "b", 1]], st.lists(st.sampled_from(["a", "b", 1]), unique=True)),
    (frozenset[Month], st.lists(st.sampled_from([each.value for each in Month]), unique=True)),
    (dict[Literal["x", "y"], int], st.dictionaries(st.sampled_from("xy"), st.integers())),
    (dict[int, str], st.dictionaries(st.integers().map(str), words, max_size=2)),
    (tuple[int, str, bool], st.tuples(st.integers(), words, st.booleans()).map(list)),
    (Pair, st.lists(st.integers(), min_size=1, max_size=2)),
    (Wrapped, st.lists(st.integers(), max_size=3)),
    (Json[list[int]], st.lists(st.integers(), max_size=2).map(json.dumps)),
    (Options, st.fixed_dictionaries({"a": st.integers()}, optional={"b": words})),
    (Tagged, st.one_of(
        st.fixed_dictionaries({"kind": st.just("one"), "a": st.integers()}),
        st.fixed_dictionaries({"kind": st.just("two"), "b": words}))),
    (Branch, st.recursive(
        st.fixed_dictionaries({"n": st.integers()}),
        lambda inner: st.fixed_dictionaries(
            {"n": st.integers(), "left": inner}, optional={"more": st.lists(inner, max_size=2)}),
        max_leaves=4)),
]  # fmt: skip


def lists_of(kind: Kind) -> Kind:
    return list[kind[0]], st.lists(kind[1], max_size=3)


def maps_of(kind: Kind) -> Kind:
    return dict[str, kind[0]], st.dictionaries(words, kind[1], max_size=3)


def optional(kind: Kind) -> Kind:
    return kind[0] | None if kind[0] is not Any else Any, st.none() | kind[1]


def pairs_of(kind: Kind) -> Kind:
    return tuple[kind[0], int], st.tuples(kind[1], st.integers()).map(list)


@st.composite
def models(draw: st.DrawFn, inner: st.SearchStrategy[Kind]) -> Kind:
    fields = draw(st.dictionaries(names, inner, min_size=1, max_size=4))
    optional_names = draw(st.sets(st.sampled_from(sorted(fields))))
    made = {
        name: (kind | None if kind is not Any else Any, None) if name in optional_names
        else (kind, ...)
        for name, (kind, _) in fields.items()
    }  # fmt: skip
    model = create_model(f"Model{draw(st.integers(0, 999))}", **made)  # type: ignore[call-overload]
    values = st.fixed_dictionaries(
        {name: kind[1] for name, kind in fields.items() if name not in optional_names},
        optional={name: st.none() | kind[1] for name, kind in fields.items()
                  if name in optional_names},
    )  # fmt: skip
    return model, values


def composed(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    wrapped = [inner.map(wrap) for wrap in (lists_of, maps_of, optional, pairs_of)]
    return st.one_of(*wrapped, models(inner))


def unions(kinds: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    def either(one: Kind, other: Kind) -> Kind:
        if Any in (one[0], other[0]):
            return Any, json_values
        return one[0] | other[0], one[1] | other[1]

    return st.builds(either, kinds, kinds)


leaves = st.sampled_from(LEAVES)
kinds = st.recursive(
    leaves | unions(leaves.filter(lambda kind: not hasattr(kind[0], "__metadata__"))),
    composed,
    max_leaves=6,
)


def text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@SLOW
@given(st.data())
def test_a_value_comes_back_equal_and_of_equal_types(data: st.DataObject) -> None:
    kind, values = data.draw(models(kinds))
    value = data.draw(values)
    form = Form(kind)
    form.value = value
    try:
        if not problems_of(kind, value):
            assert form.errors == {}
            assert text_of(form.value) == text_of(value)
        elif form.value is not UNSET:
            assert form.errors
            assert text_of(form.value) == text_of(value)
    finally:
        form.close()


@SLOW
@given(st.data())
def test_any_value_can_be_set_and_none_is_altered(data: st.DataObject) -> None:
    kind, _ = data.draw(models(kinds))
    value = data.draw(json_values)
    form = Form(kind)
    form.value = value
    assert form.value is UNSET or text_of(form.value) == text_of(value)
    assert bool(form.errors) is bool(problems_of(kind, value)) or form.value is UNSET
    form.close()


@SLOW
@given(st.data())
def test_whatever_a_person_does_the_form_goes_on(data: st.DataObject) -> None:
    kind, _ = data.draw(models(kinds))
    form = Form(kind)
    for _ in range(data.draw(st.integers(1, 8))):
        do_something(data, form)
    value = form.value
    assert (value is UNSET) or text_of(value)
    errors = form.errors
    assert form.submit() is not bool(errors)
    form.close()


# --- schemas of any kind ----------------------------------------------------------------------

TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]
FORMATS = ["date", "time", "date-time", "duration", "email", "uuid", "password", "color", "odd"]
small = st.integers(0, 4)


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> Any:
    """Draw a document that is a JSON Schema, whatever its keywords mean together."""
    inner = schemas(depth=depth - 1) if depth else st.just(True)
    some = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(names, inner, max_size=3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, unique=True),
        "enum": st.lists(json_values, min_size=1, max_size=5),
        "const": json_values,
        "format": st.sampled_from(FORMATS),
        "pattern": st.sampled_from(["^a", "b$", "^(?=a)", "[0-9]+"]),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), small),
        **dict.fromkeys(("minimum", "maximum", "minProperties", "maxProperties"), small),
        "multipleOf": st.sampled_from([2, 0.5, 0.1]),
        "properties": named,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=2),
        "additionalProperties": st.booleans() | inner,
        "propertyNames": inner,
        "required": st.lists(names, max_size=2, unique=True),
        "items": inner,
        "prefixItems": some,
        "contains": inner,
        "uniqueItems": st.booleans(),
        **dict.fromkeys(("allOf", "anyOf", "oneOf"), some),
        **dict.fromkeys(("not", "if", "then", "else"), inner),
        "dependentRequired": st.dictionaries(names, st.lists(names, unique=True), max_size=2),
        "dependentSchemas": named,
        "unevaluatedProperties": st.booleans(),
        "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#anchor", "other.json"]),
        "default": json_values,
        "nullable": st.booleans(),
        **dict.fromkeys(("readOnly", "writeOnly", "deprecated"), st.booleans()),
        "examples": st.lists(json_values, max_size=2),
        "discriminator": st.builds(lambda name: {"propertyName": name}, names),
        "x-widget": st.sampled_from(["tags", "slider", "select", "textarea", "json", "checkboxes"]),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True))
    return {key: draw(keywords[key]) for key in chosen}


@st.composite
def documents(draw: st.DrawFn) -> Any:
    defined = {name: draw(schemas(depth=2)) for name in ("a", "b")}
    defined["b"] = {**defined["b"], "$anchor": "anchor"}
    return {**draw(schemas()), "$defs": defined}


@SLOW
@given(documents(), json_values)
def test_any_schema_has_a_form_that_alters_nothing(schema: Any, value: Any) -> None:
    form = Form(schema)
    form.value = value
    assert form.value is UNSET or text_of(form.value) == text_of(value)
    if form.value is not UNSET:
        assert bool(form.errors) or not problems_of(schema, value)
    form._switch(as_json=True)
    form._switch(as_json=False)
    assert form.value is UNSET or text_of(form.value) == text_of(value)
    form.close()


@SLOW
@given(st.data())
def test_whatever_a_person_does_in_a_form_of_any_schema_it_goes_on(data: st.DataObject) -> None:
    form = Form(data.draw(documents()))
    for _ in range(data.draw(st.integers(1, 6))):
        do_something(data, form)
    assert form.value is UNSET or text_of(form.value)
    assert form.submit() is not bool(form.errors)
    assert draft_is_restored(form)
    form.close()


def draft_is_restored(form: Form) -> bool:
    """Whether a draft of a form, put into the same form again, is the same draft."""
    draft = form._fields.draft()
    if draft is UNSET:
        return True
    form.enable()
    form._fields.restore(draft)
    return text_of(form._fields.draft()) == text_of(draft)


def do_something(data: st.DataObject, form: Form) -> None:
    found = [each for each in visible(form) if type(each).__name__ in ACTS]
    widget = data.draw(st.sampled_from(found))
    ACTS[type(widget).__name__](data, widget)


def type_into(data: st.DataObject, widget: Any) -> None:
    widget.value = data.draw(
        st.sampled_from(["", "1", "abc", "1e400", "NaN", "[", "{}", "null", "2026-11-29", "1h"])
        | words
    )


def pick(data: st.DataObject, widget: Any) -> None:
    widget.index = data.draw(st.integers(0, len(widget.options) - 1))


def tick(data: st.DataObject, widget: Any) -> None:
    widget.value = not widget.value


def tag(data: st.DataObject, widget: Any) -> None:
    allowed = widget.allowed_tags or ["a", "b"]
    widget.value = data.draw(st.lists(st.sampled_from(allowed), max_size=3, unique=True))


def click(data: st.DataObject, widget: Any) -> None:
    if "nbgraph-submit" not in widget._dom_classes:
        widget.click()


ACTS: dict[str, Any] = {
    "Text": type_into,
    "Textarea": type_into,
    "Combobox": type_into,
    "Dropdown": pick,
    "RadioButtons": pick,
    "ToggleButtons": pick,
    "Checkbox": tick,
    "Button": click,
    "TagsInput": tag,
}


class Bomb(BaseModel):
    left: Bomb | None = None
    right: Bomb | None = None
    more: list[Bomb] = []


def test_a_recursive_model_is_opened_only_as_far_as_asked() -> None:
    form = Form(Bomb)
    assert len(list(visible(form))) < 60
    for _ in range(4):
        named(form, "nbgraph-add")[0].click()
    assert len(list(visible(form))) < 400
