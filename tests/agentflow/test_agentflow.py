"""A session over an AgentFlow graph: the same forms, steps and forks as over a graph of ours."""

import json

import pytest
from injectq import InjectQ
from tenxgraph.core.graph import StateGraph, ToolNode
from tenxgraph.core.state import AgentState, Message
from tenxgraph.storage.checkpointer import InMemoryCheckpointer
from tenxgraph.utils import END, interrupt

from nbgraph import open_session
from nbgraph.adapters.log import forget
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    GraphConfigError,
    ResumeError,
    StateUpdateError,
    UnsupportedByEngineError,
)

from .graphs import HI, State, asks, row, says


def opened(app, thread_id="t"):
    return open_session(app, thread_id=thread_id)


def three(**options):
    return row(
        first=says("first"),
        ask=asks({"amount": 3}, {"type": "integer"}),
        last=says("last"),
        **options,
    )


def test_a_question_has_its_message_its_value_and_its_schema():
    session = opened(three())
    session.start(HI).result()
    asked = session.pending["ask:0"]
    assert (asked.message, asked.payload, asked.node) == ("How many?", {"amount": 3}, "ask")
    assert asked.response_schema == {"type": "integer"}
    assert session.marks == {"first": "done", "ask": "waiting", "last": "idle"}


def test_the_engine_checks_no_schema_and_the_session_does():
    session = opened(three())
    session.start(HI).result()
    with pytest.raises(AnswerError):
        session.resume({"ask:0": "many"}).result()
    assert session.resume({"ask:0": 4}).result().data["log"] == ["first", "4", "last"]


def test_none_is_the_answer_cancelled():
    session = opened(row(ask=asks()))
    session.start(HI).result()
    assert session.resume({"ask:0": None}).result().data["log"] == ["None"]


def test_several_questions_of_a_node_are_asked_one_by_one():
    def ask(state: State):
        state.log = [interrupt(message="1?"), interrupt(message="2?")]
        return state

    session = opened(row(ask=ask))
    session.start(HI).result()
    session.resume({"ask:0": "a"}).result()
    assert {key: asked.message for key, asked in session.pending.items()} == {"ask:1": "2?"}
    assert session.resume({"ask:1": "b"}).result().data["log"] == ["a", "b"]


def test_a_tool_asks_with_the_id_of_its_call():
    ran = []

    async def refund(amount: int) -> str:
        """Refund an order, after a person approves it."""
        decision = interrupt(
            {"amount": amount},
            message=f"Approve a refund of ${amount}?",
            reason="tool_approval",
            response_schema={"type": "object", "properties": {"approved": {"type": "boolean"}}},
        )
        if not decision or not decision.get("approved"):
            return "refund declined"
        ran.append(amount)
        return "refunded"

    def model(state: AgentState):
        if any(message.role == "tool" for message in state.context):
            return Message.text_message("done", "assistant")
        asked = Message.text_message("", "assistant")
        function = {"name": "refund", "arguments": json.dumps({"amount": 25})}
        asked.tools_calls = [{"id": "c1", "type": "function", "function": function}]
        return asked

    graph = StateGraph(container=InjectQ())
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode([refund]))
    graph.set_entry_point("model")
    graph.add_conditional_edges(
        "model",
        lambda state: "tools" if state.context[-1].tools_calls else END,
        {"tools": "tools", END: END},
    )
    graph.add_edge("tools", "model")
    session = opened(graph.compile())
    session.start(HI).result()
    [asked] = session.pending.values()
    assert (asked.tool_call_id, asked.message) == ("c1", "Approve a refund of $25?")
    assert (asked.key, asked.reason) == ("tools:c1/0", "tool_approval")
    session.resume({asked.key: {"approved": True}}).result()
    assert (session.status, ran) == ("completed", [25])
    kinds = {(edge.source, edge.target): edge.kind for edge in session.driver.shape.edges}
    assert kinds[("model", "tools")] == "branch"


def test_a_second_answer_is_told_of_the_first():
    app = three()
    mine, other = opened(app), opened(app)
    mine.start(HI).result()
    other.reload()
    asked = {"ask:0": mine.pending["ask:0"].asked}
    mine.resume({"ask:0": 1}, asked=asked).result()
    with pytest.raises(AlreadyAnsweredError):
        other.resume({"ask:0": 2}, asked=asked).result()


def test_new_input_on_a_thread_that_asks_is_refused():
    session = opened(three())
    session.start(HI).result()
    with pytest.raises(ResumeError):
        session.start(HI)
    assert list(session.pending) == ["ask:0"]


def test_a_finished_thread_takes_another_turn():
    session = opened(row(a=says("a")))
    session.start(HI).result()
    assert session.start(HI).result().data["log"] == ["a", "a"]


def test_steps_run_one_node_each():
    session = opened(row(a=says("a"), b=says("b")))
    session.breakpoints(before=["a"])
    session.start(HI).result()
    assert session.next == ("a",)
    for following in (("b",), ()):
        session.step().result()
        assert session.next == following
    assert (session.status, session.state["log"]) == ("completed", ["a", "b"])


def test_a_breakpoint_after_the_last_node_does_not_start_the_graph_over():
    session = opened(row(a=says("a"), b=says("b")))
    session.breakpoints(after=["a", "b"])
    session.start(HI).result()
    assert (session.next, session.snapshot.position.paused) == (("b",), "after")
    session.proceed().result()
    assert (session.status, session.state["log"]) == ("completed", ["a", "b"])


def test_the_graphs_own_breakpoints_hold():
    session = opened(row(a=says("a"), b=says("b"), compiled={"interrupt_before": ["b"]}))
    session.start(HI).result()
    assert session.next == ("b",)


def test_a_node_that_failed_can_be_tried_again():
    luck = []

    def shaky(state: State):
        if not luck:
            raise ValueError("no luck")
        state.log = [*state.log, "shaky"]
        return state

    session = opened(row(a=says("a"), shaky=shaky))
    with pytest.raises(Exception, match="no luck"):
        session.start(HI).result()
    assert (session.status, session.marks["shaky"]) == ("failed", "failed")
    luck.append(1)
    session.proceed().result()
    assert (session.status, session.state["log"]) == ("completed", ["a", "shaky"])


def test_a_skip_is_refused_with_the_reason():
    session = opened(three())
    session.start(HI).result()
    with pytest.raises(UnsupportedByEngineError):
        session.skip("ask")


def test_an_edit_is_checked_by_the_states_model():
    session = opened(three())
    session.start(HI).result()
    session.edit({"note": "edited"})
    assert session.state["note"] == "edited"
    for bad in ({"log": 3}, {"nothing": 1}, {"execution_meta": {}}):
        with pytest.raises(StateUpdateError):
            session.edit(bad)
    session.resume({"ask:0": 1}).result()
    assert (session.state["note"], session.state["log"]) == ("edited", ["first", "1", "last"])


def test_one_question_is_answered_both_ways_on_two_branches():
    session = opened(three())
    session.start(HI).result()
    other = session.fork(name="other")
    session.resume({"ask:0": 1}).result()
    other.resume({"ask:0": 2}).result()
    assert session.state["log"] == ["first", "1", "last"]
    assert other.state["log"] == ["first", "2", "last"]


def test_a_finished_thread_is_forked_at_its_question():
    session = opened(three())
    session.start(HI).result()
    asked = session.pending["ask:0"].asked
    session.resume({"ask:0": 1}).result()
    other = session.fork(at=asked, name="other", update={"note": "forked"})
    assert list(other.pending) == ["ask:0"]
    other.resume({"ask:0": 2}).result()
    assert (session.state["log"][1], other.state["log"][1]) == ("1", "2")
    assert (session.state["note"], other.state["note"]) == ("", "forked")


def test_a_thread_that_another_process_left_is_found_where_it_stands():
    from tenxgraph.storage.checkpointer import InMemoryCheckpointer

    saver = InMemoryCheckpointer()
    opened(three(checkpointer=saver)).start(HI).result()
    again = opened(three(checkpointer=saver))
    assert (again.status, list(again.pending), again.next) == ("interrupted", ["ask:0"], ("ask",))
    again.resume({"ask:0": 7}).result()
    assert again.state["log"] == ["first", "7", "last"]


def test_nine_pairs_of_graph_and_checkpointer_do_not_meet():
    apps = {
        (name, number): three(checkpointer=InMemoryCheckpointer())
        for name in "abc"
        for number in range(3)
    }
    assert len(apps) == 9
    sessions = {key: opened(app) for key, app in apps.items()}
    runs = [session.start(HI) for session in sessions.values()]
    for run in runs:
        run.result()
    forks = [session.fork(name="other") for session in sessions.values()]
    for number, session in enumerate(sessions.values()):
        session.resume({"ask:0": number}).result()
    for app in apps.values():
        forget(app)  # as after a restart: where a thread stands is read from the checkpointers
    for number, app in enumerate(apps.values()):
        assert opened(app).state["log"] == ["first", str(number), "last"]
        other = open_session(app, thread_id="t", branch_id="other")
        assert (list(other.pending), other.state["log"]) == (["ask:0"], ["first"])
    for number, other in enumerate(forks):
        other.resume({"ask:0": 100 + number}).result()
        assert other.state["log"] == ["first", str(100 + number), "last"]


def test_graphs_that_share_a_container_are_told_of():
    shared = InjectQ()
    first, second = (row(container=shared, a=says("a")) for _ in range(2))
    assert "container" in opened(first).notice
    assert "container" not in opened(second).notice  # the one whose dependencies it has
    assert "container" not in opened(row(a=says("a"))).notice


def test_a_store_of_ours_is_refused():
    from nbgraph import InMemoryStateStore

    with pytest.raises(GraphConfigError):
        open_session(three(), store=InMemoryStateStore())
