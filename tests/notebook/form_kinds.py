"""Kinds of answers, as a type or a schema, each with answers that fit it and that do not."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar
from uuid import UUID

from pydantic import (
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Field,
    IPvAnyAddress,
    Json,
    NaiveDatetime,
    PastDate,
    SecretStr,
    model_validator,
)
from typing_extensions import TypeAliasType, TypedDict


class Size(enum.Enum):
    S = "s"
    M = "m"


class Level(enum.IntEnum):
    ONE = 1
    TWO = 2


class Sole(enum.Enum):
    ONLY = "only"


class Place(BaseModel):
    """Where to send it."""

    street: Annotated[str, Field(min_length=1)]
    code: Annotated[str, Field(pattern=r"^\d{5}$", examples=["28195"])]


class Route(BaseModel):
    start: Annotated[Place, Field(title="From", description="Start here")]
    stops: list[Place] = []
    end: Place | None = None


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Renamed(BaseModel):
    from_: Annotated[str, Field(alias="from")]


class Span(BaseModel):
    low: int
    high: int

    @model_validator(mode="after")
    def _in_order(self) -> Span:
        if self.low > self.high:
            raise ValueError("high is below low")
        return self


class Square(BaseModel):
    shape: Literal["square"]
    side: Annotated[float, Field(gt=0)]


class Circle(BaseModel):
    shape: Literal["circle"] = "circle"
    radius: Annotated[float, Field(gt=0)]


class Chain(BaseModel):
    value: int
    next: Chain | None = None


class Folder(BaseModel):
    name: str
    inside: list[Folder] = []
    by_name: dict[str, Folder] = {}


class Odd(BaseModel):
    a: str = None  # type: ignore[assignment]


class Pair(NamedTuple):
    x: float
    label: str = "p"


class Options(TypedDict, total=False):
    depth: int
    names: list[str]


@dataclass
class Point:
    x: int
    y: int = 0


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]
    total: int


Tree = TypeAliasType("Tree", "dict[str, Tree] | list[Tree] | str | int | bool | None")

TAGGED = Annotated[Square | Circle, Field(discriminator="shape")]
PLACE = {"street": "Main St", "code": "28195"}

TYPES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("bool", bool, [True, False], ["yes", 1, None]),
    ("str", str, ["", " a "], [1, None, ["a"]]),
    ("int", int, [0, -3, 2**63], ["3", 3.0, True]),
    ("float", float, [1.5, 1, 6.02e23], ["x", None]),
    ("optional text", str | None, [None, ""], [1]),
    ("optional bounded", Annotated[int, Field(ge=1, le=5)] | None, [None, 1], [0, 6]),
    ("literal", Literal["a", "b"], ["a"], ["c", None]),
    ("mixed literal", Literal["a", 1, True, None], ["a", 1, True, None], [2, "b"]),
    ("single literal", Literal["only"], ["only"], ["other"]),
    ("enum", Size, ["s", "m"], ["l"]),
    ("number enum", Level, [1, 2], [3, "1"]),
    ("single enum", Sole, ["only"], ["x"]),
    ("exclusive", Annotated[int, Field(gt=0, lt=9)], [1, 8], [0, 9]),
    ("steps", Annotated[float, Field(ge=0, multiple_of=0.1)], [0.3, 1.1], [0.35, -0.1]),
    ("decimal", Decimal, ["1.50", 3], ["x", None]),
    ("bounded decimal", Annotated[Decimal, Field(gt=0)], ["0.01"], ["0", -1]),
    ("lengths", Annotated[str, Field(min_length=2, max_length=3)], ["ab"], ["a", "abcd"]),
    ("pattern", Annotated[str, Field(pattern=r"^[A-Z]{2}-\d+$")], ["AB-1"], ["ab-1", ""]),
    ("date", date, ["2026-11-29"], ["29.11.2026", "2026-13-01", 5]),
    ("past date", PastDate, ["2001-01-01"], ["2901-01-01"]),
    ("moment", datetime, ["2026-11-29T12:04:00+05:45"], ["2026-11-29T25:00:00Z", "x"]),
    ("aware moment", AwareDatetime, ["2026-11-29T12:04:00Z"], ["2026-11-29T12:04:00"]),
    ("naive moment", NaiveDatetime, ["2026-11-29T12:04:00"], ["2026-11-29T12:04:00Z"]),
    ("time", time, ["12:04:00", "10:30:00Z"], ["25:00", "noon"]),
    ("duration", timedelta, ["PT1H30M", "P1DT2S"], ["an hour"]),
    ("uuid", UUID, ["123e4567-e89b-12d3-a456-426614174000"], ["123", 5]),
    ("bytes", bytes, ["lamp"], [1]),
    ("base64", Base64Bytes, ["bGFtcA=="], ["a"]),
    ("url", AnyUrl, ["https://shop.example/lamp"], ["lamp"]),
    ("ipv4", IPv4Address, ["192.0.2.1"], ["300.1.1.1"]),
    ("ipv6", IPv6Address, ["2001:db8::1"], ["2001:db8::x"]),
    ("any ip", IPvAnyAddress, ["192.0.2.1", "::1"], ["x"]),
    ("path", Path, ["/tmp/a b"], [1]),
    ("secret", SecretStr, ["hunter2"], [1]),
    ("json text", Json[Any], ['{"a": 1}'], ["{"]),
    ("regex", re.Pattern[str], ["^a+$"], ["("]),
    ("anything", Any, [None, 1, {"a": [True]}, "x"], []),
    ("list", list[int], [[], [1, 2]], [["x"], "1", None, [1.0]]),
    ("list of enum", list[Size], [["s", "s"]], [["x"]]),
    (
        "bounded list",
        Annotated[list[int], Field(min_length=1, max_length=2)],
        [[1]],
        [[], [1, 2, 3]],
    ),
    ("list of lists", list[list[int]], [[[1], []]], [[1]]),
    ("list of anything", list[Any], [[1, "a", None]], ["a"]),
    ("optional list", list[str] | None, [None, [], ["a"]], ["a"]),
    ("set", set[str], [["a", "b"], []], [["a", 1]]),
    ("set of enum", set[Size], [["m", "s"]], [["x"]]),
    ("frozen set", frozenset[Literal["a", "b"]], [["b"]], [["c"]]),
    ("tuple", tuple[int, str], [[1, "a"]], [[1], ["a", 1], [1, "a", 2]]),
    ("tuple of any length", tuple[int, ...], [[], [1]], [["a"]]),
    ("named tuple", Pair, [[1.5], [1.5, "q"]], [[], ["x"]]),
    ("map", dict[str, int], [{}, {"a": 1, "": 2}], [{"a": "x"}, []]),
    ("map by number", dict[int, str], [{"1": "a"}], [{"a": "a"}]),
    ("map by enum", dict[Size, int], [{"s": 1}], [{"x": 1}]),
    ("map of models", dict[str, Place], [{"a": PLACE}], [{"a": {"street": "x"}}]),
    ("map of anything", dict[str, Any], [{"a": [1]}], ["a"]),
    ("optional map", dict[str, int] | None, [None, {}, {"a": 1}], [1]),
    ("model", Route, [{"start": PLACE, "stops": [PLACE], "end": None}], [{"start": {}}, {}]),
    ("closed model", Strict, [{"a": 1}], [{"a": 1, "b": 2}]),
    ("open model", Open, [{"a": 1, "b": [2]}], [{"b": 1}]),
    ("alias", Renamed, [{"from": "x"}], [{"from_": "x"}]),
    ("rule between fields", Span, [{"low": 1, "high": 2}], [{"low": 2, "high": 1}]),
    ("dataclass", Point, [{"x": 1}, {"x": 1, "y": 2}], [{"y": 1}]),
    ("typed dict", Options, [{}, {"depth": 1, "names": ["a"]}], [{"depth": "x"}]),
    ("generic", Page[Size], [{"items": ["s"], "total": 1}], [{"items": ["x"], "total": 1}]),
    ("scalars", int | str, [1, "1"], [[1], None]),
    ("text or list", str | list[str], ["a", ["a"]], [[1]]),
    ("tagged union", TAGGED, [{"shape": "circle", "radius": 1.0}], [{"shape": "x"}, {"radius": 1}]),
    (
        "optional tagged",
        TAGGED | None,
        [None, {"shape": "square", "side": 1.5}],
        [{"shape": "square"}],
    ),
    ("union of models", Place | Square, [PLACE], [{"street": "x"}]),
    (
        "recursive",
        Chain,
        [{"value": 1, "next": {"value": 2, "next": None}}],
        [{"value": 1, "next": {}}],
    ),
    ("recursive list", Folder, [{"name": "a", "inside": [{"name": "b"}]}], [{"inside": [{}]}]),
    ("recursive union", Tree, [None, 1, {"a": [1, {"b": "c"}]}], []),
    ("wrong default", Odd, [{}, {"a": "x"}], [{"a": 1}]),
]


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


LEAF = {"$defs": {"leaf": {"type": "integer", "minimum": 1}}}
SCHEMAS: list[tuple[str, dict[str, Any], list[Any], list[Any]]] = [
    ("type list", {"type": ["string", "integer", "null"]}, ["a", 1, None], [1.5, []]),
    ("null", {"type": "null"}, [None], ["", 0]),
    ("no type", _object() | {"required": ["a"]}, [{"a": None}, {"a": 1}], [{}]),
    ("titled consts", {"oneOf": [{"const": 1, "title": "One"}, {"const": True}]}, [1, True], ["1"]),
    ("enum of objects", {"enum": [{"a": 1}, {"a": True}]}, [{"a": True}], [{"a": 2}]),
    ("true is not 1", {"enum": [True]}, [True], [1]),
    ("ref beside keywords", {"$ref": "#/$defs/leaf", "maximum": 3, **LEAF}, [3], [4, 0]),
    ("escaped ref", {"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"type": "null"}}}, [None], [1]),
    ("all of", {"allOf": [_object(a={"type": "string"}), {"required": ["a"]}]}, [{"a": "x"}], [{}]),
    ("contradiction", {"allOf": [{"type": "string"}, {"type": "integer"}]}, [], ["a", 1]),
    ("not", {"type": "string", "not": {"const": "x"}}, ["y"], ["x"]),
    ("contains", {"type": "array", "contains": {"const": 1}}, [[1, 2]], [[2]]),
    (
        "unique items",
        {"type": "array", "items": {"type": "number"}, "uniqueItems": True},
        [[1, 2]],
        [[1, 1.0]],
    ),
    (
        "places and more",
        {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
        [[1], []],
        [[1, 2], ["a"]],
    ),
    (
        "pattern properties",
        {
            "type": "object",
            "patternProperties": {"^x-": {"type": "integer"}},
            "additionalProperties": False,
        },
        [{"x-a": 1}],
        [{"a": 1}, {"x-a": "b"}],
    ),
    (
        "two patterns",
        {"type": "object", "patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 3}}},
        [{"ab": 3, "c": "x"}],
        [{"ab": 1}],
    ),
    (
        "property names",
        {
            "type": "object",
            "additionalProperties": {"type": "boolean"},
            "propertyNames": {"maxLength": 2},
        },
        [{"ab": True}],
        [{"abc": True}],
    ),
    (
        "counted map",
        {
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "minProperties": 1,
            "maxProperties": 2,
        },
        [{"a": 1}],
        [{}, {"a": 1, "b": 2, "c": 3}],
    ),
    (
        "names like methods",
        _object(__proto__={"type": "integer"}, keys={"type": "string"}),
        [{"__proto__": 1, "keys": "a"}],
        [{"keys": 1}],
    ),
    (
        "one of by need",
        {
            **_object(a={"type": "string"}, b={"type": "string"}),
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        [{"a": "x"}],
        [{}, {"a": "x", "b": "y"}],
    ),
    (
        "condition",
        {
            **_object(a={"enum": [1, 2]}),
            "required": ["a"],
            "if": _object(a={"const": 1}),
            "then": {"required": ["b"]},
            "else": _object(c={"type": "string"}),
        },
        [{"a": 1, "b": 0}, {"a": 2, "c": "x"}],
        [{"a": 1}, {"a": 2, "c": 1}],
    ),
    (
        "dependent",
        {
            **_object(a={"type": "string"}, b={"type": "string"}),
            "dependentRequired": {"a": ["b"]},
            "dependentSchemas": {"b": _object(c={"type": "null"})},
        },
        [{"a": "x", "b": "y"}, {}],
        [{"a": "x"}, {"b": "y", "c": 1}],
    ),
    (
        "unevaluated",
        {"allOf": [_object(a={"type": "integer"})], "unevaluatedProperties": False},
        [{"a": 1}],
        [{"b": 1}],
    ),
    (
        "dynamic",
        {"$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x", "type": "integer"}}},
        [1],
        ["a"],
    ),
    (
        "older tuple",
        {"type": "array", "items": [{"type": "string"}], "additionalItems": False},
        [["a"]],
        [["a", "b"], [1]],
    ),
    (
        "older dependencies",
        {**_object(a={}), "dependencies": {"a": ["b"]}},
        [{"a": 1, "b": 2}],
        [{"a": 1}],
    ),
    ("older bounds", {"type": "number", "minimum": 0, "exclusiveMinimum": True}, [1], [0]),
    (
        "default out of bounds",
        _object(a={"type": "integer", "maximum": 3, "default": 9}),
        [{}],
        [{"a": 9}],
    ),
    (
        "defaults at three depths",
        {
            "type": "object",
            "properties": {"a": _object(b=_object(c={"type": "string", "default": "x"}))},
        },
        [{}, {"a": {"b": {}}}],
        [{"a": {"b": {"c": 1}}}],
    ),
    (
        "null default",
        {"default": None, **_object(a={"type": "string"}), "type": ["null", "object"]},
        [None, {}, {"a": "x"}],
        [1],
    ),
    (
        "formats",
        _object(
            mail={"type": "string", "format": "email"},
            day={"type": "string", "format": "date"},
            unknown={"type": "string", "format": "something"},
        ),
        [{"mail": "name@shop.example", "day": "2026-11-29", "unknown": "x"}],
        [{"mail": "x"}, {"day": "x"}],
    ),
    (
        "map of unions",
        {
            "type": "object",
            "additionalProperties": {
                "oneOf": [
                    _object(a={"type": "integer"}) | {"required": ["a"]},
                    _object(b={"type": "string"}) | {"required": ["b"]},
                ]
            },
        },
        [{"x": {"a": 1}, "y": {"b": "c"}}],
        [{"x": {}}],
    ),
    ("a mistake in a pattern", {"type": "string", "pattern": "^(?=a)a"}, ["a", "b"], [1]),
]
