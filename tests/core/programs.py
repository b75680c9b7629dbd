"""Random graphs for the property tests: drawn as plain data, built into a `Graph` when run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from hypothesis import strategies as st
from pydantic import Field

from nbgraph import (
    DISMISS,
    END,
    START,
    BaseState,
    Command,
    Graph,
    Interrupt,
    Node,
    NodeContext,
    Send,
    add,
    branch,
    interrupt,
    join,
    merge_dict,
    node,
    subgraph,
    when,
)
from nbgraph.core.effects import NODE_FAILED, OUTCOME_UNKNOWN


def _counted(current: Any, update: Any) -> Any:
    counts = dict(current or {})
    for name, number in update.items():
        counts[name] = counts.get(name, 0) + number
    return counts


class Trace(BaseState):
    """Every task leaves one line in `log`, so its length names a superstep."""

    log: Annotated[list[str], add] = Field(default_factory=list)
    visits: Annotated[dict[str, int], _counted] = Field(default_factory=dict)
    notes: Annotated[dict[str, str], merge_dict] = Field(default_factory=dict)
    last: str = ""
    item: int = 0


@dataclass(frozen=True)
class Way:
    """How a node leads on; numbers are nodes, -1 is END."""

    kind: str
    targets: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One node: what it asks and does, and where it leads; or a sub-graph in its place."""

    asks: tuple[str | None, ...]
    way: Way
    is_async: bool = False
    caches: bool = False
    once: bool = False
    fails: bool = False
    effect: Literal["node", "call"] | None = None
    deferred: bool = False
    asked_about: bool = False
    """Whether a person is asked when it fails."""
    inside: Program | None = None
    shares: bool = False


@dataclass(frozen=True)
class Program:
    """A graph as data, and how a person answers it."""

    steps: tuple[Step, ...]
    joins: tuple[tuple[tuple[int, ...], int], ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    one_by_one: bool
    turns: int


Stamp = tuple[str, str, int]
"""A task of a superstep: its thread, its id, and the length of the log it saw."""


@dataclass
class World:
    """What happened outside the graph while it ran."""

    ran: list[Stamp] = field(default_factory=list)
    failed: set[Stamp] = field(default_factory=set)
    once: list[Stamp] = field(default_factory=list)
    cached: list[Stamp] = field(default_factory=list)
    paid: list[tuple[Stamp, str | None]] = field(default_factory=list)
    """Effects that must not happen twice: of a task, and there of a `ctx.once` or of the node."""
    lost: set[tuple[Stamp, str | None]] = field(default_factory=set)
    """Those whose end was not heard of."""


class Flaky(Exception):
    """Raised by a node the first time it runs."""


def answer_to(question: Interrupt) -> Any:
    """Return the scripted answer: the same for the same question."""
    if question.reason in (OUTCOME_UNKNOWN, NODE_FAILED):
        return {"decision": "retry"}
    if question.has_default:
        return DISMISS
    return f"{question.key} saw {question.payload['seen']}"


def _opened(step: Step, world: World, state: Trace, ctx: NodeContext) -> Stamp:
    stamp = (ctx.thread_id, ctx.task_id, len(state.log))
    world.ran.append(stamp)
    if step.caches and "price" not in ctx.cache:
        world.cached.append(stamp)
        ctx.cache["price"] = len(state.log)
    return stamp


def _answer(id: str | None, state: Trace, ctx: NodeContext) -> str:
    ends = {"default": f"nobody told {ctx.task_id}"} if id == "b" else {}
    return interrupt({"seen": len(state.log)}, id=id, response_schema=str, **ends)


def _written(
    step: Step, world: World, state: Trace, ctx: NodeContext, stamp: Stamp
) -> dict[str, Any]:
    answers = [_answer(id, state, ctx) for id in step.asks]
    if step.fails and stamp not in world.failed:
        world.failed.add(stamp)
        raise Flaky(ctx.task_id)
    if step.effect == "node":
        world.paid.append((stamp, None))
    price = ctx.cache.get("price", "")
    line = f"{ctx.task_id}({state.item}) {price} {'; '.join(answers)}"
    update: dict[str, Any] = {"log": [line], "visits": {ctx.node: 1}, "notes": {ctx.task_id: line}}
    return update | ({"last": line} if ctx.node == "n0" else {})


def _returned(step: Step, nodes: Sequence[Node], update: dict[str, Any]) -> Any:
    targets = [nodes[target] if target >= 0 else END for target in step.way.targets]
    if step.way.kind == "goto":
        return Command(update=update, goto=targets)
    if step.way.kind == "send":
        return Command(
            update=update, goto=[Send(target, {"item": at}) for at, target in enumerate(targets)]
        )
    return update


@dataclass
class _Kept:
    """What a node has recorded with `ctx.once`, in a task."""

    step: Step
    world: World
    stamp: Stamp

    def record(self) -> int:
        self.world.once.append(self.stamp)
        return self.stamp[2]

    def pay(self) -> int:
        address = (self.stamp, "pay")
        self.world.paid.append(address)
        if self.step.fails and address not in self.world.lost:
            self.world.lost.add(address)
            raise Flaky("pay")
        return self.stamp[2]

    async def arecord(self) -> int:
        return self.record()

    async def apay(self) -> int:
        return self.pay()

    def now(self, ctx: NodeContext) -> None:
        if self.step.once:
            assert ctx.once("fact", self.record) == self.stamp[2]
        if self.step.effect == "call":
            assert ctx.once("pay", self.pay, effect="once") == self.stamp[2]

    async def later(self, ctx: NodeContext) -> None:
        await asyncio.sleep(0)
        if self.step.once:
            assert await ctx.once("fact", self.arecord) == self.stamp[2]
        if self.step.effect == "call":
            assert await ctx.once("pay", self.apay, effect="once") == self.stamp[2]


def _node(number: int, step: Step, world: World, nodes: list[Node], *, defer: bool) -> Node:
    """Return the node; those it leads to by its own word are in `nodes` behind it already."""
    own = step.way.kind in ("goto", "send")
    goto = [nodes[target] if target >= 0 else END for target in step.way.targets] if own else None

    def run(state: Trace, ctx: NodeContext) -> Any:
        stamp = _opened(step, world, state, ctx)
        _Kept(step, world, stamp).now(ctx)
        return _returned(step, nodes, _written(step, world, state, ctx, stamp))

    async def arun(state: Trace, ctx: NodeContext) -> Any:
        stamp = _opened(step, world, state, ctx)
        await _Kept(step, world, stamp).later(ctx)
        return _returned(step, nodes, _written(step, world, state, ctx, stamp))

    options: dict[str, Any] = {"goto": goto, "defer": defer}
    if step.effect == "node":
        options["effect"] = "once"
    elif step.asked_about:
        options["on_error"] = "ask"
    return node(name=f"n{number}", **options)(arun if step.is_async else run)


def _sub_graph(number: int, step: Step, world: World) -> Node:
    """Return the node that runs the program inside a step."""
    assert step.inside is not None
    name, graph = f"n{number}", build(step.inside, world)
    if step.shares:
        return subgraph(name, graph, share=["log"])
    return subgraph(
        name,
        graph,
        state_in=lambda state: {"log": state.log[-1:], "item": state.item},
        state_out=lambda last: {"log": [f"{name}: {last.log}"], "visits": {name: 1}},
    )


def build(program: Program, world: World) -> Graph:
    """Return the program's graph; its nodes write what they do into `world`."""
    steps = program.steps
    reached = {goal for step in steps for goal in step.way.targets if step.way.kind != "loop"}
    reached |= {step.way.targets[1] for step in steps if step.way.kind == "loop"}
    reached |= {goal for _, goal in program.joins}
    nodes: list[Any] = [None] * len(steps)
    for number in reversed(range(len(steps))):
        step = steps[number]
        defer = step.deferred and number in reached
        inner = step.inside is not None
        nodes[number] = (
            _sub_graph(number, step, world)
            if inner
            else _node(number, step, world, nodes, defer=defer)
        )

    def target(number: int) -> Any:
        return nodes[number] if number >= 0 else END

    items: list[Any] = []
    items.append(START >> [nodes[at] for at in range(len(steps)) if at not in reached])
    for at, step in enumerate(steps):
        goals = step.way.targets
        match step.way.kind:
            case "edge":
                items.append(nodes[at] >> [target(goal) for goal in goals])
            case "when":
                first, second = goals
                items.append(nodes[at] >> when(_even, target(first), otherwise=target(second)))
            case "branch":
                mapping = dict(enumerate(map(target, goals)))
                items.append(nodes[at] >> branch(_chooser(len(goals)), mapping))
            case "loop":
                back, on = goals
                again = _again(f"n{at}")
                items.append(nodes[at] >> when(again, target(back), otherwise=target(on)))
    items.extend(
        join(*(nodes[source] for source in ends)) >> nodes[to] for ends, to in program.joins
    )
    graph = Graph(
        Trace,
        name="program",
        max_steps=200,
        interrupt_before=program.before,
        interrupt_after=program.after,
    )
    return graph.flow(*items)


def _even(state: Trace) -> bool:
    return len(state.log) % 2 == 0


def _chooser(size: int) -> Any:
    return lambda state: len(state.log) % size


def _again(name: str) -> Any:
    return lambda state: state.visits.get(name, 0) < 2


@st.composite
def programs(draw: st.DrawFn, depth: int = 2) -> Program:
    """Draw a graph whose runs end, with sub-graphs `depth` levels down."""
    size = draw(st.sampled_from([1, 2, 3, 4, 5, 5] if depth == 2 else [1, 1, 2]))
    joins = draw(_joins(size))
    sources = {source for ends, _ in joins for source in ends}
    steps = tuple(draw(_steps(at, size, depth, joined=at in sources)) for at in range(size))
    inner = [f"n{at}/n0" for at, step in enumerate(steps) if step.inside]
    names = st.sampled_from([f"n{at}" for at in range(size)] + ["*"] + inner)
    return Program(
        steps=steps,
        joins=joins,
        before=draw(st.just(()) | st.tuples(names)),
        after=draw(st.just(()) | st.tuples(names)),
        one_by_one=draw(st.booleans()),
        turns=draw(st.sampled_from([1, 1, 1, 2])),
    )


@st.composite
def _joins(draw: st.DrawFn, size: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    if size < 3 or draw(st.sampled_from([False, False, True])):
        return ()
    goal = draw(st.integers(2, size - 1))
    sources = draw(st.sets(st.integers(0, goal - 1), min_size=2, max_size=3))
    return ((tuple(sorted(sources)), goal),)


@st.composite
def _steps(draw: st.DrawFn, at: int, size: int, depth: int, *, joined: bool) -> Step:
    if depth and draw(st.sampled_from([False, False, False, True])):
        way = draw(_ways(at, size, joined=joined, chosen=False))
        shares = way.kind != "loop" and draw(st.booleans())
        return Step((), way, inside=draw(programs(depth - 1)), shares=shares)
    asks = st.lists(st.sampled_from(["a", "b", None]), max_size=2)
    unique = asks.filter(lambda ids: len([id for id in ids if id]) == len({id for id in ids if id}))
    return Step(
        asks=tuple(draw(unique)),
        way=draw(_ways(at, size, joined=joined)),
        is_async=draw(st.booleans()),
        caches=draw(st.booleans()),
        once=draw(st.sampled_from([False, False, True])),
        fails=draw(st.sampled_from([False, False, False, True])),
        effect=draw(st.sampled_from([None, None, "node", "call"])),
        deferred=draw(st.sampled_from([False, False, True])),
        asked_about=draw(st.booleans()),
    )


@st.composite
def _ways(draw: st.DrawFn, at: int, size: int, *, joined: bool, chosen: bool = True) -> Way:
    later = st.sampled_from([*range(at + 1, size), -1])
    several = st.lists(later, min_size=1, max_size=3, unique=True)
    kinds = ["edge", "when", "branch", "loop", *(["goto"] if chosen else [])]
    if at + 1 < size and chosen:
        kinds = ["send", "send", "edge", *kinds]
    kind = draw(st.sampled_from([*kinds, "none"] if joined else kinds))
    match kind:
        case "none":
            return Way(kind, ())
        case "when":
            return Way(kind, (draw(later), draw(later)))
        case "loop":
            return Way(kind, (draw(st.integers(0, at)), draw(later)))
        case "send":
            return Way(kind, (draw(st.integers(at + 1, size - 1)),) * draw(st.integers(1, 3)))
        case _:
            return Way(kind, tuple(draw(several)))
