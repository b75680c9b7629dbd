"""`dataclass` as in the standard library, made in less time.

The standard one compiles up to seven functions for each class, which took 26 ms of the 86 ms of
`import nbgraph` on top of pydantic (Python 3.11). This one compiles `__init__` alone, which
is called often, and not before it is asked for: few classes are used where the library is imported.
What shows, compares, hashes and refuses a change is written once for all classes.
`fields`, `replace` and `asdict` of `dataclasses` work on them, and type checkers see the standard
decorator.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["dataclass"]

T = TypeVar("T")


class _Factory:
    """Stands for a default that is made anew for each instance, also in a signature."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()
_DISPLAYS: dict[Any, str] = {dict: "{}", list: "[]"}
"""What takes a third of the time of calling these."""


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        *,
        slots: bool,
        frozen: bool = False,
        eq: bool = True,
        init: bool = True,
        kw_only: bool = False,
    ) -> Callable[[type[T]], type[T]]:
        """Return a decorator that makes a dataclass."""
        nothing = {"init": False, "repr": False, "eq": False}
        bare = dataclasses.dataclass(slots=slots, kw_only=kw_only, **nothing)
        return lambda cls: _made(cls, bare, frozen=frozen, eq=eq, init=init)


def _made(cls: type[T], bare: Any, *, frozen: bool, eq: bool, init: bool) -> type[T]:
    """Make a dataclass: `bare` gives it its fields, and slots if it is to have them."""
    cls.__doc__ = cls.__doc__ or cls.__name__  # else the standard library writes a signature
    own = {name for name, value in vars(cls).items() if value is not None}
    made: Any = bare(cls)
    fields = dataclasses.fields(made)
    methods = _shown(fields)
    if eq:
        methods |= _compared(fields) | ({} if frozen else {"__hash__": None})
    if frozen:
        methods |= _frozen(made, fields)
    if init:
        methods["__init__"] = _Init(made, fields, frozen=frozen)
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    settings = made.__dataclass_params__
    settings.init, settings.repr, settings.eq, settings.frozen = init, True, eq, frozen
    return made


class _Init:
    """Stands for a class's `__init__` until somebody asks for it, and is replaced by it then."""

    def __init__(self, cls: type, fields: tuple[Field[Any], ...], *, frozen: bool) -> None:
        self._cls = cls
        self._known = vars(sys.modules[cls.__module__])
        self._made = partial(_init, cls, fields, frozen=frozen)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        self._cls.__init__ = init = self._made(self._known)
        return init.__get__(instance, owner)


def _init(
    cls: Any, fields: tuple[Field[Any], ...], known_there: dict[str, Any], *, frozen: bool
) -> Any:
    """Compile `__init__`; that of a frozen class goes past what refuses a change.

    As the standard library does. What is compiled is made of the names of fields, which stand in
    the source of nbgraph.
    """
    known: dict[str, Any] = {"_FACTORY": _FACTORY, "_put": object.__setattr__}
    parameters: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    for field in fields:
        name = field.name
        value, default = name, field.default
        if field.default_factory is not MISSING:
            default, known[f"_make_{name}"] = _FACTORY, field.default_factory
            fresh = _DISPLAYS.get(field.default_factory, f"_make_{name}()")
            value = f"{fresh} if {name} is _FACTORY else {name}"
        known[f"_default_{name}"] = default
        setting = f"self.{name} = {value}"
        slot: Any = cls.__dict__.get(name)
        if frozen and isinstance(slot, MemberDescriptorType):
            setting, known[f"_set_{name}"] = f"_set_{name}(self, {value})", slot.__set__
        elif frozen:
            setting = f"_put(self, {name!r}, {value})"
        if field.init:
            listed = by_name if field.kw_only else parameters
            listed.append(name if default is MISSING else f"{name}=_default_{name}")
            lines.append(setting)
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    given = ", ".join(["self", *parameters, *(["*", *by_name] if by_name else ())])
    inner = f"def __init__({given}):\n  " + "\n  ".join(lines or ["pass"])
    source = f"def outer({', '.join(known)}):\n {inner}\n return __init__"
    made: dict[str, Any] = {}
    exec(source, known_there, made)
    init = made["outer"](**known)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {field.name: field.type for field in fields if field.init}
    init.__annotations__["return"] = None
    return init


def _shown(fields: tuple[Field[Any], ...]) -> dict[str, Any]:
    shown = tuple(field.name for field in fields if field.repr)

    def written(self: Any) -> str:
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({parts})"

    return {"__repr__": recursive_repr("...")(written)}


def _compared(fields: tuple[Field[Any], ...]) -> dict[str, Any]:
    compared = tuple(field.name for field in fields if field.compare)

    def values(self: Any) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in compared])

    def equals(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def hashed(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": equals, "__hash__": hashed}


def _frozen(cls: type, fields: tuple[Field[Any], ...]) -> dict[str, Any]:
    names = tuple(field.name for field in fields)

    def refuse_set(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def refuse_delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    def state(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def set_state(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {
        "__setattr__": refuse_set,
        "__delattr__": refuse_delete,
        "__getstate__": state,
        "__setstate__": set_state,
    }
