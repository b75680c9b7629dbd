"""Records made without a check are those that a check makes; updates together are one by one."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbgraph import BaseState, add
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
    count: int = 0


updates = st.lists(
    st.tuples(
        st.fixed_dictionaries(
            {},
            optional={
                "messages": st.lists(st.text("ab", max_size=2), max_size=3),
                "count": st.integers(0, 9),
            },
        ),
        st.sampled_from([(), ("messages",)]),
    ),
    max_size=6,
)


@given(updates)
def test_updates_applied_together_are_updates_applied_in_turn(
    several: list[tuple[dict[str, Any], tuple[str, ...]]],
) -> None:
    schema = StateSchema(Talk)
    start = {"messages": ["s"], "count": 0}
    in_turn: Any = start
    for update, replaced in several:
        in_turn = schema.apply(in_turn, update, replaced)
    given_lists = [list(update.get("messages", [])) for update, _ in several]
    assert schema.apply_all(start, several) == in_turn
    assert start == {"messages": ["s"], "count": 0}
    assert given_lists == [list(update.get("messages", [])) for update, _ in several]


def test_adding_what_is_no_list_is_refused_also_after_others() -> None:
    schema = StateSchema(Talk)
    with pytest.raises(StateUpdateError, match="add takes a list"):
        schema.apply_all({"messages": []}, [({"messages": ["a"]}, ()), ({"messages": "b"}, ())])
