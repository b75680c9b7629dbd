"""Races between what is shown and what runs: edits, forks, re-runs and failures in between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    add,
    call_tool,
    node,
)
from nbgraph.core.decisions import call_hash
from nbgraph.core.events import Interrupt
from nbgraph.errors import GraphExecutionError, InvalidUpdateError
from nbgraph.middleware import InterruptRule, ToolDecision, ToolInterruptMiddleware

from .desk import MESSAGE, Desk, agent, asks, call

AMOUNTS = st.integers(1, 3).map(float)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("edit"), AMOUNTS),
        st.tuples(st.just("fork"), st.integers(0, 30)),
        st.tuples(st.just("switch"), st.integers(0, 3)),
        st.tuples(st.just("approve"), st.just(0.0)),
        st.tuples(st.just("approve with digest"), st.just(0.0)),
        st.tuples(st.just("edit and approve"), AMOUNTS),
        st.tuples(st.just("deny"), st.just(0.0)),
        st.tuples(st.just("fail next"), st.just(0.0)),
        st.tuples(st.just("go on"), st.just(0.0)),
    ),
    min_size=1,
    max_size=9,
)


class Account(BaseState):
    paid: Annotated[list[str], add] = Field(default_factory=list)


@dataclass
class Race:
    """One thread under several people: what was approved on sight, and what ran."""

    desk: Desk = field(default_factory=Desk)
    branches: list[str] = field(default_factory=lambda: ["main"])
    branch: str = "main"
    permitted: list[str] = field(default_factory=list)
    seen: int = 0

    def check(self) -> None:
        """Hold every call that ran to what somebody saw and approved, each approval used once."""
        for name, arguments in self.desk.done[self.seen :]:
            digest = _digest(name, arguments)
            assert digest in self.permitted, (name, arguments, self.permitted)
            self.permitted.remove(digest)
        self.seen = len(self.desk.done)

    def approve(self, question: Interrupt, **changes: Any) -> None:
        payload = question.payload
        arguments = {"note": "", **payload.arguments, **changes}
        self.permitted.append(_digest(payload.tool_name, arguments))


def _digest(name: str, arguments: dict[str, Any]) -> str:
    return call_hash(name, arguments, shown={}, thread_id="t", tool_call_id="c")


async def _race(graph: Graph, race: Race, first: Any, steps: Sequence[tuple[str, Any]]) -> None:
    await graph.ainvoke(first, thread_id="t")
    race.check()
    for what, value in steps:
        await _step(graph, race, what, value)
        race.check()


async def _step(graph: Graph, race: Race, what: str, value: Any) -> None:
    match what:
        case "edit":
            await _edit(graph, race, value)
        case "fork":
            last = (await graph.position("t", branch_id=race.branch)).sequence
            name = f"b{len(race.branches)}"
            await graph.fork("t", from_=1 + value % last, branch_id=race.branch, name=name)
            race.branches.append(name)
            race.branch = name
        case "switch":
            race.branch = race.branches[value % len(race.branches)]
        case "fail next":
            race.desk.fails = 1
        case "go on":
            if not await graph.pending("t", branch_id=race.branch):
                await _run(graph, race, None)
        case _:
            await _answer(graph, race, what, value)


async def _edit(graph: Graph, race: Race, amount: float) -> None:
    if "tool_calls" in graph.schema.fields:
        changed = [call("refund", order_id="A", amount=amount)]
        with suppress(InvalidUpdateError):  # where the calls were written and not taken up yet
            await graph.update_state("t", {"tool_calls": changed}, branch_id=race.branch)


async def _answer(graph: Graph, race: Race, what: str, amount: float) -> None:
    pending = await graph.pending("t", branch_id=race.branch)
    if not pending:
        return
    (question,) = pending.values()
    if question.reason == "outcome_unknown":
        arguments = {"note": "", **question.payload["arguments"]}
        race.permitted.append(_digest(question.payload["tool_name"], arguments))
        await _run(graph, race, {"decision": "retry"})
        return
    decisions: dict[str, Any] = {
        "approve": True,
        "approve with digest": ToolDecision(action="approve", call_hash=question.payload.call_hash),
        "edit and approve": ToolDecision(action="edit", arguments={"amount": amount}),
        "deny": False,
    }
    if what == "edit and approve":
        race.approve(question, amount=amount)
    elif what != "deny":
        race.approve(question)
    await _run(graph, race, decisions[what])


async def _run(graph: Graph, race: Race, answer: Any) -> None:
    resume = None if answer is None else Resume(answer)
    with suppress(ConnectionError, GraphExecutionError):  # it failed, or has nothing to go on with
        await graph.ainvoke(None, thread_id="t", branch_id=race.branch, resume=resume)


@settings(max_examples=300)
@given(STEPS)
def test_an_agent_runs_only_what_somebody_saw_and_approved(steps: list[tuple[str, Any]]) -> None:
    race = Race()
    script = [asks(call("refund", order_id="A", amount=1.0))]
    graph = agent(race.desk, script, InterruptRule(tool="*"), max_steps=50)
    asyncio.run(_race(graph, race, MESSAGE, steps))


@settings(max_examples=300)
@given(STEPS, st.lists(AMOUNTS, min_size=1, max_size=12))
def test_a_node_that_computes_its_call_anew_runs_only_what_somebody_saw_and_approved(
    steps: list[tuple[str, Any]], amounts: list[float]
) -> None:
    race = Race()
    refund = race.desk.tools()[0]
    computed = iter(amounts * 20)

    @node
    async def pay(state: Account, ctx: NodeContext) -> dict[str, Any]:
        arguments = {"order_id": "A", "amount": next(computed)}
        return {"paid": [(await call_tool(refund, arguments, ctx)).value]}

    middleware = [ToolInterruptMiddleware(rules=[InterruptRule(tool="*")])]
    graph = Graph(
        Account, state_store=InMemoryStateStore(), middleware=middleware, max_steps=50
    ).flow(START >> pay, pay >> END)
    asyncio.run(_race(graph, race, {}, [step for step in steps if step[0] != "deny"]))


def test_the_worst_case_by_hand_the_model_asks_for_something_else_once_it_is_approved() -> None:
    desk = Desk()
    refund = desk.tools()[0]
    wanted = iter([("Ada", 10.0), ("Mallory", 9999.0), ("Mallory", 9999.0)])

    @node
    async def pay(state: Account, ctx: NodeContext) -> None:
        order_id, amount = next(wanted)
        await call_tool(refund, {"order_id": order_id, "amount": amount}, ctx)

    middleware = [ToolInterruptMiddleware(rules=[InterruptRule(tool="*")])]
    graph = Graph(Account, state_store=InMemoryStateStore(), middleware=middleware).flow(
        START >> pay, pay >> END
    )
    shown = graph.invoke({}, thread_id="t")
    assert shown.interrupts["pay:approve_refund-0"].payload.arguments["amount"] == 10.0
    again = graph.invoke(None, thread_id="t", resume=Resume(True))
    assert (again.status, desk.done) == ("interrupted", [])
    assert again.interrupts["pay:approve_refund-0"].payload.arguments["amount"] == 9999.0
    graph.invoke(None, thread_id="t", resume=Resume(True))
    assert [arguments["amount"] for _, arguments in desk.done] == [9999.0]
