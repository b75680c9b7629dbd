"""Flows of careless and hostile users: many at once, mixed ways out, forks of forks, odd names."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from nbgraph import (
    END,
    START,
    Command,
    Graph,
    InlineExecutor,
    InMemoryStateStore,
    Resume,
    Send,
    interrupt,
    node,
    open_session,
    subgraph,
)
from nbgraph.errors import (
    GraphExecutionError,
    RedefinedGraphError,
    ResumeError,
    StateStoreError,
    StateUpdateError,
    UnknownThreadError,
)
from tests.core.graphs import Trail, asker, chain, failing, fan, history, named, stop


def test_one_answer_of_many_given_at_once_counts() -> None:
    graph, taken, refused = chain(asker("ask")), list[Any](), list[Exception]()
    graph.invoke({}, thread_id="t")
    begin = threading.Barrier(6)

    def answer(number: int) -> None:
        begin.wait()
        try:
            taken.append(graph.invoke(resume=Resume(number), thread_id="t").state.log)
        except (ResumeError, StateStoreError) as error:
            refused.append(error)

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    given = [event for event in history(graph) if event.type == "answers_given"]
    assert len(given) == 1
    assert graph.sync.load("t")["log"] == [f"ask: {given[0].answers['ask:ok']}"]
    assert len(taken) + len(refused) == 6


def test_sends_commands_and_names_are_one_superstep_in_the_order_given() -> None:
    work = named(lambda state: {"log": [str(state.count)]}, "work")

    @node(goto=[work, END])
    def lead(state: Trail) -> Command:
        goto = [Send(work, {"count": 1}), "work", work, END, Send(work, {"count": 2})]
        return Command(update={"log": ["lead"]}, goto=goto)

    graph = Graph(Trail).flow(START >> lead, work >> END)
    assert graph.invoke({}).state.log == ["lead", "1", "0", "2"]


@pytest.mark.parametrize(
    "goto", ["zz", 3, [["work"]], START, "START", {"work"}, Send(stop("other"))]
)
def test_a_way_that_is_not_declared_is_refused_by_name(goto: Any) -> None:
    work = stop("work")
    lead = named(lambda state: Command(goto=goto), "lead", goto=[work])
    graph = Graph(Trail).flow(START >> lead, work >> END)
    with pytest.raises(GraphExecutionError, match=r"'lead' leads to .* which it does not declare"):
        graph.invoke({})


def test_one_asks_one_fails_and_one_is_done_and_nothing_runs_twice() -> None:
    nodes = stop("done"), asker("ask"), failing("fails", ValueError("once"))
    graph = fan(*nodes, executor=InlineExecutor())  # one after the other: the last one fails
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")
    assert list(graph.sync.pending("t")) == ["ask:ok"]
    assert list(graph.invoke(None, thread_id="t").interrupts) == ["ask:ok"]
    done = graph.invoke(resume=Resume("y"), thread_id="t")
    assert done.state.log == ["done", "ask: 'y'", "fails"]
    finished = [event.task_id for event in history(graph) if event.type == "task_finished"]
    assert sorted(finished) == ["ask", "done", "fails"]


def test_sub_graphs_sent_to_in_a_graph_in_a_graph_ask_under_their_own_keys() -> None:
    ask = named(lambda state: {"log": [f"{state.count}: {interrupt(state.count, id='q')}"]}, "x")
    part = subgraph("part", Graph(Trail).flow(START >> ask >> END), share=["log", "count"])
    lead = named(
        lambda state: Command(goto=[Send(part, {"count": n}) for n in range(3)]),
        "lead",
        goto=[part],
    )
    middle = Graph(Trail).flow(START >> lead, part >> END)
    graph = chain(subgraph("middle", middle, share=["log"]))
    asked = graph.invoke({}, thread_id="t").interrupts
    assert {key: question.payload for key, question in asked.items()} == {
        "middle/part/x:q": 0,
        "middle/part[1]/x:q": 1,
        "middle/part[2]/x:q": 2,
    }
    answers = {key: f"answer {question.payload}" for key, question in asked.items()}
    done = graph.invoke(resume=Resume(answers=answers), thread_id="t")
    assert done.state.log == ["0: answer 0", "1: answer 1", "2: answer 2"]


def test_forks_of_forks_at_one_pause_are_answered_each_for_itself() -> None:
    graph = chain(asker("a"), asker("b"))
    graph.invoke({}, thread_id="t")
    for parent, name in (("main", "one"), ("one", "two"), ("two", "three")):
        graph.sync.fork("t", branch_id=parent, name=name)
    for name in ("three", "main", "two", "one"):
        graph.invoke(resume=Resume(name), thread_id="t", branch_id=name)
    graph.sync.fork("t", branch_id="three", name="late")
    for name in ("late", "one", "three", "main", "two"):
        graph.invoke(resume=Resume(name), thread_id="t", branch_id=name)
    logs = {name: graph.sync.load("t", branch_id=name)["log"] for name in ("main", "two", "late")}
    assert logs == {
        "main": ["a: 'main'", "b: 'main'"],
        "two": ["a: 'two'", "b: 'two'"],
        "late": ["a: 'three'", "b: 'late'"],
    }


def test_another_graph_on_a_paused_thread_is_refused_and_the_first_one_goes_on() -> None:
    store = InMemoryStateStore()
    first, other = (chain(asker(name), name=name, state_store=store) for name in ("one", "two"))
    first.invoke({}, thread_id="t")
    before = history(first)
    for call in ({"initial_state": {}}, {"resume": Resume(1)}):
        with pytest.raises(RedefinedGraphError, match="waits in 'one'"):
            other.invoke(thread_id="t", **call)
    assert history(first) == before
    assert first.invoke(resume=Resume(1), thread_id="t").state.log == ["one: 1"]


def test_nodes_may_be_named_in_any_script_and_with_any_sign() -> None:
    names = [
        "größe",
        "узел",
        "节点",
        "🙂",
        "a b",
        "a/b",
        "a:b",
        'q"<&>',
        "a\nb",
        "\u202eb",
        "*",
        "0",
    ]
    graph = chain(*(stop(name) for name in names), asker("☎"), interrupt_before=["节点"])
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    assert graph.sync.position("t").next == ("节点",)
    paused = graph.invoke(None, thread_id="t")
    assert list(paused.interrupts) == ["☎:ok"]
    done = graph.invoke(resume=Resume(answers={"☎:ok": 2026}), thread_id="t")
    assert done.state.log == [*names, "☎: 2026"]
    assert "<script" not in graph.to_mermaid()


def test_a_session_that_is_asked_for_what_is_not_there_says_so_and_goes_on() -> None:
    session = open_session(chain(asker("a")), "t")
    for refused in (
        lambda: session.resume({"a:ok": 1}).result(),
        lambda: session.proceed().result(),
        lambda: session.run_until("zz").result(),
        lambda: session.start("x").result(),  # pyright: ignore[reportArgumentType]
        lambda: session.edit({"count": "x"}),
        lambda: session.fork(),
    ):
        with pytest.raises((ResumeError, StateUpdateError, UnknownThreadError)):
            refused()
    session.start({}).result()
    for refused in (
        lambda: session.start({}).result(),
        lambda: session.resume({"zz": 1}).result(),
        lambda: session.resume("yes").result(),  # pyright: ignore[reportArgumentType]
        lambda: session.fork(at=99),
        lambda: session.breakpoints(before=["zz"]),
    ):
        with pytest.raises((ResumeError, StateUpdateError, TypeError)):
            refused()
    assert session.resume({"a:ok": 1}).result().state.log == ["a: 1"]
    with pytest.raises(TypeError, match="state_store is a StateStore"):
        open_session(chain(asker("a")), "t", store="x")  # pyright: ignore[reportArgumentType]
