"""The questions of a thread on the page: a form for each, and a card for each tool call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from nbgraph.core.events import Interrupt
from nbgraph.errors import ResumeError, StateStoreError
from nbgraph.notebook.allowed import Allowed
from nbgraph.notebook.card_place import Place
from nbgraph.notebook.deck import Calls
from nbgraph.notebook.drafts import Drafts
from nbgraph.notebook.form import Form
from nbgraph.notebook.graph_view import Keys
from nbgraph.notebook.tool_card import ToolCard
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot
from nbgraph.tool_calls import asked_call

__all__ = ["Asking", "Questions"]

Asking = tuple[str, int]
"""A question's key, and the event that asked it."""


class Questions:
    """What waits for a person, and how an answer gets back.

    Parameters
    ----------
    session : Session
        Is given the answers.
    keys : Keys
        Moves the focus.
    say : callable
        Shows a sentence: why an answer was not recorded.

    Attributes
    ----------
    allowed : Allowed
        The tools whose calls are approved without being asked about.
    """

    def __init__(self, session: Session, keys: Keys, say: Callable[[str], object]) -> None:
        self._session, self._keys, self._say = session, keys, say
        self._drafts = Drafts(session.driver)
        self._shown: dict[Asking, Form | ToolCard] = {}
        self._places: dict[ToolCard, Asking] = {}
        self._calls = Calls(self._decided)
        self._follow = False
        self.allowed = Allowed()

    @property
    def forms(self) -> dict[str, Form | ToolCard]:
        """The forms and cards, by key."""
        return {key: form for (key, _), form in self._shown.items()}

    def show(self, snapshot: Snapshot) -> list[ipywidgets.Widget]:
        """Return what stands on the page for the questions that wait."""
        wanted = {(key, item.asked): item for key, item in snapshot.pending.items()}
        gone = {place: self._shown.pop(place) for place in set(self._shown) - set(wanted)}
        for place, question in wanted.items():
            if place not in self._shown:
                self._shown[place] = self._made(place, question, gone)
        ordered = [self._shown[place] for place in wanted]
        cards = [each for each in ordered if isinstance(each, ToolCard)]
        self._calls.put(cards)
        for old in gone.values():
            old.close()
        if not snapshot.running:
            self._approve_allowed(cards)
        forms: list[ipywidgets.Widget] = [each for each in ordered if isinstance(each, Form)]
        if cards and self._follow:
            self._follow = False
            self._calls.focus_card(self._keys)
        return [*forms, *([self._calls] if cards else []), self.allowed]

    def tick(self) -> None:
        """Say how long the questions wait."""
        for form in self._shown.values():
            form.tick()

    def _made(
        self, place: Asking, question: Interrupt, gone: Mapping[Asking, Form | ToolCard]
    ) -> Form | ToolCard:
        if asked_call(question) is not None:
            card = ToolCard(
                question, _place=Place(self._keys, self._session.thread_id, self._allow)
            )
            card.on_submit(lambda answer: self._decided({card: answer}))
            self._places[card] = place
            before = (old for (key, _), old in gone.items() if key == question.key)
            for old in before:
                if isinstance(old, ToolCard):
                    card.carry(old)
            return card
        return Form.for_interrupt(
            question,
            lambda answer: self._answered({place: answer}),
            thread_id=self._session.thread_id,
            keys=self._keys,
            draft=self._drafts.place(question),
        )

    # --- answers ------------------------------------------------------------------------------

    def _decided(self, decisions: Mapping[ToolCard, Any]) -> None:
        self._follow = True
        self._answered({self._places[card]: answer for card, answer in decisions.items()})

    def _answered(self, answers: Mapping[Asking, Any]) -> None:
        run = self._session.resume(
            {key: answer for (key, _), answer in answers.items()}, asked=dict(answers.keys())
        )
        run.on_end(lambda error: self._refused(answers, error))

    def _refused(self, answers: Mapping[Asking, Any], error: BaseException | None) -> None:
        """Say why answers were not recorded, and let them be submitted again if they still can."""
        if not isinstance(error, ResumeError | StateStoreError):
            return
        for place in answers:
            form = self._shown.get(place)
            if form is not None:
                form.enable()
        self._say(str(error))

    # --- what is allowed ----------------------------------------------------------------------

    def _allow(self, card: ToolCard) -> None:
        """Approve a call, and the later ones of its tool."""
        self.allowed.add(card.call.tool_name)
        card.choose_approve()

    def _approve_allowed(self, cards: list[ToolCard]) -> None:
        """Decide the calls that are allowed already; they are sent when no other waits."""
        for card in cards:
            if not card.is_sent and card.mark == "waiting" and self.allowed.covers(card):
                card.choose_approve()
        if cards and all(self.allowed.covers(card) and not card.is_sent for card in cards):
            self._calls.submit()
