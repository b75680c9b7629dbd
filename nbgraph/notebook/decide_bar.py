"""The buttons of a tool card: what can be decided, why it cannot yet, reason and answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ipywidgets

from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.hidden import reveal
from nbgraph.drawing import cut
from nbgraph.notebook.comment import Comment
from nbgraph.notebook.parts import button, classed, column, mark, row, set_class, spacer, text
from nbgraph.notebook.spans import Flow, Span, words
from nbgraph.tool_calls import many

__all__ = ["DecideBar", "Ready"]

Press = Callable[[], object]
_NAME_LIMIT = 32


@dataclass(frozen=True, slots=True)
class Ready:
    """What there is to decide on.

    Attributes
    ----------
    chosen : str
        What is decided already: `"approve"` (edits included), `"deny"`, `"respond"`, or nothing.
    is_sent : bool
        The decision is on its way.
    has_primary : bool
        Approving is what the person is most likely to do here.
    has_comment : bool
        A comment can be given here.
    edits : int
        How many arguments are changed.
    held : str
        Why the call cannot be approved as it stands; empty if it can.
    """

    chosen: str
    is_sent: bool
    has_primary: bool
    has_comment: bool
    edits: int = 0
    held: str = ""


class DecideBar:
    """Buttons for the decisions that are allowed, and the two texts that go with them.

    Parameters
    ----------
    call : ToolInterrupt
        What is decided on.
    presses : dict of str to callable
        What `approve`, `edit`, `undo`, `deny`, `respond`, `help` and `allow` do; `allow` may be
        missing.
    switch : callable
        Is told whether the arguments shall be one text of JSON.
    comment : Comment
        What is said beside the decision.
    """

    def __init__(
        self,
        call: ToolInterrupt,
        presses: Mapping[str, Press],
        switch: Callable[[bool], object],
        comment: Comment,
    ) -> None:
        self.comment = comment
        self._call = call
        self._name = cut(reveal(call.tool_name), _NAME_LIMIT)
        can_edit = "edit" in call.allowed
        approve = button("", presses["approve"], "nbgraph-approve")
        edit = button("Edit arguments", presses["edit"], "nbgraph-edit")
        self._undo = button("Undo all edits", presses["undo"], "nbgraph-undo", "quiet")
        respond = button("Respond for the tool", self._press_respond, "nbgraph-respond")
        deny = button("", presses["deny"], "nbgraph-deny")
        self._buttons = {"approve": approve, "edit": edit, "respond": respond, "deny": deny}
        self._presses = presses
        self._mode: Any = ipywidgets.ToggleButtons(options=("Form", "JSON"))
        classed(self._mode, "nbgraph-choice", "nbgraph-json")
        self._mode.observe(lambda change: switch(change["new"] == 1), names="index")
        shown = [each for name, each in self._buttons.items() if _is_allowed(call, name)]
        more = (self._undo, spacer(), self._mode) if can_edit else ()
        self._row = row([*shown, *more], "nbgraph-actions")
        self._why = button("", presses["help"], "link", "nbgraph-held-why")
        self._held = row([mark("waiting"), self._why], "nbgraph-note", "nbgraph-why-held")
        self._error = text("", "nbgraph-error")
        self._reason = _text_box("Reason for denying", "goes to the model", "nbgraph-reason")
        self._answer = _text_box("Answer for the tool", "goes to the model in its place",
                                 "nbgraph-answer")  # fmt: skip
        self._answer.layout.display = "none"
        for each in (self._reason, self._answer):
            each.children[0].observe(lambda _: self._typed(), names="value")
        self._notes = self._last_line(presses.get("allow"))
        self.box = column(
            [
                self._row,
                self._held,
                self._error,
                self._reason,
                self._answer,
                comment.box,
                self._notes,
            ],
            "nbgraph-decide",
        )
        self.complain("")

    def _last_line(self, allow: Press | None) -> Any:
        keys = Flow(_keys(self._call), "nbgraph-note", "nbgraph-hide-s")
        parts: list[Any] = [keys, spacer(), self.comment.switch]
        if allow is not None:
            allowing = f"Allow {self._name} here until the kernel stops"
            parts.append(button(allowing, allow, "quiet", "nbgraph-allow"))
        return row(parts)

    @property
    def reason(self) -> str:
        """The reason for denying, as it stands there."""
        return self._reason.children[0].value.strip()

    @reason.setter
    def reason(self, value: str) -> None:
        self._reason.children[0].value = value

    @property
    def answer(self) -> str:
        """The answer in the tool's place, as it stands there."""
        return self._answer.children[0].value

    @answer.setter
    def answer(self, value: str) -> None:
        self._answer.layout.display = None
        self._answer.children[0].value = value

    def _typed(self) -> None:
        self._label()
        self._presses["typed"]()

    def _press_respond(self) -> None:
        """Ask for the answer first."""
        if self._answer.layout.display == "none":
            self._answer.layout.display = None
        self._presses["respond"]()

    def complain(self, problem: str) -> None:
        """Say why something was not decided; nothing for no problem."""
        self._error.value = reveal(problem)
        self._error.layout.display = None if problem else "none"

    def set_mode(self, *, as_json: bool) -> None:
        """Show which of form and JSON is there."""
        self._mode.index = int(as_json)

    def show(self, ready: Ready) -> None:
        """Show what can be decided now, and what is."""
        self._ready = ready
        approve = self._buttons["approve"]
        is_held = bool(ready.held)
        set_class(approve, "primary", on=ready.has_primary and not (is_held or ready.is_sent))
        approve.icon = "lock" if is_held else ""
        approve.tooltip = ready.held
        for name, each in self._buttons.items():
            set_class(each, "on", on=name == ready.chosen)
            set_class(each, "nbgraph-held", on=ready.is_sent or (is_held and name == "approve"))
        self._undo.layout.display = None if ready.edits and not ready.is_sent else "none"
        self._why.description = ready.held
        self._held.layout.display = None if is_held and not ready.is_sent else "none"
        self.comment.lock(locked=ready.is_sent or not ready.has_comment)
        self._label()

    def _label(self) -> None:
        ready = self._ready
        edits = ready.edits
        words = {
            "approve": f"Approve with {many(edits, 'edit')}" if edits else f"Approve {self._name}",
            "respond": "Respond with this answer"
            if self.answer.strip()
            else "Respond for the tool",
            "deny": "Deny with reason" if self.reason else f"Deny {self._name}",
        }
        for name, label in words.items():
            tick = "✓ " if name == ready.chosen else ""
            self._buttons[name].description = f"{tick}{label}"

    def lock(self, *, locked: bool) -> None:
        """Let nobody type, or again somebody."""
        for each in (self._reason, self._answer):
            each.children[0].disabled = locked


def _is_allowed(call: ToolInterrupt, name: str) -> bool:
    """Whether there is a button; a call that may only be edited is approved with edits."""
    return name in call.allowed or name == "deny" or (name == "approve" and "edit" in call.allowed)


def _text_box(label: str, about: str, css_class: str) -> Any:
    kind: Any = ipywidgets.Text if css_class == "nbgraph-reason" else ipywidgets.Textarea
    # Sent letter by letter, the last letters would come after the click that follows them.
    made = kind(description=label, placeholder=about, continuous_update=False)
    return column([made], "nbgraph-field", css_class)


def _keys(call: ToolInterrupt) -> list[Span]:
    keys = {"approve": "A", "edit": "E", "respond": "R", "deny": "D"}
    if call.destructive:
        keys = {"edit": "E", "respond": "R"}
    found: list[Span] = []
    for name, key in keys.items():
        if _is_allowed(call, name):
            found += [(key, ("nbgraph-kbd",)), *words(f" {name}  ")]
    rest = "while this card has the focus"
    if call.destructive:
        rest += "; no key approves or denies a destructive tool"
    return [*found, *words(rest)]
