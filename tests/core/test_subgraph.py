"""A graph as a node: wiring, its thread, its questions, its events, its breakpoints."""

from __future__ import annotations

import asyncio
from typing import Any, Literal, TypedDict

import pytest

from nbgraph import (
    END,
    START,
    Command,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    Send,
    interrupt,
    node,
    subgraph,
    when,
)
from nbgraph.core.events import ChildPlace, TaskFinished
from nbgraph.core.live import ChildEvent, TaskStarted
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    GraphConfigError,
    GraphExecutionError,
    ResumeError,
)
from tests.core.graphs import Trail, asker, chain, failing, fan, history, stop, types


def inner(*nodes: Any, **options: Any) -> Graph:
    """Return a graph that can be a sub-graph."""
    return chain(*nodes, **{"state_store": None, "name": "inner", **options})


def shared(name: str, *nodes: Any, **options: Any) -> Any:
    """Return a sub-graph that shares the log."""
    return subgraph(name, inner(*nodes), share=["log"], **options)


def counted(name: str, seen: list[str]) -> Any:
    """Return a node that says each time it runs, also to the test."""

    def run(state: Trail) -> dict[str, Any]:
        seen.append(name)
        return {"log": [name]}

    return node(name=name)(run)


class Order(TypedDict, total=False):
    """A state of another type."""

    total: int
    paid: bool


# --- wiring ---------------------------------------------------------------------------------


def test_shared_fields_go_in_and_what_the_child_changed_comes_back_through_the_reducer() -> None:
    def last(state: Trail) -> dict[str, Any]:
        return {"log": [f"saw {state.log}"], "count": 9}

    graph = chain(stop("a"), shared("sub", stop("b"), node(name="last")(last)), stop("c"))
    state = graph.invoke({"count": 1}, thread_id="t").state
    assert state == Trail(log=["a", "b", "saw ['a', 'b']", "c"], count=1)


def test_children_side_by_side_merge_what_they_share() -> None:
    graph = fan(shared("one", stop("a")), shared("two", stop("b")))
    assert graph.invoke({"log": ["0"]}, thread_id="t").state.log == ["0", "a", "b"]


def test_a_shared_field_that_a_child_left_alone_is_not_written() -> None:
    graph = fan(
        subgraph("one", inner(stop("a")), share=["log", "count"]),
        subgraph("two", inner(stop("b")), share=["log", "count"]),
    )
    assert graph.invoke({"count": 3}, thread_id="t").state == Trail(log=["a", "b"], count=3)


def test_an_edit_of_the_parent_while_its_child_waits_stands_beside_what_the_child_changed() -> None:
    graph = chain(subgraph("sub", inner(stop("a"), asker("ask")), share=["log", "count"]))
    graph.invoke({}, thread_id="t")
    graph.sync.update_state("t", {"log": ["edited"], "count": 5})
    state = graph.invoke(resume=Resume("yes"), thread_id="t").state
    assert state == Trail(log=["edited", "a", "ask: 'yes'"], count=5)


def test_state_in_and_state_out_translate_between_states() -> None:
    def pay(state: Order) -> Order:
        return {"paid": state["total"] > 3}

    child = Graph(Order, name="order").flow(START >> node(pay) >> END)
    sub = subgraph(
        "sub",
        child,
        state_in=lambda state: {"total": state.count + 1},
        state_out=lambda order: {"log": [f"{order['total']} {order['paid']}"]},
    )
    assert chain(sub).invoke({"count": 3}, thread_id="t").state.log == ["4 True"]


@pytest.mark.parametrize(
    "wiring",
    [
        {},
        {"share": ["log"], "state_in": dict, "state_out": dict},
        {"state_in": dict},
        {"state_out": dict},
    ],
)
def test_a_sub_graph_has_exactly_one_wiring(wiring: Any) -> None:
    with pytest.raises(GraphConfigError, match="pass one of them"):
        subgraph("sub", inner(stop("a")), **wiring)


@pytest.mark.parametrize("share", [["log", "nope"], [], "log"])
def test_what_is_shared_are_fields_that_the_child_has(share: Any) -> None:
    with pytest.raises(GraphConfigError, match="share"):
        subgraph("sub", inner(stop("a")), share=share)


def test_a_child_has_a_flow_and_no_store_of_its_own() -> None:
    with pytest.raises(GraphConfigError, match="kept in its parent's"):
        subgraph("sub", chain(stop("a")), share=["log"])
    with pytest.raises(GraphConfigError, match="no flow yet"):
        subgraph("sub", Graph(Trail), share=["log"])
    with pytest.raises(GraphConfigError, match="'fresh' or 'stable'"):
        subgraph("sub", inner(stop("a")), share=["log"], child_thread="new")  # type: ignore[arg-type]


def test_what_is_shared_are_fields_that_the_parent_has() -> None:
    sub = subgraph("sub", inner(stop("a")), share=["log"])
    with pytest.raises(GraphConfigError, match="shares 'log'"):
        Graph(Order).flow(START >> sub >> END)


# --- without a store ------------------------------------------------------------------------


def test_a_child_that_does_not_ask_runs_without_a_store_and_with_the_parents_context() -> None:
    def greet(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        return {"log": [ctx.context]}

    graph = chain(shared("sub", node(greet)), state_store=None)
    assert graph.invoke({}, context="hello").state.log == ["hello"]


def test_a_child_that_asks_needs_a_store() -> None:
    graph = chain(shared("sub", asker("ask")), state_store=None)
    with pytest.raises(GraphExecutionError, match="a pause needs a state store"):
        graph.invoke({})


def test_a_stable_child_needs_a_store() -> None:
    graph = chain(shared("sub", stop("a"), child_thread="stable"), state_store=None)
    with pytest.raises(GraphExecutionError, match="needs a state store"):
        graph.invoke({})


# --- its thread -----------------------------------------------------------------------------


def test_a_fresh_child_is_a_hidden_thread_named_after_its_plan_and_deleted_with_its_root() -> None:
    store = InMemoryStateStore()
    graph = chain(stop("a"), shared("sub", stop("b")), state_store=store)
    graph.invoke({}, thread_id="t")
    child = inner(stop("b"))
    place = ChildPlace(thread_id="t:sub:3", branch_id="main", sequence=4, parent_branch_id="main")
    assert [event.child for event in history(graph) if isinstance(event, TaskFinished)] == [
        None,
        place,
    ]
    events = child.sync.history("t:sub:3", state_store=store)
    assert [event.type for event in events] == [
        "run_started",
        "task_finished",
        "superstep_finished",
        "run_finished",
    ]
    sync = Graph(Trail, state_store=store).flow(START >> stop("a") >> END).sync
    assert sync.exists("t:sub:3")
    assert [record.thread_id for record in asyncio.run(store.threads())] == ["t"]
    asyncio.run(store.delete("t"))
    assert not sync.exists("t:sub:3")


def test_each_visit_of_a_fresh_child_is_a_thread_of_its_own_and_of_a_stable_one_a_turn() -> None:
    def note(state: Trail) -> dict[str, Any]:
        return {"count": state.count + 1, "log": [f"{state.count}"]}

    for kind, expected in (("fresh", ["0", "0"]), ("stable", ["0", "1"])):
        sub = subgraph("sub", inner(node(note)), share=["log"], child_thread=kind)  # type: ignore[arg-type]
        graph = chain(sub)
        graph.invoke({}, thread_id="t")
        assert graph.invoke({}, thread_id="t").state.log == expected


def test_tasks_of_one_node_have_children_of_their_own() -> None:
    sub = shared("sub", asker("ask"))
    graph = sent_twice(sub)
    result = graph.invoke({}, thread_id="t")
    assert list(result.interrupts) == ["sub/ask:ok", "sub[1]/ask:ok"]
    answers = {"sub/ask:ok": 1, "sub[1]/ask:ok": 2}
    state = graph.invoke(resume=Resume(answers=answers), thread_id="t").state
    assert state.log == ["ask: 1", "ask: 2"]


def sent_twice(sub: Any) -> Graph:
    """Return a graph that runs a node twice in one superstep."""
    sends = [Send(sub, {"count": at}) for at in range(2)]
    spread = node(name="spread", goto=[sub])(lambda state: Command(goto=sends))
    return Graph(Trail, state_store=InMemoryStateStore()).flow(START >> spread, sub >> END)


def test_a_stable_child_refuses_to_run_twice_at_once() -> None:
    sub = shared("sub", stop("a"), child_thread="stable")
    with pytest.raises(GraphExecutionError, match="need it at once"):
        sent_twice(sub).invoke({}, thread_id="t")


# --- questions ------------------------------------------------------------------------------


def test_the_childs_questions_are_the_roots_and_nobody_elses() -> None:
    store = InMemoryStateStore()
    graph = chain(shared("outer", shared("sub", asker("ask", message="well?"))), state_store=store)
    result = graph.invoke({}, thread_id="t")
    assert result.status == "interrupted"
    (question,) = result.interrupts.values()
    assert (question.key, question.id, question.task_id) == ("outer/sub/ask:ok", "ok", "outer")
    assert (question.node, question.message, question.asked) == ("outer/sub/ask", "well?", 2)
    records = asyncio.run(store.pending())
    assert [(record.thread_id, record.interrupt) for record in records] == [("t", question)]
    assert types(graph) == ["run_started", "task_interrupted", "run_paused"]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_only_what_has_not_finished_runs_after_an_answer_at_any_depth(depth: int) -> None:
    seen: list[str] = []
    sub: Any = shared("n0", counted("before", seen), asker("ask"), counted("after", seen))
    for level in range(1, depth):
        sub = shared(f"n{level}", counted(f"before{level}", seen), sub)
    graph = chain(sub)
    (key,) = graph.invoke({}, thread_id="t").interrupts
    assert key == "/".join(f"n{level}" for level in reversed(range(depth))) + "/ask:ok"
    state = graph.invoke(resume=Resume("yes"), thread_id="t").state
    outer = [f"before{level}" for level in reversed(range(1, depth))]
    assert state.log == [*outer, "before", "ask: 'yes'", "after"]
    assert seen == [*outer, "before", "after"]


def test_finished_siblings_inside_a_child_do_not_run_again() -> None:
    seen: list[str] = []
    nodes = [counted(f"n{at}", seen) for at in range(4)]
    child = fan(*nodes, asker("ask"), state_store=None)
    graph = chain(subgraph("sub", child, share=["log"]))
    graph.invoke({}, thread_id="t")
    assert sorted(seen) == ["n0", "n1", "n2", "n3"]
    state = graph.invoke(resume=Resume("yes"), thread_id="t").state
    assert state.log == ["n0", "n1", "n2", "n3", "ask: 'yes'"]
    assert len(seen) == 4


def asking_again() -> Graph:
    """Return a graph that asks twice under one key."""

    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt("more?", id="ok")], "count": state.count + 1}

    again = node(ask)
    graph = Graph(Trail, name="inner")
    return graph.flow(START >> again, again >> when(lambda state: state.count < 2, again))


def test_a_child_that_asks_again_under_the_same_key_is_answered_anew() -> None:
    graph = chain(subgraph("sub", asking_again(), share=["log"]))
    first = graph.invoke({}, thread_id="t").interrupts["sub/ask:ok"]
    second = graph.invoke(resume=Resume("a"), thread_id="t").interrupts["sub/ask:ok"]
    assert second.asked > first.asked
    stale = Resume(answers={"sub/ask:ok": "x"}, asked={"sub/ask:ok": first.asked})
    before = history(graph)
    with pytest.raises(AlreadyAnsweredError):
        graph.invoke(resume=stale, thread_id="t")
    assert history(graph) == before
    assert graph.invoke(resume=Resume("b"), thread_id="t").state.log == ["a", "b"]


def test_a_bad_answer_to_a_childs_question_is_refused_at_the_root_by_the_questions_type() -> None:
    graph = chain(shared("outer", shared("sub", asker("ask", response_schema=Literal["a", "b"]))))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(AnswerError):
        graph.invoke(resume=Resume("c"), thread_id="t")
    assert history(graph) == before
    state = graph.invoke(resume=Resume("b"), thread_id="t").state
    assert state.log == ["ask: 'b'"]


def test_some_questions_of_a_child_can_be_answered_before_the_others() -> None:
    child = fan(asker("one"), asker("two"), state_store=None)
    graph = chain(subgraph("sub", child, share=["log"]))
    graph.invoke({}, thread_id="t")
    first = Resume(answers={"sub/two:ok": 2}, partial=True)
    assert list(graph.invoke(resume=first, thread_id="t").interrupts) == ["sub/one:ok"]
    state = graph.invoke(resume=Resume(1), thread_id="t").state
    assert state.log == ["one: 1", "two: 2"]


# --- failure --------------------------------------------------------------------------------


def test_a_child_that_fails_fails_its_task_and_goes_on_where_it_failed() -> None:
    seen: list[str] = []
    graph = chain(shared("sub", counted("a", seen), failing("b", ValueError("no"))))
    with pytest.raises(ValueError, match="no"):
        graph.invoke({}, thread_id="t")
    assert types(graph) == ["run_started", "task_failed", "run_failed"]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]
    assert seen == ["a"]


# --- events ---------------------------------------------------------------------------------


def test_the_childs_events_come_up_with_their_path_while_it_runs() -> None:
    def say(state: Trail, ctx: NodeContext) -> None:
        ctx.emit("hello")

    graph = chain(shared("outer", shared("sub", node(say))))
    told = [event for event in graph.stream({}, thread_id="t") if isinstance(event, ChildEvent)]
    found = [(event.path, type(event.event).__name__) for event in told]
    assert found[0] == ("outer", "RunStarted")
    assert [kind for path, kind in found if path == "outer/sub"] == [
        "RunStarted",
        "TaskStarted",
        "TaskEmitted",
        "TaskFinished",
        "SuperstepFinished",
        "RunFinished",
    ]
    assert found[-1] == ("outer", "RunFinished")
    assert {event.task_id for event in told} == {"outer", "outer/sub"}
    assert "child" not in "".join(types(graph))


def test_a_childs_last_event_comes_before_its_task_ends() -> None:
    graph = chain(shared("sub", stop("a")))
    events = list(graph.stream({}, thread_id="t"))
    kinds = [getattr(event, "type", type(event).__name__) for event in events]
    assert kinds[-3:] == ["task_finished", "superstep_finished", "run_finished"]
    assert isinstance(events[1], TaskStarted)
    assert kinds[2:-3] == ["ChildEvent"] * 5


# --- breakpoints ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["sub/b", "sub/*"])
def test_a_breakpoint_inside_a_child_pauses_the_root_and_is_passed_once(path: str) -> None:
    graph = chain(shared("sub", stop("a"), stop("b")))
    result = graph.invoke({}, thread_id="t", interrupt_before=[path])
    while graph.sync.position("t").next != ("sub/b",):
        assert graph.sync.position("t").next == ("sub/a",)
        result = graph.invoke(None, thread_id="t")
    assert (result.status, result.interrupts, result.state.log) == ("interrupted", {}, [])
    with pytest.raises(ResumeError, match="breakpoint"):
        graph.invoke(resume=Resume(1), thread_id="t")
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]
    assert types(graph)[:5] == [
        "breakpoints_set",
        "run_started",
        "task_interrupted",
        "run_paused",
        *(["task_finished"] if path == "sub/b" else ["task_interrupted"]),
    ]


def test_a_breakpoint_after_a_node_two_levels_down_pauses_the_root() -> None:
    graph = chain(
        shared("outer", shared("sub", stop("a"), stop("b"))),
        interrupt_after=["outer/sub/a"],
        interrupt_before=["outer"],
    )
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    assert graph.sync.position("t").next == ("outer",)
    assert graph.invoke(None, thread_id="t").status == "interrupted"
    position = graph.sync.position("t")
    assert (position.paused, position.next) == ("after", ("outer/sub",))
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


def test_the_childs_own_breakpoints_hold_beside_the_parents() -> None:
    child = inner(stop("a"), stop("b"), interrupt_before=["a"])
    graph = chain(subgraph("sub", child, share=["log"]))
    graph.invoke({}, thread_id="t", interrupt_before=["sub/b"])
    places = [graph.sync.position("t").next]
    graph.invoke(None, thread_id="t")
    places.append(graph.sync.position("t").next)
    assert places == [("sub/a",), ("sub/b",)]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


@pytest.mark.parametrize("path", ["sub/nope", "nope/a", "a", "sub/", "sub/a/b"])
def test_a_breakpoint_at_a_path_that_is_not_there_is_refused(path: str) -> None:
    graph = chain(shared("sub", stop("a")))
    with pytest.raises(ResumeError, match="no node"):
        graph.invoke({}, thread_id="t", interrupt_before=[path])
    assert history(graph) == []
