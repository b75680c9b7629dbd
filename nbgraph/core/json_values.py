"""What counts as a JSON value here, and how other values become one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard, cast

from pydantic_core import to_jsonable_python

from nbgraph.core.secrets import holds_secret

__all__ = ["Json", "NotJsonError", "is_array", "is_object", "pointer", "to_json"]

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with str keys."""

_MAX_DEPTH = 150
_MAX_BITS = 14_000  # CPython refuses to read back an int of more than 4,300 digits
_MAX_PROBLEMS = 20


class NotJsonError(ValueError):
    """A value has no exact JSON form.

    Attributes
    ----------
    where : str
        What the value is, in words.
    problems : dict of str to str
        What has no JSON form, by JSON Pointer into the value.
    """

    def __init__(self, where: str, problems: Mapping[str, str]) -> None:
        self.where = where
        self.problems = dict(problems)
        listed = "; ".join(f"{path}: {text}" if path else text for path, text in problems.items())
        super().__init__(f"{where} cannot be kept as JSON: {listed}")


def is_object(value: Any) -> TypeGuard[dict[str, Json]]:
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Json]]:
    """Return whether a JSON value is an array."""
    return isinstance(value, list)


def pointer(parts: Iterable[str | int]) -> str:
    """Return the JSON Pointer (RFC 6901) of a path."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def to_json(value: Any, *, where: str) -> Json:
    """Return `value` as JSON: a model as a dict, a date as text, a tuple as a list.

    A value comes out exactly or not at all.

    Raises
    ------
    NotJsonError
        For NaN and infinity, lone surrogates, keys that become one, secrets, unknown objects,
        cycles and a depth over 150. `where` says in the message what the value is.
    """
    walk = _Walk()
    result = walk.value(value, ())
    if walk.problems:
        raise NotJsonError(where, walk.problems)
    return result


class _Walk:
    """One conversion: the problems found and the containers it stands in."""

    def __init__(self) -> None:
        self.problems: dict[str, str] = {}
        self._inside: set[int] = set()

    def value(self, value: Any, path: tuple[str | int, ...]) -> Json:
        if value is None or value is True or value is False:
            return value
        kind = cast("type[Any]", type(value))
        if kind is str:
            return self._text(value, path)
        if kind is int:
            return self._integer(value, path)
        if kind is float:
            return self._float(value, path)
        if kind is dict or isinstance(value, Mapping):
            return self._within(value, path, self._mapping)
        if isinstance(value, list | tuple):
            return self._within(value, path, self._sequence)
        return self._within(value, path, self._object)

    def _refuse(self, path: tuple[str | int, ...], problem: str) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.setdefault(pointer(path), problem)

    def _text(self, text: str, path: tuple[str | int, ...]) -> str:
        try:
            text.encode()
        except UnicodeEncodeError:
            self._refuse(path, "text with half a character (a lone surrogate)")
        return text

    def _integer(self, number: int, path: tuple[str | int, ...]) -> int:
        if number.bit_length() > _MAX_BITS:
            self._refuse(path, "a whole number of more than 4,000 digits")
        return number

    def _float(self, number: float, path: tuple[str | int, ...]) -> float:
        if not math.isfinite(number):
            self._refuse(path, f"{number} is not a number that JSON knows")
        return number

    def _within(
        self,
        value: Any,
        path: tuple[str | int, ...],
        convert: Callable[[Any, tuple[str | int, ...]], Json],
    ) -> Json:
        if id(value) in self._inside:
            self._refuse(path, "it contains itself")
            return None
        if len(path) > _MAX_DEPTH:
            self._refuse(path[:3], f"it is nested more than {_MAX_DEPTH} deep")
            return None
        self._inside.add(id(value))
        try:
            return convert(value, path)
        finally:
            self._inside.discard(id(value))

    def _mapping(self, value: Mapping[Any, Any], path: tuple[str | int, ...]) -> dict[str, Json]:
        result: dict[str, Json] = {}
        for key, item in value.items():
            name = self._name(key, path)
            if name is None:
                continue
            if name in result:
                self._refuse((*path, name), "two keys become this one in JSON")
            result[name] = self.value(item, (*path, name))
        return result

    def _name(self, key: Any, path: tuple[str | int, ...]) -> str | None:
        if type(key) is str:
            return self._text(key, path)
        try:
            return next(iter(to_jsonable_python({key: None})))
        except (ValueError, TypeError, RecursionError):
            self._refuse(path, f"a key of type {type(key).__name__}")
            return None

    def _sequence(self, value: Iterable[Any], path: tuple[str | int, ...]) -> list[Json] | Json:
        return [self.value(item, (*path, index)) for index, item in enumerate(value)]

    def _object(self, value: Any, path: tuple[str | int, ...]) -> Json:
        if holds_secret(value, _MAX_DEPTH):
            self._refuse(path, "it holds a secret, which would be kept readable")
            return None
        try:
            plain = to_jsonable_python(value, by_alias=True)
        except (ValueError, TypeError, RecursionError):
            self._refuse(path, f"an object of type {type(value).__name__}")
            return None
        return self.value(plain, path)
