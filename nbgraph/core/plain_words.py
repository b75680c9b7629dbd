"""What is wrong with an answer, in plain words: one wording for forms and for both judges."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from nbgraph.core.pattern_words import pattern_words

__all__ = [
    "CHOOSE",
    "FILL_IN",
    "NAME_KEY",
    "NOT_JSON",
    "NO_SUCH_FIELD",
    "TOO_LARGE",
    "YES_OR_NO",
    "above",
    "at_least",
    "at_most",
    "below",
    "count",
    "longest",
    "not_a",
    "one_of",
    "shaped",
    "shortest",
    "shown",
    "steps",
    "twice",
]

FILL_IN = "Fill this in"
CHOOSE = "Choose one"
NOT_JSON = "Not JSON"
TOO_LARGE = "Too large a number"
YES_OR_NO = "Choose Yes or No"
NO_SUCH_FIELD = "There is no such field"
NAME_KEY = "Name this entry"

_KINDS = {
    "boolean": YES_OR_NO,
    "integer": "Not a whole number. For example 42",
    "number": "Not a number. Use a point: 180.00",
    "string": "Not text",
    "array": "Not a list",
    "object": "Not an object with named fields",
    "null": "Only null fits here",
}


def not_a(kind: str | Sequence[str]) -> str:
    """Return that a value is not of a JSON Schema type, or of none of several."""
    if isinstance(kind, str):
        return _KINDS.get(kind, f"Not of type {kind}")
    wanted = [each for each in kind if each != "null"]
    if len(wanted) == 1:
        return not_a(wanted[0])
    return f"Needs to be one of: {', '.join(kind)}"


def count(number: int, word: str) -> str:
    """Return a number with its noun: `1 letter`, `2 letters`."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def shortest(length: int) -> str:
    """Return that text is too short."""
    return f"{count(length, 'letter')} or more"


def longest(length: int) -> str:
    """Return that text is too long."""
    return f"{count(length, 'letter')} or fewer"


def at_least(bound: Any) -> str:
    """Return that a number is too small."""
    return f"{bound} or more"


def at_most(bound: Any) -> str:
    """Return that a number is too large."""
    return f"{bound} or less"


def above(bound: Any) -> str:
    """Return that a number must be larger than a bound."""
    return f"more than {bound}"


def below(bound: Any) -> str:
    """Return that a number must be smaller than a bound."""
    return f"less than {bound}"


def steps(step: Any) -> str:
    """Return that a number is not a multiple of a step."""
    return f"in steps of {step}"


def shaped(pattern: str) -> str:
    """Return that text does not match a pattern; a simple one is said in words."""
    told = pattern_words(pattern)
    if told is not None:
        return f"Has to be {told}: the pattern is {pattern}"
    return f"Does not match the pattern {pattern}"


def one_of(options: Sequence[Any]) -> str:
    """Return that a value is none of the options."""
    if len(options) == 1:
        return f"Only {shown(options[0])} fits here"
    first = ", ".join(shown(option) for option in options[:8])
    return f"Choose one of: {first}{', …' if len(options) > 8 else ''}"


def shown(value: Any) -> str:
    """Return a value as a person reads it: text bare, anything else as JSON, cut when long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"


def twice(value: Any) -> str:
    """Return that a value stands in a list or a map a second time."""
    text = json.dumps(value, ensure_ascii=False)
    return f"{text if len(text) <= 60 else f'{text[:59]}…'} is there twice. Keep one."
