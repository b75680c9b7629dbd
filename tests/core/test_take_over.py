"""A run takes its branch over when it begins: one that began earlier commits nothing any more."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nbgraph import END, START, Graph, InMemoryStateStore, node, subgraph
from nbgraph.core.store import StateStore
from nbgraph.errors import ClaimLostError, ConcurrentRunError


class Works:
    """A graph of two nodes whose first one can be held up, and what its nodes did."""

    def __init__(self, store: StateStore, name: str, *, inside: bool = False) -> None:
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self.ran: list[str] = []

        @node
        async def slow(state: Any) -> dict[str, Any]:
            self.ran.append("slow")
            self.begun.set()
            await self.go_on.wait()
            return {"by": name}

        @node
        async def after(state: Any) -> dict[str, Any]:
            self.ran.append("after")
            return {"done": True}

        if inside:
            works = Graph(dict, name="works").flow(START >> slow >> after >> END)
            ways = {"state_in": lambda state: {}, "state_out": lambda last: dict(last)}
            path = START >> subgraph("sub", works, **ways) >> END
        else:
            path = START >> slow >> after >> END
        self.graph = Graph(dict, name="outer", state_store=store).flow(path)


def test_a_run_that_was_taken_over_from_commits_nothing_and_the_new_one_ends() -> None:
    async def scenario() -> None:
        store = InMemoryStateStore()
        old, new = Works(store, "old"), Works(store, "new")
        first = asyncio.create_task(old.graph.ainvoke({}, thread_id="t"))
        await old.begun.wait()
        second = asyncio.create_task(new.graph.ainvoke(None, thread_id="t"))
        await new.begun.wait()
        before = await store.events("t")
        old.go_on.set()
        with pytest.raises(ClaimLostError, match="was taken over after event 1"):
            await first
        assert await store.events("t") == before
        new.go_on.set()
        assert (await second).data == {"by": "new", "done": True}
        assert old.ran == ["slow"]

    asyncio.run(scenario())


def test_a_run_that_lags_behind_is_refused_before_its_claim_is_looked_at() -> None:
    async def scenario() -> None:
        store = InMemoryStateStore()
        old, new = Works(store, "old"), Works(store, "new")
        new.go_on.set()
        first = asyncio.create_task(old.graph.ainvoke({}, thread_id="t"))
        await old.begun.wait()
        await new.graph.ainvoke(None, thread_id="t")
        old.go_on.set()
        with pytest.raises(ConcurrentRunError) as raised:
            await first
        assert type(raised.value) is ConcurrentRunError
        assert (await new.graph.load("t")) == {"by": "new", "done": True}

    asyncio.run(scenario())


def test_a_sub_graph_is_taken_over_with_the_run_it_belongs_to() -> None:
    async def scenario() -> None:
        store = InMemoryStateStore()
        old, new = Works(store, "old", inside=True), Works(store, "new", inside=True)
        first = asyncio.create_task(old.graph.ainvoke({}, thread_id="t"))
        await old.begun.wait()
        second = asyncio.create_task(new.graph.ainvoke(None, thread_id="t"))
        await new.begun.wait()
        child = "t:sub:1"
        before = [await store.events(name) for name in ("t", child)]
        old.go_on.set()
        with pytest.raises(ClaimLostError, match="was taken over after event 1"):
            await first
        assert [await store.events(name) for name in ("t", child)] == before
        new.go_on.set()
        assert (await second).data == {"by": "new", "done": True}
        assert old.ran == ["slow"]

    asyncio.run(scenario())
