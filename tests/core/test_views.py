"""What a node is given: an own state, of which containers are copied when they are read."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, PrivateAttr, TypeAdapter, computed_field

from nbgraph import END, START, BaseState, Graph, add, node
from nbgraph.core import views
from nbgraph.core.schema import StateSchema


class Desk(BaseState):
    items: list[list[int]] = Field(default_factory=list)
    count: int = 0
    notes: dict[str, Any] = Field(default_factory=dict)

    @computed_field
    @property
    def size(self) -> int:
        return len(self.items)


VALUES = {"items": [[1], [2]], "count": 3, "notes": {"a": {"b": 1}}}
SCHEMA = StateSchema(Desk)


def view() -> Any:
    return SCHEMA.view(VALUES)


WAYS: dict[str, Any] = {
    "==": lambda state: state == Desk(**VALUES),
    "== the other way": lambda state: Desk(**VALUES) == state,
    "repr": lambda state: repr(state) == repr(Desk(**VALUES)),
    "str": lambda state: str(state) == str(Desk(**VALUES)),
    "model_dump": lambda state: state.model_dump() == Desk(**VALUES).model_dump(),
    "model_dump_json": lambda state: state.model_dump_json() == Desk(**VALUES).model_dump_json(),
    "exclude_unset": lambda state: state.model_dump(exclude_unset=True) == {**VALUES, "size": 2},
    "dict()": lambda state: dict(state) == VALUES,
    "vars": lambda state: vars(state) == VALUES and list(vars(state)) == list(VALUES),
    "iter": lambda state: [name for name, _ in state] == list(VALUES),
    "model_copy": lambda state: state.model_copy() == Desk(**VALUES),
    "model_copy update": lambda state: state.model_copy(update={"count": 4}).count == 4,
    "copy": lambda state: copy.copy(state) == Desk(**VALUES),
    "deepcopy": lambda state: copy.deepcopy(state) == Desk(**VALUES),
    "pickle": lambda state: pickle.loads(pickle.dumps(state)) == Desk(**VALUES),
    "isinstance": lambda state: isinstance(state, Desk) and isinstance(state, BaseModel),
    "class": lambda state: state.__class__ is Desk,
    "type name": lambda state: type(state).__name__ == "Desk",
    "model_validate": lambda state: Desk.model_validate(state) == Desk(**VALUES),
    "adapter": lambda state: TypeAdapter(Desk).dump_python(state) == Desk(**VALUES).model_dump(),
    "inside a model": lambda state: _Outer(desk=state).model_dump()["desk"]["items"] == [[1], [2]],
    "inside a union": lambda state: _Outer(any=state).model_dump()["any"]["items"] == [[1], [2]],
    "computed": lambda state: state.size == 2,
    "fields_set": lambda state: state.model_fields_set == set(VALUES),
    "json": lambda state: json.loads(state.model_dump_json())["notes"] == {"a": {"b": 1}},
    "getattr": lambda state: getattr(state, "nothing", "default") == "default",
    "hasattr": lambda state: hasattr(state, "items") and not hasattr(state, "nothing"),
    "hash": lambda state: _raises(TypeError, lambda: hash(state)),
    "match": lambda state: _matched(state) == ([[1], [2]], 3),
}


class _Outer(BaseModel):
    desk: Desk | None = None
    any: int | Desk | str | None = None


def _raises(kind: type[Exception], call: Any) -> bool:
    with pytest.raises(kind):
        call()
    return True


def _matched(state: Any) -> Any:
    match state:
        case Desk(items=items, count=count):
            return items, count


@pytest.mark.parametrize("way", WAYS)
def test_a_view_is_in_every_way_what_the_state_is(way: str) -> None:
    assert WAYS[way](view())


@pytest.mark.parametrize("way", WAYS)
def test_a_view_of_which_something_was_read_is_still_the_state(way: str) -> None:
    state = view()
    assert state.notes == {"a": {"b": 1}}
    assert WAYS[way](state)


def test_a_container_is_copied_when_it_is_first_read_and_only_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied: list[Any] = []
    monkeypatch.setattr(views, "fresh", lambda value: copied.append(value) or copy.deepcopy(value))
    state = view()
    assert (state.count, copied) == (3, [])
    assert state.items is state.items
    assert copied == [VALUES["items"]]


def test_what_is_done_to_a_view_is_done_to_nothing_else() -> None:
    state = view()
    state.items[0].append(9)
    state.notes["a"]["b"] = 9
    state.count = 9
    assert VALUES == {"items": [[1], [2]], "count": 3, "notes": {"a": {"b": 1}}}
    assert SCHEMA.difference(VALUES, state) == {
        "items": [[1, 9], [2]],
        "count": 9,
        "notes": {"a": {"b": 9}},
    }


def test_only_what_was_read_is_compared() -> None:
    state = view()
    assert SCHEMA.difference(VALUES, state) == {}
    assert state.items == [[1], [2]]
    assert SCHEMA.difference(VALUES, state) == {}


def test_a_model_with_private_attributes_is_set_up_by_pydantic() -> None:
    class Private(BaseState):
        items: list[int] = Field(default_factory=list)
        _cache: dict[str, int] = PrivateAttr(default_factory=dict)

    seen: list[Any] = []

    def run(state: Private) -> dict[str, Any]:
        state._cache["a"] = 1
        seen.append((state.items, state._cache))
        return {"items": [*state.items, 2]}

    graph = Graph(Private).flow(START >> node(name="n")(run) >> END)
    assert graph.invoke({"items": [1]}).state.items == [1, 2]
    assert seen == [([1], {"a": 1})]


def test_a_model_that_makes_its_own_subclasses_special_is_a_state_too() -> None:
    made: list[str] = []

    class Registering(BaseState):
        items: Annotated[list[int], add] = Field(default_factory=list)

        def __init_subclass__(cls, **options: Any) -> None:
            made.append(cls.__name__)
            super().__init_subclass__(**options)

    run = node(name="n")(lambda state: {"items": [len(state.items)]})
    graph = Graph(Registering).flow(START >> run >> END)
    assert graph.invoke({"items": [7]}).state.items == [7, 1]


def test_a_generic_model_is_a_state() -> None:
    from typing import Generic, TypeVar

    T = TypeVar("T")

    class Box(BaseModel, Generic[T]):
        items: list[T] = Field(default_factory=list)

    run = node(name="n")(lambda state: {"items": [*state.items, 1]})
    assert Graph(Box[int]).flow(START >> run >> END).invoke({}).state == Box[int](items=[1])


def test_a_frozen_model_is_a_state() -> None:
    from pydantic import ConfigDict

    class Cold(BaseState):
        model_config = ConfigDict(frozen=True)
        items: list[int] = Field(default_factory=list)

    run = node(name="n")(lambda state: {"items": [*state.items, 1]})
    assert Graph(Cold).flow(START >> run >> END).invoke({"items": [0]}).state.items == [0, 1]
