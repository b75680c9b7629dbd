"""`Inbox`: the questions of all threads in a store, answered in one place."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets

from nbgraph.core.loop import run_sync
from nbgraph.core.questions import Answered
from nbgraph.core.store import StateStore
from nbgraph.errors import GraphConfigError, NbgraphError
from nbgraph.following import Following, Gone, Seen
from nbgraph.notebook.display import unattended
from nbgraph.notebook.form import Form
from nbgraph.notebook.inbox_answers import Answers, Problems
from nbgraph.notebook.inbox_face import Face
from nbgraph.notebook.inbox_opened import Opened
from nbgraph.notebook.inbox_picks import Picks
from nbgraph.notebook.inbox_table import Told, answered_rows, static_table, waiting_rows
from nbgraph.notebook.inbox_together import Together
from nbgraph.notebook.inbox_words import and_more, elsewhere, sent
from nbgraph.notebook.keys import Keys
from nbgraph.notebook.left import Stay
from nbgraph.notebook.painter import Painter, every
from nbgraph.notebook.parts import classed
from nbgraph.notebook.questions import TAKE_BACK_FOR
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.tool_card import ToolCard
from nbgraph.replies import Apps
from nbgraph.waiting import Address, Order, Question, Wanted

__all__ = ["Inbox"]

_TICK = 20.0
"""Seconds between two looks at how long questions wait."""
_REST, _LONG_REST = 0.5, 3.0
"""Seconds between two readings of the store: of a page, and where a filter looks through it."""


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
    take_back_for : float
        For how many seconds a decision pressed on a tool card can be taken back; 0 for none.

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
        self._answers = Answers(store, apps, context, self._hurry)
        self._following = Following(store)
        self._picks = Picks()
        self._opened: Opened | None = None
        self._ids: dict[Address, str] = {}
        lock = threading.RLock()
        self._painter = Painter(self._draw, self._rest, lock=lock)
        live = super()._repr_mimebundle_
        self._stay = Stay(live, self._still, lambda: (self,), lambda: self._opened is not None)
        presses = {"refresh": self.refresh, "more": self.more, "first": self._chosen}
        self._keys = Keys()
        self._together = Together(self._give, self.clear, self._held_for, self._keys.focus_on)
        self._face = Face(presses, self._heard, self._together, self._keys)
        self.children = (self._face.box,)
        self._closed = False
        self._painter.now()
        self._stay.begin()
        self._unwatch: Callable[[], object] = store.watch(self._painter.want, every=_REST)
        every(_TICK, self._tick)

    # --- what it reads ------------------------------------------------------------------------

    @property
    def questions(self) -> tuple[Question, ...]:
        """The rows: questions that wait, by default the oldest first."""
        return self._following.page.questions

    @property
    def picked(self) -> tuple[Question, ...]:
        """The questions that one answer is given to."""
        return tuple(self._picks)

    @property
    def opened(self) -> Form | ToolCard | None:
        """The form or card that is open; None while there is none, or it is answered."""
        return None if self._opened is None or self._opened.is_over else self._opened.form

    @property
    def records(self) -> tuple[Answered, ...]:
        """What was answered since the inbox is there, here and elsewhere, the newest first."""
        return tuple(reversed(self._following.answered.values()))

    @property
    def problems(self) -> dict[Address, str]:
        """Why answers were not recorded, by thread, branch, key and asking."""
        return self._answers.problems

    @property
    def waiting(self) -> str:
        """How many questions wait in the store: `23 waiting`, `1,000+ waiting`."""
        return self._following.survey.waiting

    @property
    def snapshot(self) -> Seen:
        """What is shown; another object once that changes."""
        return self._following.seen

    def _rest(self) -> float:
        return _REST if self.wanted == Wanted() else _LONG_REST

    def _draw(self) -> None:
        """Read the store and show what is there; what cannot be read is said, and stays shown."""
        if self._closed:
            return
        opened = [self._opened.question] if self._opened and not self._opened.is_over else []
        for question, record in self._read([*self._picks, *opened]):
            self._gone(question, record)
        if failures := self._answers.failures():
            self._face.say(and_more(failures))
        self._show()
        self._stay.drawn()

    def _read(self, also: Sequence[Question]) -> Sequence[Gone]:
        """Read the store, and return what waits no more of what was shown or is asked for."""
        try:
            gone = run_sync(self._following.read(self.wanted, also))
        except (NbgraphError, OSError) as error:
            self._face.say_trouble(f"The store could not be read: {error}")
            return ()
        self._face.say_trouble("")
        return gone

    def _gone(self, question: Question, record: Answered | None) -> None:
        """Take note of what became of a question that waits no more."""
        address = question.address
        self._picks.drop(address)
        self._answers.problems.pop(address, None)
        if record is not None and not self._answers.is_mine(address):
            self._face.say(elsewhere(question, record))
        if self._opened is not None and self._opened.question == question:
            self._opened.show_answered(record)

    def _hurry(self) -> None:
        self._painter.want(hurry=True)

    def _tick(self) -> bool:
        """Say how long questions wait; return whether that goes on."""
        if not self._closed:
            with self._painter.lock:
                self._show()
        return not self._closed

    # --- what it shows ------------------------------------------------------------------------

    def _show(self) -> None:
        self._picks.keep({each.address for each in self.questions})
        opened, now = self._opened and self._opened.question, time.time()
        told = Told(self._id, self._picks.by_address, self.problems, opened, now)
        is_over = self._face.filters.shows_answered
        if is_over:
            rows = answered_rows(self._following.answered, told)
        else:
            rows = waiting_rows(self.questions, told, grouped=self._face.filters.is_grouped)
        share = self._picks.share_of(len(self.questions))
        self._face.place(rows, self._opened and self._opened.box, share)
        self._face.show(self._following)
        self._together.put(() if is_over else self.picked)
        if self._opened is not None:
            self._opened.tick(now)
        serve_while_busy(self)

    def _id(self, address: Address) -> str:
        return self._ids.setdefault(address, f"r{len(self._ids)}")

    # --- what a person does -------------------------------------------------------------------

    @property
    def wanted(self) -> Wanted:
        """Which questions are shown; it can be set."""
        return self._face.filters.wanted

    def find(
        self,
        text: str = "",
        *,
        graph: str | None = None,
        node: str | None = None,
        tool: str | None = None,
        older: float = 0.0,
        order: Order = "oldest",
    ) -> tuple[Question, ...]:
        """Show some questions only, and return them; without arguments all are shown.

        They are of `graph`, `node` and `tool`, with all words of `text` in ids, message, payload or
        arguments. `older` is how many seconds they have waited at least. With `order="due"` those
        come first whose time is over first.
        """
        self.wanted = Wanted(text, graph, node, tool, older, order)
        return self.questions

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
        """Have alike questions stand together (`grouped`), under a heading that picks them all."""
        self._face.filters.is_grouped = grouped

    def look_at(self, question: Question) -> Form | ToolCard:
        """Open `question` below its row, and return its form or card."""
        with self._painter.lock:
            self._close_opened()
            opened = self._opened = Opened(
                question,
                self._store,
                self._give,
                self._keys,
                note=lambda late: self._answers.what_follows(question, late=late),
                close=self.shut,
                lock=self._painter.lock,
                take_back_for=lambda: self.take_back_for,
            )
            self._show()
            opened.focus()
            return opened.form

    def go_on(self) -> bool:
        """Have the open question end without an answer, if its time is over; return whether."""
        return self._opened is not None and self._opened.go_on()

    def settle(self) -> None:
        """Wait until the threads that go on in the background pause or end, and show that."""
        self._answers.settle()
        self.refresh()

    def shut(self) -> None:
        """Close the question that is open; it waits on."""
        with self._painter.lock:
            opened = self._opened
            self._close_opened()
            self._show()
            if opened is not None:
                self._face.focus_row(self._id(opened.question.address))

    def _close_opened(self) -> None:
        if self._opened is not None:
            self._face.without_opened()
            self._opened.close()
            self._opened = None

    def pick(self, *questions: Question) -> None:
        """Pick `questions` for one answer, or leave out what is picked; no other kind is added."""
        with self._painter.lock:
            self._picks.turn(questions)
            self._show()

    def clear(self) -> None:
        """Pick none."""
        with self._painter.lock:
            self._picks.clear()
            self._show()

    def approve(self, count: int | None = None) -> bool:
        """Approve the calls that are picked; return whether that was allowed.

        More than 10 are approved only where `count` says how many there are.
        """
        if count is not None:
            self._together.confirm(str(count))
        return self._together.approve()

    def deny(self, reason: str | None = None) -> bool:
        """Deny the calls that are picked, for a `reason`; return whether there are any."""
        return self._together.deny(reason)

    def answer(self, value: Any) -> bool:
        """Give `value` as the answer to all that are picked; return whether all were recorded."""
        form = self._together.form
        if form is None:
            return False
        form.value = value
        return form.submit()

    def _give(self, answers: Mapping[Question, Any], comment: str | None = None) -> Problems:
        """Record answers; those that are not stay with their problem."""
        with self._painter.lock:
            problems = self._answers.give(answers, comment)
            self._following.recount()
            if len(answers) > 1:
                self._painter.now()
                self._face.say(sent(len(answers), problems))
        self._hurry()
        return problems

    def _held_for(self) -> float:
        return self.take_back_for if self._keys.greeted.is_set() else 0.0

    def _heard(self, kind: str, row_id: str) -> None:
        """Do what was asked for on the page."""
        with self._painter.lock:
            found = [each for each in self.questions if self._id(each.address) == row_id]
            match kind:
                case "pick" if found:
                    self.pick(*found)
                case "pick" | "all":
                    self._pick_alike(row_id if kind == "pick" else None)
                case "open" if found:
                    is_open = self._opened is not None and self._opened.question == found[0]
                    self.shut() if is_open else self.look_at(found[0])
                case "close" if self._opened is not None:
                    self.shut()
                case _:
                    pass

    def _pick_alike(self, heading: str | None = None) -> None:
        """Pick what is below a heading, or like the first of all; none if that is picked."""
        names = {f"{self._id(each.address)}-group": each for each in reversed(self.questions)}
        first = names.get(heading) if heading else next(iter([*self.picked, *self.questions]), None)
        if first is not None:
            self._picks.turn_alike(first, self.questions)
            self._show()

    # --- in a cell ----------------------------------------------------------------------------

    def close(self) -> None:
        """Close the widget, and leave a table in its place; threads that go on do so."""
        if not self._closed:
            self._together.send_now()
            self._closed = True
            self._unwatch()
            self._painter.end()
            self._stay.gone()
        super().close()

    def __repr__(self) -> str:
        return f"<Inbox: {self.waiting}>"

    def _ipython_display_(self, **_: Any) -> None:
        self._stay.show()

    def _still(self) -> dict[str, str]:
        return static_table(self._following.page, self._following.survey)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self._still() if unattended() else super()._repr_mimebundle_(**options)
