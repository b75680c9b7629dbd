"""JSON values as Python literals in pieces: what runs, exactly, with nothing hidden in it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from nbgraph.core.hidden import Piece, pieces
from nbgraph.core.json_values import Json, is_array, is_object

__all__ = ["literal", "plain"]

_WIDE = 60
_MAX_ESCAPES = 8
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})


def literal(value: Json, *, indent: int = 0) -> tuple[Piece, ...]:
    """Return a JSON value as a Python literal; what is hidden in text is escaped and marked.

    A long list or dict takes several lines, the later ones indented by `indent` and more.
    """
    return tuple(_joined(_literal(value, indent)))


def plain(shown: tuple[Piece, ...]) -> str:
    """Return pieces as one text."""
    return "".join(piece.text for piece in shown)


def _joined(found: Iterator[Piece]) -> Iterator[Piece]:
    for is_text, run in groupby(found, lambda piece: piece.kind == "text"):
        if is_text:
            together = "".join(piece.text for piece in run)
            yield Piece(together, "text", together)
        else:
            yield from run


def _literal(value: Json, indent: int) -> Iterator[Piece]:
    if is_object(value):
        yield from _within(
            "{", "}", [_entry(key, each, indent) for key, each in value.items()], indent
        )
    elif is_array(value):
        items = [tuple(_literal(each, indent + 4)) for each in value]
        yield from _within("[", "]", items, indent)
    elif isinstance(value, str):
        yield from _quoted(value)
    else:
        yield _text(repr(value))


def _entry(key: str, value: Json, indent: int) -> tuple[Piece, ...]:
    return (*_quoted(key), _text(": "), *_literal(value, indent + 4))


def _within(start: str, end: str, items: list[tuple[Piece, ...]], indent: int) -> Iterator[Piece]:
    is_wide = sum(len(plain(item)) + 2 for item in items) > _WIDE
    inner = "\n" + " " * (indent + 4) if is_wide else ""
    yield _text(start)
    for index, item in enumerate(items):
        yield _text(("," if index else "") + (inner or (" " if index else "")))
        yield from item
    yield _text((",\n" + " " * indent if is_wide else "") + end)


def _quoted(value: str) -> Iterator[Piece]:
    yield _text('"')
    shown = pieces(value)
    following = (*shown, _text(""))[1:]
    for piece, after in zip(shown, following, strict=True):
        match piece.kind:
            case "text" if after.kind == "posing":
                yield _text(piece.text[:-1].translate(_ESCAPES))
                yield _escaped(piece.text[-1])
            case "text":
                yield _text(piece.text.translate(_ESCAPES))
            case "mark":
                yield _escaped(piece.stands_for)
            case "blank":
                yield from _blank(piece)
            case "posing":
                pass
    yield _text('"')


def _blank(piece: Piece) -> Iterator[Piece]:
    """Yield a few blanks as they are written, and more of them counted."""
    written = piece.stands_for.translate(_ESCAPES)
    if len(piece.stands_for) > _MAX_ESCAPES:
        yield piece
    else:
        yield _text(written)


def _escaped(hidden: str) -> Piece:
    """Return hidden characters as escapes; more than a few, all the same, are counted."""
    if len(hidden) > _MAX_ESCAPES and len(set(hidden)) == 1:
        return Piece(f"{_escape(hidden[0])} ×{len(hidden):,}", "mark", hidden)
    return Piece("".join(map(_escape, hidden)), "mark", hidden)


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _text(text: str) -> Piece:
    return Piece(text, "text", text)
