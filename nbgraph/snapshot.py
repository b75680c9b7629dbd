"""What a person sees of a thread: its position, and marks on the drawing. A fold over events."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbgraph.activity import Activity, LogLine, Mark, Usage, active, brief, line, used
from nbgraph.core.driver import Folding, Shape
from nbgraph.core.events import (
    AnswerRefused,
    AnswersGiven,
    Event,
    Interrupt,
    RunFailed,
    RunFinished,
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
from nbgraph.core.fold import advance
from nbgraph.core.live import Attempt, ChildEvent, LiveEvent, TaskEmitted, TaskStarted
from nbgraph.core.position import Answered, Position
from nbgraph.core.store import Status
from nbgraph.log_words import how_answered, how_edited, how_paused
from nbgraph.supersteps import (
    Progress,
    Report,
    Superstep,
    TaskBar,
    begun,
    changed,
    counted,
    how_ended,
    mark_of,
    visited,
)
from nbgraph.ways_taken import Edges, Within, led, passed, still_joining, to_the_end, within

__all__ = ["LogLine", "Mark", "Progress", "Report", "Snapshot", "Superstep", "TaskBar", "shown"]

_LOG_LIMIT = 200
_START = "__start__"


@dataclass(frozen=True)
class Snapshot:
    """What a panel shows.

    Attributes
    ----------
    position : Position
        Where the branch stands.
    running : bool
        Whether this session has a run going.
    marks : mapping of path to Mark
        One word for every node.
    progress : mapping of path to Progress
        Visits and seconds of the nodes that ran.
    taken : frozenset of (source, target)
        Edges that were taken in this turn.
    joining : tuple of path
        Nodes that a join held back to the end of this turn.
    supersteps : tuple of Superstep
        The timeline; the last one is the current one while tasks are planned.
    records : tuple of Answered
        Answers given so far in this turn.
    log : tuple of LogLine
        The newest lines.
    inner : mapping of task id to Within
        Where the sub-graphs of this turn stand.
    doing : mapping of task id to Activity
        What running tasks have shown of their progress.
    reports : mapping of path to Report
        How the newest task of each node ended; inside sub-graphs, as far as it was seen.
    usage : Usage
        Tokens that this turn's messages tell of.
    began, ended : float
        When this turn began, and when its last event was recorded.
    """

    position: Position = field(default_factory=Position)
    running: bool = False
    marks: Mapping[str, Mark] = field(default_factory=dict[str, Mark])
    progress: Mapping[str, Progress] = field(default_factory=dict[str, Progress])
    taken: frozenset[tuple[str, str]] = frozenset()
    joining: tuple[str, ...] = ()
    supersteps: tuple[Superstep, ...] = ()
    records: tuple[Answered, ...] = ()
    log: tuple[LogLine, ...] = ()
    inner: Mapping[str, Within] = field(default_factory=dict[str, Within])
    doing: Mapping[str, Activity] = field(default_factory=dict[str, Activity])
    reports: Mapping[str, Report] = field(default_factory=dict[str, Report])
    usage: Usage = field(default_factory=Usage)
    began: float = 0.0
    ended: float = 0.0

    def moved(self, **changes: Any) -> Snapshot:
        """Return the snapshot with some parts changed."""
        return changed(self, **changes)

    @property
    def status(self) -> Status:
        """`"running"` while this session runs it, else where the log ends."""
        return "running" if self.running else self.position.status

    @property
    def state(self) -> Mapping[str, Any]:
        """The state's fields, as Python values."""
        return self.position.state

    @property
    def step(self) -> int:
        """How many supersteps the thread has finished."""
        return self.position.step

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes that run next."""
        return self.position.next

    @property
    def pending(self) -> Mapping[str, Interrupt]:
        """The questions that wait, by key."""
        return self.position.pending

    @property
    def error(self) -> str | None:
        """What the last run ended with, as `"Type: message"`; None while nothing failed."""
        failure = self.position.failure
        return f"{failure.error.type}: {failure.error.message}" if failure else None


def shown(snapshot: Snapshot, event: Event | LiveEvent, shape: Shape, folding: Folding) -> Snapshot:
    """Return the snapshot after one more event."""
    match event:
        case TaskStarted(task_id=task_id, node=node, at=at):
            progress = begun(snapshot.progress, node, at, snapshot.marks.get(node, "idle"))
            bars = _bars(snapshot, task_id, mark="running", started=at)
            return snapshot.moved(progress=progress, **bars)
        case TaskEmitted(node=node, data=Attempt() as attempt):
            return _emitted(_tried(snapshot, node, attempt), event.task_id, node, event)
        case TaskEmitted(node=node):
            return _emitted(snapshot, event.task_id, node, event)
        case ChildEvent():
            return _inside(_led_inside(snapshot, event, shape), event)
        case TaskFinished():
            return _finished(snapshot, event, advance(snapshot.position, event, folding))
        case _:
            after = advance(snapshot.position, event, folding)
            moved = snapshot.moved(position=after, ended=event.created_at)
            return _recorded(moved, snapshot.position, event, shape)


def _emitted(snapshot: Snapshot, task_id: str, node: str, said: TaskEmitted) -> Snapshot:
    """Return the snapshot after a task said something."""
    told = line(node, said)
    if told is not None:
        snapshot = _logged(snapshot, told)
    doing = active(snapshot.doing.get(task_id), node, said)
    return snapshot if doing is None else snapshot.moved(doing={**snapshot.doing, task_id: doing})


def _inside(snapshot: Snapshot, event: ChildEvent) -> Snapshot:
    """Return the snapshot after something happened in a sub-graph: the last word marks a node."""
    path = event.path
    match event.event:
        case TaskStarted(node=node, at=at):
            inner = f"{path}/{node}"
            progress = begun(snapshot.progress, inner, at, snapshot.marks.get(inner, "idle"))
            return _marked(snapshot.moved(progress=progress), inner, "running")
        case TaskFinished() | TaskInterrupted() | TaskFailed() as report:
            inner = f"{path}/{report.node}"
            kept = _reports(snapshot, inner, f"{event.task_id}/{report.task_id}", report)
            progress = visited(snapshot.progress, inner, report)
            return _marked(snapshot.moved(progress=progress, **kept), inner, mark_of(report))
        case TaskEmitted(task_id=task_id, node=node) as said:
            return _emitted(snapshot, f"{event.task_id}/{task_id}", f"{path}/{node}", said)
        case _:
            return snapshot


def _led_inside(snapshot: Snapshot, child: ChildEvent, shape: Shape) -> Snapshot:
    """Return the snapshot with the edges that were taken inside a sub-graph."""
    event, path = child.event, child.path
    if isinstance(event, RunStarted):
        snapshot = _cleared(snapshot, f"{path}/")
    found = within(shape, path, snapshot.inner.get(child.task_id), event, snapshot.marks)
    if found is None:
        return snapshot
    now, taken, left = found
    return _took(snapshot.moved(inner={**snapshot.inner, child.task_id: now}), taken, left)


def _cleared(snapshot: Snapshot, prefix: str) -> Snapshot:
    taken = frozenset(edge for edge in snapshot.taken if not edge[1].startswith(prefix))
    idle = {each: "idle" for each in snapshot.marks if each.startswith(prefix)}
    return snapshot.moved(taken=taken, marks={**snapshot.marks, **idle})


def _reports(snapshot: Snapshot, path: str, task_id: str, report: Report) -> dict[str, Any]:
    """Return what a node's newest report changes; its task shows no progress any more."""
    kept = {"reports": {**snapshot.reports, path: report}}
    if task_id not in snapshot.doing:
        return kept
    return kept | {"doing": {key: one for key, one in snapshot.doing.items() if key != task_id}}


def _marked(snapshot: Snapshot, path: str, mark: Mark) -> Snapshot:
    return snapshot.moved(marks={**snapshot.marks, path: mark})


def _recorded(snapshot: Snapshot, before: Position, event: Event, shape: Shape) -> Snapshot:
    match event:
        case RunStarted(tasks=tasks):
            taken = frozenset((_START, task.node) for task in tasks)
            cleared = snapshot.moved(
                marks={node.path: "idle" for node in shape.nodes},
                taken=taken,
                joining=(),
                inner={},
                records=(),
                usage=Usage(),
                began=event.created_at,
            )
            return _planned(_started_anew(cleared), tasks)
        case SuperstepFinished(next=tasks):
            if tasks is None:
                return snapshot
            return _planned(_routed(snapshot, before, tasks, shape), tasks)
        case TaskFailed() | TaskInterrupted():
            kept = snapshot.moved(**_reports(snapshot, event.node, event.task_id, event))
            return _reported(kept, event)
        case AnswersGiven(answers=answers):
            given = tuple(snapshot.position.answered[key] for key in answers)
            answered = snapshot.moved(records=(*snapshot.records, *given))
            return _answered(answered, event, before)
        case AnswerRefused(key=key, problems=problems):
            text = f"the answer did not count: {'; '.join(problems.values())}"
            refused = _barred(snapshot, key.rpartition(":")[0], mark="waiting")
            records = tuple(item for item in refused.records if item.interrupt.key != key)
            return _said(refused.moved(records=records), event, text, "failed")
        case RunFinished():
            return _ended(snapshot, before, event, shape)
        case StateEdited(tasks=tasks) if tasks is not None:
            return _planned(_noted(_started_anew(snapshot), event), tasks)
        case _:
            return _noted(snapshot, event)


def _noted(snapshot: Snapshot, event: Event) -> Snapshot:
    match event:
        case RunFailed(error=error):
            halted = _halted(snapshot)
            if snapshot.position.failed:  # the task has said it
                return halted
            return _said(halted, event, f"{error.type}: {error.message}", "failed")
        case RunPaused(reason=reason):
            text = how_paused(reason, (task.node for task in snapshot.position.tasks))
            return _said(_halted(snapshot), event, text, "idle")
        case RunStopped():
            return _said(_halted(snapshot), event, "stopped", "idle")
        case StateEdited(update=update, replaced=replaced, by=None) if {*update} == {*replaced}:
            return snapshot  # the whole values of an engine that merges by itself
        case StateEdited():
            return _said(snapshot, event, how_edited(event), "idle")
        case _:
            return snapshot


def _started_anew(snapshot: Snapshot) -> Snapshot:
    """Drop a current superstep that a new turn leaves unfinished."""
    steps = snapshot.supersteps
    if steps and any(task.mark not in ("done", "skipped") for task in steps[-1].tasks):
        return snapshot.moved(supersteps=steps[:-1])
    return snapshot


def _planned(snapshot: Snapshot, tasks: Iterable[TaskSpec]) -> Snapshot:
    bars = tuple(TaskBar(task.task_id, task.node) for task in tasks)
    if not bars:
        return snapshot
    planned = Superstep(snapshot.position.step + 1, bars, snapshot.position.sequence)
    marks = dict(snapshot.marks)
    for bar in bars:
        marks[bar.node] = "idle"
    # A sum, where unpacking would copy the whole timeline twice.
    return snapshot.moved(supersteps=snapshot.supersteps + (planned,), marks=marks)  # noqa: RUF005


def _routed(
    snapshot: Snapshot, before: Position, tasks: Iterable[TaskSpec], shape: Shape
) -> Snapshot:
    """Add the edges that were taken, and mark what a branch did not choose."""
    sources = passed(before.tasks, before.joins, snapshot.position.joins)
    targets = {task.node for task in tasks}
    return _took(snapshot, *led(shape, sources, targets, snapshot.marks))


def _took(snapshot: Snapshot, taken: Edges, left: Collection[str]) -> Snapshot:
    if not left and taken <= snapshot.taken:
        return snapshot
    marks = {**snapshot.marks, **dict.fromkeys(left, "skipped")}
    return snapshot.moved(taken=snapshot.taken | taken, marks=marks)


def _ended(snapshot: Snapshot, before: Position, event: RunFinished, shape: Shape) -> Snapshot:
    last = snapshot.supersteps[-1].tasks if snapshot.supersteps and not before.tasks else ()
    taken = snapshot.taken | to_the_end(shape, {bar.node for bar in last})
    held = still_joining(shape, snapshot.position.joins, taken, snapshot.marks)
    text = f"finished; {', '.join(held)}: not all arrived" if held else "finished"
    return _said(snapshot.moved(taken=taken, joining=held), event, text, "done")


def _finished(snapshot: Snapshot, event: TaskFinished, after: Position) -> Snapshot:
    times = {"started": event.started or None, "seconds": event.duration}
    ended = {"tries": max(event.attempts, 1), "how": how_ended(event)}
    finished = snapshot.moved(
        position=after,
        ended=event.created_at,
        progress=visited(snapshot.progress, event.node, event),
        usage=used(snapshot.usage, event.update),
        **_bars(snapshot, event.task_id, mark=mark_of(event), **times, **ended),
        **_reports(snapshot, event.node, event.task_id, event),
    )
    if event.error is None:
        return finished
    text = f"{event.error.type}: {event.error.message}; handled, and the run goes on"
    return _said(finished, event, text, "failed")


def _reported(snapshot: Snapshot, event: TaskFailed | TaskInterrupted) -> Snapshot:
    match event:
        case TaskFailed(task_id=task_id, node=node, error=error):
            barred = _barred(snapshot, task_id, mark="failed", tries=event.attempts)
            tried = barred.moved(progress=visited(snapshot.progress, node, event))
            return _said(tried, event, f"{error.type}: {error.message}", "failed")
        case TaskInterrupted(task_id=task_id, interrupts=interrupts):
            asked = _barred(snapshot, task_id, mark="waiting" if interrupts else "idle")
            for item in interrupts:
                if item.node in asked.marks:  # in a sub-graph, whose own events are not kept here
                    asked = _marked(asked, item.node, "waiting")
            if not interrupts:
                return asked
            text = "; ".join(f"asks: {item.message or item.key}" for item in interrupts)
            return _said(asked, event, text, "waiting")


def _tried(snapshot: Snapshot, node: str, attempt: Attempt) -> Snapshot:
    """Count the attempt that follows one that failed."""
    tries = {"tries": attempt.number + 1, "limit": attempt.limit}
    return snapshot.moved(progress=counted(snapshot.progress, node, **tries))


def _answered(snapshot: Snapshot, event: AnswersGiven, before: Position) -> Snapshot:
    for key in event.answers:
        snapshot = _barred(snapshot, before.pending[key].task_id, mark="idle")
    return _said(snapshot, event, how_answered(event), "done")


def _halted(snapshot: Snapshot) -> Snapshot:
    """Take the running mark from tasks that nobody runs any more."""
    for bar in snapshot.supersteps[-1].tasks if snapshot.supersteps else ():
        if bar.mark == "running":
            snapshot = _barred(snapshot, bar.task_id, mark="idle")
    idle: dict[str, Mark] = {at: "idle" for at, mark in snapshot.marks.items() if mark == "running"}
    marks = {**snapshot.marks, **idle} if idle else snapshot.marks
    return snapshot.moved(marks=marks, doing={})


def _barred(snapshot: Snapshot, task_id: str, **changes: Any) -> Snapshot:
    """Return the snapshot with one task of the current superstep changed, and its node's mark."""
    return snapshot.moved(**_bars(snapshot, task_id, **changes))


def _bars(snapshot: Snapshot, task_id: str, **changes: Any) -> dict[str, Any]:
    current = snapshot.supersteps[-1] if snapshot.supersteps else None
    bar = current and current.bar(task_id)
    if current is None or bar is None:
        return {}
    barred = current.barred(changed(bar, **changes))
    return {
        "supersteps": snapshot.supersteps[:-1] + (barred,),  # noqa: RUF005 - as above
        "marks": {**snapshot.marks, bar.node: barred.mark(bar.node)},
    }


def _said(snapshot: Snapshot, event: Event, text: str, mark: Mark) -> Snapshot:
    return _logged(snapshot, LogLine(event.created_at, event.node or "", brief(text), mark))


def _logged(snapshot: Snapshot, line: LogLine) -> Snapshot:
    return snapshot.moved(log=(*snapshot.log, line)[-_LOG_LIMIT:])
