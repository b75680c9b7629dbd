"""A graph as a node: what its runs take over from the graph around it, and how far they go."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nbgraph import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    Middleware,
    Node,
    NodeContext,
    Resume,
    Session,
    interrupt,
    join,
    node,
    open_session,
    subgraph,
    when,
)
from nbgraph.core.events import RunPaused, TaskFinished
from nbgraph.core.live import ChildEvent
from nbgraph.errors import GraphConfigError, ResumeError
from nbgraph.middleware import GraphMiddlewareContext, NodeMiddlewareContext
from tests.core.graphs import Trail, asker, chain, failing, history, stop, types


def inside(name: str, *nodes: Node, share: Any = ("log",), **options: Any) -> Node:
    """Return a sub-graph of nodes in a row."""
    inner = chain(*nodes, **{"state_store": None, "name": f"{name}-graph", **options})
    return subgraph(name, inner, share=list(share))


# --- the run it belongs to ----------------------------------------------------------------------


def test_a_run_inside_knows_the_outermost_graphs_run() -> None:
    seen: dict[str, tuple[str, str]] = {}

    class Watch(Middleware):
        def before_graph(self, ctx: GraphMiddlewareContext) -> None:
            seen[ctx.graph_name] = ctx.run_id, ctx.root_run_id

        def before_node(self, ctx: NodeMiddlewareContext) -> None:
            seen[ctx.node_name] = ctx.run_id, ctx.root_run_id

    @node
    def look(state: Trail, ctx: NodeContext) -> None:
        seen["ctx"] = ctx.run_id, ctx.root_run_id

    deep = inside("deep", look, middleware=[Watch()])
    chain(inside("outer", deep), middleware=[Watch()], name="root").invoke({}, thread_id="t")
    root, _ = seen["root"]
    assert {run[1] for run in seen.values()} == {root}
    assert seen["ctx"] == seen["deep-graph"] == seen["look"]
    assert seen["ctx"][0] != root


# --- its questions are answered in code -----------------------------------------------------------


class Answers(Middleware):
    """Answers what it knows, and keeps what it was asked."""

    def __init__(self, name: str, **known: Any) -> None:
        self.name = name
        self.known = known
        self.asked: list[tuple[str, str, Any]] = []

    def on_interrupt(self, ctx: NodeMiddlewareContext, payload: Any) -> Any:
        assert ctx.interrupt is not None
        self.asked.append((ctx.graph_name, ctx.interrupt.key, payload))
        return self.known.get(ctx.interrupt.id)


class AnswersLater(Answers):
    """The same, as an async hook."""

    async def on_interrupt(self, ctx: NodeMiddlewareContext, payload: Any) -> Any:
        return super().on_interrupt(ctx, payload)


async def wait_for(name: str) -> Any:
    return interrupt(f"{name}?", id=name)


@pytest.mark.parametrize("kind", [Answers, AnswersLater])
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("store", [None, InMemoryStateStore()])
def test_the_parents_middleware_is_asked_after_the_childs_own(
    kind: type[Answers], is_async: bool, store: Any
) -> None:
    def run(state: Trail) -> dict[str, Any]:
        return {"log": [f"{interrupt('a?', id='a')} {interrupt('b?', id='b')}"]}

    async def run_async(state: Trail) -> dict[str, Any]:
        return {"log": [f"{await wait_for('a')} {await wait_for('b')}"]}

    ask = node(name="ask")(run_async if is_async else run)
    own, middle, outer = kind("own", a=1), kind("middle"), kind("outer", b=2)
    deep = inside("deep", ask, middleware=[own])
    graph = chain(
        inside("sub", deep, middleware=[middle]),
        middleware=[outer],
        state_store=store,
        name="root",
    )
    thread_id = f"{kind.__name__}-{is_async}" if store else None
    assert graph.invoke({}, thread_id=thread_id).state.log == ["1 2"]
    assert own.asked[0] == ("deep-graph", "ask:a", "a?")
    assert {*middle.asked} == {("sub-graph", "deep/ask:b", "b?")}
    assert {*outer.asked} == {("root", "sub/deep/ask:b", "b?")}


def test_a_question_inside_that_no_middleware_answers_is_asked_of_a_person() -> None:
    outer = Answers("outer", ok="yes")
    graph = chain(inside("sub", asker("a"), asker("b", id="other")), middleware=[outer])
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["sub/b:other"]
    done = graph.invoke(resume=Resume("mine"), thread_id="t")
    assert done.state.log == ["a: 'yes'", "b: 'mine'"]


def test_a_bad_answer_of_the_parents_middleware_is_the_tasks_error() -> None:
    graph = chain(
        inside("sub", asker("a", response_schema=int)), middleware=[Answers("outer", ok="many")]
    )
    with pytest.raises(ResumeError, match="a:ok"):
        graph.invoke({}, thread_id="t")


# --- how far it runs ------------------------------------------------------------------------------


def paused(session: Session) -> tuple[str, tuple[str, ...]]:
    last = session.history()[-1]
    return (last.reason if isinstance(last, RunPaused) else last.type), session.next


def test_a_run_until_a_path_pauses_before_the_node_inside() -> None:
    deep = inside("deep", stop("x"), stop("y"))
    graph = chain(stop("a"), inside("sub", stop("b"), deep, stop("c")), stop("d"))
    session = open_session(graph, "t")
    session.start({})
    session.settle()
    session = open_session(graph, "u")
    session.breakpoints(before=["a"])
    session.start({}).result()
    for path in ("sub/b", "sub/deep/y", "sub/c", "d"):
        session.run_until(path).result()
        assert paused(session) == ("until", (path,))
    assert session.proceed().result().state.log == ["a", "b", "x", "y", "c", "d"]


def test_a_run_until_a_path_runs_its_first_node_where_it_stands_on_it() -> None:
    graph = chain(inside("sub", stop("a"), stop("b")), stop("c"))
    session = open_session(graph, "t")
    session.breakpoints(before=["sub/a"])
    session.start({}).result()
    assert session.next == ("sub/a",)
    assert session.run_until("sub/a").result().state.log == ["a", "b", "c"]


@pytest.mark.parametrize("path", ["nowhere", "sub", "sub/nowhere", "a"])
def test_a_run_until_a_node_that_is_not_there_is_refused_and_changes_nothing(path: str) -> None:
    graph = chain(inside("sub", stop("a")), interrupt_before=["sub"])
    graph.invoke({}, thread_id="t")
    before = history(graph)
    session = open_session(graph, "t")
    if path == "sub":
        assert session.run_until(path).result().status == "completed"
        return
    with pytest.raises(ResumeError, match=path):
        session.run_until(path)
    assert history(graph) == before


def test_the_predicate_of_a_child_pauses_the_root_and_needs_a_store() -> None:
    sub = inside("sub", stop("a"), stop("b"), break_when=lambda state: state.log == ["a"])
    graph = chain(sub, stop("c"))
    result = graph.invoke({}, thread_id="t")
    assert (result.status, graph.sync.position("t").next) == ("interrupted", ("sub/b",))
    assert graph.invoke(thread_id="t").state.log == ["a", "b", "c"]
    with pytest.raises(GraphConfigError, match="has breakpoints"):
        chain(sub, state_store=None).invoke({})


# --- what is seen of it after a restart -----------------------------------------------------------


def seen(session: Session, *paths: str) -> list[str]:
    return [session.marks[path] for path in paths]


PATHS = ("sub", "sub/a", "sub/deep", "sub/deep/x", "sub/deep/y", "sub/b")


def test_marks_inside_a_child_are_the_same_for_whoever_opens_the_thread_later() -> None:
    graph = chain(inside("sub", stop("a"), inside("deep", stop("x"), asker("y")), stop("b")))
    first = open_session(graph, "t")
    first.start({}).result()
    waiting = ["waiting", "done", "waiting", "done", "waiting", "idle"]
    assert seen(first, *PATHS) == seen(open_session(graph, "t"), *PATHS) == waiting
    first.resume({"sub/deep/y:ok": 1}).result()
    assert seen(first, *PATHS) == seen(open_session(graph, "t"), *PATHS) == ["done"] * 6


def test_marks_inside_a_child_that_failed_are_found_again() -> None:
    sub = inside("sub", stop("a"), failing("b", ValueError("no"), ValueError("no")), stop("c"))
    graph = chain(sub)
    with pytest.raises(ValueError, match="no"):
        graph.invoke({}, thread_id="t")
    paths = ("sub", "sub/a", "sub/b", "sub/c")
    assert seen(open_session(graph, "t"), *paths) == ["failed", "done", "failed", "idle"]


def test_marks_inside_a_child_that_never_reported_are_found_again() -> None:
    @node
    async def wait(state: Trail) -> None:
        await asyncio.Event().wait()

    graph = chain(inside("sub", stop("a"), wait))
    stream = graph.stream({}, thread_id="t")
    for event in stream:
        if isinstance(event, ChildEvent) and isinstance(event.event, TaskFinished):
            break
    stream.close()
    assert types(graph) == ["run_started"]
    assert seen(open_session(graph, "t"), "sub", "sub/a", "sub/wait") == ["idle", "done", "idle"]


def test_a_turn_that_begins_anew_has_no_marks_of_an_earlier_one() -> None:
    sub = inside("sub", stop("a"))
    graph = chain(asker("ask"), sub)
    graph.invoke({}, thread_id="t")
    graph.invoke(resume=Resume(1), thread_id="t")
    graph.invoke({}, thread_id="t")
    assert seen(open_session(graph, "t"), "sub", "sub/a") == ["idle", "idle"]


def test_edges_inside_a_child_are_taken_and_branches_passed_over() -> None:
    a, b, c, d = stop("a"), stop("b"), stop("c"), stop("d")
    inner = Graph(Trail, name="inner").flow(
        START >> [a, b], join(a, b) >> c, c >> when(lambda state: state.count > 0, d), d >> END
    )
    graph = chain(subgraph("sub", inner, share=["log"]), asker("ask"))
    first = open_session(graph, "t")
    first.start({}).result()
    taken = {("sub", "sub/a"), ("sub", "sub/b"), ("sub/a", "sub/c"), ("sub/b", "sub/c")}
    for session in (first, open_session(graph, "t")):
        assert session.snapshot.taken == {("__start__", "sub"), ("sub", "ask"), *taken}
        assert seen(session, "sub/c", "sub/d") == ["done", "skipped"]


def test_edges_inside_a_child_two_levels_down_are_those_of_its_last_visit() -> None:
    x, few, many = stop("x"), stop("few"), stop("many")
    deep = Graph(Trail, name="deep").flow(
        START >> x,
        x >> when(lambda state: state.count < 2, few, otherwise=many),
        few >> END,
        many >> END,
    )
    count = node(name="count")(lambda state: {"count": state.count + 1})
    below = subgraph("deep", deep, share=["log", "count"])
    sub = Graph(Trail, name="sub").flow(
        START >> count >> below, below >> when(lambda state: state.count < 2, count)
    )
    graph = chain(subgraph("sub", sub, share=["log"]))
    session = open_session(graph, "t")
    session.start({}).result()
    for each in (session, open_session(graph, "t")):
        inside = {edge for edge in each.snapshot.taken if edge[1].startswith("sub/deep/")}
        assert inside == {("sub/deep", "sub/deep/x"), ("sub/deep/x", "sub/deep/many")}
        assert seen(each, "sub/deep/few", "sub/deep/many") == ["skipped", "done"]


def test_a_way_into_a_child_that_somebody_went_to_is_found_again() -> None:
    graph = chain(stop("a"), inside("sub", stop("x"), asker("y")), stop("b"))
    session = open_session(graph, "t")
    session.breakpoints(before=["a"])
    session.start({}).result()
    session.edit({}, goto="sub")
    session.proceed().result()
    for each in (session, open_session(graph, "t")):
        assert ("sub/x", "sub/y") in each.snapshot.taken
        assert seen(each, "sub", "sub/x", "sub/y") == ["waiting", "done", "waiting"]


def test_a_child_whose_thread_is_gone_leaves_its_marks_idle() -> None:
    store = InMemoryStateStore()
    graph = chain(inside("sub", stop("a")), state_store=store)
    graph.invoke({}, thread_id="t")
    asyncio.run(store.delete("t:sub:1"))
    assert seen(open_session(graph, "t"), "sub", "sub/a") == ["done", "idle"]
