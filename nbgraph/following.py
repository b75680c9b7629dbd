"""What an inbox has read of a store: a window of what waits, and what became of the rest of it."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from nbgraph.core.questions import Answered
from nbgraph.core.store import PendingRecord, StateStore
from nbgraph.errors import UnknownThreadError
from nbgraph.waiting import Address, Page, Question, Survey, Wanted, answer_to, look, survey

__all__ = ["STEP", "Following", "Gone", "Seen"]

STEP = 25
"""How many questions a window grows by."""
_MOST = 200
"""How many questions a window has at most."""
_KEPT = 200
"""How many answers are kept for reading."""
_COUNT_EVERY = 5.0
"""Seconds between two counts of what waits."""

Gone = tuple[Question, Answered | None]
"""A question that waits no more, and its answer; None where its thread is gone."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a list shows: it rests, and never ends by itself."""

    page: Page
    survey: Survey
    running: bool = False
    status: Literal["waiting"] = "waiting"

    @property
    def pending(self) -> tuple[Question, ...]:
        """What waits for a person."""
        return self.page.questions


class Following:
    """A window on the questions of a store, read again and again.

    Attributes
    ----------
    seen : Seen
        What was read last; another object once that is not the same.
    answered : dict of Address to Answered
        What was answered of that which was seen here, the oldest first.
    """

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self.seen = Seen(Page(), Survey())
        self.answered: dict[Address, Answered] = {}
        self._counted = 0.0
        self._first: PendingRecord | None = None
        self._size = STEP
        self._read_as: tuple[Wanted, PendingRecord | None] = (Wanted(), None)

    @property
    def page(self) -> Page:
        """What was read last."""
        return self.seen.page

    @property
    def survey(self) -> Survey:
        """What waited when it was last counted."""
        return self.seen.survey

    @property
    def is_first(self) -> bool:
        """Whether the window begins with the oldest question."""
        return self._first is None

    @property
    def has_more(self) -> bool:
        """Whether there is more, and it can be shown."""
        can_move = self.page.place is not None
        return self.page.has_more and (can_move or self._size < _MOST)

    @property
    def more_words(self) -> str:
        """What there is to do for more questions."""
        if len(self.page.questions) < self._size:
            return f"{self.page.looked:,} looked through: look on"
        return f"show {STEP} more" if self._size < _MOST else f"the next {STEP}"

    def more(self) -> None:
        """Let the window grow; at its largest it moves on."""
        if len(self.page.questions) == self._size < _MOST:
            self._size += STEP
        else:
            self._first, self._size = self.page.place, STEP

    def restart(self) -> None:
        """Let the window begin with the oldest question."""
        self._first, self._size = None, STEP

    def recount(self) -> None:
        """Have what waits counted at the next reading."""
        self._counted = 0.0

    async def read(self, wanted: Wanted, also: Collection[Question]) -> list[Gone]:
        """Read the window, and return what waits no more of it, and of other questions.

        Raises
        ------
        StateStoreError
            If the store cannot be read; what was read before stays.
        """
        now, counted = time.time(), self.survey
        if now - self._counted >= _COUNT_EVERY or counted.count <= len(self.page.questions):
            counted, self._counted = await survey(self._store), now
        page = await look(self._store, wanted, size=self._size, now=now, after=self._first)
        read_as = wanted, self._first
        before = self.page.questions if read_as == self._read_as else ()
        self._read_as, seen = read_as, Seen(page, counted)
        self.seen = self.seen if seen == self.seen else seen
        there = set(page.questions)
        missing = dict.fromkeys(each for each in (*before, *also) if each not in there)
        found = [await self._became(question) for question in missing]
        return [each for each in found if each is not None]

    async def _became(self, question: Question) -> Gone | None:
        """Return what became of a question; None if it waits elsewhere."""
        try:
            record = await answer_to(self._store, question)
        except UnknownThreadError:
            return question, None
        if record is None:
            return None
        self.answered.setdefault(question.address, record)
        while len(self.answered) > _KEPT:
            self.answered.pop(next(iter(self.answered)))
        return question, record
