"""Patterns in words, where they are simple: `^[0-9]{5}$` is 5 digits."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["pattern_words"]

_MOST = 6
"""How many parts a pattern may have that is said in words."""

_KINDS: Mapping[str, tuple[str, str]] = {
    "[0-9]": ("digit", "digits"),
    r"\d": ("digit", "digits"),
    "[a-z]": ("small letter", "small letters"),
    "[A-Z]": ("capital letter", "capital letters"),
    **dict.fromkeys(("[a-zA-Z]", "[A-Za-z]"), ("letter", "letters")),
    **dict.fromkeys(
        ("[a-zA-Z0-9]", "[A-Za-z0-9]", "[0-9a-zA-Z]", "[0-9A-Za-z]"),
        ("letter or digit", "letters or digits"),
    ),
    **dict.fromkeys(("[a-z0-9]", "[0-9a-z]"), ("small letter or digit", "small letters or digits")),
    **dict.fromkeys(
        ("[A-Z0-9]", "[0-9A-Z]"), ("capital letter or digit", "capital letters or digits")
    ),
}
_PART = re.compile(
    r"(?P<kind>\[[a-zA-Z0-9-]+\]|\\d)(?:\{(?P<low>\d{1,3})(?P<to>,(?P<high>\d{1,3})?)?\}|(?P<sign>[+*?]))?"
    r"|(?P<text>(?:[A-Za-z0-9 _:@/#-]|\\[-./])+)(?![{+*?])"
)


def pattern_words(pattern: str) -> str | None:
    """Return a simple pattern in words; None for one that takes a reader of patterns.

    Examples
    --------
    >>> pattern_words("^[A-Z]{2}-[0-9]{4}$")
    '2 capital letters, “-”, 4 digits'
    """
    if not (pattern.startswith("^") and pattern.endswith("$")):
        return None
    rest, said, kinds = pattern[1:-1], list[str](), 0
    while rest:
        part = _PART.match(rest)
        words = _words(part) if part else None
        if part is None or words is None or len(said) == _MOST:
            return None
        said.append(words)
        kinds += part["kind"] is not None
        rest = rest[part.end() :]
    return ", ".join(said) if kinds else None


def _words(part: re.Match[str]) -> str | None:
    if part["text"] is not None:
        return f"“{part['text'].replace(chr(92), '')}”"
    if part["kind"] not in _KINDS:
        return None
    one, many = _KINDS[part["kind"]]
    match part["sign"]:
        case "+":
            return f"one or more {many}"
        case "*":
            return f"any number of {many}"
        case "?":
            return f"perhaps a {one}"
        case _:
            return _counted(part, one, many)


def _counted(part: re.Match[str], one: str, many: str) -> str:
    low, high = part["low"] or "1", part["high"]
    if part["to"] and high is None:
        return f"{low} or more {many}"
    if high is not None and high != low:
        return f"{low} to {high} {many}"
    return f"1 {one}" if low == "1" else f"{low} {many}"
