"""Views of a state model: what a node is given. A container is copied when it is first read.

A view is an instance of the state's own class for all that can be seen of it. Fields that hold
containers are not in its `__dict__` at first, so reading one arrives at `__getattr__`, which copies
it; whoever asks for `__dict__` (dumping, comparing, copying, printing do) gets every field.
"""

from __future__ import annotations

import copyreg
from abc import ABCMeta
from collections.abc import Callable, Collection, Mapping
from operator import is_
from typing import Any, cast

from pydantic import BaseModel

from nbgraph.core.values import IMMUTABLE, fresh

__all__ = ["Views"]

_HELD = "\0held"
"""Under this key, which is no name, a view's `__dict__` has the fields that are not copied yet."""
_SLOTS: Mapping[str, Any] = vars(BaseModel)
_DICT = _SLOTS["__dict__"]
_new: Callable[[type[Any]], Any] = object.__new__
_set_contents = _DICT.__set__
_set_given = _SLOTS["__pydantic_fields_set__"].__set__
_set_extra = _SLOTS["__pydantic_extra__"].__set__
_set_private = _SLOTS["__pydantic_private__"].__set__


class Views:
    """Makes views of one state model, and tells what was read of them.

    Parameters
    ----------
    model : type
        The state's class.
    immutable : collection of str
        Fields whose values may always be shared, as their types say.
    """

    def __init__(self, model: type[BaseModel], immutable: Collection[str] = ()) -> None:
        self._model = model
        self._fields = tuple(model.model_fields)
        self._copied = tuple(name for name in self._fields if name not in immutable)
        # Private attributes and model_post_init are set up by pydantic, on a whole instance.
        self._eager = model.__pydantic_post_init__ is not None
        self._kind = None if self._eager else _view_class(model)

    def view(self, values: Mapping[str, Any]) -> BaseModel:
        """Return a view of a state's values."""
        kind = self._kind
        if kind is None:
            copies = {name: fresh(value) for name, value in values.items()}
            return self._model.model_construct(**copies)
        shown = dict(values)
        if self._copied:
            held = {
                name: shown.pop(name)
                for name in self._copied
                if name in shown and type(shown[name]) not in IMMUTABLE
            }
            if held:
                shown[_HELD] = held
        view = _new(kind)
        _set_contents(view, shown)
        _set_given(view, set(values))
        _set_extra(view, None)
        _set_private(view, None)
        return view

    def untouched(self, view: BaseModel, values: Mapping[str, Any]) -> bool:
        """Return whether a view plainly holds what it was made of, and no container was read."""
        shown: dict[str, Any] = _DICT.__get__(view)
        held = shown.get(_HELD)
        if held is None:  # no container: both in one order, unless a field was deleted and set
            return len(shown) == len(values) and all(map(is_, shown.values(), values.values()))
        if len(shown) != len(values) - len(held) + 1:
            return False
        return not [
            name
            for name, value in shown.items()
            if value is not values.get(name, _HELD) and value is not held
        ]

    def read(self, view: BaseModel) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the fields of a view that may have changed, and those that were not read."""
        values: dict[str, Any] = _DICT.__get__(view)
        shown = {name: values[name] for name in self._fields if name in values}
        return shown, values.get(_HELD, {})


def _view_class(model: type[BaseModel]) -> type[BaseModel]:
    def whole(self: BaseModel) -> dict[str, Any]:
        values: dict[str, Any] = _DICT.__get__(self)
        held = values.pop(_HELD, None)
        if held is not None:
            copies = {name: fresh(value) for name, value in held.items()} | values
            values.clear()
            order = dict.fromkeys((*model.model_fields, *copies))
            values.update((name, copies[name]) for name in order if name in copies)
        return values

    def missing(self: BaseModel, name: str) -> Any:
        values: dict[str, Any] = _DICT.__get__(self)
        held = values.get(_HELD)
        if held is None or name not in held:
            return cast("Any", model).__getattr__(self, name)
        values[name] = copied = fresh(held.pop(name))
        return copied

    def reduced(self: BaseModel, protocol: Any) -> Any:  # noqa: ARG001 - pickle passes it
        return copyreg.__newobj__, (model,), self.__getstate__()  # type: ignore[attr-defined]

    contents = {
        "__slots__": (),
        "__module__": model.__module__,
        "__qualname__": model.__qualname__,
        "__doc__": model.__doc__,
        "__dict__": property(whole, _DICT.__set__),
        "__class__": property(lambda _: model),
        "__getattr__": missing,
        "__reduce_ex__": reduced,
    }
    # Past pydantic's metaclass: a view has its model's own fields, validator and serializer.
    return ABCMeta.__new__(type(model), model.__name__, (model,), contents)
