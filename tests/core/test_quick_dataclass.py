"""nbgraph's own `dataclass` makes what the standard library's makes, in less time."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from nbgraph.core.quick_dataclass import dataclass


def _place(make: Callable[[type], type]) -> type:
    class Place:
        """Where something is."""

        name: str
        size: int = 3
        parts: list[str] = field(default_factory=list, compare=False)
        hidden: str = field(default="x", repr=False)
        double: int = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "double", 2 * self.size)

    return make(Place)


def _only_by_name(make: Callable[[type], type]) -> type:
    class Named:
        first: int
        second: int = 2

    return make(Named)


class _Own:
    value: int

    def __repr__(self) -> str:
        return "mine"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7


@dataclass(frozen=True, slots=True)
class Kept:
    """A value with a default."""

    name: str
    parts: tuple[str, ...] = ()


OPTIONS = [
    {"frozen": True, "slots": True},
    {"slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": False},
    {"slots": False},
]


def looked_at(kind: Any) -> list[Any]:
    """Return what can be seen of a class and its instances."""
    one, same, other = kind("a"), kind("a", parts=["b"]), kind("b", 4)
    return [
        str(inspect.signature(kind)),
        kind.__init__.__annotations__,
        kind.__match_args__,
        kind.__doc__,
        getattr(kind, "__slots__", None),
        kind.__hash__ is None,
        repr(other).rpartition(".")[2],
        [each.name for each in dataclasses.fields(kind)],
        dataclasses.asdict(other),
        (one == same, one == other, one != same, one == "a"),
        one.parts is kind("a").parts,
        dataclasses.replace(other, name="c").double,
        copy.copy(other).double,
        copy.deepcopy(other).hidden,
        kind.__dataclass_params__.frozen,
        hasattr(one, "__dict__"),
    ]


@pytest.mark.parametrize("options", OPTIONS)
def test_it_makes_what_the_standard_library_makes(options: dict[str, Any]) -> None:
    ours, theirs = _place(dataclass(**options)), _place(dataclasses.dataclass(**options))
    assert looked_at(ours) == looked_at(theirs)


def test_fields_may_be_given_by_name_only() -> None:
    options: dict[str, Any] = {"frozen": True, "slots": True, "kw_only": True}
    ours, theirs = (_only_by_name(make(**options)) for make in (dataclass, dataclasses.dataclass))
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert dataclasses.astuple(ours(first=1)) == (1, 2)


def test_a_frozen_one_refuses_changes_as_the_standard_library_does() -> None:
    for make in (dataclass, dataclasses.dataclass):
        one: Any = _place(make(frozen=True, slots=True))("a")
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
            one.name = "b"
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'name'"):
            del one.name


def test_equal_ones_have_the_same_hash() -> None:
    assert hash(Kept("a", ("b",))) == hash(Kept("a", ("b",)))
    assert len({Kept("a"), Kept("a"), Kept("b")}) == 2


def test_it_can_be_copied() -> None:
    kept = Kept("a", ("b",))
    assert copy.copy(kept) == copy.deepcopy(kept) == kept
    assert copy.copy(kept) is not kept


def test_what_a_class_says_itself_stands() -> None:
    kind: Any = dataclass(frozen=True, slots=True)(_Own)
    assert (repr(kind(1)), kind(1) == kind(2), hash(kind(1))) == ("mine", True, 7)


def test_one_that_holds_itself_is_shown() -> None:
    one: Any = _place(dataclass(slots=True))("a")
    one.parts.append(one)
    assert repr(one).count("...") == 1


def test_a_subclass_has_the_signature_of_its_own_fields_or_its_parents() -> None:
    parent: Any = _place(dataclass(slots=True))

    class Child(parent):
        __slots__ = ()

    assert Child("a", 4).double == 8
    assert inspect.signature(Child) == inspect.signature(parent)
    assert "__init__" not in vars(Child)


def test_init_is_compiled_when_it_is_first_asked_for() -> None:
    kind: Any = _place(dataclass(slots=True))
    before = vars(kind)["__init__"]
    assert not inspect.isfunction(before)
    kind("a")
    assert inspect.isfunction(vars(kind)["__init__"])
