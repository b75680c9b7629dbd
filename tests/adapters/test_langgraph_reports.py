"""What people report of questions in LangGraph's threads does not happen through the panel."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from nbgraph import Panel
from nbgraph.core.requests import Resume
from nbgraph.errors import AlreadyAnsweredError, ResumeError
from nbgraph.transcript import transcript

from .graphs import State, agent, asks, row


def paused(app, thread_id="t"):
    """Return a panel whose thread waits."""
    panel = Panel(app, thread_id)
    panel.session.start({}).result()
    return panel


def submitted(panel, key, answer):
    form = panel.forms[key]
    form.value = answer
    assert form.submit()
    return panel.session.settle()


def events(panel):
    return [event.type for event in panel.session.history()]


def both():
    builder = StateGraph(State)
    for name in ("legal", "security"):
        builder.add_node(name, lambda state, name=name: {"log": [f"{name}:{interrupt('Sign?')}"]})
        builder.add_edge(START, name)
    return builder.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("answer", [None, {}])
def test_nothing_and_an_empty_object_are_answers(answer):
    panel = paused(row(asks({"question": "Go on?"})))
    assert submitted(panel, "ask:0", answer).status == "completed"
    assert panel.session.state["answer"] == answer


def test_a_key_too_many_refuses_all_and_says_what_is_open():
    panel = paused(both())
    before = events(panel)
    given = {"legal:0": "yes", "lega1:0": "yes"}
    with pytest.raises(ResumeError, match="lega1:0"):
        panel.session.resume(given).result()
    assert (events(panel), sorted(panel.forms)) == (before, ["legal:0", "security:0"])


def test_one_bare_answer_to_two_questions_is_refused_with_both_keys():
    panel = paused(both())
    before = events(panel)

    async def bare():
        async for _ in panel.session.driver.send(Resume("yes")):
            pass

    with pytest.raises(ResumeError, match=r"legal:0.*security:0"):
        asyncio.run(bare())
    assert events(panel) == before
    submitted(panel, "security:0", "yes")
    assert list(panel.forms) == ["legal:0"]
    submitted(panel, "legal:0", "no")
    assert sorted(panel.session.state["log"]) == ["legal:no", "security:yes"]


@pytest.mark.parametrize("going_on", ["proceed", "step"])
def test_a_second_question_does_not_take_the_first_ones_answer(going_on):
    def ask(state):
        return {"log": [interrupt("What?"), interrupt("Delete everything?")]}

    panel = paused(row(ask))
    submitted(panel, "ask:0", "x")
    with pytest.raises(ResumeError, match="ask:1"):
        getattr(panel.session, going_on)()
    assert list(panel.forms) == ["ask:1"]
    assert submitted(panel, "ask:1", "no").data["log"] == ["x", "no"]


def test_input_to_a_thread_that_waits_is_refused():
    panel = paused(row(asks()))
    before = events(panel)
    with pytest.raises(ResumeError, match="ask:0"):
        panel.session.start({"note": "instead"})
    assert (events(panel), list(panel.forms)) == (before, ["ask:0"])


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_a_call_that_was_denied_does_not_run_and_its_digest_is_not_in_what_is_left(mode):
    ran = []
    app = agent([("refund", {"order": "a", "amount": 10})], {"refund": True}, ran=ran, mode=mode)
    panel = Panel(app, "t")
    panel.session.start({"messages": [{"role": "user", "content": "go"}]}).result()
    [card] = panel.forms.values()
    card.deny("Not this one.")
    assert panel.session.settle().status == "completed"
    assert ran == []
    left = transcript(panel.session)
    assert 'answered {"action": "deny", "message": "Not this one."}' in left


def test_the_same_question_is_answered_once_from_two_panels():
    app = row(asks("1?", name="one"), asks("2?", name="two"))
    mine = paused(app)
    other = Panel(app, "t")
    late = other.forms["one:0"]
    submitted(mine, "one:0", "mine")
    late.value = "other"
    late.submit()
    with pytest.raises(AlreadyAnsweredError, match="one:0"):
        other.session.settle()
    assert other.session.state["log"] == ["one:mine"]
    assert list(other.forms) == ["two:0"]
