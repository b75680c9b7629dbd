"""A long log is folded with its updates applied at once, and leads to the same position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import pytest
from pydantic import Field

from nbgraph import BaseState, add, merge_dict
from nbgraph.core.events import (
    Event,
    RunPaused,
    RunStarted,
    StateEdited,
    SuperstepFinished,
    TaskFinished,
    TaskSpec,
)
from nbgraph.core.fold import fold
from nbgraph.core.replay import replayed
from nbgraph.core.schema import StateSchema
from nbgraph.errors import RedefinedGraphError


def longest(current: str | None, update: str) -> str:
    return max(current or "", update, key=len)


class Talk(BaseState):
    said: Annotated[list[str], add] = Field(default_factory=list)
    counts: Annotated[dict[str, int], merge_dict] = Field(default_factory=dict)
    longest: Annotated[str, longest] = ""
    last: str = ""


TASKS = (TaskSpec(task_id="t", node="t"),)


def step(word: str) -> list[Event]:
    update: dict[str, Any] = {"said": [word], "counts": {word: 1}, "longest": word, "last": word}
    return [
        TaskFinished(task_id="t", node="t", update=update),
        SuperstepFinished(next=TASKS),
    ]


def stamped(*groups: Iterable[Event]) -> list[Event]:
    events = [event for group in groups for event in group]
    return [event.model_copy(update={"sequence": at}) for at, event in enumerate(events, 1)]


START = [RunStarted(input={"said": ["hello"]}, tasks=TASKS)]
WORDS = [step(word) for word in ("a", "long", "word", "x")]
LOGS: dict[str, list[Event]] = {
    "nothing": [],
    "steps": stamped(START, *WORDS),
    "a pause": stamped(START, *WORDS, [RunPaused(reason="pause")]),
    "turns": stamped(START, *WORDS, START, *WORDS),
    "an edit": stamped(START, *WORDS, [StateEdited(update={"said": ["!"]})], *WORDS),
    "an edit past reducers": stamped(
        START, *WORDS, [StateEdited(update={"said": ["!"]}, replaced=("said",))], *WORDS
    ),
    "all set anew": stamped(
        START, *WORDS, [StateEdited(update={"last": "z"}, replace=True)], *WORDS
    ),
    "ends unmerged": stamped(START, *WORDS, WORDS[0][:1]),
}


class Counted(StateSchema):
    """Counts how often updates are applied."""

    applied = 0

    def apply_all(
        self,
        state: Mapping[str, Any],
        updates: Iterable[tuple[Mapping[str, Any], Sequence[str]]],
    ) -> Mapping[str, Any]:
        self.applied += 1
        return super().apply_all(state, updates)


@pytest.mark.parametrize("name", LOGS)
def test_it_leads_to_the_same_position_from_any_event_on(name: str) -> None:
    events, schema = LOGS[name], StateSchema(Talk)
    whole = fold(events, schema)
    for at in range(len(events) + 1):
        assert replayed(events[at:], schema, fold(events[:at], schema)) == whole


def test_updates_are_applied_once_however_many_they_are() -> None:
    events = stamped(START, *[step(str(number)) for number in range(100)])
    schema = Counted(Talk)
    position = replayed(events, schema)
    assert len(position.state["said"]) == 101
    assert schema.applied == 1


def test_a_field_that_is_not_there_any_more_is_named() -> None:
    events = stamped(START, [StateEdited(update={"gone": 1})], *WORDS)
    with pytest.raises(RedefinedGraphError, match="gone"):
        replayed(events, StateSchema(Talk))
