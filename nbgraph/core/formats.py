"""Whether text has a format or a pattern of JSON Schema: our own checkers, always the same ones.

What happens to be installed does not decide. Patterns run in pydantic-core's regular expression
engine, whose time is linear in the text.
"""

from __future__ import annotations

import functools
import json
import re
import warnings
from base64 import b64decode
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal, localcontext
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from typing import Any

import pydantic
from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaError, SchemaValidator, core_schema

__all__ = [
    "DECIMAL",
    "FORMATS",
    "format_problem",
    "is_multiple",
    "pattern_matches",
    "pattern_works",
]

_MAX_TEXT = 100_000
_MAX_PATTERN = 10_000
_MAX_DIGITS = 5_000
_CLOCK = r"\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?"
_ZONE = r"([Zz]|[+-]\d{2}:?\d{2})?"
DECIMAL = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,6})?"
"""How a decimal number is written."""
_ADDRESS = r"[0-9A-Fa-f:.]+(/[\d.]{1,15})?"
_LABEL = r"[^\W_]([\w-]{0,61}[^\W_])?"
_LOCAL = r"[\w!#$%&'*+/=?^`{|}~.-]{1,64}"


def format_problem(name: str, text: str) -> str | None:
    """Return what is wrong with `text` as a `name`, in plain words, or None.

    A format that is not in `FORMATS` is not checked.
    """
    check = FORMATS.get(name)
    if check is None or check(text):
        return None
    return _PROBLEMS[name]


def pattern_works(pattern: str) -> bool:
    """Return whether the engine takes the pattern; one it refuses is shown, not checked."""
    return _compiled(pattern) is not None


def pattern_matches(pattern: str, text: str) -> bool:
    """Return whether `pattern` is found in `text`; True for a pattern the engine refuses."""
    validator = _compiled(pattern)
    if validator is None:
        return True
    return len(text) <= _MAX_TEXT and validator.isinstance_python(text)


def is_multiple(number: Decimal, step: Decimal) -> bool:
    """Return whether a number is a whole multiple of a step, exactly."""
    if not step or not number:
        return True
    span = abs(number.adjusted() - step.adjusted())
    if span > _MAX_DIGITS:
        return step < number
    with localcontext() as context:
        context.prec = span + len(number.as_tuple().digits) + len(step.as_tuple().digits) + 2
        return not number % step


@functools.lru_cache(maxsize=512)
def _compiled(pattern: str) -> SchemaValidator | None:
    if len(pattern) > _MAX_PATTERN:
        return None
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except (SchemaError, UnicodeEncodeError):
        return None


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    # Pydantic's own are named: they load the package of e-mail and the list of installed packages,
    # which takes 15 ms.
    return TypeAdapter(getattr(pydantic, kind) if isinstance(kind, str) else kind)


def _shaped(shape: str, kind: Any) -> Callable[[str], bool]:
    """Return a check that text has a shape and is read by pydantic as `kind`, or its `"kind"`."""

    def check(text: str) -> bool:
        if len(text) > _MAX_TEXT or re.fullmatch(shape, text, re.ASCII) is None:
            return False
        try:
            _adapter(kind).validate_python(text)
        except ValidationError:
            return False
        return True

    return check


def _email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    if not at or len(text) > 254 or local.startswith(".") or local.endswith(".") or ".." in local:
        return False
    return bool(re.fullmatch(_LOCAL, local) and re.fullmatch(rf"{_LABEL}(\.{_LABEL})+", domain))


def _name_email(text: str) -> bool:
    """Check `Name <mail>`, or a bare address."""
    inner = re.fullmatch(r"[^<>]{0,200}<([^<>]+)>\s*", text)
    return _email(inner[1] if inner else text)


def _encoded(text: str) -> bool:
    try:
        b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except ValueError:
        return False
    return True


def _padded(text: str) -> str:
    text = text.rstrip("=")
    return text + "=" * (-len(text) % 4)


def _regex(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return len(text) <= _MAX_TEXT


def _json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _matching(shape: str) -> Callable[[str], bool]:
    # Compiled when it is first used, and then kept by `re`.
    return lambda text: len(text) <= _MAX_TEXT and re.fullmatch(shape, text, re.ASCII) is not None


_UUID = _matching(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _uuid_of(version: int) -> Callable[[str], bool]:
    return lambda text: _UUID(text) and text[14] == str(version) and text[19] in "89abAB"


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _shaped(r"\d{4}-\d{2}-\d{2}", date),
    "date-time": _shaped(rf"\d{{4}}-\d{{2}}-\d{{2}}[Tt ]{_CLOCK}{_ZONE}", datetime),
    "time": _shaped(rf"{_CLOCK}{_ZONE}", time),
    "decimal": lambda text: re.fullmatch(DECIMAL, text, re.ASCII) is not None,
    "duration": _shaped(r"[+-]?P[\dTYMWDHS.,]+", timedelta),
    "email": _email,
    "uri": _shaped(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+", "AnyUrl"),
    "uuid": _UUID,
    **{f"uuid{version}": _uuid_of(version) for version in range(1, 9)},
    "ipv4": _shaped(r"[\d.]+", IPv4Address),
    "ipv6": _shaped(r"[0-9A-Fa-f:.]+", IPv6Address),
    "ipvanyaddress": _shaped(r"[0-9A-Fa-f:.]+", "IPvAnyAddress"),
    "ipv4network": _shaped(_ADDRESS, IPv4Network),
    "ipv6network": _shaped(_ADDRESS, IPv6Network),
    "ipvanynetwork": _shaped(_ADDRESS, "IPvAnyNetwork"),
    "ipv4interface": _shaped(_ADDRESS, IPv4Interface),
    "ipv6interface": _shaped(_ADDRESS, IPv6Interface),
    "ipvanyinterface": _shaped(_ADDRESS, "IPvAnyInterface"),
    "name-email": _name_email,
    "idn-email": _email,
    "multi-host-uri": _matching(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+"),
    "uri-reference": _matching(r"[^\s<>\"{}|\\^`]*"),
    "json-pointer": _matching(r"(/([^/~]|~[01])*)*"),
    "fraction": _matching(r"\s*[+-]?\d+(\s*/\s*\d*[1-9]\d*|(\.\d*)?([eE][+-]?\d+)?)\s*"),
    "hostname": lambda text: (
        len(text) <= 253 and re.fullmatch(rf"{_LABEL}(\.{_LABEL})*", text) is not None
    ),
    "base64": _encoded,
    "base64url": lambda text: "=" not in text.rstrip("=") and _encoded(_padded(text)),
    "byte": _encoded,
    "data-url": _matching(r"data:[^,]*,[^\s]*"),
    "color": _matching(r"#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})|[a-zA-Z]{3,30}"),
    "regex": _regex,
    "json": _json,
}
"""The formats that are checked, each with its check."""

_PROBLEMS = {
    "date": "Not a date. For example 2026-11-29",
    "date-time": "Not a date and time. For example 2026-11-29T12:04:00+01:00",
    "time": "Not a time of day. For example 12:04:00",
    "decimal": "Not a number. Use a point: 180.00",
    "duration": "Not a duration. For example PT1H30M",
    "email": "Not an e-mail address. For example name@shop.example",
    "uri": "Not a web address. For example https://shop.example/lamp",
    "uuid": "Not a UUID. For example 123e4567-e89b-12d3-a456-426614174000",
    **{f"uuid{version}": f"Not a UUID of version {version}" for version in range(1, 9)},
    "ipv4": "Not an IPv4 address. For example 192.0.2.1",
    "ipv6": "Not an IPv6 address. For example 2001:db8::1",
    "ipvanyaddress": "Not an IP address. For example 192.0.2.1",
    "ipv4network": "Not an IPv4 network. For example 192.0.2.0/24",
    "ipv6network": "Not an IPv6 network. For example 2001:db8::/32",
    "ipvanynetwork": "Not an IP network. For example 192.0.2.0/24",
    "ipv4interface": "Not an IPv4 address with its network. For example 192.0.2.1/24",
    "ipv6interface": "Not an IPv6 address with its network. For example 2001:db8::1/64",
    "ipvanyinterface": "Not an IP address with its network. For example 192.0.2.1/24",
    "idn-email": "Not an e-mail address. For example name@shop.example",
    "multi-host-uri": "Not an address with its scheme. For example postgres://db.example/shop",
    "uri-reference": "Not a web address or a part of one",
    "json-pointer": "Not a JSON Pointer. For example /items/0",
    "fraction": "Not a fraction. For example 1/3",
    "name-email": "Not a name and e-mail address. For example Front Desk <name@shop.example>",
    "hostname": "Not a host name. For example shop.example",
    "base64": "Not base64. For example bGFtcA==",
    "base64url": "Not base64. For example bGFtcA==",
    "byte": "Not base64. For example bGFtcA==",
    "data-url": "Not a data URL. For example data:text/plain,lamp",
    "color": "Not a colour. For example teal",
    "regex": "Not a regular expression",
    "json": "Not JSON",
}
