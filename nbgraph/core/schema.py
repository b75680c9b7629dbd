"""The state of a graph: its fields, how updates are checked, kept as JSON and applied."""

from __future__ import annotations

import functools
import inspect
import json
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticUndefined, from_json

from nbgraph.core.reducers import Reducer, Replace, add, checked_reducer, merge_dict
from nbgraph.core.values import fresh, plain_copy, same
from nbgraph.errors import GraphConfigError, GraphExecutionError, StateStoreError, StateUpdateError

__all__ = ["BaseState", "StateSchema", "Update"]

_CONFIG = ConfigDict(
    ser_json_bytes="base64", val_json_bytes="base64", arbitrary_types_allowed=False
)
_PLAIN_TYPES = (str, int, float, bool, type(None), Any, object, list, dict)


class BaseState(BaseModel):
    """A state with pydantic's default settings; any `BaseModel` serves as well."""


@dataclass(frozen=True, slots=True)
class Update:
    """A checked update: one JSON delta a field, and the fields that go past their reducer."""

    values: Mapping[str, Any]
    replaced: tuple[str, ...] = ()


class _Field:
    """One field: its type, its reducer, its JSON."""

    def __init__(self, name: str, annotation: Any, metadata: Sequence[Any]) -> None:
        candidates = [item for item in metadata if _is_reducer(item)]
        self.name = name
        self.reducer: Reducer | None = checked_reducer(name, candidates)
        rest = tuple(item for item in metadata if not _is_reducer(item))
        self._whole = Annotated[(annotation, *rest)] if rest else annotation
        self._bare = annotation
        self._plain = _is_plain(annotation)

    @functools.cached_property
    def whole(self) -> TypeAdapter[Any]:
        """Checks a value of the field, with its constraints."""
        return _adapter(self.name, self._whole)

    @functools.cached_property
    def delta(self) -> TypeAdapter[Any]:
        """Checks an update that a reducer merges: the field's type without its constraints."""
        return _adapter(self.name, self._bare)

    def encode(self, value: Any, where: str, *, whole: bool) -> Any:
        """Return a written value as JSON, once it is sure to come back as it is."""
        adapter = self.whole if whole or self.reducer is None else self.delta
        try:
            checked = adapter.validate_python(value)
        except ValidationError as error:
            raise StateUpdateError(f"{where} does not fit: {_first_problem(error)}") from error
        return plain_copy(checked, where) if self._plain else _round_trip(adapter, checked, where)

    def decode(self, value: Any) -> Any:
        """Return a kept JSON value as the field's Python value."""
        return value if self._plain else _from_json(self.delta, value)

    def reduced(self, current: Any, update: Any) -> Any:
        """Return the value after an update."""
        if self.reducer is None:
            return update
        merged = self.reducer(current, update)
        if self.reducer is add:
            return merged
        try:
            return self.whole.validate_python(merged)
        except ValidationError as error:
            raise StateUpdateError(
                f"Field {self.name!r} does not fit after its reducer: {_first_problem(error)}"
            ) from error

    def difference(self, before: Any, after: Any) -> Any:
        """Return the update that leads from one value to the other, for this field's reducer."""
        if self.reducer is None:
            return after
        if self.reducer is add and after[: len(before or ())] == list(before or ()):
            return after[len(before or ()) :]
        if self.reducer is merge_dict and set(before or {}) <= set(after):
            return {key: item for key, item in after.items() if item != (before or {}).get(key)}
        raise GraphExecutionError(
            f"Field {self.name!r} was changed in place in a way its reducer cannot repeat; return "
            "a dict with the update, or Replace(value)"
        )


class StateSchema:
    """The fields of a state type: a pydantic model, a TypedDict, or `dict`.

    Raises
    ------
    GraphConfigError
        If the type is none of these, or declares what cannot be kept field by field.
    """

    def __init__(self, state_type: Any) -> None:
        self.state_type = state_type
        self.is_model = inspect.isclass(state_type) and issubclass(state_type, BaseModel)
        self.is_open = state_type is dict
        self.fields: dict[str, _Field] = {}
        if self.is_model:
            self._read_model(state_type)
        elif typing.is_typeddict(state_type):
            self._read_typed_dict(state_type)
        elif not self.is_open:
            raise GraphConfigError(
                f"A state schema is a pydantic model, a TypedDict or dict, got {state_type!r}"
            )

    def _read_model(self, model: type[BaseModel]) -> None:
        _check_model(model)
        for name, info in model.model_fields.items():
            self.fields[name] = _Field(name, info.annotation, info.metadata)

    def _read_typed_dict(self, state_type: Any) -> None:
        for name, hint in typing.get_type_hints(state_type, include_extras=True).items():
            bare = hint
            while get_origin(bare) in (typing.Required, typing.NotRequired):
                bare = get_args(bare)[0]
            metadata: Sequence[Any] = ()
            if get_origin(bare) is Annotated:
                bare, *metadata = get_args(bare)
            self.fields[name] = _Field(name, bare, metadata)

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of an input that starts a thread."""
        if self.is_open:
            return {"type": "object"}
        return TypeAdapter(self.state_type).json_schema(mode="validation")

    def start(self, given: Mapping[str, Any] | BaseModel, where: str = "input") -> Update:
        """Return the update that makes a new thread's state: defaults, and the input over them.

        Raises
        ------
        StateUpdateError
            If a field is unknown, missing or does not fit.
        StateStoreError
            If a value would not come back as it is.
        """
        defaults = self._encoded_defaults()
        update = self.update(given, where)
        state = self.apply(self.apply({}, defaults, tuple(defaults)), update.values, update.replaced)
        missing = [name for name in self._required() if name not in state]
        if missing:
            raise StateUpdateError(
                f"A new thread needs {', '.join(map(repr, missing))}; pass them in the input"
            )
        values = {**defaults, **self.to_json(state)}
        return Update(values, tuple(values))

    def _encoded_defaults(self) -> dict[str, Any]:
        if not self.is_model:
            return {}
        found: dict[str, Any] = {}
        for name, info in self.state_type.model_fields.items():
            default = info.get_default(call_default_factory=True)
            if default is not PydanticUndefined:
                found[name] = self.fields[name].encode(default, f"default of {name}", whole=True)
        return found

    def _required(self) -> Sequence[str]:
        if self.is_model:
            fields = self.state_type.model_fields
            return [name for name, info in fields.items() if info.is_required()]
        return sorted(getattr(self.state_type, "__required_keys__", ()))

    def update(self, given: Mapping[str, Any] | BaseModel, where: str) -> Update:
        """Return a checked update. A model instance of the state's type sets every field.

        Raises
        ------
        StateUpdateError
            If a field is unknown or a value does not fit.
        StateStoreError
            If a value would not come back as it is.
        """
        if isinstance(given, BaseModel):
            return self._whole_update(given, where)
        if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
            raise StateUpdateError(f"{where} must be a dict of fields, got {given!r}")
        replaced = tuple(name for name, value in given.items() if isinstance(value, Replace))
        values = {
            name: self._encode(name, value, where, whole=name in replaced)
            for name, value in given.items()
        }
        return Update(values, replaced)

    def _whole_update(self, given: BaseModel, where: str) -> Update:
        if not (self.is_model and isinstance(given, self.state_type)):
            raise StateUpdateError(
                f"{where} is a {type(given).__qualname__}; pass a dict of fields, or the state type"
            )
        values = {
            name: self._encode(name, getattr(given, name), where, whole=True)
            for name in self.fields
        }
        return Update(values, tuple(values))

    def _encode(self, name: Any, value: Any, where: str, *, whole: bool) -> Any:
        bare = value.value if isinstance(value, Replace) else value
        return self._field(name, where).encode(bare, f"{where}, field {name!r}", whole=whole)

    def _field(self, name: Any, where: str) -> _Field:
        if self.is_open and isinstance(name, str):
            return _OPEN
        if name not in self.fields:
            known = ", ".join(map(repr, self.fields))
            raise StateUpdateError(f"{where} names the field {name!r}; the state has {known}")
        return self.fields[name]

    def merges(self, name: str) -> bool:
        """Return whether the field has a reducer that merges several writes."""
        return not self.is_open and self.fields[name].reducer is not None

    def apply(
        self, state: Mapping[str, Any], update: Mapping[str, Any], replaced: Sequence[str]
    ) -> Mapping[str, Any]:
        """Return the state after one JSON update; fields in `replaced` go past their reducer.

        Raises
        ------
        StateStoreError
            If a kept field is not in the schema any more, or does not fit it.
        StateUpdateError
            If a merged value does not fit.
        """
        following = dict(state)
        for name, kept in update.items():
            if not self.is_open and name not in self.fields:
                raise StateStoreError(f"The thread keeps a field {name!r} the state does not have")
            field = self.fields.get(name, _OPEN)
            value = field.decode(kept)
            if name not in replaced:
                value = field.reduced(following.get(name), value)
            following[name] = value
        return following

    def to_json(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state as JSON."""
        return {
            name: self.fields.get(name, _OPEN).encode(value, f"field {name!r}", whole=True)
            for name, value in state.items()
        }

    def view(self, state: Mapping[str, Any], payload: Mapping[str, Any] | None = None) -> Any:
        """Return what a node is given: an own copy of the state, with `payload` laid over it."""
        values = {name: fresh(value) for name, value in self.laid(state, payload).items()}
        return self.state_type.model_construct(**values) if self.is_model else values

    def laid(
        self, state: Mapping[str, Any], payload: Mapping[str, Any] | None
    ) -> Mapping[str, Any]:
        """Return the state's values with a task's JSON `payload` over them."""
        if not payload:
            return state
        over = {name: self.fields.get(name, _OPEN).decode(item) for name, item in payload.items()}
        return {**state, **over}

    def difference(self, before: Mapping[str, Any], changed: Any) -> dict[str, Any]:
        """Return the update that a state object changed in place stands for.

        Raises
        ------
        GraphExecutionError
            If a reducer cannot lead from the value before to the one after.
        """
        after: Mapping[str, Any] = changed.__dict__ if self.is_model else changed
        gone = [name for name in before if name not in after]
        if gone:
            raise GraphExecutionError(f"Field {gone[0]!r} was deleted; a state keeps its fields")
        return {
            name: self.fields.get(name, _OPEN).difference(before.get(name), value)
            for name, value in after.items()
            if name not in before or not same(before[name], value)
        }


def _check_model(model: type[BaseModel]) -> None:
    decorators = model.__pydantic_decorators__
    problems = [
        f"{kind} {', '.join(found)}"
        for kind, found in {
            "validators": {**decorators.field_validators, **decorators.model_validators},
            "serializers": {**decorators.field_serializers, **decorators.model_serializers},
        }.items()
        if found
    ]
    if model.model_config.get("extra") == "allow":
        problems.append('extra="allow"')
    problems += [f"exclude= on {name!r}" for name, info in model.model_fields.items() if info.exclude]
    problems += [
        f"a default factory of {name!r} that reads other fields"
        for name, info in model.model_fields.items()
        if info.default_factory_takes_validated_data
    ]
    if problems:
        raise GraphConfigError(
            f"{model.__qualname__} cannot be a state, since every field is checked and kept on its "
            f"own: {'; '.join(problems)}; use Annotated validators, or check in a node"
        )


def _adapter(name: str, annotation: Any) -> TypeAdapter[Any]:
    is_model = inspect.isclass(annotation) and issubclass(annotation, BaseModel)
    try:
        return TypeAdapter(annotation, config=None if is_model else _CONFIG)
    except PydanticUserError as error:
        problem = str(error).splitlines()[0]
        raise GraphConfigError(
            f"Field {name!r} of type {annotation!r} cannot be kept: {problem}"
        ) from error


def _is_reducer(item: Any) -> bool:
    if inspect.isclass(item):
        return not hasattr(item, "__get_pydantic_core_schema__")
    return inspect.isroutine(item)


def _is_plain(annotation: Any) -> bool:
    if annotation in _PLAIN_TYPES:
        return True
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return all(type(part) in (str, int, bool, type(None)) for part in parts)
    if origin in (list, Union, types.UnionType):
        return all(map(_is_plain, parts))
    return origin is dict and parts[0] is str and _is_plain(parts[1])


def _round_trip(adapter: TypeAdapter[Any], value: Any, where: str) -> Any:
    try:
        text = adapter.dump_json(value, warnings="error")
        back = adapter.validate_json(text)
    except (ValueError, TypeError, RecursionError) as error:
        problem = str(error).splitlines()[0]
        raise StateStoreError(
            f"{where} holds a {type(value).__qualname__} that cannot be kept as JSON: {problem}"
        ) from error
    if not same(value, back):
        raise StateStoreError(
            f"{where} holds a {type(value).__qualname__} that comes back from JSON as another "
            f"value or a {type(back).__qualname__}; declare the field with the type it has"
        )
    return plain_copy(from_json(text), where)


def _from_json(adapter: TypeAdapter[Any], value: Any) -> Any:
    try:
        return adapter.validate_json(json.dumps(value))
    except ValidationError as error:
        raise StateStoreError(f"A kept value does not fit any more: {_first_problem(error)}") from error


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    path = "".join(f"/{part}" for part in first["loc"])
    return f"{path}: {first['msg']}" if path else first["msg"]


_OPEN = _Field("*", Any, ())
