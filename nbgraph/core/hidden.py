"""Text that hides something, made visible: characters without a shape, blanks, terminal codes.

`reveal` is for labels, where text is mostly right. `pieces` is for what a person approves: nothing
in it is invisible, and letters that pass for others are named (`lookalikes`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Literal

from nbgraph.core.lookalikes import posing, posing_words
from nbgraph.core.quick_dataclass import dataclass

__all__ = ["Findings", "Piece", "cleaned", "findings", "is_hidden", "marked", "pieces", "reveal"]

_SYMBOLS_FOR_CONTROLS = 0x2400
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"}
_IGNORABLE = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""What Unicode lets a program draw as nothing."""
_BLANK = {0x2800, 0x1D159, 0x16FE4, 0x13441, 0x13442}
"""Signs whose drawing is empty, whatever their category."""
_NAMES = {
    0x00: "NUL", 0x07: "BEL", 0x08: "BACKSPACE", 0x09: "TAB", 0x0A: "LF", 0x0B: "VT", 0x0C: "FF",
    0x0D: "CR", 0x1B: "ESC", 0x7F: "DEL", 0x85: "NEL", 0x9B: "CSI", 0xA0: "NBSP", 0xAD: "SHY",
    0x034F: "CGJ", 0x061C: "ALM", 0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200D: "ZWJ", 0x200E: "LRM",
    0x200F: "RLM", 0x2028: "LINE SEP", 0x2029: "PARA SEP", 0x202A: "LRE", 0x202B: "RLE",
    0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO", 0x202F: "NNBSP", 0x2060: "WJ", 0x2066: "LRI",
    0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xFEFF: "BOM",
}  # fmt: skip
_EMOJI_LOOK = "\ufe0f"

_MAX_STACKED = 4
_MAX_INDENT = 24
_MAX_GAP = 8
_MAX_LINES = 2
_AFTER = 8


def is_hidden(character: str) -> bool:
    """Return whether a character has no shape of its own, or changes how others are read."""
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return False
    if unicodedata.category(character) in _HIDDEN_CATEGORIES or code & 0xFFFE == 0xFFFE:
        return True
    return code in _BLANK or any(low <= code <= high for low, high in _IGNORABLE)


def reveal(text: str) -> str:
    """Return text in one line, with a visible sign for each control or otherwise hidden character.

    The character that has the sign before it drawn as an emoji stays.
    """
    if text.isascii() and text.isprintable():
        return text
    before = " " + text
    return "".join(
        each if each == _EMOJI_LOOK and unicodedata.category(last) == "So" else _sign(each)
        for last, each in zip(before, text, strict=False)
    )


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_SYMBOLS_FOR_CONTROLS + code)
    return f"⟨U+{code:04X}⟩" if is_hidden(character) else character


# --- pieces -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text as it is shown.

    Attributes
    ----------
    text : str
        What a person reads.
    kind : "text", "mark", "blank" or "posing"
        Text as it is; the name of what is hidden; how many blanks there are; the name of a letter
        that passes for another one.
    stands_for : str
        The characters it shows.
    """

    text: str
    kind: Literal["text", "mark", "blank", "posing"]
    stands_for: str


_ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]")
_PLAIN = re.compile(r"[!-~]+(?: [!-~]+)*")
_BLANKS = re.compile(r"[ \n]+")
_TAGS = range(0xE0020, 0xE007F)


def pieces(text: str) -> tuple[Piece, ...]:
    """Return a text in pieces in which nothing is hidden; put together they are the whole text.

    Blanks that a person would not see or not count have their number, terminal codes are written
    out, more than four signs on one letter are counted.
    """
    return tuple(_joined(_found(text)))


def marked(text: str) -> str:
    """Return the pieces of a text as one text, with marks in `⟨⟩`."""
    return "".join(
        piece.text if piece.kind == "text" else f"⟨{piece.text}⟩" for piece in pieces(text)
    )


def _joined(found: Iterator[Piece]) -> Iterator[Piece]:
    """Join what stands side by side and is text."""
    for is_text, run in groupby(found, lambda piece: piece.kind == "text"):
        if is_text:
            together = "".join(piece.text for piece in run)
            yield Piece(together, "text", together)
        else:
            yield from run


def _found(text: str) -> Iterator[Piece]:
    pretenders = posing(text)
    at = 0
    while at < len(text):
        piece = _plain(text, at) or _blanks(text, at) or _code(text, at) or _one(text, at)
        yield piece
        at += len(piece.stands_for)
        if at - 1 in pretenders:
            yield Piece(pretenders[at - 1], "posing", "")


def _plain(text: str, at: int) -> Piece | None:
    run = _PLAIN.match(text, at)
    return Piece(run[0], "text", run[0]) if run else None


def _blanks(text: str, at: int) -> Piece | None:
    """Return the spaces and line ends from here on, as they are or counted."""
    run = _BLANKS.match(text, at)
    if run is None:
        return None
    blank, lines = run[0], run[0].count("\n")
    trailing = blank.partition("\n")[0]
    if trailing and lines:
        return Piece(_counted(trailing), "blank", trailing)
    is_edge = at == 0 or run.end() == len(text)
    indent = len(blank) - blank.rfind("\n") - 1
    starts_line = lines > 0 or at == 0 or text[at - 1] == "\n"
    is_wide = indent > (_MAX_INDENT if starts_line else _MAX_GAP)
    if is_edge or is_wide or lines > _MAX_LINES:
        return Piece(_counted(blank), "blank", blank)
    return Piece(blank, "text", blank)


def _counted(blank: str) -> str:
    lines = blank.count("\n")
    said = [_many(lines, "line break")] if lines else []
    said += [_many(len(blank) - lines, "space")] if len(blank) > lines else []
    return ", ".join(said)


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _code(text: str, at: int) -> Piece | None:
    """Return what is hidden from here on: a terminal code, a text in tags, equal characters."""
    character = text[at]
    if not (is_hidden(character) or _is_odd_blank(character)):
        return None
    ansi = _ANSI.match(text, at)
    if ansi:
        return Piece(ansi[0].replace("\x1b", "ESC").replace("\x9b", "CSI "), "mark", ansi[0])
    if ord(character) in _TAGS:
        run = _run(text, at, lambda each: ord(each) in _TAGS)
        return Piece(f"TAGS “{''.join(chr(ord(each) - 0xE0000) for each in run)}”", "mark", run)
    run = _run(text, at, lambda each: each == character)
    times = f" ×{len(run):,}" if len(run) > 1 else ""
    if character == "\t":
        return Piece(f"TAB{times}", "blank", run)
    return Piece(f"{_name(character)}{times}", "mark", run)


def _run(text: str, at: int, belongs: Callable[[str], bool]) -> str:
    end = at
    while end < len(text) and belongs(text[end]):
        end += 1
    return text[at:end]


def _is_odd_blank(character: str) -> bool:
    return character != " " and unicodedata.category(character) == "Zs"


def _name(character: str) -> str:
    code = ord(character)
    short = _NAMES.get(code, "")
    return f"{short} U+{code:04X}" if short else f"U+{code:04X}"


def _one(text: str, at: int) -> Piece:
    """Return a character, or the signs that stand on the one before; too many are counted."""
    if not _is_sign_on_another(text[at]):
        return Piece(text[at], "text", text[at])
    run = _run(text, at, _is_sign_on_another)
    before = text[at - 1] if at else " "
    stands = not (before.isspace() or is_hidden(before) or _is_sign_on_another(before))
    kept = run[:_MAX_STACKED] if stands else ""
    if kept:
        return Piece(kept, "text", kept)
    return Piece(_many(len(run), "combining mark"), "mark", run)


def _is_sign_on_another(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Me"} and not is_hidden(character)


# --- what there is to say about a text ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Findings:
    """What a person should know about a text.

    Attributes
    ----------
    hidden : int
        How many characters cannot be seen.
    after : str
        The end of what stands before the first of them.
    posing : tuple of str
        The words in which a letter passes for another one.
    """

    hidden: int = 0
    after: str = ""
    posing: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.hidden or self.posing)


def findings(text: str) -> Findings:
    """Return what is hidden in a text, and which of its words are not what they seem."""
    shown = pieces(text)
    marks = [index for index, piece in enumerate(shown) if piece.kind == "mark"]
    before = "".join(each.stands_for for each in shown[: marks[0]]) if marks else ""
    hidden = sum(len(shown[index].stands_for) for index in marks)
    return Findings(hidden, before[-_AFTER:].strip(), posing_words(text))


def cleaned(text: str) -> str:
    """Return a text without what is hidden in it; a blank of another kind becomes a space."""
    return "".join(
        piece.stands_for
        if piece.kind != "mark"
        else " " * sum(map(_is_odd_blank, piece.stands_for))
        for piece in pieces(text)
    )
