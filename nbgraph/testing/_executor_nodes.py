"""Nodes that the executor suite runs; other processes find them here."""

# ruff: noqa: ARG001, ARG002, D401 - a node need not look at its state, nor a hook at its node

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import BaseModel, Field

from nbgraph.core.context import NodeContext
from nbgraph.core.flow import join
from nbgraph.core.graph import Graph
from nbgraph.core.interrupts import interrupt
from nbgraph.core.middleware import Middleware, NodeMiddlewareContext
from nbgraph.core.node import END, START, Command, Node, Send, node
from nbgraph.core.reducers import add
from nbgraph.core.retry import Retry
from nbgraph.core.schema import BaseState


class Tally(BaseState):
    """Says who ran, and for what."""

    log: Annotated[list[str], add] = Field(default_factory=list)
    number: int = 0


class Price(BaseModel):
    """An answer of a type."""

    cents: int


class OddError(Exception):
    """An error that cannot be made again from its arguments."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


@node
def plain(state: Tally) -> dict[str, Any]:
    return {"log": [f"plain {state.number}"]}


@node
async def later(state: Tally, ctx: NodeContext) -> dict[str, Any]:
    """The greater the number, the sooner it is done."""
    for _ in range(10 - state.number % 10):
        await asyncio.sleep(0)
    return {"log": [f"{ctx.task_id} {state.number}"]}


@node(goto=[plain, later])
def spread(state: Tally) -> Command:
    """Send one task for each number below the given one."""
    return Command(goto=[Send(later, {"number": each}) for each in range(state.number)])


@node
def ask(state: Tally, ctx: NodeContext) -> dict[str, Any]:
    ctx.emit("ask runs")
    answer = interrupt({"number": state.number}, id="ok", message="Go?", response_schema=bool)
    return {"log": [f"answered {answer!r}"]}


@node
async def price(state: Tally) -> dict[str, Any]:
    answer = interrupt(id="price", response_schema=Price)
    return {"log": [f"{type(answer).__name__} {answer.cents}"]}


@node
def told(state: Tally, ctx: NodeContext) -> dict[str, Any]:
    ctx.emit({"told": 1})
    ctx.emit_token("two")
    return {"log": ["told"]}


@node
def wrong(state: Tally) -> None:
    raise ValueError("no luck", state.number)


@node
async def odd(state: Tally) -> None:
    raise OddError(1, 2)


@node
def leave(state: Tally) -> None:
    raise SystemExit(3)


@node(retry=Retry(attempts=3))
def flaky(state: Tally, ctx: NodeContext) -> dict[str, Any]:
    ctx.emit(ctx.idempotency_key)
    if ctx.attempt < 3:
        raise ValueError(f"attempt {ctx.attempt}")
    return {"log": [f"attempt {ctx.attempt}"]}


@node
def kept(state: Tally, ctx: NodeContext) -> dict[str, Any]:
    """Keep what it found in its first run over a question."""
    ctx.cache.setdefault("runs", 0)
    ctx.cache["runs"] += 1
    ctx.emit(ctx.idempotency_key)
    first = ctx.once("first", lambda: ctx.cache["runs"])
    interrupt(id="ok")
    return {"log": [f"first {first}, runs {ctx.cache['runs']}"]}


@node
async def kept_async(state: Tally, ctx: NodeContext) -> dict[str, Any]:
    async def first() -> int:
        return ctx.cache.setdefault("runs", 1)

    found = await ctx.once("first", first)
    ctx.cache["runs"] = 2
    interrupt(id="ok")
    return {"log": [f"first {found}, cached {ctx.cache['runs']}"]}


@node(timeout=0.05)
async def slow(state: Tally) -> None:
    await asyncio.Event().wait()


@node
async def forever(state: Tally, ctx: NodeContext) -> None:
    ctx.emit("waits")
    try:
        await asyncio.Event().wait()
    finally:
        ctx.emit("cancelled")


@node
def shown(state: Tally, ctx: NodeContext) -> dict[str, Any]:
    return {"log": [f"{ctx.context} {ctx.graph_name} {ctx.thread_id} {ctx.node} {ctx.step}"]}


@node
def refused(state: Tally) -> dict[str, Any]:
    return {"number": "many"}


@node
def changed(state: Tally) -> Tally:
    """Change the state in place."""
    state.log.append("changed")
    state.number += 1
    return state


class Around(Middleware):
    """Shows the node another number, marks what it writes, and answers its questions."""

    def before_node(self, ctx: NodeMiddlewareContext) -> Any:
        return ctx.replace(ctx.state.model_copy(update={"number": ctx.state.number + 40}))

    def after_node(self, ctx: NodeMiddlewareContext) -> Any:
        return ctx.replace({"log": [f"{ctx.node_name}: {line}" for line in ctx.state["log"]]})

    async def on_interrupt(self, ctx: NodeMiddlewareContext, payload: Any) -> Any:
        return payload["number"] > 10


def graph_of(*nodes: Node, **options: Any) -> Graph:
    """Return a graph that runs nodes one after the other."""
    path: Any = START
    for each in nodes:
        path = path >> each
    return Graph(Tally, name="tally", **options).flow(path >> END)


def side_by_side(*nodes: Node, **options: Any) -> Graph:
    """Return a graph that runs nodes in one superstep, and `plain` after them."""
    graph = Graph(Tally, name="tally", **options)
    return graph.flow(START >> list(nodes), join(*nodes) >> plain >> END)


def fanned(**options: Any) -> Graph:
    """Return a graph that sends as many tasks as its input's number says."""
    graph = Graph(Tally, name="tally", **options)
    return graph.flow(START >> spread, later >> END, plain >> END)
