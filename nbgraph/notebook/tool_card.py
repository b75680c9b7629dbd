"""`ToolCard`: a tool call that waits for a decision, shown exactly as it would run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET, Unset, judge
from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.events import Interrupt
from nbgraph.core.json_values import Json, is_object, to_json
from nbgraph.core.lapses import is_expired
from nbgraph.errors import AnswerError, ResumeError
from nbgraph.notebook.card_face import CardFace
from nbgraph.notebook.card_place import Deck, Place
from nbgraph.notebook.decide_bar import Ready
from nbgraph.notebook.display import unattended
from nbgraph.notebook.keys import Keys
from nbgraph.notebook.labels import visible
from nbgraph.notebook.parts import Whole, classed, column, key_class, set_class
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.snapshot import Mark
from nbgraph.tool_calls import asked_call, bound_to, check_allowed, many, outcome, problems_by_place

__all__ = ["ToolCard"]

Callback = Callable[[Any], object]


class ToolCard(Whole):
    """A card for one decision about a tool call.

    It shows the tool, why it is asked about, the arguments the model proposes, fields to change
    them, and the call as it will run. What hides something is made visible, and a long argument has
    to be opened before the call can be approved.

    Parameters
    ----------
    interrupt : Interrupt
        The pending question; its payload is a `ToolInterrupt`.

    Attributes
    ----------
    is_over : bool
        Whether the time of the question is over, so that nothing can be decided.

    Raises
    ------
    ValueError
        If the question is not about a tool call.

    Examples
    --------
    >>> card = ToolCard(session.pending["act:approve_c1"])
    >>> card.on_submit(print)
    >>> card.deny("Ask for a photo first.")
    {'action': 'deny', 'message': 'Ask for a photo first.', 'call_hash': '9f3c...'}
    True
    """

    _made: CardFace | None = None

    def __init__(self, interrupt: Interrupt, *, _place: Place | None = None) -> None:
        call = asked_call(interrupt)
        if call is None:
            raise ValueError(f"The question {interrupt.key!r} is not about a tool call")
        super().__init__()
        self.interrupt, self.call = interrupt, call
        self._place = _place
        self._page = _place.keys if _place else Keys()
        self._callbacks: list[Callback] = []
        self._deck: Deck | None = None
        self._decision: Json | Unset = UNSET
        self._lock = _place.lock if _place else threading.RLock()
        self._busy = self._sent = False
        self.is_over = is_expired(interrupt, time.time())
        self._box: ipywidgets.VBox = self if _place else column([])
        classed(self._box, "nbgraph-card", key_class(interrupt.key))
        set_class(self._box, "nbgraph-destructive", on=call.destructive)
        self.seen = False
        if _place is None:
            self.add_class("nbgraph")
            self.children = (self._box, self._page)
            self.show_face()

    def show_face(self) -> None:
        """Show the card; in a panel of many it is made when a person gets to it."""
        self._face.tick(time.time())
        self.seen = True

    @property
    def _face(self) -> CardFace:
        if self._made is None:
            self._made = self._new_face()
            self._box.children = self._made.children
            self._tell(self.interrupt.problems or {})
            serve_while_busy(self)
        return self._made

    def _new_face(self) -> CardFace:
        place, call = self._place, self.call
        presses: dict[str, Callable[[], object]] = {
            "approve": lambda: self._press(self._face.approval),
            "deny": lambda: self._press(self._face.denial),
            "respond": lambda: self._press(self._face.response),
            "typed": self._typed,
        }
        allow = place.allow if place else None
        if allow and not call.destructive and "approve" in call.allowed:
            presses["allow"] = lambda: allow(self)
        return CardFace(self.interrupt, call, self._page, presses, self._changed)

    @property
    def arguments(self) -> dict[str, Json]:
        """The arguments the tool would run with now: the proposed ones with the edits."""
        return self._face.arguments.value

    @property
    def edits(self) -> dict[str, tuple[Any, Any]]:
        """What is changed: old and new value by argument; UNSET is one that is not there."""
        return {edit.name: (edit.old, edit.new) for edit in self._face.arguments.edits}

    @property
    def is_edited(self) -> bool:
        """Whether something is changed."""
        return self._made is not None and bool(self.edits)

    @property
    def errors(self) -> dict[str, str]:
        """What is not right with the edits, by JSON Pointer into the arguments."""
        return self._face.arguments.errors

    @property
    def held(self) -> str:
        """Why the call cannot be approved as it stands; empty if it can."""
        return self._face.held

    @property
    def comment(self) -> str | None:
        """What is recorded beside the decision; None for nothing. It can be set."""
        return self._face.bar.comment.text

    @comment.setter
    def comment(self, text: str | None) -> None:
        self._face.bar.comment.text = text

    @property
    def decision(self) -> Json | Unset:
        """What is decided, as the answer that is sent; UNSET before that."""
        return self._decision

    @property
    def mark(self) -> Mark:
        """How the call is marked by what is decided."""
        return "waiting" if self._decision is UNSET else outcome(self.call, self._decision).mark

    @property
    def said(self) -> str:
        """What is decided, in words: `approved with 2 edits`, `2 edits, not decided yet`."""
        if self._decision is not UNSET:
            return outcome(self.call, self._decision).said
        if self.is_over:
            return "not decided in time"
        count = len(self._face.arguments.edits) if self._made else 0
        return f"{many(count, 'edit')}, not decided yet" if count else "not decided yet"

    def __repr__(self) -> str:
        return f"<ToolCard of {self.interrupt.key!r}: {self.call.tool_name!r}>"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Show the card; where nobody can answer, the tool and what is decided as text."""
        shown: Any = {} if unattended() else super()._repr_mimebundle_(**options)
        return {**shown, "text/plain": visible(f"{self.call.tool_name}: {self.said}")}

    def approve(self) -> bool:
        """Run the call, with the edits if there are any; return whether that is decided.

        A card that is alone sends the decision at once; of several calls in one panel all are sent
        when the last is decided. It is not decided while a long argument has not been opened, or an
        edit does not fit; `held` says why.

        Raises
        ------
        AnswerError
            If that is not allowed for this call.
        """
        action = "edit" if self._face.arguments.edits else "approve"
        check_allowed(self.call, action, self.interrupt.key)
        return self._try(self._face.approval, at_once=True)

    def edit(self, arguments: Mapping[str, Any], *, replace: bool = False) -> bool:
        """Run the call with changed arguments; return whether that is decided, as `approve` does.

        Parameters
        ----------
        arguments : dict
            What changes; the other proposed arguments stay.
        replace : bool
            They stand for all arguments, so that some can be left out.

        Raises
        ------
        AnswerError
            If that is not allowed for this call.
        """
        check_allowed(self.call, "edit", self.interrupt.key)
        given = to_json(dict(arguments), where="the arguments")
        self._face.arguments.fill(given if replace else {**self.call.arguments, **given})
        return self._try(self._face.approval, at_once=True)

    def deny(self, reason: str | None = None) -> bool:
        """Do not run the call; the model reads the `reason`. Return whether that is decided."""
        if reason is not None:
            self._face.bar.reason = reason
        return self._try(self._face.denial, at_once=True)

    def respond(self, text: str) -> bool:
        """Answer the model with `text` in the tool's place; return whether that is decided.

        Raises
        ------
        AnswerError
            If that is not allowed for this call.
        """
        check_allowed(self.call, "respond", self.interrupt.key)
        self._face.bar.answer = text
        return self._try(self._face.response, at_once=True)

    def show_all(self, name: str | None = None) -> None:
        """Open the long argument `name` to its end, or each of them."""
        self._face.arguments.open(name)

    def undo(self, name: str | None = None) -> None:
        """Take back the edit of argument `name`, or all edits."""
        self._face.arguments.reset(name)

    def on_submit(self, callback: Callback, *, remove: bool = False) -> None:
        """Call `callback` with the decision that is sent; `remove=True` stops that.

        It may raise a `ResumeError`, which is shown; the card can then be decided again.
        """
        if remove:
            self._callbacks.remove(callback)
        else:
            self._callbacks.append(callback)

    def _press(self, made: Callable[[], dict[str, Json] | None]) -> None:
        """Take a decision from the page, which can be taken back for a while where that is so."""
        held = self._place.holding() if self._place else nullcontext()
        with held:
            self._try(made, at_once=False)

    def _try(self, made: Callable[[], dict[str, Json] | None], *, at_once: bool) -> bool:
        """Take a decision, and send it unless it waits for others."""
        with self._lock:
            if self._busy or self._sent or self.is_over:
                return False
            self._busy = True
            try:
                decided = made()
                return decided is not None and self._decide(decided, at_once=at_once)
            finally:
                self._busy = False

    def _decide(self, decided: dict[str, Json], *, at_once: bool) -> bool:
        answer = bound_to(self.call, decided)
        try:
            judge(self.interrupt, answer, thread_id=self._place.thread_id if self._place else None)
        except AnswerError as error:
            self._tell(error.problems)
            return False
        self._decision = answer
        self._face.bar.complain("")
        self._show()
        return self._deck.decided(at_once=at_once) if self._deck else self.submit()

    def submit(self) -> bool:
        """Send what is decided; return whether it was sent."""
        if self._decision is UNSET or self._sent or self.is_over:
            return False
        try:
            for callback in tuple(self._callbacks):
                callback(self._decision)
        except AnswerError as error:
            self._tell(error.problems)
            return False
        except ResumeError as error:
            self.enable()
            self._face.bar.complain(str(error))
            return False
        self.sent()
        return True

    @property
    def is_sent(self) -> bool:
        """Whether the decision is on its way."""
        return self._sent

    def choose_approve(self, note: str = "") -> None:
        """Decide to approve; among several calls, they are not sent yet.

        `note` is recorded with it.
        """
        extra = {"message": note} if note else {}
        self._try(
            lambda: None if (made := self._face.approval()) is None else {**made, **extra},
            at_once=False,
        )

    def sent(self) -> None:
        """Take note that the decision is on its way."""
        self._sent = True
        self._face.arguments.forget_secrets()
        self._show()

    def enable(self) -> None:
        """Let it be decided again."""
        self._sent = False
        self._show()

    def take_back(self) -> None:
        """Undo what was decided; nothing was sent yet."""
        self._decision = UNSET
        self.enable()

    def together(self, deck: Deck | None) -> None:
        """Have decisions wait for those about other calls in `deck`; None for no others."""
        self._deck = deck
        if self._made:
            if deck is not None:
                self.comment = None  # one is given for all
            self._show()

    def carry(self, call: ToolInterrupt, arguments: dict[str, Json]) -> None:
        """Take over the `arguments` of an older card of the same `call`, with what is wrong."""
        if call == self.call and arguments != call.arguments:
            self._face.arguments.fill(arguments)
            self._tell(self.interrupt.problems or {})

    def _changed(self) -> None:
        """Take note of a change: what was decided about other arguments is not."""
        with self._lock:
            if not self._sent and self._decision is not UNSET:
                was = outcome(self.call, self._decision).changed
                self._decision = self._decision if was == self._face.arguments.edits else UNSET
            self._show_change()

    def _show_change(self) -> None:
        self._show()
        if self._deck:
            self._deck.changed()

    def _typed(self) -> None:
        """Have a decision that waits for others say what is typed for it now."""
        with self._lock:
            action = self._decision.get("action") if is_object(self._decision) else None
            says = {"deny": self._face.denial, "respond": self._face.response}.get(str(action))
            if says is None or self._sent or self._busy:
                return
            said = says()
            self._decision = UNSET if said is None else bound_to(self.call, said)
            self._show_change()

    def _tell(self, problems: Mapping[str, str]) -> None:
        """Show what somebody else found wrong with the decision."""
        self._sent, self._decision = False, UNSET
        in_arguments, others = problems_by_place(problems)
        self._face.arguments.tell(in_arguments)
        self._face.bar.complain(" ".join(others))
        self._show()

    def _show(self) -> None:
        action = self._decision.get("action", "") if is_object(self._decision) else ""
        chosen = "approve" if action == "edit" else action
        has_primary = self._deck is None or not action
        self._face.head.layout.display = None if self._deck is None else "none"
        alone, done = self._deck is None, self._sent or self.is_over
        self._face.show(Ready(chosen, is_sent=done, has_primary=has_primary, has_comment=alone))

    def tick(self, now: float | None = None) -> bool:
        """Say how long it waits at `now`, in seconds since the epoch; return if it just ended."""
        at = time.time() if now is None else now
        if self._made:
            self._made.tick(at)
        is_ended = not self.is_over and is_expired(self.interrupt, at)
        if is_ended:
            self.is_over = True
            self._changed()
        return is_ended

    def close(self) -> None:
        """Close the card with all its parts, which the kernel would keep otherwise."""
        super().close()
        if self._made:
            self._made.arguments.close()
