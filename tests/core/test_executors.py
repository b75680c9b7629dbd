"""Where tasks run: nbgraph's own executors, and what a run makes of any."""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import multiprocessing
import pickle
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from nbgraph import Node, NodeContext, Retry, node, subgraph
from nbgraph.core import loop, workers
from nbgraph.core.executor import Batch, Executor, InlineExecutor, ThreadExecutor
from nbgraph.core.futures import FuturesExecutor
from nbgraph.core.parcel import run_parcel
from nbgraph.errors import (
    AlreadyAnsweredError,
    GraphExecutionError,
    InvalidUpdateError,
    NodeTimeoutError,
    UnknownThreadError,
    WorkerLostError,
)
from nbgraph.testing import _executor_nodes as nodes
from nbgraph.testing.executors import ExecutorConformance
from tests.core.graphs import Trail, chain, failing, fan, history, stop, types


class TestThreads(ExecutorConformance):
    def make_executor(self) -> Executor:
        return ThreadExecutor()


class TestInline(ExecutorConformance):
    def make_executor(self) -> Executor:
        return InlineExecutor()


class TestThreadPool(ExecutorConformance):
    pool: ClassVar[concurrent.futures.Executor]

    @classmethod
    def setup_class(cls) -> None:
        cls.pool = concurrent.futures.ThreadPoolExecutor(2)

    @classmethod
    def teardown_class(cls) -> None:
        cls.pool.shutdown()

    def make_executor(self) -> Executor:
        return FuturesExecutor(self.pool, workers=2)


class TestProcessPool(ExecutorConformance):
    pool: ClassVar[concurrent.futures.Executor]

    @classmethod
    def setup_class(cls) -> None:
        context = multiprocessing.get_context("spawn")
        cls.pool = concurrent.futures.ProcessPoolExecutor(2, mp_context=context)

    @classmethod
    def teardown_class(cls) -> None:
        cls.pool.shutdown()

    def make_executor(self) -> Executor:
        return FuturesExecutor(self.pool, workers=2)


# --- what a run makes of an executor ----------------------------------------------------------


class Strange(Executor):
    """Does with a batch what the test says."""

    name = "strange"

    def __init__(self, does: Callable[[Batch], Coroutine[Any, Any, None]]) -> None:
        self._does = does

    async def run(self, batch: Batch) -> None:
        await self._does(batch)


async def reported(batch: Batch) -> None:
    batch.receive(await asyncio.to_thread(run_parcel, next(batch.parcels(100))))


def test_a_task_that_is_never_reported_is_lost_and_can_be_continued() -> None:
    async def half(batch: Batch) -> None:
        whole = next(batch.parcels(100))
        batch.receive(
            await asyncio.to_thread(run_parcel, replace(whole, errands=whole.errands[:1]))
        )

    graph = fan(stop("a"), stop("b"), executor=Strange(half))
    with pytest.raises(WorkerLostError, match="'b' was lost by executor 'strange': it reported"):
        graph.invoke({}, thread_id="t")
    assert graph.sync.position("t").next == ("b",)
    assert graph.invoke(thread_id="t", executor=ThreadExecutor()).state.log == ["a", "b"]


def test_an_engine_that_fails_loses_what_it_had_not_reported() -> None:
    async def breaks(batch: Batch) -> None:
        raise OSError("no more workers")

    graph = chain(stop("a"), executor=Strange(breaks))
    with pytest.raises(WorkerLostError, match="no more workers") as caught:
        graph.invoke({}, thread_id="t")
    assert isinstance(caught.value.__cause__, OSError)
    assert (caught.value.node_name, caught.value.executor) == ("a", "strange")


class _NoThread(threading.Thread):
    def start(self) -> None:
        raise RuntimeError("can't start new thread")


@pytest.fixture
def no_new_threads(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    starting(_NoThread, monkeypatch)
    return monkeypatch


def starting(kind: type[threading.Thread], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers be threads of a kind; none is there yet."""
    loop.loop()
    monkeypatch.setattr(workers, "_workers", workers._Workers())
    monkeypatch.setattr(workers, "threading", SimpleNamespace(**vars(threading) | {"Thread": kind}))


@pytest.mark.parametrize("retry", [None, Retry(attempts=2)])
def test_a_worker_that_cannot_be_started_fails_its_task_and_the_thread_goes_on(
    no_new_threads: pytest.MonkeyPatch, retry: Retry | None
) -> None:
    graph = chain(stop("a", retry=retry))
    with pytest.raises((WorkerLostError, RuntimeError), match="can't start new thread"):
        graph.invoke({}, thread_id="t")
    assert types(graph) == ["run_started", "task_failed", "run_failed"]
    no_new_threads.undo()
    assert graph.invoke(None, thread_id="t").state.log == ["a"]


def test_calls_for_which_no_worker_can_be_started_wait_for_those_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class OnlyOne(threading.Thread):
        started = 0

        def start(self) -> None:
            if OnlyOne.started:
                raise RuntimeError("can't start new thread")
            OnlyOne.started += 1
            super().start()

    starting(OnlyOne, monkeypatch)
    graph = fan(*(stop(name) for name in "abc"))
    assert graph.invoke({}, thread_id="t").state.log == ["a", "b", "c"]
    inner = chain(stop("inner"))

    @node
    def waits(state: Trail) -> dict[str, Any]:
        return {"log": inner.invoke({}, thread_id="inner").state.log}

    with pytest.raises(WorkerLostError, match="can't start new thread"):
        chain(waits).invoke({}, thread_id="t")


class Foreign(BaseException):
    """As a test runner raises out of a signal handler."""


@pytest.fixture
def signalled() -> Iterator[Callable[[], bool]]:
    """Return what raises `Foreign` in the main thread, by a signal, the first time."""
    calls = [1]

    def handler(*_: object) -> None:
        raise Foreign("out of time")

    def once() -> bool:
        if calls:
            calls.pop()
            signal.raise_signal(signal.SIGUSR1)
        return True

    before = signal.signal(signal.SIGUSR1, handler)
    yield once
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("is_async", [True, False])
def test_what_a_signal_handler_raises_in_a_node_goes_before_errors_and_is_recorded(
    signalled: Callable[[], bool], is_async: bool
) -> None:
    @node(name="b")
    def sync(state: Trail) -> dict[str, Any]:
        return {"log": ["b"]} if signalled() else {}

    @node(name="b")
    async def coro(state: Trail) -> dict[str, Any]:
        return {"log": ["b"]} if signalled() else {}

    a = failing("a", ValueError("no"))
    graph = fan(a, coro if is_async else sync, executor=InlineExecutor())
    with pytest.raises(Foreign, match="out of time") as caught:
        asyncio.run(graph.ainvoke({}, thread_id="t"))
    assert "Task 'a' failed too, with ValueError: no" in caught.value.__notes__
    assert types(graph) == ["run_started", "task_failed", "task_failed", "run_failed"]
    assert history(graph)[-1].error.type == "Foreign"
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


@pytest.mark.parametrize("executor", [InlineExecutor(), ThreadExecutor()], ids=lambda it: it.name)
def test_what_is_raised_beside_a_node_ends_its_run_too(
    executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def interrupted(call: Any, attempts: Any) -> Any:
        raise Foreign("between two nodes")

    monkeypatch.setattr("nbgraph.core.task.node_run", interrupted)

    @node
    async def a(state: Trail) -> dict[str, Any]:
        return {"log": ["a"]}

    graph = chain(a, executor=executor)
    with pytest.raises(Foreign, match="between two nodes"):
        graph.invoke({}, thread_id="t")
    assert types(graph) == ["run_started", "task_failed", "run_failed"]


def test_a_task_that_is_reported_twice_counts_once() -> None:
    async def twice(batch: Batch) -> None:
        await reported(batch)
        await reported(batch)

    graph = chain(stop("a"), stop("b"), executor=Strange(twice))
    assert graph.invoke({}, thread_id="t").state.log == ["a", "b"]


def test_a_pool_that_drops_its_calls_loses_the_tasks_and_not_the_run() -> None:
    with ThreadPoolExecutor(1) as pool:
        entered, leave = threading.Event(), threading.Event()
        pool.submit(lambda: (entered.set(), leave.wait(60)))
        assert entered.wait(60)
        graph = chain(stop("a"), executor=FuturesExecutor(pool))
        stream = graph.stream({}, thread_id="t", lockstep=True)
        assert [type(next(stream)).__name__ for _ in range(2)] == ["RunStarted", "TaskStarted"]
        pool.shutdown(wait=False, cancel_futures=True)
        leave.set()
        with pytest.raises(WorkerLostError, match="'a' was lost by executor 'futures'"):
            list(stream)


def test_tasks_travel_in_few_parcels() -> None:
    sizes: list[int] = []

    class Counting(ThreadPoolExecutor):
        def submit(self, function: Any, /, *args: Any, **options: Any) -> Any:
            sizes.append(len(args[0].task_ids))
            return super().submit(function, *args, **options)

    with Counting(2) as pool:
        graph = fan(
            *(stop(f"n{at}") for at in range(100)), executor=FuturesExecutor(pool, workers=2)
        )
        graph.invoke({}, thread_id="t")
    assert sizes == [13] * 7 + [9]


@pytest.mark.parametrize("given", [{"pool": "a pool"}, {"pool": None}])
def test_a_futures_executor_takes_a_pool(given: Any) -> None:
    with pytest.raises(TypeError, match="pool is a concurrent"):
        FuturesExecutor(**given)


def test_a_futures_executor_takes_a_number_of_workers() -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="workers is 1 or more"):
        FuturesExecutor(pool, workers=0)


def test_an_executor_is_checked_where_it_is_given() -> None:
    with pytest.raises(TypeError, match="executor takes an Executor, got 'dask'"):
        chain(stop("a"), executor="dask")  # type: ignore[arg-type]
    graph = chain(stop("a"))
    with pytest.raises(TypeError, match="executor takes an Executor"):
        graph.invoke({}, thread_id="t", executor=print)
    assert not graph.sync.exists("t")


def test_sync_nodes_run_on_the_run_s_own_thread_inline_and_in_workers_by_default() -> None:
    found: list[str] = []

    @node
    def look(state: Trail) -> None:
        found.append(threading.current_thread().name)

    chain(look, executor=InlineExecutor()).invoke({}, thread_id="t")
    chain(look).invoke({}, thread_id="t")
    assert found[0] == "nbgraph-loop"
    assert found[1].startswith("nbgraph-node")


def test_inline_sync_nodes_run_one_after_the_other_in_the_order_of_tasks() -> None:
    seen: list[str] = []

    def look(name: str) -> Node:
        def run(state: Trail) -> None:
            seen.extend([f"{name} begins", f"{name} ends"])

        return node(name=name)(run)

    fan(*map(look, "abc"), executor=InlineExecutor()).invoke({}, thread_id="t")
    assert seen == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")]


def test_a_sub_graph_s_tasks_run_where_its_parent_s_do_unless_it_says_otherwise() -> None:
    class Named(ThreadExecutor):
        def __init__(self) -> None:
            self.ran: list[str] = []

        def start(self, batch: Batch) -> Any:
            self.ran += batch.task_ids
            return super().start(batch)

    outer, own, called = Named(), Named(), Named()
    plain = subgraph("plain", chain(stop("a"), state_store=None), share=["log"])
    other = subgraph("other", chain(stop("b"), state_store=None, executor=own), share=["log"])
    graph = chain(plain, other, executor=outer)
    graph.invoke({}, thread_id="t")
    assert (outer.ran, own.ran) == (["plain", "a", "other"], ["b"])
    graph.invoke({}, thread_id="t", executor=called)
    assert called.ran == ["plain", "a", "other"]


def test_an_effect_that_happens_once_begins_where_its_start_is_recorded() -> None:
    seen: list[str] = []

    @node(effect="once")
    def pay(state: Trail) -> dict[str, Any]:
        seen.append(threading.current_thread().name)
        return {"log": ["paid"]}

    @node
    def inner(state: Trail, ctx: NodeContext) -> None:
        ctx.once("pay", lambda: seen.append("paid"), effect="once")

    with ThreadPoolExecutor(1, thread_name_prefix="pool") as pool:
        executor = FuturesExecutor(pool)
        assert chain(pay, executor=executor).invoke({}, thread_id="t").state.log == ["paid"]
        assert seen[0].startswith("nbgraph-node")
        graph = chain(inner, executor=executor)
        with pytest.raises(GraphExecutionError, match="write it as a node of its own"):
            graph.invoke({}, thread_id="t")
    assert len(seen) == 1


def test_every_error_comes_out_of_a_copy_as_it_went_in() -> None:
    for error in (
        NodeTimeoutError("a", 1.5),
        InvalidUpdateError("log", ["a", "b"]),
        AlreadyAnsweredError("a:ok", "ops", 1.0),
        UnknownThreadError("t", "main"),
        WorkerLostError("a", "futures", "gone"),
    ):
        error.add_note("seen")
        for made in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            assert (type(made), str(made), vars(made)) == (type(error), str(error), vars(error))


def test_a_node_in_a_module_travels_as_its_import_path() -> None:
    assert pickle.loads(pickle.dumps(nodes.ask)) is nodes.ask
    assert copy.copy(nodes.ask) is nodes.ask
    local = stop("a")
    assert copy.copy(local) is not local
    assert copy.copy(local).name == "a"
