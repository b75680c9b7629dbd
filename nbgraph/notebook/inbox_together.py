"""One answer to several questions that are alike: calls approved or denied, or one form for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any

import ipywidgets

from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.hidden import reveal
from nbgraph.core.json_values import Json
from nbgraph.covering import covered_arguments
from nbgraph.drawing import cut
from nbgraph.errors import ResumeError
from nbgraph.notebook.allowed import needs_a_look
from nbgraph.notebook.form import Form
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.parts import button, classed, column, row, set_class, spacer, text
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.take_back import TakeBack
from nbgraph.one_line import arguments, in_a_line
from nbgraph.tool_calls import bound_to, many
from nbgraph.waiting import Question

__all__ = ["Together"]

Send = Callable[[Mapping[Question, Json]], Sized]
_LISTED = 200
"""How many letters are listed of the arguments of a call that cannot be approved from the list."""
_TYPED = 10
"""From how many calls on the number has to be typed to approve them."""


class Together(ipywidgets.VBox):
    """What is decided about the questions that are picked.

    Parameters
    ----------
    send : callable
        Is given an answer for each, and returns those that were not recorded.
    clear : callable
        Picks none any more.
    take_back_for : callable
        Returns for how many seconds a decision that was pressed on the page can be taken back.
    focus_on : callable
        Moves the focus into what wears a CSS class.
    """

    def __init__(
        self,
        send: Send,
        clear: Callable[[], object],
        take_back_for: Callable[[], float],
        focus_on: Callable[[str], object],
    ) -> None:
        super().__init__()
        self._take_back_for, self._focus_on = take_back_for, focus_on
        self._held = TakeBack("nbgraph-holding-all")
        classed(self, "nbgraph-together")
        self._give = send
        self._picked: tuple[Question, ...] = ()
        self._shown: tuple[tuple[Question, ...], bool] = (), False
        self._kind = ""
        self._title = text("", "nbgraph-h3")
        self._about = text("", "nbgraph-2nd", "nbgraph-small")
        self._listed = text("", "nbgraph-code", "nbgraph-inbox-calls")
        self._why = text("", "nbgraph-note", "nbgraph-text")
        self._reason: Any = ipywidgets.Text(
            description="Reason for denying",
            placeholder="goes to the model",
            continuous_update=False,  # letter by letter, the last would come after the click
        )
        self._count: Any = ipywidgets.Text(placeholder="", continuous_update=False)
        self._count.observe(lambda _: self._show(), names="value")
        self._reason.observe(lambda _: self._show(), names="value")
        self._approve = button("", lambda: self._press(self.approve), "nbgraph-approve-all")
        self._deny = button("", lambda: self._press(self.deny), "nbgraph-deny")
        self._clear = button("Clear", clear, "quiet", "nbgraph-clear")
        self._reasons = column([self._reason], "nbgraph-field", "nbgraph-reason")
        self._counts = column([self._count], "nbgraph-field", "nbgraph-count")
        self._acts = row(
            [self._approve, self._deny, self._clear, spacer(), self._why], "nbgraph-actions"
        )
        self._form: Form | None = None
        self._is_pressed = False
        self.children = (self._held.box,)
        self._show()

    @property
    def form(self) -> Form | None:
        """The form whose answer all are given; None where tool calls are picked."""
        return self._form

    def put(self, picked: Sequence[Question]) -> None:
        """Show other questions; they are all of one kind."""
        shown = tuple(picked), self._held.is_waiting
        if shown == self._shown:
            return
        self._shown, self._picked = shown, tuple(picked)
        kind = picked[0].kind if picked else ""
        if kind != self._kind:
            self._kind = kind
            self._change_parts()
        self._show()

    def _change_parts(self) -> None:
        if self._form is not None:
            self._form.close()
            self._form = None
        self._count.value = self._reason.value = ""
        if not self._picked:
            self.children = (self._held.box,)
            return
        parts: list[ipywidgets.Widget] = [row([self._title, self._about]), self._listed]
        if self._picked[0].call is None:
            self._form = Form(self._picked[0].record.interrupt.response_schema)
            self._form.on_submit(self._answered)
            parts += [self._form, row([self._clear, spacer(), self._why], "nbgraph-actions")]
        else:
            parts += [row([self._reasons, self._counts]), self._acts]
        self.children = (*parts, self._held.box)
        serve_while_busy(self)

    # --- what a person does -------------------------------------------------------------------

    def approve(self) -> bool:
        """Approve the calls that are picked, each bound to its digest; return whether it did."""
        if self.held:
            self._show()
            return False
        self._decide({"action": "approve"})
        return True

    def deny(self, reason: str | None = None) -> bool:
        """Deny the calls that are picked; the models read the reason."""
        if not self._picked or self._picked[0].call is None or self._held.is_waiting:
            return False
        said = self._reason.value.strip() if reason is None else reason
        self._decide({"action": "deny", "message": said} if said else {"action": "deny"})
        return True

    def confirm(self, count: str) -> None:
        """Type how many calls are to be approved, which many need."""
        self._count.value = count

    def _decide(self, decided: Mapping[str, Json]) -> None:
        given: dict[Question, Json] = {}
        for question in self._picked:
            given[question] = bound_to(question.call, decided)
        seconds = self._take_back_for()
        if self._is_pressed and seconds > 0:
            said = {"approve": "approved", "deny": "denied"}[str(decided["action"])]
            what = f"{many(len(given), 'call')} {said}"
            self._held.hold(what, seconds, send=lambda: self._give(given), back=self._taken_back)
            self._show()
            self._focus_on("nbgraph-holding-all")
        else:
            self._give(given)

    def _taken_back(self) -> None:
        self._show()
        self._focus_on("nbgraph-together")

    def _press(self, act: Callable[[], object]) -> None:
        """Take what is decided as pressed on the page: it can be taken back for a while."""
        self._is_pressed = True
        try:
            act()
        finally:
            self._is_pressed = False

    def send_now(self) -> None:
        """Send what waits to be taken back."""
        self._held.now()

    def _answered(self, answer: Json) -> None:
        count = len(self._picked)
        left = len(self._give(dict.fromkeys(self._picked, answer)))
        if left:
            raise ResumeError(f"{left} of {count} were not recorded; their rows say why")

    @property
    def held(self) -> str:
        """Why the calls cannot be approved together; empty if they can."""
        calls = [question.call for question in self._picked if question.call]
        if self._held.is_waiting:
            return "A decision is about to be sent: take it back, or send it now."
        if not calls:
            return "No tool calls are picked."
        if "approve" not in calls[0].allowed:
            return "These calls can only be edited or denied: open each."
        if calls[0].destructive:
            return "A destructive tool is approved one call at a time: open each."
        alone = [each for each in self._picked if each.call and _is_for_itself(each.call)]
        if alone:
            first = cut(reveal(alone[0].record.thread_id), 32)
            more = f" and {len(alone) - 1} more" if len(alone) > 1 else ""
            return f"Part of {first}{more} is hidden, covered or long: open it to approve it."
        if self._is_many and self._count.value.strip() != str(len(calls)):
            return f"To approve, type {len(calls)} in the field above."
        return ""

    @property
    def _is_many(self) -> bool:
        return len(self._picked) > _TYPED

    # --- what it shows ------------------------------------------------------------------------

    def _show(self) -> None:
        is_shown = bool(self._picked) or self._held.is_waiting
        self.layout.display = None if is_shown else "none"
        set_class(self, "nbgraph-picked", on=is_shown)  # which the page notices: it comes up
        if not self._picked:
            return
        count, is_calls = len(self._picked), self._picked[0].call is not None
        name = cut(reveal(self._picked[0].tool or self._picked[0].asks), 60)
        verb, what = ("Decide", "call") if is_calls else ("Answer", "question")
        set_text(self._title, f"{verb} {many(count, what)}{f' of {name}' if is_calls else ''}")
        set_text(
            self._about, "same tool, same arguments schema" if is_calls else "one form for all"
        )
        set_text(self._listed, "\n".join(map(_line, self._picked)))
        held = self.held if is_calls else ""
        self._approve.description = f"Approve these {count}"
        set_class(self._approve, "primary", on=not held)
        set_class(self._approve, "nbgraph-held", on=bool(held))
        set_class(self._deny, "nbgraph-held", on=self._held.is_waiting)
        self._deny.description = f"Deny these {count}{' with reason' if self._reason.value else ''}"
        self._counts.layout.display = None if self._is_many else "none"
        self._count.description = f"Type {count} to approve"
        left_out = "Any that changed since you looked is left out."
        set_text(self._why, held or left_out)
        if self._form is not None:
            self._form.name_submit(f"Answer these {count}" if count > 1 else "Submit answer")


def _is_for_itself(call: ToolInterrupt) -> bool:
    """Return whether a call is not shown whole in a list."""
    return needs_a_look(call) or covered_arguments(call) != call.arguments


def _line(question: Question) -> str:
    thread = reveal(question.record.thread_id)
    if question.call is None:
        return f"{thread}  {question.asks}"
    digest = f"  # {question.call.call_hash[:4]} {question.call.call_hash[4:8]}"
    most = _LISTED if needs_a_look(question.call) else None
    given = arguments(question.call, most)
    cut_off = given if most is None else in_a_line(given, most)
    said = f"{reveal(question.call.tool_name)}({cut_off})"
    return f"{thread}  {said}{digest if question.call.call_hash else ''}"
