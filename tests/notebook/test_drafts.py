"""A half filled-in form comes back as it was left, in another panel of the same thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import ipywidgets
import pytest
from form_parts import add, inputs, named, parts, words
from pydantic import BaseModel, Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    SQLiteStateStore,
    interrupt,
    node,
)
from nbgraph.core.answers import UNSET
from nbgraph.forms import draft_of, inputs_of, read, untouched
from nbgraph.notebook.drafts import StartPlace
from nbgraph.notebook.form import Form
from nbgraph.notebook.panel import Panel


class Refund(BaseModel):
    approve: bool
    amount: Annotated[int, Field(gt=0)]
    labels: list[str] = []
    note: str = "as agreed"
    key: Annotated[str, Field(json_schema_extra={"format": "password"})]


class State(BaseState):
    answer: dict[str, Any] = Field(default_factory=dict)


@node
def confirm(state: State) -> dict[str, Any]:
    answer: Refund = interrupt("Pay back?", id="sum", response_schema=Refund)
    return {"answer": {"amount": answer.amount}}


def graph(store: Any) -> Graph:
    return Graph(State, name="refund", state_store=store).flow(START >> confirm >> END)


def panel_of(store: Any) -> Panel:
    panel = Panel(graph(store), thread_id="t")
    if panel.session.status == "new":
        panel.start({}).result()
    return panel


def form_of(panel: Panel) -> Form:
    return panel.forms["confirm:sum"]


def control(form: Form, label: str) -> Any:
    return inputs(form, label)[0]


def wait_until_kept(form: Form, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Return what is set when the form says that its draft was kept."""
    said = threading.Event()
    say = form._say_draft

    def told(at: float | None) -> None:
        say(at)
        said.set()

    monkeypatch.setattr(form, "_say_draft", told)
    return said


def test_what_was_filled_in_is_there_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = panel_of(SQLiteStateStore(tmp_path / "threads.db"))
    form = form_of(first)
    control(form, "Approve").index = 0
    control(form, "Amount").value = "1x"
    add(form)
    control(form, "Labels").value = "fragile"
    said = wait_until_kept(form, monkeypatch)
    control(form, "Key").value = "hunter2"
    assert said.wait(60)
    assert any(text.startswith("Draft kept ") for text in words(form))
    again = form_of(panel_of(SQLiteStateStore(tmp_path / "threads.db")))
    assert any(text.startswith("Draft kept ") for text in words(again))
    assert control(again, "Approve").index == 0
    assert control(again, "Amount").value == "1x"
    assert control(again, "Labels").value == "fragile"
    assert control(again, "Note").value == "as agreed"
    assert control(again, "Key").value == ""
    assert again.errors == {"/amount": "Not a whole number. For example 42", "/key": "Fill this in"}
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"fragile" in stored
    assert b"hunter2" not in stored


def test_an_answer_takes_its_draft_along(monkeypatch: pytest.MonkeyPatch) -> None:
    store = InMemoryStateStore()
    panel = panel_of(store)
    form = form_of(panel)
    said = wait_until_kept(form, monkeypatch)
    form.value = {"approve": True, "amount": 5, "key": "k"}
    assert said.wait(60)
    sync = graph(store).sync
    assert len(drafts_in(store)) == 1
    assert form.submit()
    panel.session.settle()
    assert sync.load("t") == {"answer": {"amount": 5}}
    assert drafts_in(store) == {}


def drafts_in(store: Any) -> Any:
    from nbgraph.core.loop import run_sync

    return run_sync(store.drafts("t"))


def test_what_is_taken_away_again_is_no_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    store = InMemoryStateStore()
    form = form_of(panel_of(store))
    control(form, "Amount").value = "5"
    said = wait_until_kept(form, monkeypatch)
    control(form, "Amount").value = ""
    assert said.wait(60)
    assert drafts_in(store) == {}
    assert not any(text.startswith("Draft kept ") for text in words(form))


def test_a_store_that_keeps_no_drafts_is_no_fault() -> None:
    class Plain:
        def __init__(self) -> None:
            self._store = InMemoryStateStore()

        def __getattr__(self, name: str) -> Any:
            if name in {"drafts", "keep_draft"}:
                raise AttributeError(name)
            return getattr(self._store, name)

    form = form_of(panel_of(Plain()))
    form.value = {"approve": True, "amount": 5, "key": "k"}
    assert form.errors == {}


SCHEMA = {
    "type": "object",
    "required": ["how", "when"],
    "properties": {
        "how": {"oneOf": [
            {"type": "object", "title": "Card", "required": ["k", "digits"],
             "properties": {"k": {"const": "c"}, "digits": {"type": "string"}}},
            {"type": "object", "title": "Bank", "required": ["k", "iban"],
             "properties": {"k": {"const": "b"}, "iban": {"type": "string"}}},
        ]},
        "when": {"type": "string", "format": "date"},
        "code": {"type": "integer", "writeOnly": True},
        "data": {},
        "pins": {"type": "array", "items": {"type": "string", "format": "password"}},
    },
}  # fmt: skip


def test_a_draft_has_what_was_filled_in_and_nothing_write_only() -> None:
    field = read(SCHEMA)
    assert draft_of(field, untouched(field)) is UNSET
    half = {
        "how": {"k": "b"},
        "when": "tomorrow",
        "code": 5,
        "data": {"a": [1]},
        "pins": ["1234"],
    }
    kept = draft_of(field, inputs_of(field, half))
    assert kept == {"how": {"k": "b"}, "when": "tomorrow", "data": {"a": [1]}}
    form = Form(SCHEMA)
    form._fields.restore(kept)
    assert form.errors == {
        "/how/iban": "Fill this in",
        "/when": "Not a date. For example 2026-11-29",
    }
    assert named(form, "nbgraph-kind")[0].index == 1


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "default": {}}
HIDDEN = {"type": "string", "writeOnly": True}


def begin_a_row(form: Form) -> None:
    add(form)


def type_a_secret(form: Form) -> None:
    control(form, "A").value = "never kept"


@pytest.mark.parametrize(
    ("schema", "act"),
    [
        ({**OPEN, "additionalProperties": {"type": "integer"}}, begin_a_row),
        ({**OPEN, "properties": {"a": HIDDEN}}, type_a_secret),
        ({**OPEN, "properties": {"a": HIDDEN, "b": {"default": 1}}, "default": {"b": 1}},
         type_a_secret),
    ],
)  # fmt: skip
def test_what_leaves_only_the_defaults_is_no_draft(
    schema: dict[str, Any], act: Callable[[Form], None]
) -> None:
    form = Form(schema)
    act(form)
    assert form._fields.draft() is UNSET


def test_text_that_is_no_json_yet_is_not_kept_as_something_else() -> None:
    form = Form({"type": "object", "properties": {"data": {}, "a": {"type": "string"}}})
    control(form, "A").value = "x"
    next(each for each in inputs(form, "Data")).value = "{bad"
    assert isinstance(inputs(form, "Data")[0], ipywidgets.Textarea)
    assert form._fields.draft() == {"a": "x"}


# --- the start form ---------------------------------------------------------------------------


class Order(BaseState):
    article: str
    count: int = 1


@node
def ship(state: Order) -> dict[str, Any]:
    return {"count": state.count + 1}


def order_panel(store: Any, thread_id: str = "t") -> tuple[Panel, Form]:
    flow = Graph(Order, name="order", state_store=store).flow(START >> ship >> END)
    panel = Panel(flow, thread_id=thread_id)
    return panel, next(each for each in parts(panel) if isinstance(each, Form))


def test_what_is_typed_into_a_start_form_is_there_when_it_is_shown_again() -> None:
    store = InMemoryStateStore()
    _, form = order_panel(store)
    control(form, "Article").value = "desk lamp"
    control(form, "Count").value = "2x"
    assert "Draft kept" in " ".join(words(form))
    _, again = order_panel(store)
    assert (again.value, again.errors) == (form.value, form.errors)
    assert control(again, "Count").value == "2x"
    assert order_panel(store, "another")[1].value is UNSET
    assert order_panel(InMemoryStateStore())[1].value is UNSET


def test_a_start_form_forgets_what_was_typed_when_its_graph_is_started() -> None:
    store = InMemoryStateStore()
    panel, form = order_panel(store)
    control(form, "Article").value = "desk lamp"
    assert form.submit()
    assert panel.session.settle().state.count == 2
    assert StartPlace(panel.session.driver).found is None


def test_a_start_form_that_was_emptied_again_keeps_nothing() -> None:
    store = InMemoryStateStore()
    panel, form = order_panel(store)
    control(form, "Article").value = "desk lamp"
    control(form, "Article").value = ""
    assert StartPlace(panel.session.driver).found is None
    assert "Draft kept" not in " ".join(words(form))
