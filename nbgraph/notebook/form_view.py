"""What stands around the fields of a form: head, message, payload, summary, actions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ipywidgets

from nbgraph.core.events import Interrupt
from nbgraph.core.json_values import Json
from nbgraph.forms import payload_rows
from nbgraph.notebook.labels import label, set_text, visible

__all__ = [
    "Actions",
    "Head",
    "Summary",
    "message_label",
    "note",
    "payload_table",
    "record",
    "rows_table",
]

Press = Callable[[], object]


def _classed(widget: Any, *names: str) -> Any:
    for name in names:
        widget.add_class(name)
    return widget


def _row(children: Iterable[ipywidgets.Widget], *names: str) -> ipywidgets.HBox:
    return _classed(ipywidgets.HBox(tuple(children)), *names)


def button(text: str, press: Press, *names: str) -> ipywidgets.Button:
    """Return a button; its text is plain on the page, whatever is in it."""
    made = ipywidgets.Button(description=visible(text))
    made.on_click(lambda _: press())
    return _classed(made, *names)


class Head:
    """Who asks, since when, and under which key."""

    def __init__(self, interrupt: Interrupt) -> None:
        self._since = interrupt.created_at
        self._age = label("", "nbgraph-2nd")
        self.box = _row(
            (
                label("", "nbgraph-mark", "waiting"),
                label(f"{interrupt.node} asks", "nbgraph-strong"),
                self._age,
                label("", "nbgraph-push"),
                label("key", "nbgraph-2nd", "nbgraph-hide-s"),
                label(interrupt.key, "nbgraph-mono", "nbgraph-hide-s"),
            ),
            "nbgraph-head",
        )
        self.tick(time.time())

    def tick(self, now: float) -> None:
        """Say how long the question waits at a time."""
        set_text(self._age, f"for {_age(now - self._since)}" if self._since else "")


def _age(seconds: float) -> str:
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {word}"
    return "a moment"


def message_label(message: str) -> ipywidgets.Label:
    """Return the question in words."""
    return label(message, "nbgraph-message", "nbgraph-text")


def rows_table(rows: Sequence[tuple[str, str]]) -> ipywidgets.Widget:
    """Return rows of name and value; one row without a name is text."""
    if len(rows) == 1 and not rows[0][0]:
        return label(rows[0][1], "nbgraph-text")
    cells = [label(text, "nbgraph-text") for row in rows for text in row]
    return _classed(ipywidgets.GridBox(tuple(cells)), "nbgraph-table")


def payload_table(payload: Json) -> ipywidgets.Widget:
    """Return what is shown beside a question."""
    return rows_table(payload_rows(payload))


def note(node: str) -> ipywidgets.Label:
    """Return what happens after an answer."""
    return label(f"After you submit, {node} runs again from its first line.", "nbgraph-note")


class Summary:
    """What is missing or not right, all together, above the fields."""

    def __init__(self) -> None:
        self.box = _classed(ipywidgets.VBox(()), "nbgraph-summary")
        self.hide()

    def hide(self) -> None:
        """Take it away."""
        self.box.layout.display = "none"
        self._replace(())

    def show(self, title: str, lines: Sequence[tuple[str, Press]] = ()) -> None:
        """Show a title, and a line for each problem, which leads to it."""
        buttons = [button(text, press, "link") for text, press in lines]
        self._replace((label(title, "nbgraph-strong", "nbgraph-text"), *buttons))
        self.box.layout.display = None

    def _replace(self, children: tuple[ipywidgets.Widget, ...]) -> None:
        gone, self.box.children = self.box.children, children
        for widget in gone:
            widget.close()


def _example(press: Press) -> ipywidgets.Button:
    return button("Fill example", press, "nbgraph-example", "quiet")


class Actions:
    """Submit, copy as code, and the switch between form and JSON."""

    def __init__(
        self,
        text: str,
        submit: Press,
        copy: Press,
        switch: Callable[[bool], object],
        example: Press | None,
    ) -> None:
        self.submit = button(text, submit, "nbgraph-submit", "primary")
        self._said = label("", "nbgraph-2nd", "nbgraph-small")
        self._mode = ipywidgets.ToggleButtons(options=("Form", "JSON"))
        _classed(self._mode, "nbgraph-choice", "nbgraph-json")
        self._switch = switch
        self._mode.observe(self._switched, names="index")
        self.row = _row(
            (
                self.submit,
                button("Copy as code", copy, "nbgraph-copy", "quiet"),
                *(() if example is None else (_example(example),)),
                label("", "nbgraph-push"),
                self._said,
                self._mode,
            ),
            "nbgraph-actions",
        )
        self._code = ipywidgets.Textarea(rows=3, disabled=False)
        _classed(self._code, "nbgraph-mono", "nbgraph-code")
        self._code.layout.width, self._code.layout.display = "100%", "none"
        self.box = _classed(ipywidgets.VBox((self.row, self._code)), "nbgraph-after")

    def _switched(self, change: Any) -> None:
        self._switch(change["new"] == 1)

    def set_mode(self, *, as_json: bool) -> None:
        """Show which of the two is there."""
        self._mode.index = int(as_json)

    def without_switch(self) -> None:
        """Take the switch away: the form is JSON already."""
        self._mode.layout.display = "none"

    def say(self, text: str) -> None:
        """Say something beside the buttons."""
        set_text(self._said, text)

    def show_code(self, code: str) -> None:
        """Show code to copy, or take it away if it is there already."""
        is_shown = self._code.layout.display is None and self._code.value == code
        self._code.value = code
        self._code.rows = min(12, code.count("\n") + 1)
        self._code.layout.display = "none" if is_shown else None

    def hold(self, *, held: bool, why: str = "") -> None:
        """Hold the submit button back and say why, or let it act."""
        if held:
            self.submit.add_class("nbgraph-held")
        else:
            self.submit.remove_class("nbgraph-held")
        self.say(why)


def record(
    interrupt: Interrupt | None, rows: Sequence[tuple[str, str]], by: str | None, at: float
) -> ipywidgets.VBox:
    """Return an answer for reading: `answered by desk-2 at 12:04:31, after 2 min`."""
    when = time.strftime("%H:%M:%S", time.localtime(at))
    said = f"answered by {by or 'somebody'} at {when}"
    if interrupt is not None and interrupt.created_at:
        said += f", after {_age(at - interrupt.created_at)}"
    node = label(interrupt.node if interrupt else "Answer", "nbgraph-strong")
    parts: list[ipywidgets.Widget] = [
        _row((label("", "nbgraph-mark", "done"), node, label(said)), "nbgraph-head")
    ]
    if interrupt is not None and interrupt.message:
        parts.append(label(interrupt.message, "nbgraph-text"))
    parts.append(rows_table(rows))
    return _classed(ipywidgets.VBox(tuple(parts)), "nbgraph-record")
