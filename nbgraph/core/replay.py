"""The fold of a long log, whose states in between nobody sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nbgraph.core.driver import Folding
from nbgraph.core.events import Event
from nbgraph.core.fold import fold
from nbgraph.core.position import Position

__all__ = ["replayed"]

Updates = Iterable[tuple[Mapping[str, Any], Sequence[str]]]


class _Owed:
    """Takes note of updates in the place of applying them."""

    def __init__(self, folding: Folding, state: Mapping[str, Any]) -> None:
        self._folding = folding
        self._state = state
        self._updates: list[tuple[Mapping[str, Any], Sequence[str]]] = []

    def apply(
        self, state: Mapping[str, Any], update: Mapping[str, Any], replaced: Sequence[str]
    ) -> Mapping[str, Any]:
        return self.apply_all(state, ((update, replaced),))

    def apply_all(self, state: Mapping[str, Any], updates: Updates) -> Mapping[str, Any]:
        if state is not self._state:  # somebody set the whole state anew
            self._state, self._updates = state, []
        self._updates += updates
        return state

    def to_json(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return self._folding.to_json(self.settled(state))

    def view(self, state: Mapping[str, Any]) -> Any:
        return self._folding.view(self.settled(state))

    def settled(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the state with all updates in it."""
        return self._folding.apply_all(state, self._updates) if self._updates else state


def replayed(events: Sequence[Event], folding: Folding, start: Position | None = None) -> Position:
    """Return the position after `events` as `fold` does, with the updates applied all at once.

    A list that a thousand updates add to is then copied and checked once, not a thousand times.
    """
    start = start or Position()
    owed = _Owed(folding, start.state)
    position = fold(events, owed, start)
    return position.moved(state=owed.settled(position.state))
