"""Values of another engine as they are shown: as JSON, exactly where that can be."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel

from nbgraph.core.json_values import NotJsonError, to_json
from nbgraph.core.type_adapters import adapter

__all__ = ["WholeValues", "plain"]

_DEPTH = 40
_TEXT = 2_000


def plain(value: Any) -> Any:
    """Return a value as JSON; what has no JSON form becomes a text that says what it is.

    For showing: the engine keeps the value itself.
    """
    try:
        return to_json(value, where="value")
    except NotJsonError:
        return _shown(value, _DEPTH)


def _shown(value: Any, depth: int) -> Any:
    if depth == 0:
        return _named(value)
    match value:
        case BaseModel():
            return _dumped(value)
        case Mapping():
            items = cast("Mapping[Any, Any]", value).items()
            return {str(key): _part(item, depth) for key, item in items}
        case list() | tuple() | set() | frozenset():
            return [_part(item, depth) for item in cast("Iterable[Any]", value)]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in dataclasses.fields(value)]
            return {name: _part(getattr(value, name), depth) for name in names}
        case _:
            return _named(value)


def _part(value: Any, depth: int) -> Any:
    try:
        return to_json(value, where="value")
    except NotJsonError:
        return _shown(value, depth - 1)


def _dumped(model: BaseModel) -> Any:
    try:
        return model.model_dump(mode="json")
    except Exception:  # noqa: BLE001 - a serializer is the model's own code
        return _named(model)


def _named(value: Any) -> str:
    """Return what a value is. A secret's own text has no secret in it."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a repr is the value's own code
        text = object.__repr__(value)
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}…"


class WholeValues:
    """Folding for an engine that merges by itself: an update is a field's whole new value.

    Parameters
    ----------
    types : mapping of str to type, optional
        The fields' types, for `view`.
    replacing : set of str
        Fields that a task replaces: what it wrote is the whole new value, when its superstep is
        finished.
    """

    def __init__(
        self, types: Mapping[str, Any] | None = None, replacing: frozenset[str] = frozenset()
    ) -> None:
        self.replacing = replacing
        self._types = dict(types or {})

    def apply(
        self,
        state: Mapping[str, Any],
        update: Mapping[str, Any],
        replaced: Sequence[str],  # noqa: ARG002 - there is no reducer to go past
    ) -> Mapping[str, Any]:
        """Return the state with these fields as they are now."""
        return {**state, **update}

    def apply_all(
        self,
        state: Mapping[str, Any],
        updates: Iterable[tuple[Mapping[str, Any], Sequence[str]]],
    ) -> Mapping[str, Any]:
        """Return the state after tasks replaced fields; other fields follow as whole values."""
        if not self.replacing:
            return state
        written = {
            name: value
            for update, _ in updates
            for name, value in update.items()
            if name in self.replacing
        }
        return {**state, **written}

    def to_json(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state as JSON."""
        return dict(state)

    def view(self, state: Mapping[str, Any]) -> Any:
        """Return the state with each field as its type, where its JSON fits."""
        return {name: self._typed(name, value) for name, value in state.items()}

    def _typed(self, name: str, value: Any) -> Any:
        if name not in self._types:
            return value
        try:
            return adapter(self._types[name]).validate_python(value)
        except Exception:  # noqa: BLE001 - shown as JSON then; a validator is the type's own code
            return value
