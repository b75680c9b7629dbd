"""Tools that must run at most once, killed in the middle of a call."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from nbgraph import END, START, Graph, NodeContext, Resume, node, subgraph
from nbgraph.core.effects import OUTCOME_UNKNOWN
from nbgraph.core.store import StateStore
from tests.reliability.processes import forked, in_memory, told
from tests.reliability.runs import Kind, die, open_store, place
from tests.reliability.walks import Walk, effect, effects

SEED = 20_253
CALLS = ("first", "left", "right", "inner", "whole")
"""One call alone, two side by side, one in a sub-graph, and a node that is the effect itself."""
PLACES = ("before", "after")


def tools(store: StateStore | None, outside: Path, fall: Callable[[str, str], None]) -> Graph:
    """Return a graph of calls; `fall` is told where each one stands."""

    async def called(name: str) -> str:
        fall(name, "before")
        effect(outside, name)
        fall(name, "after")
        return f"did {name}"

    def tool(name: str) -> Callable[[], Any]:
        async def call() -> str:
            return await called(name)

        return call

    @node
    async def alone(state: Walk, ctx: NodeContext) -> dict[str, Any]:
        return {"log": [await ctx.once("first", tool("first"), effect="once")]}

    @node
    async def both(state: Walk, ctx: NodeContext) -> dict[str, Any]:
        async with asyncio.TaskGroup() as group:
            calls = [
                group.create_task(ctx.once(name, tool(name), effect="once"))
                for name in ("left", "right")
            ]
        return {"log": [call.result() for call in calls]}

    @node
    async def inside(state: Walk, ctx: NodeContext) -> dict[str, Any]:
        return {"log": [await ctx.once("inner", tool("inner"), effect="once")]}

    @node(effect="once")
    async def whole(state: Walk) -> dict[str, Any]:
        return {"log": [await called("whole")]}

    inner = Graph(Walk, name="inner").flow(START >> inside >> END)
    child = subgraph("child", inner, share=["log"])
    steps = [START >> alone, alone >> both, both >> child, child >> whole, whole >> END]
    return Graph(Walk, name="tools", state_store=store).flow(*steps)


def _run(
    kind: Kind, where: Any, outside: Path, given: dict[str, Any], fall: Any, said: Connection
) -> None:
    async def main() -> Any:
        store = open_store(where)
        result = await tools(store, outside, fall).ainvoke(thread_id="t", **given)
        await store.aclose()
        return result

    result = asyncio.run(main())
    said.send((result.status, result.interrupts, result.data["log"]))


def fallen(number: int, kind: Kind) -> str:
    """Kill a run in the middle of a call, and let a person say how it goes on."""
    chance = random.Random(f"{SEED} {kind} {number}")
    with in_memory() as folder, place(kind, folder) as where:
        return _fallen(number, chance, kind, where, folder / "effects")


def _fallen(number: int, chance: random.Random, kind: Kind, where: Any, outside: Path) -> str:
    name, place = CALLS[number % len(CALLS)], chance.choice(PLACES)
    decision = chance.choice(["retry", "skip", "set result"])

    def fall(*here: str) -> None:
        if here == (name, place):
            die()

    with forked(_run, kind, where, outside, {"initial_state": {}}, fall) as (_, said):
        if told(said):
            return f"run {number}: it was not killed"
    before = effects(outside)
    with forked(_run, kind, where, outside, {}, lambda *_: None) as (_, said):
        status, asked, _ = said.recv()
    # The call beside it may have been under way too.
    wrong = [one for one in asked.values() if one.reason != OUTCOME_UNKNOWN]
    if status != "interrupted" or not any(_is_about(one.key, name) for one in asked.values()):
        return f"run {number}, {name} {place}: {status}, {list(asked)}"
    if wrong or effects(outside)[name] != before[name] or before[name] > 1:
        return f"run {number}, {name} {place}: {wrong}, {effects(outside)}"
    run = f"run {number}, {name} {place} {decision}"
    return _decided(run, decision, kind, where, outside, asked)


def _is_about(key: str, name: str) -> bool:
    return key.endswith("whole:outcome?" if name == "whole" else f":{name}/outcome?")


def _decided(
    run: str, decision: str, kind: Kind, where: Any, outside: Path, asked: dict[str, Any]
) -> str:
    names = {next(name for name in CALLS if _is_about(key, name)): key for key in asked}
    answers = {key: _answer(decision, name) for name, key in names.items()}
    before = effects(outside)
    given = {"resume": Resume(answers=answers)}
    with forked(_run, kind, where, outside, given, lambda *_: None) as (_, said):
        status, _, log = said.recv()
    expected = [_result(decision, name) if name in names else f"did {name}" for name in CALLS]
    if status != "completed" or log != [one for one in expected if one is not Skipped]:
        return f"{run}: {status}, {log}"
    for name, times in effects(outside).items():
        again = 1 if name in names and decision == "retry" else 0
        fresh = 1 if name not in names and not before[name] else 0
        if times != before[name] + again + fresh:
            return f"{run}: {name} was done {times} times, {before[name]} of them before"
    return ""


Skipped = object()


def _answer(decision: str, name: str) -> dict[str, Any]:
    if decision != "set result":
        return {"decision": decision}
    value = f"known {name}"
    return {"decision": decision, "result": {"log": [value]} if name == "whole" else value}


def _result(decision: str, name: str) -> Any:
    match decision:
        case "retry":
            return f"did {name}"
        case "skip":
            return Skipped if name == "whole" else None
        case _:
            return f"known {name}"
