"""A session: the sync face of one driver for a person. No widget in here.

It sends requests, folds what happens into a snapshot, and tells whoever watches. Its methods may be
called from any thread but the loop's, and return at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from nbgraph.agents.records import Decisions, decisions_of
from nbgraph.carrying import RUNNING, Carrier, Predicate
from nbgraph.core.driver import Capability, Driver
from nbgraph.core.events import Event, Forked, Interrupt
from nbgraph.core.exports import written
from nbgraph.core.loop import on_loop_thread, run_sync, submit
from nbgraph.core.requests import (
    Continue,
    Edit,
    Fork,
    Resume,
    SetBreakpoints,
    Skip,
    Start,
    Stop,
)
from nbgraph.core.result import GraphResult
from nbgraph.core.store import Status
from nbgraph.errors import ResumeError, UnsupportedByEngineError
from nbgraph.handles import Run, Script
from nbgraph.listening import Held
from nbgraph.prefix import seen
from nbgraph.snapshot import Mark, Snapshot

__all__ = ["Run", "Session"]


class Session:
    """Drives one branch of one thread, and keeps what a person sees of it.

    Parameters
    ----------
    driver : Driver
        The engine's thread.
    notice : str, optional
        Something a person should know about it, such as that nothing is kept.
    """

    def __init__(self, driver: Driver, *, notice: str | None = None) -> None:
        self.driver = driver
        self.notice = notice
        self._carrier = Carrier(driver)
        run_sync(self._carrier.follow())

    @property
    def snapshot(self) -> Snapshot:
        """What there is to see, as of the last event."""
        return self._carrier.snapshot

    @property
    def thread_id(self) -> str:
        """The thread's id."""
        return self.driver.thread_id

    @property
    def branch_id(self) -> str:
        """The branch's id."""
        return self.driver.branch_id

    @property
    def status(self) -> Status:
        """Where the thread stands: new, running, interrupted, completed, failed or stopped."""
        return self.snapshot.status

    @property
    def state(self) -> dict[str, Any]:
        """The state, as JSON."""
        return self.driver.folding.to_json(self.snapshot.position.state)

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes that run next."""
        return self.snapshot.next

    @property
    def pending(self) -> Mapping[str, Interrupt]:
        """The questions that wait, by key."""
        return self.snapshot.pending

    @property
    def marks(self) -> Mapping[str, Mark]:
        """One word for every node."""
        return self.snapshot.marks

    @property
    def error(self) -> str | None:
        """What the last run ended with; None while nothing failed."""
        return self.snapshot.error

    def start(
        self,
        input: Mapping[str, Any] | BaseModel | None = None,
        *,
        break_when: Predicate | None = None,
    ) -> Run:
        """Begin a turn with `input`; `break_when` takes the state and says where to pause.

        The predicate is asked before every superstep, the first too, and is not remembered. Whoever
        goes on passes the point where the thread stands.

        Raises
        ------
        ResumeError
            If the thread waits for answers, or is running.
        """
        if self.pending:
            raise ResumeError(
                f"The thread waits for {', '.join(map(repr, self.pending))}; answer, or fork it"
            )
        return self._begin(Start(input or {}), break_when)

    def resume(
        self,
        answers: Mapping[str, Any],
        *,
        partial: bool = True,
        asked: Mapping[str, int] | None = None,
        by: str | None = None,
        comment: str | None = None,
        break_when: Predicate | None = None,
    ) -> Run:
        """Answer pending questions by key; a form passes which asking it showed, as `asked`.

        The other arguments are as `Resume` and `start` take them. `partial` leaves questions
        without an answer pending, `by` names who answers, `comment` is recorded beside the
        answers, and `break_when` says where to pause.

        Raises
        ------
        ResumeError
            If the thread is running, or `answers` is empty.
        """
        known = {key: self.pending[key].asked for key in answers if key in self.pending}
        shown = {**known, **(asked or {})}
        request = Resume(answers=answers, partial=partial, asked=shown, by=by, comment=comment)
        return self._begin(request, break_when)

    def proceed(self, *, break_when: Predicate | None = None) -> Run:
        """Go on to the next pause or the end; `break_when` is as `start` takes it.

        Raises
        ------
        ResumeError
            If there is nothing to go on with, or the thread is running or waits for answers.
        """
        return self._continue(Continue(), break_when)

    def step(self, task: str | None = None) -> Run:
        """Run one superstep, or only `task` of it, by its id: the others wait for the next request.

        Raises
        ------
        ResumeError
            If there is no such task to run, or as `proceed` says.
        """
        self._need("step")
        return self._continue(Continue(steps=1, tasks=() if task is None else (task,)))

    def step_into(self) -> Run:
        """Run one superstep; a sub-graph in it pauses before its first one, or runs one of its."""
        self._need("step")
        return self._continue(Continue(steps=1, into=True))

    def run_until(self, node: str) -> Run:
        """Go on until a task of `node` is next: a node's path, `"refund/check"` in a sub-graph.

        Raises
        ------
        ResumeError
            If there is no such node, or as `proceed` says.
        """
        self._need("until")
        known = [each.path for each in self.driver.shape.nodes]
        if node not in known:
            raise ResumeError(f"There is no node {node!r}; nodes are {', '.join(map(repr, known))}")
        return self._continue(Continue(until=node))

    def _continue(self, request: Continue, break_when: Predicate | None = None) -> Run:
        position = self.snapshot.position
        may_be_over = any(item.expires_at is not None for item in position.pending.values())
        if position.pending and not (position.runnable or may_be_over):
            raise ResumeError(f"The thread waits for {', '.join(map(repr, position.pending))}")
        if not position.tasks:
            raise ResumeError("There is nothing to continue; start the thread with an input")
        return self._begin(request, break_when)

    def pause(self) -> None:
        """Let the run end when its superstep is finished."""
        self._need("pause")
        submit(self._carrier.tell(Stop(gently=True)))

    def stop(self) -> None:
        """End the run now; its unfinished tasks can be continued."""
        self._need("stop")
        submit(self._carrier.tell(Stop()))

    def edit(self, update: Mapping[str, Any], *, goto: Any = None) -> None:
        """Change the state by `update` through its reducers; `goto` says which nodes run next.

        Raises
        ------
        StateUpdateError
            If a value does not fit; the thread is unchanged.
        ResumeError
            While the thread is running, or if there is no such node to go to.
        """
        self._need("edit")
        self._now(Edit(update, goto=goto))

    def skip(self, task_id: str, value: Mapping[str, Any] | None = None) -> None:
        """Count the unfinished task `task_id` as finished, with `value` as its update.

        Raises
        ------
        ResumeError
            If there is no such task to skip.
        StateUpdateError
            If `value` does not fit; the thread is unchanged.
        """
        self._need("skip")
        self._now(Skip(task_id, value or {}))

    def breakpoints(
        self, before: Sequence[str] | None = None, after: Sequence[str] | None = None
    ) -> None:
        """Pause `before` and `after` these nodes from now on; None keeps a list, `()` clears it.

        While a run goes on, it heeds them from its next superstep on.
        """
        self._need("breakpoints")
        lists = [None if names is None else tuple(names) for names in (before, after)]
        run_sync(self._carrier.tell(SetBreakpoints(*lists)))

    def fork(
        self,
        at: int | None = None,
        name: str | None = None,
        update: Mapping[str, Any] | None = None,
    ) -> Session:
        """Start a branch from event `at` (the last one without it), and return its session.

        `name` is its id, made up without it. `update` changes the state there, as `edit` does.

        Raises
        ------
        StateUpdateError
            If `at` is no event of the branch, or `update` does not fit.
        StateStoreError
            If there is a branch of that name.
        """
        self._need("fork")
        branch_id = run_sync(self._forked(Fork(at, name, update)))
        return Session(self.driver.on(branch_id), notice=self.notice)

    async def _forked(self, request: Fork) -> str:
        async with aclosing(self.driver.send(request)) as happening:
            found = [event.branch_id async for event in happening if isinstance(event, Forked)]
        return found[0]

    def history(self) -> Sequence[Event]:
        """Return all recorded events, in order."""
        return run_sync(self.driver.events())

    def listen(self, held: Held) -> None:
        """Show what nodes print and log as events of theirs, and nowhere else, from the next run.

        `held` is called, from another thread, with the async node that holds the loop for half a
        second, so that nothing else runs, and with None when it has let go.
        """
        self._carrier.held = held

    def at(self, sequence: int) -> Snapshot:
        """Return what there was to see after event `sequence`, `0` before the first: a fold.

        Raises
        ------
        StateUpdateError
            If it is no event of the branch.
        """
        return run_sync(seen(self.driver, sequence))

    def decisions(self) -> Decisions:
        """Return what was decided about tool calls on this branch, in the order of asking.

        Each row has the proposed, approved and executed arguments, who decided and when;
        `.to_frame()` gives a pandas data frame.
        """
        return decisions_of(self.history())

    def export(self, path: str | Path) -> Path:
        """Write the thread as a notebook, and return where: a section a step, and its replay.

        A section has the step's picture, what it changed, questions and answers, and a code cell
        that goes there again. Secrets of answers are covered.

        Parameters
        ----------
        path : str or Path
            The file, `thread.ipynb`; one that is there is replaced.
        """
        written(self, Path(path))
        return Path(path)

    def watch(self, callback: Callable[[Snapshot], None]) -> Callable[[], None]:
        """Call `callback` with the snapshot now and after every event; return how to stop that.

        Later calls come on the loop thread, before the run's `result()` returns: a callback must
        return at once. What it raises is logged.
        """
        return self._carrier.watch(callback)

    def reload(self) -> None:
        """Take up what others recorded since the last event."""
        run_sync(self._carrier.follow())

    def close(self) -> None:
        """Stop what runs, stop telling watchers, and wait until both are done."""
        if on_loop_thread():
            submit(self._carrier.close())
        else:
            run_sync(self._carrier.close())

    def settle(self) -> GraphResult:
        """Wait for the end of the run that goes on, if one does, and return where that left it."""
        return self._carrier.settle()

    def finish(self, answers: Mapping[str, Any] | None = None) -> GraphResult:
        """Go on to the end without a person, answering from `answers` by key.

        A value is the answer each time the key is asked; a list holds one for each asking, in
        order; a callable is given the `Interrupt`. Waits for the end, and returns the result.

        Raises
        ------
        ResumeError
            If a key is asked that has no answer; the message names it.
        """
        script = Script(answers or {})
        result = self.settle()
        while result.status == "interrupted":
            given = {key: script.answer(question) for key, question in self.pending.items()}
            run = self.resume(given) if given else self.proceed()
            result = run.result()
        return result

    def _begin(
        self, request: Start | Resume | Continue, break_when: Predicate | None = None
    ) -> Run:
        if break_when is not None:
            self._need("break_when")
        return self._carrier.begin(request, break_when, self.stop)

    def _now(self, request: Edit | Skip) -> None:
        if self.snapshot.running:
            raise ResumeError(RUNNING)
        run_sync(self._carrier.tell(request))

    def _need(self, capability: Capability) -> None:
        reason = self.driver.capabilities.get(capability, "")
        if reason is not None:
            raise UnsupportedByEngineError(self.driver.engine, capability)

    def __repr__(self) -> str:
        return f"<Session of thread {self.thread_id!r}, branch {self.branch_id!r}: {self.status}>"
