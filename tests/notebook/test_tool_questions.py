"""Tool calls in a panel: one card or several, decided and sent, allowed, and what stays of them."""

from __future__ import annotations

from typing import Any

import pytest
from approvers import FORGET, LOOK_UP, REFUND, Agent, calls
from form_parts import inputs, named
from tool_asks import LONG, button, exactly, is_held, read_in

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    Panel,
    ToolCard,
    interrupt,
    node,
    open_session,
)
from nbgraph.errors import ResumeError
from nbgraph.notebook.form import Form

KEY = "act:approve_c_1"


class Empty(BaseState):
    x: int = 0


def keys(*numbers: int) -> list[str]:
    return [f"act:approve_c_{number}" for number in numbers]


def shown(panel: Panel) -> str:
    assert panel.forms is not None  # draws what is new
    return read_in(panel)


def segments(panel: Panel) -> list[str]:
    shown(panel)
    return [each.description for each in named(panel, "nbgraph-segment")]


def test_a_tool_call_has_a_card_under_its_key():
    panel = Agent(calls(REFUND)).panel()
    card = panel.forms[KEY]
    assert isinstance(card, ToolCard)
    assert card.call.tool_name == "send_refund"
    assert named(panel, "nbgraph-key-act-approve-c-1") == [card]
    assert "The model wants to run send_refund" in shown(panel)


def test_an_approved_call_runs_as_it_was_shown_and_stays_as_a_record():
    agent = Agent(calls(REFUND))
    panel = agent.panel()
    button(panel.forms[KEY], "approve").click()
    assert panel.session.settle().status == "completed"
    assert agent.ran == [("send_refund", ("A-1042", 180.0, False))]
    assert panel.forms == {}
    assert "send_refund approved by" in shown(panel)
    assert not named(panel, "nbgraph-card")


def test_an_edited_call_runs_with_the_edit_and_the_record_shows_both():
    agent = Agent(calls(REFUND))
    panel = agent.panel()
    inputs(panel.forms[KEY], "amount")[0].value = "120.5"
    assert panel.forms[KEY].approve()
    panel.session.settle()
    assert agent.ran == [("send_refund", ("A-1042", 120.5, False))]
    assert "send_refund approved with 1 edit by" in shown(panel)
    (record,) = named(panel, "nbgraph-record")
    assert "amount=180.0 120.5," in named(record, "nbgraph-code")[0].text


def test_a_denied_call_does_not_run_and_the_model_reads_the_reason():
    agent = Agent(calls(REFUND))
    panel = agent.panel()
    assert panel.forms[KEY].deny("Ask for a photo first.")
    panel.session.settle()
    assert agent.ran == []
    assert "Ask for a photo first." in agent.said(panel)[0]
    assert "send_refund denied by" in shown(panel)
    assert "Reason: Ask for a photo first. Did not run." in shown(panel)


def test_a_person_answers_in_the_tools_place():
    agent = Agent(calls(LOOK_UP))
    panel = agent.panel()
    assert panel.forms[KEY].respond("It is a desk lamp.")
    panel.session.settle()
    assert (agent.ran, agent.said(panel)) == ([], ["It is a desk lamp."])
    assert "look_up answered for the tool by" in shown(panel)


def test_a_double_click_decides_once():
    agent = Agent(calls(REFUND))
    panel = agent.panel()
    card = panel.forms[KEY]
    approve = button(card, "approve")
    approve.click()
    approve.click()
    assert card.deny() is False
    panel.session.settle()
    assert len(agent.ran) == 1
    assert sum(event.type == "answers_given" for event in panel.session.history()) == 1


def test_several_calls_are_one_bar_and_are_sent_together():
    agent = Agent(calls(LOOK_UP, REFUND, REFUND))
    panel = agent.panel()
    assert list(panel.forms) == keys(1, 2, 3)
    assert segments(panel) == [
        "◆ 1 look_up\nnot decided yet",
        "◆ 2 send_refund\nnot decided yet",
        "◆ 3 send_refund\nnot decided yet",
    ]
    assert "The model wants to run 3 tools 0 of 3 decided" in shown(panel)
    button(panel, "approve").click()
    named(panel, "nbgraph-segment")[1].click()
    inputs(panel, "amount")[0].value = "120"
    button(panel, "approve").click()
    assert is_held(panel, "submit")
    button(panel, "submit").click()
    assert agent.ran == []
    named(panel, "nbgraph-segment")[2].click()
    inputs(panel, "Reason for denying")[0].value = "twice"
    button(panel, "deny").click()
    assert segments(panel) == [
        "✓ 1 look_up\napproved",
        "✓ 2 send_refund\napproved with 1 edit",
        "✕ 3 send_refund\ndenied: “twice”",
    ]
    assert "2 calls will run (1 edited), 1 will not." in shown(panel)
    assert button(panel, "submit").description == "Send 3 decisions"
    button(panel, "submit").click()
    assert panel.session.settle().status == "completed"
    assert sorted(agent.ran) == [("look_up", "A-1042"), ("send_refund", ("A-1042", 120.0, False))]
    assert sum(event.type == "answers_given" for event in panel.session.history()) == 1
    assert panel.forms == {}
    records = [read_in(each) for each in named(panel, "nbgraph-record")]
    said = [each.split(" by ")[0] for each in records]
    assert said == ["look_up approved", "send_refund approved with 1 edit", "send_refund denied"]


def test_by_code_all_are_sent_when_the_last_is_decided():
    agent = Agent(calls(LOOK_UP, REFUND, REFUND))
    panel = agent.panel()
    first, second, third = panel.forms.values()
    assert first.approve()
    assert second.edit({"amount": 5})
    assert agent.ran == []
    assert third.deny("twice")
    panel.session.settle()
    assert sorted(agent.ran) == [("look_up", "A-1042"), ("send_refund", ("A-1042", 5.0, False))]


def test_a_decision_can_be_changed_before_it_is_sent_and_an_edit_takes_it_back():
    panel = Agent(calls(REFUND, LOOK_UP)).panel()
    shown(panel)
    button(panel, "approve").click()
    button(panel, "deny").click()
    assert segments(panel)[0] == "✕ 1 send_refund\ndenied"
    button(panel, "approve").click()
    inputs(panel, "amount")[0].value = "5"
    assert segments(panel)[0] == "◆ 1 send_refund\n1 edit, not decided yet"


def test_what_is_typed_after_one_of_several_was_decided_is_sent_with_it():
    agent = Agent(calls(REFUND, LOOK_UP, REFUND))
    panel = agent.panel()
    shown(panel)
    inputs(panel, "amount")[0].value = "5"
    button(panel, "deny").click()
    inputs(panel, "Reason for denying")[0].value = "paid already"
    assert segments(panel)[0] == "✕ 1 send_refund\ndenied: “paid already”"
    named(panel, "nbgraph-segment")[1].click()
    button(panel, "respond").click()
    (answer,) = inputs(panel, "Answer for the tool")
    answer.value = "it is"
    button(panel, "respond").click()
    answer.value = "it is blue"
    named(panel, "nbgraph-segment")[2].click()
    button(panel, "deny").click()
    inputs(panel, "Reason for denying")[0].value = "twice"
    inputs(panel, "Reason for denying")[0].value = ""
    button(panel, "submit").click()
    assert panel.session.settle().status == "completed"
    rows = [(row.decision, row.reason) for row in panel.session.decisions()]
    assert rows == [("deny", "paid already"), ("respond", "it is blue"), ("deny", None)]
    assert agent.ran == []


def test_an_answer_for_the_tool_that_is_emptied_again_decides_nothing():
    panel = Agent(calls(REFUND, LOOK_UP)).panel()
    shown(panel)
    button(panel, "respond").click()
    (answer,) = inputs(panel, "Answer for the tool")
    answer.value = "it is"
    button(panel, "respond").click()
    answer.value = " "
    assert segments(panel)[0] == "◆ 1 send_refund\nnot decided yet"
    assert is_held(panel, "submit")


def test_all_calls_of_one_tool_are_approved_together_once_each_was_seen():
    agent = Agent(calls(REFUND, LOOK_UP, REFUND, REFUND))
    panel = agent.panel()
    shown(panel)
    every = button(panel, "approve-all")
    assert every.description == "Approve all 3 send_refund"
    assert is_held(panel, "approve-all")
    assert "To approve all, first look at 2 more calls." in shown(panel)
    every.click()
    assert "0 of 4 decided" in shown(panel)
    for segment in named(panel, "nbgraph-segment")[2:]:
        segment.click()
    assert not is_held(panel, "approve-all")
    button(panel, "approve-all").click()
    assert "3 of 4 decided" in shown(panel)
    assert "not decided yet" in segments(panel)[1]


def test_all_are_not_approved_while_one_of_them_has_a_part_nobody_has_seen():
    long = ("look_up", {"order_id": LONG})
    panel = Agent(calls(LOOK_UP, long)).panel()
    shown(panel)
    named(panel, "nbgraph-segment")[1].click()
    assert is_held(panel, "approve-all")
    button(panel, "approve-all").click()
    assert "0 of 2 decided" in shown(panel)
    button(panel, "open").click()
    button(panel, "approve-all").click()
    assert "2 of 2 decided" in shown(panel)


def test_destructive_calls_are_never_approved_all_together_nor_allowed():
    panel = Agent(calls(FORGET, FORGET)).panel()
    shown(panel)
    assert not named(panel, "nbgraph-approve-all")
    assert not named(panel, "nbgraph-allow")


def test_an_allowed_tool_is_not_asked_about_again_until_it_is_revoked():
    agent = Agent(*(calls(LOOK_UP, start=number) for number in (1, 2, 3)))
    panel = allowing(agent)
    assert panel.allowed.tools == ("look_up",)
    while panel.session.status != "completed":
        shown(panel)
        panel.session.settle()
    assert agent.ran == [("look_up", "A-1042")] * 3
    assert "Allowed here until the kernel stops: look_up: ask again" in shown(panel)
    reasons = [row.reason for row in panel.session.decisions()]
    assert reasons == [None, *["Allowed in this panel until the kernel stops"] * 2]
    assert "Note: Allowed in this panel until the kernel stops" in shown(panel)


def test_several_calls_of_allowed_tools_are_sent_at_once_and_others_wait():
    agent = Agent(
        calls(LOOK_UP),
        calls(LOOK_UP, LOOK_UP, start=2),
        calls(LOOK_UP, REFUND, start=4),
    )
    panel = allowing(agent)
    shown(panel)
    panel.session.settle()
    assert len(agent.ran) == 3
    assert segments(panel) == ["✓ 1 look_up\napproved", "◆ 2 send_refund\nnot decided yet"]
    assert len(agent.ran) == 3


def test_a_revoked_tool_is_asked_about_again():
    agent = Agent(calls(LOOK_UP), calls(REFUND, start=2), calls(LOOK_UP, start=3))
    panel = allowing(agent)
    assert list(panel.forms) == keys(2)
    button(panel, "revoke").click()
    assert panel.allowed.tools == ()
    assert panel.forms[keys(2)[0]].approve()
    panel.session.settle()
    assert list(panel.forms) == keys(3)
    assert len(agent.ran) == 2


def allowing(agent: Agent) -> Panel:
    """Return a panel whose first call is allowed together with all of its tool."""
    panel = agent.panel()
    shown(panel)
    button(panel, "allow").click()
    panel.session.settle()
    return panel


@pytest.mark.parametrize("odd", ["A\u200b", LONG, "p\u0430ypal"])
def test_what_hides_something_is_asked_about_although_its_tool_is_allowed(odd: str):
    agent = Agent(calls(LOOK_UP), calls(("look_up", {"order_id": odd}), start=2))
    panel = allowing(agent)
    assert list(panel.forms) == keys(2)
    assert agent.ran == [("look_up", "A-1042")]


def test_what_is_allowed_holds_for_one_branch_of_one_panel():
    agent = Agent(calls(LOOK_UP))
    panel = agent.panel()
    panel.allowed.add("look_up")
    other = Panel(agent.graph, "t")
    assert other.allowed.tools == ()
    panel.fork(name="again")
    assert panel.allowed.tools == ()
    assert list(panel.forms) == keys(1)


def test_a_call_answered_elsewhere_turns_into_a_record_and_cannot_be_answered():
    agent = Agent(calls(REFUND))
    panel = agent.panel()
    card = panel.forms[KEY]
    other = open_session(agent.graph, "t")
    other.resume({KEY: {"action": "deny", "message": "No."}}, by="desk-2").result()
    assert card.approve()  # it is sent, and the store refuses it
    with pytest.raises(ResumeError):
        panel.session.settle()
    assert panel.forms == {}
    assert "send_refund denied by desk-2" in shown(panel)
    assert agent.ran == []


def test_the_same_session_in_two_panels_shows_one_decision_in_both():
    agent = Agent(calls(REFUND))
    panel = agent.panel()
    twin = Panel(panel.session)
    assert twin.forms[KEY].approve()
    panel.session.settle()
    assert (panel.forms, twin.forms) == ({}, {})
    assert panel.session.status == "completed"


def test_an_edit_that_the_tool_refuses_is_asked_again_with_the_edit_and_its_problem():
    agent = Agent(calls(REFUND))
    panel = agent.panel()
    first = panel.forms[KEY]
    assert first.edit({"order_id": "A-9?"})
    panel.session.settle()
    second = panel.forms[KEY]
    assert second is not first
    assert second.edits == {"order_id": ("A-1042", "A-9?")}
    assert "no such order" in read_in(second)
    assert agent.ran == []
    assert second.edit({"order_id": "A-9"})
    panel.session.settle()
    assert agent.ran == [("send_refund", ("A-9", 180.0, False))]


def test_a_fork_asks_again_and_the_first_decision_stays():
    agent = Agent(calls(REFUND))
    panel = agent.panel()
    assert panel.forms[KEY].approve()
    panel.session.settle()
    panel.fork(name="other")
    assert panel.forms[KEY].deny("Not here.")
    panel.session.settle()
    assert len(agent.ran) == 1


def test_the_card_comes_back_in_another_panel_on_the_thread():
    agent = Agent(calls(REFUND))
    agent.panel().close()
    again = Panel(agent.graph, "t")
    assert 'order_id="A-1042",' in exactly(again.forms[KEY])
    assert again.forms[KEY].approve()
    again.session.settle()
    assert len(agent.ran) == 1


def test_forms_and_cards_wait_side_by_side():
    @node
    def ask(state: Empty) -> dict[str, Any]:
        return {"x": interrupt(id="plain", response_schema=int)}

    @node
    def act(state: Empty) -> None:
        payload = {"kind": "tool_interrupt", "tool_name": "t", "tool_call_id": "c", "arguments": {}}
        interrupt(payload, id="call")

    graph = Graph(Empty).flow(START >> [ask, act], ask >> END, act >> END)
    panel = Panel(graph, "t", {"x": 1})
    panel.session.settle()
    kinds = {key: type(each) for key, each in panel.forms.items()}
    assert kinds == {"ask:plain": Form, "act:call": ToolCard}
    assert panel.forms["act:call"].approve()
    panel.session.settle()
    assert list(panel.forms) == ["ask:plain"]


def test_twenty_calls_make_one_card_at_a_time():
    panel = Agent(calls(*[REFUND] * 20)).panel()
    shown(panel)
    made = [card for card in panel.forms.values() if card.children]
    assert len(made) == 1
