"""`Inbox`: the questions of all threads in a store, answered in one place."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import ipywidgets

from nbgraph import words
from nbgraph.core.loop import run_sync
from nbgraph.core.questions import Answered
from nbgraph.core.store import StateStore
from nbgraph.errors import GraphConfigError, NbgraphError
from nbgraph.following import Following
from nbgraph.notebook.display import unattended
from nbgraph.notebook.form import Form
from nbgraph.notebook.inbox_face import Face
from nbgraph.notebook.inbox_opened import Opened
from nbgraph.notebook.inbox_table import Told, answered_rows, static_table, waiting_rows
from nbgraph.notebook.inbox_together import Together
from nbgraph.notebook.left import Stay
from nbgraph.notebook.painter import Painter, every
from nbgraph.notebook.parts import classed
from nbgraph.notebook.questions import TAKE_BACK_FOR
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.tool_card import ToolCard
from nbgraph.replies import Apps, Replies, graphs_by_name
from nbgraph.waiting import Address, Page, Question, Survey, Wanted

__all__ = ["Inbox"]

_TICK = 20.0
"""Seconds between two looks at how long questions wait."""
_REST, _LONG_REST = 0.5, 3.0
"""Seconds between two readings of the store: of a page, and where a filter looks through it."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """What is shown, as `Stay` sees it: it rests, and never ends by itself."""

    page: Page
    survey: Survey
    running: bool = False
    status: Literal["waiting"] = "waiting"

    @property
    def pending(self) -> tuple[Question, ...]:
        """What waits for a person."""
        return self.page.questions


class Inbox(ipywidgets.VBox):
    """Shows what waits in a store, over all threads and branches, and takes the answers.

    It reads a page at a time, keeps up with what is answered elsewhere, and holds no truth: what
    waits is what the store says. An answer is recorded whether or not the thread's graph is known
    here. Threads of a graph in `apps` then go on in the background; another one goes on when
    somebody runs it.

    Parameters
    ----------
    store : StateStore
        Whose questions.
    apps : Graph, or several, or dict of str to Graph, optional
        Graphs whose threads go on after an answer; a dict names them as the store does.
    context : object, optional
        What their nodes find as `ctx.context`.

    Attributes
    ----------
    questions : tuple of Question
        The rows: those that wait, the oldest first.
    picked : tuple of Question
        Those that one answer is given to.
    records : tuple of Answered
        What was answered since the inbox is there, here and elsewhere, the newest first.
    take_back_for : float
        For how many seconds a decision pressed on a tool card can be taken back; 0 for none.
    problems : dict
        Why an answer was not recorded, by thread, branch, key and asking.

    Raises
    ------
    GraphConfigError
        If `store` is none, or one of the apps is no `Graph`.

    Examples
    --------
    >>> inbox = Inbox(store, apps=[graph])
    >>> form = inbox.look_at(inbox.questions[0])
    >>> form.value = True
    >>> form.submit()
    True
    """

    take_back_for = TAKE_BACK_FOR
    _closed = True  # until it is made

    def __init__(self, store: StateStore, apps: Apps | None = None, *, context: Any = None) -> None:
        if not (hasattr(store, "pending") and hasattr(store, "append")):
            raise GraphConfigError(
                f"Inbox takes a state store, got {type(store).__qualname__}; of a graph pass "
                "graph.state_store, and the graph itself as apps="
            )
        super().__init__()
        classed(self, "nbgraph")
        self._store = store
        self._replies = Replies(store, graphs_by_name(apps), context, self._failed)
        self._following = Following(store)
        self._picked: dict[Address, Question] = {}
        self._opened: Opened | None = None
        self._ids: dict[Address, str] = {}
        self._mine: set[Address] = set()
        self._failures: deque[str] = deque()
        self.problems: dict[Address, str] = {}
        lock = threading.RLock()
        self._painter = Painter(self._draw, self._rest, lock=lock)
        self._standing = _Standing(self._following.page, self._following.survey)
        live = super()._repr_mimebundle_
        self._stay = Stay(live, self._still, lambda: (self,), lambda: self._opened is not None)
        presses = {
            "refresh": self.refresh,
            "more": self.more,
            "first": self._chosen,
            "chosen": self._chosen,
        }
        self._together = Together(self._give, self.clear)
        self._face = Face(presses, self._heard, self._together)
        self.children = (self._face.box,)
        self._closed = False
        self._painter.now()
        self._stay.begin()
        self._unwatch: Callable[[], object] = store.watch(self._painter.want, every=_REST)
        every(_TICK, self._tick)

    # --- what it reads ------------------------------------------------------------------------

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions that are shown."""
        return self._following.page.questions

    @property
    def picked(self) -> tuple[Question, ...]:
        """The questions that one answer is given to."""
        return tuple(self._picked.values())

    @property
    def opened(self) -> Form | ToolCard | None:
        """The form or card that is open; None while there is none, or it is answered."""
        return None if self._opened is None or self._opened.is_over else self._opened.form

    @property
    def records(self) -> tuple[Answered, ...]:
        """What was answered while the inbox was there, the newest first."""
        return tuple(reversed(self._following.answered.values()))

    @property
    def waiting(self) -> str:
        """How many questions wait in the store: `23 waiting`, `1,000+ waiting`."""
        return self._following.survey.waiting

    @property
    def snapshot(self) -> _Standing:
        """What is shown; another object once that changes."""
        return self._standing

    def _rest(self) -> float:
        return _LONG_REST if self._face.filters.wanted else _REST

    def _draw(self) -> None:
        """Read the store and show what is there; what cannot be read is said, and stays shown."""
        if self._closed:
            return
        opened = [self._opened.question] if self._opened and not self._opened.is_over else []
        also = [*self._picked.values(), *opened]
        try:
            gone = run_sync(self._following.read(self._face.filters.wanted, also))
        except (NbgraphError, OSError) as error:
            self._face.say(f"The store could not be read: {error}")
            gone = []
        for question, record in gone:
            self._gone(question, record)
        while self._failures:
            self._face.say(self._failures.popleft())
        self._show()
        standing = _Standing(self._following.page, self._following.survey)
        if standing != self._standing:
            self._standing = standing
        self._stay.drawn()

    def _gone(self, question: Question, record: Answered | None) -> None:
        """Take note of what became of a question that waits no more."""
        address = question.address
        self._picked.pop(address, None)
        self.problems.pop(address, None)
        if record is not None and address not in self._mine:
            self._face.say(_elsewhere(question, record))
        if self._opened is not None and self._opened.question == question:
            self._opened.show_answered(record)

    def _tick(self) -> bool:
        """Say how long questions wait; return whether that goes on."""
        if not self._closed:
            with self._painter.lock:
                self._show()
        return not self._closed

    # --- what it shows ------------------------------------------------------------------------

    def _show(self) -> None:
        shown = {each.address for each in self.questions}
        self._picked = {at: each for at, each in self._picked.items() if at in shown}
        told = Told(
            self._id,
            self._picked,
            self.problems,
            self._opened and self._opened.question,
            time.time(),
        )
        is_over = self._face.filters.shows_answered
        if is_over:
            rows = answered_rows(self._following.answered, told)
        else:
            rows = waiting_rows(self.questions, told, grouped=self._face.filters.is_grouped)
        count = len(self._picked)
        picks = "none" if not count else "all" if count == len(self.questions) else "some"
        self._face.place(rows, self._opened and self._opened.box, picks)
        self._face.show(self._following)
        self._together.put(() if is_over else self.picked)
        if self._opened is not None:
            self._opened.tick()
        serve_while_busy(self)

    def _id(self, address: Address) -> str:
        return self._ids.setdefault(address, f"r{len(self._ids)}")

    # --- what a person does -------------------------------------------------------------------

    @property
    def wanted(self) -> Wanted:
        """Which questions are shown; set it to search and filter."""
        return self._face.filters.wanted

    @wanted.setter
    def wanted(self, wanted: Wanted) -> None:
        self._face.filters.wanted = wanted

    def _chosen(self) -> None:
        self._following.restart()
        self._painter.now()

    def refresh(self) -> None:
        """Read the store again."""
        self._following.recount()
        self._painter.now()

    def more(self) -> None:
        """Show more questions; from 200 on, the next ones in their place."""
        self._following.more()
        self._painter.now()

    def group(self, *, grouped: bool = True) -> None:
        """Have questions that are alike stand together, under a heading that picks them all."""
        self._face.filters.is_grouped = grouped

    def look_at(self, question: Question) -> Form | ToolCard:
        """Open a question below its row, and return its form or card."""
        with self._painter.lock:
            self._close_opened()
            opened = self._opened = Opened(
                question,
                self._store,
                self._give,
                self._face.keys,
                note=self._what_follows(question),
                close=self.shut,
                lock=self._painter.lock,
                take_back_for=lambda: self.take_back_for,
            )
            self._show()
            opened.focus()
            return opened.form

    def settle(self) -> None:
        """Wait until the threads that go on in the background pause or end, and show that."""
        self._replies.settle()
        self.refresh()

    def shut(self) -> None:
        """Close the question that is open; it waits on."""
        with self._painter.lock:
            opened = self._opened
            self._close_opened()
            self._show()
            if opened is not None:
                self._face.rows.focus_row(self._id(opened.question.address))

    def _close_opened(self) -> None:
        if self._opened is not None:
            self._face.without_opened()
            self._opened.close()
            self._opened = None

    def _what_follows(self, question: Question) -> str:
        graph = question.record.graph
        if self._replies.knows(graph):
            return f"After your answer, {graph} goes on in the background."
        return (
            f"Your answer is recorded. {graph} is not known here: the thread goes on when somebody "
            "runs it, as a panel's Continue does."
        )

    def pick(self, *questions: Question) -> None:
        """Pick questions for one answer to all, or leave out those that are picked.

        One of another kind than those that are picked is not added.
        """
        with self._painter.lock:
            for question in questions:
                if self._picked.pop(question.address, None) is None:
                    self._add(question)
            self._show()

    def _add(self, question: Question) -> None:
        kinds = {each.kind for each in self._picked.values()}
        if kinds <= {question.kind}:
            self._picked[question.address] = question

    def clear(self) -> None:
        """Pick none."""
        with self._painter.lock:
            self._picked.clear()
            self._show()

    def approve(self, count: int | None = None) -> bool:
        """Approve the calls that are picked; return whether that was allowed.

        Parameters
        ----------
        count : int, optional
            How many there are; more than 10 are approved only with it.
        """
        if count is not None:
            self._together.confirm(str(count))
        return self._together.approve()

    def deny(self, reason: str | None = None) -> bool:
        """Deny the calls that are picked; return whether there are any."""
        return self._together.deny(reason)

    def answer(self, value: Any) -> bool:
        """Give one answer to all questions that are picked; return whether all were recorded."""
        form = self._together.form
        if form is None:
            return False
        form.value = value
        return form.submit()

    def _give(self, answers: Mapping[Question, Any]) -> Mapping[Address, NbgraphError]:
        """Record answers; those that are not stay with their problem."""
        with self._painter.lock:
            given = {question.address for question in answers}
            self._mine |= given
            problems = self._replies.send(answers)
            self._mine -= problems.keys()
            self.problems = {at: said for at, said in self.problems.items() if at not in given}
            self.problems |= {at: str(error) for at, error in problems.items()}
            self._following.recount()
            if len(answers) > 1:
                self._painter.now()
                self._face.say(_sent(len(answers), problems))
        self._painter.want(hurry=True)
        return problems

    def _failed(self, thread_id: str, error: BaseException) -> None:
        """Have it said that a thread which went on failed; called on the loop thread."""
        self._failures.append(f"{thread_id} failed: {type(error).__name__}: {error}")
        self._painter.want(hurry=True)

    def _heard(self, kind: str, row_id: str) -> None:
        """Do what was asked for on the page."""
        with self._painter.lock:
            found = [each for each in self.questions if self._id(each.address) == row_id]
            match kind:
                case "pick":
                    self.pick(*(found or self._alike(row_id)))
                case "all":
                    self._pick_all()
                case "open" if found:
                    is_open = self._opened is not None and self._opened.question == found[0]
                    self.shut() if is_open else self.look_at(found[0])
                case "close" if self._opened is not None:
                    self.shut()
                case _:
                    pass

    def _alike(self, row_id: str) -> list[Question]:
        """Return the questions below a heading that are not picked; all of them if they are."""
        below = [each for each in self.questions if f"{self._id(each.address)}-group" == row_id]
        alike = [each for each in self.questions if below and each.kind == below[0].kind]
        left = [each for each in alike if each.address not in self._picked]
        return left or alike

    def _pick_all(self) -> None:
        if self._picked:
            self.clear()
        elif self.questions:
            kind = self.questions[0].kind
            self.pick(*(each for each in self.questions if each.kind == kind))

    # --- in a cell ----------------------------------------------------------------------------

    def close(self) -> None:
        """Close the widget, and leave a table in its place; threads that go on do so."""
        if not self._closed:
            self._closed = True
            self._unwatch()
            self._stay.gone()
        super().close()

    def _ipython_display_(self, **_: Any) -> None:
        self._stay.show()

    def _still(self) -> dict[str, str]:
        return static_table(self._following.page, self._following.survey)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if unattended():
            return self._still()
        return super()._repr_mimebundle_(**options)


def _elsewhere(question: Question, record: Answered) -> str:
    who = record.by or "somebody"
    return f"{question.record.thread_id}: answered by {who} at {words.clock(record.at)}, elsewhere."


def _sent(count: int, problems: Mapping[Address, NbgraphError]) -> str:
    if not problems:
        return f"{count} answers recorded."
    (thread_id, *_), error = next(iter(problems.items()))
    more = f" So it is with {len(problems) - 1} more." if len(problems) > 1 else ""
    return f"{count - len(problems)} of {count} answers recorded. {thread_id}: {error}.{more}"
