"""Text in pieces on the page: one flow of labels, in which marks differ from the text around them.

The texts are data: a label shows them as they are, and a mark is a label of its own, so that no
text can pass for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import ipywidgets

from nbgraph.core.hidden import Piece, reveal
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import shared, slim

__all__ = ["Flow", "Span", "code", "spans", "words"]

Span = tuple[str, tuple[str, ...]]
"""A text and the CSS classes of its label."""

_MAX_SPANS = 80
_MARKS = {"mark": "nbgraph-hidden-char", "blank": "nbgraph-hidden-char", "posing": "nbgraph-posing"}


def spans(pieces: Iterable[Piece], *classes: str) -> list[Span]:
    """Return pieces as spans; the classes are those of the text."""
    return [
        (piece.text, classes if piece.kind == "text" else (_MARKS[piece.kind], *classes))
        for piece in pieces
    ]


def words(text: str) -> list[Span]:
    """Return our own words."""
    return [(text, ())]


def code(text: str, *classes: str) -> list[Span]:
    """Return a name, in the letters of code."""
    return [(reveal(text), ("nbgraph-mono", *classes))]


class Flow(ipywidgets.Box):
    """Spans that flow like one text."""

    def __init__(self, shown: Sequence[Span] = (), *classes: str) -> None:
        super().__init__(
            tuple(map(_label, _few(shown))),
            layout=shared(ipywidgets.Layout),
            _dom_classes=("nbgraph-flow", *classes),
        )
        self._shown = shown
        serve_while_busy(self)

    @property
    def text(self) -> str:
        """What can be read."""
        return "".join(text for text, _ in self._shown)

    def show(self, shown: Sequence[Span]) -> None:
        """Show other spans."""
        if shown == self._shown:
            return
        self._shown = shown
        gone, self.children = self.children, tuple(map(_label, _few(shown)))
        for label in gone:
            label.close()
        serve_while_busy(self)


def _label(span: Span) -> ipywidgets.Label:
    text, classes = span
    return slim(ipywidgets.Label)(text, _dom_classes=("mathjax_ignore", *classes))


def _few(shown: Sequence[Span]) -> Sequence[Span]:
    """Return not too many spans: very many marks stand in their text, in brackets."""
    if len(shown) <= _MAX_SPANS:
        return shown
    first, rest = shown[: _MAX_SPANS // 2], shown[_MAX_SPANS // 2 :]
    joined = "".join(f"⟨{text}⟩" if _is_mark(classes) else text for text, classes in rest)
    return [*first, (joined, ())]


def _is_mark(classes: tuple[str, ...]) -> bool:
    return bool(set(classes) & set(_MARKS.values()))
