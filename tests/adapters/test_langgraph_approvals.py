"""Tool calls that LangChain's HumanInTheLoopMiddleware asks about are decided like ours."""

import pytest

from nbgraph import open_session
from nbgraph.errors import AnswerError

from .graphs import agent

MODES = ["batched", "per_call"]
CALLS = [
    ("refund", {"order": "a", "amount": 10}),
    ("refund", {"order": "b", "amount": 20}),
    ("remove", {"path": "x"}),
]
ALL = {"refund": True, "remove": True}


def started(calls=CALLS, rules=ALL, mode="batched"):
    ran = []
    session = open_session(agent(calls, rules, ran=ran, mode=mode), thread_id="t")
    session.start({"messages": [{"role": "user", "content": "go"}]}).result()
    return session, list(session.pending), ran


@pytest.mark.parametrize("mode", MODES)
def test_each_call_is_a_question_with_its_arguments_and_the_tools_own_schema(mode):
    session, keys, _ = started(mode=mode)
    payloads = [session.pending[key].payload for key in keys]
    assert [(each["tool_name"], each["arguments"]) for each in payloads] == CALLS
    assert payloads[0]["input_schema"]["properties"]["amount"]["type"] == "integer"
    assert payloads[0]["description"] == "Refund an order."
    assert len({each["call_hash"] for each in payloads}) == 3
    assert {session.pending[key].message for key in keys} == {"Run refund?", "Run remove?"}


@pytest.mark.parametrize("mode", MODES)
def test_calls_are_decided_one_by_one_and_each_as_it_was_decided(mode):
    session, keys, ran = started(mode=mode)
    session.resume({keys[0]: {"action": "edit", "arguments": {"amount": 15}}}).result()
    session.resume({keys[2]: {"action": "deny", "message": "keep it"}}).result()
    session.resume({keys[1]: {"action": "approve"}}).result()
    assert session.status == "completed"
    assert sorted(ran, key=str) == [
        ("refund", {"order": "a", "amount": 15}),
        ("refund", {"order": "b", "amount": 20}),
    ]
    texts = [str(message["content"]) for message in session.state["messages"]]
    assert any("keep it" in text for text in texts)


@pytest.mark.parametrize("mode", MODES)
def test_calls_are_decided_all_at_once(mode):
    session, keys, ran = started(mode=mode)
    session.resume(dict.fromkeys(keys, True)).result()
    assert (session.status, sorted(ran, key=str)) == ("completed", sorted(CALLS, key=str))


@pytest.mark.parametrize("mode", MODES)
def test_a_response_stands_for_the_tool(mode):
    session, keys, ran = started([CALLS[2]], mode=mode)
    session.resume({keys[0]: {"action": "respond", "message": "done by hand"}}).result()
    assert ran == []
    texts = [message["content"] for message in session.state["messages"]]
    assert "done by hand" in texts


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        None,
        {"action": "accept"},
        {"action": "edit", "arguments": {"amount": "15"}},
        {"action": "edit"},
    ],
)
def test_an_answer_that_is_no_decision_is_an_error_and_no_denial(mode, answer):
    session, keys, ran = started([CALLS[0]], mode=mode)
    with pytest.raises(AnswerError):
        session.resume({keys[0]: answer}).result()
    assert (list(session.pending), ran) == (keys, [])


@pytest.mark.parametrize("mode", MODES)
def test_only_decisions_that_the_graph_allows_are_taken(mode):
    rules = {"remove": {"allowed_decisions": ["approve", "reject"]}}
    session, keys, _ = started([CALLS[2]], rules, mode=mode)
    assert session.pending[keys[0]].payload["allowed"] == ["approve", "deny"]
    with pytest.raises(AnswerError):
        session.resume({keys[0]: {"action": "respond", "message": "x"}}).result()


def test_an_author_s_own_description_is_the_message():
    rules = {"remove": {"allowed_decisions": ["approve"], "description": "This cannot be undone"}}
    session, keys, _ = started([CALLS[2]], rules)
    assert session.pending[keys[0]].message == "This cannot be undone"


def test_a_call_that_needs_no_approval_runs_beside_those_that_do():
    session, keys, ran = started(rules={"remove": True})
    assert [session.pending[key].payload["tool_name"] for key in keys] == ["remove"]
    session.resume({keys[0]: {"action": "deny"}}).result()
    assert sorted(ran, key=str) == sorted(CALLS[:2], key=str)
