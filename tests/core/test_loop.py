"""The loop thread: sync calls from anywhere, cancelled, interrupted, iterated."""

from __future__ import annotations

import asyncio
import contextvars
import multiprocessing
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import CancelledError
from typing import Any

import pytest

from nbgraph.core import loop, workers
from tests.core.graphs import chain, stop


async def _loop() -> Any:
    return asyncio.get_running_loop()


def test_every_sync_call_runs_on_one_loop() -> None:
    assert loop.run_sync(_loop()) is loop.run_sync(_loop())


def test_the_callers_context_variables_are_seen_and_not_changed() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")
    name.set("ada")

    async def look() -> str:
        seen = name.get()
        name.set("grace")
        return seen

    assert (loop.run_sync(look()), name.get()) == ("ada", "ada")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, ValueError])
def test_an_error_of_any_kind_comes_to_whoever_waits_and_the_loop_lives(
    kind: type[BaseException],
) -> None:
    async def fail() -> None:
        raise kind("out")

    before = loop.run_sync(_loop())
    with pytest.raises(kind):
        loop.run_sync(fail())
    assert loop.run_sync(_loop()) is before


def test_cancelling_a_future_cancels_its_coroutine() -> None:
    begun, ended = threading.Event(), threading.Event()

    async def waits() -> None:
        begun.set()
        await asyncio.Event().wait()

    future = loop.submit(waits(), ended=ended.set)
    assert begun.wait(60)
    future.cancel()
    assert ended.wait(60)
    with pytest.raises(CancelledError):
        future.result()


def test_a_coroutine_that_is_cancelled_before_it_began_is_closed_and_ends() -> None:
    ended, ran = threading.Event(), list[int]()

    async def never() -> None:
        ran.append(1)

    async def scenario() -> None:
        future = loop.submit(never(), ended=ended.set)
        future.cancel()

    loop.run_sync(scenario())
    assert ended.wait(60)
    assert ran == []


def test_a_wait_on_the_loop_thread_is_refused_and_nothing_is_left_unawaited() -> None:
    async def inside() -> None:
        loop.run_sync(_loop())

    with pytest.raises(RuntimeError, match="await the async method"):
        loop.run_sync(inside())


async def _numbers(taken: list[int], ended: threading.Event) -> AsyncGenerator[int, None]:
    try:
        for number in range(100):
            taken.append(number)
            yield number
    finally:
        ended.set()


def test_iterate_gives_every_item_in_order() -> None:
    taken: list[int] = []
    assert list(loop.iterate(_numbers(taken, threading.Event()))) == list(range(100))


def test_iterate_goes_on_when_the_next_item_is_asked_for() -> None:
    taken: list[int] = []
    ended = threading.Event()
    items = loop.iterate(_numbers(taken, ended))
    assert [next(items), next(items)] == [0, 1]
    items.close()
    assert ended.is_set()
    assert taken == [0, 1]


def test_iterate_raises_what_its_source_raises() -> None:
    async def source() -> AsyncGenerator[int, None]:
        yield 1
        raise ValueError("no")

    items = loop.iterate(source())
    assert next(items) == 1
    with pytest.raises(ValueError, match="no"):
        next(items)


def test_a_worker_keeps_the_context_and_returns_or_raises() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")

    async def scenario() -> None:
        name.set("ada")
        assert await workers.call_in_worker(name.get) == "ada"
        with pytest.raises(KeyboardInterrupt):
            await workers.call_in_worker(_interrupted)

    asyncio.run(scenario())


def _interrupted() -> None:
    raise KeyboardInterrupt


def test_a_worker_that_ends_after_its_loop_is_no_error() -> None:
    begun, release, ended = threading.Event(), threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        release.wait(60)
        ended.set()

    async def scenario() -> None:
        task = asyncio.ensure_future(workers.call_in_worker(slow))
        await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())
    release.set()
    assert ended.wait(60)

    async def after() -> int:
        return await workers.call_in_worker(lambda: 5)

    assert asyncio.run(after()) == 5


def test_workers_are_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_workers", workers._Workers())

    async def scenario() -> set[int | None]:
        return {await workers.call_in_worker(threading.get_ident) for _ in range(50)}

    assert len(asyncio.run(scenario())) == 1


class _Chain:
    """Submits a call when the one before it has ended, as a run of sync nodes does."""

    def __init__(self, own: workers._Workers, calls: int) -> None:
        self.own, self.left, self.over = own, calls, threading.Event()
        self.put(None)

    def put(self, _: object) -> None:
        self.left -= 1
        if self.left < 0:
            self.over.set()
            return
        context = contextvars.copy_context()
        self.own.submit(workers._Call(threading.get_ident, context, self, print))  # pyright: ignore[reportArgumentType] - it takes outcomes as an outbox does


def test_there_are_never_more_workers_than_calls_at_once() -> None:
    own = workers._Workers()
    chains = [_Chain(own, 2000) for _ in range(3)]
    assert all(each.over.wait(60) for each in chains)
    assert own._threads <= 3


def test_worker_threads_do_not_hold_the_process() -> None:
    async def scenario() -> bool:
        return await workers.call_in_worker(lambda: threading.current_thread().daemon)

    assert asyncio.run(scenario())


def _in_child(results: Any) -> None:
    results.put(chain(stop("a")).invoke({}, thread_id="t").status)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_a_loop_of_its_own() -> None:
    chain(stop("a")).invoke({}, thread_id="t")
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_in_child, args=(results,))
    child.start()
    assert results.get(timeout=60) == "completed"
    child.join(60)


def test_what_is_submitted_begins_before_what_the_loop_hears_of_later() -> None:
    order: list[str] = []
    heard = threading.Event()

    async def told() -> None:
        order.append("told")

    loop.submit(told())
    loop.call_soon(order.append, "heard later")
    loop.call_soon(heard.set)
    assert heard.wait(60)
    assert order == ["told", "heard later"]
