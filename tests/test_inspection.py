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


def test_a_node_in_a_sub_graph_has_its_update_and_its_code():
    inner = Graph(Order, name="inner").flow(START >> check >> END)
    session = opened(START >> subgraph("sub", inner, share=["amount", "log"]) >> END)
    session.start({"amount": 1}).result()
    look = inspect_node(session, "sub/check")
    assert look.is_inner
    assert look.update == {"log": ["checked"]}
    assert "too dear" in (look.source() or "")
    assert [line.text for line in look.said] == ["checking"]
    assert inspect_node(session, "sub").source() is None
