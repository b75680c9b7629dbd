"""A question among several: closed to who asks and what, until a person turns to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ipywidgets

from nbgraph.notebook.lean import button, row
from nbgraph.notebook.parts import take_away
from nbgraph.notebook.routing import serve_while_busy

__all__ = ["Fold"]


class Fold:
    """Closes a form to its first parts and a button, and opens it again.

    Parameters
    ----------
    box : widget
        Where the form stands.
    first, more : iterables of widgets
        What stands there: what stays, and what is closed.
    focus : function
        Moves the focus into the form.
    """

    def __init__(
        self,
        box: ipywidgets.Box,
        first: Iterable[ipywidgets.Widget],
        more: Iterable[ipywidgets.Widget],
        focus: Callable[[], object],
    ) -> None:
        self._box, self._focus = box, focus
        self._first, self._more = tuple(first), tuple(more)
        self._opener: Any = None
        box.children = (*self._first, *self._more)
        box.observe(self._gone, "comm")

    def _gone(self, change: Mapping[str, Any]) -> None:
        """Close with the box what does not stand in it now."""
        if change["new"] is None and self.is_closed:
            take_away(*self._more)

    @property
    def is_closed(self) -> bool:
        """Whether only its first parts are on the page."""
        return self._opener is not None

    def close(self) -> None:
        """Leave the first parts, and a button that opens the rest."""
        if self._opener is None:
            answer = button("Answer", self._pressed, "nbgraph-unfold")
            self._opener = row((answer,), "nbgraph-actions")
            serve_while_busy(self._opener)
            self._box.children = (*self._first, self._opener)
            self._box.add_class("nbgraph-closed")

    def open(self) -> None:
        """Show all of it."""
        if self._opener is not None:
            gone, self._opener = self._opener, None
            self._box.remove_class("nbgraph-closed")
            self._box.children = (*self._first, *self._more)
            take_away(gone)

    def _pressed(self) -> None:
        self.open()
        self._focus()
