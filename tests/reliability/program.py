"""The graph that the reliability runs run, and the processes that run it.

Every node first tells the outside, by a line in a file that is synced: the effect. Every stored
event is told to whoever started the process, after it was recorded: the acknowledgement.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    NodeContext,
    Resume,
    SQLiteStateStore,
    add,
    interrupt,
    join,
    node,
)
from nbgraph.core.events import TaskEmitted, TaskStarted
from nbgraph.errors import NbgraphError

Variant = Literal["line", "fan-out", "interrupt", "once"]
STEPS = 30


class Walk(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)


def effect(path: Path, line: str) -> None:
    """Do something outside the store that lasts."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def effects(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def walk(variant: Variant, store: SQLiteStateStore | None, outside: Path) -> Graph:
    """Return a graph of about 30 tasks."""

    def stop(name: str) -> Any:
        async def body(state: Walk, ctx: NodeContext) -> dict[str, Any]:
            effect(outside, ctx.task_id)
            if variant == "interrupt" and name.endswith(("3", "7")):
                said = interrupt(id="go", message=f"Go past {name}?", response_schema=str)
                return {"log": [f"{name}:{said}"]}
            if variant == "once" and name.endswith("5"):
                return {"log": [await ctx.once("paid", _payment(outside, ctx.task_id))]}
            return {"log": [name]}

        body.__name__ = name
        return node(body)

    flow: list[Any] = []
    before: Any = START
    block = 3 if variant == "fan-out" else 1
    for number in range(STEPS // block):
        one = stop(f"n{number}")
        flow.append(before >> one)
        before = one
        if variant == "fan-out":
            left, right = stop(f"l{number}"), stop(f"r{number}")
            flow.append(one >> [left, right])
            before = join(left, right)
    last = stop("last")
    flow += [before >> last, last >> END]
    return Graph(Walk, name=f"walk {variant}", state_store=store, max_steps=200).flow(*flow)


def _payment(outside: Path, task_id: str) -> Callable[[], Any]:
    async def paid() -> str:
        effect(outside, f"paid:{task_id}")
        return "paid"

    return paid


async def go_on(graph: Graph, tell: Callable[[str], None]) -> None:
    """Do whatever the thread needs until it is at its end."""
    while True:
        given = await _next_input(graph)
        if given is None:
            return
        async for event in graph.astream(thread_id="t", **given):
            if not isinstance(event, (TaskStarted, TaskEmitted)):
                tell(f"{event.id} {event.type}")


async def _next_input(graph: Graph) -> dict[str, Any] | None:
    if not await graph.exists("t"):
        return {"initial_state": {}}
    position = await graph.position("t")
    if position.status == "completed":
        return None
    answers = dict.fromkeys(position.pending, "yes")
    return {"resume": Resume(answers=answers)} if answers else {}


def run_to_the_end(
    path: Path, outside: Path, variant: Variant, told: Connection, dies_at: int | None = None
) -> None:
    """Run in a process of its own; with `dies_at`, kill it at that moment of the store's work."""
    store = SQLiteStateStore(path)
    if dies_at is not None:
        _die_at(store, dies_at)

    async def main() -> None:
        await go_on(walk(variant, store, outside), told.send)
        await store.aclose()

    asyncio.run(main())
    told.send("end")


def _die_at(store: SQLiteStateStore, moment: int) -> None:
    """Let the process be killed before (even) or after (odd) its `moment // 2`-th transaction."""
    attempt, calls = store._file.attempt, iter(range(10_000))

    def counted(work: Any, *, writes: bool) -> Any:
        call = next(calls)
        if moment == 2 * call:
            os.kill(os.getpid(), signal.SIGKILL)
        result = attempt(work, writes=writes)
        if moment == 2 * call + 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    store._file.attempt = counted  # type: ignore[method-assign]


def answer_rounds(path: Path, outside: Path, name: str, rounds: Connection) -> None:
    """For each thread that is named, answer its question, and say what became of it."""
    store = SQLiteStateStore(path)
    rounds.send("ready")
    while thread_id := rounds.recv():
        rounds.send(asyncio.run(answered(store, outside, thread_id, name)))
    store.close()


async def answered(store: SQLiteStateStore, outside: Path, thread_id: str, name: str) -> str:
    """Answer the only question of a thread, as a form does that shows this very asking."""
    graph = asking(store, outside)
    asked = {"ask:go": 2}
    try:
        given = Resume(answers={"ask:go": name}, asked=asked, by=name)
        result = await graph.ainvoke(resume=given, thread_id=thread_id)
    except NbgraphError as error:
        return type(error).__name__
    return f"won {result.data['said']}"


def asking(store: SQLiteStateStore | None, outside: Path) -> Graph:
    @node
    async def ask(state: Any, ctx: NodeContext) -> dict[str, Any]:
        return {"said": interrupt(id="go", message="Go?", response_schema=str)}

    @node
    async def act(state: Any, ctx: NodeContext) -> dict[str, Any]:
        effect(outside, f"{ctx.thread_id}={state['said']}")
        return {}

    return Graph(dict, name="asking", state_store=store).flow(START >> ask >> act >> END)


def work_until_told(path: Path, outside: Path, said: Connection) -> None:
    """Stand still in a node until somebody says go on, and tell what became of the run."""
    store = SQLiteStateStore(path)

    def hold() -> None:
        said.send("in the node")
        said.recv()

    try:
        asyncio.run(held_up(store, outside, hold).ainvoke({}, thread_id="t"))
    except NbgraphError as error:
        said.send(type(error).__name__)
    else:
        said.send("finished")
    store.close()


def held_up(store: SQLiteStateStore, outside: Path, hold: Callable[[], None]) -> Graph:
    def stop(name: str) -> Any:
        async def body(state: Walk, ctx: NodeContext) -> dict[str, Any]:
            effect(outside, name)
            if name == "n2":
                hold()
            return {"log": [name]}

        body.__name__ = name
        return node(body)

    nodes = [stop(f"n{number}") for number in range(5)]
    flow = [before >> one for before, one in zip([START, *nodes], [*nodes, END], strict=True)]
    return Graph(Walk, name="held up", state_store=store).flow(*flow)


def run_by_another_clock(path: Path, outside: Path, told: Connection, shifts: list[float]) -> None:
    """Run some supersteps while the clock jumps from one to the next."""
    real, number = time.time, 0

    def now() -> float:
        nonlocal number
        number += 1
        return real() + shifts[number % len(shifts)]

    time.time = now
    run_to_the_end(path, outside, "interrupt", told)
