"""A session over a LangGraph graph: the same forms, steps and forks as over a graph of ours."""

import math
import operator
import sqlite3
from typing import Annotated

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from nbgraph import open_session
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    GraphConfigError,
    ResumeError,
    StaleAnswerError,
)

from .graphs import State, asks, row


def opened(app, thread_id="t"):
    return open_session(app, thread_id=thread_id)


def types(session):
    return [event.type for event in session.history()]


# Questions.


def test_a_question_has_the_nodes_key_its_schema_and_its_message():
    session = opened(row("plan", asks({"question": "How many?", "limit": 3}, int)))
    result = session.start({}).result()
    asked = session.pending["ask:0"]
    assert (result.status, asked.node, asked.message) == ("interrupted", "ask", "How many?")
    assert asked.response_schema == {"type": "integer"}
    assert asked.payload == {"limit": 3}
    assert session.marks == {"plan": "done", "ask": "waiting"}


def test_a_text_is_the_message_and_no_payload():
    session = opened(row(asks("Approve?")))
    session.start({}).result()
    assert (session.pending["ask:0"].message, session.pending["ask:0"].payload) == (
        "Approve?",
        None,
    )


@pytest.mark.parametrize("answer", [None, {}, False, 0, "", []])
def test_an_empty_answer_is_an_answer(answer):
    session = opened(row(asks(), "after"))
    session.start({}).result()
    assert session.resume({"ask:0": answer}).result().data["answer"] == answer
    assert session.status == "completed"


class Decision(BaseModel):
    approved: bool
    note: str | None = None


def test_an_answer_reaches_the_node_as_its_type():
    seen = []

    def ask(state):
        seen.append(interrupt("ok?", response_schema=Decision))
        return {"log": ["asked"]}

    session = opened(row(ask))
    session.start({}).result()
    session.resume({"ask:0": {"approved": True}}).result()
    assert seen == [Decision(approved=True)]


def test_an_answer_that_does_not_fit_does_not_reach_the_engine():
    session = opened(row(asks("How many?", int)))
    session.start({}).result()
    before = types(session)
    with pytest.raises(AnswerError, match="whole number"):
        session.resume({"ask:0": "many"}).result()
    assert types(session) == before
    assert session.resume({"ask:0": 3}).result().data["answer"] == 3


def test_an_answer_that_only_the_engine_refuses_is_asked_for_again():
    class Even(BaseModel):
        number: int

        def model_post_init(self, _):
            if self.number % 2:
                raise ValueError("odd")

    session = opened(row(asks("Even?", Even)))
    session.start({}).result()
    session.resume({"ask:0": {"number": 1}}).result()
    assert "odd" in session.pending["ask:0"].problems[""]
    session.resume({"ask:0": {"number": 2}}).result()
    assert session.status == "completed"


def test_a_second_question_of_a_node_has_the_next_key_and_its_own_answer():
    def ask(state):
        first, second = interrupt("First?"), interrupt("Second?")
        return {"log": [first, second]}

    session = opened(row(ask))
    session.start({}).result()
    session.resume({"ask:0": "a"}).result()
    assert list(session.pending) == ["ask:1"]
    with pytest.raises(ResumeError):
        session.proceed()  # the engine would give the second question the first answer
    assert session.resume({"ask:1": "b"}).result().data["log"] == ["a", "b"]


def test_parallel_questions_are_answered_by_key_in_any_order():
    builder = StateGraph(State)
    for name in ("legal", "security"):
        builder.add_node(name, lambda state, name=name: {"log": [f"{name}:{interrupt('ok?')}"]})
        builder.add_edge(START, name)
    session = opened(builder.compile(checkpointer=InMemorySaver()))
    session.start({}).result()
    assert set(session.pending) == {"legal:0", "security:0"}
    session.resume({"security:0": "s"}).result()
    assert set(session.pending) == {"legal:0"}
    session.resume({"legal:0": "l"}).result()
    assert sorted(session.state["log"]) == ["legal:l", "security:s"]


def test_a_finished_sibling_does_not_run_again_when_another_is_answered():
    ran = []

    def quick(state):
        ran.append("quick")
        return {"log": ["quick"]}

    builder = StateGraph(State)
    builder.add_node("quick", quick)
    builder.add_node("ask", asks())
    builder.add_edge(START, "quick")
    builder.add_edge(START, "ask")
    session = opened(builder.compile(checkpointer=InMemorySaver()))
    session.start({}).result()
    assert session.marks == {"quick": "done", "ask": "waiting"}
    session.resume({"ask:0": 1}).result()
    assert ran == ["quick"]


class Work(TypedDict):
    item: int


def test_tasks_of_one_node_ask_under_keys_of_their_own():
    def work(state: Work):
        return {"log": [f"{state['item']}:{interrupt({'item': state['item']})}"]}

    builder = StateGraph(State)
    builder.add_node("work", work)
    builder.add_conditional_edges(
        START, lambda state: [Send("work", {"item": 1}), Send("work", {"item": 2})], ["work"]
    )
    session = opened(builder.compile(checkpointer=InMemorySaver()))
    session.start({}).result()
    assert {key: asked.payload for key, asked in session.pending.items()} == {
        "work:0": {"item": 1},
        "work[1]:0": {"item": 2},
    }
    session.resume({"work:0": "a", "work[1]:0": "b"}).result()
    assert session.state["log"] == ["1:a", "2:b"]


def nested(checkpointer):
    child = StateGraph(State)
    child.add_node("prepare", lambda state: {"log": ["prepare"]})
    child.add_node("ask", asks("Inside?"))
    child.add_edge(START, "prepare")
    child.add_edge("prepare", "ask")
    builder = StateGraph(State)
    builder.add_node("refund", child.compile())
    builder.add_edge(START, "refund")
    return builder.compile(checkpointer=checkpointer)


def test_a_question_inside_a_sub_graph_has_the_path_and_the_child_goes_on_where_it_was():
    saver = InMemorySaver()
    session = opened(nested(saver))
    session.start({"log": []}).result()
    assert session.pending["refund/ask:0"].node == "refund/ask"
    assert session.marks["refund/prepare"] == "done"
    assert list(opened(nested(saver)).pending) == ["refund/ask:0"]  # as after a restart
    session.resume({"refund/ask:0": "yes"}).result()
    assert session.state["log"] == ["prepare", "ask:yes"]


# Who answers.


def test_a_second_answer_is_told_of_the_first_and_does_not_reach_the_engine():
    app = row(asks("1?", name="one"), asks("2?", name="two"))
    mine, other = opened(app), opened(app)
    mine.start({}).result()
    other.reload()
    asked = {"one:0": mine.pending["one:0"].asked}
    mine.resume({"one:0": "mine"}, asked=asked, by="front desk").result()
    with pytest.raises(AlreadyAnsweredError, match="front desk"):
        other.resume({"one:0": "other"}, asked=asked).result()
    other.reload()
    assert other.state["log"] == ["one:mine"]
    assert list(other.pending) == ["two:0"]


def test_an_answer_to_another_asking_is_stale():
    session = opened(row(asks()))
    session.start({}).result()
    with pytest.raises(StaleAnswerError):
        session.resume({"ask:0": 1}, asked={"ask:0": 99}).result()
    assert list(session.pending) == ["ask:0"]


def test_an_unknown_key_is_refused_whole():
    session = opened(row(asks()))
    session.start({}).result()
    with pytest.raises(ResumeError, match="'aks:0' is not pending"):
        session.resume({"ask:0": 1, "aks:0": 1}).result()
    assert list(session.pending) == ["ask:0"]


def test_a_thread_that_was_answered_outside_is_taken_up_before_a_run():
    app = row(asks("1?", name="one"), asks("2?", name="two"))
    session = opened(app)
    session.start({}).result()
    asked = session.pending["one:0"]
    config = {"configurable": {"thread_id": "t"}}
    app.invoke(Command(resume={asked.id: "outside"}), config)
    with pytest.raises(ResumeError):
        session.resume({"one:0": "late"}).result()
    session.reload()
    assert session.state["log"] == ["one:outside"]
    assert list(session.pending) == ["two:0"]


def test_new_input_on_a_thread_that_asks_is_refused():
    session = opened(row(asks()))
    session.start({}).result()
    before = types(session)
    with pytest.raises(ResumeError, match="ask:0"):
        session.start({"note": "again"})
    assert types(session) == before


def test_a_finished_thread_takes_another_turn():
    session = opened(row("a"))
    session.start({"note": "1"}).result()
    result = session.start({"note": "2"}).result()
    assert (result.data["log"], result.data["note"]) == (["a", "a"], "2")


# Steps and breakpoints.


def test_steps_run_one_superstep_each():
    session = opened(row("a", "b", "c"))
    session.breakpoints(before=["a"])
    session.start({}).result()
    assert (session.status, session.next) == ("interrupted", ("a",))
    for following in (("b",), ("c",), ()):
        session.step().result()
        assert session.next == following
    assert session.status == "completed"


def test_a_run_until_a_node_stops_before_it():
    session = opened(row("a", "b", "c", "d"))
    session.breakpoints(before=["a"])
    session.start({}).result()
    session.run_until("c").result()
    assert (session.next, session.state["log"]) == (("c",), ["a", "b"])


def test_breakpoints_of_the_compiled_graph_hold_until_others_are_set():
    session = opened(row("a", "b", "c", interrupt_before=["b"]))
    session.start({}).result()
    assert session.next == ("b",)
    session.breakpoints(before=[])
    session.proceed().result()
    session.start({}).result()
    assert session.status == "completed"


def test_a_breakpoint_after_a_node_shows_what_follows():
    session = opened(row("a", "b"))
    session.breakpoints(after=["a"])
    session.start({}).result()
    assert (session.snapshot.position.paused, session.next) == ("after", ("b",))
    session.proceed().result()
    assert session.status == "completed"


def test_a_breakpoint_at_no_node_is_refused():
    session = opened(row("a"))
    with pytest.raises(ResumeError, match="no node 'x'"):
        session.breakpoints(before=["x"])


# Errors.


def test_a_node_that_fails_can_be_tried_again_and_siblings_are_kept():
    luck = []
    ran = []

    def quick(state):
        ran.append("quick")
        return {"log": ["quick"]}

    def shaky(state):
        if not luck:
            raise ValueError("no luck")
        return {"log": ["shaky"]}

    builder = StateGraph(State)
    for each in (quick, shaky):
        builder.add_node(each.__name__, each)
        builder.add_edge(START, each.__name__)
    session = opened(builder.compile(checkpointer=InMemorySaver()))
    with pytest.raises(ValueError, match="no luck"):
        session.start({}).result()
    assert (session.status, session.error) == ("failed", "ValueError: no luck")
    assert session.marks["shaky"] == "failed"
    luck.append(1)
    session.proceed().result()
    assert sorted(session.state["log"]) == ["quick", "shaky"]
    assert ran == ["quick"]


def test_a_task_that_failed_can_be_skipped_with_a_value():
    def shaky(state):
        raise ValueError("no luck")

    session = opened(row(shaky, "after"))
    with pytest.raises(ValueError, match="no luck"):
        session.start({}).result()
    session.skip("shaky", {"log": ["by hand"]})
    assert session.next == ("after",)
    session.proceed().result()
    assert session.state["log"] == ["by hand", "after"]
    assert session.marks["shaky"] == "skipped"


# Edits and forks.


def test_an_edit_goes_through_the_reducers_and_the_question_is_asked_again():
    seen = []

    def ask(state):
        seen.append(state.get("note"))
        return {"answer": interrupt("ok?")}

    session = opened(row("plan", ask))
    session.start({"note": "old"}).result()
    first = session.pending["ask:0"]
    session.edit({"note": "new", "log": ["edited"]})
    assert session.state == {"log": ["plan", "edited"], "note": "new"}
    again = session.pending["ask:0"]
    assert (again.asked > first.asked, again.id != first.id) == (True, True)
    with pytest.raises((StaleAnswerError, AlreadyAnsweredError)):
        session.resume({"ask:0": "old"}, asked={"ask:0": first.asked}).result()
    session.resume({"ask:0": "fresh"}).result()
    assert session.state["answer"] == "fresh"
    assert set(seen[1:]) == {"new"}


def test_an_edit_does_not_choose_the_way_again():
    ran = []

    def route(state):
        ran.append("route")
        return Command(update={"log": ["route"]}, goto="b")

    builder = StateGraph(State)
    builder.add_node("route", route, destinations=("b", "c"))
    builder.add_node("b", lambda state: {"log": [f"b:{state['note']}"]})
    builder.add_node("c", says_c)
    builder.add_edge(START, "route")
    session = opened(builder.compile(checkpointer=InMemorySaver()))
    session.breakpoints(before=["b"])
    session.start({"note": "old"}).result()
    session.edit({"note": "new"})
    assert session.next == ("b",)
    session.proceed().result()
    assert (session.state["log"], ran) == (["route", "b:new"], ["route"])


def says_c(state):
    return {"log": ["c"]}


def test_one_question_is_answered_both_ways_on_two_branches():
    session = opened(row("plan", asks("Approve?", bool), "act"))
    session.start({}).result()
    other = session.fork(name="no")
    session.resume({"ask:0": True}).result()
    other.resume({"ask:0": False}).result()
    assert session.state["log"] == ["plan", "ask:True", "act"]
    assert other.state["log"] == ["plan", "ask:False", "act"]
    session.reload()
    assert session.state["answer"] is True


def test_a_fork_of_a_finished_thread_at_its_question_asks_again():
    session = opened(row("plan", asks(), "act"))
    session.start({}).result()
    asked = session.pending["ask:0"].asked
    session.resume({"ask:0": "A"}).result()
    other = session.fork(at=asked, name="b")
    assert (other.status, list(other.pending)) == ("interrupted", ["ask:0"])
    other.resume({"ask:0": "B"}).result()
    assert (session.state["answer"], other.state["answer"]) == ("A", "B")


def test_a_fork_can_edit_the_state():
    session = opened(row("a", "b"))
    session.breakpoints(before=["b"])
    session.start({"note": "old"}).result()
    other = session.fork(name="edited", update={"note": "new"})
    other.proceed().result()
    assert (session.state["note"], other.state["note"]) == ("old", "new")
    assert other.state["log"] == ["a", "b"]


def test_both_branches_go_on_turn_by_turn():
    session = opened(row(asks()))
    session.start({}).result()
    other = session.fork(name="other")
    for number in range(2):
        for branch in (session, other):
            branch.resume({"ask:0": f"{branch.branch_id}{number}"}).result()
            branch.start({}).result()
    assert session.state["log"] == ["ask:main0", "ask:main1"]
    assert other.state["log"] == ["ask:other0", "ask:other1"]


# Coming back.


def test_a_thread_in_sqlite_is_found_again(tmp_path):
    def app(connection):
        return row("plan", asks("Go?", bool), "act", checkpointer=SqliteSaver(connection))

    path = tmp_path / "threads.db"
    with sqlite3.connect(path, check_same_thread=False) as connection:
        session = opened(app(connection))
        session.start({"note": "kept"}).result()
        session.fork(name="other").resume({"ask:0": False}).result()
    connection.close()
    with sqlite3.connect(path, check_same_thread=False) as connection:
        again = opened(app(connection))
        assert (again.status, list(again.pending)) == ("interrupted", ["ask:0"])
        assert again.marks == {"plan": "done", "ask": "waiting", "act": "idle"}
        assert again.driver.shape.nodes[0].path == "plan"
        other = open_session(app(connection), thread_id="t", branch_id="other")
        assert (other.status, other.state["answer"]) == ("completed", False)
        again.resume({"ask:0": True}).result()
        assert again.state == {"log": ["plan", "ask:True", "act"], "note": "kept", "answer": True}
    connection.close()


def test_a_thread_of_another_graph_is_refused():
    saver = InMemorySaver()
    opened(row("a", "b", checkpointer=saver)).start({}).result()
    with pytest.raises(GraphConfigError, match="another graph"):
        opened(row("x", checkpointer=saver))


def test_threads_of_several_graphs_do_not_meet():
    apps = {
        (name, number): row(name, asks(f"{name}{number}?"), checkpointer=InMemorySaver())
        for name in ("a", "b", "c")
        for number in range(3)
    }
    sessions = {key: opened(app) for key, app in apps.items()}
    for session in sessions.values():
        session.start({}).result()
    for (name, number), session in sessions.items():
        assert session.pending["ask:0"].message == f"{name}{number}?"
        session.resume({"ask:0": number}).result()
    for (name, number), session in sessions.items():
        assert session.state["log"] == [name, f"ask:{number}"]


def test_a_graph_without_a_checkpointer_runs_as_a_copy_and_says_so():
    builder = StateGraph(State)
    builder.add_node("ask", asks())
    builder.add_edge(START, "ask")
    app = builder.compile()
    session = opened(app)
    assert "without a checkpointer" in session.notice
    session.start({}).result()
    assert list(opened(app).pending) == ["ask:0"]
    assert app.checkpointer is None
    session.resume({"ask:0": 1}).result()
    assert session.status == "completed"


def test_a_store_of_ours_is_refused_for_another_engines_graph():
    from nbgraph import InMemoryStateStore

    with pytest.raises(GraphConfigError, match="store"):
        open_session(row("a"), store=InMemoryStateStore())


# What is shown.


class Chat(TypedDict):
    messages: Annotated[list[HumanMessage], operator.add]


def test_values_are_shown_as_json_and_given_back_as_their_type():
    builder = StateGraph(Chat)
    builder.add_node("talk", lambda state: {"messages": [HumanMessage("hello", id="2")]})
    builder.add_edge(START, "talk")
    session = opened(builder.compile(checkpointer=InMemorySaver()))
    result = session.start({"messages": [HumanMessage("hi", id="1")]}).result()
    assert [message["content"] for message in session.state["messages"]] == ["hi", "hello"]
    assert result.state["messages"][1] == HumanMessage("hello", id="2")


def test_what_has_no_json_is_shown_as_a_text_and_kept_by_the_engine():
    seen = []

    def make(state):
        return {"answer": math.inf}

    def use(state):
        seen.append(state["answer"])
        return {}

    session = opened(row(make, use))
    session.start({}).result()
    assert session.state["answer"] == "inf"
    assert seen == [math.inf]


def test_what_a_node_writes_to_the_stream_is_logged():
    from langgraph.config import get_stream_writer

    def talk(state):
        get_stream_writer()("half of it")
        return {}

    session = opened(row(talk))
    session.start({}).result()
    [line] = [line for line in session.snapshot.log if line.node == "talk"]
    assert "half of it" in line.text
