"""The parts of an inbox on the page, from the heading to the line below the rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets

from nbgraph import clocks
from nbgraph.following import Following
from nbgraph.notebook.inbox_filter import Filters
from nbgraph.notebook.inbox_rows import Row, Rows
from nbgraph.notebook.keys import Keys
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.parts import button, classed, column, mark, row, set_class, spacer, text
from nbgraph.one_line import in_a_line

__all__ = ["Face"]

_SAID = 400
"""How many letters are said at most."""

Press = Callable[[], object]


class Face:
    """Heading, filters, rows with what is open among them, and what there is besides.

    Parameters
    ----------
    presses : dict of str to callable
        What `refresh` and `more` do, and `first`, which a changed filter does too.
    heard : callable
        Is told what was asked for in a row.
    below : widget
        What stands below the rows.
    keys : Keys
        Moves the focus, and says what there is to hear.

    Attributes
    ----------
    box : widget
        All of it.
    filters : Filters
        Which questions are shown.
    rows, rest : Rows
        The rows up to the one that is open, and those below it.
    """

    def __init__(
        self,
        presses: Mapping[str, Press],
        heard: Callable[[str, str], object],
        below: ipywidgets.Widget,
        keys: Keys,
    ) -> None:
        self.keys = keys
        self.keys.add_class("nbgraph-keys")
        self.filters = Filters(presses["first"])
        self.rows, self.rest = Rows(heard, "Waiting questions"), Rows(heard)
        self._why = text("", "nbgraph-why")
        _show_if(self._why, "")
        self._list = column([self.rows], "nbgraph-inbox-list")
        self._empty = text("", "nbgraph-2nd", "nbgraph-nothing")
        self._at = 0
        self._said = self._trouble = ""
        head, foot = self._made_head(presses["refresh"]), self._made_foot(presses)
        parts = [head, self._why, self.filters.box, self._list, self._empty, foot, below, self.keys]
        self.box: Any = classed(column(parts, "nbgraph-panel"), "nbgraph-inbox")

    def _made_head(self, refresh: Press) -> ipywidgets.HBox:
        self._waiting = text("")
        chip = row([mark("waiting"), self._waiting], "nbgraph-chip", "nbgraph-status")
        self._status, self._oldest = chip, text("", "nbgraph-chip")
        again = button("Refresh", refresh, "quiet", "nbgraph-refresh")
        title = text("Inbox", "nbgraph-h3")
        parts = [title, self._status, self._oldest, spacer(), again]
        return row(parts, "nbgraph-toolbar", "nbgraph-row")

    def _made_foot(self, presses: Mapping[str, Press]) -> ipywidgets.HBox:
        self._count = text("", "nbgraph-2nd", "nbgraph-small")
        self._more = button("", presses["more"], "link", "nbgraph-more")
        self._back = button("back to the oldest", presses["first"], "link", "nbgraph-first")
        keys = text("J K move   X pick   Enter open", "nbgraph-2nd", "nbgraph-hide-s")
        return row([self._count, self._more, self._back, spacer(), keys], "nbgraph-foot")

    def say(self, sentence: str) -> None:
        """Say something under the heading, and to who hears it, until something else is said."""
        self._said = sentence = in_a_line(sentence, _SAID)
        _show_if(self._why, sentence)
        set_text(self._why, sentence)
        if sentence:
            self.keys.say(sentence)

    def say_trouble(self, sentence: str) -> None:
        """Say what keeps the rows from being true; an empty sentence takes that away again."""
        if sentence and sentence != self._trouble:
            self.say(sentence)
        elif not sentence and self._trouble and self._said == in_a_line(self._trouble, _SAID):
            self.say("")
        self._trouble = sentence

    def focus_row(self, row_id: str) -> None:
        """Move the focus to a row, or to the one in the place of what was open."""
        ids = [each["id"] for each in self.rows.rows]
        if ids:
            self.rows.focus_row(row_id if row_id in ids else ids[min(self._at, len(ids) - 1)])

    def place(self, rows: Sequence[Row], opened: ipywidgets.Widget | None, picks: str) -> None:
        """Show rows, and below its own what is open; where that is gone, in its place."""
        at = next((at for at, each in enumerate(rows) if each.is_open), None)
        self._at = min(self._at, len(rows)) if at is None else at
        cut = len(rows) if opened is None else self._at + (at is not None)
        self.rows.show(rows[:cut], picks=picks)
        self.rest.show(rows[cut:])
        children = (self.rows,) if opened is None else (self.rows, opened, self.rest)
        if self._list.children != children:
            self._list.children = children

    def without_opened(self) -> None:
        """Take away what is open."""
        self._list.children = (self.rows,)

    def show(self, following: Following) -> None:
        """Show how many there are, and how old."""
        survey, is_over = following.survey, self.filters.shows_answered
        self.filters.offer(survey)
        count = len(following.answered) if is_over else len(following.page.questions)
        set_text(self._waiting, survey.waiting)
        set_class(self._status, "is-waiting", on=survey.count > 0)
        oldest = survey.oldest
        age = "" if oldest is None else clocks.age(max(0.0, time.time() - oldest))
        set_text(self._oldest, f"oldest {age}")
        _show_if(self._oldest, oldest is not None)
        has_more = following.has_more and not is_over
        _show_if(self._more, has_more)
        _show_if(self._back, not (following.is_first or is_over))
        self._more.description = following.more_words
        set_text(self._count, f"{count} shown{_of_the_oldest(following) if not is_over else ''}")
        set_text(self._empty, _nothing(is_filtered=bool(self.filters.wanted), is_over=is_over))
        _show_if(self._empty, not (count or has_more))


def _of_the_oldest(following: Following) -> str:
    """Return of what a sorted page is, where not all was looked through."""
    page = following.page
    return f", of the {page.looked:,} oldest" if page.is_part else ""


def _show_if(widget: Any, shown: object) -> None:
    widget.layout.display = None if shown else "none"


def _nothing(*, is_filtered: bool, is_over: bool) -> str:
    if is_over:
        return "Nothing was answered since this inbox is open."
    return "No question passes the filter." if is_filtered else "Nothing waits for anybody."
