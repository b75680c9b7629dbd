"""Forms in a real front end: typed, added, moved, chosen and sent as a person does it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Open
from .labtool import Notebook

pytestmark = pytest.mark.browser


SETUP = """
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Literal
from pydantic import BaseModel, Field, SecretStr
from nbgraph import Form

sent = []

def shown(kind, **options):
    global form
    form = Form(kind, **options)
    form.on_submit(sent.append)
    return form
"""

EVERYTHING = """
class Everything(BaseModel):
    agree: bool
    urgency: Literal["low", "high"]
    weekday: Literal["Mon", "Tue", "Wed", "Thu", "Fri"]
    count: int
    price: Decimal
    name: str
    note: Annotated[str, Field(max_length=400)]
    day: date
    moment: datetime
    takes: timedelta
    token: SecretStr

shown(Everything)
"""

LISTS = """
class Line(BaseModel):
    article: str
    count: int = 1

class Lists(BaseModel):
    labels: list[str]
    lines: list[Line]

shown(Lists)
"""

LASTING = """
class Visit(BaseModel):
    lasts: timedelta
    note: str
    sure: bool

shown(Visit)
"""

UNION = """
class Card(BaseModel):
    kind: Literal["card"]
    digits: str
    holder: str

class Bank(BaseModel):
    kind: Literal["bank"]
    iban: str
    holder: str

class Payment(BaseModel):
    how: Annotated[Card | Bank, Field(discriminator="kind")]

shown(Payment)
"""

ENDING = """
import time
from nbgraph import Interrupt

question = Interrupt(
    key="ask:ok", id="ok", node="ask", task_id="ask", response_schema={"type": "boolean"},
    expires_at=time.time() + 240, default=True, has_default=True,
)
form = Form.for_interrupt(question, sent.append, value=True)
form
"""

HUNDRED = """
fields = {f"f{n}": {"type": ["string", "integer", "boolean"][n % 3]} for n in range(100)}
shown({"type": "object", "properties": fields, "required": list(fields)})
"""


def form_of(open_notebook: Open, source: str) -> tuple[Notebook, Locator]:
    """Return an open notebook and the form in its second cell."""
    notebook = open_notebook([SETUP, source])
    notebook.run_all()
    form = notebook.cell(1).locator(".nbgraph-form")
    form.wait_for()
    notebook.wait_idle()
    return notebook, form


def sent(notebook: Notebook) -> list[object]:
    notebook.wait_idle()
    return json.loads(notebook.execute("import json; print(json.dumps(sent))"))


def submit(form: Locator) -> None:
    form.locator(".nbgraph-submit").click()


def wait_until_sent(form: Locator) -> None:
    expect(form.locator(".nbgraph-actions")).to_contain_text("Sent")


def field(form: Locator, label: str) -> Locator:
    return form.get_by_label(label, exact=True).filter(visible=True)


def test_what_is_typed_and_chosen_is_sent(open_notebook: Open) -> None:
    notebook, form = form_of(open_notebook, EVERYTHING)
    form.get_by_role("radiogroup", name="Agree *").get_by_label("Yes").check()
    form.get_by_label("high", exact=True).check()
    field(form, "Weekday *").select_option("Wed")
    field(form, "Count *").fill("9007199254740993")
    field(form, "Price *").fill("120.00")
    field(form, "Name *").fill("Desk <b>$x$</b>")
    field(form, "Note *").fill("two\nlines")
    field(form, "Day *").fill("2026-11-29")
    field(form, "Moment *").fill("2026-11-29T12:04:00+05:45")
    field(form, "Takes *").fill("1h 30m")
    field(form, "Token *").fill("hunter2")
    submit(form)
    wait_until_sent(form)
    assert sent(notebook) == [
        {
            "agree": True,
            "urgency": "high",
            "weekday": "Wed",
            "count": 9007199254740993,
            "price": "120.00",
            "name": "Desk <b>$x$</b>",
            "note": "two\nlines",
            "day": "2026-11-29",
            "moment": "2026-11-29T12:04:00+05:45",
            "takes": "PT1H30M",
            "token": "hunter2",
        }
    ]
    notebook.save()
    assert "hunter2" not in json.dumps(notebook.page.evaluate("document.body.outerHTML"))
    expect(field(form, "Token *")).to_have_value("")


def test_pasted_text_is_sent_by_a_click_right_after(open_notebook: Open) -> None:
    notebook, form = form_of(open_notebook, "shown(str)")
    field(form, "Answer *").focus()
    notebook.page.keyboard.insert_text("pasted")
    submit(form)
    wait_until_sent(form)
    assert sent(notebook) == ["pasted"]


def test_a_line_that_appears_under_the_pointer_does_not_take_the_click(
    open_notebook: Open,
) -> None:
    notebook, form = form_of(open_notebook, "shown(timedelta)")
    field(form, "Answer *").fill("1h 30m")
    button = form.locator(".nbgraph-submit")
    box = button.bounding_box()
    assert box
    notebook.page.mouse.move(box["x"] + 30, box["y"] + 2)
    notebook.page.mouse.down()
    expect(form.get_by_text("read as PT1H30M")).to_be_visible()
    notebook.page.mouse.up()
    wait_until_sent(form)
    assert sent(notebook) == ["PT1H30M"]


def test_a_choice_that_moves_under_the_pointer_is_made(open_notebook: Open) -> None:
    notebook, form = form_of(open_notebook, LASTING)
    field(form, "Lasts *").fill("1h 30m")
    choice = form.get_by_label("Yes", exact=True)
    choice.scroll_into_view_if_needed()
    box = choice.bounding_box()
    assert box
    notebook.page.mouse.move(box["x"] + 5, box["y"] + 5)
    notebook.page.mouse.down()
    expect(form.get_by_text("read as PT1H30M")).to_be_visible()
    notebook.page.mouse.up()
    expect(choice).to_be_checked()


def test_leaving_fields_sends_nothing(open_notebook: Open) -> None:
    """Report G42."""
    notebook, form = form_of(open_notebook, UNION)
    form.get_by_label("Card", exact=True).check()
    field(form, "Digits *").fill("4242")
    for _ in range(8):
        notebook.page.keyboard.press("Tab")
    assert sent(notebook) == []


def test_rows_are_added_moved_and_taken_away(open_notebook: Open) -> None:
    notebook, form = form_of(open_notebook, LISTS)
    labels = form.locator(".nbgraph-group").nth(0)
    for number, text in enumerate(["fragile", "express", "heavy"]):
        labels.locator(".nbgraph-add").click()
        expect(labels.locator(".nbgraph-item input")).to_have_count(number + 1)
        expect(labels.locator(".nbgraph-item input").nth(number)).to_be_focused()
        notebook.page.keyboard.type(text)
    labels.locator(".nbgraph-up").nth(2).click()
    expect(labels.locator(".nbgraph-item input").nth(1)).to_have_value("heavy")
    labels.locator(".nbgraph-remove").nth(0).click()
    expect(labels.locator(".nbgraph-item")).to_have_count(2)
    lines = form.locator(".nbgraph-group").nth(1)
    lines.locator(".nbgraph-add").click()
    field(lines, "Article *").fill("desk lamp")
    submit(form)
    wait_until_sent(form)
    assert sent(notebook) == [
        {"labels": ["heavy", "express"], "lines": [{"article": "desk lamp", "count": 1}]}
    ]


def test_another_branch_keeps_what_both_have(open_notebook: Open) -> None:
    notebook, form = form_of(open_notebook, UNION)
    form.get_by_label("Card", exact=True).check()
    field(form, "Digits *").fill("4242")
    field(form, "Holder *").fill("Desk")
    form.get_by_label("Bank", exact=True).check()
    field(form, "Iban *").fill("DE00")
    expect(field(form, "Holder *")).to_have_value("Desk")
    submit(form)
    wait_until_sent(form)
    assert sent(notebook) == [{"how": {"kind": "bank", "iban": "DE00", "holder": "Desk"}}]


def test_a_double_click_sends_once_and_so_do_the_keys(open_notebook: Open) -> None:
    notebook, form = form_of(open_notebook, "shown(str)")
    field(form, "Answer *").fill("one")
    form.locator(".nbgraph-submit").dblclick()
    wait_until_sent(form)
    assert sent(notebook) == ["one"]
    field(form, "Answer *").fill("two")
    field(form, "Answer *").blur()
    expect(form.get_by_text("Sent", exact=True)).to_have_count(0)
    field(form, "Answer *").press("Control+Enter")
    wait_until_sent(form)
    assert sent(notebook) == ["one", "two"]


def test_enter_goes_on_from_field_to_field(open_notebook: Open) -> None:
    notebook, form = form_of(
        open_notebook,
        "shown({'type': 'object', 'required': ['a', 'b', 'c', 'd', 'e'], 'properties': {"
        "'a': {'type': 'string'}, 'b': {'type': 'string', 'format': 'date'}, "
        "'c': {'enum': ['x', 'y']}, 'd': {'type': 'string', 'x-widget': 'textarea'}, "
        "'e': {'type': 'integer'}}})",
    )
    page = notebook.page
    field(form, "A *").focus()
    page.keyboard.type("one")
    page.keyboard.press("Enter")
    expect(field(form, "B *")).to_be_focused()
    page.keyboard.type("2026-11-29")
    page.keyboard.press("Enter")
    expect(form.get_by_label("x", exact=True)).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    page.keyboard.type("lines")
    page.keyboard.press("Tab")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    expect(form.locator(".nbgraph-submit")).to_be_focused()
    page.keyboard.press("Enter")
    wait_until_sent(form)
    assert sent(notebook) == [{"a": "one", "b": "2026-11-29", "c": "x", "d": "two\nlines", "e": 5}]


PASTED = """
import ipywidgets

shown({"type": "object", "properties": {
    "text": {"type": "string"}, "long": {"type": "string", "x-widget": "textarea"},
    "number": {"type": "integer"}, "day": {"type": "string", "format": "date"}}})
many = ipywidgets.Label()
form.on_submit(lambda _: setattr(many, "value", f"{len(sent)} answers"))
ipywidgets.VBox((form, many))
"""


def test_what_was_pasted_last_is_sent_each_time(open_notebook: Open) -> None:
    """Report G41."""
    notebook, form = form_of(open_notebook, PASTED)
    rounds = [("Text", "word {}"), ("Long", "line {}"), ("Number", "{}"), ("Day", "2026-11-{:02}")]
    told: list[object] = []
    now: dict[str, object] = {}
    for number in range(1, 13):
        for label, text in rounds:
            pasted = text.format(number)
            field(form, label).focus()
            notebook.page.keyboard.press("Control+A")
            notebook.page.keyboard.insert_text(pasted)
            form.locator(".nbgraph-submit").click(force=True)  # it is held until the change is read
            now[label.lower()] = number if label == "Number" else pasted
            told.append(dict(now))
            expect(notebook.cell(1).get_by_text(f"{len(told)} answers", exact=True)).to_be_visible()
    assert sent(notebook) == told


def test_a_secret_is_not_in_the_saved_notebook(open_notebook: Open) -> None:
    """Report G50."""
    notebook, form = form_of(
        open_notebook,
        "shown({'type': 'object', 'properties': "
        "{'key': {'type': 'string', 'format': 'password', 'writeOnly': True}}})",
    )
    field(form, "Key").fill("hunter2")
    submit(form)
    wait_until_sent(form)
    notebook.save()
    assert "hunter2" not in json.dumps(notebook.server.read(notebook.name))


LEFT = """
from nbgraph import END, START, BaseState, Graph, Panel, SQLiteStateStore, interrupt, node

class State(BaseState):
    amount: int = 0

@node
def confirm(state: State) -> dict:
    answer = interrupt("Pay back?", id="sum", response_schema={
        "type": "object", "required": ["amount", "key"], "properties": {
            "amount": {"type": "integer"}, "note": {"type": "string"},
            "key": {"type": "string", "format": "password"}}})
    return {"amount": answer["amount"]}

store = SQLiteStateStore("threads.db")
graph = Graph(State, name="refund", state_store=store).flow(START >> confirm >> END)
panel = Panel(graph, "t-1", {} if not store_has_thread else None)
panel
"""


def test_a_half_filled_in_form_is_there_after_the_kernel_was_restarted(
    open_notebook: Open,
) -> None:
    begun = "import os; store_has_thread = os.path.exists('threads.db')"
    notebook = open_notebook([begun, LEFT])
    notebook.run_all()
    form = notebook.cell(1).locator(".nbgraph-form")
    field(form, "Amount *").fill("12x")
    field(form, "Key *").fill("hunter2")
    field(form, "Note").fill("came broken")
    field(form, "Note").press("Tab")
    expect(form.get_by_text("Draft kept")).to_be_visible()
    notebook.wait_idle()
    notebook.restart()
    notebook.run_all()
    form = notebook.cell(1).locator(".nbgraph-form")
    expect(form.get_by_text("Draft kept")).to_be_visible()
    expect(field(form, "Amount *")).to_have_value("12x")
    expect(field(form, "Note")).to_have_value("came broken")
    expect(field(form, "Key *")).to_have_value("")


def test_a_bad_answer_leads_to_its_field(open_notebook: Open) -> None:
    notebook, form = form_of(open_notebook, LISTS)
    form.locator(".nbgraph-group").nth(1).locator(".nbgraph-add").click()
    field(form, "Count").fill("x")
    submit(form)
    summary = form.locator(".nbgraph-summary")
    expect(summary).to_contain_text("3 answers are missing or not right")
    summary.get_by_text("Article: fill this in").click()
    expect(field(form, "Article *")).to_be_focused()
    expect(field(form, "Count")).to_have_attribute("aria-invalid", "true")
    assert sent(notebook) == []


def test_a_question_counts_down_is_heard_and_is_only_read_when_its_time_is_over(
    open_notebook: Open,
) -> None:
    notebook, form = form_of(open_notebook, ENDING)
    line = form.locator(".nbgraph-deadline")
    expect(line).to_contain_text("Expires in 4 min, at ")
    expect(line).to_contain_text("Then the default counts: Yes.")
    notebook.execute("form.tick(question.expires_at - 30)")
    expect(line).to_contain_text("Expires in 30 s, at ")
    live = notebook.cell(1).locator(".nbgraph-live")
    expect(live).to_contain_text("Expires in 30 s, at ")
    expect(live).to_have_attribute("aria-live", "polite")
    notebook.execute("form.tick(question.expires_at - 29)")
    expect(line).to_contain_text("Expires in 29 s, at ")
    expect(live).to_contain_text("Expires in 30 s, at ")
    notebook.execute("form.tick(question.expires_at)")
    expect(line).to_contain_text("Expired at ")
    expect(live).to_contain_text("Expired at ")
    for radio in form.locator("input[type=radio]").all():
        expect(radio).to_be_disabled()
    expect(form.locator(".nbgraph-submit")).to_have_attribute("aria-disabled", "true")
    form.locator(".nbgraph-submit").click(force=True)
    assert sent(notebook) == []


def test_a_hundred_fields_are_there_soon_and_typing_does_not_lag(
    open_notebook: Open, record_property: Callable[[str, object], None]
) -> None:
    notebook = open_notebook([SETUP + "\nForm(int).close()", HUNDRED])
    notebook.run(0)
    notebook.wait_idle()
    began = time.monotonic()
    notebook.run(1)
    last = notebook.cell(1).locator(".nbgraph-form").get_by_text("F99", exact=False)
    last.first.wait_for()
    took = time.monotonic() - began
    record_property("seconds_to_show", round(took, 2))
    form = notebook.cell(1).locator(".nbgraph-form")
    text = field(form, "F0 *")
    text.focus()
    began = time.monotonic()
    notebook.page.keyboard.type("a" * 60)
    expect(text).to_have_value("a" * 60)
    typed = time.monotonic() - began
    record_property("seconds_to_type", round(typed, 2))
    field(form, "F1 *").fill("x")
    field(form, "F3 *").focus()
    expect(form.locator(".nbgraph-error").filter(visible=True)).to_have_text(
        "Not a whole number. For example 42"
    )
    assert notebook.execute("print(form.errors.get('/f0'))") == "None\n"
