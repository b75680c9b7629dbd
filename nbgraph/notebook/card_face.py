"""What a tool card shows: head, zones and buttons, and what holds an approval back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import ipywidgets

from nbgraph.clocks import duration
from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.events import Interrupt
from nbgraph.core.json_values import Json
from nbgraph.notebook.arguments import Arguments
from nbgraph.notebook.asked import field_of_answer
from nbgraph.notebook.card_zones import call_spans, call_zone, model_zone, system_zone
from nbgraph.notebook.comment import Comment
from nbgraph.notebook.deadline import Deadline
from nbgraph.notebook.decide_bar import DecideBar, Press, Ready
from nbgraph.notebook.keys import Keys
from nbgraph.notebook.parts import mark, row, spacer, text
from nbgraph.notebook.spans import Flow, code, words
from nbgraph.tool_calls import edit_answer

__all__ = ["CardFace"]


class CardFace:
    """The parts of a card on the page.

    Parameters
    ----------
    interrupt : Interrupt
        The question, for its key and its age.
    call : ToolInterrupt
        What it is about.
    keys : Keys
        Moves the focus.
    presses : dict of str to callable
        What the buttons `approve`, `deny`, `respond` and perhaps `allow` do.
    changed : callable
        Is called when an argument was changed or opened.

    Attributes
    ----------
    arguments : Arguments
        The fields.
    bar : DecideBar
        The buttons.
    head : widget
        The line above the zones.
    children : tuple of widget
        All of it, from top to bottom.
    """

    def __init__(
        self,
        interrupt: Interrupt,
        call: ToolInterrupt,
        keys: Keys,
        presses: Mapping[str, Press],
        changed: Callable[[], object],
    ) -> None:
        self._call, self._since, self._keys = call, interrupt.created_at, keys
        can_edit = "edit" in call.allowed
        self.arguments = Arguments(call, can_edit=can_edit, changed=changed, focus=keys.focus_on)
        self._exactly = Flow((), "nbgraph-code")
        own = {
            "edit": self.arguments.focus_on,
            "undo": self.arguments.reset,
            "help": self.help,
        }
        comment = Comment(keys.focus_on)
        self.bar = DecideBar(call, {**own, **presses}, self._switch, comment)
        self._age, now = text("", "nbgraph-2nd"), time.time()
        self._deadline = Deadline(interrupt, field_of_answer(interrupt), now)
        self.head = self._made_head(interrupt.key)
        self.children: tuple[ipywidgets.Widget, ...] = (
            self.head,
            self._deadline.box,
            system_zone(call),
            model_zone(self.arguments.box),
            call_zone(call, self._exactly),
            self.bar.box,
        )
        self.tick(now)

    def _made_head(self, key: str) -> ipywidgets.HBox:
        title = Flow([*words("The model wants to run "), *code(self._call.tool_name)])
        title.add_class("nbgraph-title")
        place = text(key, "nbgraph-mono", "nbgraph-hide-s", "nbgraph-2nd")
        return row([mark("waiting"), title, self._age, spacer(), place], "nbgraph-head")

    @property
    def held(self) -> str:
        """Why the call cannot be approved as it stands; empty if it can."""
        arguments = self.arguments
        unread = [name or "the others" for name in arguments.unread]
        if unread:
            return f"To approve, first open {', '.join(unread)}: part of it is not shown."
        if not arguments.edits:
            needs_edit = "approve" not in self._call.allowed
            return "To approve, first change an argument." if needs_edit else ""
        error = arguments.first_error
        return f"To approve, first correct {error}" if error else ""

    def approval(self) -> dict[str, Json] | None:
        """Return the answer that approves, with the edits; None while that is held back."""
        if self.held:
            self.help()
            return None
        changed = self.arguments.edits
        return edit_answer(self._call, changed) if changed else {"action": "approve"}

    def denial(self) -> dict[str, Json]:
        """Return the answer that denies, with the reason if there is one."""
        reason = self.bar.reason
        return {"action": "deny", "message": reason} if reason else {"action": "deny"}

    def response(self) -> dict[str, Json] | None:
        """Return the answer in the tool's place; None and the focus on it, while there is none."""
        if not self.bar.answer.strip():
            self._keys.focus_on("nbgraph-answer")
            return None
        return {"action": "respond", "message": self.bar.answer}

    def help(self) -> None:
        """Move the focus to what holds the approval back."""
        wrong = [at[1:].partition("/")[0] for at in self.arguments.errors]
        self.arguments.focus_on(next(iter((*self.arguments.unread, *wrong)), None))

    def show(self, ready: Ready) -> None:
        """Show the call as it would run now, and what can be decided."""
        changed = self.arguments.edits
        self._exactly.show(call_spans(self._call, changed))
        self.bar.show(replace(ready, edits=len(changed), held=self.held))
        self.arguments.lock(locked=ready.is_sent)
        self.bar.lock(locked=ready.is_sent)

    def tick(self, now: float) -> None:
        """Say how long the question waits, and still may."""
        minutes = (now - self._since) // 60 if self._since else 0
        self._age.value = f"for {duration(minutes * 60)}" if minutes >= 1 else ""
        self._deadline.tick(now, self._keys.say)

    def _switch(self, as_json: bool) -> None:
        if not self.arguments.switch(as_json=as_json):
            self.bar.set_mode(as_json=True)
