"""Breakpoints on the state: `break_when` of a graph and of a call."""

from __future__ import annotations

from typing import Any

import pytest

from nbgraph import END, START, Graph, InMemoryStateStore, Resume, node, when
from nbgraph.core.events import RunPaused
from nbgraph.errors import GraphConfigError, GraphExecutionError
from tests.core.graphs import Trail, asker, chain, history, stop


def two(state: Trail) -> bool:
    return len(state.log) == 2


def abc(**options: Any) -> Graph:
    return chain(stop("a"), stop("b"), stop("c"), **options)


def test_a_run_pauses_before_the_superstep_where_the_predicate_holds() -> None:
    graph = abc(break_when=two)
    result = graph.invoke({}, thread_id="t")
    assert (result.status, result.interrupts, result.state.log) == ("interrupted", {}, ["a", "b"])
    position = graph.sync.position("t")
    assert (position.next, position.paused) == (("c",), "before")
    assert history(graph)[-1] == RunPaused(
        reason="before", created_at=history(graph)[-1].created_at, sequence=position.sequence
    )


def test_going_on_passes_the_point_once() -> None:
    a = stop("a")
    graph = Graph(
        Trail, state_store=InMemoryStateStore(), break_when=lambda state: len(state.log) > 0
    ).flow(START >> a, a >> when(lambda state: len(state.log) < 4, a))
    assert graph.invoke({}, thread_id="t").state.log == ["a"]
    assert graph.invoke(None, thread_id="t").state.log == ["a"] * 2
    assert graph.invoke(None, thread_id="t").state.log == ["a"] * 3
    assert graph.invoke(None, thread_id="t").status == "completed"


def test_a_predicate_sees_the_input_before_the_first_superstep() -> None:
    graph = abc(break_when=lambda state: state.count == 7 and not state.log)
    assert graph.invoke({"count": 7}, thread_id="t").state.log == []
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b", "c"]


def test_a_calls_predicate_stands_in_for_the_graphs_in_that_call_alone() -> None:
    graph = abc(break_when=two)
    one = graph.invoke({}, thread_id="t", break_when=lambda state: len(state.log) == 1)
    assert one.state.log == ["a"]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]
    whole = graph.invoke({}, thread_id="other", break_when=lambda state: False)
    assert whole.status == "completed"


def test_a_calls_predicate_is_not_remembered() -> None:
    graph = abc()
    assert graph.invoke({}, thread_id="t", break_when=two).status == "interrupted"
    assert graph.invoke({"log": []}, thread_id="u").status == "completed"
    assert graph.invoke(None, thread_id="t").status == "completed"
    assert "breakpoints_set" not in [event.type for event in history(graph)]


def test_an_answer_does_not_stop_at_the_point_its_task_has_passed() -> None:
    graph = chain(stop("a"), asker("ask"), break_when=lambda state: len(state.log) == 1)
    assert graph.invoke({}, thread_id="t").interrupts == {}
    assert list(graph.invoke(None, thread_id="t").interrupts) == ["ask:ok"]
    assert graph.invoke(None, thread_id="t", resume=Resume("x")).status == "completed"


def test_an_edit_at_the_point_is_what_goes_on() -> None:
    graph = abc(break_when=two)
    graph.invoke({}, thread_id="t")
    graph.sync.update_state("t", {"count": 5})
    assert graph.invoke(None, thread_id="t").state.count == 5


def test_a_predicate_cannot_change_the_state() -> None:
    def spoils(state: Trail) -> bool:
        state.log.append("spoilt")
        return False

    assert abc(break_when=spoils).invoke({}, thread_id="t").state.log == ["a", "b", "c"]


def test_a_predicate_that_raises_or_gives_no_bool_fails_the_run() -> None:
    graph = abc(break_when=lambda state: state.log[0] == "a")
    with pytest.raises(IndexError):
        graph.invoke({}, thread_id="t")
    assert graph.sync.position("t").status == "failed"
    with pytest.raises(GraphExecutionError, match="break_when must return a bool, got 0"):
        abc(break_when=lambda state: len(state.log)).invoke({}, thread_id="t")


def test_without_a_store_it_is_refused_before_anything_runs() -> None:
    ran: list[int] = []
    run = node(name="run")(lambda state: ran.append(1))
    with pytest.raises(GraphConfigError, match="state store"):
        Graph(Trail, break_when=two).flow(START >> run >> END).invoke({})
    with pytest.raises(GraphConfigError, match="state store"):
        Graph(Trail).flow(START >> run >> END).invoke({}, break_when=two)
    assert ran == []
