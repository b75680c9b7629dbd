"""What careless and hostile users pass and keep: refused with what to do, and nothing changed."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, NamedTuple
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from nbgraph import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    Node,
    Resume,
    Send,
    add,
    branch,
    interrupt,
    join,
    node,
    subgraph,
)
from nbgraph.errors import (
    AnswerError,
    GraphConfigError,
    ResumeError,
    StateStoreError,
    StateUpdateError,
    UnknownThreadError,
)
from tests.core.graphs import Trail, asker, chain, history, stop


def named(function: Any, name: str = "a", **options: Any) -> Node:
    """Return a node of a function under a name."""
    return node(name=name, **options)(function)


# --- states of every kind -------------------------------------------------------------------------


class Colour(Enum):
    RED = "r"
    BLUE = "b"


@dataclasses.dataclass
class Visit:
    count: int
    at: datetime | None = None


class Price(BaseModel):
    amount: Decimal = Decimal("1.10")
    tags: list[str] = Field(default_factory=list)


class Point(NamedTuple):
    x: int
    y: str


class Everything(BaseState):
    colour: Colour = Colour.RED
    visit: Visit = Field(default_factory=lambda: Visit(1))
    price: Price = Field(default_factory=Price)
    exact: Decimal = Decimal("0.10")
    at: datetime | None = None
    span: timedelta = timedelta(0)
    point: Point = Point(1, "a")
    id: UUID | None = None
    numbers: set[int] = Field(default_factory=set)
    raw: bytes = b""
    nested: dict[str, list[Price]] = Field(default_factory=dict)
    visits: Annotated[list[Visit], add] = Field(default_factory=list)


AT = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone(timedelta(hours=5, minutes=30)))


def test_a_state_of_every_kind_goes_through_a_pause_and_changes_in_place() -> None:
    @node
    def fill(state: Everything) -> dict[str, Any]:
        return {
            "colour": Colour.BLUE,
            "visit": Visit(2, AT),
            "exact": Decimal("1.000"),
            "at": AT,
            "span": timedelta(microseconds=7),
            "point": Point(2, "b"),
            "id": UUID(int=5),
            "numbers": {3, 1},
            "raw": b"\xff\x00",
            "nested": {"k": [Price(amount=Decimal("3.30"))]},
            "visits": [Visit(7)],
        }

    @node
    def change(state: Everything) -> Everything:
        state.price = interrupt(state.visit, id="q", response_schema=Price)
        state.visit.count = 9
        state.numbers.add(99)
        state.nested["k"][0].tags.append("new")
        state.visits.append(Visit(8, AT))
        return state

    graph = Graph(Everything, state_store=InMemoryStateStore())
    graph.flow(START >> fill >> change >> END)
    graph.invoke({}, thread_id="t")
    done = graph.invoke(resume=Resume({"amount": "2.50"}), thread_id="t").state
    expected = Everything(
        colour=Colour.BLUE,
        visit=Visit(9, AT),
        price=Price(amount=Decimal("2.50")),
        exact=Decimal("1.000"),
        at=AT,
        span=timedelta(microseconds=7),
        point=Point(2, "b"),
        id=UUID(int=5),
        numbers={1, 3, 99},
        raw=b"\xff\x00",
        nested={"k": [Price(amount=Decimal("3.30"), tags=["new"])]},
        visits=[Visit(7), Visit(8, AT)],
    )
    assert done == expected == graph.sync.get_state("t").value
    assert [type(getattr(done, name)) for name in Everything.model_fields] == [
        type(getattr(expected, name)) for name in Everything.model_fields
    ]
    assert str(done.exact) == "1.000"
    assert done.at is not None
    assert done.at.utcoffset() == AT.utcoffset()


def test_what_callers_hold_is_not_the_threads() -> None:
    given, payload, answer = ["in"], {"a": [1]}, {"b": [1]}

    @node
    def ask(state: Trail) -> dict[str, Any]:
        said = interrupt(payload, id="q")
        payload["a"].append(2)
        said["b"].append(2)
        return {"log": [str(said), str(interrupt("?", id="r"))]}

    graph = chain(ask)
    paused = graph.invoke({"log": given}, thread_id="t")
    given.append("later")
    paused.interrupts["ask:q"].payload["a"].append(99)
    assert graph.sync.pending("t")["ask:q"].payload == {"a": [1]}
    graph.invoke(resume=Resume(answer), thread_id="t")
    answer["b"].append(99)
    done = graph.invoke(resume=Resume(2), thread_id="t")
    assert done.state.log == ["in", "{'b': [1, 2]}", "2"]
    done.state.log.append("mine")
    done.data["log"].append("mine")
    assert graph.sync.load("t")["log"] == ["in", "{'b': [1, 2]}", "2"]


def test_a_default_that_can_change_is_nobodys() -> None:
    class Shared(BaseState):
        items: list[int] = []  # noqa: RUF012 - what is tested

    @node
    def append(state: Shared) -> Shared:
        state.items.append(1)
        return state

    graph = Graph(Shared, state_store=InMemoryStateStore()).flow(START >> append >> END)
    assert [graph.invoke({}, thread_id=name).state.items for name in "ab"] == [[1], [1]]
    assert Shared().items == []


def endless() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    "value",
    [object(), float("nan"), float("inf"), "\ud800", {1: 2}, endless(), deep(), {"a": {"b": open}}],
    ids=["object", "nan", "inf", "surrogate", "int key", "endless", "deep", "function"],
)
def test_what_cannot_be_kept_fails_its_node_by_name_and_the_thread_goes_on(value: Any) -> None:
    class Holder(BaseState):
        value: Any = None

    values = [value, 1]
    graph = Graph(Holder, state_store=InMemoryStateStore())
    graph.flow(START >> named(lambda state: {"value": values.pop(0)}) >> END)
    with pytest.raises((StateStoreError, StateUpdateError), match="node 'a', field 'value'"):
        graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t").state.value == 1


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({"zz": 1}, "names the field 'zz'; the state has 'log', 'count'"),
        ({1: 2}, "names the field 1"),
        ({"count": "x"}, "field 'count' does not fit"),
        ({"count": None}, "field 'count' does not fit"),
        (Send, "returned type"),
        (Trail(count=3), "returned Trail"),
        ([{"count": 1}], "returned list"),
    ],
)
def test_what_a_node_may_not_return_is_told_with_its_name(returned: Any, message: str) -> None:
    graph = chain(named(lambda state: returned))
    with pytest.raises((TypeError, StateUpdateError), match=f"[Nn]ode 'a'.*{message}"):
        graph.invoke({}, thread_id="t")
    assert graph.sync.load("t") == {"log": [], "count": 0}


def test_an_open_state_says_what_its_fields_are_named_by() -> None:
    graph = Graph(dict).flow(START >> named(lambda state: {1: 2}) >> END)
    with pytest.raises(StateUpdateError, match="the state has fields that are named by str"):
        graph.invoke({})


# --- calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"resume": "yes"}, TypeError, "resume takes a Resume"),
        ({"resume": {"ask:ok": 1}}, TypeError, "resume takes a Resume"),
        ({"resume": Command(update={})}, TypeError, "resume takes a Resume"),
        ({"initial_state": Resume(1)}, TypeError, r"passed as resume=Resume\("),
        ({"initial_state": {}, "resume": Resume(1)}, TypeError, "not both"),
        ({"thread_id": 3, "resume": Resume(1)}, TypeError, "id are str, got 3 and 'main'"),
        ({"thread_id": b"t", "resume": Resume(1)}, TypeError, "id are str, got b't'"),
        ({"branch_id": None, "resume": Resume(1)}, TypeError, "id are str, got 't' and None"),
        ({"thread_id": "", "resume": Resume(1)}, GraphConfigError, "needs a thread_id"),
        ({"branch_id": "zz", "resume": Resume(1)}, UnknownThreadError, "no branch 'zz'"),
        ({"thread_id": "zz", "resume": Resume(1)}, UnknownThreadError, "'zz' is not in"),
        ({"thread_id": "\ud800", "initial_state": {}}, StateStoreError, "lone surrogate"),
        ({"initial_state": {"log": ["new"]}}, ResumeError, "waits for 'ask:ok'"),
        ({}, ResumeError, "waits for 'ask:ok'|answer"),
        ({"resume": Resume(1), "interrupt_before": 3}, TypeError, "name of a node or a list"),
        ({"resume": Resume(1), "interrupt_before": ["zz"]}, ResumeError, "no node 'zz'"),
        ({"resume": Resume(1), "break_when": 3}, TypeError, "break_when is a function"),
        ({"resume": Resume(1), "state_store": "x"}, TypeError, "state_store is a StateStore"),
        ({"resume": Resume(1), "state_store": [1]}, TypeError, "state_store is a StateStore"),
        ({"resume": Resume(1), "executor": "x"}, TypeError, "executor takes an Executor"),
        ({"resume": Resume(answers={"ask:zz": 1})}, ResumeError, "'ask:zz' is not pending"),
        ({"resume": Resume(object())}, AnswerError, "an object of type object"),
    ],
)
def test_a_wrong_call_is_refused_and_the_thread_stays_as_it_was(
    call: dict[str, Any], error: type[Exception], message: str
) -> None:
    graph = chain(asker("ask"))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(error, match=message):
        graph.invoke(**{"thread_id": "t", **call})
    assert history(graph) == before
    assert graph.invoke(resume=Resume(1), thread_id="t").state.log == ["ask: 1"]


@pytest.mark.parametrize("given", ["hello", [1], Trail, 3, {"zz": 1}, {"count": "x"}, {1: 2}])
def test_a_wrong_input_makes_no_thread(given: Any) -> None:
    graph = chain(stop("a"))
    with pytest.raises(StateUpdateError, match="input"):
        graph.invoke(given, thread_id="t")
    assert not graph.sync.exists("t")


@pytest.mark.parametrize("name", [" ", "a/b:c\n☃", "../../etc/passwd", "x" * 5000, "main:1"])
def test_a_thread_may_have_any_name(name: str) -> None:
    graph = chain(asker("ask"))
    graph.invoke({}, thread_id=name)
    graph.sync.fork(name, name="x:y")
    done = graph.invoke(resume=Resume(1), thread_id=name, branch_id="x:y")
    assert (done.state.log, list(graph.sync.pending(name))) == (["ask: 1"], ["ask:ok"])


@pytest.mark.parametrize("at", [0, -1, 99, "x", 1.5, True, [1], "main:99"])
def test_a_fork_at_no_event_is_refused(at: Any) -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    with pytest.raises(StateUpdateError, match="has no event"):
        graph.sync.fork("t", from_=at)
    with pytest.raises(TypeError, match="name is a str, got 3"):
        graph.sync.fork("t", name=3)
    assert graph.sync.branches("t") == []


@pytest.mark.parametrize(
    "options",
    [
        {"name": 3},
        {"name": " "},
        {"max_steps": "3"},
        {"max_steps": 2.5},
        {"max_steps": True},
        {"max_thread_steps": 0},
        {"timeout": "x"},
        {"timeout": float("nan")},
        {"migrate": 3},
        {"middleware": 3},
        {"middleware": [object]},
        {"state_store": 3},
        {"state_store": InMemoryStateStore},
        {"interrupt_before": 3},
        {"break_when": "x"},
        {"executor": 3},
        {"input_schema": int},
    ],
    ids=str,
)
def test_a_wrong_option_of_a_graph_is_refused_where_it_is_made(options: Any) -> None:
    [(name, _)] = options.items()
    words = {"interrupt_before": "Breakpoints", "input_schema": "state schema", "name": "name"}
    with pytest.raises((TypeError, GraphConfigError), match=words.get(name, name)):
        Graph(Trail, **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda a: subgraph("x", 3, share=["log"]),  # pyright: ignore[reportArgumentType]
        lambda a: branch(lambda state: 1, 3),  # pyright: ignore[reportArgumentType]
        lambda a: Send("a"),  # pyright: ignore[reportArgumentType]
        lambda a: join(a, a),
        lambda a: a >> [],
        lambda a: START >> "a",
        lambda a: Graph(Trail).flow(a),
        lambda a: Graph(Trail).flow(START >> END),
    ],
)
def test_a_wrong_piece_of_a_flow_is_refused_in_words(make: Any) -> None:
    with pytest.raises((TypeError, GraphConfigError)) as caught:
        make(stop("a"))
    assert "object has no attribute" not in str(caught.value)


@pytest.mark.parametrize("schema", [lambda x: x, print, "text", 3, [int], Price()], ids=repr)
def test_a_value_or_a_function_is_no_response_schema(schema: Any) -> None:
    graph = chain(named(lambda state: interrupt("?", response_schema=schema)))
    with pytest.raises(TypeError, match="is not a type; "):
        graph.invoke({}, thread_id="t")
