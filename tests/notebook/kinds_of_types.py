"""More kinds of Python types, each with answers that fit it and that do not."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from uuid import UUID

import pydantic as p
from annotated_types import Ge, Gt, Interval, Len, Lt, MaxLen, MinLen, MultipleOf
from kinds_of_models import (
    AREA,
    MODELS,
    UNIONS,
    UUIDS,
    Area,
    Bits,
    Even,
    Flags,
    Json,
    Kind,
    Long,
    Many,
    Mixed,
    Word,
)
from pydantic import Field
from typing_extensions import TypeAliasType

SCALARS: list[Kind] = [
    ("flag", Flags, [1, 2], [8, "R"]),
    ("int flag", Bits, [1, 4], ["A"]),
    ("text enum", Word, ["yes", ""], ["YES", None]),
    ("mixed enum", Mixed, ["1", 1, 1.5], ["x", True]),
    ("six members", Many, [1, 6], [7]),
    ("long enum", Long, ["member 24"], ["member 25"]),
    ("literal of members", Literal[Word.YES, 3], ["yes", 3], ["no", "3"]),
    ("literal with null", Literal["a", None], ["a", None], ["b"]),
    ("literal of truths", Literal[True], [True], [False, 1]),
    ("nested literal", Literal[Literal["a", "b"], Literal["c"]], ["c"], ["d"]),  # noqa: RUF041
    ("bytes of size", p.ByteSize, [1024, "1 GiB"], ["much", None]),
    ("secret", p.SecretStr, ["hunter2"], [1]),
    ("secret bytes", p.SecretBytes, ["hunter2"], [1]),
    ("secret date", p.Secret[date], ["2026-11-29"], ["x"]),
    ("secret with length", Annotated[p.SecretStr, Len(8, 20)], ["hunter22"], ["short"]),
    ("path", PurePosixPath, ["a/b c", ""], [1]),
    ("encoded", p.Base64Str, ["bGFtcA=="], ["a"]),
    ("url encoded", p.Base64UrlStr, ["bGFtcA=="], ["a"]),
    ("json of a model", p.Json[Area], ['{"width": 1, "height": 2}'], ["{", '{"width": 1}']),
    ("json list", p.Json[list[int]], ["[1]"], ["[true, null]"]),
    ("any json", p.JsonValue, [None, 1, "a", {"a": [True]}], []),
    ("web address", p.HttpUrl, ["https://shop.example/lamp?a=1"], ["ftp://shop.example", "x"]),
    ("any web address", p.AnyHttpUrl, ["http://localhost:8000"], ["localhost"]),
    ("file address", p.FileUrl, ["file:///tmp/a"], ["https://shop.example"]),
    ("socket address", p.WebsocketUrl, ["wss://shop.example"], ["https://shop.example"]),
    ("database address", p.PostgresDsn, ["postgres://u:p@db.example:5432/shop"], ["shop"]),
    ("redis address", p.RedisDsn, ["redis://db.example:6379/0"], ["http://db.example"]),
    *(
        (f"uuid {number}", kind, [UUIDS[number]], [UUIDS[4 if number != 4 else 1], "x"])
        for number, kind in ((1, p.UUID1), (3, p.UUID3), (4, p.UUID4), (5, p.UUID5))
    ),
    ("past date", p.PastDate, ["2001-01-01"], ["2901-01-01", "x"]),
    ("future date", p.FutureDate, ["2901-01-01"], ["2001-01-01"]),
    ("past moment", p.PastDatetime, ["2001-01-01T00:00:00Z"], ["2901-01-01T00:00:00Z"]),
    ("future moment", p.FutureDatetime, ["2901-01-01T00:00:00"], ["2001-01-01T00:00:00"]),
    ("aware", p.AwareDatetime, ["2026-11-29T12:04:00.123+05:45"], ["2026-11-29T12:04:00"]),
    ("naive", p.NaiveDatetime, ["2026-11-29T12:04:00"], ["2026-11-29T12:04:00Z"]),
    ("late date", Annotated[date, Gt(date(2026, 1, 1))], ["2026-01-02"], ["2026-01-01"]),
    ("short time", Annotated[timedelta, Lt(timedelta(hours=1))], ["PT59M"], ["PT2H"]),
    ("time", time, ["12:04:00.5", "12:04:00+01:00"], ["24:61"]),
    ("network", IPv4Network, ["192.0.2.0/24"], ["192.0.2.1/24", "x"]),
    ("network 6", IPv6Network, ["2001:db8::/32"], ["x"]),
    ("any network", p.IPvAnyNetwork, ["192.0.2.0/24", "2001:db8::/32"], ["x"]),
    ("interface", IPv4Interface, ["192.0.2.1/24"], ["x"]),
    ("interface 6", IPv6Interface, ["2001:db8::1/32"], ["x"]),
    ("any interface", p.IPvAnyInterface, ["192.0.2.1/24"], ["x"]),
    ("fraction", Fraction, ["1/3", "0.5"], ["a/b"]),
    ("complex", complex, ["1+2j"], ["x"]),
    ("decimal places", Annotated[Decimal, Field(max_digits=4, decimal_places=2)],
     ["12.34", "1.50", 3], ["123.45", "1.234", "x"]),
    ("decimal between", Annotated[Decimal, Interval(gt=0, le=1)], ["0.1", 1], ["0", "1.1"]),
    ("decimal steps", Annotated[Decimal, MultipleOf(Decimal("0.05"))], ["0.15"], ["0.07"]),
    ("big integer", int, [10**30, -(10**30)], [1e3, "1"]),
    ("even", Even, [2], [3]),
    ("positive", p.PositiveInt, [1], [0]),
    ("not positive", p.NonPositiveInt, [0], [1]),
    ("negative", p.NegativeInt, [-1], [0]),
    ("not negative", p.NonNegativeInt, [0], [-1]),
    ("positive real", p.PositiveFloat, [0.1], [0]),
    ("negative real", p.NegativeFloat, [-0.1], [0]),
    ("finite", p.FiniteFloat, [1.5], ["Infinity", None]),
    ("between", Annotated[float, Interval(gt=0, lt=1)], [0.5], [0, 1]),
    ("constrained int", p.conint(ge=1, le=9, multiple_of=3), [3, 9], [1, 12]),
    ("constrained text", p.constr(min_length=2, max_length=4, pattern="^[a-z]+$"), ["ab"],
     ["a", "AB", "abcde"]),
    ("stripped text", Annotated[str, p.StringConstraints(strip_whitespace=True, min_length=1)],
     ["a", " a "], ["", "  "]),
    ("telephone", Annotated[str, Field(pattern=r"^\+[1-9]\d{6,14}$")], ["+4942112345"], ["0421"]),
    ("strict text", p.StrictStr, ["1"], [1]),
    ("strict int", p.StrictInt, [1], [True, "1", 1.0]),
    ("strict real", p.StrictFloat, [1.5], ["1.5"]),
    ("strict truth", p.StrictBool, [False], [0, "no"]),
    ("titled", Annotated[int, Field(title="How many <b>$x$</b>", description="*bold* $y$")], [1],
     ["x"]),
    ("with examples", Annotated[str, Field(examples=["Bremen", "Ulm"])], ["Kiel"], [1]),
    ("json schema of its own", Annotated[int, p.WithJsonSchema({"type": "integer", "maximum": 5})],
     [5], ["a", 6]),
    ("coerced", Annotated[int, p.BeforeValidator(lambda value: value)], [1], ["a"]),
    ("url or nothing", p.HttpUrl | None, ["https://shop.example/", None], ["x"]),
    ("none", type(None), [None], [0, ""]),
    ("new type", TypeAliasType("Age", Annotated[int, Ge(0)]), [0], [-1]),
]  # fmt: skip

LISTS: list[Kind] = [
    ("bounded list", p.conlist(int, min_length=1, max_length=3), [[1], [1, 2, 3]], [[], [1] * 4]),
    ("bounded set", p.conset(int, min_length=1, max_length=2), [[1, 2]], [[], [1, 2, 3]]),
    ("frozen set", frozenset[Literal["a", "b", "c"]], [["a", "c"], []], [["d"]]),
    ("set of many", set[Long], [["member 3", "member 24"]], [["x"]]),
    ("set of members", set[Word], [["yes", ""]], [["x"], "yes"]),
    ("sequence", Sequence[int], [[], [1]], [["x"]]),
    ("deque", deque[int], [[1, 2]], [["x"]]),
    ("long texts", list[Annotated[str, MinLen(2), MaxLen(200)]], [["ab\ncd"]], [["a"]]),
    ("list of optional", list[int | None], [[1, None]], [["x"]]),
    ("list of dates", list[date], [["2026-11-29"]], [["x"]]),
    ("list of pairs", list[tuple[str, int]], [[["a", 1]], []], [[["a"]]]),
    ("list of maps", list[dict[str, int]], [[{"a": 1}, {}]], [[{"a": "x"}]]),
    ("list of secrets", list[p.SecretStr], [["a", "b"]], [[1]]),
    ("list of models", list[Area], [[AREA, AREA, AREA, AREA, AREA]], [[AREA, {}]]),
    ("lists of lists", list[list[list[int]]], [[[[1], []], []]], [[[1]]]),
    ("empty tuple", tuple[()], [[]], [[1]]),
    ("tuple of one", tuple[int], [[1]], [[], [1, 2]]),
    ("tuple of models", tuple[Area, Word, Area | None], [[AREA, "no", None]], [[AREA, "no"]]),
    ("tuple of many", tuple[Area, ...], [[], [AREA]], [[1]]),
    ("tuple of tuples", tuple[tuple[int, int], tuple[int, int]], [[[1, 2], [3, 4]]], [[[1, 2]]]),
    ("map of lists", dict[str, list[int]], [{"a": [1], "b": []}], [{"a": 1}]),
    ("map by literal", dict[Literal["a", "b"], int], [{"a": 1}], [{"c": 1}]),
    ("map by date", dict[date, int], [{"2026-11-29": 1}], [{"x": 1}]),
    ("map by pattern", dict[Annotated[str, Field(pattern="^x-")], int], [{"x-a": 1}], [{"a": 1}]),
    ("map by uuid", dict[UUID, bool], [{UUIDS[4]: True}], [{"x": True}]),
    ("map of maps", dict[str, dict[str, int]], [{"a": {"b": 1}, "c": {}}], [{"a": 1}]),
    ("bounded map", Annotated[dict[str, int], Len(1, 2)], [{"a": 1}],
     [{}, {"a": 1, "b": 2, "c": 3}]),
    ("mapping", Mapping[str, Area], [{"a": AREA}], [{"a": 1}]),
    ("map of optional", dict[str, int | None], [{"a": None, "b": 1}], [{"a": "x"}]),
    ("bare list", list, [[], [1, "a", None]], ["a"]),
    ("list of anything", list[Any], [[1, {"a": []}]], [{}]),
    ("bare dict", dict, [{}, {"a": [1]}], [[]]),
    ("bare tuple", tuple, [[], [1, "a"]], ["a"]),
    ("bare set", set, [[], [1, "a"]], ["a"]),
    ("json tree", Json, [None, {"a": [1, "b", {"c": None}]}], []),
    ("base64 bytes", p.Base64Bytes, ["bGFtcA=="], ["a"]),
    ("optional set", set[int] | None, [None, [1]], [["x"]]),
    ("moments", list[datetime], [["2026-11-29T12:04:00Z"]], [["x"]]),
]  # fmt: skip

ONLY_THE_TYPE_KNOWS = frozenset({
    *("validators", "before validator", "json of a model", "json list", "web address"),
    *("file address", "socket address", "redis address", "past date", "future date"),
    *("past moment", "future moment", "aware", "naive", "late date", "short time", "complex"),
    *("decimal places", "even", "stripped text"),
})
"""Kinds whose bad answers their JSON Schema does not rule out."""

MORE_TYPES: list[Kind] = [*MODELS, *UNIONS, *SCALARS, *LISTS]
