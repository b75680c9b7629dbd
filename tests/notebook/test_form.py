"""`Form` asks one question with stock widgets, and works with no front end at all."""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import Annotated, Any, Literal

import ipywidgets
import pytest
from form_parts import errors_shown, named, parts, visible
from pydantic import BaseModel, Field, SecretStr

from nbgraph.core.answers import UNSET, publish, remember
from nbgraph.core.events import Interrupt
from nbgraph.errors import AnswerError, GraphConfigError, StaleAnswerError
from nbgraph.notebook.form import Form
from nbgraph.notebook.keys import Keys


class Address(BaseModel):
    street: str
    city: str | None = None


class Refund(BaseModel):
    pay_back: bool
    pay_to: Literal["card", "credit"]
    amount: Annotated[Decimal, Field(gt=0)]
    approved_by: str | None
    copy_to_me: bool = True
    address: Address | None = None


GOOD: dict[str, Any] = {
    "pay_back": True,
    "pay_to": "card",
    "amount": "120.00",
    "approved_by": None,
    "copy_to_me": True,
    "address": None,
}


def question(response_schema: Any = Refund, **more: Any) -> Interrupt:
    return Interrupt(
        key="confirm:0",
        id="0",
        node="confirm",
        task_id="confirm",
        response_schema=publish(response_schema),
        **more,
    )


def control(form: Form, label: str) -> Any:
    """Return the input with this description, with or without its star."""
    return next(
        each for each in parts(form) if getattr(each, "description", "").removesuffix(" *") == label
    )


def button(form: Form, name: str) -> ipywidgets.Button:
    return named(form, name)[0]


def summary_shown(form: Form) -> list[str]:
    boxes = named(form, "nbgraph-summary")
    lines = boxes[0].children if boxes else ()
    return [getattr(line, "value", None) or line.description for line in lines]


def fill(form: Form) -> None:
    control(form, "Pay Back").index = 0
    control(form, "Pay To").index = 0
    control(form, "Amount").value = "120.00"
    field = next(each for each in parts(form) if control(form, "Approved By") in children(each))
    field.children[1].value = True


def children(widget: Any) -> tuple[Any, ...]:
    return getattr(widget, "children", ())


# --- value and errors -------------------------------------------------------------------------


def test_an_untouched_form_is_unset_and_says_what_is_missing() -> None:
    form = Form(Refund)
    assert form.value is UNSET
    assert form.errors == {
        "/pay_back": "Choose Yes or No",
        "/pay_to": "Choose one",
        "/amount": "Fill this in",
        "/approved_by": "Fill this in",
    }
    assert (errors_shown(form), summary_shown(form)) == ([], [])


@pytest.mark.parametrize("label", ["Pay Back", "Pay To"])
def test_nothing_is_chosen_before_a_person_chooses(label: str) -> None:
    radio = control(Form(Refund), label)
    assert isinstance(radio, ipywidgets.RadioButtons)
    assert (radio.value, "nbgraph-choice" in radio._dom_classes) == (None, True)


def test_what_is_typed_becomes_the_value() -> None:
    form = Form(Refund)
    fill(form)
    assert (form.value, form.errors) == (GOOD, {})


def test_a_value_can_be_set_and_comes_back() -> None:
    form = Form(Refund)
    form.value = GOOD
    assert (form.value, form.errors, control(form, "Amount").value) == (GOOD, {}, "120.00")
    form.value = UNSET
    assert form.value is UNSET


@pytest.mark.parametrize(
    ("schema", "value", "errors"),
    [
        (int, "3", {"": "Not a whole number. For example 42"}),
        (int, 3.0, {"": "Not a whole number. For example 42"}),
        (bool, "yes", {"": "Choose Yes or No"}),
        (Literal["a", "b"], "c", {"": "Choose one of: a, b"}),
        (list[int], ["x"], {"/0": "Not a whole number. For example 42"}),
        (Address, 5, {"": "Not an object with named fields"}),
        (int, float("inf"), {"": "inf is not a number that JSON knows"}),
        (Refund, {**GOOD, "amount": "x"}, {"/amount": "Not a number. Use a point: 180.00"}),
    ],
)
def test_setting_a_bad_value_keeps_it_and_tells(schema: Any, value: Any, errors: Any) -> None:
    form = Form(schema)
    form.value = value
    assert (form.value, type(form.value), form.errors) == (value, type(value), errors)
    assert form.submit() is False


def test_a_model_can_be_given_as_the_value() -> None:
    assert Form(Address, value=Address(street="Main St")).value == {
        "street": "Main St",
        "city": None,
    }


def test_observers_hear_of_a_change() -> None:
    form, heard = Form(int), []
    form.observe(lambda change: heard.append((change["old"], change["new"])), names="value")
    control(form, "Answer").value = "9007199254740993"
    assert heard == [(UNSET, 9007199254740993)]


def test_clearing_an_input_unsets_it() -> None:
    form = Form(int, value=3)
    control(form, "Answer").value = ""
    assert (form.value, form.errors) == (UNSET, {"": "Fill this in"})


def test_empty_text_that_was_given_is_kept() -> None:
    assert Form(str, value="").value == ""


def test_a_default_wears_a_chip_until_it_is_changed() -> None:
    form = Form({"type": "string", "default": "Bremen"})
    assert len(named(form, "nbgraph-is-default")) == 1
    control(form, "Answer").value = "Hamburg"
    assert named(form, "nbgraph-is-default") == []


def test_null_is_ticked_and_is_not_absence() -> None:
    form = Form({"type": "object", "properties": {"note": {"type": ["string", "null"]}}})
    tick = named(form, "nbgraph-null")[0]
    assert form.value == {}
    tick.value = True
    assert (form.value, control(form, "Note").disabled) == ({"note": None}, True)
    tick.value = False
    assert (form.value, control(form, "Note").disabled) == ({}, False)


def test_options_are_known_by_their_place() -> None:
    form = Form({"enum": [1, True, "1"]})
    control(form, "Answer").index = 1
    assert form.value is True
    control(form, "Answer").index = 0
    assert (form.value, type(form.value)) == (1, int)


@pytest.mark.parametrize(
    ("count", "kind"),
    [(4, ipywidgets.RadioButtons), (5, ipywidgets.Dropdown), (20, ipywidgets.Dropdown)],
)
def test_few_options_are_buttons_and_more_are_a_list(count: int, kind: type) -> None:
    form = Form({"enum": [f"option {number}" for number in range(count)]})
    assert isinstance(control(form, "Answer"), kind)
    assert form.value is UNSET


def test_a_list_of_many_options_is_searched() -> None:
    form = Form({"enum": [f"option {number}" for number in range(50)]})
    search = control(form, "Answer")
    search.value = "option 7"
    assert isinstance(search, ipywidgets.Combobox)
    assert form.value == "option 7"
    search.value = "nothing like it"
    assert list(form.errors) == [""]


def test_secrets_are_typed_into_a_password_input() -> None:
    form = Form(SecretStr)
    assert isinstance(control(form, "Answer"), ipywidgets.Password)


def test_a_read_only_field_cannot_be_changed_and_is_sent() -> None:
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string", "readOnly": True, "default": "r-1"}},
    }
    form = Form(schema)
    assert (control(form, "Id").disabled, form.value) == (True, {"id": "r-1"})


@pytest.mark.parametrize("schema", [{}, {"$ref": "#"}, {"type": "object", "$ref": "http://x"}])
def test_any_schema_has_a_form(schema: dict[str, Any]) -> None:
    assert Form(schema).value is UNSET


def test_what_is_no_type_is_refused_at_once() -> None:
    with pytest.raises(TypeError):
        Form(["yes", "no"])
    with pytest.raises(GraphConfigError):
        Form({"type": "text"})
    with pytest.raises(GraphConfigError, match="refers to '#nowhere', which is not in it"):
        Form({"$ref": "#nowhere"})


def test_without_a_schema_the_answer_is_text_or_json() -> None:
    form = Form()
    control(form, "Answer").value = "go on"
    assert form.value == "go on"
    named(form, "nbgraph-json")[0].index = 1
    named(form, "nbgraph-mono")[0].value = '{"ok": true}'
    assert form.value == {"ok": True}


# --- errors on the page -----------------------------------------------------------------------


def test_an_error_appears_when_its_field_is_left() -> None:
    form = Form(Refund)
    control(form, "Amount").value = "180,00"
    assert errors_shown(form) == ["Not a number. Use a point: 180.00"]
    assert len(named(form, "nbgraph-has-error")) == 1
    assert summary_shown(form) == []
    control(form, "Amount").value = "180.00"
    assert errors_shown(form) == []


def test_submitting_shows_all_errors_and_a_summary_in_the_order_of_the_form() -> None:
    form = Form(Refund)
    control(form, "Amount").value = "180,00"
    button(form, "nbgraph-submit").click()
    assert summary_shown(form) == [
        "4 answers are missing or not right",
        "Pay Back: choose Yes or No",
        "Pay To: choose one",
        "Amount: “180,00” is not a number. Use a point: 180.00",
        "Approved By: fill this in",
    ]
    assert len(errors_shown(form)) == 4
    fill(form)
    assert (errors_shown(form), summary_shown(form)) == ([], [])


def test_a_problem_inside_a_json_field_says_where() -> None:
    form = Form(dict[Literal["a"], list[Any]])
    form.value = {"a": 1}
    assert errors_shown(form) == ["Not a list"]
    form = Form(list[Any] | dict[str, Any])
    form.value = {"b": {"c": float("nan")}}
    assert errors_shown(form) == ["b/c: nan is not a number that JSON knows"]


# --- submitting -------------------------------------------------------------------------------


def test_a_bad_answer_is_never_sent() -> None:
    form, sent = Form(bool), []
    form.on_submit(sent.append)
    assert (form.submit(), sent) == (False, [])


def test_a_good_answer_is_sent_once_however_often_one_clicks() -> None:
    form, sent = Form(bool, value=True), []
    form.on_submit(sent.append)
    for _ in range(3):
        button(form, "nbgraph-submit").click()
    assert sent == [True]
    assert "nbgraph-held" in button(form, "nbgraph-submit")._dom_classes


def test_clicks_on_several_threads_send_once() -> None:
    form, sent = Form(bool, value=True), []
    gate = threading.Barrier(8)
    form.on_submit(sent.append)

    def click() -> None:
        gate.wait()
        form.submit()

    threads = [threading.Thread(target=click) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sent == [True]


def test_a_submit_inside_a_callback_does_nothing() -> None:
    form, inner = Form(bool, value=True), []
    form.on_submit(lambda _: inner.append(form.submit()))
    assert (form.submit(), inner) == (True, [False])


def test_a_form_alone_can_be_sent_again_after_a_change() -> None:
    form, sent = Form(bool, value=True), []
    form.on_submit(sent.append)
    form.submit()
    form.value = False
    form.submit()
    assert sent == [True, False]


def test_a_callback_can_be_taken_away() -> None:
    form, sent = Form(bool, value=True), []
    form.on_submit(sent.append)
    form.on_submit(sent.append, remove=True)
    assert (form.submit(), sent) == (True, [])


def test_what_a_callback_refuses_is_shown_at_its_field_and_can_be_sent_again() -> None:
    answers = iter([AnswerError("confirm:0", {"/amount": "more than was paid"}), None])

    def send(_: Any) -> None:
        error = next(answers)
        if error:
            raise error

    form = Form.for_interrupt(question(), send, value=GOOD)
    assert form.submit() is False
    assert errors_shown(form) == ["more than was paid"]
    assert summary_shown(form)[1:] == ["Amount: more than was paid"]
    control(form, "Amount").value = "100.00"
    assert (errors_shown(form), form.submit()) == ([], True)


def test_a_late_answer_is_told_above_the_fields() -> None:
    late = StaleAnswerError("confirm:0", 3, None)

    def send(_: Any) -> None:
        raise late

    form = Form.for_interrupt(question(), send, value=GOOD)
    assert (form.submit(), summary_shown(form)) == (False, [str(late)])


def test_a_callback_that_breaks_lets_the_form_be_sent_again() -> None:
    calls: list[Any] = []

    def send(answer: Any) -> None:
        calls.append(answer)
        if len(calls) == 1:
            raise RuntimeError("broken")

    form = Form(bool, value=True)
    form.on_submit(send)
    with pytest.raises(RuntimeError):
        form.submit()
    assert (form.submit(), calls) == (True, [True, True])


# --- the form of a question -------------------------------------------------------------------


def test_a_question_shows_who_asks_what_and_beside_which_payload() -> None:
    asked = question(
        message="Pay $180 back?",
        payload={"order": "A-1042", "paid": 180.0, "items": ["lamp"], "late": True},
        created_at=1_000.0,
    )
    form = Form.for_interrupt(asked, keys=Keys())
    form.tick(1_130.0)
    shown = [each.value for each in visible(form) if isinstance(each, ipywidgets.Label)]
    assert {"confirm asks", "for 2 min", "confirm:0", "Pay $180 back?"} <= set(shown)
    assert "After you submit, confirm runs again from its first line." in shown
    table = named(form, "nbgraph-table")[0]
    assert [cell.value for cell in table.children] == [
        "order", "A-1042", "paid", "180.0", "items", '["lamp"]', "late", "Yes",
    ]  # fmt: skip
    assert form._dom_classes == ("nbgraph-form", "nbgraph-key-confirm-0")


def test_problems_of_an_earlier_answer_stand_at_their_fields() -> None:
    form = Form.for_interrupt(question(problems={"/amount": "more than was paid"}), value=GOOD)
    assert errors_shown(form) == ["more than was paid"]
    assert form.errors == {}
    assert form.submit() is True


def test_the_python_type_judges_where_the_process_knows_it() -> None:
    asked = question(Annotated[int, Field(gt=0)])
    remember("thread", asked.key, Annotated[int, Field(gt=0)])
    form = Form.for_interrupt(asked, thread_id="thread", value=-1)
    assert form.errors == {"": "more than 0"}


def test_an_answered_question_is_locked() -> None:
    form = Form.for_interrupt(question(message="Pay back?"), value=GOOD)
    form.submit()
    assert control(form, "Amount").disabled


def test_enable_lets_a_question_be_answered_again() -> None:
    sent: list[Any] = []
    form = Form.for_interrupt(question(bool), sent.append, value=True)
    form.submit()
    form.enable()
    form.submit()
    assert sent == [True, True]


def test_a_closed_form_leaves_no_widget_behind() -> None:
    form = Form(Refund)
    inner = list(parts(form))
    form.close()
    assert [each for each in inner if each.comm is not None] == []


def test_code_is_the_answer_as_python() -> None:
    assert Form(Refund).code() == "UNSET"
    assert eval(Form(Refund, value=GOOD).code()) == GOOD


def test_copy_as_code_shows_the_call_that_answers() -> None:
    form = Form.for_interrupt(question(), value=GOOD)
    button(form, "nbgraph-copy").click()
    code = named(form, "nbgraph-code")[0].value
    assert eval(code, {"Resume": lambda answers: answers}) == {"confirm:0": GOOD}


def test_form_and_json_change_into_one_another() -> None:
    form = Form(Refund)
    fill(form)
    switch = named(form, "nbgraph-json")[0]
    switch.index = 1
    text = named(form, "nbgraph-mono")[0]
    assert form.value == GOOD
    text.value = text.value.replace("card", "credit")
    switch.index = 0
    assert form.value == {**GOOD, "pay_to": "credit"}
    assert control(form, "Pay To").value == 1


def test_text_that_is_no_json_stays_json_and_is_told() -> None:
    form = Form(Refund)
    switch = named(form, "nbgraph-json")[0]
    switch.index = 1
    named(form, "nbgraph-mono")[0].value = "{"
    switch.index = 0
    assert switch.index == 1
    assert errors_shown(form)[0].startswith("Not JSON: ")
    assert form.submit() is False


def test_a_start_form_starts() -> None:
    started: list[Any] = []
    form = Form.for_start(Address, started.append)
    control(form, "Street").value = "Main St"
    start = button(form, "nbgraph-submit")
    start.click()
    assert (start.description, started) == ("Start", [{"street": "Main St", "city": None}])


# --- data is never markup ---------------------------------------------------------------------

HOSTILE = r"<img src=x onerror=alert(1)> $x^2$ \(y\) " + "\u202e"


def test_data_is_text_and_never_markup_or_mathematics() -> None:
    schema = {
        "type": "object",
        "title": HOSTILE,
        "required": [HOSTILE],
        "properties": {
            HOSTILE: {"type": "string", "description": HOSTILE, "examples": [HOSTILE]},
            "choice": {"enum": [HOSTILE, "b"], "title": HOSTILE},
        },
    }
    form = Form.for_interrupt(
        question(schema, message=HOSTILE, payload={HOSTILE: HOSTILE}, problems={"": HOSTILE})
    )
    form.submit()
    kinds = {type(each) for each in parts(form)}
    assert not kinds & {ipywidgets.HTML, ipywidgets.HTMLMath}
    for each in parts(form):
        if isinstance(each, ipywidgets.Label):
            assert "mathjax_ignore" in each._dom_classes
            assert "\u202e" not in each.value
        elif getattr(each, "description", "") and not isinstance(each, ipywidgets.Button):
            assert "$" not in each.description.replace("\\$", "")
            assert "\\(" not in each.description.replace("\\\\", "")
            assert not each.description_allow_html


def test_where_nobody_can_answer_a_form_is_text(monkeypatch):
    form = Form(Literal["send", "hold"], message="This one?")
    assert "application/vnd.jupyter.widget-view+json" in form._repr_mimebundle_()
    monkeypatch.setenv("NBGRAPH_UNATTENDED", "1")
    assert form._repr_mimebundle_() == {"text/plain": "This one?\nAnswer: choose one"}
