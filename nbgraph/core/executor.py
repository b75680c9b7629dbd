"""Where tasks run: the seam between a superstep and whatever executes its tasks.

A run hands over a batch and is told outcomes. Only the run writes to the store, so an executor
cannot damage a thread: at worst a task runs twice.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from nbgraph.core.blocking import named
from nbgraph.core.notes import Notes
from nbgraph.core.outcome import Outcome, failed
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.task import is_cancelled, run_in_worker, run_task
from nbgraph.core.task_call import TaskCall
from nbgraph.core.workers import tell_from_worker
from nbgraph.errors import NbgraphError, WorkerLostError

if TYPE_CHECKING:
    from nbgraph.core.calls import RunInfo
    from nbgraph.core.parcel import Parcel, Reply

__all__ = ["THREADS", "Batch", "Executor", "ExecutorCapability", "InlineExecutor", "ThreadExecutor"]

ExecutorCapability = Literal["events", "cancel", "remote"]
"""What an executor may do.

`"events"`: what a node emits arrives while it runs, and a `ctx.once` is recorded before the node
goes on; else both come with the outcome. `"cancel"`: a node that waits is cancelled when the run
ends early; else it runs to its end and nobody hears of it. `"remote"`: tasks leave this process,
so sub-graphs, which write to the store, are kept here.
"""


@dataclass(slots=True)  # not frozen, as a call
class Batch:
    """Tasks of one superstep, which may run side by side and in any order.

    Attributes
    ----------
    info : RunInfo
        The run they belong to.
    step : int
        Number of their superstep in this call, from 0.
    calls : sequence of TaskCall
        The tasks, as this process can run them.
    report : function
        Takes each task's outcome, once; on the run's own loop.
    """

    info: RunInfo
    step: int
    calls: Sequence[TaskCall]
    report: Callable[[Outcome], None]

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The tasks, by id."""
        return tuple(call.task.task_id for call in self.calls)

    def parcels(self, size: int) -> Iterator[Parcel]:
        """Return the tasks as values that can travel, at most `size` of them in each."""
        from nbgraph.core.parcel import packed  # where tasks leave this process

        for first in range(0, len(self.calls), size):
            yield packed(self.info, self.step, self.calls[first : first + size])

    def receive(self, replies: Iterable[Reply]) -> None:
        """Report what came back for a parcel."""
        from nbgraph.core.parcel import received  # where tasks leave this process

        for reply in replies:
            self.report(received(reply))


class Executor(ABC):
    """Runs batches of tasks; write `run` to have them run somewhere else.

    `nbgraph.testing.executors.ExecutorConformance` is the contract as tests.
    """

    name: str = "executor"
    """What it is called in errors."""
    capabilities: frozenset[ExecutorCapability] = frozenset()

    @abstractmethod
    async def run(self, batch: Batch) -> None:
        """Run `batch`, report each task's outcome as it comes, and return after the last one.

        What a node does is an outcome, an interrupt and an error too: `run` raises only if the
        engine fails, and then the tasks that were not reported count as lost. Being cancelled ends
        the batch: nothing is reported any more.
        """

    def start(self, batch: Batch) -> Sequence[asyncio.Task[None]]:
        """Begin `batch`, and return what runs it: cancelling that ends it."""
        return [asyncio.create_task(self._whole(batch))]

    async def _whole(self, batch: Batch) -> None:
        """Run a batch so that every task is reported exactly once, whatever `run` does."""
        waiting = {call.task.task_id: call for call in batch.calls}

        def report(outcome: Outcome) -> None:
            if waiting.pop(outcome.task_id, None) is not None:
                batch.report(outcome)

        cause: BaseException | None = None
        try:
            await self.run(replace(batch, report=report))
        except asyncio.CancelledError as error:
            if is_cancelled():
                waiting.clear()
                raise
            cause = error
        except Exception as error:  # noqa: BLE001 - an engine's own failure, of any kind
            cause = error
        for call in tuple(waiting.values()):
            report(failed(call, _lost(call, self.name, cause)))


def _unstarted(name: str, call: TaskCall, error: Exception) -> Outcome:
    return failed(call, _lost(call, name, error))


def _lost(call: TaskCall, name: str, cause: BaseException | None) -> NbgraphError:
    if isinstance(cause, NbgraphError):
        return cause
    error = WorkerLostError(call.node.name, name, str(cause or "it reported nothing"))
    error.__cause__ = cause
    return error


def checked_executor(given: object) -> Executor | None:
    """Return an executor, or None if none was given.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if given is None or isinstance(given, Executor):
        return given
    raise TypeError(f"executor takes an Executor, got {given!r}; is FuturesExecutor(pool) meant?")


def parts(batch: Batch, executor: Executor) -> Sequence[tuple[Executor, Batch]]:
    """Return what runs which part of a batch: what needs this process is kept in it."""
    if "remote" not in executor.capabilities:
        return ((executor, batch),)
    here = [call for call in batch.calls if call.is_bound]
    away = [call for call in batch.calls if not call.is_bound]
    listed = ((THREADS, here), (executor, away))
    return [(each, replace(batch, calls=calls)) for each, calls in listed if calls]


class ThreadExecutor(Executor):
    """The default: async nodes on the run's own loop, sync nodes in worker threads."""

    name = "threads"
    capabilities: frozenset[ExecutorCapability] = frozenset({"events", "cancel"})

    def start(self, batch: Batch) -> Sequence[asyncio.Task[None]]:
        """Begin `batch`, and return an asyncio task for each of its own that waits.

        Also for a lone one: what a node does to its task it must not do to the caller's. Before
        Python 3.13, for one, a TaskGroup with a child that fails leaves its task marked as
        cancelled, and the caller's `asyncio.timeout` would take that for a cancellation from
        outside. Nor does a sync node run on a loop: each is somebody's, the kernel's or the one
        that all sync calls share.
        """
        away: list[TaskCall] = []
        here: list[TaskCall] = []
        for call in batch.calls:
            (away if call.node.goes_away and call.hooks is None else here).append(call)
        if away:
            tell_from_worker(run_in_worker, away, batch.report, partial(_unstarted, self.name))
        return _begun(batch, here, run_task) if here else ()

    async def run(self, batch: Batch) -> None:
        """Run `batch`."""
        if not batch.calls:
            return
        waiting, done = len(batch.calls), asyncio.get_running_loop().create_future()

        def report(outcome: Outcome) -> None:
            nonlocal waiting
            if done.done():  # cancelled
                return
            waiting -= 1
            batch.report(outcome)
            if not waiting:
                done.set_result(None)

        jobs = self.start(replace(batch, report=report))
        try:
            await done
        finally:
            for job in jobs:
                job.cancel()


class InlineExecutor(ThreadExecutor):
    """Everything on the run's own loop: sync nodes one after the other, in the order of the tasks.

    For a debugger, and for what must not leave its thread. While a sync node runs, nothing else
    does on that loop, its `timeout` is noticed when it returns, and its `ctx.once` is recorded
    with its outcome.
    """

    name = "inline"

    def start(self, batch: Batch) -> Sequence[asyncio.Task[None]]:
        """Begin `batch`, and return an asyncio task for each of its own that waits."""
        return _begun(batch, batch.calls, _noted)


def _begun(
    batch: Batch,
    calls: Iterable[TaskCall],
    run: Callable[[TaskCall], Coroutine[Any, Any, Outcome]],
) -> list[asyncio.Task[None]]:
    return batch.info.starter.start(
        [(named(call.node.name), run(call)) for call in calls], batch.report
    )


async def _noted(call: TaskCall) -> Outcome:
    """Run a task on the loop; where it cannot wait for a record, that comes with the outcome."""
    notes, context = Notes(), call.context
    if context is not None and not call.node.is_async:
        port = replace(context.port, record=notes.record, at_once=True)
        context = replace(context, port=port)
    outcome = await run_task(replace(call, context=context, inline=True))
    return replace(outcome, once=tuple(notes.once))


THREADS = ThreadExecutor()
"""What runs tasks where nothing else is said."""
