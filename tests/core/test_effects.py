"""Effects that are declared happen at most once; if the end of one is unknown, it is asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    Retry,
    SQLiteStateStore,
    add,
    interrupt,
    node,
    subgraph,
)
from nbgraph.core.effects import OUTCOME_UNKNOWN, Effect
from nbgraph.core.events import AnswerRefused, TaskBegan, TaskFinished
from nbgraph.core.store import StateStore
from nbgraph.errors import AnswerError
from nbgraph.middleware import Middleware
from tests.stores.postgres import URL, fresh_schema

RETRY = {"decision": "retry"}
SKIP = {"decision": "skip"}


def result(value: Any) -> dict[str, Any]:
    return {"decision": "set result", "result": value}


class Account(BaseState):
    paid: Annotated[list[str | None], add] = Field(default_factory=list)


@dataclass
class Bank:
    """What is outside. Its first `falls` calls take effect, and then nobody hears of them."""

    falls: int = 0
    calls: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def pay(self, name: str) -> str:
        self.calls.append(name)
        if len(self.calls) <= self.falls:
            raise ConnectionError("no answer")
        return f"receipt {name}"


def by_node(bank: Bank, store: StateStore | None, *, is_async: bool = False) -> Graph:
    def pay(state: Account, ctx: NodeContext) -> dict[str, Any]:
        bank.keys.add(ctx.idempotency_key)
        return {"paid": [bank.pay("a")]}

    async def apay(state: Account, ctx: NodeContext) -> dict[str, Any]:
        return pay(state, ctx)

    one = node(name="pay", effect="once")(apay if is_async else pay)
    return Graph(Account, name="bank", state_store=store).flow(START >> one >> END)


def by_call(bank: Bank, store: StateStore | None, *, is_async: bool = False) -> Graph:
    def receipt() -> str:
        return bank.pay("a")

    async def areceipt() -> str:
        return bank.pay("a")

    def pay(state: Account, ctx: NodeContext) -> dict[str, Any]:
        bank.keys.add(ctx.idempotency_key)
        return {"paid": [ctx.once("transfer", receipt, effect="once")]}

    async def apay(state: Account, ctx: NodeContext) -> dict[str, Any]:
        bank.keys.add(ctx.idempotency_key)
        return {"paid": [await ctx.once("transfer", areceipt, effect="once")]}

    one = node(name="pay")(apay if is_async else pay)
    return Graph(Account, name="bank", state_store=store).flow(START >> one >> END)


Made = Callable[..., Graph]
KEYS = {by_node: "pay:outcome?", by_call: "pay:transfer/outcome?"}
EACH = pytest.mark.parametrize("made", [by_node, by_call])
BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


async def unknown(graph: Graph) -> None:
    """Let the bank not answer, and go on until the thread asks."""
    with pytest.raises(ConnectionError):
        await graph.ainvoke({}, thread_id="t")
    paused = await graph.ainvoke(None, thread_id="t")
    assert paused.status == "interrupted"


async def kinds(graph: Graph, kind: type[Any]) -> list[Any]:
    return [event for event in await graph.history("t") if isinstance(event, kind)]


@EACH
@BOTH
def test_an_effect_that_went_well_is_recorded_before_and_after(made: Made, is_async: bool) -> None:
    async def scenario() -> None:
        bank = Bank()
        graph = made(bank, InMemoryStateStore(), is_async=is_async)
        done = await graph.ainvoke({}, thread_id="t")
        assert (done.data["paid"], bank.calls) == (["receipt a"], ["a"])
        (began,) = await kinds(graph, TaskBegan)
        assert (began.task_id, began.node) == ("pay", "pay")
        assert began.key == (None if made is by_node else "transfer")
        (ended,) = await kinds(graph, TaskFinished)
        assert began.sequence < ended.sequence

    asyncio.run(scenario())


@EACH
@BOTH
def test_one_without_a_known_end_is_not_repeated_and_asked_about(
    made: Made, is_async: bool
) -> None:
    async def scenario() -> None:
        bank, store = Bank(falls=1), InMemoryStateStore()
        graph = made(bank, store, is_async=is_async)
        await unknown(graph)
        (question,) = (await graph.pending("t")).values()
        assert bank.calls == ["a"]
        assert (question.key, question.reason) == (KEYS[made], OUTCOME_UNKNOWN)
        assert question.asked > 0
        assert [one.interrupt for one in await store.pending()] == [question]

    asyncio.run(scenario())


@EACH
@BOTH
@pytest.mark.parametrize(
    ("decision", "paid", "calls"),
    [("retry", ["receipt a"], 2), ("skip", [], 1), ("set result", ["by hand"], 1)],
)
def test_a_person_says_how_it_goes_on(
    made: Made, is_async: bool, decision: str, paid: list[str | None], calls: int
) -> None:
    async def scenario() -> None:
        bank = Bank(falls=1)
        graph = made(bank, InMemoryStateStore(), is_async=is_async)
        await unknown(graph)
        answer: dict[str, Any] = {"decision": decision}
        if decision == "set result":
            answer = result({"paid": ["by hand"]} if made is by_node else "by hand")
        done = await graph.ainvoke(resume=Resume(answer), thread_id="t")
        expected = [None] if made is by_call and decision == "skip" else paid
        assert (done.status, done.data["paid"]) == ("completed", expected)
        assert len(bank.calls) == calls
        assert len(bank.keys) == 1
        (ended,) = await kinds(graph, TaskFinished)
        assert ended.attempts == (0 if made is by_node and calls == 1 else 1)

    asyncio.run(scenario())


@EACH
def test_a_retry_that_has_no_known_end_either_is_asked_about_anew(made: Made) -> None:
    async def scenario() -> None:
        bank = Bank(falls=2)
        graph = made(bank, InMemoryStateStore())
        await unknown(graph)
        (first,) = (await graph.pending("t")).values()
        with pytest.raises(ConnectionError):
            await graph.ainvoke(resume=Resume(RETRY), thread_id="t")
        await graph.ainvoke(None, thread_id="t")
        (second,) = (await graph.pending("t")).values()
        assert bank.calls == ["a", "a"]
        assert (second.key, second.asked > first.asked) == (first.key, True)
        done = await graph.ainvoke(resume=Resume(RETRY), thread_id="t")
        assert (done.data["paid"], bank.calls) == (["receipt a"], ["a", "a", "a"])

    asyncio.run(scenario())


@EACH
@pytest.mark.parametrize(
    "answer", [True, "retry", {}, {"decision": "pay"}, {"decision": "retry", "result": 1}]
)
def test_an_answer_that_is_no_decision_is_refused(made: Made, answer: Any) -> None:
    async def scenario() -> None:
        graph = made(Bank(falls=1), InMemoryStateStore())
        await unknown(graph)
        before = await graph.history("t")
        with pytest.raises(AnswerError):
            await graph.ainvoke(resume=Resume(answer), thread_id="t")
        assert await graph.history("t") == before

    asyncio.run(scenario())


def test_a_result_that_is_set_fits_the_return_annotation() -> None:
    async def scenario() -> None:
        graph = by_call(Bank(falls=1), InMemoryStateStore())
        await unknown(graph)
        with pytest.raises(AnswerError) as caught:
            await graph.ainvoke(resume=Resume(result(3)), thread_id="t")
        assert list(caught.value.problems) == ["/result"]

    asyncio.run(scenario())


def test_an_update_that_is_set_for_a_node_fits_the_state() -> None:
    async def scenario() -> None:
        bank = Bank(falls=1)
        graph = by_node(bank, InMemoryStateStore())
        await unknown(graph)
        again = await graph.ainvoke(resume=Resume(result({"sum": 3})), thread_id="t")
        (question,) = again.interrupts.values()
        assert list(question.problems) == ["/result"]
        assert len(await kinds(graph, AnswerRefused)) == 1
        done = await graph.ainvoke(resume=Resume(result({"paid": ["x"]})), thread_id="t")
        assert (done.data["paid"], bank.calls) == (["x"], ["a"])

    asyncio.run(scenario())


class Receipt(BaseModel):
    number: int


@pytest.mark.parametrize(
    ("effect", "good", "bad"),
    [
        ("once", "anything", None),
        (Effect(returns=Receipt), {"number": 1}, {"number": "1"}),
        (Effect(returns=list[Receipt]), [{"number": 1}], [1]),
        (Effect(returns=Callable[[], int]), {"x": 1}, None),
        (Effect(returns=Path | threading.Thread), {"x": 1}, None),
    ],
)
def test_results_of_any_type_can_be_set(effect: Any, good: Any, bad: Any) -> None:
    async def scenario() -> None:
        def fails():
            raise ConnectionError

        def ask(state: Account, ctx: NodeContext) -> dict[str, Any]:
            return {"paid": [repr(ctx.once("x", fails, effect=effect))]}

        graph = Graph(Account, name="g", state_store=InMemoryStateStore())
        graph.flow(START >> node(ask) >> END)
        await unknown(graph)
        if bad is not None:
            with pytest.raises(AnswerError):
                await graph.ainvoke(resume=Resume(result(bad)), thread_id="t")
        done = await graph.ainvoke(resume=Resume(result(good)), thread_id="t")
        assert done.data["paid"] == [repr(good)]

    asyncio.run(scenario())


def test_the_question_shows_what_the_effect_says_of_itself() -> None:
    async def scenario() -> None:
        shown = Effect(payload={"to": "a"}, message="Paid?", tool_call_id="c1")

        def ask(state: Account, ctx: NodeContext) -> dict[str, Any]:
            return {"paid": [ctx.once("c1", bank.pay_a, effect=shown)]}

        bank = Bank(falls=1)
        bank.pay_a = lambda: bank.pay("a")  # type: ignore[attr-defined]
        graph = Graph(Account, name="g", state_store=InMemoryStateStore())
        graph.flow(START >> node(ask) >> END)
        await unknown(graph)
        (question,) = (await graph.pending("t")).values()
        assert question.key == "ask:c1/outcome?"
        assert (question.payload, question.message) == ({"to": "a"}, "Paid?")
        assert question.tool_call_id == "c1"

    asyncio.run(scenario())


@BOTH
def test_calls_side_by_side_are_asked_about_one_by_one(is_async: bool) -> None:
    async def scenario() -> None:
        bank = Bank(falls=2)

        async def pay(state: Account, ctx: NodeContext) -> dict[str, Any]:
            def call(name: str) -> Callable[[], Awaitable[str]]:
                async def one() -> str:
                    await asyncio.sleep(0)
                    return bank.pay(name)

                return one

            async with asyncio.TaskGroup() as group:
                made = [
                    group.create_task(ctx.once(name, call(name), effect="once")) for name in "ab"
                ]
            return {"paid": [one.result() for one in made]}

        graph = Graph(Account, name="g", state_store=InMemoryStateStore())
        graph.flow(START >> node(pay) >> END)
        with pytest.raises(ExceptionGroup):
            await graph.ainvoke({}, thread_id="t")
        paused = await graph.ainvoke(None, thread_id="t")
        assert sorted(paused.interrupts) == ["pay:a/outcome?", "pay:b/outcome?"]
        answers = {"pay:a/outcome?": RETRY, "pay:b/outcome?": result("by hand")}
        done = await graph.ainvoke(resume=Resume(answers=answers), thread_id="t")
        assert done.data["paid"] == ["receipt a", "by hand"]
        assert sorted(bank.calls) == ["a", "a", "b"]

    asyncio.run(scenario())


def test_starts_of_one_superstep_are_recorded_together() -> None:
    commits: list[list[str]] = []

    class Counting(InMemoryStateStore):
        async def append(self, *names: Any, **options: Any) -> int:
            commits.append([event.type for event in names[2]])
            return await super().append(*names, **options)

    async def scenario() -> None:
        @node(effect="once")
        async def left(state: Account) -> dict[str, Any]:
            return {"paid": ["l"]}

        @node(effect="once")
        async def right(state: Account) -> dict[str, Any]:
            return {"paid": ["r"]}

        store = Counting()
        graph = Graph(Account, name="g", state_store=store)
        graph.flow(START >> [left, right], left >> END, right >> END)
        assert (await graph.ainvoke({}, thread_id="t")).data["paid"] == ["l", "r"]
        assert ["task_began", "task_began"] in commits

    asyncio.run(scenario())


@EACH
def test_a_fork_in_the_middle_asks_and_one_before_it_is_another_history(made: Made) -> None:
    async def scenario() -> None:
        bank = Bank()
        graph = made(bank, InMemoryStateStore())
        await graph.ainvoke({}, thread_id="t")
        (began,) = await kinds(graph, TaskBegan)
        await graph.fork("t", from_=began.sequence, name="middle")
        await graph.fork("t", from_=began.sequence - 1, name="before")
        paused = await graph.ainvoke(None, thread_id="t", branch_id="middle")
        assert list(paused.interrupts) == [KEYS[made]]
        assert bank.calls == ["a"]
        await graph.ainvoke(None, thread_id="t", branch_id="before")
        assert bank.calls == ["a", "a"]
        assert len(bank.keys) == (2 if made is by_node else 3)

    asyncio.run(scenario())


@EACH
@BOTH
def test_a_run_that_is_stopped_in_the_middle_asks(made: Made, is_async: bool) -> None:
    async def scenario() -> None:
        bank = Bank()
        graph = made(bank, InMemoryStateStore(), is_async=is_async)
        running = graph.astream({}, thread_id="t")
        async for event in running:
            if isinstance(event, TaskBegan):
                break
        await running.aclose()
        assert (await graph.position("t")).status == "stopped"
        paused = await graph.ainvoke(None, thread_id="t")
        assert list(paused.interrupts) == [KEYS[made]]
        assert len(bank.calls) <= 1

    asyncio.run(scenario())


@EACH
def test_in_a_sub_graph_its_parent_asks(made: Made) -> None:
    async def scenario() -> None:
        bank = Bank(falls=1)
        child = subgraph("bank", made(bank, None), share=["paid"])
        graph = Graph(Account, name="outer", state_store=InMemoryStateStore())
        graph.flow(START >> child >> END)
        await unknown(graph)
        (key,) = await graph.pending("t")
        assert key == f"bank/{KEYS[made]}"
        done = await graph.ainvoke(resume=Resume(RETRY), thread_id="t")
        assert (done.data["paid"], bank.calls) == (["receipt a"], ["a", "a"])

    asyncio.run(scenario())


def test_a_node_that_asks_first_runs_on_with_its_answer() -> None:
    async def scenario() -> None:
        bank = Bank(falls=1)

        @node(effect="once")
        def pay(state: Account) -> dict[str, Any]:
            to = interrupt(id="outcome", message="To whom?", response_schema=str)
            return {"paid": [bank.pay(to)]}

        graph = Graph(Account, name="g", state_store=InMemoryStateStore())
        graph.flow(START >> pay >> END)
        asks = await graph.ainvoke({}, thread_id="t")
        assert list(asks.interrupts) == ["pay:outcome"]
        with pytest.raises(ConnectionError):
            await graph.ainvoke(resume=Resume("b"), thread_id="t")
        unknown_end = await graph.ainvoke(None, thread_id="t")
        assert list(unknown_end.interrupts) == ["pay:outcome?"]
        done = await graph.ainvoke(resume=Resume(RETRY), thread_id="t")
        assert (done.data["paid"], bank.calls) == (["receipt b"], ["b", "b"])

    asyncio.run(scenario())


def test_a_node_that_is_tried_again_asks_instead_of_repeating_an_effect() -> None:
    async def scenario() -> None:
        bank = Bank(falls=1)

        @node(retry=Retry(attempts=3))
        def pay(state: Account, ctx: NodeContext) -> dict[str, Any]:
            def receipt() -> str:
                return bank.pay("a")

            return {"paid": [ctx.once("transfer", receipt, effect="once")]}

        graph = Graph(Account, name="g", state_store=InMemoryStateStore())
        graph.flow(START >> pay >> END)
        paused = await graph.ainvoke({}, thread_id="t")
        assert list(paused.interrupts) == ["pay:transfer/outcome?"]
        assert bank.calls == ["a"]

    asyncio.run(scenario())


class Answers(Middleware):
    """Answers in code, in a hook of the kind that is wanted."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def on_interrupt(self, ctx: Any, question: Any) -> Any:
        return self.answer


class AnswersLater(Answers):
    async def on_interrupt(self, ctx: Any, question: Any) -> Any:
        await asyncio.sleep(0)
        return self.answer


@EACH
@BOTH
@pytest.mark.parametrize("kind", [Answers, AnswersLater])
@pytest.mark.parametrize(("answer", "calls"), [(RETRY, 2), (SKIP, 1)], ids=["retry", "skip"])
def test_middleware_can_say_how_it_goes_on(
    made: Made, is_async: bool, kind: type[Answers], answer: Any, calls: int
) -> None:
    async def scenario() -> None:
        bank, store = Bank(falls=1), InMemoryStateStore()
        graph = made(bank, store, is_async=is_async)
        with pytest.raises(ConnectionError):
            await graph.ainvoke({}, thread_id="t")
        coded = Graph(Account, name="bank", state_store=store, middleware=[kind(answer)])
        coded.flow(*[START >> graph.nodes["pay"], graph.nodes["pay"] >> END])
        done = await coded.ainvoke(None, thread_id="t")
        assert (done.status, len(bank.calls)) == ("completed", calls)

    asyncio.run(scenario())


async def _unknown_in(store: StateStore, made: Made) -> None:
    bank = Bank(falls=1)
    graph = made(bank, store)
    await unknown(graph)
    done = await graph.ainvoke(resume=Resume(RETRY), thread_id="t")
    assert (done.data["paid"], bank.calls) == (["receipt a"], ["a", "a"])


@EACH
def test_a_file_keeps_what_began(made: Made, tmp_path: Path) -> None:
    async def scenario() -> None:
        bank = Bank(falls=1)
        first = SQLiteStateStore(tmp_path / "t.db")
        with pytest.raises(ConnectionError):
            await made(bank, first).ainvoke({}, thread_id="t")
        await first.aclose()
        second = SQLiteStateStore(tmp_path / "t.db")
        paused = await made(bank, second).ainvoke(None, thread_id="t")
        assert list(paused.interrupts) == [KEYS[made]]
        await second.aclose()
        third = SQLiteStateStore(tmp_path / "t.db")
        done = await made(bank, third).ainvoke(resume=Resume(RETRY), thread_id="t")
        assert (done.data["paid"], bank.calls) == (["receipt a"], ["a", "a"])
        assert len(bank.keys) == 1
        await third.aclose()

    asyncio.run(scenario())


@EACH
@pytest.mark.skipif(not URL, reason="NBGRAPH_TEST_PG names no PostgreSQL server")
def test_a_server_keeps_what_began(made: Made) -> None:
    from nbgraph import PostgresStateStore

    async def scenario(schema: str) -> None:
        store = PostgresStateStore(URL, schema=schema)
        await _unknown_in(store, made)
        await store.aclose()

    with fresh_schema() as schema:
        asyncio.run(scenario(schema))


def test_without_a_store_a_repeat_is_an_error_and_no_second_effect() -> None:
    bank = Bank(falls=1)

    @node(retry=Retry(attempts=3))
    def pay(state: Account, ctx: NodeContext) -> dict[str, Any]:
        return {"paid": [ctx.once("x", lambda: bank.pay("a"), effect="once")]}

    graph = Graph(Account, name="g").flow(START >> pay >> END)
    with pytest.raises(Exception, match="state store"):
        graph.invoke({})
    assert bank.calls == ["a"]


def test_the_idempotency_key_tells_tasks_turns_branches_and_threads_apart() -> None:
    async def scenario() -> None:
        seen: list[str] = []

        @node
        def one(state: Account, ctx: NodeContext) -> None:
            seen.append(ctx.idempotency_key)

        store = InMemoryStateStore()
        graph = Graph(Account, name="g", state_store=store).flow(START >> one >> END)
        await graph.ainvoke({}, thread_id="t")
        await graph.ainvoke({}, thread_id="t")
        await graph.ainvoke({}, thread_id="u")
        await graph.fork("t", from_=1, name="side")
        await graph.ainvoke(None, thread_id="t", branch_id="side")
        await store.delete("t")
        await graph.ainvoke({}, thread_id="t")
        assert len(set(seen)) == len(seen) == 5
        assert all(len(key) == 32 for key in seen)

    asyncio.run(scenario())


@pytest.mark.parametrize("effect", ["twice", True, 1])
def test_another_word_is_refused(effect: Any) -> None:
    def ask(state: Account, ctx: NodeContext) -> None:
        ctx.once("x", lambda: 1, effect=effect)

    with pytest.raises(TypeError, match="effect is 'once' or None"):
        node(effect=effect)(ask)
    with pytest.raises(TypeError, match="leave retry= out"):
        node(effect="once", retry=Retry(attempts=2))(ask)
    graph = Graph(Account, name="g").flow(START >> node(ask) >> END)
    with pytest.raises(ValueError, match="effect is 'once'"):
        graph.invoke({})
