"""Processes that start quickly: forked from one that has imported everything."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.reliability.program"])

NIGHTLY = bool(os.environ.get("NBGRAPH_NIGHTLY"))


def count(each_run: int, nightly: int) -> int:
    """Return how often to try: a part of it on each change, all of it at night."""
    return nightly if NIGHTLY else each_run


@contextmanager
def process(
    target: Callable[..., None], *arguments: Any, place: int | None = None
) -> Iterator[tuple[ForkServerProcess, Connection]]:
    """Run a function in a process, which is gone at the end; `place` is where it gets the pipe."""
    here, there = CONTEXT.Pipe()
    given = list(arguments)
    given.insert(len(given) if place is None else place, there)
    made = CONTEXT.Process(target=target, args=given)
    made.start()
    there.close()
    try:
        yield made, here
    finally:
        made.kill()
        made.join()
        made.close()
        here.close()


def told(connection: Connection) -> list[str]:
    """Return what is still told until the process is gone."""
    lines: list[str] = []
    try:
        while True:
            lines.append(connection.recv())
    except (EOFError, ConnectionResetError):
        return lines


def report(name: str, runs: int, failed: list[str], seed: int) -> None:
    """Print the count of a kind of run, and fail with what went wrong."""
    sys.stdout.write(f"{name}: {runs} run, {len(failed)} failed, seed {seed}\n")
    assert not failed, "\n".join(failed)
