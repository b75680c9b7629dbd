"""The graphs that the reliability runs run: as many tasks as are wanted, of every kind.

Each node first tells the outside what it does: the effect. Every stored event is told to whoever
started the run, after it was recorded: the acknowledgement.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    Interrupt,
    NodeContext,
    Resume,
    add,
    interrupt,
    join,
    node,
    subgraph,
)
from nbgraph.core.effects import OUTCOME_UNKNOWN
from nbgraph.core.events import Event
from nbgraph.core.live import ChildEvent, TaskEmitted, TaskStarted
from nbgraph.core.store import StateStore

Variant = Literal["line", "fan-out", "sub-graph", "interrupt", "once", "effect"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
STEPS = 30
Outside = Path | list[str]


class Walk(BaseState):
    log: Annotated[list[str | None], add] = Field(default_factory=list)


def effect(outside: Outside, line: str) -> None:
    """Do something outside the store that lasts."""
    if isinstance(outside, list):
        outside.append(line)
        return
    descriptor = os.open(outside, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def effects(outside: Outside) -> Counter[str]:
    """Return how often each thing was done."""
    if isinstance(outside, list):
        return Counter(outside)
    return Counter(outside.read_text().split() if outside.exists() else [])


def most(variant: Variant, line: str) -> int:
    """Return how often something may be done where the run was ended once in the middle."""
    if variant == "effect" and (line.startswith("paid:") or line.endswith("2")):
        return 1
    asking = {"interrupt": ("3", "7"), "effect": ("5",)}.get(variant, ())
    return 3 if line.endswith(asking) else 2  # one that asks runs once more when it is answered


def walk(variant: Variant, store: StateStore | None, outside: Outside, steps: int = STEPS) -> Graph:
    """Return a graph of about so many tasks."""

    def stop(name: str) -> Any:
        async def body(state: Walk, ctx: NodeContext) -> dict[str, Any]:
            effect(outside, name)
            if variant == "interrupt" and name.endswith(("3", "7")):
                said = interrupt(id="go", message=f"Go past {name}?", response_schema=str)
                return {"log": [f"{name}:{said}"]}
            if variant in ("once", "effect") and name.endswith("5"):
                pays = _payment(outside, name)
                how = "once" if variant == "effect" else None
                return {"log": [await ctx.once("paid", pays, effect=how)]}
            return {"log": [name]}

        body.__name__ = name
        once = variant == "effect" and name.endswith("2")
        return node(effect="once" if once else None)(body)

    if variant == "fan-out":
        flow = _in_threes(stop, steps)
    elif variant == "sub-graph":
        flow = _nested(stop, steps)
    else:
        flow = _in_line([stop(f"n{number}") for number in range(steps)])
    return Graph(Walk, name=f"walk {variant}", state_store=store, max_steps=200).flow(*flow)


def _in_line(nodes: list[Any]) -> list[Any]:
    return [before >> one for before, one in zip([START, *nodes], [*nodes, END], strict=True)]


def _in_threes(stop: Callable[[str], Any], steps: int) -> list[Any]:
    flow: list[Any] = []
    before: Any = START
    for number in range(steps // 3):
        one, left, right = (stop(f"{side}{number}") for side in "nlr")
        flow += [before >> one, one >> [left, right]]
        before = join(left, right)
    last = stop("last")
    return [*flow, before >> last, last >> END]


def _nested(stop: Callable[[str], Any], steps: int) -> list[Any]:
    """Return sub-graphs of three nodes, one after the other, every second one a level deeper."""
    nodes: list[Any] = []
    for number in range(steps // 3):
        inner = Graph(Walk, name=f"inner {number}", max_steps=200)
        three = [stop(f"{side}{number}") for side in "abc"]
        name = f"g{number}"
        if number % 2:
            deep = Graph(Walk, name=f"deep {number}", max_steps=200).flow(*_in_line(three[1:]))
            three = [three[0], subgraph(f"d{number}", deep, share=["log"])]
        nodes.append(subgraph(name, inner.flow(*_in_line(three)), share=["log"]))
    return _in_line(nodes)


def _payment(outside: Outside, name: str) -> Callable[[], Any]:
    async def paid() -> str:
        effect(outside, f"paid:{name}")
        return "paid"

    return paid


def acknowledged(path: str, event: Event) -> str:
    """Return the line that says an event of a (sub-)graph was recorded."""
    return f"{path or '-'} {event.sequence} {event.type}"


async def go_on(graph: Graph, tell: Callable[[str], None]) -> None:
    """Do whatever the thread needs until it is at its end."""
    while True:
        given = await _next_input(graph)
        if given is None:
            return
        async for event in graph.astream(thread_id="t", **given):
            path = ""
            if isinstance(event, ChildEvent):
                path, event = event.path, event.event
            if not isinstance(event, (TaskStarted, TaskEmitted)):
                tell(acknowledged(path, event))


async def _next_input(graph: Graph) -> dict[str, Any] | None:
    if not await graph.exists("t"):
        return {"initial_state": {}}
    position = await graph.position("t")
    if position.status == "completed":
        return None
    answers = {key: _answer(question) for key, question in position.pending.items()}
    return {"resume": Resume(answers=answers)} if answers else {}


def _answer(question: Interrupt) -> Any:
    """Say yes, and of an effect whose end is not known what it would have returned."""
    if question.reason != OUTCOME_UNKNOWN:
        return "yes"
    whole = question.id == "outcome?"
    return {
        "decision": "set result",
        "result": {"log": [question.node]} if whole else "paid",
    }
