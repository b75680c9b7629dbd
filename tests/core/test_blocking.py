"""An async node that holds the loop is named while it does, and when it has let go."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from nbgraph import InMemoryStateStore, node
from nbgraph.core import blocking
from nbgraph.core.loop import run_sync
from nbgraph.core.requests import Start
from nbgraph.core.thread import Thread
from tests.core.graphs import Trail, chain

Told = list[tuple[str, bool]]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> tuple[Told, threading.Event, Callable[..., None]]:
    """Return what is told, an event that is set then, and what to tell."""
    monkeypatch.setattr(blocking, "LIMIT", 0.05)
    monkeypatch.setattr(blocking, "_BETWEEN", 0.01)
    told: Told = []
    named = threading.Event()

    def tell(name: str, seconds: float | None) -> None:
        if name == "greedy":  # on a busy machine others hold the loop as long as that, too
            told.append((name, seconds is not None))
            named.set()

    return told, named, tell


def test_a_node_that_holds_the_loop_is_named_while_it_does_and_afterwards(held):
    told, named, tell = held

    async def greedy(state: Trail) -> dict[str, Any]:
        named.wait(60)  # holds the loop until somebody has said so
        return {"log": ["greedy"]}

    graph = chain(node(name="greedy")(greedy))

    async def run() -> None:
        thread = Thread(graph, InMemoryStateStore(), "t")
        with blocking.watched(asyncio.get_running_loop(), tell):
            async for _ in thread.send(Start({})):
                pass
            while len(told) < 2:  # noqa: ASYNC110 - told from another thread
                await asyncio.sleep(0.01)

    run_sync(run())
    assert told[:2] == [("greedy", False), ("greedy", True)]
