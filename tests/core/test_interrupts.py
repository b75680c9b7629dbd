"""Asking: ids, keys, schemas, and where `interrupt` may stand."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import pytest
from pydantic import AfterValidator, BaseModel, Field

from nbgraph import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    Send,
    interrupt,
    node,
)
from nbgraph.core import answers
from nbgraph.core.events import AnswerRefused, TaskFailed, TaskInterrupted
from nbgraph.errors import AnswerError, GraphExecutionError
from tests.core.graphs import Trail, asker, chain, fan, history, stop, types

in_a_loop = pytest.mark.filterwarnings("ignore::nbgraph.UnnamedInterruptWarning")


def asks(*questions: dict[str, Any], is_async: bool = False) -> Any:
    """Return a node that asks these one after the other and writes all answers."""

    def run(state: Trail) -> dict[str, Any]:
        return {"log": [repr([interrupt(**question) for question in questions])]}

    async def arun(state: Trail) -> dict[str, Any]:
        return run(state)

    return node(name="asks")(arun if is_async else run)


def test_interrupt_outside_a_node_is_a_runtime_error() -> None:
    with pytest.raises(RuntimeError, match="inside a node"):
        interrupt("?", id="q")


@in_a_loop
@pytest.mark.parametrize("is_async", [True, False])
def test_without_an_id_questions_are_known_by_their_position(is_async: bool) -> None:
    graph = chain(asks({"payload": "one"}, {"payload": "two"}, is_async=is_async))
    first = graph.invoke({}, thread_id="t")
    assert {key: q.payload for key, q in first.interrupts.items()} == {"asks:0": "one"}
    second = graph.invoke(None, thread_id="t", resume=Resume(1))
    assert {key: q.payload for key, q in second.interrupts.items()} == {"asks:1": "two"}
    assert graph.invoke(None, thread_id="t", resume=Resume(2)).state.log == ["[1, 2]"]


@in_a_loop
def test_positions_count_only_calls_without_an_id() -> None:
    graph = chain(asks({"id": "named"}, {}, {"id": "other"}, {}))
    keys = []
    result = graph.invoke({}, thread_id="t")
    while result.interrupts:
        keys += result.interrupts
        result = graph.invoke(None, thread_id="t", resume=Resume(len(keys)))
    assert keys == ["asks:named", "asks:0", "asks:other", "asks:1"]
    assert result.state.log == ["[1, 2, 3, 4]"]


@pytest.mark.parametrize("id", ["", "a b", "a/b", "a:b", "é", "a\n"])
def test_a_malformed_id_is_a_value_error(id: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(id))):
        chain(asks({"id": id})).invoke({}, thread_id="t")


@pytest.mark.parametrize("id", ["0", "17"])
def test_an_id_of_digits_only_is_refused_since_it_is_a_position(id: str) -> None:
    with pytest.raises(ValueError, match="digits only is a position"):
        chain(asks({"id": id})).invoke({}, thread_id="t")


def test_an_id_used_twice_in_one_run_of_a_node_fails_by_name() -> None:
    graph = chain(asks({"id": "q"}, {"id": "q"}))
    graph.invoke({}, thread_id="t")
    with pytest.raises(GraphExecutionError, match="'asks' asked twice with the id 'q'"):
        graph.invoke(None, thread_id="t", resume=Resume(1))


def test_tasks_of_one_node_ask_under_their_own_keys() -> None:
    each = node(name="each")(lambda state: {"log": [interrupt(state.count, id="q")]})

    @node(goto=[each])
    def spread(state: Trail) -> Any:
        return Send(each, {"count": 1})

    @node(goto=[each])
    def spread_too(state: Trail) -> Any:
        return Send(each, {"count": 2})

    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> [spread, spread_too], each >> END
    )
    paused = graph.invoke({}, thread_id="t")
    assert {key: q.payload for key, q in paused.interrupts.items()} == {"each:q": 1, "each[1]:q": 2}
    done = graph.invoke(
        None, thread_id="t", resume=Resume(answers={"each[1]:q": "two", "each:q": "one"})
    )
    assert done.state.log == ["one", "two"]


def test_a_question_carries_message_reason_and_schema() -> None:
    graph = chain(asks({"message": "Sure?", "reason": "approval", "response_schema": bool}))
    [question] = graph.invoke({}, thread_id="t").interrupts.values()
    assert (question.message, question.reason) == ("Sure?", "approval")
    assert question.response_schema == {"type": "boolean"}
    assert question.asked == history(graph)[1].sequence


class Decision(BaseModel):
    approve: bool
    amount: Annotated[float, Field(ge=0)] = 0


class Terms(TypedDict):
    days: int


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("schema", "answer", "returned"),
    [
        (Decision, {"approve": True, "amount": 2}, Decision(approve=True, amount=2)),
        (Decision, Decision(approve=False), Decision(approve=False)),
        (Terms, {"days": 2}, {"days": 2}),
        (Point, {"x": 1}, Point(1)),
        (bool, True, True),
        (Literal["yes", "no"], "no", "no"),
        (list[int], [1, 2], [1, 2]),
        ({"type": "integer"}, 5, 5),
        (None, {"any": [1]}, {"any": [1]}),
    ],
)
def test_an_answer_is_returned_as_the_type_of_its_schema(
    schema: Any, answer: Any, returned: Any
) -> None:
    got: list[Any] = []
    ask = node(name="asks")(lambda state: got.append(interrupt(response_schema=schema)))
    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(answer))
    assert got == [returned]
    assert type(got[0]) is type(returned)


@pytest.mark.parametrize("answer", [None, {}, [], "", 0, False])
def test_an_empty_answer_is_an_answer(answer: Any) -> None:
    graph = chain(asks({"id": "q"}))
    graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume(answer)).state.log == [repr([answer])]


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ({"approve": "perhaps"}, "/approve"),
        ({"approve": True, "amount": -1}, "/amount"),
        ({}, "/approve"),
    ],
)
def test_a_bad_answer_names_its_paths_and_records_nothing(answer: Any, path: str) -> None:
    graph = chain(asks({"id": "q", "response_schema": Decision}))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(AnswerError) as caught:
        graph.invoke(None, thread_id="t", resume=Resume(answer))
    assert list(caught.value.problems) == [path]
    assert caught.value.key == "asks:q"
    assert history(graph) == before


def test_what_cannot_be_json_is_no_answer() -> None:
    graph = chain(asks({"id": "q"}))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(AnswerError):
        graph.invoke(None, thread_id="t", resume=Resume({"x": float("nan")}))
    assert history(graph) == before


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


def test_after_a_restart_an_answer_that_only_the_type_refuses_is_recorded_as_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran_after: list[Any] = []
    ask = node(name="asks")(
        lambda state: ran_after.append(
            interrupt(id="q", response_schema=Annotated[int, AfterValidator(_even)])
        )
    )
    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    monkeypatch.setattr(answers, "_remembered", type(answers._remembered)())
    again = graph.invoke(None, thread_id="t", resume=Resume(3))
    [question] = again.interrupts.values()
    assert list(question.problems) == [""]
    assert "must be even" in question.problems[""]
    [refused] = [event for event in history(graph) if isinstance(event, AnswerRefused)]
    assert question.asked == refused.sequence
    assert ran_after == []
    assert graph.invoke(None, thread_id="t", resume=Resume(4)).status == "completed"
    assert ran_after == [4]


def test_in_the_process_that_asked_the_type_refuses_before_anything_is_recorded() -> None:
    graph = chain(asks({"id": "q", "response_schema": Annotated[int, AfterValidator(_even)]}))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(AnswerError, match="must be even"):
        graph.invoke(None, thread_id="t", resume=Resume(3))
    assert history(graph) == before


def test_a_payload_that_is_no_json_fails_the_node() -> None:
    with pytest.raises(ValueError, match="payload of 'asks:0'"):
        chain(asks({"payload": object()})).invoke({}, thread_id="t")


def test_a_state_is_a_payload() -> None:
    ask = node(name="asks")(lambda state: interrupt(state))
    [question] = chain(ask).invoke({"count": 2}, thread_id="t").interrupts.values()
    assert question.payload == {"log": [], "count": 2}


def test_questions_of_one_task_group_are_asked_together() -> None:
    @node
    async def group(state: Trail) -> dict[str, Any]:
        async def ask(id: str) -> Any:
            return interrupt(id=id)

        async with asyncio.TaskGroup() as tasks:
            found = [tasks.create_task(ask(id)) for id in ("a", "b")]
        return {"log": [task.result() for task in found]}

    graph = chain(group)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["group:a", "group:b"]
    [event] = [event for event in history(graph) if isinstance(event, TaskInterrupted)]
    assert [question.id for question in event.interrupts] == ["a", "b"]
    answered = Resume(answers={"group:a": "1", "group:b": "2"})
    assert graph.invoke(None, thread_id="t", resume=answered).state.log == ["1", "2"]


def test_a_question_beside_an_error_of_one_task_group_is_a_failure() -> None:
    @node
    async def group(state: Trail) -> None:
        async def ask() -> Any:
            return interrupt()

        async def fail() -> Any:
            raise ValueError("no")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(ask())
            tasks.create_task(fail())

    graph = chain(group)
    with pytest.raises(BaseExceptionGroup):
        graph.invoke({}, thread_id="t")
    assert any(isinstance(event, TaskFailed) for event in history(graph))


def test_an_error_beside_a_question_fails_the_run_and_both_go_on_later() -> None:
    from tests.core.graphs import failing

    graph = fan(asker("a"), failing("b", ValueError("no")))
    with pytest.raises(ValueError, match="no"):
        graph.invoke({}, thread_id="t")
    assert graph.sync.position("t").status == "failed"
    result = graph.invoke(None, thread_id="t")
    assert result.status == "interrupted"
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["a: 'yes'", "b"]


def test_the_cache_survives_a_pause() -> None:
    computed: list[int] = []

    @node
    def ask(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        if "price" not in ctx.cache:
            computed.append(1)
            ctx.cache["price"] = {"amount": 3}
        interrupt(id="q")
        return {"log": [str(ctx.cache["price"]["amount"])]}

    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).state.log == ["3"]
    assert computed == [1]


def test_a_cache_that_is_no_json_fails_the_node() -> None:
    @node
    def ask(state: Trail, ctx: NodeContext) -> None:
        ctx.cache["lock"] = object()
        interrupt(id="q")

    with pytest.raises(ValueError, match=r"ctx\.cache of 'ask'"):
        chain(ask).invoke({}, thread_id="t")


@pytest.mark.parametrize("is_async", [True, False])
def test_once_runs_once_however_often_its_node_runs(is_async: bool) -> None:
    computed: list[int] = []

    def compute() -> Any:
        computed.append(1)
        return ("tuple", 1)

    async def acompute() -> Any:
        return compute()

    seen: list[Any] = []

    def ask(state: Trail, ctx: NodeContext) -> None:
        seen.append(ctx.once("rate", compute))
        interrupt(id="q")

    async def aask(state: Trail, ctx: NodeContext) -> None:
        seen.append(await ctx.once("rate", acompute))
        interrupt(id="q")

    graph = chain(node(name="ask")(aask if is_async else ask))
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(1))
    assert computed == [1]
    assert seen == [["tuple", 1], ["tuple", 1]]
    assert types(graph).count("once_recorded") == 1


def test_once_twice_under_one_key_is_refused() -> None:
    @node
    def ask(state: Trail, ctx: NodeContext) -> None:
        ctx.once("a", lambda: 1)
        ctx.once("a", lambda: 1)

    with pytest.raises(ValueError, match="twice with the key 'a'"):
        chain(ask).invoke({}, thread_id="t")


def test_once_in_an_async_node_takes_an_async_function() -> None:
    @node
    async def ask(state: Trail, ctx: NodeContext) -> None:
        ctx.once("a", lambda: 1)

    with pytest.raises(TypeError, match=r"await ctx\.once"):
        chain(ask).invoke({}, thread_id="t")


def test_a_node_visited_twice_asks_under_one_key_and_another_asked() -> None:
    from nbgraph import when

    ask = asker("ask")
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> ask, ask >> when(lambda state: len(state.log) < 2, ask)
    )
    first = graph.invoke({}, thread_id="t").interrupts["ask:ok"]
    second = graph.invoke(None, thread_id="t", resume=Resume(1)).interrupts["ask:ok"]
    assert second.asked > first.asked
    assert graph.invoke(None, thread_id="t", resume=Resume(2)).state.log == ["ask: 1", "ask: 2"]


def test_what_a_node_does_to_an_answer_changes_no_record() -> None:
    @node
    def ask(state: Trail) -> dict[str, Any]:
        first = interrupt(id="a")
        first.append("changed")
        interrupt(id="b")
        return {"log": first}

    graph = chain(stop("s"), ask)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(["x"]))
    done = graph.invoke(None, thread_id="t", resume=Resume("y"))
    assert done.state.log == ["s", "x", "changed"]
