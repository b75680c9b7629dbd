"""What stands around the fields of a form: head, message, payload, summary, actions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from nbgraph.clocks import age
from nbgraph.core.events import Interrupt
from nbgraph.core.json_values import Json
from nbgraph.forms import Field, payload_rows
from nbgraph.notebook.comment import Comment
from nbgraph.notebook.deadline import Deadline
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.lean import button, column, grid, is_hidden, row, said, set_hidden
from nbgraph.notebook.parts import set_class
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import slim

__all__ = [
    "Actions",
    "Head",
    "Summary",
    "first_parts",
    "framed",
    "payload_table",
    "rows_table",
]

Press = Callable[[], object]

_AFTER = "After you submit, {} runs again from its first line."
_OVER = "It takes no answer any more. What you typed stays here to read."


class Head:
    """Who asks, since when, under which key, and until when.

    Attributes
    ----------
    note : Label
        What stands at the end: what happens after an answer, or that its time is over.
    """

    def __init__(self, interrupt: Interrupt, field: Field) -> None:
        self._since, now = interrupt.created_at, time.time()
        self._deadline = Deadline(interrupt, field, now)
        self._age = said("", "nbgraph-2nd")
        head = row(
            (
                said("", "nbgraph-mark", "waiting"),
                said(f"{interrupt.node} asks", "nbgraph-strong"),
                self._age,
                said("", "nbgraph-push"),
                said("key", "nbgraph-2nd", "nbgraph-hide-s"),
                said(interrupt.key, "nbgraph-mono", "nbgraph-hide-s"),
            ),
            "nbgraph-head",
        )
        self.boxes = head, self._deadline.box
        self._node = interrupt.node
        self.note = said("", "nbgraph-note")
        self.tick(now)

    @property
    def is_over(self) -> bool:
        """Whether the time of the question is over."""
        return self._deadline.is_over

    def tick(self, now: float, say: Callable[[str], object] = str) -> bool:
        """Say how long the question waits, and still may; return whether it has just expired."""
        set_text(self._age, f"for {age(now - self._since)}" if self._since else "")
        has_ended = self._deadline.tick(now, say)
        set_text(self.note, _OVER if self.is_over else _AFTER.format(self._node))
        return has_ended


def framed(form: ipywidgets.Box, page: Any) -> ipywidgets.VBox:
    """Return the box of a form that stands alone: a root of the style, with a page of its own."""
    box = column((), "nbgraph-alone")
    form.add_class("nbgraph")
    form.children = (box, page)
    return box


def first_parts(head: Head | None, message: str | None) -> Sequence[ipywidgets.Widget]:
    """Return who asks, and the question in words."""
    words = (said(message, "nbgraph-message", "nbgraph-text"),) if message else ()
    return (*(head.boxes if head else ()), *words)


def rows_table(rows: Sequence[tuple[str, str]]) -> ipywidgets.Widget:
    """Return rows of name and value; one row without a name is text."""
    if len(rows) == 1 and not rows[0][0]:
        return said(rows[0][1], "nbgraph-text")
    cells = [said(text, "nbgraph-text") for row in rows for text in row]
    return grid(cells, "nbgraph-table")


def payload_table(payload: Json) -> ipywidgets.Widget:
    """Return what is shown beside a question."""
    return rows_table(payload_rows(payload))


class Summary:
    """What is missing or not right, all together, above the fields."""

    def __init__(self) -> None:
        self.box = column((), "nbgraph-summary", "nbgraph-gone")

    def hide(self) -> None:
        """Take it away."""
        set_hidden(self.box, hidden=True)
        self._replace(())

    def show(self, title: str, lines: Sequence[tuple[str, Press]] = ()) -> None:
        """Show a title, and a line for each problem, which leads to it."""
        buttons = [button(text, press, "link") for text, press in lines]
        self._replace((said(title, "nbgraph-strong", "nbgraph-text"), *buttons))
        set_hidden(self.box, hidden=False)

    def _replace(self, children: tuple[ipywidgets.Widget, ...]) -> None:
        gone, self.box.children = self.box.children, children
        for widget in gone:
            widget.close()


def _example(press: Press) -> ipywidgets.Button:
    return button("Fill example", press, "nbgraph-example", "quiet")


class Actions:
    """Submit, copy as code, a comment if there can be one, and the switch between form and JSON."""

    def __init__(
        self,
        text: str,
        submit: Press,
        copy: Press,
        switch: Callable[[bool], object],
        example: Press | None,
        comment: Comment | None,
    ) -> None:
        self.comment = comment
        self.submit = button(text, submit, "nbgraph-submit", "primary")
        self._said = said("", "nbgraph-2nd", "nbgraph-small")
        self._mode: Any = slim(ipywidgets.ToggleButtons)(
            options=("Form", "JSON"), _dom_classes=("nbgraph-choice", "nbgraph-json")
        )
        self._switch = switch
        self._mode.observe(self._switched, names="index")
        self.row = row(
            (
                self.submit,
                button("Copy as code", copy, "nbgraph-copy", "quiet"),
                *(() if example is None else (_example(example),)),
                *(() if comment is None else (comment.switch,)),
                said("", "nbgraph-push"),
                self._said,
                self._mode,
            ),
            "nbgraph-actions",
        )
        self._code: Any = None
        self._above = () if comment is None else (comment.box,)
        self.box = column((*self._above, self.row), "nbgraph-after")

    def _switched(self, change: Any) -> None:
        self._switch(change["new"] == 1)

    def set_mode(self, *, as_json: bool) -> None:
        """Show which of the two is there."""
        self._mode.index = int(as_json)

    def without_switch(self) -> None:
        """Take the switch away: the form is JSON already."""
        set_hidden(self._mode, hidden=True)

    def say(self, text: str) -> None:
        """Say something beside the buttons."""
        set_text(self._said, text)

    def show_code(self, code: str) -> None:
        """Show code to copy, or take it away if it is there already."""
        if self._code is None:
            dress = ("nbgraph-mono", "nbgraph-code", "nbgraph-gone")
            self._code = slim(ipywidgets.Textarea)(_dom_classes=dress)
            self.box.children = (*self._above, self.row, self._code)
            serve_while_busy(self._code)
        is_shown = not is_hidden(self._code) and self._code.value == code
        self._code.value = code
        self._code.rows = min(12, code.count("\n") + 1)
        set_hidden(self._code, hidden=is_shown)

    def hold(self, *, held: bool, why: str = "") -> None:
        """Hold the submit button back and say why, or let it act."""
        set_class(self.submit, "nbgraph-held", on=held)
        if self.comment is not None:
            self.comment.lock(locked=held)
        self.say(why)
