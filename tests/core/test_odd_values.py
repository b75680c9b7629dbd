"""Odd values: each comes back equal and of the same type, or is refused with its path."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import enum
import fractions
import ipaddress
import math
import pathlib
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypedDict, TypeVar
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel

from nbgraph import END, START, Graph, SQLiteStateStore, node
from nbgraph.errors import GraphConfigError, StateStoreError, StateUpdateError


class Level(enum.IntEnum):
    LOW = 1


class Word(enum.StrEnum):
    YES = "yes"


class Flags(enum.Flag):
    READ = 1
    WRITE = 2


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"
    PAIR = (1, 2)


class Point(NamedTuple):
    x: int
    name: str = "p"


@dataclasses.dataclass
class Inner:
    numbers: list[int]


@dataclasses.dataclass
class Outer:
    inner: Inner
    named: dict[str, Inner]


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int


Value = TypeVar("Value")


class Box(BaseModel, Generic[Value]):
    value: Value


class Parent(BaseModel):
    a: int = 1


class Child(Parent):
    b: int = 2


KEPT: dict[str, tuple[Any, Any]] = {
    "an IntEnum": (Level, Level.LOW),
    "a StrEnum": (Word, Word.YES),
    "flags": (Flags, Flags.READ | Flags.WRITE),
    "an Enum of numbers and text": (list[Mixed], [Mixed.ONE, Mixed.TWO]),
    "an Enum as a key": (dict[Level, int], {Level.LOW: 1}),
    "a Decimal with its zeros": (Decimal, Decimal("1.10")),
    "a Decimal with an exponent": (Decimal, Decimal("1E+5")),
    "a Decimal of minus zero": (Decimal, Decimal("-0")),
    "microseconds": (datetime, datetime(2020, 1, 1, 1, 2, 3, 4)),
    "a time in UTC": (datetime, datetime(2020, 1, 1, tzinfo=UTC)),
    "a time with an offset": (datetime, datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=5)))),
    "the first moment": (datetime, datetime.min),
    "the last moment": (datetime, datetime.max),
    "a date as a key": (dict[date, int], {date(1, 1, 1): 1}),
    "a time of day": (time, time(1, 2, 3, 999_999)),
    "less than no time": (timedelta, timedelta(days=-1, microseconds=1)),
    "the longest time": (timedelta, timedelta.max),
    "the shortest time": (timedelta, timedelta.min),
    "a zone": (ZoneInfo, ZoneInfo("Europe/Paris")),
    "a UUID": (uuid.UUID, uuid.UUID(int=3)),
    "a path": (pathlib.Path, pathlib.Path("a/../b")),
    "a pure path": (pathlib.PurePosixPath, pathlib.PurePosixPath("/x")),
    "a named tuple": (Point, Point(1, "y")),
    "a tuple of any length": (tuple[int, ...], (1, 2, 3)),
    "an empty tuple": (tuple[()], ()),
    "tuples in a list": (list[tuple[int]], [(1,), (2,)]),
    "a frozenset of tuples": (frozenset[tuple[int, int]], frozenset({(1, 2), (3, 4)})),
    "a set of numbers and text": (set[int | str], {1, "1"}),
    "a dataclass in a dataclass": (Outer, Outer(Inner([1]), {"k": Inner([])})),
    "a set of dataclasses": (set[Frozen], {Frozen(1)}),
    "a generic model": (Box[int], Box[int](value=1)),
    "a model of its own class": (Child, Child(b=3)),
    "bytes in a dict": (dict[str, bytes], {"a": b"\xff\x00"}),
    "bytes in a list": (list[bytes], [b"", b"\x00"]),
    "a complex number": (complex, 1 + 2j),
    "a number of 4,200 digits": (int, 10**4200),
    "a number beyond 64 bits": (int, -(2**64)),
    "minus zero": (float, -0.0),
    "the least float": (float, 5e-324),
    "the greatest float": (float, 1.7976931348623157e308),
    "a NUL": (str, "a\x00b"),
    "a byte order mark": (str, "\ufeffx"),
    "a composed letter": (str, "e\u0301"),
    "a NUL in a key": (dict[str, int], {"\x00": 1}),
    "numbers as keys": (dict[int, str], {1: "a", 2: "b"}),
    "truth values as keys": (dict[bool, int], {True: 1, False: 0}),
    "an OrderedDict": (
        collections.OrderedDict[str, int],
        collections.OrderedDict([("b", 1), ("a", 2)]),
    ),
    "a Counter": (collections.Counter[str], collections.Counter("aab")),
    "a deque": (collections.deque[int], collections.deque([1, 2])),
    "a fraction": (fractions.Fraction, fractions.Fraction(1, 3)),
    "an address": (ipaddress.IPv6Address, ipaddress.ip_address("::1")),
    "a text that may be a number": (int | str, "1"),
    "a truth value that may be a number": (bool | int, 1),
    "one of alike choices": (Literal[True, 1], 1),
    "100 levels": (Any, reduce(lambda inner, _: [inner], range(99), [])),
}

_cycle: list[Any] = []
_cycle.append(_cycle)


def _nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def _yielding() -> Iterator[int]:
    yield 1


REFUSED: dict[str, tuple[Any, Any]] = {
    "an Enum of a tuple": (Mixed, Mixed.PAIR),
    "a Decimal that is no number": (Decimal, Decimal("NaN")),
    "an endless Decimal": (Decimal, Decimal("-Infinity")),
    "a zone whose offset changes": (datetime, datetime(2020, 6, 1, tzinfo=ZoneInfo("Asia/Tokyo"))),
    "the second of two equal times": (datetime, datetime(2020, 10, 25, 2, 30, fold=1)),
    "the second of two times of day": (time, time(2, 30, fold=1)),
    "an offset of seconds": (datetime, datetime(2020, 1, 1, tzinfo=timezone(timedelta(0, 3601)))),
    "a complex number that is none": (complex, complex(math.nan, 1)),
    "a complex number of minus zero": (complex, complex(-0.0, -0.0)),
    "a float that is no number": (float, math.nan),
    "an endless float": (float, -math.inf),
    "a number of 4,400 digits": (int, 10**4400),
    "half a letter": (str, "x\ud800y"),
    "two halves of a letter": (str, "\ud83d\ude00"),
    "half a letter in a key": (dict[str, int], {"\ud800": 1}),
    "keys that become one": (dict[int | str, str], {1: "a", "1": "b"}),
    "tuples as keys": (dict[tuple[int, int], int], {(1, 2): 3}),
    "a deque that forgets": (collections.deque[int], collections.deque([1], maxlen=5)),
    "a class that is another's child": (Parent, Child()),
    "children in a list": (list[Parent], [Child()]),
    "a date that may be text": (date | str, "2020-01-01"),
    "a memoryview": (Any, memoryview(b"x")),
    "a function": (Any, _nested),
    "a generator": (Any, _yielding()),
    "a lock": (Any, threading.Lock()),
    "a module": (Any, math),
    "an exception": (Any, ValueError("x")),
    "a tuple that nothing names": (Any, (1, 2)),
    "a set that nothing names": (Any, {1}),
    "numbers as keys that nothing names": (Any, {1: "a"}),
    "what contains itself": (Any, _cycle),
    "1,000 levels": (Any, _nested(1_000)),
    "10,000 levels": (Any, _nested(10_000)),
}


def _graph(annotation: Any, store: SQLiteStateStore, written: Any = None) -> Graph:
    @node(name="write")
    def write(_: Any) -> dict[str, Any]:
        return {"field": [written] if annotation is Any else written}

    kind = list[Any] if annotation is Any else annotation
    fields = {"field": kind}
    state = TypedDict("State", fields, total=False)  # type: ignore[operator, misc]
    return Graph(state, name="odd", state_store=store).flow(START >> write >> END)


def _exact(value: Any) -> Any:
    """Return what tells a value from all that only equals it."""
    match value:
        case dict():
            return type(value), [(_exact(key), _exact(item)) for key, item in value.items()]
        case set() | frozenset():
            return type(value), {_exact(item) for item in value}
        case list() | tuple() | collections.deque():
            return type(value), tuple(map(_exact, value))
        case datetime() | time():
            return type(value), value, value.utcoffset(), value.fold
        case float() | complex() | Decimal():
            return type(value), repr(value)
        case _:
            return type(value), value


@pytest.mark.parametrize("name", KEPT)
def test_an_odd_value_is_read_from_a_file_as_it_was_written(name: str, tmp_path: Path) -> None:
    annotation, value = KEPT[name]
    store = SQLiteStateStore(tmp_path / "t.db")
    _graph(annotation, store, value).invoke({}, thread_id="t")
    store.close()
    again = SQLiteStateStore(tmp_path / "t.db")
    read = _graph(annotation, again).sync.position("t").state["field"]
    assert _exact(read[0] if annotation is Any else read) == _exact(value)
    again.close()


@pytest.mark.parametrize("name", REFUSED)
def test_an_odd_value_that_would_not_come_back_is_refused_with_its_path(
    name: str, tmp_path: Path
) -> None:
    annotation, value = REFUSED[name]
    store = SQLiteStateStore(tmp_path / "t.db")
    graph = _graph(annotation, store, value)
    with pytest.raises((StateStoreError, StateUpdateError, GraphConfigError), match="'field'"):
        graph.invoke({}, thread_id="t")
    events = asyncio.run(store.events("t"))
    assert [event.type for event in events][-1] == "run_failed"
    assert "task_finished" not in {event.type for event in events}
    store.close()
