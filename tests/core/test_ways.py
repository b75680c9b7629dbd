"""Further ways through a graph: deferred nodes, routers by name, going somewhere, single tasks."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from nbgraph import (
    END,
    START,
    Command,
    Graph,
    InMemoryStateStore,
    Resume,
    Send,
    branch,
    join,
    node,
    open_session,
    subgraph,
    when,
)
from nbgraph.adapters.log import BranchLog
from nbgraph.adapters.requests import check_edit, checked
from nbgraph.core.driver import Shape
from nbgraph.core.events import RunFinished, RunPaused, StateEdited, TaskFinished
from nbgraph.core.requests import Continue, Edit
from nbgraph.core.schema import StateSchema
from nbgraph.errors import GraphConfigError, ResumeError, StateUpdateError
from tests.core.graphs import Trail, asker, chain, failing, fan, history, stop


def kept(*items: Any, **options: Any) -> Graph:
    return Graph(Trail, **{"state_store": InMemoryStateStore(), **options}).flow(*items)


# --- deferred nodes ------------------------------------------------------------------------------


def test_a_deferred_node_runs_once_when_nothing_else_follows() -> None:
    a, b, c, last = stop("a"), stop("b"), stop("c"), stop("last", defer=True)
    graph = kept(START >> [a, b], a >> last, b >> c, c >> last, last >> END)
    assert graph.invoke({}, thread_id="t").state.log == ["a", "b", "c", "last"]
    waiting = [event.joins for event in history(graph) if event.type == "superstep_finished"]
    assert waiting == [{"last": ("a",)}, {}, {}]


def test_what_led_to_it_is_remembered_over_a_pause_a_failure_and_a_fork() -> None:
    last = stop("last", defer=True)
    short, ask, shaky = stop("short"), asker("ask"), failing("shaky", ValueError("once"))
    graph = kept(START >> [short, ask], short >> last, ask >> shaky, shaky >> END, last >> END)
    graph.invoke({}, thread_id="t")
    with pytest.raises(ValueError, match="once"):
        graph.invoke(resume=Resume(1), thread_id="t")
    graph.sync.fork("t", name="other")
    for branch_id in ("main", "other"):
        done = graph.invoke(None, thread_id="t", branch_id=branch_id)
        assert done.state.log == ["short", "ask: 1", "shaky", "last"]


def test_several_deferred_nodes_run_together_and_what_follows_them_follows() -> None:
    one, two = stop("one", defer=True), stop("two", defer=True)
    a, b, after = stop("a"), stop("b"), stop("after")
    graph = kept(START >> [a, b], a >> [one, two], b >> after, after >> END, one >> END, two >> END)
    assert graph.invoke({}, thread_id="t").state.log == ["a", "b", "after", "one", "two"]


def test_a_loop_may_come_to_a_deferred_node_again() -> None:
    count = node(name="count")(lambda state: {"count": state.count + 1})
    last = node(name="last", defer=True)(lambda state: {"log": [f"last {state.count}"]})
    graph = Graph(Trail).flow(
        START >> count, count >> last, last >> when(lambda state: state.count < 2, count)
    )
    assert graph.invoke({}).state.log == ["last 1", "last 2"]


def test_a_command_is_held_back_and_a_send_is_not() -> None:
    last = node(name="last", defer=True)(lambda state: {"log": [f"last {state.count}"]})
    other = stop("other")

    @node(goto=[last, other])
    def lead(state: Trail) -> Command:
        return Command(goto=[last, Send(last, {"count": 7}), other])

    graph = Graph(Trail).flow(START >> lead, other >> END, last >> END)
    assert graph.invoke({}).state.log == ["last 7", "other", "last 0"]


def test_a_join_may_lead_to_a_deferred_node() -> None:
    a, b, c, d = stop("a"), stop("b"), stop("c"), stop("d")
    last = stop("last", defer=True)
    graph = kept(START >> [a, b, c], join(a, b) >> last, c >> d, d >> END, last >> END)
    assert graph.invoke({}, thread_id="t").state.log == ["a", "b", "c", "d", "last"]
    [end] = [event for event in history(graph) if isinstance(event, RunFinished)]
    assert end.open_joins == ()


def test_a_map_is_reduced_once_by_a_deferred_node_however_long_each_way_is() -> None:
    total = node(name="total", defer=True)(lambda state: {"count": len(state.log)})
    again = stop("again")
    measure = node(name="measure")(lambda state: {"log": [str(state.count)]})
    split = node(name="split", goto=[measure])(
        lambda state: Command(goto=[Send(measure, {"count": at}) for at in range(3)])
    )
    graph = Graph(Trail).flow(
        START >> split, measure >> [again, total], again >> total, total >> END
    )
    assert graph.invoke({}).state == Trail(log=["0", "1", "2", "again"], count=4)


def test_start_leads_to_no_deferred_node() -> None:
    with pytest.raises(GraphConfigError, match="'a' is deferred, and START leads to it"):
        Graph(Trail).flow(START >> stop("a", defer=True) >> END)


def test_the_edges_to_a_deferred_node_are_marked_as_taken() -> None:
    a, b, last = stop("a"), stop("b"), stop("last", defer=True)
    graph = kept(START >> a, a >> [b, last], b >> END, last >> END)
    session = open_session(graph, "t")
    session.start({}).result()
    assert ("a", "last") in session.snapshot.taken


# --- routers by name -----------------------------------------------------------------------------


def choose(state: Trail) -> Literal["a", "b", "__end__"]:
    return {1: "a", 2: "b"}.get(state.count, "__end__")  # type: ignore[return-value]


def test_a_router_that_is_annotated_with_names_needs_no_mapping() -> None:
    lead, a, b = stop("lead"), stop("a"), stop("b")
    graph = Graph(Trail).flow(START >> lead, lead >> branch(choose), a >> END, b >> END)
    logs = [graph.invoke({"count": count}).state.log for count in (1, 2, 3)]
    assert logs == [["lead", "a"], ["lead", "b"], ["lead"]]
    edges = {(edge.target, edge.label) for edge in graph.shape.edges if edge.kind == "branch"}
    assert edges == {("a", "a"), ("b", "b"), ("__end__", "__end__")}
    assert graph.branch_edges["lead"].mapping == {"a": a, "b": b, "__end__": END}


def test_a_name_of_no_node_is_a_problem_of_the_flow() -> None:
    lead, a = stop("lead"), stop("a")
    with pytest.raises(GraphConfigError, match="after 'lead' may return 'b', which is no node"):
        Graph(Trail).flow(START >> lead, lead >> branch(choose), a >> END)


def number(state: Trail) -> Literal[1, 2]:
    return 1


@pytest.mark.parametrize("router", [lambda state: "a", number, str])
def test_a_router_without_names_and_without_a_mapping_is_refused(router: Any) -> None:
    with pytest.raises(GraphConfigError, match="branch needs a mapping"):
        branch(router)


# --- going somewhere -----------------------------------------------------------------------------


def test_an_edit_may_say_what_runs_next_and_the_event_says_so() -> None:
    graph = chain(asker("ask"), stop("b"), stop("c"))
    graph.invoke({}, thread_id="t")
    graph.sync.update_state("t", {"log": ["edited"]}, goto="c")
    edited = history(graph)[-1]
    assert isinstance(edited, StateEdited)
    assert [task.node for task in edited.tasks or ()] == ["c"]
    position = graph.sync.position("t")
    assert (position.next, dict(position.pending)) == (("c",), {})
    assert graph.invoke(None, thread_id="t").state.log == ["edited", "c"]
    assert graph.sync.pending("t") == {}


@pytest.mark.parametrize("at", ["new", "completed", "failed", "before", "after"])
def test_it_goes_there_from_wherever_the_thread_stands(at: str) -> None:
    graph = chain(failing("a", *([ValueError("x")] if at == "failed" else [])), stop("b"))
    breaks = {"before": {"interrupt_before": ["b"]}, "after": {"interrupt_after": ["a"]}}
    if at == "failed":
        with pytest.raises(ValueError, match="x"):
            graph.invoke({}, thread_id="t")
    elif at != "new":
        graph.invoke({}, thread_id="t", **breaks.get(at, {}))
    graph.sync.update_state("t", {"log": ["|"]}, goto="b", create=True)
    log = graph.invoke(None, thread_id="t", interrupt_before=[], interrupt_after=[]).state.log
    assert log[log.index("|") :] == ["|", "b"]


def test_several_nodes_and_sends_may_be_gone_to_and_end_ends_the_turn() -> None:
    a, b = stop("a"), node(name="b")(lambda state: {"log": [f"b {state.count}"]})
    graph = chain(a, b)
    graph.invoke({}, thread_id="t")
    graph.sync.update_state("t", {}, goto=[a, Send(b, {"count": 7})])
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b 0", "a", "b 7", "b 0"]
    graph.sync.update_state("t", {}, goto="a")
    graph.sync.update_state("t", {}, goto=END)
    assert graph.sync.position("t").status == "completed"


@pytest.mark.parametrize("breaks", [[], ["a"]])
def test_a_turn_that_was_ended_before_its_first_superstep_is_completed(breaks: list[str]) -> None:
    graph = chain(stop("a"))
    if breaks:
        graph.invoke({}, thread_id="t", interrupt_before=breaks)
    graph.sync.update_state("t", {}, goto=END, create=True)
    position = graph.sync.position("t")
    assert (position.status, position.next, position.step) == ("completed", (), 0)
    with pytest.raises(ResumeError, match="has finished"):
        graph.invoke(None, thread_id="t")
    assert graph.invoke({}, thread_id="t", interrupt_before=[]).state.log == ["a"]


def test_going_where_there_is_nothing_is_refused_and_changes_nothing() -> None:
    graph = chain(asker("a"))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    for bad in ("nowhere", 3, None.__class__):
        with pytest.raises(ResumeError, match=r"There is no node .* to go to; nodes are 'a'"):
            graph.sync.update_state("t", {}, goto=bad)
    with pytest.raises(StateUpdateError):
        graph.sync.update_state("t", {"x": 1}, goto="a")
    assert history(graph) == before


def test_what_finished_beside_the_question_is_dropped_with_the_superstep() -> None:
    graph = fan(stop("a"), asker("ask"), stop("c"))
    graph.invoke({}, thread_id="t")
    graph.sync.update_state("t", {"log": ["edited"]}, goto="c")
    assert graph.invoke(None, thread_id="t").state.log == ["edited", "c"]


def test_a_session_goes_there_and_shows_it() -> None:
    graph = chain(asker("ask"), stop("b"))
    session = open_session(graph, "t")
    session.start({}).result()
    session.edit({"count": 3}, goto="b")
    assert (session.next, session.status) == (("b",), "stopped")
    assert session.snapshot.log[-1].text.endswith("edited count and went to b")
    session.proceed().result()
    assert session.marks["b"] == "done"
    assert session.status == "completed"


def test_another_engine_is_not_told_where_to_go_nor_which_task_to_run() -> None:
    with pytest.raises(ResumeError, match="leave goto= out"):
        check_edit(Edit({}, goto="a"))
    with pytest.raises(ResumeError, match="leave tasks= out"):
        checked(
            Continue(tasks=("a",)),
            Shape("g", (), (), {}),
            BranchLog("main", StateSchema(dict)),
            "t",
        )


# --- one task ------------------------------------------------------------------------------------


def test_one_task_of_a_superstep_runs_and_the_others_wait() -> None:
    session = open_session(fan(stop("a"), stop("b"), stop("c"), interrupt_before="*"), "t")
    session.start({}).result()
    session.step(task="b").result()
    assert (session.status, session.next) == ("interrupted", ("a", "c"))
    assert session.state["log"] == []
    assert [event.task_id for event in session.history() if isinstance(event, TaskFinished)] == [
        "b"
    ]
    session.step(task="c").result()
    assert session.next == ("a",)
    session.step(task="a").result()
    assert session.state["log"] == ["a", "b", "c"]
    assert session.status == "completed"


def test_after_the_last_of_them_the_superstep_is_over_and_the_run_pauses() -> None:
    a, b, c = stop("a"), stop("b"), stop("c")
    graph = kept(START >> [a, b], a >> c, b >> c, c >> END, interrupt_before=["a"])
    session = open_session(graph, "t")
    session.start({}).result()
    session.step(task="b").result()
    session.step(task="a").result()
    assert (session.next, session.state["log"]) == (("c",), ["a", "b"])
    reasons = [event.reason for event in session.history() if isinstance(event, RunPaused)]
    assert reasons == ["before", "step", "step"]
    session.proceed().result()
    assert session.state["log"] == ["a", "b", "c"]


def test_a_task_that_asks_leaves_its_siblings_where_they_are() -> None:
    session = open_session(fan(asker("a"), stop("b"), interrupt_before="*"), "t")
    session.start({}).result()
    session.step(task="a").result()
    assert (list(session.pending), session.next) == (["a:ok"], ("a", "b"))
    session.step(task="b").result()
    assert list(session.pending) == ["a:ok"]
    session.resume({"a:ok": 1}).result()
    assert session.state["log"] == ["a: 1", "b"]


def test_one_task_of_several_of_a_node_is_named_by_its_id() -> None:
    item = node(name="item")(lambda state: {"log": [str(state.count)]})
    split = node(name="split", goto=[item])(
        lambda state: Command(goto=[Send(item, {"count": at}) for at in range(2)])
    )
    session = open_session(kept(START >> split, item >> END, interrupt_before=["item"]), "t")
    session.start({}).result()
    session.step(task="item[1]").result()
    assert session.snapshot.position.unfinished[0].task_id == "item"
    session.proceed().result()
    assert session.state["log"] == ["0", "1"]


def test_a_task_that_is_not_about_to_run_is_refused_by_name() -> None:
    session = open_session(fan(stop("a"), stop("b"), interrupt_before="*"), "t")
    session.start({}).result()
    with pytest.raises(ResumeError, match="Task 'c' is not about to run; those that are: 'a', 'b'"):
        session.step(task="c").result()
    assert session.next == ("a", "b")


def test_one_of_two_sub_graphs_may_be_run_alone() -> None:
    inner = Graph(Trail, name="inner").flow(START >> asker("x") >> END)
    graph = fan(
        subgraph("one", inner, share=["log"]),
        subgraph("two", inner, share=["log"]),
        interrupt_before="*",
    )
    session = open_session(graph, "t")
    session.start({}).result()
    session.step(task="two").result()
    assert list(session.pending) == ["two/x:ok"]
    session.proceed().result()
    assert list(session.pending) == ["one/x:ok", "two/x:ok"]
