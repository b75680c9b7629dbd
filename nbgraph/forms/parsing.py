"""Text as typed -> the value of one field, and what is wrong with it. Bad text stays text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from nbgraph.core import plain_words as words
from nbgraph.core.formats import DECIMAL, format_problem, is_multiple, pattern_matches
from nbgraph.core.json_values import Json
from nbgraph.forms.fields import Bounds, TextField

__all__ = ["parse_decimal", "parse_integer", "parse_json", "parse_number", "parse_text"]

_MAX_DIGITS = 4_000
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(DECIMAL, re.ASCII)


def parse_text(field: TextField, raw: str) -> tuple[Json, str | None]:
    """Read text; a duration in words becomes the one that is sent."""
    text = _duration(raw) if field.format == "duration" else raw
    return text, _text_error(field, text)


def _text_error(field: TextField, text: str) -> str | None:
    if len(text) < field.min_length:
        return words.shortest(field.min_length)
    if field.max_length is not None and len(text) > field.max_length:
        return words.longest(field.max_length)
    if field.format and (problem := format_problem(field.format, text)):
        return problem
    if field.pattern and not pattern_matches(field.pattern, text):
        return words.shaped(field.pattern)
    return None


def parse_integer(bounds: Bounds, raw: str) -> tuple[Json, str | None]:
    """Read a whole number of any size."""
    text = raw.strip()
    if not _INTEGER.fullmatch(text):
        return raw, words.not_a("integer")
    if len(text) > _MAX_DIGITS:
        return raw, words.TOO_LARGE
    return int(text), _bounds_error(bounds, Decimal(text))


def parse_number(bounds: Bounds, raw: str) -> tuple[Json, str | None]:
    """Read a number; one without a point stays whole."""
    text = raw.strip()
    if _INTEGER.fullmatch(text):
        return parse_integer(bounds, raw)
    if not _DECIMAL.fullmatch(text):
        return raw, words.not_a("number")
    number = float(text)
    if not math.isfinite(number):
        return raw, words.TOO_LARGE
    return number, _bounds_error(bounds, Decimal(text))


def parse_decimal(bounds: Bounds, raw: str | float) -> tuple[Json, str | None]:
    """Read a decimal number, which stays as it was written."""
    text = str(raw)
    if not _DECIMAL.fullmatch(text):
        return raw, words.not_a("number")
    return raw, _bounds_error(bounds, Decimal(text))


def _bounds_error(bounds: Bounds, number: Decimal) -> str | None:
    """Return which bound a number breaks. Bounds are read as written: 0.1 is a tenth."""
    if bounds.minimum is not None and number < Decimal(str(bounds.minimum)):
        return words.at_least(bounds.minimum)
    if bounds.above is not None and number <= Decimal(str(bounds.above)):
        return words.above(bounds.above)
    if bounds.maximum is not None and number > Decimal(str(bounds.maximum)):
        return words.at_most(bounds.maximum)
    if bounds.below is not None and number >= Decimal(str(bounds.below)):
        return words.below(bounds.below)
    if bounds.step is not None and not is_multiple(number, Decimal(str(bounds.step))):
        return words.steps(bounds.step)
    return None


def parse_json(raw: str) -> tuple[Json, str | None]:
    """Read JSON."""
    try:
        return _READER.decode(raw), None
    except json.JSONDecodeError as error:
        return raw, f"{words.NOT_JSON}: {error.msg} in line {error.lineno}, column {error.colno}"
    except ValueError as error:
        return raw, str(error)
    except RecursionError:
        return raw, "Nested too deep"


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large a number")
    return number


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a number that JSON knows")


def _no_twins(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise ValueError(f"{json.dumps(name, ensure_ascii=False)} is there twice. Keep one.")
        result[name] = value
    return result


_READER = json.JSONDecoder(
    parse_float=_finite, parse_constant=_no_constant, object_pairs_hook=_no_twins
)


# --- durations --------------------------------------------------------------------------------

_UNITS = {"w": "W", "d": "D", "h": "H", "m": "M", "s": "S"}
_AMOUNT = re.compile(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*([a-z]+)\s*,?", re.IGNORECASE | re.ASCII)
_UNIT_WORDS = {
    **dict.fromkeys(("w", "week", "weeks"), "w"),
    **dict.fromkeys(("d", "day", "days"), "d"),
    **dict.fromkeys(("h", "hour", "hours", "hr", "hrs"), "h"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "m"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
}


def _duration(text: str) -> str:
    """Return `1h 30m` as ISO 8601; text that cannot be read so stays as it is."""
    found: dict[str, str] = {}
    at = 0
    while match := _AMOUNT.match(text, at):
        unit = _UNIT_WORDS.get(match[2].lower())
        if unit is None or unit in found:
            return text
        found[unit], at = match[1], match.end()
    if not found or text[at:].strip() or list(found) != [unit for unit in _UNITS if unit in found]:
        return text
    days = "".join(f"{found[unit]}{_UNITS[unit]}" for unit in "wd" if unit in found)
    clock = "".join(f"{found[unit]}{_UNITS[unit]}" for unit in "hms" if unit in found)
    return f"P{days}T{clock}" if clock else f"P{days}"
