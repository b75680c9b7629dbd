"""Retries: what is tried again, how often, what is said about it, and what never is."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import aclosing
from typing import Any

import pytest
import tenacity

from nbgraph import (
    Graph,
    Middleware,
    NodeContext,
    Resume,
    Retry,
    interrupt,
    node,
)
from nbgraph.core.events import RunStopped, TaskFailed, TaskFinished
from nbgraph.core.live import Attempt, TaskEmitted
from nbgraph.core.requests import Start, Stop
from nbgraph.errors import NodeTimeoutError
from tests.core.graphs import Trail, chain, fan, history, stop, types


def shaky(*errors: BaseException, is_async: bool = False, **options: Any) -> Any:
    """Return a node that raises these, one an attempt, and then says how often it ran."""
    waiting, runs = list(errors), []

    def run(state: Trail) -> dict[str, Any]:
        runs.append(1)
        if waiting:
            raise waiting.pop(0)
        return {"log": [f"run {len(runs)}"]}

    async def arun(state: Trail) -> dict[str, Any]:
        await asyncio.sleep(0)
        return run(state)

    return node(name="shaky", **options)(arun if is_async else run)


def attempts(graph: Graph, **options: Any) -> list[Attempt]:
    """Run a graph and return the attempts that were said to be repeated."""
    return [
        event.data
        for event in graph.stream({}, thread_id="t", **options)
        if isinstance(event, TaskEmitted) and event.kind == "attempt"
    ]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_node_that_raises_is_tried_again(is_async: bool) -> None:
    graph = chain(shaky(ValueError("1"), OSError("2"), is_async=is_async, retry=Retry()))
    assert graph.invoke({}, thread_id="t").state.log == ["run 3"]
    [finished] = [event for event in history(graph) if isinstance(event, TaskFinished)]
    assert finished.attempts == 3


def test_every_attempt_that_is_repeated_is_shown_with_its_error_and_its_wait() -> None:
    waits = iter([0.001, 0.002])
    retry = Retry(attempts=4, wait=lambda state: next(waits))
    found = attempts(chain(shaky(ValueError("one"), OSError("two"), retry=retry)))
    assert [
        (each.number, each.limit, each.error.type, each.error.message, each.wait) for each in found
    ] == [(1, 4, "ValueError", "one", 0.001), (2, 4, "OSError", "two", 0.002)]


def test_attempts_are_shown_and_not_stored() -> None:
    graph = chain(shaky(ValueError("1"), retry=Retry()))
    attempts(graph)
    assert types(graph) == ["run_started", "task_finished", "superstep_finished", "run_finished"]


def test_after_the_last_attempt_the_nodes_own_error_is_raised() -> None:
    last = ValueError("second")
    graph = chain(shaky(ValueError("first"), last, retry=Retry(attempts=2)))
    with pytest.raises(ValueError, match="second") as caught:
        graph.invoke({}, thread_id="t")
    assert caught.value is last
    [failed] = [event for event in history(graph) if isinstance(event, TaskFailed)]
    assert (failed.attempts, failed.error.message) == (2, "second")
    assert graph.invoke(None, thread_id="t").state.log == ["run 3"]


def test_only_the_named_errors_are_tried_again() -> None:
    graph = chain(shaky(OSError("x"), KeyError("y"), retry=Retry(on=(OSError, TimeoutError))))
    with pytest.raises(KeyError):
        graph.invoke({}, thread_id="t")
    [failed] = [event for event in history(graph) if isinstance(event, TaskFailed)]
    assert failed.attempts == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_the_end_of_the_process_is_not_tried_again(error: BaseException) -> None:
    with pytest.raises(type(error)):
        chain(shaky(error, retry=Retry())).invoke({}, thread_id="t")


@pytest.mark.parametrize("kind", [tenacity.Retrying, tenacity.AsyncRetrying])
def test_a_tenacity_object_says_when_to_stop_what_to_wait_and_what_to_try_again(kind: Any) -> None:
    retrying = kind(
        stop=tenacity.stop_after_attempt(3),
        wait=tenacity.wait_incrementing(start=0, increment=0.001),
        retry=tenacity.retry_if_exception_message(match="again"),
    )
    found = attempts(chain(shaky(ValueError("again"), OSError("again"), retry=retrying)))
    assert [(each.number, each.limit, each.wait) for each in found] == [(1, 3, 0), (2, 3, 0.001)]
    with pytest.raises(ValueError, match="other"):
        chain(shaky(ValueError("other"), retry=retrying)).invoke({}, thread_id="t")


def test_one_tenacity_object_serves_several_tasks_at_once() -> None:
    retrying = tenacity.Retrying(stop=tenacity.stop_after_attempt(2))

    def made(name: str) -> Any:
        waiting = [ValueError(name)]

        async def run(state: Trail) -> dict[str, Any]:
            await asyncio.sleep(0)
            if waiting:
                raise waiting.pop()
            return {"log": [name]}

        return node(name=name, retry=retrying)(run)

    assert fan(made("a"), made("b")).invoke({}, thread_id="t").state.log == ["a", "b"]


def test_an_interrupt_is_never_tried_again() -> None:
    runs: list[int] = []
    always = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(9), retry=tenacity.retry_if_exception(lambda error: True)
    )

    @node(retry=always)
    def asks(state: Trail) -> dict[str, Any]:
        runs.append(1)
        return {"log": [interrupt(id="q")]}

    graph = chain(asks)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["asks:q"]
    assert len(runs) == 1


def test_an_answered_question_is_asked_again_by_the_next_attempt_without_a_pause() -> None:
    failures = [ValueError("x")]

    @node(retry=Retry())
    def asks(state: Trail) -> dict[str, Any]:
        answers = [interrupt(id="named"), interrupt()]
        if failures:
            raise failures.pop()
        return {"log": answers}

    graph = chain(asks)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("a"))
    assert graph.invoke(None, thread_id="t", resume=Resume("b")).state.log == ["a", "b"]


@pytest.mark.parametrize("is_async", [False, True])
def test_what_an_attempt_recorded_once_or_cached_is_there_for_the_next_one(is_async: bool) -> None:
    computed: list[int] = []

    def price() -> int:
        computed.append(1)
        return 42

    async def aprice() -> int:
        return price()

    @node(name="once", retry=Retry(attempts=3))
    def once(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        return ended(ctx, ctx.once("price", price))

    @node(name="once", retry=Retry(attempts=3))
    async def aonce(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        return ended(ctx, await ctx.once("price", aprice))

    def ended(ctx: NodeContext, value: int) -> dict[str, Any]:
        ctx.cache["tries"] = ctx.cache.get("tries", 0) + 1
        if ctx.cache["tries"] < 3:
            raise ValueError("again")
        return {"log": [f"{value} in {ctx.cache['tries']}"]}

    graph = chain(aonce if is_async else once)
    assert graph.invoke({}, thread_id="t").state.log == ["42 in 3"]
    assert computed == [1]


def test_each_attempt_gets_the_state_as_it_was() -> None:
    failures = [ValueError("x")]

    @node(retry=Retry())
    def spoils(state: Trail) -> Trail:
        state.log.append("once")
        if failures:
            raise failures.pop()
        return state

    assert chain(spoils).invoke({}, thread_id="t").state.log == ["once"]


def test_the_nodes_timeout_is_that_of_each_attempt() -> None:
    runs: list[int] = []

    @node(timeout=0.02, retry=Retry(attempts=2, on=NodeTimeoutError))
    async def slow(state: Trail) -> dict[str, Any]:
        runs.append(1)
        if len(runs) == 1:
            await asyncio.Event().wait()
        return {"log": ["in time"]}

    assert chain(slow).invoke({}, thread_id="t").state.log == ["in time"]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_wait_can_be_stopped_and_holds_up_neither_the_loop_nor_a_worker(is_async: bool) -> None:
    retry = Retry(wait=3600)
    graph = chain(shaky(ValueError("x"), is_async=is_async, retry=retry), stop("next"))

    async def main() -> list[Any]:
        thread = graph.thread("t")
        seen: list[Any] = []
        async with aclosing(thread.send(Start({}))) as events:
            async for event in events:
                seen.append(event)
                if isinstance(event, TaskEmitted):
                    await anext(thread.send(Stop()), None)
        return seen

    assert isinstance(asyncio.run(main())[-1], RunStopped)
    assert graph.invoke(None, thread_id="t").state.log == ["run 2", "next"]


def test_middleware_stands_around_all_attempts() -> None:
    seen: list[str] = []

    class Looks(Middleware):
        def before_node(self, ctx: Any) -> None:
            seen.append("before")

        def after_node(self, ctx: Any) -> None:
            seen.append("after")

        def on_error(self, ctx: Any, error: Exception) -> Any:
            seen.append(f"error {error}")
            return {"log": ["instead"]}

    good = shaky(ValueError("1"), retry=Retry(attempts=2))
    chain(good, middleware=[Looks()]).invoke({}, thread_id="t")
    bad = shaky(ValueError("1"), ValueError("2"), retry=Retry(attempts=2))
    graph = chain(bad, middleware=[Looks()])
    assert graph.invoke({}, thread_id="t").state.log == ["instead"]
    assert seen == ["before", "after", "before", "error 2"]
    [finished] = [event for event in history(graph) if isinstance(event, TaskFinished)]
    assert finished.attempts == 2


@pytest.mark.parametrize("retry", [3, "often", object(), Retry])
def test_something_else_than_a_retry_is_refused_when_the_node_is_made(retry: Any) -> None:
    with pytest.raises(TypeError, match=r"retry takes Retry\(attempts"):
        stop("a", retry=retry)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"attempts": 0}, ValueError),
        ({"wait": -1}, ValueError),
        ({"on": KeyboardInterrupt}, TypeError),
        ({"on": (OSError, "x")}, TypeError),
    ],
)
def test_a_retry_that_means_nothing_is_refused(options: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        Retry(**options)


def test_tenacity_is_imported_when_a_node_is_first_tried() -> None:
    code = (
        "import sys; from nbgraph import START, END, Graph, Retry, node\n"
        "a = node(name='a', retry=Retry())(lambda state: None)\n"
        "graph = Graph(dict).flow(START >> a >> END)\n"
        "before = 'tenacity' in sys.modules\n"
        "graph.invoke({})\n"
        "print(before, 'tenacity' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout == "False True\n"
