"""A value for reading: with marks, and when it is long, in parts that are opened."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from nbgraph.core.hidden import Piece
from nbgraph.excerpts import PAGE, excerpt, is_long
from nbgraph.notebook.parts import button, classed, row, set_class, text
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.spans import Flow, spans

__all__ = ["Exhibit"]


class Exhibit:
    """A value that a person reads.

    Attributes
    ----------
    box : widget
        What stands on the page.
    is_long : bool
        Whether it has to be opened.
    """

    def __init__(self, pieces: tuple[Piece, ...], opened: Callable[[], object]) -> None:
        self._pieces, self._tell = pieces, opened
        self.is_long = is_long(pieces)
        self._size = 0
        self._head = Flow()
        self.box = classed(ipywidgets.VBox((self._head,)), "nbgraph-value")
        set_class(self.box, "nbgraph-long", on=self.is_long)
        if self.is_long:
            self._tail = Flow()
            self._count = text("", "nbgraph-small")
            self._button = button("Open to approve", self.open, "link", "nbgraph-open")
            self._cut = row([self._count, self._button], "nbgraph-cut")
        self._show()

    @property
    def is_open(self) -> bool:
        """Whether all of it is shown."""
        return excerpt(self._pieces, self._size).left_out == 0

    def open(self) -> None:
        """Show more of it: all, or of a very long one the next part."""
        self._size += PAGE
        self._show()
        self._tell()

    def strike(self, *, struck: bool) -> None:
        """Strike it out, or not: something else takes its place."""
        set_class(self.box, "nbgraph-del", on=struck)

    def _show(self) -> None:
        shown = excerpt(self._pieces, self._size)
        self._head.show(spans(shown.head))
        if not self.is_long:
            return
        self._tail.show(spans(shown.tail))
        self._count.value = f"{shown.left_out:,} more characters"
        self._button.description = "Show more" if self._size else "Open to approve"
        parts = (self._head, self._cut, self._tail) if shown.left_out else (self._head,)
        if parts != self.box.children:
            self.box.children = parts
            serve_while_busy(self.box)
