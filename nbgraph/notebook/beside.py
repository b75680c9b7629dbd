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
from nbgraph.notebook.parts import classed, column, text
from nbgraph.notebook.questions import Questions
from nbgraph.notebook.records import record_card, result_card
from nbgraph.notebook.state_form import StateForm, few, start_schema
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot

__all__ = ["Beside"]


class Beside(ipywidgets.VBox):
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

    Attributes
    ----------
    again : bool
        Whether the form of another turn was asked for.
    """

    def __init__(
        self,
        session: Session,
        questions: Questions,
        ways: Ways,
        doing: Doing,
        fork_before: Callable[[int], object],
    ) -> None:
        self._session, self._questions, self._ways = session, questions, ways
        self._doing, self._fork_before = doing, fork_before
        self.again = False
        self._records: dict[tuple[int, str], ipywidgets.Widget] = {}
        self._start: ipywidgets.Widget | None = None
        self._editing: StateForm | None = None
        self._end: tuple[Any, ipywidgets.Widget | None] = (None, None)
        self._failure: tuple[Any, FailureCard | None] = (None, None)
        self._nothing = text("", "nbgraph-2nd")
        # A front end draws all that follows a change in a box anew, so what grows has its own.
        self._needed, self._given, self._rest = (column([], "nbgraph-slot") for _ in range(3))
        super().__init__([self._needed, self._given, self._rest])
        classed(self, "nbgraph-main")

    @property
    def opened(self) -> bool:
        """Whether a form is open that a person asked for."""
        return self.again or self._editing is not None

    def show(self, snapshot: Snapshot) -> None:
        """Show what there is to do and to read in a snapshot."""
        needed: list[Any] = [*filter(None, [self._failed(snapshot)])]
        needed += self._questions.show(snapshot)
        needed += filter(None, [self._editing])
        needed += self._start_form(snapshot)
        given: list[Any] = [self._record(record) for record in snapshot.records]
        rest: list[Any] = [*filter(None, [self._result(snapshot)])]
        if all(each.layout.display == "none" for each in (*needed, *given, *rest)):
            set_text(self._nothing, words.waiting_for(snapshot))
            rest.append(self._nothing)
        _put(self._needed, needed)
        _put(self._given, given)
        _put(self._rest, [*rest, self._doing])

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
            card = None if about is None else FailureCard(self._session, self._ways)
            self._failure = (about, card)
        return self._failure[1]

    def _start_form(self, snapshot: Snapshot) -> list[ipywidgets.Widget]:
        wanted = snapshot.status == "new" or (self.again and snapshot.status == "completed")
        if snapshot.running or not wanted:
            self._start = None
            return []
        if self._start is None:
            schema, needed = start_schema(self._session.driver.shape.input_schema)
            form = Form.for_start(schema, self._started, StartPlace(self._session.driver))
            self._start = few(form, needed, len(schema.get("properties", {})))
        return [self._start]

    def _started(self, given: Mapping[str, Any]) -> None:
        self.again = False
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
            secrets = call_secrets(self._session.history())
            self._end = (state, result_card(covered(state, secrets)))
        return self._end[1]


def _put(slot: Any, shown: Sequence[ipywidgets.Widget]) -> None:
    if slot.children != tuple(shown):
        slot.children = tuple(shown)


def _edits(count: int) -> str:
    return f"Save {count} change{'' if count == 1 else 's'}" if count else "Close"
