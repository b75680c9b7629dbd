"""Processes that start quickly: forked from one that has imported everything, and again from those.

A test hands its runs to two workers, one a core. A worker has no threads, so that it may fork: each
process that is to be killed is a child of a worker, made in a few milliseconds.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from threading import Lock
from typing import Any

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.reliability.warm"])

NIGHTLY = bool(os.environ.get("NBGRAPH_NIGHTLY"))
CORES = 2


def count(each_run: int, nightly: int) -> int:
    """Return how often to try: a part of it on each change, all of it at night."""
    return nightly if NIGHTLY else each_run


@contextmanager
def process(
    target: Callable[..., None], *arguments: Any
) -> Iterator[tuple[ForkServerProcess, Connection]]:
    """Run a function in a process, which is gone at the end; a pipe is its last argument."""
    here, there = CONTEXT.Pipe()
    made = CONTEXT.Process(target=target, args=(*arguments, there))
    made.start()
    there.close()
    try:
        yield made, here
    finally:
        made.kill()
        made.join()
        made.close()
        here.close()


@contextmanager
def forked(target: Callable[..., None], *arguments: Any) -> Iterator[tuple[int, Connection]]:
    """Run a function in a fork of this worker, which is gone at the end; give its id and a pipe."""
    here, there = CONTEXT.Pipe()
    child = os.fork()
    if not child:
        here.close()
        _run_and_leave(target, *arguments, there)
    there.close()
    try:
        yield child, here
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        here.close()


def _run_and_leave(target: Callable[..., None], *arguments: Any) -> None:
    """Run a function and end the process at once: the worker's own end is none of its business."""
    try:
        target(*arguments)
    except BaseException:  # noqa: BLE001 - nothing may come back from here
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def told(connection: Connection) -> list[str]:
    """Return what is still told until the process is gone."""
    lines: list[str] = []
    try:
        while True:
            lines.append(connection.recv())
    except (EOFError, ConnectionResetError):
        return lines


def on_both_cores(work: Callable[..., Any], items: Iterable[Any], *arguments: Any) -> list[Any]:
    """Return `work(item, *arguments)` for each item, from workers that share nothing."""
    waiting, outcomes, lock = enumerate(items), dict[int, Any](), Lock()

    def hand_out(_: int) -> None:
        with process(_serve, work, arguments) as (_, worker):
            while True:
                with lock:
                    number, item = next(waiting, (-1, None))
                if number < 0:
                    return
                worker.send((item,))
                outcomes[number] = worker.recv()

    with ThreadPoolExecutor(CORES) as pool:
        list(pool.map(hand_out, range(CORES)))
    return [outcomes[number] for number in range(len(outcomes))]


def _serve(work: Callable[..., Any], arguments: Sequence[Any], items: Connection) -> None:
    while True:
        (item,) = items.recv()
        items.send(work(item, *arguments))


@contextmanager
def in_memory() -> Iterator[Path]:
    """Return a folder for one run: in memory where there is room, since no run needs a disk."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 2**28
    with tempfile.TemporaryDirectory(prefix="nbgraph-", dir=memory if roomy else None) as name:
        yield Path(name)


def report(name: str, outcomes: Sequence[str | None], seed: int) -> None:
    """Print the count of a kind of run, and fail with what went wrong; None did not count."""
    ran = [outcome for outcome in outcomes if outcome is not None]
    failed = list(filter(None, ran))
    sys.stdout.write(f"{name}: {len(ran)} run, {len(failed)} failed, seed {seed}\n")
    assert not failed, "\n".join(failed)
