"""What holds for every form: values come back, and nothing a person types breaks it."""

from __future__ import annotations

import json
import string
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import ipywidgets
from form_parts import named, visible
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from nbgraph.core.answers import UNSET, problems_of
from nbgraph.notebook.form import Form

SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.text(alphabet=string.ascii_lowercase, min_size=1, max_size=4)
words = st.text(max_size=6)

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


def do_something(data: st.DataObject, form: Form) -> None:
    found = [each for each in visible(form) if type(each) in ACTS]
    widget = data.draw(st.sampled_from(found))
    ACTS[type(widget)](data, widget)


def type_into(data: st.DataObject, widget: Any) -> None:
    widget.value = data.draw(
        st.sampled_from(["", "1", "abc", "1e400", "NaN", "[", "{}", "null", "2026-11-29", "1h"])
        | words
    )


def pick(data: st.DataObject, widget: Any) -> None:
    widget.index = data.draw(st.integers(0, len(widget.options) - 1))


def tick(data: st.DataObject, widget: Any) -> None:
    widget.value = not widget.value


def click(data: st.DataObject, widget: Any) -> None:
    if "nbgraph-submit" not in widget._dom_classes:
        widget.click()


ACTS: dict[type, Any] = {
    ipywidgets.Text: type_into,
    ipywidgets.Textarea: type_into,
    ipywidgets.Combobox: type_into,
    ipywidgets.Dropdown: pick,
    ipywidgets.RadioButtons: pick,
    ipywidgets.ToggleButtons: pick,
    ipywidgets.Checkbox: tick,
    ipywidgets.Button: click,
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
