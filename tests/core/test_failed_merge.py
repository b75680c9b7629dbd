"""A superstep whose results do not go together."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import pytest
from pydantic import Field

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Node, add_messages, node, when
from nbgraph.chat import HumanMessage, Message, RemoveMessage
from nbgraph.core.events import TaskFinished
from nbgraph.core.loop import run_sync
from nbgraph.core.requests import Skip
from nbgraph.errors import InvalidUpdateError, ResumeError, StateUpdateError
from tests.core.graphs import Trail, history


def writer(name: str, **update: Any) -> Node:
    return node(name=name)(lambda state: update)


def collided(store: InMemoryStateStore) -> Graph:
    """Return a graph whose thread `t` has two results for one field."""
    a, b = writer("a", count=1), writer("b", count=2)
    graph = Graph(Trail, state_store=store).flow(START >> [a, b], a >> END, b >> END)
    with pytest.raises(InvalidUpdateError):
        graph.invoke({}, thread_id="t")
    return graph


def skip(graph: Graph, task_id: str, value: dict[str, Any]) -> None:
    async def send() -> None:
        async for _ in graph.thread("t").send(Skip(task_id, value)):
            pass

    run_sync(send())


def test_asking_again_is_refused_and_records_nothing() -> None:
    graph = collided(InMemoryStateStore())
    before = history(graph)
    with pytest.raises(ResumeError, match=r"'a', 'b' cannot be merged: .*'count'.*skip") as caught:
        graph.invoke(None, thread_id="t")
    assert isinstance(caught.value.__cause__, InvalidUpdateError)
    assert history(graph) == before


def test_tasks_are_named_in_their_order_whichever_finished_first() -> None:
    go_on = threading.Event()

    @node
    def a(state: Trail) -> dict[str, Any]:
        assert go_on.wait(60)
        return {"count": 1}

    b = writer("b", count=2)
    graph = Graph(Trail, state_store=InMemoryStateStore())
    graph.flow(START >> [a, b], a >> END, b >> END)

    def run() -> None:
        for event in graph.stream({}, thread_id="t"):
            if isinstance(event, TaskFinished):
                go_on.set()

    with pytest.raises(InvalidUpdateError):
        run()
    with pytest.raises(ResumeError, match="results of 'a', 'b' cannot be merged"):
        graph.invoke(None, thread_id="t")
    with pytest.raises(InvalidUpdateError, match="'an edit', 'a'"):
        graph.sync.update_state("t", {"count": 3})


def test_an_edit_that_does_not_help_is_not_enough() -> None:
    graph = collided(InMemoryStateStore())
    graph.sync.update_state("t", {"log": ["edited"]})
    with pytest.raises(ResumeError, match="cannot be merged"):
        graph.invoke(None, thread_id="t")


def test_another_value_for_one_task_lets_the_thread_go_on() -> None:
    graph = collided(InMemoryStateStore())
    skip(graph, "b", {"log": ["b was skipped"]})
    done = graph.invoke(None, thread_id="t")
    assert (done.status, done.state) == ("completed", Trail(log=["b was skipped"], count=1))


def test_another_value_that_collides_too_does_not() -> None:
    graph = collided(InMemoryStateStore())
    skip(graph, "b", {"count": 9})
    with pytest.raises(ResumeError, match="cannot be merged"):
        graph.invoke(None, thread_id="t")
    skip(graph, "b", {})
    assert graph.invoke(None, thread_id="t").state.count == 1


def test_an_input_begins_another_turn_also_where_the_nodes_are_gone() -> None:
    store = InMemoryStateStore()
    collided(store)
    graph = Graph(Trail, state_store=store).flow(START >> writer("c", count=5) >> END)
    with pytest.raises(ResumeError, match="waits in 'a', 'b'"):
        graph.invoke(None, thread_id="t")
    assert graph.invoke({}, thread_id="t").state.count == 5


class Talk(BaseState):
    messages: Annotated[list[Message], add_messages] = Field(default_factory=list)


def test_an_edit_that_helps_lets_the_thread_go_on() -> None:
    forget = writer("forget", messages=[RemoveMessage(id="m")])
    graph = Graph(Talk, state_store=InMemoryStateStore()).flow(START >> forget >> END)
    with pytest.raises(StateUpdateError, match="'m'"):
        graph.invoke({}, thread_id="t")
    with pytest.raises(ResumeError, match="cannot be merged"):
        graph.invoke(None, thread_id="t")
    graph.sync.update_state("t", {"messages": [HumanMessage(id="m", content="hi")]})
    assert graph.invoke(None, thread_id="t").state.messages == []


def test_a_repaired_reducer_lets_the_thread_go_on() -> None:
    store = InMemoryStateStore()

    def built(reducer: Any) -> Graph:
        state = type(
            "State", (BaseState,), {"__annotations__": {"n": Annotated[int, reducer]}, "n": 0}
        )
        return Graph(state, state_store=store).flow(START >> writer("a", n=2) >> END)

    def broken(current: int, update: int) -> int:
        return (current or 0) + update if update != 2 else current // 0

    with pytest.raises(ZeroDivisionError):
        built(broken).invoke({}, thread_id="t")
    with pytest.raises(ResumeError, match="cannot be merged"):
        built(broken).invoke(None, thread_id="t")
    repaired = built(lambda current, update: (current or 0) + update)
    assert repaired.invoke(None, thread_id="t").data == {"n": 2}


def test_a_router_that_failed_is_asked_again() -> None:
    answers = iter([ValueError("not yet"), True])

    def router(state: Trail) -> bool:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    a = writer("a", count=1)
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> a, a >> when(router, END, otherwise=END)
    )
    with pytest.raises(ValueError, match="not yet"):
        graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t").state.count == 1
