"""One question of an inbox, opened below its row: its form or card, and then its record."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ipywidgets

from nbgraph.core.lapses import Lapse
from nbgraph.core.questions import Answered
from nbgraph.core.store import StateStore
from nbgraph.errors import NbgraphError, ResumeError
from nbgraph.notebook.form import Form
from nbgraph.notebook.keys import Keys
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.parts import button, column, key_class, row, spacer, text, within
from nbgraph.notebook.questions import Questions
from nbgraph.notebook.records import record_card
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.tool_card import ToolCard
from nbgraph.waiting import Question

__all__ = ["Opened"]

_LATE = "Its time is over: an answer comes too late. Go on without one, if you like. "

Send = Callable[[Mapping[Question, Any], str | None], Mapping[Any, NbgraphError]]


@dataclass(frozen=True, slots=True)
class _Branch:
    """Where drafts of the question are kept."""

    store: StateStore
    thread_id: str
    branch_id: str


class _Done:
    """Answers that are recorded already."""

    def on_end(self, callback: Callable[[BaseException | None], object]) -> None:
        callback(None)


class _OneOfMany:
    """The branch of one question, as its form gives answers to it."""

    def __init__(self, question: Question, store: StateStore, send: Send) -> None:
        record = question.record
        self._question, self._send = question, send
        self.thread_id = record.thread_id
        self.driver = _Branch(store, record.thread_id, record.branch_id)

    def resume(
        self, answers: Mapping[str, Any], *, asked: Mapping[str, int], comment: str | None
    ) -> _Done:
        """Record the answer to the question that was shown.

        Raises
        ------
        ResumeError
            If it was not recorded.
        """
        del asked  # the question knows its own
        (answer,) = answers.values()
        for error in self._send({self._question: answer}, comment).values():
            if isinstance(error, ResumeError):
                raise error
            raise ResumeError(f"The answer was not recorded: {error}") from error
        return _Done()

    def settle(self) -> None:
        """Wait for nothing: no run of the thread is known here."""


class Opened:
    """A question that is looked at and answered, as a panel shows it.

    Parameters
    ----------
    question : Question
        What is asked.
    store : StateStore
        Where drafts are kept.
    send : callable
        Is given the answer and what is said beside it, and returns why it was not recorded, if so.
    keys : Keys
        Moves the focus.
    note : callable
        Takes whether its time is over, and returns what happens after an answer, or without one.
    close : callable
        Is called when a person is done with it.
    lock : RLock
        Is held by whoever draws.
    take_back_for : callable
        Returns for how many seconds a decision that was pressed can be taken back.

    Attributes
    ----------
    question : Question
        What is asked.
    box : widget
        What stands below the row.
    """

    def __init__(
        self,
        question: Question,
        store: StateStore,
        send: Send,
        keys: Keys,
        *,
        note: Callable[[bool], str],
        close: Callable[[], object],
        lock: threading.RLock,
        take_back_for: Callable[[], float],
    ) -> None:
        self.question = question
        self.is_over = False
        self._send, self._note_words = send, note
        self._keys = keys
        thread = _OneOfMany(question, store, send)
        self._said = text("", "nbgraph-why")
        self._questions = Questions(
            thread, keys, self._say, lock, allowing=False, take_back_for=take_back_for
        )
        shown = self._questions.put([question.record.interrupt], approving=False)
        self._note = text("", "nbgraph-note")
        self._go_on = button("Go on without an answer", self.go_on, "nbgraph-go-on")
        closing = button("Close", close, "nbgraph-close", "quiet")
        last = row([self._note, spacer(), self._go_on, closing])
        self._last = last
        self._said.layout.display = "none"
        self.box: Any = column([*shown, self._said, last], "nbgraph-opened")
        self.tick(time.time())
        serve_while_busy(self.box)

    @property
    def form(self) -> Form | ToolCard:
        """Its form or card."""
        (form,) = self._questions.forms.values()
        return form

    def focus(self) -> None:
        """Move the focus into it."""
        self._keys.focus_on(key_class(self.question.record.interrupt.key))

    def tick(self, now: float) -> None:
        """Say how long it waits, and when its time is over."""
        if self.is_over:
            return
        self._questions.tick()
        is_late = self.question.is_overdue(now)
        set_text(self._note, f"{_LATE if is_late else ''}{self._note_words(is_late)}")
        self._go_on.layout.display = None if is_late else "none"

    def go_on(self) -> bool:
        """Have the thread go on without an answer, if its time is over; return whether it does."""
        if self.is_over or not self.question.is_overdue(time.time()):
            return False
        problems = self._send({self.question: Lapse.EXPIRED}, None)
        self._say(" ".join(map(str, problems.values())))
        return not problems

    def show_answered(self, record: Answered | None) -> None:
        """Show the record in place of the form; None says that the question is gone."""
        if self.is_over:
            return
        self.is_over = True
        said = "Its thread is gone from the store." if record is None else ""
        shown: list[ipywidgets.Widget] = [text(said, "nbgraph-2nd")] if record is None else []
        if record is not None:
            shown.append(record_card(record, None))
        gone = self.box.children[:-1]
        for part in (self._note, self._go_on):
            part.layout.display = "none"
        self.box.children = (*shown, self._last)
        self.box.add_class("nbgraph-over")
        serve_while_busy(self.box)
        for each in gone:
            each.close()

    def _say(self, sentence: str) -> None:
        set_text(self._said, sentence)
        self._said.layout.display = None if sentence else "none"

    def close(self) -> None:
        """Close all of it, which the kernel would keep otherwise."""
        self._questions.send_now()
        inner = list(within(self.box))
        self.box.close()
        for part in inner:
            part.close()
