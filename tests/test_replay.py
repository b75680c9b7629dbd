"""A thread as a test: a cell that runs it again and asserts where it ends."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from pydantic import Field

from nbgraph import (
    ASK_AGAIN,
    DISMISS,
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    Send,
    add,
    interrupt,
    node,
)
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


# --- what a person did beside answering ---------------------------------------------------------


def three() -> Graph:
    """Return a graph of three tasks side by side: one asks, one fails unless told, one writes."""

    @node
    def ask(state: Desk) -> dict[str, Any]:
        return {"by": interrupt(id="who", message="Who?", response_schema=str, default="desk")}

    @node
    def risk(state: Desk) -> dict[str, Any]:
        if state.order != "mended":
            raise ValueError("no reply")
        return {"notes": ["risk"]}

    @node
    def order(state: Desk) -> dict[str, Any]:
        return {"notes": ["order"]}

    @node
    def end(state: Desk) -> dict[str, Any]:
        return {"notes": ["end"]}

    ways = (
        START >> [ask, risk, order],
        *(ask >> end, risk >> end, order >> end),
        end >> END,
    )
    return Graph(Desk, name="three", state_store=InMemoryStateStore()).flow(*ways)


def tried(run: Any) -> None:
    with suppress(ValueError):
        run.result()


def same(session: Session, graph: Graph) -> str:
    """Assert that the thread's cell leads to where the thread stands, and return the cell."""
    cell = as_test(session)
    again = ran(cell, graph)["session"]
    assert (again.state, again.status) == (session.state, session.status)
    assert list(again.pending) == list(session.pending)
    return cell


def failed_three() -> tuple[Graph, Session]:
    graph = three()
    session = open_session(graph, "t")
    session.start({"order": "A-1042"}, break_when=lambda state: True).result()
    session.step("ask").result()
    session.step("order").result()
    tried(session.step("risk"))
    return graph, session


def test_a_task_that_was_skipped_does_not_run_again():
    graph, session = failed_three()
    tried(session.resume({"ask:who": "mia"}))
    session.skip("risk", {"notes": ["by hand"]})
    session.proceed().result()
    assert session.state["notes"] == ["by hand", "order", "end"]
    assert "session.skip('risk', {'notes': ['by hand']})" in same(session, graph)


def test_a_failure_that_an_edit_mended_is_mended_again():
    graph, session = failed_three()
    tried(session.resume({"ask:who": "mia"}))
    same(session, graph)
    session.edit({"order": "mended"})
    session.proceed().result()
    assert session.status == "completed"
    assert "with suppress(Exception):" in same(session, graph)


def test_a_question_that_was_dismissed_is_dismissed_again():
    graph, session = failed_three()
    session.edit({"order": "mended"})
    session.step("risk").result()
    session.resume({"ask:who": DISMISS}).result()
    assert session.state["by"] == "desk"
    assert "DISMISS" in same(session, graph)


def test_a_question_that_was_asked_again_is_asked_again():
    graph, session = failed_three()
    session.edit({"order": "mended"})
    tried(session.resume({"ask:who": ASK_AGAIN}))
    session.resume({"ask:who": "mia"}).result()
    assert session.state["by"] == "mia"
    assert "ASK_AGAIN" in same(session, graph)


def test_a_question_that_expired_goes_without_an_answer_again():
    @node
    def ask(state: Desk) -> dict[str, Any]:
        at = datetime(2020, 1, 1, tzinfo=UTC) if state.order == "late" else None
        return {"by": interrupt(id="who", response_schema=str, default="desk", expires=at)}

    graph = Graph(Desk, state_store=InMemoryStateStore()).flow(START >> ask >> END)
    session = open_session(graph, "t")
    session.start({"order": "late"}).result()
    session.proceed().result()
    assert session.state["by"] == "desk"
    assert "DISMISS" in same(session, graph)


@pytest.mark.parametrize("goto", ["end", END, ["order", "end"]])
def test_who_went_elsewhere_goes_there_again(goto: Any):
    graph, session = failed_three()
    tried(session.resume({"ask:who": "mia"}))
    session.edit({"notes": ["gone"]}, goto=goto)
    same(session, graph)
    if goto is not END:
        session.proceed().result()
        assert session.status == "completed"
        same(session, graph)


def test_who_went_to_a_node_with_something_of_its_own_goes_there_again():
    @node
    def show(state: Desk) -> dict[str, Any]:
        return {"notes": [state.order]}

    graph = Graph(Desk, state_store=InMemoryStateStore()).flow(START >> show >> END)
    session = open_session(graph, "t")
    session.start({"order": "A"}).result()
    session.edit({}, goto=[Send(show, {"order": "B"}), Send(show, {"order": "C"})])
    session.proceed().result()
    assert session.state["notes"] == ["A", "B", "C"]
    same(session, graph)


def test_of_a_superstep_of_which_one_task_ran_one_task_runs_again():
    graph = three()
    session = open_session(graph, "t")
    session.start({"order": "A"}, break_when=lambda state: True).result()
    session.edit({"order": "mended"}, goto=["risk", "order"])
    session.step("order").result()
    cell = same(session, graph)
    assert "session.step('order').result()" in cell
    assert session.next == ("risk",)


def test_an_edit_after_the_last_superstep_runs_nothing():
    graph = three()
    session = open_session(graph, "t")
    session.start({"order": "mended"}, break_when=lambda state: True).result()
    session.edit({"notes": ["by hand"]})
    same(session, graph)
    assert session.next == ("ask", "risk", "order")


def test_a_graph_that_pauses_after_its_nodes_is_run_again_to_its_end():
    path = START >> intake >> decide >> END
    graph = Graph(
        Desk, state_store=InMemoryStateStore(), interrupt_after=["intake"], interrupt_before="*"
    ).flow(path)
    session = open_session(graph, "t")
    session.start({}).result()
    while session.status != "completed":
        session.proceed().result()
    same(session, graph)
