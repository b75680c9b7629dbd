"""Coroutines begun at once: what never waits is over, what waits goes on in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from typing import Any

import pytest

from nbgraph import END, START, BaseState, Graph, node, when
from nbgraph.core.eager import Starter

_word: ContextVar[str] = ContextVar("word", default="nothing")
Test = Callable[[Starter, list[Any]], Coroutine[Any, Any, None]]


def on_a_loop(test: Test) -> Callable[[], None]:
    """Run a test on a loop of its own, with a starter and a list to note things in."""

    @wraps(test, assigned=("__name__", "__doc__"), updated=())
    def run() -> None:
        asyncio.run(test(Starter(), []))

    del run.__wrapped__  # its parameters are no fixtures
    return run


def begun(
    starter: Starter, coroutine: Coroutine[Any, Any, None], name: str = "one"
) -> asyncio.Task[None] | None:
    """Begin one coroutine, and return the task that goes on with it if it waits."""
    return next(iter(starter.start([(name, coroutine)])), None)


@on_a_loop
async def test_what_never_waits_is_over_at_once(starter: Starter, noted: list[Any]) -> None:
    async def quick() -> None:
        noted.append("ran")

    assert begun(starter, quick()) is None
    assert noted == ["ran"]


@on_a_loop
async def test_what_waits_goes_on_in_the_task_it_began_in(
    starter: Starter, noted: list[Any]
) -> None:
    async def waits(name: str) -> None:
        noted.append((name, asyncio.current_task()))
        await asyncio.sleep(0)
        noted.append((name, asyncio.current_task()))
        await asyncio.sleep(0.001)
        noted.append((name, asyncio.current_task()))

    one, two = (begun(starter, waits(name), name) for name in "ab")
    assert one is not None
    assert two is not None
    assert (one.get_name(), two.get_name()) == ("a", "b")
    assert asyncio.current_task() not in (one, two)
    await asyncio.gather(one, two)
    tasks = {name: {task for each, task in noted if each == name} for name in "ab"}
    assert tasks == {"a": {one}, "b": {two}}


@on_a_loop
async def test_many_that_never_wait_share_one_task_that_is_not_the_callers(
    starter: Starter, noted: list[Any]
) -> None:
    async def quick() -> None:
        noted.append(asyncio.current_task())

    for _ in range(3):
        begun(starter, quick())
    assert len(set(noted)) == 1
    assert asyncio.current_task() not in noted
    await asyncio.sleep(0)
    assert noted[0].done()  # it had nothing to go on with
    begun(starter, quick())
    assert noted[-1] is not noted[0]


@on_a_loop
async def test_what_one_sets_in_its_context_no_other_sees(
    starter: Starter, noted: list[Any]
) -> None:
    async def says(word: str) -> None:
        noted.append(_word.get())
        _word.set(word)
        await asyncio.sleep(0)
        noted.append(_word.get())

    tasks = [begun(starter, says(word)) for word in ("one", "two")]
    await asyncio.gather(*filter(None, tasks))
    assert noted == ["nothing", "nothing", "one", "two"]
    assert _word.get() == "nothing"


@on_a_loop
async def test_a_timeout_entered_before_the_first_wait_ends_that_wait(
    starter: Starter, noted: list[Any]
) -> None:
    async def impatient() -> None:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            noted.append("late")

    task = begun(starter, impatient())
    assert task is not None
    await task
    assert noted == ["late"]


@on_a_loop
async def test_a_task_group_with_a_child_that_fails_leaves_the_caller_alone(
    starter: Starter, noted: list[Any]
) -> None:
    async def fails() -> None:
        raise ValueError("no")

    async def parent() -> None:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
        except* ValueError as group_of:
            noted.extend(map(str, group_of.exceptions))

    task = begun(starter, parent())
    caller = asyncio.current_task()
    assert task is not None
    assert caller is not None
    await task
    assert (noted, caller.cancelling()) == (["no"], 0)


@on_a_loop
async def test_two_may_wait_for_the_same_future(starter: Starter, noted: list[Any]) -> None:
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def waits() -> None:
        noted.append(await future)

    tasks = [begun(starter, waits()) for _ in range(2)]
    asyncio.get_running_loop().call_soon(future.set_result, "here")
    await asyncio.gather(*filter(None, tasks))
    assert noted == ["here", "here"]


@on_a_loop
async def test_cancelling_the_task_is_raised_where_the_coroutine_waits(
    starter: Starter, noted: list[Any]
) -> None:
    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            noted.append("put in order")

    for turns in (0, 2):  # before the task's own first turn, and after it
        task = begun(starter, waits())
        assert task is not None
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert noted == ["put in order"] * 2


@on_a_loop
async def test_a_coroutine_that_cancels_itself_spoils_no_other(
    starter: Starter, noted: list[Any]
) -> None:
    async def cancels() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    async def waits() -> None:
        await asyncio.sleep(0)
        noted.append("went on")

    assert begun(starter, cancels()) is None
    task = begun(starter, waits())
    assert task is not None
    await task
    assert noted == ["went on"]


@on_a_loop
async def test_an_error_is_the_tasks_and_not_the_callers(
    starter: Starter,
    noted: list[Any],
) -> None:
    async def fails() -> None:
        raise ValueError("no")

    task = begun(starter, fails())
    assert task is not None
    with pytest.raises(ValueError, match="no"):
        await task


@on_a_loop
async def test_one_may_begin_another(starter: Starter, noted: list[Any]) -> None:
    async def inner() -> None:
        noted.append(asyncio.current_task())
        await asyncio.sleep(0)

    async def outer() -> None:
        task = begun(starter, inner(), "inner")
        noted.append(asyncio.current_task())
        assert task is not None
        await task

    task = begun(starter, outer())
    assert task is not None
    await task
    assert noted[0].get_name() == "inner"
    assert noted[1] is task


# --- what a run makes of it -------------------------------------------------------------------


class Count(BaseState):
    count: int = 0


def test_a_node_is_given_a_task_that_is_not_the_callers() -> None:
    seen: list[asyncio.Task[Any] | None] = []

    @node
    async def look(_: Count) -> None:
        seen.append(asyncio.current_task())

    async def main() -> asyncio.Task[Any] | None:
        await Graph(Count).flow(START >> look >> END).ainvoke({})
        return asyncio.current_task()

    assert asyncio.run(main()) not in seen


def test_a_run_whose_nodes_never_wait_lets_others_have_their_turn() -> None:
    stopped = asyncio.Event()

    @node
    async def step(state: Count) -> dict[str, int]:
        return {"count": state.count + 1}

    again = when(lambda _: not stopped.is_set(), step)
    graph = Graph(Count, max_steps=1_000_000).flow(START >> step, step >> again)

    async def main() -> int:
        asyncio.get_running_loop().call_soon(stopped.set)
        return (await graph.ainvoke({})).state.count

    assert asyncio.run(main()) < 1_000_000


def test_a_stop_before_the_tasks_begin_keeps_them_from_beginning() -> None:
    ran: list[str] = []

    @node
    async def step(_: Count) -> None:
        ran.append("step")

    async def main() -> list[str]:
        happening = Graph(Count).flow(START >> step >> END).astream({}, lockstep=True)
        async for event in happening:
            if type(event).__name__ == "TaskStarted":
                break
        await happening.aclose()
        return ran

    assert asyncio.run(main()) == []
