"""One node, looked at: what it was given, wrote and said, its error, its code."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    Send,
    add,
    interrupt,
    node,
    open_session,
    subgraph,
)
from nbgraph.inspection import inspect_node
from nbgraph.session import Session


class Order(BaseState):
    amount: int = 0
    log: Annotated[list[str], add] = Field(default_factory=list)


@node(goto=["price", END])
def price(state: Order) -> Any:
    """Looks it up."""
    if state.amount < 2:
        return Command(update={"amount": state.amount + 1, "log": ["price"]}, goto="price")
    return {"log": ["dear"]}


@node
def check(state: Order) -> dict[str, Any]:
    print("checking")
    if state.amount > 1:
        raise ValueError("too dear")
    return {"log": ["checked"]}


def opened(*path: Any) -> Session:
    graph = Graph(Order, state_store=InMemoryStateStore()).flow(*path)
    session = open_session(graph, "t")
    session.listen(lambda _: None)
    return session


def test_the_newest_visit_of_a_node_is_shown():
    session = opened(START >> price >> END)
    session.start({}).result()
    look = inspect_node(session, "price")
    assert look.input() == {"amount": 2, "log": ["price", "price"]}
    assert look.update == {"log": ["dear"]}
    assert look.output() == {"amount": 2, "log": ["price", "price", "dear"]}


def test_a_failed_node_has_an_error_and_its_input_and_no_output():
    session = opened(START >> check >> END)
    with pytest.raises(ValueError, match="too dear"):
        session.start({"amount": 5}).result()
    look = inspect_node(session, "check")
    assert look.input() == {"amount": 5, "log": []}
    assert (look.update, look.output()) == (None, None)
    assert look.error is not None
    assert "in check" in look.error
    assert [line.text for line in look.said] == ["checking", "ValueError: too dear"]


def test_a_node_that_has_not_run_has_nothing_but_its_code():
    session = opened(START >> price >> END)
    look = inspect_node(session, "price")
    assert (look.input(), look.update, look.output(), look.error) == (None, None, None, None)
    assert '"""Looks it up."""' in (look.source() or "")


def test_a_waiting_node_has_an_input():
    @node
    def ask(state: Order) -> dict[str, Any]:
        return {"log": [interrupt("ok?")]}

    session = opened(START >> ask >> END)
    session.start({"amount": 3}).result()
    look = inspect_node(session, "ask")
    assert (look.input(), look.output()) == ({"amount": 3, "log": []}, None)


def test_a_task_with_a_payload_shows_it_over_the_state():
    @node(goto=["each"])
    def split(state: Order) -> Any:
        return Command(goto=[Send(each, {"amount": 7})])

    @node(name="each")
    def each(state: Order) -> dict[str, Any]:
        return {"log": [str(state.amount)]}

    session = opened(START >> split, each >> END)
    session.start({}).result()
    look = inspect_node(session, "each")
    assert look.input() == {"amount": 7, "log": []}
    assert look.update == {"log": ["7"]}


def inside(*nodes: Any, **options: Any) -> Any:
    path: Any = START
    for each in nodes:
        path = path >> each
    return subgraph("sub", Graph(Order, name="inner").flow(path >> END), **options)


def says(name: str) -> Any:
    return node(name=name)(lambda state: {"log": [name]})


SHARE = {"share": ["amount", "log"]}


def test_a_node_in_a_sub_graph_has_all_that_a_node_has():
    session = opened(START >> says("a") >> inside(says("b"), check, **SHARE) >> END)
    session.start({"amount": 1}).result()
    look = inspect_node(session, "sub/check")
    assert look.input() == {"amount": 1, "log": ["a", "b"]}
    assert look.update == {"log": ["checked"]}
    assert look.output() == {"amount": 1, "log": ["a", "b", "checked"]}
    assert "too dear" in (look.source() or "")
    assert [line.text for line in look.said] == ["checking"]
    assert inspect_node(session, "sub").source() is None


def test_a_node_deep_inside_is_looked_at_by_another_process():
    store = InMemoryStateStore()
    deep = Graph(Order, name="deep").flow(START >> says("x") >> says("y") >> END)
    mid = Graph(Order, name="mid").flow(START >> subgraph("deep", deep, **SHARE) >> END)
    graph = Graph(Order, state_store=store).flow(START >> subgraph("mid", mid, **SHARE) >> END)
    graph.invoke({"amount": 3}, thread_id="t")
    look = inspect_node(open_session(graph, "t"), "mid/deep/y")
    assert look.input() == {"amount": 3, "log": ["x"]}
    assert (look.update, look.output()) == ({"log": ["y"]}, {"amount": 3, "log": ["x", "y"]})


@pytest.mark.parametrize("thread", ["fresh", "stable"])
def test_a_node_in_a_sub_graph_that_waits_or_failed_has_its_input(thread: Any):
    @node
    def ask(state: Order) -> dict[str, Any]:
        return {"amount": interrupt("how much?", id="much")}

    session = opened(START >> inside(ask, check, **SHARE, child_thread=thread) >> END)
    session.start({"amount": 1}).result()
    asked = inspect_node(session, "sub/ask")
    assert (asked.input(), asked.output()) == ({"amount": 1, "log": []}, None)
    with pytest.raises(ValueError, match="too dear"):
        session.resume({"sub/ask:much": 7}).result()
    failed = inspect_node(session, "sub/check")
    assert failed.input() == {"amount": 7, "log": []}
    assert "in check" in (failed.error or "")
    assert inspect_node(session, "sub/ask").output() == {"amount": 7, "log": []}


def test_a_name_may_have_a_slash_in_it():
    inner = Graph(Order, name="inner").flow(START >> says("b/c") >> END)
    session = opened(START >> says("a/b") >> subgraph("s/t", inner, **SHARE) >> END)
    session.start({}).result()
    first, second = inspect_node(session, "a/b"), inspect_node(session, "s/t/b/c")
    assert (first.update, first.inner_of) == ({"log": ["a/b"]}, "")
    assert second.input() == {"amount": 0, "log": ["a/b"]}
    assert "says" not in (second.source() or "")
    assert "lambda" in (second.source() or "")


def test_on_a_fork_a_sub_graph_is_what_it_was_there():
    @node
    def ask(state: Order) -> dict[str, Any]:
        return {"amount": interrupt("how much?", id="much")}

    session = opened(START >> inside(ask, says("b"), **SHARE) >> END)
    session.start({"amount": 1}).result()
    fork = session.fork()
    session.resume({"sub/ask:much": 7}).result()
    assert inspect_node(session, "sub/b").input() == {"amount": 7, "log": []}
    assert inspect_node(fork, "sub/ask").input() == {"amount": 1, "log": []}
    assert inspect_node(fork, "sub/b").input() is None
    fork.resume({"sub/ask:much": 8}).result()
    assert inspect_node(fork, "sub/b").input() == {"amount": 8, "log": []}


def test_a_node_in_a_sub_graph_that_has_not_begun_has_nothing():
    session = opened(START >> inside(check, **SHARE) >> END)
    look = inspect_node(session, "sub/check")
    assert (look.input(), look.update, look.output(), look.error) == (None, None, None, None)
