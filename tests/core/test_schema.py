"""The state: how fields are declared, checked, kept as JSON and merged."""

from __future__ import annotations

import asyncio
import enum
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    Replace,
    add,
    merge_dict,
    node,
    replace,
)
from nbgraph.core.codec import encode_events
from nbgraph.core.schema import StateSchema
from nbgraph.errors import (
    GraphConfigError,
    GraphExecutionError,
    StateStoreError,
    StateUpdateError,
)


def state_of(*fields: tuple[str, Any], **defaults: Any) -> type[BaseModel]:
    """Return a state with these annotations."""
    names = {"__annotations__": dict(fields), "__module__": __name__, **defaults}
    return type("State", (BaseState,), names)


def kept(annotation: Any, value: Any) -> Any:
    """Return what a value is once it was stored and read again."""
    schema = StateSchema(state_of(("field", annotation)))
    store = InMemoryStateStore()
    graph = Graph(schema.state_type, state_store=store)
    graph.flow(START >> node(name="n")(lambda state: None) >> END)
    graph.invoke({"field": value}, thread_id="t")
    return graph.sync.position("t").state["field"]


class Colour(enum.Enum):
    RED = "r"
    BLUE = 2


@dataclass
class Point:
    x: int
    y: float = 0.0


class Item(BaseModel):
    name: str
    price: Decimal = Decimal(1)


KEPT: list[tuple[Any, Any]] = [
    (int, 2**70),
    (float, 0.1),
    (str, "snow ☃ \u0000 \u2028"),
    (bytes, b"\xff\x00"),
    (bool | None, None),
    (Literal["a", 1], 1),
    (date, date(2024, 2, 29)),
    (datetime, datetime(2024, 2, 29, 1, 2, 3, 4, UTC)),
    (timedelta, timedelta(days=1, microseconds=1)),
    (Decimal, Decimal("1.10")),
    (uuid.UUID, uuid.UUID(int=5)),
    (Path, Path("a/b")),
    (Colour, Colour.BLUE),
    (Point, Point(1, 2.5)),
    (Item, Item(name="tea", price=Decimal("0.10"))),
    (list[Item], [Item(name="tea")]),
    (dict[str, list[int]], {"a": [1]}),
    (set[int], {1, 2}),
    (frozenset[str], frozenset({"a"})),
    (tuple[int, str], (1, "a")),
    (dict[int, str], {1: "a"}),
    (Any, {"a": [1, None, {"b": 2.5}]}),
]


@pytest.mark.parametrize(("annotation", "value"), KEPT, ids=[str(kind) for kind, _ in KEPT])
def test_a_value_comes_back_equal_and_of_the_same_type(annotation: Any, value: Any) -> None:
    back = kept(annotation, value)
    assert back == value
    assert type(back) is type(value)


class Child(Item):
    extra: int = 0


class Text(str):
    __slots__ = ()


REFUSED: list[tuple[Any, Any]] = [
    (Any, (1, 2)),
    (Any, {1: "a"}),
    (Any, {1, 2}),
    (Any, Colour.RED),
    (Any, Item(name="x")),
    (Any, date(2024, 1, 1)),
    (Any, Text("a")),
    (Any, float("nan")),
    (Any, float("inf")),
    (Any, 10**5000),
    (Any, "\ud800"),
    (Any, {"\ud800": 1}),
    (Any, object()),
    (float, float("nan")),
    (Item, Child(name="x", extra=3)),
    (SecretStr, SecretStr("hush")),
    (dict[str, SecretStr], {"a": SecretStr("hush")}),
]


@pytest.mark.parametrize(
    ("annotation", "value"),
    REFUSED,
    ids=[f"{n} {type(v).__name__}" for n, (_, v) in enumerate(REFUSED)],
)
def test_what_would_not_come_back_is_refused_when_it_is_written(
    annotation: Any, value: Any
) -> None:
    graph = Graph(state_of(("field", annotation)), state_store=InMemoryStateStore())
    graph.flow(START >> node(name="n")(lambda state: None) >> END)
    with pytest.raises((StateStoreError, StateUpdateError), match="field 'field'") as caught:
        graph.invoke({"field": value}, thread_id="t")
    assert "hush" not in str(caught.value)
    assert not graph.sync.exists("t")


def test_a_deeply_nested_value_is_refused_with_a_clear_error() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(StateStoreError, match="levels"):
        kept(Any, deep)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
@settings(max_examples=100)
def test_any_json_comes_back_as_it_was(value: Any) -> None:
    back = kept(Any, value)
    assert repr(back) == repr(value)


def test_a_value_that_was_passed_in_and_changed_later_changes_nothing_stored() -> None:
    given_items = [["a"]]
    graph = Graph(state_of(("items", list[list[str]])), state_store=InMemoryStateStore())
    graph.flow(START >> node(name="n")(lambda state: None) >> END)
    result = graph.invoke({"items": given_items}, thread_id="t")
    given_items[0].append("later")
    result.state.items.append(["result"])
    result.data["items"].append(["data"])
    assert graph.sync.load("t") == {"items": [["a"]]}


def test_a_reducer_stands_with_its_field() -> None:
    def largest(current: int | None, update: int) -> int:
        return max(current or 0, update)

    schema = StateSchema(
        state_of(
            ("most", Annotated[int, largest]),
            ("log", Annotated[list[int], add]),
            ("notes", Annotated[dict[str, int], merge_dict]),
            ("last", Annotated[int, replace]),
        )
    )
    state = schema.apply({}, {"most": 5, "log": [1], "notes": {"a": 1}, "last": 1}, ())
    state = schema.apply(state, {"most": 3, "log": [2], "notes": {"b": 2}, "last": 2}, ())
    assert state == {"most": 5, "log": [1, 2], "notes": {"a": 1, "b": 2}, "last": 2}
    assert [schema.merges(name) for name in ("most", "log", "notes", "last")] == [True] * 3 + [
        False
    ]


def test_replace_goes_past_the_reducer() -> None:
    schema = StateSchema(state_of(("log", Annotated[list[int], add])))
    update = schema.update({"log": Replace([9])}, "update")
    assert schema.apply({"log": [1]}, update.values, update.replaced) == {"log": [9]}


def test_what_a_merging_reducer_returns_meets_the_fields_constraints() -> None:
    def total(current: int | None, update: int) -> int:
        return (current or 0) + update

    schema = StateSchema(state_of(("sum", Annotated[int, total, Field(le=10)])))
    state = schema.apply({}, {"sum": 8}, ())
    with pytest.raises(StateUpdateError, match="'sum' does not fit after its reducer"):
        schema.apply(state, {"sum": 8}, ())


def test_add_takes_lists_only() -> None:
    with pytest.raises(StateUpdateError, match=r"pass \[5\]"):
        add([1], 5)
    assert add(None, [1]) == [1]


def test_merge_dict_takes_dicts_only() -> None:
    with pytest.raises(StateUpdateError, match="takes a dict"):
        merge_dict({}, [1])
    assert merge_dict(None, {"a": 1}) == {"a": 1}


def _one(update: Any) -> Any: ...
def _three(current: Any, update: Any, more: Any) -> Any: ...
def _default(current: Any, update: Any = 0) -> Any: ...


@pytest.mark.parametrize("reducer", [_one, _three, _default])
def test_a_reducer_takes_a_current_value_and_an_update(reducer: Any) -> None:
    with pytest.raises(GraphConfigError, match="two positional"):
        StateSchema(state_of(("field", Annotated[list[int], reducer])))


def test_a_field_has_one_reducer() -> None:
    with pytest.raises(GraphConfigError, match="has 2 reducers"):
        StateSchema(state_of(("field", Annotated[list[int], add, merge_dict])))


class Extra(BaseState):
    model_config = ConfigDict(extra="allow")


class Validated(BaseState):
    a: int = 0

    @field_validator("a")
    @classmethod
    def check(cls, value: int) -> int:
        return value


class Hidden(BaseState):
    a: int = Field(default=0, exclude=True)


class Reading(BaseState):
    a: int = 0
    b: int = Field(default_factory=lambda data: data["a"])


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (Extra, 'extra="allow"'),
        (Validated, "validators check"),
        (Hidden, "exclude= on 'a'"),
        (Reading, "default factory of 'b'"),
    ],
)
def test_a_model_that_cannot_be_kept_field_by_field_is_refused(state: Any, words: str) -> None:
    with pytest.raises(GraphConfigError, match=words):
        Graph(state)


@pytest.mark.parametrize("state", [int, "dict", list[int], None, object()])
def test_a_state_schema_is_a_model_a_typed_dict_or_dict(state: Any) -> None:
    with pytest.raises(GraphConfigError, match="pydantic model, a TypedDict or dict"):
        Graph(state)


def test_a_field_that_pydantic_cannot_read_is_named() -> None:
    class Strange:
        pass

    class Bad(BaseState):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        field: Strange | None = None

    with pytest.raises(GraphConfigError, match=r"'field' of type Strange, which cannot be kept"):
        Graph(Bad)


def test_a_model_instance_as_input_sets_every_field() -> None:
    class Two(BaseState):
        a: int = 1
        log: Annotated[list[int], add] = Field(default_factory=list)

    graph = Graph(Two, state_store=InMemoryStateStore())
    graph.flow(START >> node(name="n")(lambda state: None) >> END)
    graph.invoke({"a": 5, "log": [1]}, thread_id="t")
    assert graph.invoke(Two(), thread_id="t").state == Two()


def test_a_model_of_another_class_is_no_input() -> None:
    class One(BaseState):
        a: int = 1

    with pytest.raises(StateUpdateError, match="input is a Item"):
        Graph(One).flow(START >> node(name="n")(lambda state: None) >> END).invoke(Item(name="x"))


def test_a_thread_whose_field_is_gone_from_the_schema_says_so() -> None:
    store = InMemoryStateStore()

    def graph(*fields: tuple[str, Any], **defaults: Any) -> Graph:
        made = Graph(state_of(*fields, **defaults), state_store=store)
        return made.flow(START >> node(name="n")(lambda state: None) >> END)

    graph(("a", int), ("b", int), a=1, b=2).invoke({}, thread_id="t")
    with pytest.raises(StateStoreError, match="keeps 'b', which its graph does not have"):
        graph(("a", int), a=1).invoke({}, thread_id="t")


class Sum(TypedDict):
    items: Annotated[list[int], add]


def test_a_typed_dict_of_the_standard_library_has_an_input_schema() -> None:
    schema = StateSchema(Sum).json_schema()
    assert schema["properties"]["items"]["type"] == "array"
    assert schema["required"] == ["items"]


def test_a_stored_update_is_the_delta_and_not_the_merged_value() -> None:
    class Log(BaseState):
        log: Annotated[list[str], add] = Field(default_factory=list)

    graph = Graph(Log, state_store=InMemoryStateStore())
    graph.flow(START >> node(name="n")(lambda state: {"log": ["x" * 50]}) >> END)
    sizes: list[int] = []
    for _ in range(20):
        before = len(graph.sync.history("t")) if sizes else 0
        graph.invoke({}, thread_id="t")
        sizes.append(len(encode_events(graph.sync.history("t")[before:]).body))
    assert max(sizes[1:]) - min(sizes[1:]) <= 30


def _deltas(before: Sequence[int], after: Sequence[int]) -> Any:
    schema = StateSchema(state_of(("log", Annotated[list[int], add])))
    view = schema.view({"log": list(before)})
    view.log[:] = after
    return schema.difference({"log": list(before)}, view)


def test_a_list_changed_in_place_is_the_items_that_were_appended() -> None:
    assert _deltas([1], [1, 2, 3]) == {"log": [2, 3]}
    assert _deltas([1], [1]) == {}
    with pytest.raises(GraphExecutionError, match="in a way its reducer cannot repeat"):
        _deltas([1, 2], [1])


def test_a_dict_changed_in_place_is_the_keys_that_changed() -> None:
    schema = StateSchema(state_of(("notes", Annotated[dict[str, Any], merge_dict])))
    before = {"notes": {"a": 1, "b": 2, "n": None}}
    view = schema.view(before)
    view.notes["b"] = 3
    view.notes["m"] = None
    assert schema.difference(before, view) == {"notes": {"b": 3, "m": None}}


def test_a_deleted_field_is_an_error_that_names_it() -> None:
    schema = StateSchema(Sum)
    view = schema.view({"items": [1]})
    del view["items"]
    with pytest.raises(GraphExecutionError, match="'items' was deleted"):
        schema.difference({"items": [1]}, view)


def test_a_run_of_a_graph_needs_no_store_for_a_state_that_is_empty() -> None:
    class Empty(BaseState):
        pass

    graph = Graph(Empty).flow(START >> node(name="n")(lambda state: None) >> END)
    assert asyncio.run(graph.ainvoke({})).state == Empty()
