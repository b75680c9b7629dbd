"""An owner of a thread that is stopped in the middle, and another that takes the thread over."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from nbgraph import END, START, Graph, NodeContext, node
from nbgraph.core.store import StateStore
from nbgraph.errors import NbgraphError
from tests.reliability.processes import forked, in_memory
from tests.reliability.runs import open_store, recorded
from tests.reliability.walks import Walk, effect, effects

NODES = 5


def held_up(store: StateStore, outside: Path, hold: Callable[[], None], at: int) -> Graph:
    """Return a graph whose node number `at` is held up after its effect."""

    def stop(number: int) -> Any:
        async def body(state: Walk, ctx: NodeContext) -> dict[str, Any]:
            effect(outside, f"n{number}")
            if number == at:
                hold()
            return {"log": [f"n{number}"]}

        body.__name__ = f"n{number}"
        return node(body)

    nodes = [stop(number) for number in range(NODES)]
    flow = [before >> one for before, one in zip([START, *nodes], [*nodes, END], strict=True)]
    return Graph(Walk, name="held up", state_store=store).flow(*flow)


def work_until_told(path: Path, outside: Path, at: int, said: Connection) -> None:
    """Stand still in a node until somebody says go on, and tell what became of the run."""
    store = open_store(path)

    def hold() -> None:
        said.send("in the node")
        said.recv()

    try:
        asyncio.run(held_up(store, outside, hold, at).ainvoke({}, thread_id="t"))
    except NbgraphError as error:
        said.send(type(error).__name__)
    else:
        said.send("finished")


async def _taken_over(path: Path, outside: Path, at: int) -> list[str]:
    store = open_store(path)
    result = await held_up(store, outside, lambda: None, at).ainvoke(None, thread_id="t")
    await store.aclose()
    return result.data["log"]


def taken_over(number: int) -> str:
    """Take a thread over from an owner that is stopped and wakes up later; return what is wrong."""
    at = number % NODES
    with in_memory() as folder:
        path, outside = folder / "t.db", folder / "effects"
        with forked(work_until_told, path, outside, at) as (old, said):
            assert said.recv() == "in the node"
            os.kill(old, signal.SIGSTOP)
            os.waitpid(old, os.WUNTRACED)
            log = asyncio.run(_taken_over(path, outside, at))
            before = recorded(path)
            said.send("go on")
            os.kill(old, signal.SIGCONT)
            became = said.recv()
        if became not in {"ConcurrentRunError", "ClaimLostError"}:
            return f"run {number}: the old owner {became}"
        if log != [f"n{one}" for one in range(NODES)] or recorded(path) != before:
            return f"run {number}: {log}, {recorded(path)}"
        done = effects(outside)
    expected = {f"n{one}": 2 if one == at else 1 for one in range(NODES)}
    return "" if done == expected else f"run {number}: {done}"
