"""An executor over any `concurrent.futures.Executor`: a process pool, or a cluster that is one."""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
import os

from nbgraph.core.executor import Batch, Executor, ExecutorCapability
from nbgraph.core.parcel import Parcel, run_parcel

__all__ = ["FuturesExecutor"]

_LARGEST = 200
"""How many tasks travel together at most."""


class FuturesExecutor(Executor):
    """Runs tasks in a pool, many in one call of the pool.

    What goes there and comes back are values, carried as the pool carries values: with
    `concurrent.futures.ProcessPoolExecutor`, nodes, state type and middleware are found in the
    worker under their import path, so they stand in a module and not in a notebook's cell.
    What a node emits comes with its outcome; a node that runs when the run ends early runs to its
    end there.

    Parameters
    ----------
    pool : concurrent.futures.Executor
        Yours: nbgraph does not shut it down.
    workers : int, optional
        How many parcels can run at once there; by default one for each processor here. Tasks are
        divided into four times as many parcels.

    Raises
    ------
    TypeError
        If `pool` is no `concurrent.futures.Executor`.
    ValueError
        If `workers` is below 1.
    """

    name = "futures"
    capabilities: frozenset[ExecutorCapability] = frozenset({"remote"})

    def __init__(self, pool: concurrent.futures.Executor, *, workers: int | None = None) -> None:
        if not isinstance(pool, concurrent.futures.Executor):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
            raise TypeError(f"pool is a concurrent.futures.Executor, got {pool!r}")
        if workers is not None and workers < 1:
            raise ValueError(f"workers is 1 or more, got {workers!r}")
        self._pool = pool
        self._workers = workers or os.cpu_count() or 1

    async def run(self, batch: Batch) -> None:
        """Run `batch`, each parcel as one call of the pool."""
        size = min(math.ceil(len(batch.calls) / (4 * self._workers)), _LARGEST)
        parts = [self._sent(batch, parcel) for parcel in batch.parcels(size)]
        results = await asyncio.gather(*parts, return_exceptions=True)
        problem = next((each for each in results if each is not None), None)
        if problem is not None:  # the other parcels have been reported by now
            raise problem

    async def _sent(self, batch: Batch, parcel: Parcel) -> None:
        future = self._pool.submit(run_parcel, parcel)
        batch.receive(await asyncio.wrap_future(future))
