"""The panel: a thread in a cell. It draws snapshots and sends requests; it keeps no truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets
from pydantic import BaseModel

from nbgraph import words
from nbgraph.core.position import Answered
from nbgraph.core.store import StateStore
from nbgraph.errors import NbgraphError
from nbgraph.notebook.allowed import Allowed
from nbgraph.notebook.compare import branches, state_table
from nbgraph.notebook.display import static_bundle, unattended
from nbgraph.notebook.form import Form
from nbgraph.notebook.graph_view import GraphView
from nbgraph.notebook.left import Stay
from nbgraph.notebook.log_view import LogView
from nbgraph.notebook.painter import Painter, every
from nbgraph.notebook.parts import classed, column, row, text
from nbgraph.notebook.questions import Questions
from nbgraph.notebook.records import failure_card, record_card, result_card
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.timeline import PanelTimeline
from nbgraph.notebook.tool_card import ToolCard
from nbgraph.notebook.toolbar import Toolbar
from nbgraph.session import Run, Session, begin, open_session
from nbgraph.snapshot import Snapshot

__all__ = ["Panel"]

_TICK = 15.0
"""Seconds between two looks at how long a question waits."""


class Panel(ipywidgets.VBox):
    """Shows a thread of a graph, and lets a person run, answer and fork it.

    Parameters
    ----------
    app : Graph or Session
        What is driven.
    thread_id : str, optional
        Which thread; an old one comes back as it stands, a new one is made without it.
    input : dict or model, optional
        Begins a turn at once; an unfinished thread goes on instead. Without it, a new thread shows
        a form.
    store : StateStore, optional
        Where threads are kept; by default the graph's own, else memory.
    context : object, optional
        What nodes find as `ctx.context`.
    answers : dict, optional
        Answers by key, used only where nobody can answer.
    branch_id : str
        Which branch of the thread.

    Attributes
    ----------
    session : Session
        What the panel shows and sends requests to.

    Raises
    ------
    ResumeError
        Unattended, if a question has no answer; the message names its key.
    """

    def __init__(
        self,
        app: Any,
        thread_id: str | None = None,
        input: Mapping[str, Any] | BaseModel | None = None,
        *,
        store: StateStore | None = None,
        context: Any = None,
        answers: Mapping[str, Any] | None = None,
        branch_id: str = "main",
    ) -> None:
        super().__init__()
        classed(self, "nbgraph")
        self._closed = False
        self._other: Session | None = None
        self._unwatch: Callable[[], object] = lambda: None
        self._painter = Painter(self._draw)
        self._stay = Stay(super()._repr_mimebundle_, self._still, lambda: (self.session,))
        if not isinstance(app, Session):
            app = open_session(app, thread_id, branch_id, store, context)
        self._build(app)
        every(_TICK, self._tick)
        self._stay.begin()
        if input is not None:
            begin(self.session, input)
        if unattended() and self.session.status != "new":
            self.session.finish(answers)

    # --- what it is made of ------------------------------------------------------------------

    def _build(self, session: Session) -> None:
        with self._painter.lock:
            self._make(session)
            self._painter.now()
        self._unwatch = session.watch(self._wanted)

    def _make(self, session: Session) -> None:
        self.session = session
        self._records: dict[int, ipywidgets.Widget] = {}
        self._start: Form | None = None
        self._again = False
        self._compared: tuple[Any, Any] | None = None
        self._end: tuple[Any, ipywidgets.Widget | None] = (None, None)
        self._toolbar = Toolbar(session, self._buttons(), self._switch)
        self._graph = GraphView(session.driver.shape)
        self._questions = Questions(session, self._graph, self._toolbar.say)
        self._main = column([], "nbgraph-main")
        self._timeline = PanelTimeline(session, self._looked, self._attach, self._painter.lock)
        self._log = LogView()
        self._comparison = column([], "nbgraph-section", "nbgraph-compare")
        self._branches = branches(session)
        side = column([self._graph], "nbgraph-side")
        body = row([side, self._main], "nbgraph-body")
        parts: list[ipywidgets.Widget] = [
            self._toolbar,
            body,
            self._timeline,
            self._comparison,
            self._log,
        ]
        if session.notice:
            parts.append(text(session.notice, "nbgraph-why"))
        self.children = (column(parts, "nbgraph-panel"),)
        self._drawn: Snapshot | None = None

    def _looked(self) -> None:
        with self._painter.lock:
            self._show_graph(self._timeline.seen or self.session.snapshot)

    def _wanted(self, snapshot: Snapshot) -> None:
        if snapshot is not self._drawn:
            self._painter.want()

    def _buttons(self) -> dict[str, Callable[[], object]]:
        session = self.session
        actions: dict[str, Callable[[], object]] = {
            "start": self._start_again,
            "step": session.step,
            "continue": session.proceed,
            "pause": session.pause,
            "stop": session.stop,
            "fork": self.fork,
        }
        return {name: self._trying(action) for name, action in actions.items()}

    def _trying(self, action: Callable[[], object]) -> Callable[[], object]:
        """Return the action with what it refuses said under the toolbar."""

        def tried() -> object:
            try:
                return action()
            except NbgraphError as error:
                self._toolbar.say(str(error))
                return None

        return tried

    # --- what it shows -----------------------------------------------------------------------

    def _draw(self) -> None:
        snapshot = self.session.snapshot
        if snapshot is self._drawn:
            return
        self._drawn = snapshot
        self._toolbar.show(snapshot, self.session.branch_id, self._branches)
        self._timeline.show(snapshot)
        self._show_graph(self._timeline.seen or snapshot)
        self._log.show(snapshot)
        self._show_main(snapshot)
        self._show_comparison()
        serve_while_busy(self)

    def _show_graph(self, snapshot: Snapshot) -> None:
        lines = {
            path: words.line(each, snapshot.progress.get(path))
            for path, each in snapshot.marks.items()
        }
        self._graph.show(
            snapshot.marks,
            lines,
            snapshot.taken,
            breakpoints=words.breakpoints(snapshot),
            heading=words.heading(snapshot),
            note=words.note(snapshot),
        )

    def _show_main(self, snapshot: Snapshot) -> None:
        shown: list[ipywidgets.Widget] = []
        shown += filter(None, [self._failure(snapshot)])
        shown += self._questions.show(snapshot)
        shown += self._start_form(snapshot)
        shown += [self._record(record) for record in snapshot.records]
        shown += filter(None, [self._result(snapshot)])
        if not shown:
            shown = [text(words.waiting_for(snapshot), "nbgraph-2nd")]
        self._main.children = tuple(shown)

    def _failure(self, snapshot: Snapshot) -> ipywidgets.Widget | None:
        return failure_card(snapshot, self._trying(self.session.proceed))

    def _start_form(self, snapshot: Snapshot) -> list[ipywidgets.Widget]:
        wanted = snapshot.status == "new" or (self._again and snapshot.status == "completed")
        if snapshot.running or not wanted:
            self._start = None
            return []
        if self._start is None:
            self._start = Form.for_start(self.session.driver.shape.input_schema, self._started)
        return [self._start]

    def _start_again(self) -> None:
        self._again, self._drawn = True, None
        self._painter.now()

    def _started(self, given: Mapping[str, Any]) -> None:
        self._again = False
        self.session.start(given)

    def _show_comparison(self) -> None:
        other = self._other
        if other is None or other.branch_id == self.session.branch_id:
            self._comparison.layout.display = "none"
            return
        self._comparison.layout.display = None
        shown = self.session.state, other.state
        if shown != self._compared:
            self._compared = shown
            self._comparison.children = (state_table(other, self.session),)

    def _record(self, record: Answered) -> ipywidgets.Widget:
        made = self._records.get(record.sequence)
        if made is None:
            again = self._trying(lambda: self.fork(at=record.sequence - 1))
            made = self._records[record.sequence] = record_card(record, again)
        return made

    def _result(self, snapshot: Snapshot) -> ipywidgets.Widget | None:
        if snapshot.status != "completed":
            return None
        state = self.session.state
        if self._end[0] != state:
            self._end = (state, result_card(state))
        return self._end[1]

    def _tick(self) -> bool:
        """Say how long the questions wait; return whether that goes on."""
        with self._painter.lock:
            self._questions.tick()
        return not self._closed

    # --- what a person does ------------------------------------------------------------------

    @property
    def forms(self) -> Mapping[str, Form | ToolCard]:
        """The forms of the questions that wait, by key; a tool call has a `ToolCard`."""
        self._painter.now()
        return self._questions.forms

    @property
    def allowed(self) -> Allowed:
        """The tools whose calls this panel approves until the kernel stops."""
        return self._questions.allowed

    def start(self, input: Mapping[str, Any] | BaseModel | None = None) -> Run:
        """Begin a turn, as the Start button does."""
        return self.session.start(input)

    def fork(self, at: int | None = None, name: str | None = None) -> Session:
        """Start a branch and show it: from event `at`, else where the last question was asked.

        Returns
        -------
        Session
            Of the new branch; the panel shows it now, with the one before to compare.
        """
        if at is None:
            at = _fork_point(self.session.snapshot)
        forked = self.session.fork(at=at, name=name)
        self._attach(forked)
        return forked

    def _switch(self, branch_id: str) -> None:
        if branch_id != self.session.branch_id:
            self._attach(Session(self.session.driver.on(branch_id), notice=self.session.notice))

    def _attach(self, session: Session) -> None:
        self._unwatch()
        self._other = self.session
        self._build(session)

    def close(self) -> None:
        """Close the widget; its session and what runs there go on."""
        self._closed = True
        self._unwatch()
        self._stay.gone()
        super().close()

    def _ipython_display_(self, **_: Any) -> None:
        self._stay.show()

    def _still(self) -> dict[str, str]:
        return static_bundle(self.session)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if unattended():
            return static_bundle(self.session)
        return super()._repr_mimebundle_(**options)


def _fork_point(snapshot: Snapshot) -> int | None:
    """Return where a plain Fork begins: at the question that waits, else before the last answer."""
    if snapshot.pending or not snapshot.records:
        return None
    return snapshot.records[-1].sequence - 1
