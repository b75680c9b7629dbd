"""A graph that was redefined under its stored threads, and `migrate=`."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    Send,
    add,
    interrupt,
    join,
    node,
    open_session,
)
from nbgraph.errors import GraphConfigError, RedefinedGraphError, ResumeError, StateStoreError
from tests.core.graphs import Trail, asker, chain, failing, history, stop


class Old(BaseState):
    title: str = "t"
    lines: Annotated[list[str], add] = Field(default_factory=list)
    unused: int = 3


class New(BaseState):
    heading: str = "h"
    rows: Annotated[list[str], add] = Field(default_factory=list)


FIELDS = {"title": "heading", "lines": "rows", "unused": None}


def paused(**options: Any) -> tuple[InMemoryStateStore, Graph]:
    """Return a store with thread `t`, which waits in `ask`, and its graph."""
    store = InMemoryStateStore()
    graph = chain(stop("first"), asker("ask"), state_store=store, **options)
    graph.invoke({"count": 1}, thread_id="t")
    return store, graph


def test_a_thread_goes_on_where_its_nodes_and_fields_still_exist() -> None:
    store, _ = paused()
    graph = chain(stop("added"), asker("ask"), stop("more"), state_store=store)
    done = graph.invoke(resume=Resume(1), thread_id="t")
    assert done.state.log == ["first", "ask: 1", "more"]


def test_a_missing_node_is_named_with_migrate_and_nothing_is_recorded() -> None:
    store, old = paused()
    before = history(old)
    graph = chain(stop("first"), asker("question"), state_store=store)
    for call in ({"resume": Resume(1)}, {"initial_state": {}}, {}):
        with pytest.raises(ResumeError, match=r"waits in 'ask', .*migrate=\{'ask': \.\.\.\}"):
            graph.invoke(thread_id="t", **call)
    assert history(graph) == before


def test_a_renamed_node_answers_its_old_question() -> None:
    store, _ = paused()
    graph = chain(stop("first"), asker("question"), state_store=store, migrate={"ask": "question"})
    pending = graph.sync.pending("t")
    assert {key: item.node for key, item in pending.items()} == {"ask:ok": "question"}
    assert graph.sync.position("t").next == ("question",)
    done = graph.invoke(resume=Resume(answers={"ask:ok": "yes"}), thread_id="t")
    assert done.state.log == ["first", "question: 'yes'"]
    assert [event.node for event in history(graph) if event.node] == [
        "first",
        "question",
        "question",
    ]


def test_a_missing_field_is_named_with_migrate() -> None:
    store = InMemoryStateStore()
    here = node(name="n")(lambda state: {"lines": ["a"]})
    Graph(Old, state_store=store).flow(START >> here >> END).invoke({}, thread_id="t")
    graph = Graph(New, state_store=store).flow(START >> here >> END)
    for call in (lambda: graph.sync.load("t"), lambda: graph.invoke({}, thread_id="t")):
        with pytest.raises(RedefinedGraphError, match="keeps 'title', 'lines', 'unused'") as caught:
            call()
        assert caught.value.fields == ("title", "lines", "unused")
        assert isinstance(caught.value, StateStoreError)


def test_renamed_fields_keep_their_values_and_dropped_ones_are_gone() -> None:
    store = InMemoryStateStore()
    write = node(name="n")(lambda state: {"lines": ["a"], "unused": 4})
    Graph(Old, state_store=store).flow(START >> write >> END).invoke({}, thread_id="t")
    again = node(name="n")(lambda state: {"rows": ["b"]})
    graph = Graph(New, state_store=store, migrate=FIELDS).flow(START >> again >> END)
    assert graph.sync.load("t") == {"heading": "t", "rows": ["a"]}
    assert graph.sync.get_state("t", at=1).value == New(heading="t", rows=[])
    assert graph.invoke({}, thread_id="t").state == New(heading="t", rows=["a", "b"])
    assert graph.sync.load("t") == {"heading": "t", "rows": ["a", "b"]}


def test_a_renamed_field_in_a_sent_payload_is_found() -> None:
    store = InMemoryStateStore()
    broken = failing("work", ValueError("no"))
    split = node(name="split", goto=[broken])(lambda state: Send(broken, {"title": "mine"}))
    graph = Graph(Old, state_store=store).flow(START >> split, broken >> END)
    with pytest.raises(ValueError, match="no"):
        graph.invoke({}, thread_id="t")

    work = node(name="job")(lambda state: {"rows": [state.heading]})
    split = node(name="split", goto=[work])(lambda state: Send(work))
    names = {**FIELDS, "work": "job"}
    after = Graph(New, state_store=store, migrate=names).flow(START >> split, work >> END)
    assert after.invoke(None, thread_id="t").state == New(heading="t", rows=["mine"])


def test_a_renamed_source_has_arrived_at_its_join() -> None:
    store = InMemoryStateStore()

    def built(name: str, **options: Any) -> Graph:
        short, ask, last = stop(name), asker("ask"), stop("last")
        middle = stop("middle")
        return Graph(Trail, state_store=store, **options).flow(
            START >> [short, middle], middle >> ask, join(short, ask) >> last >> END
        )

    built("b").invoke({}, thread_id="t")
    graph = built("c", migrate={"b": "c"})
    done = graph.invoke(resume=Resume(1), thread_id="t")
    assert done.state.log == ["b", "middle", "ask: 1", "last"]


def test_breakpoints_of_the_branch_move_with_their_node() -> None:
    store = InMemoryStateStore()
    old = chain(stop("a"), stop("b"), state_store=store)
    old.invoke({}, thread_id="t", interrupt_before=["b"])
    graph = chain(stop("a"), stop("c"), state_store=store, migrate={"b": "c"})
    assert graph.sync.position("t").before == ("c",)
    assert graph.invoke(None, thread_id="t").state.log == ["a", "c"]
    assert graph.invoke({}, thread_id="t").status == "interrupted"


def test_a_node_and_a_field_of_one_name_are_told_apart_by_what_is_left() -> None:
    store, _ = paused()
    graph = chain(stop("first"), asker("log"), state_store=store, migrate={"ask": "log"})
    assert graph.invoke(resume=Resume(1), thread_id="t").state.log == ["first", "log: 1"]


def test_a_graph_without_migrate_may_name_a_node_like_a_field() -> None:
    store, _ = paused()
    graph = chain(stop("first"), asker("ask"), stop("count"), state_store=store)
    assert graph.invoke(resume=Resume(1), thread_id="t").state.log[-1] == "count"


def test_migrate_to_an_unknown_name_is_refused_when_the_flow_is_declared() -> None:
    with pytest.raises(GraphConfigError, match="migrate leads to 'nowhere'"):
        chain(stop("a"), migrate={"ask": "nowhere"})


def test_the_record_itself_is_not_changed() -> None:
    store, old = paused()
    before = history(old)
    graph = chain(stop("first"), asker("question"), state_store=store, migrate={"ask": "question"})
    graph.sync.position("t")
    assert history(old) == before


def test_a_fork_of_an_old_point_goes_on_in_the_redefined_graph() -> None:
    store, _ = paused()
    graph = chain(stop("first"), asker("question"), state_store=store, migrate={"ask": "question"})
    graph.sync.fork("t", name="b")
    done = graph.invoke(resume=Resume(2), thread_id="t", branch_id="b")
    assert done.state.log == ["first", "question: 2"]


def test_a_session_shows_a_renamed_node() -> None:
    store, _ = paused()
    graph = chain(stop("first"), asker("question"), state_store=store, migrate={"ask": "question"})
    session = open_session(graph, thread_id="t")
    assert session.snapshot.marks["question"] == "waiting"
    assert session.next == ("question",)


def test_a_cache_and_a_recorded_result_stay_with_a_renamed_task() -> None:
    store = InMemoryStateStore()
    ran: list[str] = []

    def asking(name: str) -> Any:
        def ask(state: Trail, ctx: NodeContext) -> dict[str, Any]:
            seen = ctx.cache.setdefault("seen", name)
            price = ctx.once("price", lambda: ran.append(name) or 5)
            return {"log": [f"{seen} {price} {interrupt(id='ok')}"]}

        return node(name=name)(ask)

    chain(asking("ask"), state_store=store).invoke({}, thread_id="t")
    graph = chain(asking("question"), state_store=store, migrate={"ask": "question"})
    done = graph.invoke(resume=Resume(1), thread_id="t")
    assert (done.state.log, ran) == (["ask 5 1"], ["ask"])
