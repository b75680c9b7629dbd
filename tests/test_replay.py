"""A thread as a test: a cell that runs it again and asserts where it ends."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, add, interrupt, node
from nbgraph.opening import open_session
from nbgraph.replay import as_test
from nbgraph.session import Session


class Desk(BaseState):
    order: str = ""
    by: str | None = None
    ratio: float = 0.0
    notes: Annotated[list[str], add] = Field(default_factory=list)


@node
def intake(state: Desk) -> dict[str, Any]:
    return {"notes": ["in"], "ratio": 0.5}


@node
def confirm(state: Desk) -> dict[str, Any]:
    return {"by": interrupt(id="who", message="Who?", response_schema=str)}


@node
def decide(state: Desk) -> dict[str, Any]:
    if state.by == "nobody":
        raise ValueError("nobody decides")
    return {"notes": [f"by {state.by}"]}


def desk() -> Graph:
    path = START >> intake >> confirm >> decide >> END
    return Graph(Desk, name="desk", state_store=InMemoryStateStore()).flow(path)


def answered(graph: Graph, by: str) -> Session:
    session = open_session(graph, "t")
    session.start({"order": "A-1042"}).result()
    session.edit({"notes": ["by hand"]})
    run = session.resume({"confirm:who": by}, by="ops")
    run.on_end(lambda error: None)
    return session


def ran(cell: str, graph: Graph) -> dict[str, Any]:
    names: dict[str, Any] = {"graph": graph}
    exec(cell, names)
    return names


def test_a_finished_thread_is_run_again_with_its_edits_and_answers(capsys: Any):
    graph = desk()
    session = answered(graph, "mia")
    session.settle()
    cell = as_test(session)
    assert ran(cell, graph)["session"].state == session.state
    assert capsys.readouterr().out == ""
    assert "assert ran == [['intake'], ['confirm'], ['decide']]" in cell
    assert "assert session.state['notes'] == ['in', 'by hand', 'by mia']" in cell


def test_a_graph_that_does_something_else_fails_the_test():
    graph = desk()
    session = answered(graph, "mia")
    session.settle()
    other = Graph(Desk, name="desk").flow(START >> intake >> confirm >> END)
    with pytest.raises(AssertionError):
        ran(as_test(session), other)


def test_a_thread_that_waits_or_failed_is_run_again_to_there():
    graph = desk()
    session = open_session(graph, "w")
    session.start({"order": "A-1042"}).result()
    assert list(ran(as_test(session), graph)["session"].pending) == ["confirm:who"]
    session = answered(graph, "nobody")
    with pytest.raises(ValueError, match="nobody decides"):
        session.settle()
    cell = as_test(session)
    assert ran(cell, graph)["session"].error == "ValueError: nobody decides"

    @node(name="decide")
    def otherwise(state: Desk) -> None:
        raise KeyError(state.by)

    path = START >> intake >> confirm >> otherwise >> END
    with pytest.raises(AssertionError):
        ran(cell, Graph(Desk, name="desk").flow(path))


@pytest.mark.parametrize(
    "text",
    ['"""\nraise SystemExit\n"""', "'); raise SystemExit  #", "\\\nraise SystemExit", "\u2028x"],
)
def test_what_a_thread_holds_stands_in_a_test_as_literals(text: str):
    graph = desk()
    session = open_session(graph, "t")
    session.start({"order": text}).result()
    session.edit({"notes": [text]})
    session.resume({"confirm:who": text}, by=text).result()
    session.settle()
    assert ran(as_test(session), graph)["session"].state == session.state


def test_what_is_no_literal_and_what_has_an_id_is_not_asserted():
    @node
    def odd(state: Desk) -> dict[str, Any]:
        return {"order": "x" * 3_000, "notes": ["{'id': 7}"]}

    graph = Graph(Desk, state_store=InMemoryStateStore()).flow(START >> odd >> END)
    session = open_session(graph, "t")
    session.start({}).result()
    cell = as_test(session)
    ran(cell, graph)
    assert "'order'] ==" not in cell
    assert "'notes'] ==" not in cell


def test_a_new_thread_is_a_test_too():
    graph = desk()
    assert ran(as_test(open_session(graph, "new")), graph)["session"].status == "new"
