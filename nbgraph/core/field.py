"""One field of a state: how a value of it is checked, kept as JSON, read back and merged."""

from __future__ import annotations

import functools
import inspect
import json
import math
import types
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import typing_extensions
from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import from_json

from nbgraph.core.blob import Packing, blob_of, has_codec, kept, placed, revived, shown
from nbgraph.core.reducers import SPECIAL, Reducer, add, checked_reducer, merge_dict, replace
from nbgraph.core.type_adapters import readable
from nbgraph.core.types import bytearray_kept, lenient_adapter, unkept_types
from nbgraph.core.values import fresh, plain_copy, same
from nbgraph.errors import GraphConfigError, GraphExecutionError, StateStoreError, StateUpdateError

__all__ = ["UNSURE", "Field"]

UNSURE = object()
"""Said of a value that only the field's type can judge."""

_CONFIG = ConfigDict(
    ser_json_bytes="base64", val_json_bytes="base64", arbitrary_types_allowed=False
)
_SMALL = 2**63
"""Integers below it are kept whatever reads them."""
_OPEN_TYPES = (Any, object, list, dict)
_PLAIN_TYPES = (str, int, float, bool, type(None), *_OPEN_TYPES)


class Field:
    """One field: its type, its reducer, its JSON."""

    def __init__(self, name: str, annotation: Any, metadata: Sequence[Any]) -> None:
        candidates = [item for item in metadata if _is_reducer(item)]
        self.name = name
        self.reducer: Reducer | None = checked_reducer(name, candidates)
        rest = tuple(item for item in metadata if not _is_reducer(item))
        self._whole = Annotated[(annotation, *rest)] if rest else annotation
        self._special = SPECIAL.get(self.reducer) if self.reducer else None
        self._bare = self._special.delta_type(name, annotation) if self._special else annotation
        self._plain = _is_plain(annotation)
        self._open = self._plain and _is_open(annotation)
        self._judge = _judge(annotation)
        self._bounded = bool(rest)
        self.is_immutable = _is_immutable(annotation)
        """Whether a value of the field may be shared."""
        self.is_simple = self._plain and not self._open and self.reducer is None
        """Whether an update, as it is kept, is the value that follows."""

    @functools.cached_property
    def whole(self) -> TypeAdapter[Any]:
        """Checks a value of the field, with its constraints."""
        return _adapter(self.name, self._whole)

    @functools.cached_property
    def delta(self) -> TypeAdapter[Any]:
        """Checks an update that a reducer merges: the field's type without its constraints."""
        return _adapter(self.name, self._bare)

    def plainly(self, value: Any, *, whole: bool) -> Any:
        """Return a written value as JSON if it plainly fits, or `UNSURE`: `encode` judges then."""
        if self._bounded and (whole or self.reducer is None):
            return UNSURE
        return self._judge(value)

    def encode(self, value: Any, where: str, *, whole: bool) -> Any:
        """Return a written value as JSON, once it is sure to come back as it is."""
        plain = self.plainly(value, whole=whole)
        if plain is not UNSURE:
            return plain
        merges = self.reducer is not None and not whole
        adapter = self.delta if merges else self.whole
        try:
            checked = adapter.validate_python(value)
        except ValidationError as error:
            raise StateUpdateError(f"{where} does not fit: {_first_problem(error)}") from error
        if self._special is not None:
            checked = self._special.completed(checked, where)
        return plain_copy(checked, where) if self._plain else _round_trip(adapter, checked, where)

    @property
    def type(self) -> Any:
        """The field's annotation, without its constraints and reducer."""
        return self._bare

    def kept(self, value: Any) -> Any:
        """Return a value that stands in a state as JSON, once it is sure to come back as it is."""
        where = f"field {self.name!r}"
        if self._plain and self.reducer in (None, add, merge_dict, replace):
            # It was checked when it was written, and these make nothing else of it.
            return kept(value, where) if self._open else value
        return plain_copy(value, where) if self._plain else _round_trip(self.delta, value, where)

    def written(self, value: Any) -> Any:
        """Return a value that stands in a state as JSON; it was checked when it was written."""
        where = f"field {self.name!r}"
        return fresh(kept(value, where)) if self._plain else _dumped(self.delta, value, where)[1]

    def shown(self, value: Any) -> Any:
        """Return a value that stands in a state as people are shown it."""
        return shown(value if self._plain else self.written(value))

    def decode(self, value: Any) -> Any:
        """Return a kept JSON value as the field's Python value."""
        if self._plain:
            return revived(value) if self._open else value
        return _from_json(self.delta, value)

    def reduced(self, current: Any, update: Any) -> Any:
        """Return the value after an update."""
        if self.reducer is None:
            return update
        return self.fitted(self.reducer(current, update))

    def fitted(self, merged: Any) -> Any:
        """Return what the field's reducer made, once it fits the field."""
        if self.reducer is add or self._special:  # they put checked items beside checked ones
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
        if self._special is not None:
            return self._special.difference(self.name, before, after)
        if self.reducer is add and same(after[: len(before or ())], list(before or ())):
            return after[len(before or ()) :]
        known: dict[Any, Any] = before or {}
        if self.reducer is merge_dict and known.keys() <= after.keys():
            return {
                key: item
                for key, item in after.items()
                if key not in known or not same(known[key], item)
            }
        raise GraphExecutionError(
            f"Field {self.name!r} was changed in place in a way its reducer cannot repeat; return "
            "a dict with the update, or Replace(value)"
        )


def _adapter(name: str, annotation: Any) -> TypeAdapter[Any]:
    try:
        return _any_adapter(bytearray_kept(annotation))
    except PydanticUserError as error:
        problem = str(error).splitlines()[0]
        raise GraphConfigError(
            f"Field {name!r} of type {annotation!r} cannot be kept: {problem}"
        ) from error


def _any_adapter(annotation: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(readable(annotation), config=_CONFIG)
    except PydanticUserError as error:
        first = error
    try:
        if first.code == "type-adapter-config-unused":  # a model, a dataclass: it has its own
            return TypeAdapter(readable(annotation))
    except PydanticUserError as error:
        if not typing_extensions.is_typeddict(annotation):
            raise
        first = error
    if first.code != "schema-for-unknown-type":
        raise first
    made = lenient_adapter(annotation, _CONFIG)
    if unkept_types(made.core_schema):
        raise first
    return made


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


def _is_open(annotation: Any) -> bool:
    """Return whether a plain type has room for values of any type."""
    parts = get_args(annotation)
    if annotation in _OPEN_TYPES or get_origin(annotation) is Literal:
        return annotation in _OPEN_TYPES
    return any(map(_is_open, parts))


def _is_immutable(annotation: Any) -> bool:
    """Return whether every value of a plain type can be shared."""
    if get_origin(annotation) in (Union, types.UnionType):
        return all(map(_is_immutable, get_args(annotation)))
    return annotation in (*_JUDGES, None, type(None))


def _judge(annotation: Any) -> Callable[[Any], Any]:
    """Return what says of a value that it plainly fits a type: the value as kept, or `UNSURE`."""
    parts = get_args(annotation)
    if get_origin(annotation) is list and parts[0] in tuple(_JUDGES):
        return functools.partial(_plain_list, parts[0])
    return _JUDGES[annotation] if annotation in tuple(_JUDGES) else _unsure


def _unsure(_: Any) -> Any:
    return UNSURE


def _plain_str(value: Any) -> Any:
    return value if type(value) is str and value.isascii() else UNSURE


def _plain_int(value: Any) -> Any:
    return value if type(value) is int and -_SMALL < value < _SMALL else UNSURE


def _plain_float(value: Any) -> Any:
    return value if type(value) is float and math.isfinite(value) else UNSURE


def _plain_bool(value: Any) -> Any:
    return value if type(value) is bool else UNSURE


_JUDGES: dict[Any, Callable[[Any], Any]] = {
    str: _plain_str,
    int: _plain_int,
    float: _plain_float,
    bool: _plain_bool,
}
"""How values of plain types are judged by a look at them."""


def _plain_list(kind: type, value: Any) -> Any:
    if type(value) is not list or not set(map(type, cast("list[Any]", value))) <= {kind}:
        return UNSURE
    items = cast("list[Any]", value)
    if kind is str:
        return [*items] if all(map(str.isascii, items)) else UNSURE
    judge = _JUDGES[kind]
    return [*items] if UNSURE not in map(judge, items) else UNSURE


def _round_trip(adapter: TypeAdapter[Any], value: Any, where: str) -> Any:
    try:
        text, told = _dumped(adapter, value, where)
        back = _from_json(adapter, told) if text is None else adapter.validate_json(text)
    except (ValueError, TypeError, RecursionError) as error:
        problem = str(error).splitlines()[0]
        raise StateStoreError(
            f"{where} holds a {type(value).__qualname__} that cannot be kept as JSON: {problem}"
        ) from error
    if not same(value, back):
        raise StateStoreError(
            f"{where} holds a {type(value).__qualname__} that comes back from JSON as another "
            f"value or a {type(back).__qualname__}; declare the field with the type it has, and "
            "give a time a fixed offset, such as UTC"
        )
    return told


def _dumped(adapter: TypeAdapter[Any], value: Any, where: str) -> tuple[bytes | None, Any]:
    """Return a value as JSON text, unless there are blobs in it, and as JSON with its blobs."""
    packing = Packing()

    def taken(part: Any) -> str:
        if not has_codec(type(part)):
            raise TypeError(f"a {type(part).__qualname__} has no form that is kept")
        return packing.put(part)

    text = adapter.dump_json(
        value, by_alias=True, round_trip=True, warnings="error", fallback=taken
    )
    told = plain_copy(from_json(text), where)
    if not packing.found:
        return text, told
    for path, part in packing.places(told):
        told = placed(told, path, blob_of(part, where + "".join(f"/{step}" for step in path)))
    return None, told


def _from_json(adapter: TypeAdapter[Any], value: Any) -> Any:
    try:
        text = json.dumps(value)
    except TypeError:  # there are blobs in it
        text = None
    try:
        if text is None:
            return adapter.validate_python(revived(value))
        return adapter.validate_json(text)
    except ValidationError as error:
        raise StateStoreError(
            f"A kept value does not fit any more: {_first_problem(error)}"
        ) from error


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    path = "".join(f"/{part}" for part in first["loc"])
    return f"{path}: {first['msg']}" if path else first["msg"]
