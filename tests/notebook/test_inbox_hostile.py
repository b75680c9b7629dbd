"""The inbox where things are odd: texts, schemas, arguments, stores, two answers at once."""

from __future__ import annotations

import asyncio
import inspect
import json
import sqlite3
from typing import Any

import pytest
from approvers import REFUND, Agent, calls
from form_parts import named, words
from inbox_parts import answers_in, loans, press, rows, until
from pydantic import BaseModel, create_model

from nbgraph import (
    END,
    START,
    Form,
    Graph,
    Inbox,
    InMemoryStateStore,
    Panel,
    ScriptedChat,
    SQLiteStateStore,
    ToolCard,
    build_react_agent,
    interrupt,
    node,
    tool,
)
from nbgraph.core.hidden import is_hidden
from nbgraph.middleware import InterruptRule, ToolInterruptMiddleware
from nbgraph.testing.spoofs import SPOOFS
from nbgraph.waiting import Wanted

ODD = [
    "<img src=x onerror=alert(1)>",
    "$\\frac{1}{2}$ \\(x\\)",
    "\u202egnp.exe\u202c",
    "zero\u200bwidth",
    "a/b\\c'd\"e;--",
    "line\nbreak\ttab",
    "\x1b[31mred",
    "  blanks  ",
    "名前 🙂",
    "x" * 3_000,
    "{'a': 1}",
    "__proto__",
]


def asking(store: Any, schema: Any = str, name: str = "odd") -> Graph:
    @node
    def ask(state: dict) -> dict:
        given = interrupt(
            state.get("payload"), id="a", message=state.get("message"), response_schema=schema
        )
        return {"given": given}

    return Graph(dict, name=name, state_store=store).flow(START >> ask >> END)


def test_three_hundred_questions_with_odd_texts_show_nothing_hidden_and_are_answered():
    store = InMemoryStateStore()
    graph = asking(store, name="odd <b>$x$</b>\u202e")
    for number in range(300):
        text = ODD[number % len(ODD)]
        given = {"message": f"{text}?", "payload": {text: [text, {"deep": text}]}}
        graph.invoke(given, thread_id=f"{text}-{number}")
    inbox = Inbox(store, apps=graph)
    while named(inbox, "nbgraph-more") and len(rows(inbox)) < 200:
        named(inbox, "nbgraph-more")[0].click()
    shown = rows(inbox)
    assert len(shown) == 200
    for row in shown:
        texts = [value for value in row.values() if isinstance(value, str)]
        assert not [each for text in texts for each in text if is_hidden(each)]
        assert max(map(len, texts)) <= 200
    assert len(json.dumps(shown)) < 200 * 1_500
    ids = [row["id"] for row in shown]
    assert len(set(ids)) == 200
    assert all(each.isalnum() and each.isascii() for each in ids)
    for question in inbox.questions[: len(ODD)]:
        form = inbox.look_at(question)
        form.value = "fine"
        assert form.submit()
        assert answers_in(store, question.record.thread_id) == [{"ask:a": "fine"}]
    html = inbox._still()["text/html"]
    assert "<img" not in html
    assert "<b>" not in html
    inbox.wanted = Wanted(text="onerror")
    assert len(inbox.questions) == 24


@pytest.mark.parametrize("thread_id", [*ODD, "'; DROP TABLE questions", "a" * 5_000])
def test_a_thread_of_any_name_is_found_answered_and_goes_on(thread_id, tmp_path):
    store = SQLiteStateStore(tmp_path / "t.db")
    graph = asking(store)
    graph.invoke({}, thread_id=thread_id)
    inbox = Inbox(store, apps=graph)
    press(inbox, "open", rows(inbox)[0])
    form = inbox.opened
    assert form is not None
    form.value = "fine"
    assert form.submit()
    inbox.settle()
    assert graph.sync.load(thread_id)["given"] == "fine"
    inbox.close()
    store.close()


class Inner(BaseModel):
    name: str
    parts: list[int]


WIDE = create_model("Wide", **{f"argument_{n}": (int, n) for n in range(60)})


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        (create_model("None_"), {}),
        (create_model("Nested", inner=(Inner, ...), more=(list[Inner], ...)),
         {"inner": {"name": "a", "parts": [1]}, "more": [{"name": "b", "parts": []}]}),
        (WIDE, {f"argument_{n}": n for n in range(60)}),
    ],
    ids=["none", "nested", "sixty"],
)  # fmt: skip
def test_calls_of_any_shape_are_approved_together_and_run_as_they_were_shown(model, arguments):
    ran: list[Any] = []

    act = tool(_function_of(model, ran.append), input_model=model)
    store = InMemoryStateStore()

    def agent(*turns: Any) -> Graph:
        return build_react_agent(
            ScriptedChat(turns, default="Done."),
            tools=[act],
            middleware=[ToolInterruptMiddleware(rules=[InterruptRule("*")])],
            state_store=store,
        )

    for number in (1, 2):
        asked = calls(("act", arguments), start=number)
        agent(asked).invoke(
            {"messages": [{"type": "human", "content": "Go"}]}, thread_id=f"t{number}"
        )
    inbox = Inbox(store, apps=agent())
    card = inbox.look_at(inbox.questions[0])
    assert isinstance(card, ToolCard)
    assert card.arguments == arguments
    inbox.shut()
    press(inbox, "all")
    assert inbox.approve()
    inbox.settle()
    assert ran == [arguments, arguments]


def _function_of(model: type[BaseModel], told: Any) -> Any:
    """Return a function that takes the fields of a model, each by its name."""

    def act(**given: Any) -> str:
        """Act."""
        told(model(**given).model_dump())
        return "done"

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, kind, annotation=field.annotation)
        for name, field in model.model_fields.items()
    ]
    act.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    act.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": str}
    return act


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        (None, {"any": [1, None]}),
        ({}, "anything"),
        ({"not": {"type": "number"}}, {"b": 1}),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}},
         [[], [[]]]),
        ({"type": "null"}, None),
        ({"const": 3}, 3),
    ],
    ids=str,
)  # fmt: skip
def test_a_schema_without_a_form_of_its_own_is_answered_all_the_same(schema, answer):
    store = InMemoryStateStore()
    graph = asking(store, schema)
    for number in (1, 2):
        graph.invoke({"payload": None}, thread_id=f"t{number}")
    inbox = Inbox(store)
    form = inbox.look_at(inbox.questions[0])
    assert isinstance(form, Form)
    form.value = answer
    assert (form.errors, form.submit()) == ({}, True)
    inbox.refresh()
    press(inbox, "all")
    assert inbox.answer(answer)
    assert [answers_in(store, f"t{n}") for n in (1, 2)] == [[{"ask:a": answer}]] * 2


def test_two_inboxes_and_a_panel_answer_one_question_and_one_of_them_is_first():
    store = InMemoryStateStore()
    graph = loans(store, "a")
    panel = Panel(graph, "loan-a")
    first, second = Inbox(store), Inbox(store)
    forms = [inbox.look_at(inbox.questions[0]) for inbox in (first, second)]
    forms.append(panel.forms["review:income"])
    for number, form in enumerate(forms):
        form.value = {"complete": True, "remark": str(number)}
    sent = [form.submit() for form in forms[:2]]
    assert sent == [True, False]
    forms[2].submit()
    with pytest.raises(Exception, match="first; this answer was not recorded"):
        panel.session.settle()
    assert answers_in(store, "loan-a") == [{"review:income": {"complete": True, "remark": "0"}}]
    until(second, lambda: second.opened is None)
    assert "answered by" in " ".join(words(named(second, "nbgraph-record")[0]))


def test_a_panel_that_answered_goes_from_the_inbox_and_its_form_is_refused():
    agent = Agent(calls(REFUND))
    panel = agent.panel()
    inbox = Inbox(agent.store, apps=agent.graph)
    card = inbox.look_at(inbox.questions[0])
    panel.forms["act:approve_c_1"].deny("No.")
    panel.session.settle()
    until(inbox, lambda: not rows(inbox))
    assert card.approve() is False
    inbox.settle()
    assert agent.ran == []


def test_a_question_that_was_forked_away_is_another_one():
    store = InMemoryStateStore()
    graph = loans(store, "a")
    inbox = Inbox(store)
    form = inbox.look_at(inbox.questions[0])
    graph.sync.fork("loan-a", name="again")
    until(inbox, lambda: len(rows(inbox)) == 2)
    assert inbox.opened is form
    form.value = {"complete": True}
    assert form.submit()
    inbox.refresh()
    assert [each.record.branch_id for each in inbox.questions] == ["again"]


def test_a_locked_store_is_said_and_the_form_can_be_sent_again(tmp_path):
    path = tmp_path / "t.db"
    store = SQLiteStateStore(path, busy_timeout=0.05)
    graph = loans(store, "a")
    inbox = Inbox(store)
    form = inbox.look_at(inbox.questions[0])
    form.value = {"complete": True}
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert form.submit() is False
    assert "The answer was not recorded: " in " ".join(words(inbox))
    other.execute("ROLLBACK")
    other.close()
    assert form.submit()
    assert graph.invoke(None, thread_id="loan-a").data["ok"] is True
    inbox.close()
    store.close()


def test_a_damaged_question_is_said_and_nothing_crashes(tmp_path):
    path = tmp_path / "t.db"
    store = SQLiteStateStore(path)
    loans(store, "a", "b")
    inbox = Inbox(store)
    other = sqlite3.connect(path)
    other.execute("UPDATE questions SET body = x'7b7d'")
    other.commit()
    other.close()
    inbox.refresh()
    assert "The store could not be read: " in " ".join(words(inbox))
    assert len(rows(inbox)) == 2
    inbox.close()
    store.close()


def test_a_page_that_says_nonsense_changes_nothing():
    store = InMemoryStateStore()
    loans(store, "a")
    inbox = Inbox(store)
    for content in (
        {},
        {"kind": "pick", "row": 3},
        {"kind": "open", "row": "r99"},
        {"kind": "approve", "row": "r0"},
        {"kind": "pick", "row": {"r0": 1}},
        {"kind": ["pick"], "row": "r0"},
        {"kind": "close"},
    ):
        inbox._face.rows._receive(None, content, None)
    assert (inbox.picked, inbox.opened, len(rows(inbox))) == ((), None, 1)


# No store keeps a lone surrogate: such a call never gets as far as an inbox.
KEPT = [each for each in SPOOFS[::6] if not any("\ud800" <= one <= "\udfff" for one in each.text)]


@pytest.mark.parametrize("spoof", KEPT, ids=lambda each: ascii(each.text[:20]))
def test_a_call_that_hides_something_is_never_approved_with_others(spoof):
    agent = Agent(calls(("look_up", {"order_id": spoof.text})))
    agent.panel()
    inbox = Inbox(agent.store, apps=agent.graph)
    press(inbox, "all")
    assert inbox.approve() is False
    assert asyncio.run(agent.store.pending())
    assert agent.ran == []
