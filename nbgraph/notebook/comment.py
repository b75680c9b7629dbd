"""What is said beside an answer: a button, and the field that it opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from nbgraph.notebook.lean import button, column, set_hidden
from nbgraph.notebook.shared import slim

__all__ = ["Comment"]

_CLOSED, _OPEN = "Add a comment", "Remove comment"


class Comment:
    """A remark that is recorded with an answer, for those who read it later.

    Nothing but a button until somebody has something to say.

    Parameters
    ----------
    focus_on : callable
        Moves the focus into the first element of a CSS class.

    Attributes
    ----------
    switch : Button
        Opens the field, and takes it away with what stands in it.
    box : widget
        Where the field is.
    """

    def __init__(self, focus_on: Callable[[str], object]) -> None:
        self._focus_on = focus_on
        self.switch = button(_CLOSED, self._turn, "nbgraph-add-comment", "quiet")
        self.box = column((), "nbgraph-field", "nbgraph-comment")
        set_hidden(self.box, hidden=True)
        self._field: Any = None

    @property
    def text(self) -> str | None:
        """What is said; None for nothing. Set it to open the field with it."""
        return None if self._field is None else self._field.value.strip() or None

    @text.setter
    def text(self, text: str | None) -> None:
        if text is None:
            self._close()
        else:
            self._open()
            self._field.value = text

    def _turn(self) -> None:
        if self._field is not None:
            self._close()
            return
        self._open()
        own = f"nbgraph-{self.box.model_id}"
        self.box.add_class(own)
        self._focus_on(own)

    def _open(self) -> None:
        if self._field is not None:
            return
        self._field = slim(ipywidgets.Textarea)(
            description="Comment",
            placeholder="is kept with your answer",
            rows=2,
            continuous_update=False,  # letter by letter, the last would come after the click
        )
        self.box.children = (self._field,)
        self._show()

    def _close(self) -> None:
        if self._field is None:
            return
        gone, self._field, self.box.children = self._field, None, ()
        gone.close()
        self._show()

    def _show(self) -> None:
        set_hidden(self.box, hidden=self._field is None)
        self.switch.description = _CLOSED if self._field is None else _OPEN

    def lock(self, *, locked: bool) -> None:
        """Let nobody change it, or again somebody."""
        set_hidden(self.switch, hidden=locked)
        if self._field is not None:
            self._field.disabled = locked
