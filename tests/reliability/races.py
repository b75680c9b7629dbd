"""Several who answer one question at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from nbgraph import END, START, Graph, NodeContext, Resume, interrupt, node
from nbgraph.core.store import StateStore
from nbgraph.errors import NbgraphError
from tests.reliability.processes import in_memory
from tests.reliability.runs import open_store
from tests.reliability.walks import effect, effects

LOST = {"AlreadyAnsweredError", "ConcurrentRunError", "ClaimLostError"}
"""What the others are told."""


def asking(store: StateStore | None, outside: Path) -> Graph:
    """Return a graph that asks once, and does what it was told."""

    @node
    async def ask(state: Any, ctx: NodeContext) -> dict[str, Any]:
        return {"said": interrupt(id="go", message="Go?", response_schema=str)}

    @node
    async def act(state: Any, ctx: NodeContext) -> dict[str, Any]:
        effect(outside, f"{ctx.thread_id}={state['said']}")
        return {}

    return Graph(dict, name="asking", state_store=store).flow(START >> ask >> act >> END)


def paused(path: Path, outside: Path, names: Sequence[str]) -> None:
    """Let threads of these names ask."""

    async def begin() -> None:
        store = open_store(path)
        graph = asking(store, outside)
        await asyncio.gather(*(graph.ainvoke({}, thread_id=name) for name in names))
        await store.aclose()

    asyncio.run(begin())


async def answered(store: StateStore, outside: Path, thread_id: str, name: str) -> str:
    """Answer the only question of a thread, as a form does that shows this very asking."""
    graph = asking(store, outside)
    given = Resume(answers={"ask:go": name}, asked={"ask:go": 2}, by=name)
    try:
        result = await graph.ainvoke(resume=given, thread_id=thread_id)
    except NbgraphError as error:
        return type(error).__name__
    return f"won {result.data['said']}"


def answer_rounds(path: Path, outside: Path, name: str, rounds: Connection) -> None:
    """For each thread that is named, answer its question, and say what became of it."""
    store = open_store(path)
    rounds.send("ready")
    while thread_id := rounds.recv():
        rounds.send(asyncio.run(answered(store, outside, thread_id, name)))
    store.close()


def thread_races(names: Sequence[str]) -> list[str]:
    """Let four threads answer each question; return what is wrong with each race."""
    with in_memory() as folder:
        path, outside = folder / "t.db", folder / "effects"
        paused(path, outside, names)
        store = open_store(path)

        def one(name: str, who: str) -> str:
            return asyncio.run(answered(store, outside, name, who))

        with ThreadPoolExecutor(4) as pool:
            rounds = {name: list(pool.map(one, [name] * 4, "abcd")) for name in names}
        store.close()
        return judged(rounds, outside)


def task_races(names: Sequence[str]) -> list[str]:
    """Let four tasks of one loop answer each question; return what is wrong with each race."""
    with in_memory() as folder:
        path, outside = folder / "t.db", folder / "effects"
        paused(path, outside, names)

        async def race() -> dict[str, Sequence[str]]:
            store = open_store(path)
            rounds = {
                name: await asyncio.gather(*(answered(store, outside, name, who) for who in "abcd"))
                for name in names
            }
            await store.aclose()
            return rounds

        return judged(asyncio.run(race()), outside)


def judged(rounds: dict[str, Sequence[str]], outside: Path) -> list[str]:
    """Return what is wrong with each race, or nothing."""
    said: dict[str, list[str]] = {name: [] for name in rounds}
    for line in effects(outside).elements():
        name, _, answer = line.partition("=")
        said[name].append(answer)
    return [_wrong(outcomes, said[name], name) for name, outcomes in rounds.items()]


def _wrong(outcomes: Sequence[str], said: Sequence[str], name: str) -> str:
    won = [one for one in outcomes if one.startswith("won ")]
    if len(won) != 1 or not LOST.issuperset(set(outcomes) - set(won)):
        return f"{name}: {outcomes}"
    if said != [won[0].removeprefix("won ")]:
        return f"{name}: {outcomes} but {said}"
    return ""
