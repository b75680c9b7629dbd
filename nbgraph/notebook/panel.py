"""The panel: a thread in a cell. It draws snapshots and sends requests; it keeps no truth."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

import ipywidgets
from pydantic import BaseModel

from nbgraph import words
from nbgraph.core.store import StateStore
from nbgraph.errors import NbgraphError, StateStoreError
from nbgraph.notebook.acts import Acts, fork_point
from nbgraph.notebook.allowed import Allowed
from nbgraph.notebook.beside import Beside
from nbgraph.notebook.branch_tree import Branching
from nbgraph.notebook.compare import branches
from nbgraph.notebook.display import static_bundle, unattended
from nbgraph.notebook.doing import Doing
from nbgraph.notebook.form import Form
from nbgraph.notebook.graph_view import GraphView
from nbgraph.notebook.inspector import Inspector
from nbgraph.notebook.lean import column, row
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.left import Stay
from nbgraph.notebook.log_view import LogView
from nbgraph.notebook.painter import Painter, every
from nbgraph.notebook.parts import take_away
from nbgraph.notebook.questions import TAKE_BACK_FOR, Questions
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.state_form import StateForm
from nbgraph.notebook.timeline import PanelTimeline
from nbgraph.notebook.tool_card import ToolCard
from nbgraph.notebook.toolbar import Toolbar
from nbgraph.opening import begin, open_session
from nbgraph.session import Run, Session
from nbgraph.snapshot import Snapshot

__all__ = ["Panel"]

_TICK = 1.0
"""Seconds between two looks at how long a node runs and a question waits."""

_SHORT = 0.25
"""Seconds within which a run may end before buttons and forms show that it runs."""

_BETWEEN, _TELLING = 1.0, 0.5
"""Seconds between two drawings while it runs: of everything, and of what nodes say."""


class Panel(ipywidgets.VBox):
    """Shows a thread of a graph, and lets a person run, answer and fork it.

    Parameters
    ----------
    app : Graph, Session, or a compiled graph of LangGraph or AgentFlow
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
    acts : Acts
        What a person does with a node or a failure: breakpoints, run until, retry, skip.
    take_back_for : float
        For how many seconds a decision pressed on a tool card can be taken back; 0 for none.

    Raises
    ------
    ResumeError
        Unattended, if a question has no answer; the message names its key.
    """

    take_back_for = TAKE_BACK_FOR

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
        super().__init__(_dom_classes=("nbgraph",))
        self._closed = False
        self._other: Session | None = None
        self._missing = ""
        self._unwatch: Callable[[], object] = lambda: None
        lock = threading.RLock()
        self._marking = Painter(self._show_graph, lock=lock)
        self._telling = Painter(self._tell, lambda: _TELLING, lock=lock)
        self._painter = Painter(self._draw, self._rest, before=self._before, lock=lock)
        self._painters = self._marking, self._telling, self._painter
        live = super()._repr_mimebundle_
        self._stay = Stay(live, self._still, lambda: (self.session,), self._engaged)
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
            self._now()
        if not unattended():
            session.listen(self._held)
        self._unwatch = session.watch(self._wanted)

    def _make(self, session: Session) -> None:
        self.session = session
        self.acts = Acts(self, self._try, lambda key: self._questions.turn_to(key))
        self._toolbar = Toolbar(session, self._buttons(), self.acts.run_until, self._switch)
        self._graph = self._wired(GraphView(session.driver.shape))
        self._questions = Questions(
            session,
            self._graph,
            self._toolbar.say,
            self._painter.lock,
            take_back_for=lambda: self.take_back_for,
        )
        self._inspector = Inspector(self.acts)
        self._doing = Doing()
        self._main = Beside(
            session, self._questions, self.acts, self._doing, self._fork_before, self._draw_again
        )
        lock = self._painter.lock
        self._timeline = PanelTimeline(session, self._looked, self._attach, lock, self._try)
        self._branching = Branching(self._switch)
        self._log = LogView()
        self._branches = branches(session)
        side = column([self._graph], "nbgraph-side")
        body = row([side, self._main], "nbgraph-body")
        below = [self._inspector, self._timeline, self._branching, self._log]
        parts: list[ipywidgets.Widget] = [self._toolbar, body, *below]
        if session.notice:
            parts.append(text(session.notice, "nbgraph-why"))
        gone, self.children = self.children, (column(parts, "nbgraph-panel"),)
        take_away(*gone)
        self._drawn: Snapshot | None = None  # as a whole
        self._late: Collection[str] = ()

    def _wired(self, graph: GraphView) -> GraphView:
        graph.on_select(lambda path: self._try(lambda: self.inspect(path)))
        graph.on_open(self.acts.open_form)
        graph.on_breakpoint(self.acts.toggle_breakpoint)
        return graph

    def _looked(self) -> None:
        with self._painter.lock:
            self._show_graph()

    def _wanted(self, snapshot: Snapshot) -> None:
        """Have a snapshot drawn: marks and lines soon, the rest when there is time for it."""
        self._marking.want()
        self._telling.want()
        drawn = self._drawn
        hurry = drawn is None or (drawn.status != snapshot.status and not snapshot.running)
        self._painter.want(hurry=hurry)

    def _buttons(self) -> dict[str, Callable[[], object]]:
        session = self.session
        actions: dict[str, Callable[[], object]] = {
            "start": lambda: self._main.start_again(),
            "step": session.step,
            "into": session.step_into,
            "continue": session.proceed,
            "pause": self._pause,
            "stop": session.stop,
            "fork": self.fork,
            "edit": self.edit,
        }
        return {name: self._trying(action) for name, action in actions.items()}

    def _pause(self) -> None:
        self.session.pause()
        with self._painter.lock:
            self._toolbar.pausing()

    def _trying(self, action: Callable[[], object]) -> Callable[[], object]:
        """Return the action with what it refuses said under the toolbar."""
        return lambda: self._try(action)

    def _try(self, action: Callable[[], object]) -> object:
        try:
            return action()
        except NbgraphError as error:
            self._toolbar.say(str(error))
            return None

    # --- what it shows -----------------------------------------------------------------------

    def _now(self) -> None:
        """Draw all of it before returning."""
        for each in self._painters:
            each.now()

    def _draw(self) -> None:
        snapshot = self.session.snapshot
        if snapshot is self._drawn:
            return
        self._late = {*words.late(snapshot)}
        self._toolbar.show(snapshot, self.session.branch_id, self._branches)
        self._timeline.show(snapshot)
        self._main.show(snapshot)
        self._inspector.show(self.session)
        if len(self._branches) > 1:
            self._branching.show(self.session, self._other, running=snapshot.running)
        self._drawn = snapshot
        serve_while_busy(self)
        self._stay.drawn()

    def _before(self) -> float:
        """Return how long a run may take that is drawn when it has ended only."""
        starts = self._drawn is not None and not self._drawn.running
        return _SHORT if starts and self.session.snapshot.running else 0.0

    def _rest(self) -> float:
        return _BETWEEN if self.session.snapshot.running else 0.0

    def _tell(self) -> None:
        snapshot = self.session.snapshot
        self._log.show(snapshot)
        self._doing.show(snapshot)

    def _show_graph(self) -> None:
        snapshot, now = self._timeline.seen or self.session.snapshot, time.time()
        self._graph.show(
            snapshot.marks,
            words.lines(snapshot, now),
            snapshot.taken,
            breakpoints=words.breakpoints(snapshot, self.session.driver.shape),
            heading=words.heading(snapshot),
            note=words.note(snapshot, now),
        )

    def _held(self, node: str | None) -> None:
        """Say who holds the loop; called beside it, since it cannot draw anything then."""
        with self._painter.lock:
            self._toolbar.hold(node)

    def _draw_again(self) -> None:
        self._drawn = None
        self._painter.now()

    def _tick(self) -> bool:
        """Say how long nodes run and questions wait; return whether that goes on."""
        snapshot = self.session.snapshot
        if snapshot.running or snapshot.pending:
            with self._painter.lock:
                if self._questions.tick() or self._late != {*words.late(snapshot)}:
                    self._draw_again()
                self._timeline.tick()
                self._marking.now()
        if not (snapshot.running or unattended()) and getattr(self.session.driver, "store", None):
            self._look_up()
        return not self._closed

    def _look_up(self) -> None:
        """Take up what another panel, tab or process has recorded; say why, where that fails."""
        try:
            self.session.reload()
        except StateStoreError as error:
            if str(error) != self._missing:
                self._toolbar.say(str(error))
            self._missing = str(error)
        else:
            self._missing = ""

    # --- what a person does ------------------------------------------------------------------

    @property
    def forms(self) -> Mapping[str, Form | ToolCard]:
        """The forms of the questions that wait, by key; a tool call has a `ToolCard`."""
        self._now()
        return self._questions.forms

    @property
    def is_seen(self) -> bool:
        """Whether a page has shown the panel: a front end without widgets never does."""
        return self._graph.greeted.is_set()

    @property
    def allowed(self) -> Allowed:
        """The tools whose calls this panel approves until the kernel stops."""
        return self._questions.allowed

    def start(self, input: Mapping[str, Any] | BaseModel | None = None) -> Run:
        """Begin a turn with `input`, as the Start button does."""
        return self.session.start(input)

    def fork(self, at: int | None = None, name: str | None = None) -> Session:
        """Start branch `name` and show it: from event `at`, else where the last question was asked.

        Returns
        -------
        Session
            Of the new branch; the panel shows it now, with the one before to compare.
        """
        if at is None:
            at = fork_point(self.session.snapshot)
        forked = self.session.fork(at=at, name=name)
        self._attach(forked)
        return forked

    def _fork_before(self, sequence: int) -> None:
        self._try(lambda: self.fork(at=sequence - 1))

    def edit(self) -> StateForm:
        """Show a form of the state; what is changed there goes through the reducers.

        A person can choose in it what runs next.
        """
        form = self._main.edit(lambda update: self._edited(update, form))
        self._draw_again()
        return form

    def _edited(self, update: Mapping[str, Any], form: StateForm) -> None:
        goto = form.goto
        edits = bool(update) or goto is not None
        if edits and not self._try(lambda: self.session.edit(update, goto=goto) or edits):
            form.form.enable()
            return
        self._main.end_edit()
        self._draw_again()

    def inspect(self, path: str) -> Inspector:
        """Show input, update, output, prints, error and source of node `path`, as a click does."""
        with self._painter.lock:
            self._inspector.look_at(self.session, path)
        serve_while_busy(self._inspector)
        return self._inspector

    def _switch(self, branch_id: str) -> None:
        if branch_id != self.session.branch_id:
            driver, notice = self.session.driver.on(branch_id), self.session.notice
            self._try(lambda: self._attach(Session(driver, notice=notice)))

    def _attach(self, session: Session) -> None:
        self._unwatch()
        self._other = self.session
        self._build(session)

    def close(self) -> None:
        """Close the widget; its session and what runs there go on."""
        self._closed = True
        self._unwatch()
        for each in self._painters:
            each.end()
        self._stay.gone()
        parts = (*self.children, self.layout)
        super().close()
        take_away(*parts)

    def __repr__(self) -> str:
        session = self.session
        return f"<Panel of thread {session.thread_id!r}, branch {session.branch_id!r}>"

    def _ipython_display_(self, **_: Any) -> None:
        self._stay.show()

    def _engaged(self) -> bool:
        """Return whether somebody works here: the focus is here, or a form is open."""
        return self._main.opened or self._timeline.past.at is not None or self._graph.has_focus

    def _still(self) -> dict[str, str]:
        return static_bundle(self.session)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if unattended():
            return static_bundle(self.session)
        return super()._repr_mimebundle_(**options)
