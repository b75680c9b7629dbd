"""When what ran: a row for each task, with its work, its waits and who answered. A fold."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from nbgraph.core.events import (
    AnswerRefused,
    AnswersGiven,
    Event,
    Interrupt,
    Lapsed,
    RunFailed,
    RunPaused,
    RunStarted,
    RunStopped,
    StateEdited,
    SuperstepFinished,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.snapshot import Mark, Snapshot
from nbgraph.supersteps import how_ended

__all__ = ["Person", "Span", "TaskRow", "Timetable", "timetable"]

Kind = Literal["work", "wait", "fail", "running"]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a task's time: it worked, waited for a person, failed, or runs still."""

    kind: Kind
    begin: float
    end: float


@dataclass(frozen=True, slots=True)
class Person:
    """What happened between a task and a person, and when.

    `by` is who answered, and `comment` what they said beside it.
    """

    what: Literal["asked", "answered", "refused"] | Lapsed
    at: float
    key: str
    by: str | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task of one superstep. `tries` is how often its node was tried in its last run.

    `how` is as `how_ended` says it.
    """

    step: int
    task_id: str
    node: str
    mark: Mark = "idle"
    spans: tuple[Span, ...] = ()
    people: tuple[Person, ...] = ()
    tries: int = 1
    how: str = ""

    @property
    def seconds(self) -> float | None:
        """From its begin to its end, waits included; None before it has run."""
        return self.spans[-1].end - self.spans[0].begin if self.spans else None

    def spent(self, *kinds: Kind) -> float:
        """Return how long it did so."""
        return sum(span.end - span.begin for span in self.spans if span.kind in kinds)


@dataclass(frozen=True, slots=True)
class Timetable:
    """The rows of a branch, in the order in which they were planned."""

    rows: tuple[TaskRow, ...]

    def to_frame(self) -> Any:
        """Return a row for each task as a pandas data frame.

        The columns are `step task node status began ended work waited tries asked by`, with times
        in seconds, and `began` and `ended` as timestamps in UTC.

        Raises
        ------
        IntegrationNotInstalledError
            If pandas is not installed.
        """
        from nbgraph.core.blob import imported

        pandas = imported("pandas", "pandas", "frames")
        frame = pandas.DataFrame([_cells(row) for row in self.rows], columns=_COLUMNS)
        for name in ("began", "ended"):
            frame[name] = pandas.to_datetime(frame[name], unit="s", utc=True)
        return frame


_COLUMNS = [
    *("step", "task", "node", "status", "began", "ended"),
    *("work", "waited", "tries", "asked", "by"),
]


def _cells(row: TaskRow) -> tuple[Any, ...]:
    answered = [person.by for person in row.people if person.what == "answered"]
    return (
        row.step,
        row.task_id,
        row.node,
        row.mark,
        row.spans[0].begin if row.spans else None,
        row.spans[-1].end if row.spans and row.mark in ("done", "skipped") else None,
        row.spent("work", "fail", "running"),
        row.spent("wait"),
        row.tries,
        sum(person.what == "asked" for person in row.people),
        ", ".join(dict.fromkeys(by or "somebody" for by in answered)),
    )


def timetable(
    events: Iterable[Event], snapshot: Snapshot | None = None, *, at: float | None = None
) -> Timetable:
    """Return when what ran.

    Parameters
    ----------
    events : iterable of Event
        A branch's log, or its beginning.
    snapshot : Snapshot, optional
        What is known of tasks that run now; a log says nothing of them.
    at : float, optional
        What counts as now for tasks that run or wait; by default the clock.
    """
    fold = _Fold()
    for event in events:
        fold.take(event)
    return Timetable(fold.ended(snapshot, time.time() if at is None else at))


@dataclass(slots=True)
class _Fold:
    """The rows so far; those of the current superstep come last."""

    done: list[TaskRow] = field(default_factory=list[TaskRow])
    now: dict[str, TaskRow] = field(default_factory=dict[str, TaskRow])
    asked: dict[str, Interrupt] = field(default_factory=dict[str, Interrupt])
    open: set[str] = field(default_factory=set[str])
    step: int = 0
    merged: bool = False
    known_since: float | None = None
    """Since when the tasks can have run; None once a run has ended in between."""

    def take(self, event: Event) -> None:
        match event:
            case RunStarted(tasks=tasks) | StateEdited(tasks=tuple(tasks)):
                if all(row.mark in ("done", "skipped") for row in self.now.values()):
                    self.done += self.now.values()
                self._plan(tasks, event.created_at)
            case SuperstepFinished(next=tasks):
                self.step += not self.merged
                self.merged = tasks is None
                if tasks is not None:
                    self.done += self.now.values()
                    self._plan(tasks, event.created_at)
            case TaskFinished() | TaskFailed() | TaskInterrupted():
                self._report(event)
            case AnswersGiven(answers=answers):
                for key in answers:
                    self._answer(key, event)
            case AnswerRefused(key=key):
                self.open.add(key)
                self._person(key, Person("refused", event.created_at, key))
            case RunPaused() | RunStopped() | RunFailed():
                self.known_since = None
            case _:
                pass

    def _plan(self, tasks: Sequence[TaskSpec], at: float) -> None:
        self.now = {task.task_id: TaskRow(self.step + 1, task.task_id, task.node) for task in tasks}
        self.asked, self.open, self.known_since, self.merged = {}, set(), at, False

    def _report(self, event: TaskFinished | TaskFailed | TaskInterrupted) -> None:
        row = self.now.get(event.task_id)
        if row is None:
            return
        row = _waited(row, event.created_at)
        match event:
            case TaskFinished(started=started, duration=seconds, attempts=attempts, tries=tries):
                begin = started or event.created_at
                ran = (Span("work", begin, begin + seconds),) if attempts else ()
                ran = (*_tried(tries[:-1]), Span("work", *tries[-1])) if tries else ran
                mark: Mark = "done" if attempts else "skipped"
                tried, how = max(attempts, 1), how_ended(event)
                row = replace(row, mark=mark, spans=row.spans + ran, tries=tried, how=how)
            case TaskFailed(attempts=attempts, tries=tries):
                whole = (self._begin(row, event.created_at), event.created_at)
                spans = (*row.spans, *_tried(tries or (whole,)))
                row = replace(row, mark="failed", spans=spans, tries=attempts)
            case TaskInterrupted(interrupts=interrupts):
                row = self._ask(row, interrupts, event.created_at)
        self.now[event.task_id] = row

    def _ask(self, row: TaskRow, interrupts: Sequence[Interrupt], at: float) -> TaskRow:
        spans = (*row.spans, Span("work", self._begin(row, at), at))
        if not interrupts:
            return replace(row, mark="idle", spans=spans)
        self.asked |= {item.key: item for item in interrupts}
        self.open |= {item.key for item in interrupts}
        people = tuple(Person("asked", at, item.key) for item in interrupts)
        spans = (*spans, Span("wait", at, at))
        return replace(row, mark="waiting", spans=spans, people=row.people + people)

    def _begin(self, row: TaskRow, at: float) -> float:
        """Return since when a task ran that tells its end only, as far as that is known."""
        if self.known_since is None:
            return at
        return max(self.known_since, row.spans[-1].end) if row.spans else self.known_since

    def _answer(self, key: str, event: AnswersGiven) -> None:
        self.known_since = event.created_at
        self.open.discard(key)
        lapsed = event.lapsed.get(key)
        what = lapsed or "answered"
        self._person(key, Person(what, event.created_at, key, event.by, event.comment))

    def _person(self, key: str, person: Person) -> None:
        question = self.asked.get(key)
        row = self.now.get(question.task_id) if question else None
        if row is None:
            return
        row = _waited(row, person.at)
        still = any(self.asked[each].task_id == row.task_id for each in self.open)
        people = (*row.people, person)
        self.now[row.task_id] = replace(row, mark="waiting" if still else "idle", people=people)

    def ended(self, snapshot: Snapshot | None, at: float) -> tuple[TaskRow, ...]:
        """Return the rows, with what runs or waits drawn up to now."""
        rows = [_waited(row, at) if row.mark == "waiting" else row for row in self.now.values()]
        running = snapshot.supersteps[-1] if snapshot and snapshot.supersteps else None
        if running is not None and running.number == self.step + 1:
            bars = {bar.task_id: bar for bar in running.tasks}
            rows = [
                _running(row, bars[row.task_id].started, at)
                if row.task_id in bars and bars[row.task_id].mark == "running"
                else row
                for row in rows
            ]
        return (*self.done, *rows)


def _tried(times: Iterable[tuple[float, float]]) -> tuple[Span, ...]:
    return tuple(Span("fail", begin, end) for begin, end in times)


def _running(row: TaskRow, started: float | None, at: float) -> TaskRow:
    span = Span("running", started or at, at)
    return replace(row, mark="running", spans=(*row.spans, span))


def _waited(row: TaskRow, until: float) -> TaskRow:
    """Return the row with its wait, if it waits, drawn up to a time."""
    if row.mark != "waiting" or not row.spans or row.spans[-1].kind != "wait":
        return row
    last = row.spans[-1]
    return replace(row, spans=(*row.spans[:-1], replace(last, end=max(until, last.end))))
