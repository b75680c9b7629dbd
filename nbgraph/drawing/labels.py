"""Text of a graph as it may stand in a drawing: visible, cut, never markup."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["address", "cut", "reveal"]

_SYMBOLS_FOR_CONTROLS = 0x2400
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def reveal(text: str) -> str:
    """Return the text with a visible mark for each control, bidi or otherwise hidden character."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def cut(text: str, limit: int = 40) -> str:
    """Return the text, or its start and how many characters are left out."""
    if len(text) <= limit:
        return text
    kept = limit - 8
    return f"{text[:kept]}… +{len(text) - kept:,}"


def address(path: str) -> str:
    """Return a node's path as the `data-node` of a drawing says it.

    That is the path itself, save for characters that XML cannot hold.
    """
    return _NOT_IN_XML.sub(lambda match: _visible(match[0]), path)


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_SYMBOLS_FOR_CONTROLS + code)
    if unicodedata.category(character) in _INVISIBLE or code & 0xFFFE == 0xFFFE:
        return f"⟨U+{code:04X}⟩"
    return character
