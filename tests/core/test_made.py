"""Records made without a check are those that a check makes; updates together are one by one."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from annotated_types import Len
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator

from nbgraph import BaseState, add, merge_dict
from nbgraph.core.codec import encode_events
from nbgraph.core.events import (
    Record,
    Route,
    SuperstepFinished,
    TaskFinished,
    TaskSpec,
    made,
)
from nbgraph.core.schema import StateSchema
from nbgraph.errors import StateUpdateError

CASES: list[tuple[type[Record], dict[str, Any]]] = [
    (Route, {"node": "a"}),
    (Route, {"node": "a", "payload": {"x": [1]}}),
    (TaskSpec, {"task_id": "a[1]", "node": "a", "payload": {"x": None}}),
    (SuperstepFinished, {"next": (TaskSpec(task_id="a", node="a"),), "created_at": 1.0}),
    (SuperstepFinished, {"next": None, "joins": {"a+b": ("a",)}, "created_at": 1.0}),
    (
        TaskFinished,
        {
            "task_id": "a",
            "node": "a",
            "update": {"x": {"y": [1.5]}},
            "routes": (Route(node="b"),),
            "created_at": 1.0,
        },
    ),
]


@pytest.mark.parametrize(("kind", "values"), CASES)
def test_a_record_made_without_a_check_is_the_checked_one(
    kind: type[Record], values: dict[str, Any]
) -> None:
    quick, checked = made(kind, **values), kind(**values)
    assert quick == checked
    assert repr(quick) == repr(checked)
    assert quick.model_dump_json() == checked.model_dump_json()
    assert quick.model_fields_set == checked.model_fields_set
    assert kind.model_validate_json(quick.model_dump_json()) == checked


def test_a_record_made_without_a_check_is_kept_as_the_checked_one() -> None:
    quick = made(TaskFinished, task_id="a", node="a", update={"x": 1}, created_at=1.0)
    checked = TaskFinished(task_id="a", node="a", update={"x": 1}, created_at=1.0)
    assert encode_events([quick]) == encode_events([checked])


def test_two_records_share_no_default() -> None:
    first, second = (made(TaskFinished, task_id="a", node="a") for _ in range(2))
    assert first.cache is not second.cache


class Talk(BaseState):
    messages: Annotated[list[str], add] = []  # noqa: RUF012 - pydantic copies it
    words: Annotated[list[str], operator.add] = []  # noqa: RUF012 - pydantic copies it
    notes: Annotated[dict[str, int], merge_dict] = {}  # noqa: RUF012 - pydantic copies it
    count: int = 0


updates = st.lists(
    st.tuples(
        st.fixed_dictionaries(
            {},
            optional={
                "messages": st.lists(st.text("ab", max_size=2), max_size=3),
                "words": st.lists(st.text("ab", max_size=2), max_size=3),
                "notes": st.dictionaries(st.text("ab", max_size=1), st.integers(0, 9), max_size=3),
                "count": st.integers(0, 9),
            },
        ),
        st.sampled_from([(), ("messages",), ("words", "notes")]),
    ),
    max_size=6,
)


@given(updates)
def test_updates_applied_together_are_updates_applied_in_turn(
    several: list[tuple[dict[str, Any], tuple[str, ...]]],
) -> None:
    schema = StateSchema(Talk)
    start = {"messages": ["s"], "words": ["s"], "notes": {"a": 0}, "count": 0}
    before = copy.deepcopy((start, several))
    in_turn: Any = start
    for update, replaced in several:
        in_turn = schema.apply(in_turn, update, replaced)
    assert schema.apply_all(start, several) == in_turn
    assert (start, several) == before


@pytest.mark.parametrize("reducer", [operator.add, merge_dict])
def test_what_many_tasks_write_to_a_field_is_checked_a_fixed_number_of_times(
    reducer: Callable[[Any, Any], Any],
) -> None:
    checked: list[Any] = []

    def noted(value: Any) -> Any:
        checked.append(value)
        return value

    class State(BaseState):
        found: Annotated[Any, AfterValidator(noted), reducer] = None

    schema, empty = StateSchema(State), [] if reducer is operator.add else {}
    counts: list[int] = []
    for tasks in (10, 100):
        checked.clear()
        each = [[str(at)] if empty == [] else {str(at): at} for at in range(tasks)]
        state = schema.apply_all({"found": empty}, [({"found": one}, ()) for one in each])
        assert len(state["found"]) == tasks
        counts.append(len(checked))
    assert counts == [2, 2]


def test_what_many_tasks_write_has_to_fit_the_field_together() -> None:
    class State(BaseState):
        notes: Annotated[dict[str, int], Len(max_length=2), merge_dict] = {}  # noqa: RUF012 - as above

    schema = StateSchema(State)
    several = [({"notes": {key: 1}}, ()) for key in "abc"]
    assert schema.apply_all({"notes": {}}, several[:2]) == {"notes": {"a": 1, "b": 1}}
    with pytest.raises(StateUpdateError, match="'notes' does not fit after its reducer"):
        schema.apply_all({"notes": {}}, several)


def test_adding_what_is_no_list_is_refused_also_after_others() -> None:
    schema = StateSchema(Talk)
    with pytest.raises(StateUpdateError, match="add takes a list"):
        schema.apply_all({"messages": []}, [({"messages": ["a"]}, ()), ({"messages": "b"}, ())])
