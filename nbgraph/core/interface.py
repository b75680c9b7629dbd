"""What a caller gives a graph and gets of it, where that is less than its whole state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from nbgraph.core.reducers import Replace
from nbgraph.core.schema import StateSchema
from nbgraph.errors import GraphConfigError, StateUpdateError

__all__ = ["Interface"]


class Interface:
    """The input and output types of a graph; without them, its state is both.

    Parameters
    ----------
    state : StateSchema
        The graph's state.
    input_type, output_type : type or None
        Pydantic models or TypedDicts whose fields are fields of the state.

    Raises
    ------
    GraphConfigError
        If one of them is neither, or has a field that the state has not.
    """

    def __init__(self, state: StateSchema, input_type: Any, output_type: Any) -> None:
        self._state = state
        self._given = _part(state, input_type, "input_schema")
        self._returned = _part(state, output_type, "output_schema")

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of an input."""
        return (self._given or self._state).json_schema()

    def taken(self, given: Mapping[str, Any] | BaseModel) -> Mapping[str, Any] | BaseModel:
        """Return a turn's input as an update of the state; what is left out has its default.

        Raises
        ------
        StateUpdateError
            If a field is unknown, missing or does not fit the input's type.
        StateStoreError
            If a value would not come back as it is.
        """
        schema = self._given
        if schema is None:
            return given
        fields = _fields(given, schema)
        checked = schema.revived(schema.start(fields).values)
        past = {name for name, value in fields.items() if isinstance(value, Replace)}
        return {name: Replace(value) if name in past else value for name, value in checked.items()}

    def view(self, state: Mapping[str, Any]) -> Any:
        """Return what a caller gets of a state: an instance of the output type, or a dict."""
        return (self._returned or self._state).view(self._part_of(state))

    def to_json(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a caller gets of a state, as JSON."""
        return self._state.to_json(self._part_of(state))

    def _part_of(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._returned is None:
            return state
        return {name: state[name] for name in self._returned.fields if name in state}


def _part(state: StateSchema, part_type: Any, option: str) -> StateSchema | None:
    if part_type is None:
        return None
    schema = StateSchema(part_type)
    unknown = [name for name in schema.fields if not state.is_open and name not in state.fields]
    if unknown or schema.is_open:
        known = ", ".join(map(repr, state.fields)) or "any"
        wrong = ", ".join(map(repr, unknown)) or "any field"
        raise GraphConfigError(
            f"{option} has {wrong}, which the state has not; it is a model or TypedDict of some of "
            f"the state's fields: {known}"
        )
    return schema


def _fields(given: Mapping[str, Any] | BaseModel, schema: StateSchema) -> Mapping[str, Any]:
    if not isinstance(given, BaseModel):
        return given
    if not (schema.is_model and isinstance(given, schema.state_type)):
        raise StateUpdateError(
            f"input is a {type(given).__qualname__}; pass a dict of fields, or the input type"
        )
    return {name: getattr(given, name) for name in schema.fields}
