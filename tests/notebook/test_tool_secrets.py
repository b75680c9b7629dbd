"""What a tool calls a secret: on a card it is covered, and it runs all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from approvers import QUESTION, calls
from form_parts import inputs, named
from ipywidgets import Widget
from pydantic import BaseModel, Field, SecretStr
from tool_asks import button, exactly, read_in, zone

from nbgraph import (
    InMemoryStateStore,
    Interrupt,
    Panel,
    ScriptedChat,
    Timeline,
    ToolCard,
    build_react_agent,
    compare,
    tool,
)
from nbgraph.middleware import InterruptRule, ToolInterruptMiddleware
from nbgraph.notebook.spans import Flow
from nbgraph.transcript import transcript

TOKEN, OTHER = "tok-4711-secret", "typed-by-hand-0815"
KEY = "act:approve_c_1"
MASK = "••••••"


class Door(BaseModel):
    name: str
    code: SecretStr


class Opening(BaseModel):
    token: SecretStr
    door: Door
    pin: int = Field(json_schema_extra={"writeOnly": True})
    chain: dict[str, str] = Field(default={}, json_schema_extra={"writeOnly": True})
    note: str = ""


GIVEN = {
    "token": TOKEN,
    "door": {"name": "north", "code": f"{TOKEN}-door"},
    "pin": 471147114711,
    "chain": {"left": f"{TOKEN}-chain"},
    "note": "slowly",
}


@pytest.fixture
def told() -> Iterator[list[str]]:
    """All that widgets have told a page: a notebook is saved with nothing else."""
    said: list[str] = []
    send, opened = Widget._send, Widget.open

    def sends(self: Widget, msg: Any, buffers: Any = None) -> None:
        said.append(repr(msg))
        send(self, msg, buffers)

    def opens(self: Widget) -> None:
        said.append(repr(self.get_state()))
        opened(self)

    with mock.patch.object(Widget, "_send", sends), mock.patch.object(Widget, "open", opens):
        yield said


def is_kept_quiet(told: list[str], *secrets: str) -> bool:
    return bool(told) and not [each for each in told for secret in secrets if secret in each]


SECRETS = (TOKEN, "471147114711")


class Guard:
    """An agent that opens doors, and a panel that asks before it does."""

    def __init__(self, given: dict[str, Any] = GIVEN) -> None:
        self.ran: list[dict[str, Any]] = []

        @tool(input_model=Opening)
        def unlock(token: Any, door: Any, pin: int, chain: Any, note: str) -> str:
            """Opens a door."""
            given = {"token": token, "door": door, "pin": pin, "chain": chain, "note": note}
            self.ran.append(given)
            return "open"

        graph = build_react_agent(
            ScriptedChat([calls(("unlock", given))], default="Done."),
            tools=[unlock],
            middleware=[ToolInterruptMiddleware(rules=[InterruptRule("*")])],
            state_store=InMemoryStateStore(),
        )
        self.panel = Panel(graph, "t", QUESTION)
        self.panel.session.settle()
        self.card: Any = self.panel.forms[KEY]

    @property
    def opened_with(self) -> dict[str, Any]:
        (given,) = self.ran
        return {
            name: each.get_secret_value() if isinstance(each, SecretStr) else each
            for name, each in given.items()
        }


def test_a_secret_is_covered_where_it_is_proposed_in_its_field_and_in_the_call(told: list[str]):
    card = Guard().card
    assert isinstance(card, ToolCard)
    proposed = read_in(zone(card, "model"))
    assert f"token password {MASK}" in proposed
    assert f'"code": "{MASK}"' in proposed
    assert f'token="{MASK}",  # not shown' in exactly(card)
    assert f'"name": "north", "code": "{MASK}"' in exactly(card).replace("\n", " ")
    (token,) = inputs(card, "token")
    assert (type(token).__name__, token.value) == ("Password", "")
    assert token.placeholder == "filled in, not shown"
    assert is_kept_quiet(told, *SECRETS)


def test_approved_as_it_is_the_call_runs_with_the_secret(told: list[str]):
    guard = Guard()
    assert guard.card.edits == {}
    button(guard.card, "approve").click()
    guard.panel.session.settle()
    ran = guard.opened_with
    assert (ran["token"], ran["pin"], ran["chain"]) == (TOKEN, GIVEN["pin"], GIVEN["chain"])
    assert ran["door"].code.get_secret_value() == f"{TOKEN}-door"
    assert guard.panel.forms == {}
    (record,) = named(guard.panel, "nbgraph-record")
    (call,) = [each for each in named(record, "nbgraph-code") if isinstance(each, Flow)]
    assert f'token="{MASK}",  # not shown' in call.text
    assert is_kept_quiet(told, *SECRETS)


def test_another_secret_is_typed_and_only_that_is_an_edit(told: list[str]):
    guard = Guard()
    (token,) = inputs(guard.card, "token")
    token.value = OTHER
    assert guard.card.edits == {"token": (TOKEN, OTHER)}
    told.clear()
    assert f"edited: {MASK} → {MASK}" in read_in(guard.card)
    button(guard.card, "approve").click()
    guard.panel.session.settle()
    assert guard.opened_with["token"] == OTHER
    assert guard.panel.forms == {}
    assert is_kept_quiet(told, *SECRETS, OTHER)


def test_beside_a_secret_the_rest_of_an_object_is_edited_and_the_secret_stays():
    guard = Guard()
    (name,) = inputs(guard.card, "Name")
    name.value = "south"
    button(guard.card, "approve").click()
    guard.panel.session.settle()
    door = guard.opened_with["door"]
    assert (door.name, door.code.get_secret_value()) == ("south", f"{TOKEN}-door")


def test_what_no_field_can_hide_is_shown_covered_and_changed_in_code_only(told: list[str]):
    guard = Guard()
    assert f"chain names and values {MASK}" in read_in(zone(guard.card, "model"))
    assert not inputs(guard.card, "chain")
    assert guard.card.edit({"chain": {"left": OTHER}})
    guard.panel.session.settle()
    assert guard.opened_with["chain"] == {"left": OTHER}
    assert guard.panel.forms == {}
    assert is_kept_quiet(told, *SECRETS, OTHER)


def test_as_json_secrets_are_covered_and_come_back(told: list[str]):
    guard = Guard()
    (mode,) = named(guard.card, "nbgraph-json")
    mode.index = 1
    (text,) = [each for each in named(guard.card, "nbgraph-mono") if hasattr(each, "rows")]
    assert f'"token": "{MASK}"' in text.value
    text.value = text.value.replace("slowly", "fast")
    assert guard.card.edits == {"note": ("slowly", "fast")}
    button(guard.card, "approve").click()
    guard.panel.session.settle()
    assert (guard.opened_with["token"], guard.opened_with["note"]) == (TOKEN, "fast")
    assert is_kept_quiet(told, *SECRETS)


def test_an_edit_of_a_secret_is_taken_back(told: list[str]):
    guard = Guard()
    (token,) = inputs(guard.card, "token")
    for undo in (lambda: guard.card.undo("token"), guard.card.undo):
        token.value = OTHER
        assert guard.card.is_edited
        undo()
        assert (guard.card.edits, token.value) == ({}, "")
    assert is_kept_quiet(told, *SECRETS)


@pytest.mark.parametrize("wrong", [4711471147114711, ["tok-4711-secret"], {"a": "tok-4711-secret"}])
def test_a_secret_that_the_model_gave_as_something_else_is_covered_too(wrong: Any, told: list[str]):
    question = {
        "kind": "tool_interrupt",
        "tool_name": "unlock",
        "tool_call_id": "c_1",
        "arguments": {"token": wrong},
        "input_schema": Opening.model_json_schema(),
        "allowed": ["approve", "edit", "deny"],
    }
    ToolCard(Interrupt(key=KEY, id="c_1", node="act", task_id="act", payload=question))
    assert is_kept_quiet(told, TOKEN, "4711471147114711")


# --- in the rest of the panel, and in what is written down --------------------------------------


def finished() -> Guard:
    guard = Guard()
    assert guard.card.edit({"token": OTHER})
    guard.panel.session.settle()
    return guard


def test_no_part_of_a_panel_shows_the_secrets_of_a_call(told: list[str]):
    guard = finished()
    panel = guard.panel
    assert panel.forms == {}
    look = panel.inspect("act")
    for part in ("Input", "Update", "Output"):
        look.part = part
        assert MASK in look.text
    assert MASK in read_in(named(panel, "nbgraph-result")[0])
    told.clear()  # in code, an edit goes through its field
    fork = panel.fork(at=2)
    panel._now()
    timeline = Timeline(panel.session)
    for step in range(len(timeline.steps)):
        timeline.step = step
    for mode in (1, 2):
        timeline._past._mode.index = mode
    both = compare(panel.session, fork)
    both.close()
    assert is_kept_quiet(told, *SECRETS)


def test_no_secret_of_a_call_is_left_in_a_saved_notebook_an_export_or_a_test(tmp_path: Path):
    session = finished().panel.session
    written = [
        transcript(session),
        session.export(tmp_path / "t.ipynb").read_text(encoding="utf-8"),
        Timeline(session).as_test(),
    ]
    for text in written:
        assert MASK in text
        assert not [each for each in (*SECRETS, OTHER) if each in text]


def test_what_stays_of_a_panel_has_no_secret_of_a_call():
    panel = finished().panel
    still = json.dumps(panel._still())
    assert "send" not in still
    assert not [each for each in (*SECRETS, OTHER) if each in still]
