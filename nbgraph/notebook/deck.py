"""Several tool calls that wait together: a bar with a segment for each, sent all at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import ipywidgets

from nbgraph.core.hidden import reveal
from nbgraph.drawing import cut
from nbgraph.errors import ResumeError
from nbgraph.notebook.comment import Comment
from nbgraph.notebook.lean import Column, Row, button, column, row, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.parts import key_class, mark, set_class, set_classes, spacer, take_away
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.tool_card import ToolCard
from nbgraph.snapshot import Mark
from nbgraph.tool_calls import many

__all__ = ["Calls"]

Send = Callable[[Mapping[ToolCard, Any]], object]
_SIGNS: Mapping[Mark, str] = {"waiting": "◆", "done": "✓", "failed": "✕"}
_NAME_LIMIT, _WORDS_LIMIT = 24, 40


class Calls(Column):
    """The tool cards of a panel: one after the other, and one decision for each.

    A single card stands for itself and sends its decision at once.

    Parameters
    ----------
    send : callable
        Is given all decisions by card, and may raise a `ResumeError`, which is shown.
    lock : RLock
        Is held while something is drawn or decided.
    holding : callable
        Returns a context in which what is sent was pressed on the page.
    focus_on : callable
        Moves the focus into the first element of a CSS class.
    """

    def __init__(
        self,
        send: Send,
        lock: threading.RLock,
        holding: Callable[[], AbstractContextManager[object]],
        focus_on: Callable[[str], object],
    ) -> None:
        super().__init__((), "nbgraph-calls")
        self._focus_on = focus_on
        self._comment: Comment | None = None
        self._lock, self._holding = lock, holding
        self._give = send
        self._cards: tuple[ToolCard, ...] = ()
        self._at = 0
        self._segments = Row((), "nbgraph-segments")
        self._bar: tuple[ipywidgets.Widget, ...] = ()

    def close(self) -> None:
        """Close it with its parts, also while they are not seen; the cards stay."""
        take_away(*self._bar, self._segments)
        super().close()

    def _around(self, card: ToolCard) -> tuple[ipywidgets.Widget, ...]:
        """Return a card within what several have in common, which is made for the first of them."""
        if not self._bar:
            self._bar = self._made()
        head, foot = self._bar
        return head, self._segments, card, foot

    def _made(self) -> tuple[ipywidgets.Widget, ...]:
        self._title = text("", "nbgraph-title")
        self._count = text("", "nbgraph-2nd")
        note = text("Nothing runs before you send", "nbgraph-2nd", "nbgraph-hide-s")
        head = row([mark("waiting"), self._title, self._count, spacer(), note], "nbgraph-head")
        self._all = button("", self.approve_all, "nbgraph-approve-all")
        self._submit = button("", self._press, "nbgraph-submit")
        self._why = text("", "nbgraph-note", "nbgraph-text")
        comment = self._shared
        acts = row([self._all, spacer(), comment.switch, self._submit], "nbgraph-actions")
        return head, column([comment.box, acts, self._why], "nbgraph-foot")

    @property
    def cards(self) -> tuple[ToolCard, ...]:
        """The cards, in the order in which the calls were made."""
        return self._cards

    @property
    def card(self) -> ToolCard | None:
        """The card that is shown."""
        return self._cards[self._at] if self._cards else None

    @property
    def comment(self) -> str | None:
        """What is said beside the decisions: of a single card its own, of several one for all."""
        if len(self._cards) == 1:
            return self._cards[0].comment
        return None if self._comment is None else self._comment.text

    @comment.setter
    def comment(self, text: str | None) -> None:
        if len(self._cards) == 1:
            self._cards[0].comment = text
        else:
            self._shared.text = text

    @property
    def _shared(self) -> Comment:
        """What is said beside the decisions of several cards; made with what stands around them."""
        if self._comment is None:
            self._comment = Comment(self._focus_on)
        return self._comment

    def put(self, cards: Sequence[ToolCard]) -> None:
        """Show other cards; the one that was shown stays if it is among them."""
        if tuple(cards) == self._cards:
            return
        shown, said = self.card, self.comment if {*cards} & {*self._cards} else None
        self._cards = tuple(cards)
        deck = self if len(cards) > 1 else None
        for card in cards:
            card.together(deck)
        if self._comment is not None:
            self._comment.text = None
        if said is not None:
            self.comment = said
        if shown in self._cards:
            self._at = self._cards.index(shown)
        else:
            waiting = (at for at, card in enumerate(cards) if card.mark == "waiting")
            self._at = next(waiting, 0)
        several = cards if len(cards) > 1 else ()
        buttons = [self._segment(at, card) for at, card in enumerate(several)]
        gone, self._segments.children = self._segments.children, tuple(buttons)
        for each in gone:
            each.close()
        self._show()

    def _segment(self, at: int, card: ToolCard) -> ipywidgets.Button:
        of = f"of-{key_class(card.interrupt.key)}"  # keys on it are for this card, once it is shown
        return button("", lambda: self.select(at), "nbgraph-segment", of)

    # --- what a person does -------------------------------------------------------------------

    def select(self, at: int) -> None:
        """Show another card."""
        with self._lock:
            self._at = min(at, len(self._cards) - 1)
            self._show()

    def decided(self, *, at_once: bool) -> bool:
        """Take note of a decision; with `at_once`, send all when none is missing."""
        self._show()
        return self.submit() if at_once and not self._undecided() else True

    def changed(self) -> None:
        """Take note that a card shows something else."""
        self._show()

    def submit(self) -> bool:
        """Send all decisions, if none is missing; return whether they were sent."""
        with self._lock:
            if self._undecided() or any(card.is_sent for card in self._cards):
                return False
            decided = {card: card.decision for card in self._cards if not card.is_over}
            if not decided:
                return False
            try:
                self._give(decided)
            except ResumeError as error:
                self._why.value = reveal(str(error))
                return False
            for card in decided:
                card.sent()
            self._show()
            return True

    def _press(self) -> None:
        with self._holding():
            self.submit()

    def approve_all(self) -> bool:
        """Approve all calls of the shown one's tool that are not decided, once each was seen."""
        with self._lock:
            if self._held_all():
                return False
            for card in self._alike():
                card.choose_approve()
            self._show()
            return True

    def _undecided(self) -> list[ToolCard]:
        waiting = (card for card in self._cards if card.mark == "waiting")
        return [card for card in waiting if not card.is_over]

    def _alike(self) -> list[ToolCard]:
        """Return the cards of the same tool that wait for a decision."""
        if self.card is None or self.card.call.destructive:
            return []
        tool = self.card.call.tool_name
        return [card for card in self._undecided() if card.call.tool_name == tool]

    def _held_all(self) -> str:
        """Return why they cannot be approved all together; empty if they can."""
        alike = self._alike()
        unseen = [card for card in alike if not card.seen]
        if unseen:
            return f"To approve all, first look at {many(len(unseen), 'more call')}."
        held = [card for card in alike if card.held]
        if held:
            return f"{many(len(held), 'call')} cannot be approved as it stands."
        return ""

    # --- what it shows ------------------------------------------------------------------------

    def _show(self) -> None:
        card = self.card
        if card is None:
            self.children = ()
            return
        card.show_face()
        is_one = len(self._cards) == 1
        shown = (card,) if is_one else self._around(card)
        if shown != self.children:
            self.children = shown
        if not is_one:
            self._show_segments()
            self._show_foot()
        serve_while_busy(self)

    def _show_segments(self) -> None:
        total, waiting = len(self._cards), len(self._undecided())
        self._title.value = f"The model wants to run {total} tools"
        self._count.value = f"{total - waiting} of {total} decided"
        for at, (card, segment) in enumerate(
            zip(self._cards, self._segments.children, strict=True)
        ):
            name = cut(reveal(card.call.tool_name), _NAME_LIMIT)
            said = cut(reveal(card.said), _WORDS_LIMIT)
            segment.description = f"{_SIGNS[card.mark]} {at + 1} {name}\n{said}"
            marks = {mark_name: mark_name == card.mark for mark_name in _SIGNS}
            set_classes(segment, {**marks, "here": at == self._at})

    def _show_foot(self) -> None:
        waiting, alike = len(self._undecided()), self._alike()
        is_sent = any(card.is_sent for card in self._cards)
        tool = cut(reveal(alike[0].call.tool_name), _NAME_LIMIT) if alike else ""
        held = self._held_all()
        self._all.description = f"Approve all {len(alike)} {tool}"
        set_hidden(self._all, hidden=len(alike) < 2)
        set_class(self._all, "nbgraph-held", on=bool(held))
        self._shared.lock(locked=is_sent)
        self._submit.description = f"Send {many(len(self._cards), 'decision')}"
        set_class(self._submit, "primary", on=not (waiting or is_sent))
        set_class(self._submit, "nbgraph-held", on=bool(waiting) or is_sent)
        said = [f"To send, first decide {many(waiting, 'more call')}."] if waiting else []
        said += [held] if held and len(alike) > 1 else []
        self._why.value = "Sent." if is_sent else " ".join(said) or self._summary()

    def _summary(self) -> str:
        found = [card.said for card in self._cards]
        running = [each for each in found if each.startswith("approved")]
        edited = sum(each != "approved" for each in running)
        others = len(found) - len(running)
        run = f"{many(len(running), 'call')} will run" + (f" ({edited} edited)" if edited else "")
        return f"{run}, {others} will not." if others else f"{run}."
