"""A value as it is shown: in pieces, and when it is long its beginning, its end and the counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nbgraph.core.hidden import Piece
from nbgraph.core.json_values import Json

__all__ = ["PAGE", "Excerpt", "counts", "excerpt", "is_long", "names_of"]

_LONG, _LONG_LINES = 400, 10
_HEAD, _HEAD_LINES = 180, 3
_TAIL, _TAIL_LINES = 90, 2
PAGE = 20_000
"""How many more characters are shown at a time."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is shown of a value.

    Attributes
    ----------
    head, tail : tuple of Piece
        Its beginning and its end; all of it is the head.
    left_out : int
        How many characters, as they are shown, are between them.
    """

    head: tuple[Piece, ...]
    tail: tuple[Piece, ...] = ()
    left_out: int = 0


def is_long(shown: Sequence[Piece]) -> bool:
    """Return whether a value is so long that it has to be opened to be read."""
    return _size(shown) > _LONG or _lines(shown) > _LONG_LINES


def excerpt(shown: tuple[Piece, ...], opened: int = 0) -> Excerpt:
    """Return what is shown of a value when so many of its characters have been opened."""
    if not is_long(shown) or opened >= _size(shown):
        return Excerpt(shown)
    head = _start(shown, max(opened, _HEAD), None if opened else _HEAD_LINES)
    tail = tuple(reversed(_start(_backwards(shown), _TAIL, _TAIL_LINES, from_end=True)))
    left_out = _size(shown) - _size(head) - _size(tail)
    if left_out <= 0:
        return Excerpt(shown)
    return Excerpt(head, tail, left_out)


def counts(text: str) -> str:
    """Return how long a text is: `5,021 characters, 12 lines`."""
    lines = text.count("\n") + 1
    said = f"{len(text):,} character{'' if len(text) == 1 else 's'}"
    return said if lines == 1 else f"{said}, {lines:,} lines"


def names_of(value: Json) -> str:
    """Return what kind of JSON a value is, in one word."""
    match value:
        case None:
            return "null"
        case bool():
            return "yes or no"
        case str():
            return "text"
        case int() | float():
            return "number"
        case list():
            return "list"
        case _:
            return "object"


def _size(shown: Iterable[Piece]) -> int:
    return sum(len(piece.text) for piece in shown)


def _lines(shown: Iterable[Piece]) -> int:
    return 1 + sum(piece.text.count("\n") for piece in shown)


def _backwards(shown: tuple[Piece, ...]) -> tuple[Piece, ...]:
    return tuple(reversed(shown))


def _start(
    shown: tuple[Piece, ...], size: int, lines: int | None, *, from_end: bool = False
) -> tuple[Piece, ...]:
    """Return the first pieces of so many characters and lines; only text is cut."""
    kept: list[Piece] = []
    for piece in shown:
        part = piece if piece.kind != "text" else _part(piece, size, lines, from_end=from_end)
        kept.append(part)
        size -= len(part.text)
        lines = None if lines is None else lines - part.text.count("\n")
        if part is not piece or size <= 0:
            break
    return tuple(kept)


def _part(piece: Piece, size: int, lines: int | None, *, from_end: bool) -> Piece:
    text = piece.text[-size:] if from_end else piece.text[:size]
    if lines is not None:
        cut = text.split("\n")
        text = "\n".join(cut[-lines:] if from_end else cut[:lines])
    if len(text) == len(piece.text):
        return piece
    return replace(piece, text=text, stands_for=text)
