"""What stands beside the drawing: what failed, what waits, what was answered, what came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets

from nbgraph import words
from nbgraph.core.position import Answered
from nbgraph.covering import call_secrets, covered
from nbgraph.drawing.dot import END
from nbgraph.notebook.doing import Doing
from nbgraph.notebook.drafts import StartPlace
from nbgraph.notebook.failure import FailureCard, Ways, failure_of
from nbgraph.notebook.form import Form
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.lean import Column, button, column, is_hidden, row
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.parts import take_away
from nbgraph.notebook.questions import Questions
from nbgraph.notebook.records import record_card, result_card
from nbgraph.notebook.state_form import StateForm, few, start_schema
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot

__all__ = ["Beside"]


class Beside(Column):
    """The cards and forms of a thread, those first that need a person.

    Parameters
    ----------
    session : Session
        Whose thread.
    questions : Questions
        The forms of what waits.
    ways : Ways
        What is done about a failure.
    doing : Doing
        What running nodes show.
    fork_before : function
        Takes the event of an answer that a person wants to give differently.
    redraw : function
        Draws all of it again.
    """

    def __init__(
        self,
        session: Session,
        questions: Questions,
        ways: Ways,
        doing: Doing,
        fork_before: Callable[[int], object],
        redraw: Callable[[], object],
    ) -> None:
        self._session, self._questions, self._ways = session, questions, ways
        self._doing, self._fork_before, self._redraw = doing, fork_before, redraw
        self._again_at: int | None = None  # the event after which another turn was asked for
        self._records: dict[tuple[int, str], ipywidgets.Widget] = {}
        self._start: ipywidgets.Widget | None = None
        self._editing: StateForm | None = None
        self._end: tuple[Any, ipywidgets.Widget | None] = (None, None)
        self._failure: tuple[Any, FailureCard | None] = (None, None)
        self._dropped: list[ipywidgets.Widget] = []
        self._nothing = text("", "nbgraph-2nd")
        # A front end draws all that follows a change in a box anew, so what grows has its own.
        self._needed, self._given, self._rest = (column([], "nbgraph-slot") for _ in range(3))
        super().__init__([self._needed, self._given, self._rest], "nbgraph-main")

    @property
    def opened(self) -> bool:
        """Whether a form is open that a person asked for."""
        return self._again_at is not None or self._editing is not None

    def show(self, snapshot: Snapshot) -> None:
        """Show what there is to do and to read in a snapshot."""
        needed: list[Any] = [*filter(None, [self._failed(snapshot)])]
        needed += self._questions.show(snapshot)
        needed += filter(None, [self._editing])
        needed += self._start_form(snapshot)
        given: list[Any] = [self._record(record) for record in snapshot.records]
        rest: list[Any] = [*filter(None, [self._result(snapshot)])]
        if all(map(is_hidden, (*needed, *given, *rest))):
            set_text(self._nothing, words.waiting_for(snapshot))
            rest.append(self._nothing)
        _put(self._needed, needed)
        _put(self._given, given)
        _put(self._rest, [*rest, self._doing])
        self._close_dropped()

    def _drop(self, widget: ipywidgets.Widget | None) -> None:
        """Take note that a widget stands there no more, once all is shown."""
        if widget is not None:
            self._dropped.append(widget)

    def _close_dropped(self) -> None:
        dropped, self._dropped = self._dropped, []
        take_away(*dropped)

    def close(self) -> None:
        """Close it with all that may stand there."""
        take_away(self._nothing, *self._dropped)
        self._questions.close()
        super().close()

    def edit(self, edited: Callable[[Mapping[str, Any]], object]) -> StateForm:
        """Return a form of the state, to be shown; `edited` takes what a person changed."""
        self.end_edit()
        nodes = [each for each in self._session.driver.shape.nodes if each.parent is None]
        places = [*((each.label, each.path) for each in nodes), ("the end", END)]
        self._editing = StateForm(self._session, edited, _edits, places=places)
        return self._editing

    def end_edit(self) -> None:
        """Take the form of the state away."""
        if self._editing is not None:
            self._editing.close()
        self._editing = None

    def _failed(self, snapshot: Snapshot) -> ipywidgets.Widget | None:
        about = failure_of(snapshot)
        if about != self._failure[0]:
            self._drop(self._failure[1])
            card = None if about is None else FailureCard(self._session, self._ways)
            self._failure = (about, card)
        return self._failure[1]

    def _start_form(self, snapshot: Snapshot) -> list[ipywidgets.Widget]:
        if self._again_at != snapshot.position.sequence or not words.can_start_again(snapshot):
            self._again_at = None
        if snapshot.running or (self._again_at is None and snapshot.status != "new"):
            self._drop(self._start)
            self._start = None
            return []
        if self._start is None:
            left = "" if self._again_at is None else words.left_behind(snapshot)
            self._start = self._asks_first(left) if left else self._starting("Start")
        return [self._start]

    def _starting(self, submit: str) -> ipywidgets.Widget:
        schema, needed = start_schema(self._session.driver.shape.input_schema)
        form = Form.for_start(schema, self._started, StartPlace(self._session.driver))
        form.name_submit(submit)
        return few(form, needed, len(schema.get("properties", {})))

    def _asks_first(self, left: str) -> ipywidgets.Widget:
        """Return the form of a turn that leaves one behind: that is said, and can be left alone."""
        banner = row([text(left, "nbgraph-text")], "nbgraph-banner", "warn")
        keep = row([button("Keep this turn", self._keep_turn, "nbgraph-keep-turn")])
        return column([banner, self._starting("Start another turn"), keep], "nbgraph-another")

    def start_again(self) -> None:
        """Show the form of another turn, until something else happens."""
        self._again_at = self._session.snapshot.position.sequence
        self._redraw()

    def _keep_turn(self) -> None:
        self._again_at = None
        self._redraw()

    def _started(self, given: Mapping[str, Any]) -> None:
        self._again_at = None
        self._session.start(given)

    def _record(self, record: Answered) -> ipywidgets.Widget:
        place = record.sequence, record.interrupt.key
        made = self._records.get(place)
        if made is None:
            again = record.sequence
            made = record_card(record, lambda: self._fork_before(again))
            self._records[place] = made
        return made

    def _result(self, snapshot: Snapshot) -> ipywidgets.Widget | None:
        if snapshot.status != "completed":
            return None
        state = self._session.state
        if self._end[0] != state:
            self._drop(self._end[1])
            secrets = call_secrets(self._session.history())
            self._end = (state, result_card(covered(state, secrets)))
        return self._end[1]


def _put(slot: Any, shown: Sequence[ipywidgets.Widget]) -> None:
    if slot.children != tuple(shown):
        slot.children = tuple(shown)


def _edits(count: int) -> str:
    return f"Save {count} change{'' if count == 1 else 's'}" if count else "Close"
