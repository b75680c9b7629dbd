"""Breakpoints: before, after, remembered, passed once, and what goes on from them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from nbgraph import END, START, Graph, InMemoryStateStore, Resume, branch
from nbgraph.core.events import BreakpointsSet, RunPaused
from nbgraph.errors import GraphConfigError, ResumeError
from tests.core.graphs import Trail, asker, chain, failing, fan, history, stop, types


def abc(**options: Any) -> Graph:
    return chain(stop("a"), stop("b"), stop("c"), **options)


def test_a_breakpoint_before_a_node_pauses_before_it_ran() -> None:
    graph = abc(interrupt_before=["b"])
    result = graph.invoke({}, thread_id="t")
    assert (result.status, result.interrupts, result.state.log) == ("interrupted", {}, ["a"])
    position = graph.sync.position("t")
    assert (position.status, position.next, position.paused) == ("interrupted", ("b",), "before")


def test_a_breakpoint_after_a_node_pauses_with_its_update_merged_and_nothing_chosen() -> None:
    graph = abc(interrupt_after=["a"])
    result = graph.invoke({}, thread_id="t")
    assert (result.status, result.state.log) == ("interrupted", ["a"])
    position = graph.sync.position("t")
    assert (position.status, position.next, position.paused) == ("interrupted", (), "after")


@pytest.mark.parametrize("options", [{"interrupt_before": "*"}, {"interrupt_after": ["*"]}])
def test_a_star_is_every_node(options: dict[str, Any]) -> None:
    graph = abc(**options)
    seen = [graph.invoke({}, thread_id="t").state.log]
    while graph.sync.position("t").status == "interrupted":
        seen.append(graph.invoke(None, thread_id="t").state.log)
    assert seen[-1] == ["a", "b", "c"]
    assert all(len(after) - len(before) <= 1 for before, after in pairwise(seen))


def test_going_on_passes_the_point_once() -> None:
    from nbgraph import when

    a, b = stop("a"), stop("b")
    graph = Graph(Trail, state_store=InMemoryStateStore(), interrupt_before=["b"]).flow(
        START >> a >> b, b >> when(lambda state: len(state.log) < 4, b)
    )
    assert graph.invoke({}, thread_id="t").state.log == ["a"]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b", "b"]


def test_resume_at_a_breakpoint_is_refused() -> None:
    graph = abc(interrupt_before=["b"])
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(ResumeError, match="at a breakpoint; continue it"):
        graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert history(graph) == before


def test_new_input_at_a_breakpoint_starts_a_turn() -> None:
    graph = abc(interrupt_before=["b"])
    graph.invoke({}, thread_id="t")
    assert graph.invoke({"count": 1}, thread_id="t").state == Trail(log=["a", "a"], count=1)


def test_after_the_last_node_a_run_finishes() -> None:
    graph = abc(interrupt_after=["c"])
    assert graph.invoke({}, thread_id="t").status == "completed"


def test_a_calls_lists_replace_the_graphs_and_are_remembered_for_the_branch() -> None:
    graph = abc(interrupt_before=["b"])
    assert graph.invoke({}, thread_id="t", interrupt_before=["c"]).state.log == ["a", "b"]
    assert graph.invoke({}, thread_id="t").state.log == ["a", "b", "a", "b"]
    assert graph.invoke({}, thread_id="other").state.log == ["a"]


def test_none_keeps_a_list_and_an_empty_one_clears_it() -> None:
    graph = abc()
    graph.invoke({}, thread_id="t", interrupt_before=["b"])
    assert graph.invoke({}, thread_id="t", interrupt_before=None).status == "interrupted"
    assert graph.invoke({}, thread_id="t", interrupt_before=[]).status == "completed"


def test_setting_one_list_keeps_the_graphs_other_one() -> None:
    graph = abc(interrupt_after=["a"])
    assert graph.invoke({}, thread_id="t", interrupt_before=["c"]).state.log == ["a"]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


def test_a_first_call_with_breakpoints_starts_from_the_schemas_defaults() -> None:
    graph = abc()
    result = graph.invoke({}, thread_id="t", interrupt_before=["b"])
    assert result.data == {"log": ["a"], "count": 0}
    assert types(graph)[:2] == ["breakpoints_set", "run_started"]


def test_lists_that_change_nothing_are_not_recorded_again() -> None:
    graph = abc()
    for _ in range(3):
        graph.invoke({}, thread_id="t", interrupt_before=["b"])
    assert sum(isinstance(event, BreakpointsSet) for event in history(graph)) == 1


def test_going_on_with_other_breakpoints_still_passes_the_point_at_hand() -> None:
    graph = abc(interrupt_before=["b"])
    graph.invoke({}, thread_id="t")
    result = graph.invoke(None, thread_id="t", interrupt_before=["b", "c"])
    assert result.state.log == ["a", "b"]


def test_an_edit_at_a_breakpoint_after_a_node_decides_where_it_leads() -> None:
    a, left, right = stop("a"), stop("left"), stop("right")
    graph = Graph(Trail, state_store=InMemoryStateStore(), interrupt_after=["a"]).flow(
        START >> a,
        a >> branch(lambda state: state.count, {0: left, 1: right}),
        left >> END,
        right >> END,
    )
    graph.invoke({}, thread_id="t")
    graph.sync.update_state("t", {"count": 1})
    assert graph.invoke(None, thread_id="t").state.log == ["a", "right"]


def test_an_edit_at_a_breakpoint_after_a_node_mends_a_router_that_would_fail() -> None:
    a, b = stop("a"), stop("b")
    graph = Graph(Trail, state_store=InMemoryStateStore(), interrupt_after=["a"]).flow(
        START >> a, a >> branch(lambda state: state.count, {1: b}), b >> END
    )
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    graph.sync.update_state("t", {"count": 1})
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


def test_an_answer_does_not_stop_at_the_breakpoint_its_task_has_passed() -> None:
    graph = chain(stop("a"), asker("ask"), interrupt_before=["ask"])
    graph.invoke({}, thread_id="t")
    assert list(graph.invoke(None, thread_id="t").interrupts) == ["ask:ok"]
    assert graph.invoke(None, thread_id="t", resume=Resume("x")).status == "completed"


def test_a_failed_task_goes_on_without_stopping_at_its_breakpoint_again() -> None:
    graph = chain(stop("a"), failing("b", ValueError("once")), interrupt_before=["b"])
    graph.invoke({}, thread_id="t")
    with pytest.raises(ValueError, match="once"):
        graph.invoke(None, thread_id="t")
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


def test_a_breakpoint_before_one_of_several_tasks_holds_the_whole_superstep() -> None:
    graph = fan(stop("a"), stop("b"), interrupt_before=["b"])
    assert graph.invoke({}, thread_id="t").state.log == []
    assert graph.sync.position("t").next == ("a", "b")
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


def test_a_pause_at_a_breakpoint_counts_no_superstep_that_did_not_run() -> None:
    graph = abc(interrupt_after=["a"])
    assert graph.invoke({}, thread_id="t").step == 1
    assert graph.invoke(None, thread_id="t").step == 2
    assert graph.sync.position("t").step == 3


@pytest.mark.parametrize("where", ["interrupt_before", "interrupt_after"])
def test_a_breakpoint_at_an_unknown_node_is_refused_by_name(where: str) -> None:
    with pytest.raises(GraphConfigError, match="no node 'x'"):
        abc(**{where: ["x"]})
    graph = abc()
    with pytest.raises(ResumeError, match=r"no node 'x'.*'a', 'b', 'c'"):
        graph.invoke({}, thread_id="t", **{where: ["x"]})
    assert history(graph) == []


def test_breakpoints_without_a_store_are_refused_before_anything_runs() -> None:
    ran: list[int] = []
    from nbgraph import node

    run = node(name="run")(lambda state: ran.append(1))
    with pytest.raises(GraphConfigError, match="state store"):
        Graph(Trail, interrupt_before="*").flow(START >> run >> END).invoke({})
    with pytest.raises(GraphConfigError, match="state store"):
        Graph(Trail).flow(START >> run >> END).invoke({}, interrupt_after=["run"])
    assert ran == []


def test_a_pause_is_recorded_with_its_reason() -> None:
    graph = abc(interrupt_before=["b"], interrupt_after=["b"])
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t")
    reasons = [event.reason for event in history(graph) if isinstance(event, RunPaused)]
    assert reasons == ["before", "after"]
