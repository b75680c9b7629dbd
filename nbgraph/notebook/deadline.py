"""The line of a form that says until when its question waits."""

from __future__ import annotations

from collections.abc import Callable

from nbgraph.core.events import Interrupt
from nbgraph.core.lapses import is_expired
from nbgraph.deadlines import SOON, deadline
from nbgraph.forms import Field
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.lean import said
from nbgraph.notebook.parts import set_classes

__all__ = ["Deadline"]


class Deadline:
    """Says how long a question still waits, and what counts if nobody answers.

    It changes once a minute, and each second in the last one. It is no live region, since a screen
    reader would read all of that: it is said aloud when the last minute begins, and when it ends.

    Attributes
    ----------
    is_over : bool
        Whether the time is over.
    """

    def __init__(self, question: Interrupt, field: Field, now: float) -> None:
        self._question, self._field = question, field
        self.is_over = self._is_soon = False
        self.box = said("", "nbgraph-deadline", "nbgraph-text", hidden=question.expires_at is None)
        self.tick(now)

    def tick(self, now: float, say: Callable[[str], object] = str) -> bool:
        """Show how long there is time; return whether it has just run out."""
        ends = self._question.expires_at
        if ends is None:
            return False
        before = self._is_soon, self.is_over
        self._is_soon, self.is_over = ends - now <= SOON, is_expired(self._question, now)
        text = deadline(self._question, self._field, now)
        set_text(self.box, text)
        soon = self._is_soon and not self.is_over
        set_classes(self.box, {"nbgraph-soon": soon, "nbgraph-over": self.is_over})
        if before != (self._is_soon, self.is_over):
            say(text)
        return self.is_over and not before[1]
