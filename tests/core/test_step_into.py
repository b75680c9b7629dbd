"""Stepping into a sub-graph, and breakpoints that are set while a run goes on."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from nbgraph import InMemoryStateStore, node, open_session, subgraph
from nbgraph.session import Session
from tests.core.graphs import Trail, asker, chain, stop


def inner(*nodes: Any) -> Any:
    return chain(*nodes, state_store=None, name="inner")


def shared(name: str, *nodes: Any) -> Any:
    return subgraph(name, inner(*nodes), share=["log"])


@pytest.fixture
def session() -> Session:
    graph = chain(stop("a"), shared("sub", stop("x"), stop("y")), stop("b"))
    return open_session(graph, "t")


def stepped(session: Session) -> tuple[str, ...]:
    session.step_into().result()
    return session.next


def begun(session: Session) -> None:
    session.breakpoints(before=["sub"])
    session.start({}).result()
    assert session.next == ("sub",)


def test_stepping_into_a_sub_graph_stops_at_each_of_its_supersteps(session: Session):
    begun(session)
    assert [stepped(session) for _ in range(4)] == [("sub/x",), ("sub/y",), ("b",), ()]
    assert (session.status, session.state["log"]) == ("completed", ["a", "x", "y", "b"])


def test_a_plain_step_runs_a_sub_graph_as_one(session: Session):
    begun(session)
    session.step().result()
    assert session.next == ("b",)


def test_a_plain_step_from_within_runs_the_rest_of_the_sub_graph(session: Session):
    begun(session)
    assert stepped(session) == ("sub/x",)
    session.step().result()
    assert (session.next, session.state["log"]) == (("b",), ["a", "x", "y"])


def test_going_on_from_within_runs_to_the_end(session: Session):
    begun(session)
    assert stepped(session) == ("sub/x",)
    session.proceed().result()
    assert (session.status, session.state["log"]) == ("completed", ["a", "x", "y", "b"])


def test_a_sub_graph_of_a_sub_graph_is_stepped_into_too():
    graph = chain(shared("outer", shared("deep", stop("x"))), stop("b"))
    session = open_session(graph, "t")
    session.breakpoints(before=["outer"])
    session.start({}).result()
    seen = [stepped(session) for _ in range(4)]
    assert seen == [("outer/deep",), ("outer/deep/x",), ("b",), ()]


def test_a_question_inside_is_answered_and_stepping_goes_on():
    graph = chain(shared("sub", asker("ask"), stop("y")), stop("b"))
    session = open_session(graph, "t")
    session.breakpoints(before=["sub"])
    session.start({}).result()
    assert stepped(session) == ("sub/ask",)
    session.step_into().result()
    (key,) = session.pending
    session.resume({key: "yes"}).result()
    assert session.status == "completed"


def test_a_breakpoint_can_be_set_while_a_run_goes_on():
    entered, go_on = threading.Event(), threading.Event()

    def slow(state: Trail) -> dict[str, Any]:
        entered.set()
        go_on.wait(60)
        return {"log": ["slow"]}

    graph = chain(node(name="slow")(slow), stop("b"), state_store=InMemoryStateStore())
    session = open_session(graph, "t")
    run = session.start({})
    assert entered.wait(60)
    session.breakpoints(before=["b"])
    go_on.set()
    assert run.result().status == "interrupted"
    assert (session.next, session.snapshot.position.before) == (("b",), ("b",))
