"""The state of a graph: its fields, how updates are checked, kept as JSON and applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from nbgraph.core.field import UNSURE, Field
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.reducers import GROWING, Replace, grown
from nbgraph.core.state_type import declared_fields, is_model
from nbgraph.core.types import described
from nbgraph.core.values import fresh, same
from nbgraph.core.views import Views
from nbgraph.errors import (
    GraphExecutionError,
    RedefinedGraphError,
    StateUpdateError,
)

__all__ = ["BaseState", "StateSchema", "Update"]


class BaseState(BaseModel, defer_build=True, arbitrary_types_allowed=True):
    """A state whose fields may hold frames, arrays and pictures; any `BaseModel` serves as well."""


# Building this one, which has no fields, would be a tenth of `import nbgraph`. Those made of it are
# built where they are defined, as pydantic does by default.
BaseState.model_config.pop("defer_build")


@dataclass(frozen=True, slots=True)
class Update:
    """A checked update: one JSON delta a field, and the fields that go past their reducer."""

    values: Mapping[str, Any]
    replaced: tuple[str, ...] = ()


class StateSchema:
    """The fields of `state_type`: a pydantic model, a TypedDict, or `dict`.

    Raises
    ------
    GraphConfigError
        If the type is none of these, or declares what cannot be kept field by field.
    """

    def __init__(self, state_type: Any) -> None:
        self.state_type = state_type
        self.is_open = state_type is dict
        self.fields: dict[str, Field] = {} if self.is_open else declared_fields(state_type)
        immutable = {name for name, field in self.fields.items() if field.is_immutable}
        self._views = Views(state_type, immutable) if is_model(state_type) else None
        self.shown: Callable[[Mapping[str, Any]], Any] = (
            _copies if self._views is None else self._views.view
        )
        """Makes a view of values that are all there, as `laid` returns them."""
        self.untouched: Callable[[Any, Mapping[str, Any]], bool] = (
            _unsure if self._views is None else self._views.untouched
        )
        """Returns whether a view plainly holds what it was made of: quicker than to compare.

        False says nothing.
        """

    @property
    def is_model(self) -> bool:
        """Whether the state is a pydantic model."""
        return self._views is not None

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of an input that starts a thread."""
        if self.is_open:
            return {"type": "object"}
        return described(self.state_type)

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
        state = self.apply(
            self.apply({}, defaults, tuple(defaults)), update.values, update.replaced
        )
        missing = [name for name in self._required() if name not in state]
        if missing:
            raise StateUpdateError(
                f"A new thread needs a value for {', '.join(map(repr, missing))}; pass it in its "
                "input"
            )
        known = {**defaults, **self._written(state)}
        values = {name: known[name] for name in (*self.fields, *known) if name in known}
        return Update(values, tuple(values))

    def _encoded_defaults(self) -> dict[str, Any]:
        return {
            name: self.fields[name].encode(default, f"default of {name}", whole=True)
            for name, default in self._defaults().items()
        }

    def _defaults(self) -> dict[str, Any]:
        if not self.is_model:
            return {}
        # pydantic's own call of a factory reads the factory's signature each time, for 0.1 ms.
        found = {
            name: info.get_default() if info.default_factory is None else info.default_factory()
            for name, info in self.state_type.model_fields.items()
        }
        return {name: value for name, value in found.items() if value is not PydanticUndefined}

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
        return Update(*self.checked(given, where))

    def checked(self, given: Any, where: str) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the parts of a checked update, which are the caller's; as `update` does."""
        written: Mapping[str, Any] = given
        if type(given) is not dict:
            written = self._mapping(given, where)
        values: dict[str, Any] = {}
        replaced: tuple[str, ...] = ()
        fields = self.fields
        for name, value in written.items():
            field = fields.get(name)
            kept = UNSURE if field is None else field.plainly(value, whole=False)
            if kept is UNSURE:
                whole = isinstance(value, Replace)
                kept = self._encode(name, value, where, whole=whole)
                if whole:
                    replaced = (*replaced, name)
            values[name] = kept
        return values, replaced

    def _mapping(self, given: Any, where: str) -> Mapping[str, Any]:
        """Return what somebody gave as an update: a model's fields each replace what is there."""
        if isinstance(given, BaseModel):
            if self.is_model and isinstance(given, self.state_type):
                return {name: Replace(getattr(given, name)) for name in self.fields}
            raise StateUpdateError(
                f"{where} is a {type(given).__qualname__}; pass a dict of fields, or the state type"
            )
        if not isinstance(given, Mapping):
            raise StateUpdateError(f"{where} must be a dict of fields, got {given!r}")
        return cast("Mapping[str, Any]", given)

    def _encode(self, name: Any, value: Any, where: str, *, whole: bool) -> Any:
        bare = value.value if isinstance(value, Replace) else value
        return self._field(name, where).encode(bare, f"{where}, field {name!r}", whole=whole)

    def _field(self, name: Any, where: str) -> Field:
        if self.is_open and isinstance(name, str):
            return _OPEN
        if name not in self.fields:
            known = ", ".join(map(repr, self.fields)) or "fields that are named by str"
            raise StateUpdateError(f"{where} names the field {name!r}; the state has {known}")
        return self.fields[name]

    def reducer(self, name: str) -> str | None:
        """Return what merges a field's updates; None where an update replaces the value."""
        found = None if self.is_open or name not in self.fields else self.fields[name].reducer
        return None if found is None else getattr(found, "__name__", "its reducer")

    def merges(self, name: str) -> bool:
        """Return whether the field has a reducer that merges several writes."""
        return not self.is_open and self.fields[name].reducer is not None

    def apply(
        self, state: Mapping[str, Any], update: Mapping[str, Any], replaced: Sequence[str]
    ) -> Mapping[str, Any]:
        """Return the state after one JSON update; fields in `replaced` go past their reducer.

        Raises
        ------
        RedefinedGraphError
            If a kept field is not in the schema any more.
        StateStoreError
            If a kept value does not fit its field any more.
        StateUpdateError
            If a merged value does not fit.
        """
        return self.apply_all(state, ((update, replaced),))

    def apply_all(
        self,
        state: Mapping[str, Any],
        updates: Iterable[tuple[Mapping[str, Any], Sequence[str]]],
    ) -> Mapping[str, Any]:
        """Return the state after several updates, in order; each as `apply` takes it.

        A list or dict that many updates add to is copied and checked once, not once for each.
        """
        following = dict(state)
        own: dict[str, bool] = {}  # lists and dicts made here, and whether they have grown since
        for update, replaced in updates:
            for name, kept in update.items():
                field = self.fields.get(name)
                if field is None and not self.is_open:
                    unknown = [name for name in update if name not in self.fields]
                    raise RedefinedGraphError(fields=unknown)
                if field is not None and field.is_simple:
                    following[name] = kept
                else:
                    self._apply_one(following, own, name, kept, whole=name in replaced)
        for name in [name for name, grew in own.items() if grew] if own else ():
            following[name] = self.fields[name].fitted(following[name])
        return following

    def _apply_one(
        self, state: dict[str, Any], own: dict[str, bool], name: str, kept: Any, *, whole: bool
    ) -> None:
        """Apply one field's update in place; the values of the fields in `own` may be added to."""
        field = self.fields.get(name, _OPEN)
        value = field.decode(kept)
        if whole:
            own.pop(name, None)
            state[name] = value
        elif name in own and grown(state[name], value):
            own[name] = True
        else:
            state[name] = field.reduced(state.get(name), value)
            if field.reducer in GROWING:
                own[name] = False

    def kept(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state as JSON that is sure to come back as it is.

        Raises
        ------
        StateStoreError
            If a value would not, which a reducer of the user's own may have made.
        """
        return {name: self.fields.get(name, _OPEN).kept(value) for name, value in state.items()}

    def revived(self, kept: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state that `kept` made JSON of.

        Raises
        ------
        StateStoreError
            If a value does not fit any more.
        """
        return {name: self.fields.get(name, _OPEN).decode(value) for name, value in kept.items()}

    def _written(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.fields.get(name, _OPEN).written(value) for name, value in state.items()}

    def to_json(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state as JSON, with a summary of what is kept as bytes."""
        return {name: self.fields.get(name, _OPEN).shown(value) for name, value in state.items()}

    def view(self, state: Mapping[str, Any]) -> Any:
        """Return what a node is given: an own copy of the state."""
        return self.shown(self.laid(state))

    def laid(
        self, state: Mapping[str, Any], payload: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Return the state's values with a task's JSON `payload` over them.

        A field that the schema has got since the thread was started has its default.
        """
        if self._views is not None and len(state) < len(self.fields):
            state = {**self._defaults(), **state}
        if not payload:
            return state
        over = {name: self.fields.get(name, _OPEN).decode(item) for name, item in payload.items()}
        return {**state, **over}

    def between(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
        """Return the update that leads some fields from one value to another.

        It goes past a reducer that cannot lead there.
        """
        return {
            name: self._step(name, before.get(name), value)
            for name, value in after.items()
            if name not in before or not same(before[name], value)
        }

    def _step(self, name: str, before: Any, after: Any) -> Any:
        try:
            return self._field(name, "update").difference(before, after)
        except GraphExecutionError:
            return Replace(after)

    def difference(self, before: Mapping[str, Any], changed: Any) -> dict[str, Any]:
        """Return the update that a state object changed in place stands for.

        Raises
        ------
        GraphExecutionError
            If a reducer cannot lead from the value before to the one after.
        """
        after: Mapping[str, Any] = changed
        unread: Mapping[str, Any] = {}
        if self._views is not None:
            after, unread = self._views.read(changed)
        gone = [name for name in before if name not in after and name not in unread]
        if gone:
            raise GraphExecutionError(f"Field {gone[0]!r} was deleted; a state keeps its fields")
        return {
            name: self.fields.get(name, _OPEN).difference(before.get(name), value)
            for name, value in after.items()
            if name not in before or (value is not before[name] and not same(before[name], value))
        }

    def returned(self, update: Mapping[str, Any], replaced: Sequence[str]) -> dict[str, Any]:
        """Return a checked update as a node may return it."""
        values = {
            name: fresh(self.fields.get(name, _OPEN).decode(kept)) for name, kept in update.items()
        }
        return {
            name: Replace(value) if name in replaced else value for name, value in values.items()
        }

    def values(self, state: Any, where: str) -> Mapping[str, Any]:
        """Return the checked values of a whole state.

        Raises
        ------
        TypeError
            If it is not of the state's type.
        StateUpdateError, StateStoreError
            If a value does not fit, or would not come back as it is.
        """
        kind = self.state_type if self.is_model else Mapping
        if not isinstance(state, kind):
            raise TypeError(f"{where} gives {state!r}; a state is a {kind.__qualname__}")
        checked = self.update(state, where)
        return {
            name: self.fields.get(name, _OPEN).decode(kept) for name, kept in checked.values.items()
        }


def _unsure(_view: Any, _values: Mapping[str, Any]) -> bool:
    return False


def _copies(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fresh(value) for name, value in values.items()}


_OPEN = Field("*", Any, ())
