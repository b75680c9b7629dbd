"""Text of a graph as it may stand in a drawing: visible, cut, never markup."""

from __future__ import annotations

import re

from nbgraph.core.hidden import reveal

__all__ = ["address", "cut", "fitting", "reveal"]

_LETTER = 6.6
"""How wide a letter of a second line is, in a wide font."""
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def cut(text: str, limit: int = 40) -> str:
    """Return the text, or its start and how many characters are left out."""
    if len(text) <= limit:
        return text
    kept = limit - 8
    return f"{text[:kept]}… +{len(text) - kept:,}"


def fitting(line: str, width: float) -> str:
    """Return a node's second line, or as many of its parts as there is room for."""
    while len(line) * _LETTER > width and (end := max(line.rfind(" · "), line.rfind(", "))) > 0:
        line = line[:end]
    return line


def address(path: str) -> str:
    """Return a node's path as the `data-node` of a drawing says it.

    That is the path itself, save for characters that XML cannot hold.
    """
    return _NOT_IN_XML.sub(lambda match: reveal(match[0]), path)
