"""Answering: which answers count, who was first, and what goes on."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from nbgraph import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    Interrupt,
    Node,
    Resume,
    interrupt,
    node,
)
from nbgraph.core.events import AnswerRefused, AnswersGiven, TaskInterrupted
from nbgraph.core.fold import fold
from nbgraph.core.schema import StateSchema
from nbgraph.errors import AlreadyAnsweredError, ResumeError, StaleAnswerError
from tests.core.graphs import Trail, asker, chain, fan, history, started, stop, types


def test_resume_takes_a_value_or_answers_and_not_both() -> None:
    with pytest.raises(ResumeError, match="not both"):
        Resume("yes", answers={"a:ok": 1})


def test_resume_needs_an_answer() -> None:
    with pytest.raises(ResumeError, match="needs an answer"):
        Resume()


def test_resume_refuses_empty_answers() -> None:
    with pytest.raises(ResumeError, match="answers is empty"):
        Resume(answers={})


@pytest.mark.parametrize("answers", [["a"], {1: "a"}])
def test_resume_refuses_answers_that_are_no_mapping_of_keys(answers: Any) -> None:
    with pytest.raises(TypeError, match="map keys to answers"):
        Resume(answers=answers)


def test_a_partial_answer_runs_its_task_alone_and_leaves_the_others_pending() -> None:
    ran: list[str] = []

    def ask(name: str) -> Any:
        def run(state: Trail) -> dict[str, Any]:
            ran.append(name)
            return {"log": [f"{name}: {interrupt(id='ok')}"]}

        return node(name=name)(run)

    graph = fan(ask("a"), ask("b"), stop("c"))
    graph.invoke({}, thread_id="t")
    ran.clear()
    half = graph.invoke(None, thread_id="t", resume=Resume(answers={"b:ok": 2}, partial=True))
    assert (half.status, list(half.interrupts)) == ("interrupted", ["a:ok"])
    assert ran == ["b"]
    assert half.state.log == []
    done = graph.invoke(None, thread_id="t", resume=Resume(1))
    assert done.state.log == ["a: 1", "b: 2", "c"]
    assert ran == ["b", "a"]


def test_an_earlier_answer_of_a_task_is_kept_for_its_next_run() -> None:
    @node
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt(id="a"), interrupt(id="b")]}

    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("1"))
    assert graph.invoke(None, thread_id="t", resume=Resume("2")).state.log == ["1", "2"]


def test_an_answer_says_who_gave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    graph = fan(asker("a"), asker("b"))
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(answers={"a:ok": 1}, partial=True))
    graph.invoke(None, thread_id="t", resume=Resume(2, by="grace"))
    given = [event for event in history(graph) if isinstance(event, AnswersGiven)]
    assert [event.by for event in given] == ["ada", "grace"]


def test_an_answer_to_an_asking_that_is_over_is_stale() -> None:
    from nbgraph import when

    ask = asker("ask")
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> ask, ask >> when(lambda state: len(state.log) < 2, ask)
    )
    first = graph.invoke({}, thread_id="t").interrupts["ask:ok"]
    graph.invoke(None, thread_id="t", resume=Resume(1))
    before = history(graph)
    with pytest.raises(StaleAnswerError) as caught:
        graph.invoke(
            None, thread_id="t", resume=Resume(answers={"ask:ok": 1}, asked={"ask:ok": 99})
        )
    assert (caught.value.key, caught.value.asked) == ("ask:ok", 99)
    with pytest.raises(AlreadyAnsweredError):
        graph.invoke(
            None, thread_id="t", resume=Resume(answers={"ask:ok": 1}, asked={"ask:ok": first.asked})
        )
    assert history(graph) == before


def test_whoever_answers_second_is_told_who_was_first() -> None:
    graph = chain(asker("ask"))
    question = graph.invoke({}, thread_id="t").interrupts["ask:ok"]
    graph.invoke(None, thread_id="t", resume=Resume("yes", by="ada"))
    before = history(graph)
    late = Resume(answers={"ask:ok": "no"}, asked={"ask:ok": question.asked}, by="grace")
    with pytest.raises(AlreadyAnsweredError, match="'ada' answered 'ask:ok' first") as caught:
        graph.invoke(None, thread_id="t", resume=late)
    assert caught.value.by == "ada"
    assert history(graph) == before


def test_of_two_threads_that_answer_at_the_same_moment_exactly_one_wins() -> None:
    for number in range(20):
        graph = chain(asker("ask"))
        question = graph.invoke({}, thread_id="t").interrupts["ask:ok"]
        together = threading.Barrier(2, timeout=60)

        def answer(
            by: str, graph: Graph = graph, gate: Any = together, asked: int = question.asked
        ) -> str:
            resume = Resume(answers={"ask:ok": by}, asked={"ask:ok": asked}, by=by)
            gate.wait()
            try:
                return graph.invoke(None, thread_id="t", resume=resume).state.log[0]
            except AlreadyAnsweredError as error:
                return f"first was {error.by}"

        with ThreadPoolExecutor(2) as pool:
            results = sorted(pool.map(answer, ("ada", "grace")))
        winner = graph.sync.load("t")["log"][0].removeprefix("ask: ").strip("'")
        assert results == [f"ask: '{winner}'", f"first was {winner}"], number
        assert types(graph).count("answers_given") == 1


def test_of_two_tasks_of_one_loop_that_answer_at_once_exactly_one_wins() -> None:
    async def scenario() -> None:
        graph = chain(asker("ask"))
        paused = await graph.ainvoke({}, thread_id="t")
        asked = {"ask:ok": paused.interrupts["ask:ok"].asked}

        async def answer(by: str) -> Any:
            resume = Resume(answers={"ask:ok": by}, asked=asked, by=by)
            return await graph.ainvoke(None, thread_id="t", resume=resume)

        results = await asyncio.gather(answer("ada"), answer("grace"), return_exceptions=True)
        assert [type(result).__name__ for result in results] == [
            "GraphResult",
            "AlreadyAnsweredError",
        ]

    asyncio.run(scenario())


@pytest.mark.parametrize("given", [None, {}, {"count": 1}])
def test_a_paused_thread_takes_only_answers(given: Any) -> None:
    graph = chain(asker("ask"))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(ResumeError, match="answer"):
        graph.invoke(given, thread_id="t")
    assert history(graph) == before


def test_a_resumed_run_keeps_an_async_client_that_was_made_before_the_pause() -> None:
    """Two runs, one client, no error: both run on the one loop of the process."""
    clients: dict[str, Any] = {}

    class Client:
        def __init__(self) -> None:
            self.lock = asyncio.Lock()
            self.queue: asyncio.Queue[str] = asyncio.Queue()
            self.future = asyncio.get_running_loop().create_future()

        async def call(self, text: str) -> str:
            async with self.lock:
                waiting = asyncio.ensure_future(self.queue.get())
                await asyncio.sleep(0)
                await self.queue.put(text)
                return await waiting

    @node
    async def pay(state: Trail) -> dict[str, Any]:
        client = clients.setdefault("bank", None) or Client()
        clients["bank"] = client
        quote = await client.call("quote")
        answer = interrupt(f"{quote}?", id="ok")
        client.future.set_result(answer)
        return {"log": [await client.call("paid"), await client.future]}

    graph = chain(pay)
    graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["paid", "yes"]


def test_two_graphs_share_the_loop_that_a_client_lives_on() -> None:
    loops: list[Any] = []

    @node
    async def look(state: Trail) -> None:
        loops.append(asyncio.get_running_loop())

    chain(look).invoke({}, thread_id="t")

    async def cell() -> None:
        chain(look).invoke({}, thread_id="t")

    asyncio.run(cell())
    assert loops[0] is loops[1]


def test_pending_questions_are_listed_by_the_graph_and_by_the_store() -> None:
    graph = fan(asker("a"), asker("b"), name="desk")
    graph.invoke({}, thread_id="t")
    pending = graph.sync.pending("t")
    assert list(pending) == ["a:ok", "b:ok"]
    assert graph.state_store is not None
    listed = asyncio.run(graph.state_store.pending())
    assert [(one.thread_id, one.branch_id, one.graph) for one in listed] == [
        ("t", "main", "desk")
    ] * 2
    assert {one.interrupt.key: one.interrupt for one in listed} == pending
    graph.invoke(None, thread_id="t", resume=Resume(answers={"a:ok": 1, "b:ok": 1}))
    assert asyncio.run(graph.state_store.pending()) == []


def in_reverse(*names: str) -> list[Node]:
    """Return nodes that ask `"one"` and, in the same run, `"two"`: the last one asks first."""
    asked = {name: threading.Event() for name in (*names, "")}
    asked[""].set()

    def ask(name: str, later: str) -> Node:
        async def run(state: Trail) -> dict[str, Any]:
            assert await asyncio.to_thread(asked[later].wait, 10)
            try:
                async with asyncio.TaskGroup() as group:
                    found = [group.create_task(put(id)) for id in ("one", "two")]
            finally:
                asked[name].set()
            return {"log": [f"{name} {task.result()}" for task in found]}

        return node(name=name)(run)

    async def put(id: str) -> Any:
        return interrupt(id=id)

    return [ask(name, later) for name, later in zip(names, (*names[1:], ""), strict=True)]


def test_questions_wait_in_the_order_of_tasks_and_calls_whoever_asked_first() -> None:
    graph = fan(*in_reverse("a", "b", "c"))
    keys = [f"{name}:{id}" for name in "abc" for id in ("one", "two")]
    result = graph.invoke({}, thread_id="t")
    assert list(result.interrupts) == keys
    assert list(graph.sync.pending("t")) == keys
    events = [event.task_id for event in history(graph) if isinstance(event, TaskInterrupted)]
    assert events == ["c", "b", "a"]
    some = Resume(answers={"b:one": 1, "c:two": 2}, partial=True)
    assert list(graph.invoke(resume=some, thread_id="t").interrupts) == [
        key for key in keys if key not in ("b:one", "c:two")
    ]


def test_a_question_whose_answer_did_not_count_waits_again_where_it_stood() -> None:
    asks = [TaskInterrupted(task_id=name, node=name, interrupts=(put(name),)) for name in "ab"]
    given = AnswersGiven(answers={"a:ok": 1}, asked={"a:ok": 1})
    refused = AnswerRefused(key="a:ok", problems={"": "no"})
    position = fold([started("a", "b"), *asks, given, refused], StateSchema(Trail))
    assert list(position.pending) == ["a:ok", "b:ok"]
    assert position.pending["a:ok"].problems == {"": "no"}


def put(name: str) -> Interrupt:
    return Interrupt(key=f"{name}:ok", id="ok", node=name, task_id=name)


def test_a_run_that_ends_before_a_once_is_recorded_leaves_no_worker_waiting() -> None:
    """A sync node whose run is gone is told so, and its thread is free again."""
    begun, release, told = threading.Event(), threading.Event(), threading.Event()

    def slow(state: Trail, ctx: Any) -> None:
        begun.set()
        release.wait(60)
        try:
            ctx.once("late", lambda: 1)
        finally:
            told.set()

    from nbgraph import NodeContext

    slow.__annotations__["ctx"] = NodeContext

    async def scenario() -> None:
        graph = Graph(Trail, state_store=InMemoryStateStore())
        graph.flow(START >> node(slow) >> END)
        task = asyncio.create_task(graph.ainvoke({}, thread_id="t"))
        await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        release.set()
        await asyncio.to_thread(told.wait, 30)

    asyncio.run(scenario())
    assert told.is_set()
