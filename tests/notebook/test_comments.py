"""A comment beside an answer: given in a form, on a card or in an inbox, and read everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from approvers import FORGET, LOOK_UP, REFUND, Agent, calls
from form_parts import inputs, named, words
from inbox_parts import loans
from tool_asks import button, read_in

from nbgraph import (
    END,
    START,
    Form,
    Graph,
    Inbox,
    InMemoryStateStore,
    Panel,
    Timeline,
    interrupt,
    node,
)
from nbgraph.core.events import AnswersGiven
from nbgraph.errors import ResumeError
from nbgraph.transcript import transcript

KEY = "confirm:it"
CARD = "act:approve_c_1"
SAID = "As agreed on the phone."


@node
def confirm(state: dict) -> dict:
    return {"ok": interrupt(id="it", message="May we?", response_schema=bool)}


def paused(store: Any = None) -> Panel:
    graph = Graph(dict, name="desk", state_store=store or InMemoryStateStore())
    panel = Panel(graph.flow(START >> confirm >> END), "t", {})
    panel.session.settle()
    return panel


def comments(panel: Panel) -> list[str | None]:
    """Return what was recorded beside answers."""
    return [each.comment for each in panel.session.history() if isinstance(each, AnswersGiven)]


def shown(panel: Panel) -> str:
    assert panel.forms is not None  # draws what is new
    return read_in(panel)


def write(place: Any, text: str) -> None:
    """Press the button that adds a comment, and write it."""
    button(place, "add-comment").click()
    (field,) = inputs(place, "Comment")
    field.value = text


def answer(panel: Panel, comment: str) -> None:
    form = panel.forms[KEY]
    write(form, comment)
    form.value = True
    assert form.submit()
    panel.session.settle()


# --- in a form ----------------------------------------------------------------------------------


def test_a_question_has_no_field_for_a_comment_until_it_is_asked_for():
    form = paused().forms[KEY]
    assert (inputs(form, "Comment"), form.comment) == ([], None)
    add = button(form, "add-comment")
    assert add.description == "Add a comment"
    write(form, f"  {SAID}\n")
    assert (add.description, form.comment) == ("Remove comment", SAID)
    add.click()
    assert (inputs(form, "Comment"), form.comment, add.description) == ([], None, "Add a comment")


def test_a_form_that_asks_for_no_thread_takes_no_comment():
    form = Form(bool)
    assert not named(form, "nbgraph-add-comment")
    form.comment = "said to nobody"
    assert form.comment is None


def test_what_is_said_beside_an_answer_is_recorded_and_read_in_record_log_and_timeline():
    panel = paused()
    answer(panel, SAID)
    assert comments(panel) == [SAID]
    record = read_in(named(panel, "nbgraph-record")[0]) if shown(panel) else ""
    assert f"comment {SAID} Answer differently" in record
    log = [each.text for each in panel.session.snapshot.log]
    assert any(each.endswith(f"answered {KEY}: “{SAID}”") for each in log)
    timeline = Timeline(panel.session)
    timeline.step = 1
    (people,) = [each for each in words(timeline) if each.startswith("confirm: asked")]
    assert people.endswith(f": “{SAID}”")


def test_it_stands_in_the_exported_thread_and_in_what_is_left_of_a_panel(tmp_path: Path):
    panel = paused()
    answer(panel, SAID)
    assert f'said "{SAID}"' in transcript(panel.session)
    assert SAID in panel._still()["text/html"]
    assert SAID in panel.session.export(tmp_path / "t.ipynb").read_text(encoding="utf-8")


def test_it_is_data_wherever_it_stands(tmp_path: Path):
    panel = paused()
    answer(panel, "<img src=x onerror=alert(1)>\u202e $x$")
    assert "\u202e" not in shown(panel)
    still = panel._still()
    assert "<img src=x" not in still["text/html"]
    assert "\u202e" not in still["text/plain"]


def test_without_one_nothing_is_recorded_for_it():
    panel = paused()
    answer(panel, "   ")
    assert comments(panel) == [None]


def test_it_is_in_the_code_of_the_answer():
    form = paused().forms[KEY]
    form.value, form.comment = True, "It's fine."
    button(form, "copy").click()
    (code,) = [each for each in named(form, "nbgraph-code") if hasattr(each, "rows")]
    assert code.value == f'Resume(answers={{{KEY!r}: True}}, comment="It\'s fine.")'


def test_an_answer_that_is_refused_keeps_its_comment():
    def refuse(_: Any) -> None:
        raise ResumeError("The thread is running")

    form = Form.for_interrupt(paused().session.pending[KEY], refuse)
    write(form, SAID)
    form.value = True
    assert (form.submit(), form.comment) == (False, SAID)
    assert not inputs(form, "Comment")[0].disabled


def test_it_cannot_be_changed_once_it_is_sent():
    form = Form.for_interrupt(paused().session.pending[KEY], lambda _: None)
    write(form, SAID)
    (field,) = inputs(form, "Comment")
    form.value = True
    assert form.submit()
    assert (field.disabled, named(form, "nbgraph-add-comment")) == (True, [])
    form.enable()
    assert (field.disabled, form.comment) == (False, SAID)
    assert named(form, "nbgraph-add-comment")


# --- on cards ---------------------------------------------------------------------------------


def test_a_comment_beside_an_approval_is_recorded_and_in_the_record_of_the_call():
    agent = Agent(calls(REFUND))
    panel = agent.panel()
    write(panel.forms[CARD], SAID)
    button(panel.forms[CARD], "approve").click()
    panel.session.settle()
    assert comments(panel) == [SAID]
    record = read_in(named(panel, "nbgraph-record")[0]) if shown(panel) else ""
    assert f"Comment: {SAID} Answer differently" in record
    assert [each.reason for each in panel.session.decisions()] == [SAID]


def test_a_reason_for_denying_and_a_comment_are_two_things():
    panel = Agent(calls(REFUND)).panel()
    panel.forms[CARD].comment = SAID
    panel.forms[CARD].deny("Ask for a photo first.")
    panel.session.settle()
    record = read_in(named(panel, "nbgraph-record")[0]) if shown(panel) else ""
    assert "Reason: Ask for a photo first. Did not run." in record
    assert f"Comment: {SAID} Answer differently" in record


def test_several_calls_have_one_comment_for_all():
    panel = Agent(calls(REFUND, LOOK_UP, FORGET)).panel()
    shown(panel)
    (calls_,) = named(panel, "nbgraph-calls")
    write(calls_, SAID)
    for card in panel.forms.values():
        card.deny()
    panel.session.settle()
    assert comments(panel) == [SAID]
    assert shown(panel).count(f"Comment: {SAID}") == 3


def test_the_next_calls_begin_without_the_comment_of_the_ones_before():
    panel = Agent(calls(REFUND, LOOK_UP), calls(REFUND, LOOK_UP, start=3)).panel()
    shown(panel)
    write(named(panel, "nbgraph-calls")[0], SAID)
    for card in panel.forms.values():
        card.deny()
    panel.session.settle()
    assert shown(panel)
    (calls_,) = named(panel, "nbgraph-calls")
    assert (calls_.comment, inputs(calls_, "Comment")) == (None, [])


def test_a_decision_that_is_taken_back_keeps_its_comment():
    panel = Agent(calls(REFUND)).panel()
    panel._graph.greeted.set()
    panel.take_back_for = 300.0
    card = panel.forms[CARD]
    write(card, SAID)
    button(card, "approve").click()
    assert comments(panel) == []
    button(panel, "take-back").click()
    assert (card.comment, inputs(card, "Comment")[0].disabled) == (SAID, False)
    assert card.approve()
    panel.session.settle()
    assert comments(panel) == [SAID]


# --- in an inbox ------------------------------------------------------------------------------


def test_an_answer_given_in_an_inbox_has_its_comment():
    store = InMemoryStateStore()
    graph = loans(store, "ada")
    inbox = Inbox(store, apps=[graph])
    form = inbox.look_at(inbox.questions[0])
    write(form, SAID)
    form.value = {"complete": True}
    assert form.submit()
    inbox.settle()
    assert [each.comment for each in inbox.records] == [SAID]
    assert f"comment {SAID}" in read_in(named(inbox, "nbgraph-record")[0])
    inbox.close()
