"""Faults that form builders were reported to have, each with an input that shows it."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any

import ipywidgets
import pytest
from form_parts import add, errors_shown, inputs, named, parts, words
from pydantic import BaseModel

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    Panel,
    interrupt,
    node,
)
from nbgraph.core.answers import UNSET
from nbgraph.errors import AlreadyAnsweredError
from nbgraph.notebook.form import Form


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def control(form: Form, label: str) -> Any:
    return inputs(form, label)[0]


SINCE = [
    {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "Since"},
    {"type": ["string", "null"], "title": "Since"},
]


@pytest.mark.parametrize("schema", SINCE)
def test_text_or_null_is_one_text_with_a_tick_however_it_is_written(schema: Any) -> None:
    """Report G60."""
    form = Form(obj(since=schema))
    assert form.value in ({}, {"since": None})
    assert len(inputs(form, "Since")) == len(named(form, "nbgraph-null")) == 1
    form.value = {"since": ""}
    assert form.value == {"since": ""}
    named(form, "nbgraph-null")[0].value = True
    assert form.value == {"since": None}


def test_a_default_of_null_stays_null() -> None:
    """Report G61."""
    form = Form({"type": ["null", "object"], "default": None, **obj(a={"type": "string"})}
                | {"type": ["null", "object"]})  # fmt: skip
    assert (form.value, form.errors, form.submit()) == (None, {}, True)


class Compound(BaseModel):
    texts: list[str] | None = None
    counts: dict[str, int] | None = None
    pair: tuple[int, str] | None = None


def test_null_and_empty_are_told_apart_in_lists_maps_and_tuples() -> None:
    """Report G62."""
    form = Form(Compound)
    assert form.value == {"texts": None, "counts": None, "pair": None}
    for value in ({"texts": []}, {"texts": None}, {"counts": {}}, {"pair": [1, "a"]}):
        form.value = value
        assert (form.value, form.errors) == (value, {})
    assert len(named(form, "nbgraph-null")) == 3
    form.value = {}
    texts = form._fields.places["/texts"].box
    named(texts, "nbgraph-null")[0].value = True
    assert form.value == {"texts": None}
    named(texts, "nbgraph-null")[0].value = False
    named(texts, "nbgraph-add")[0].click()
    named(texts, "nbgraph-remove")[0].click()
    assert form.value == {"texts": []}


def test_yes_or_no_is_asked_and_no_is_an_answer() -> None:
    """Report G63."""
    sent: list[Any] = []
    form = Form({**obj(approved={"type": "boolean"}), "required": ["approved"]})
    form.on_submit(sent.append)
    assert (form.submit(), errors_shown(form), sent) == (False, ["Choose Yes or No"], [])
    control(form, "Approved").index = 1
    assert (form.submit(), sent) == (True, [{"approved": False}])


LIMITS = {
    **obj(
        retries={"type": "integer", "minimum": 1, "maximum": 100, "default": 42},
        code={"type": "string", "pattern": "^[a-z]{3}$", "minLength": 3},
        days={"type": "array", "items": {"enum": ["Mon", "Tue", "Wed", "Thu"]},
              "minItems": 1, "maxItems": 3},
    ),
    "required": ["retries", "code", "days"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"retries": 0}, "/retries"),
        ({"retries": 101}, "/retries"),
        ({"code": "ab"}, "/code"),
        ({"code": "ABC"}, "/code"),
        ({"days": []}, "/days"),
        ({"days": ["Mon"] * 4}, "/days"),
        ({"days": ["Sun"]}, "/days/0"),
    ],
)
def test_what_is_said_about_a_field_is_also_checked(change: Any, place: str) -> None:
    """Report G64."""
    sent: list[Any] = []
    form = Form(LIMITS)
    form.on_submit(sent.append)
    assert control(form, "Retries").value == "42"
    form.value = {"retries": 42, "code": "abc", "days": ["Mon"]} | change
    assert (list(form.errors), form.submit(), sent) == ([place], False, [])


NODE = {
    "$ref": "#/$defs/node",
    "$defs": {"node": obj(
        name={"type": "string"},
        children={"type": "array", "items": {"$ref": "#/$defs/node"}},
        otherNode={"$ref": "#/$defs/node", "default": {}},
    )},
}  # fmt: skip


def test_a_node_in_a_node_is_opened_on_demand() -> None:
    """Report G65."""
    form = Form(NODE)
    assert len(list(parts(form))) < 100
    assert len(inputs(form, "Name")) == 1
    for depth in range(3):
        add(form)
        named(form, "nbgraph-add")[0].click()
        assert len(inputs(form, "Name")) > depth
    deep = {"name": "a", "otherNode": {"name": "b", "otherNode": {"name": "c", "children": []}}}
    form.value = deep
    assert (form.value, form.errors) == (deep, {})


def test_a_choice_of_numbers_gives_a_number() -> None:
    """Report G66."""
    form = Form({"type": "number", "enum": [1, 2.5, 3]})
    control(form, "Answer").index = 1
    assert form.value == 2.5
    control(form, "Answer").index = 0
    assert json.dumps(form.value) == "1"


def test_a_moment_keeps_its_offset() -> None:
    """Report G67."""
    moment = "2026-03-08T02:30:00-05:00"
    form = Form({"type": "string", "format": "date-time", "default": moment})
    assert control(form, "Answer").value == moment
    assert (form.value, form.submit()) == (moment, True)
    control(form, "Answer").value = "2026-03-08T02:31:00-05:00"
    assert form.value == "2026-03-08T02:31:00-05:00"


TLS = {
    "oneOf": [
        {**obj(mode={"const": "off"}), "required": ["mode"], "additionalProperties": False},
        {
            **obj(mode={"const": "verify"}, ca={"type": "string"}),
            "required": ["mode", "ca"],
            "additionalProperties": False,
        },
    ]
}


def test_what_belongs_to_another_kind_is_not_sent() -> None:
    """Report G68."""
    form = Form(TLS)
    kind = named(form, "nbgraph-kind")[0]
    kind.index = 1
    control(form, "Ca").value = "root"
    assert form.value == {"mode": "verify", "ca": "root"}
    kind.index = 0
    assert (form.value, form.errors) == ({"mode": "off"}, {})


FREE = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "oneOf": [
            {**obj(a={"type": "integer"}), "required": ["a"]},
            {**obj(b={"type": "string"}), "required": ["b"]},
        ]
    },
}


def test_fields_of_any_name_are_added_renamed_and_taken_away() -> None:
    """Report G69."""
    form = Form(FREE)
    add(form)
    named(form, "nbgraph-map-key")[0].value = "one"
    named(form, "nbgraph-kind")[0].index = 0
    control(form, "A").value = "1"
    assert (form.value, form.errors) == ({"one": {"a": 1}}, {})
    named(form, "nbgraph-map-key")[0].value = "uno"
    assert form.value == {"uno": {"a": 1}}
    named(form, "nbgraph-add")[-1].click()
    named(form, "nbgraph-map-key")[1].value = "uno"
    assert '"uno" is there twice. Keep one.' in form.errors.values()
    assert form.submit() is False
    named(form, "nbgraph-remove")[-1].click()
    assert (form.value, form.submit()) == ({"uno": {"a": 1}}, True)


def test_a_reference_out_of_the_schema_opens_no_connection() -> None:
    """Report G70."""
    calls: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        port = server.getsockname()[1]
        stop = threading.Event()

        def listen() -> None:
            while not stop.is_set():
                try:
                    calls.append(server.accept())
                except TimeoutError:
                    continue

        listener = threading.Thread(target=listen)
        listener.start()
        whole = Form({"$ref": f"http://127.0.0.1:{port}/x.json"})
        whole.value = {"a": 1}
        told = list(whole.errors.values())
        part = Form({
            "$id": f"http://127.0.0.1:{port}/root.json",
            **obj(far={"$ref": "other.json"}, near={"$ref": "#/$defs/near"}),
            "$defs": {"near": {"type": "integer"}},
        })
        control(part, "Near").value = "3"
        stop.set()
        listener.join()
    assert calls == []
    assert len(told) == 1
    assert "is not in it" in told[0]
    assert part.value == {"near": 3}
    assert any("other.json is not available here" in text for text in words(part))


def test_a_pattern_takes_no_time_and_what_breaks_it_is_refused() -> None:
    """Report G71."""
    form = Form({"type": "string", "pattern": "^(a+)+$"})
    control(form, "Answer").value = "a" * 60 + "!"  # backtracking through it would never end
    assert form.submit() is False
    assert control(form, "Answer").value == "a" * 60 + "!"


# --- widgets ----------------------------------------------------------------------------------

MARKUP = "<img src=x onerror=alert(1)> $x^2$ [a](b)"


def test_markup_in_a_schema_is_text() -> None:
    """Report G47."""
    form = Form(
        {
            **obj(**{MARKUP: {"enum": [MARKUP, "b"], "description": MARKUP, "title": MARKUP}}),
            "title": MARKUP,
        },
        message=MARKUP,
    )
    kinds = {type(each) for each in parts(form)}
    assert not kinds & {ipywidgets.HTML, ipywidgets.HTMLMath}
    for each in parts(form):
        assert not getattr(each, "description_allow_html", False)
        if isinstance(each, ipywidgets.Label):
            assert "mathjax_ignore" in each._dom_classes
    assert MARKUP in words(form)


CITIES = {
    **obj(country={"enum": ["de", "at"]}),
    "required": ["country", "city"],
    "allOf": [
        {"if": obj(country={"const": "de"}), "then": obj(city={"enum": ["Bremen", "Ulm"]})},
        {"if": obj(country={"const": "at"}), "then": obj(city={"enum": ["Graz", "Linz"]})},
    ],
}


def test_a_choice_whose_options_changed_is_what_it_shows() -> None:
    """Report G48."""
    form = Form(CITIES)
    control(form, "Country").index = 0
    control(form, "City").index = 1
    assert form.value == {"country": "de", "city": "Ulm"}
    control(form, "Country").index = 1
    assert control(form, "City").index is None
    assert (form.value, form.submit()) == (UNSET, False)
    control(form, "City").index = 0
    assert (form.value, form.submit()) == ({"country": "at", "city": "Graz"}, True)


@pytest.mark.parametrize("number", [12345678901112131, 2**53 + 1, 2**63, -(2**100)])
def test_a_large_number_keeps_every_digit(number: int) -> None:
    """Report G49."""
    form = Form(obj(account={"type": "integer"}), value={"account": number})
    assert control(form, "Account").value == str(number)
    assert form.value == {"account": number}
    control(form, "Account").value = str(2**63)
    assert form.value == {"account": 2**63}


def test_a_secret_that_was_sent_is_in_no_widget() -> None:
    """Report G50."""
    secret = {"type": "string", "format": "password", "writeOnly": True}
    form = Form(obj(api_key=secret))
    sent: list[Any] = []
    form.on_submit(sent.append)
    control(form, "Api key").value = "hunter2"
    assert form.submit()
    assert sent == [{"api_key": "hunter2"}]
    assert "hunter2" not in repr([each.get_state() for each in parts(form)])
    assert "hunter2" not in form.code()


def test_a_change_that_rebuilds_the_form_is_told_once() -> None:
    """Report G44."""
    form = Form(CITIES)
    told: list[Any] = []
    form.observe(lambda change: told.append(change["new"]), names="value")
    control(form, "Country").index = 0
    assert told == [UNSET]
    control(form, "City").index = 0
    assert told == [UNSET, {"country": "de", "city": "Bremen"}]


def test_a_second_click_sends_nothing() -> None:
    sent: list[Any] = []
    form = Form(bool, value=True)
    form.on_submit(sent.append)
    button = named(form, "nbgraph-submit")[0]
    for _ in range(5):
        button.click()
    assert sent == [True]


ran: list[int] = []


class Sum(BaseState):
    amount: int = 0


@node
def confirm(state: Sum) -> dict[str, int]:
    answer = interrupt("How much?", id="sum", response_schema=int)
    ran.append(answer)
    return {"amount": answer}


def test_a_panel_that_was_shown_five_times_answers_once() -> None:
    """Report G45."""
    ran.clear()
    store = InMemoryStateStore()
    graph = Graph(Sum, name="sum", state_store=store).flow(START >> confirm >> END)
    graph.invoke({}, thread_id="t")
    panels = [Panel(graph, "t") for _ in range(5)]
    forms = [panel.forms["confirm:sum"] for panel in panels]
    for form in forms:
        form.value = 5
    assert forms[4].submit()
    panels[4].session.settle()
    forms[0].submit()
    with pytest.raises(AlreadyAnsweredError):
        panels[0].session.settle()
    assert (ran, panels[0].session.status, dict(panels[0].forms)) == ([5], "completed", {})


def test_a_form_without_its_kernel_says_what_was_asked_and_what_stood_there() -> None:
    """Report G46."""
    secret = {"type": "string", "format": "password"}
    shape = {**obj(amount={"type": "integer"}, key=secret), "required": ["amount", "key"]}
    form = Form(shape, value={"key": "hunter2"}, message="Pay back?")
    shown = form._repr_mimebundle_()
    assert shown["text/plain"] == "Pay back?\nKey: ••••••\nAmount: fill this in"
    assert "hunter2" not in repr(shown)
