"""Payloads and tool calls in a line of text, however large they are; secrets are covered."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.hidden import reveal
from nbgraph.core.json_values import Json, is_array, is_object
from nbgraph.covering import covered_arguments
from nbgraph.literals import literal, plain

__all__ = ["arguments", "brief", "in_a_line"]

_ITEMS = 20
"""How many parts of a value a short line of it looks at."""


def in_a_line(text: str, most: int) -> str:
    """Return the beginning of a text with nothing hidden in it."""
    shown = reveal(text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def brief(value: Json, most: int = sys.maxsize) -> str:
    """Return a payload in a line, or its beginning."""
    said: list[str] = []
    size = 0
    for part in _said(value):
        said.append(part[: most - size])
        size += len(said[-1])
        if size >= most:
            break
    return "".join(said)


def _said(value: Json) -> Iterator[str]:
    if value is None:
        return
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for index, (key, inner) in enumerate(value.items()):
            yield f"{', ' if index else ''}{key}: "
            yield from _said(inner)
    else:
        yield from json.JSONEncoder(ensure_ascii=False).iterencode(value)


def arguments(call: ToolInterrupt, most: int | None = None) -> str:
    """Return a call's arguments in a line of Python, with nothing hidden in it.

    With `most`, only as much of them is looked at as that many characters take.
    """
    given, said, size = covered_arguments(call), list[str](), 0
    for name, value in given.items():
        said.append(
            f"{reveal(name)}={plain(literal(value if most is None else _less(value, most)))}"
        )
        size += len(said[-1])
        if most is not None and size > most:
            break
    return ", ".join(said)


def _less(value: Json, most: int) -> Json:
    """Return the beginning of a value."""
    if isinstance(value, str):
        return value[:most]
    if is_object(value):
        return {key[:most]: _less(value[key], most) for key in list(value)[:_ITEMS]}
    if is_array(value):
        return [_less(each, most) for each in value[:_ITEMS]]
    return value
