"""The questions of a thread on the page: a form for each, and a card for each tool call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import ipywidgets

from nbgraph import words
from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.events import Interrupt
from nbgraph.core.json_values import Json
from nbgraph.core.loop import on_loop_thread
from nbgraph.core.questions import Answered
from nbgraph.errors import NbgraphError, ResumeError, StateStoreError
from nbgraph.log_words import ended_by
from nbgraph.notebook.allowed import Allowed
from nbgraph.notebook.card_place import Place
from nbgraph.notebook.deck import Calls
from nbgraph.notebook.drafts import Addressed, Drafts
from nbgraph.notebook.form import Form
from nbgraph.notebook.keys import Keys
from nbgraph.notebook.parts import key_class, take_away
from nbgraph.notebook.take_back import TakeBack
from nbgraph.notebook.tool_card import ToolCard
from nbgraph.snapshot import Snapshot
from nbgraph.tool_calls import asked_call

__all__ = ["TAKE_BACK_FOR", "Answering", "Asking", "Questions"]

ALLOWED = "Allowed in this panel until the kernel stops"
"""What is recorded with an approval that nobody was asked for."""

TAKE_BACK_FOR = 5.0
"""Seconds for which a decision that was pressed on a page can be taken back."""

Asking = tuple[str, int]
"""A question's key, and the event that asked it."""


class Ending(Protocol):
    """What carries answers out."""

    def on_end(self, callback: Callable[[BaseException | None], object]) -> None:
        """Call `callback` with what it raised, or None, when it has ended."""
        ...


class Answering(Protocol):
    """A thread's branch that is given answers: a session, or one of many in a store."""

    @property
    def thread_id(self) -> str:
        """The thread's id."""
        ...

    @property
    def driver(self) -> Addressed:
        """Where drafts are kept, if it has a store."""
        ...

    def resume(
        self, answers: Mapping[str, Any], *, asked: Mapping[str, int], comment: str | None
    ) -> Ending:
        """Answer questions by key; `asked` says which asking each is for."""
        ...

    def settle(self) -> object:
        """Wait for the end of the run that goes on, if one does."""
        ...


class Questions:
    """What waits for a person, and how an answer gets back.

    Parameters
    ----------
    session : Session or another Answering
        Is given the answers.
    keys : Keys
        Moves the focus.
    say : callable
        Shows a sentence: why an answer was not recorded.
    lock : RLock
        Is held by whoever draws.
    allowing : bool
        Whether a card can allow later calls of its tool.
    take_back_for : callable
        Returns for how many seconds a decision that was pressed on a page can be taken back.

    Attributes
    ----------
    allowed : Allowed
        The tools whose calls are approved without being asked about.
    """

    def __init__(
        self,
        session: Answering,
        keys: Keys,
        say: Callable[[str], object],
        lock: threading.RLock,
        *,
        allowing: bool = True,
        take_back_for: Callable[[], float] = lambda: TAKE_BACK_FOR,
    ) -> None:
        self._session, self._keys, self._say = session, keys, say
        allow = self._allow if allowing else None
        self._place = Place(keys, session.thread_id, allow, lock, self._pressing)
        self._is_pressed = False
        self._held = TakeBack()
        self._take_back_for = take_back_for
        self._drafts = Drafts(session.driver)
        self._shown: dict[Asking, Form | ToolCard] = {}
        self._decisions: dict[str, tuple[ToolInterrupt, dict[str, Json]]] = {}
        self._calls = Calls(self._decided, lock, self._pressing, keys.focus_on)
        self._begun: frozenset[Form] = frozenset()
        self._left: frozenset[ToolCard] = frozenset()
        self._sent: set[Asking] = set()
        self.allowed = Allowed()

    @property
    def forms(self) -> dict[str, Form | ToolCard]:
        """The forms and cards, by key."""
        return {key: form for (key, _), form in self._shown.items()}

    def show(self, snapshot: Snapshot) -> list[ipywidgets.Widget]:
        """Return what stands on the page for the questions that wait."""
        resting = not (snapshot.running or snapshot.error)
        return self.put(snapshot.pending.values(), snapshot.records, approving=resting)

    def put(
        self, pending: Iterable[Interrupt], records: Iterable[Answered] = (), *, approving: bool
    ) -> list[ipywidgets.Widget]:
        """Return what stands on the page for these questions.

        `records` tell who answered those that are gone. With `approving`, calls of tools that are
        allowed are decided at once.
        """
        wanted = {_asking(item): item for item in pending}
        gone = {place: self._shown.pop(place) for place in set(self._shown) - set(wanted)}
        for place, question in wanted.items():
            if place not in self._shown:
                self._shown[place] = self._made(place, question)
        ordered = [self._shown[place] for place in wanted]
        cards = [each for each in ordered if isinstance(each, ToolCard)]
        self._calls.put(cards)
        for place, old in gone.items():
            self._tell_who(place, records)
            old.close()
        if approving:
            self._approve_allowed(cards)
        forms: list[ipywidgets.Widget] = [each for each in ordered if isinstance(each, Form)]
        self._fold([each for each in ordered if isinstance(each, Form)])
        self._follow()
        more = [*([self._calls, self._held.box] if cards else [])]
        more += [self.allowed] if self.allowed.tools else []
        return [*forms, *more]

    def _fold(self, forms: list[Form]) -> None:
        """Close the forms that are new, but for the first, and what a person has begun with."""
        for form in forms[1:]:
            if form not in self._begun:
                form.fold.close()
        self._begun = frozenset(forms)
        if forms and all(form.fold.is_closed for form in forms):
            forms[0].fold.open()

    def turn_to(self, key: str) -> None:
        """Open the form of a question, and move the focus there."""
        shown = self.forms.get(key)
        if isinstance(shown, Form):
            shown.fold.open()
        self._keys.focus_on(key_class(key))

    def close(self) -> None:
        """Close what stands on the page; what waits to be sent is sent at its time."""
        take_away(*self._shown.values(), self._calls, self._held.box, self.allowed)

    def _tell_who(self, place: Asking, records: Iterable[Answered]) -> None:
        """Say who answered a question that stood here, if that was not done here.

        That its time ran out stood there.
        """
        given = next((each for each in records if _asking(each.interrupt) == place), None)
        if given is None or place in self._sent or given.lapsed == "expired":
            return
        who, at = ended_by(given.lapsed, given.by), words.clock(given.at)
        self._say(f"{who} {place[0]} at {at}. Yours was not sent.")

    def _follow(self) -> None:
        """Move the focus from the cards that were decided to the next one, when it is there."""
        card = self._calls.card
        if card is not None and self._left and card not in self._left:
            self._left = frozenset()
            self._keys.focus_on(key_class(card.interrupt.key))

    def tick(self) -> bool:
        """Say how long the questions wait; return whether the time of one has just run out."""
        ended = [form for form in self._shown.values() if form.tick()]
        return bool(ended)

    def _made(self, place: Asking, question: Interrupt) -> Form | ToolCard:
        if asked_call(question) is not None:
            return self._card(question)
        draft = self._drafts.place(question)
        form = Form.for_interrupt(
            question,
            lambda answer: self._answered({place: answer}, self._shown[place].comment),
            thread_id=self._session.thread_id,
            keys=self._keys,
            draft=draft,
        )
        if question.problems or (draft is not None and draft.found is not None):
            self._begun |= {form}
        return form

    def _card(self, question: Interrupt) -> ToolCard:
        card = ToolCard(question, _place=self._place)
        card.on_submit(lambda answer: self._decided({card: answer}))
        decided = self._decisions.get(question.key)
        if decided is not None and question.problems:
            card.carry(*decided)
        return card

    # --- answers ------------------------------------------------------------------------------

    @contextmanager
    def _pressing(self) -> Generator[None]:
        """Take what is decided meanwhile as pressed on the page."""
        self._is_pressed = True
        try:
            yield
        finally:
            self._is_pressed = False

    def _decided(self, decisions: Mapping[ToolCard, Any]) -> None:
        """Give decisions to the thread: those that were pressed on a page, after a while."""
        seconds, comment = self._take_back_for(), self._calls.comment
        if not (self._is_pressed and seconds > 0 and self._keys.greeted.is_set()):
            self._give(decisions, comment)
            return
        what = ", ".join(f"{card.call.tool_name}: {card.said}" for card in decisions)
        self._held.hold(
            what,
            seconds,
            send=lambda: self._give_later(decisions, comment),
            back=lambda: self._taken_back(decisions),
        )
        self._keys.focus_on("nbgraph-take-back")

    def send_now(self) -> None:
        """Give the thread what waits to be taken back."""
        self._held.now()

    def _give_later(self, decisions: Mapping[ToolCard, Any], comment: str | None) -> None:
        """Give decisions when what was begun meanwhile has come to its end."""
        try:
            if not on_loop_thread():
                with suppress(NbgraphError):
                    self._session.settle()
            self._give(decisions, comment)
        except (ResumeError, StateStoreError) as error:
            self._refused({_asking(card.interrupt): None for card in decisions}, error)

    def _taken_back(self, decisions: Mapping[ToolCard, Any]) -> None:
        for card in decisions:
            card.take_back()
        self._calls.changed()
        first = next(iter(decisions))
        self._keys.focus_on(key_class(first.interrupt.key))

    def _give(self, decisions: Mapping[ToolCard, Any], comment: str | None) -> None:
        self._left = frozenset(decisions)
        self._decisions |= {card.interrupt.key: (card.call, card.arguments) for card in decisions}
        answers = {_asking(card.interrupt): answer for card, answer in decisions.items()}
        self._answered(answers, comment)

    def _answered(self, answers: Mapping[Asking, Any], comment: str | None) -> None:
        self._sent.update(answers)
        given = {key: answer for (key, _), answer in answers.items()}
        run = self._session.resume(given, asked=dict(answers.keys()), comment=comment)
        run.on_end(lambda error: self._refused(answers, error))

    def _refused(self, answers: Mapping[Asking, Any], error: BaseException | None) -> None:
        """Say why answers were not recorded, and let them be submitted again if they still can."""
        if not isinstance(error, ResumeError | StateStoreError):
            return
        for place in answers:
            self._sent.discard(place)
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
        """Decide the calls that are allowed already; they are sent where no other waits."""
        covered = [card for card in cards if card.mark == "waiting" and self.allowed.covers(card)]
        if not covered or not self._has_settled():
            return
        for card in covered:
            card.choose_approve(ALLOWED)
        if len(covered) == len(cards) > 1:
            self._calls.submit()

    def _has_settled(self) -> bool:
        """Wait for the end of the run that asked, which is near; return whether it went well."""
        if on_loop_thread():
            return False
        try:
            self._session.settle()
        except NbgraphError:
            return False
        return True


def _asking(question: Interrupt) -> Asking:
    return question.key, question.asked
