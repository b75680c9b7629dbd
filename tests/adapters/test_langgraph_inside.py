"""Nodes inside a LangGraph graph's sub-graphs: breakpoints, steps, and what is said there."""

import threading

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph

from nbgraph import open_session
from nbgraph.adapters.log import forget
from nbgraph.errors import ResumeError

from .graphs import State, asks, row, says


def nested(**options):
    child = row("prepare", "pay", asks("Inside?")).builder.compile(**options)
    builder = StateGraph(State)
    builder.add_node("first", says("first"))
    builder.add_node("refund", child)
    builder.add_node("last", says("last"))
    builder.add_edge(START, "first")
    builder.add_edge("first", "refund")
    builder.add_edge("refund", "last")
    return builder.compile(checkpointer=InMemorySaver())


def started(app, **breakpoints):
    session = open_session(app, thread_id="t")
    session.breakpoints(**breakpoints)
    session.start({"log": []}).result()
    return session


def stands(session):
    return session.status, session.next, session.snapshot.position.paused


@pytest.mark.parametrize(
    ("breakpoints", "following", "side"),
    [
        ({"before": ["refund/pay"]}, ("refund/pay",), "before"),
        ({"after": ["refund/prepare"]}, ("refund/pay",), "after"),
    ],
)
def test_a_breakpoint_inside_a_sub_graph_pauses_there_also_after_a_restart(
    breakpoints, following, side
):
    app = nested()
    session = started(app, **breakpoints)
    assert stands(session) == ("interrupted", following, side)
    assert session.marks["refund/prepare"] == "done"
    forget(app)
    again = open_session(app, thread_id="t")
    assert stands(again) == ("interrupted", following, side)
    again.proceed().result()
    assert list(again.pending) == ["refund/ask:0"]
    again.resume({"refund/ask:0": 1}).result()
    assert again.state["log"] == ["first", "first", "prepare", "pay", "ask:1", "last"]


def test_the_user_s_graph_keeps_its_own_breakpoints():
    app = nested(interrupt_before=["pay"])
    session = open_session(app, thread_id="t")
    assert session.driver.shape.before == ("refund/pay",)
    session.start({"log": []}).result()
    assert stands(session) == ("interrupted", ("refund/pay",), "before")
    other = open_session(app, thread_id="other")
    other.breakpoints(before=[])
    other.start({"log": []}).result()
    assert list(other.pending) == ["refund/ask:0"]
    child = next(child for _, child in app.get_subgraphs())
    assert child.interrupt_before_nodes == ["pay"]


def test_a_step_runs_a_sub_graph_whole_and_a_step_into_it_one_of_its_nodes():
    session = started(nested(), before=["refund"])
    for following in (("refund/prepare",), ("refund/pay",), ("refund/ask",)):
        session.step_into().result()
        assert session.next == following
    whole = started(nested(), before=["refund"])
    whole.step().result()
    assert list(whole.pending) == ["refund/ask:0"]


def test_a_run_until_a_node_inside_stops_before_it():
    session = started(nested(), before=["first"])
    session.run_until("refund/pay").result()
    assert stands(session) == ("interrupted", ("refund/pay",), "until")


def test_a_graph_that_a_function_calls_is_out_of_reach_and_says_why():
    child = row("prepare", asks()).builder.compile()

    def refund(state):
        return child.invoke(state)

    session = open_session(row(refund), thread_id="t")
    with pytest.raises(ResumeError, match="calls that graph itself"):
        session.breakpoints(before=["refund/prepare"])
    session.start({"log": []}).result()
    assert list(session.pending) == ["refund/ask:0"]


# What nodes say while they run.


def heard(app, given, **options):
    """Run, and return what tasks have shown, in order, without repetitions."""
    session = open_session(app, thread_id="t")
    shown = []

    def take(snapshot):
        for task, doing in snapshot.doing.items():
            said = (task, doing.node, doing.share, doing.note, doing.text)
            if said not in shown:
                shown.append(said)

    session.watch(take)
    session.start(given).result()
    return shown


def test_progress_that_is_written_to_the_stream_is_shown_at_its_task():
    def work(state):
        write = get_stream_writer()
        write({"progress": 0.5, "message": "half"})
        write({"done": 2, "total": 2})
        return {}

    assert heard(row(work), {}) == [
        ("work", "work", 0.5, "half", ""),
        ("work", "work", 1.0, "2 of 2", ""),
    ]


def test_progress_inside_a_sub_graph_is_shown_at_the_node_there():
    def work(state, *, writer):
        writer({"progress": 0.5})
        return {}

    child = row(work).builder.compile()
    builder = StateGraph(State)
    builder.add_node("refund", child)
    builder.add_edge(START, "refund")
    app = builder.compile(checkpointer=InMemorySaver())
    assert heard(app, {"log": []}) == [("refund/work", "refund/work", 0.5, "", "")]


def test_what_a_thread_of_a_node_writes_is_shown_at_the_node_that_runs():
    def work(state):
        write = get_stream_writer()
        other = threading.Thread(target=write, args=({"progress": 0.25},))
        other.start()
        other.join()
        return {}

    assert heard(row(work), {}) == [("work", "work", 0.25, "", "")]


def talks(how):
    model = GenericFakeChatModel(messages=iter([AIMessage("good morning")]))
    builder = StateGraph(MessagesState)
    builder.add_node("talk", lambda state: {"messages": [how(model)]})
    builder.add_edge(START, "talk")
    return builder.compile(checkpointer=InMemorySaver())


def streamed(model, **config):
    pieces = list(model.stream("hi", config))
    return AIMessage("".join(piece.content for piece in pieces))


def test_tokens_of_a_model_that_streams_are_shown_as_they_come():
    texts = [text for *_, text in heard(talks(streamed), {"messages": []})]
    assert texts[-1] == "good morning"
    assert len(texts) > 1


def test_a_model_that_does_not_stream_is_not_made_to():
    asked = []

    def whole(model):
        asked.append(model)
        return model.invoke("hi")

    assert heard(talks(whole), {"messages": []}) == []
    assert len(asked) == 1


def test_tokens_that_are_tagged_so_are_not_shown():
    quiet = talks(lambda model: streamed(model, tags=["nostream"]))
    assert heard(quiet, {"messages": []}) == []
