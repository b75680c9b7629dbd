"""The branches of a LangGraph thread, as its checkpointer has them."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field, ValidationError

from nbgraph.adapters.langgraph_events import Translation
from nbgraph.adapters.langgraph_thread import BY, STOPS, TAG, EngineThread
from nbgraph.adapters.log import BranchLog, ThreadLog
from nbgraph.adapters.values import plain
from nbgraph.core.events import (
    AnswersGiven,
    BreakpointsSet,
    Event,
    Interrupt,
    RunFailed,
    RunFinished,
    RunPaused,
    StateEdited,
    TaskFailed,
    TaskInterrupted,
)
from nbgraph.core.live import LiveEvent
from nbgraph.core.position import Position
from nbgraph.core.record import Json, Record
from nbgraph.errors import GraphConfigError

__all__ = ["follow", "note_of", "signed", "stops_of"]

_WAY = "branch:to:"
"""What LangGraph calls the channel that leads to a node."""
_Make = Callable[[BranchLog], Translation]
_Reports = Callable[[], list[Event | LiveEvent]]


async def follow(engine: EngineThread, log: ThreadLog, translation: _Make) -> None:
    """Take up what the checkpointer has that the log has not: a history is read at most once.

    LangGraph keeps a tree of checkpoints. Each of its leaves is a branch; the newest one that no
    run of ours has named otherwise is `"main"`.

    Raises
    ------
    GraphConfigError
        If the thread was made by a graph with other nodes.
    """
    head = await engine.head()
    known = {place for branch in log.branches.values() for place in branch.places()}
    if head is None or head in known:
        return
    await _check_nodes(engine)
    history = await engine.history()
    notes = await engine.notes()
    by_id = {_place(each): each for each in history}
    tags = {_place(each): _tag(each, notes) for each in history}
    leaves = _leaves(history, tags)
    ends = {_place(leaf): await engine.snapshot(_place(leaf)) for leaf in leaves}
    for leaf in leaves:
        chain = _chain(leaf, by_id)
        new = [snapshot for snapshot in chain if _place(snapshot) not in known]
        if new:
            branch = _branch_of(log, _parent(new[0]), tags[_place(leaf)])
            _take_up(_Reading(engine, branch, translation(branch), notes), new, ends[_place(leaf)])
        known.update(_place(each) for each in chain)


async def _check_nodes(engine: EngineThread) -> None:
    found = await engine.last()
    reached = found.checkpoint["channel_versions"] if found is not None else {}
    names = {name.removeprefix(_WAY) for name in reached if name.startswith(_WAY)}
    foreign = names - set(engine.app.nodes)
    if foreign:
        raise GraphConfigError(
            f"Thread {engine.thread_id!r} in this checkpointer was made by another graph: it has "
            f"the nodes {', '.join(map(repr, sorted(foreign)))}, which {engine.app.get_name()!r} "
            "has not; pass another thread_id"
        )


def _place(snapshot: Any) -> str:
    return snapshot.config["configurable"]["checkpoint_id"]


def _parent(snapshot: Any) -> str | None:
    config = snapshot.parent_config
    return None if config is None else config["configurable"].get("checkpoint_id")


def _leaves(history: Sequence[Any], tags: Mapping[str, str | None]) -> list[Any]:
    """Return the last snapshot of each branch, that of `"main"` first, then oldest first."""
    parents = {_parent(each) for each in history}
    leaves = [each for each in history if _place(each) not in parents]
    unnamed = [each for each in leaves if tags[_place(each)] in (None, "main")]
    main = (unnamed or leaves)[-1]
    return [main, *(each for each in leaves if each is not main)]


def _tag(snapshot: Any, notes: Mapping[str, Sequence[Any]]) -> str | None:
    """Return the branch a run or a change of ours was on; None for somebody else's."""
    noted = [each[TAG] for each in notes.get(_place(snapshot), ()) if TAG in each]
    return (snapshot.metadata or {}).get(TAG) or next(iter(noted), None)


def _chain(leaf: Any, by_id: Mapping[str, Any]) -> list[Any]:
    chain = [leaf]
    while (parent := by_id.get(_parent(chain[-1]) or "")) is not None:
        chain.append(parent)
    return chain[::-1]


def _branch_of(log: ThreadLog, parent: str | None, tag: str | None) -> BranchLog:
    """Return the branch that stood at a checkpoint, or a new one that starts there."""
    for branch in log.branches.values():
        if parent == branch.place:
            return branch
    for branch in tuple(log.branches.values()):
        at = branch.last_at(parent)
        if at:
            name = tag if tag and tag not in log.branches else log.free_name()
            log.branches[name] = branch.forked(name, at)
            return log.branches[name]
    name = tag if tag and tag not in log.branches else log.free_name()
    return log.branches.setdefault(name, BranchLog(name, log.folding))


@dataclass(frozen=True, slots=True)
class _Reading:
    """A chain of checkpoints on its way into the log of a branch."""

    engine: EngineThread
    branch: BranchLog
    translation: Translation
    notes: Mapping[str, Sequence[Any]]

    @property
    def stops(self) -> Sequence[str]:
        """The nodes that the branch pauses before."""
        named = self.branch.position.before
        return self.engine.stops if named is None else named

    def record(self, snapshot: Any, reports: _Reports) -> None:
        """Take up a checkpoint: what it says, what was noted there, what its tasks report."""
        source = (snapshot.metadata or {}).get("source", "loop")
        if source == "input":
            given = next((task.result for task in snapshot.tasks if task.name == "__start__"), None)
            self.translation.given = plain(given)
        place, at = _place(snapshot), _seconds(snapshot.created_at)
        self._keep(self._stopped((snapshot.metadata or {}).get(STOPS)), place, at)
        by = (snapshot.metadata or {}).get(BY)
        said = self.translation.checkpoint(place, source, snapshot.values, snapshot.tasks)
        self._keep([signed(event, by) for event in said], place, at)
        for note in _in_order(self.notes.get(place, ())):
            self._keep(self._noted(note), place, None)
        if not any(task.name == "__start__" for task in snapshot.tasks):
            self._keep(reports(), place, at)

    def _stopped(self, lists: str | None) -> list[Event]:
        """Return that a branch has breakpoints of its own, where these are others than before."""
        position = self.branch.position
        if lists is None:
            return []
        before, after = (None if each is None else tuple(each) for each in json.loads(lists))
        same = (before, after) == (position.before, position.after)
        return [] if same else [BreakpointsSet(before=before, after=after)]

    def _keep(self, events: Iterable[Event | LiveEvent], place: str, at: float | None) -> None:
        stored = [event for event in events if not isinstance(event, LiveEvent)]
        self.branch.record([_dated(event, at) for event in stored], place)

    def _noted(self, note: _Note) -> list[Event]:
        """Return what a note tells: questions as they were asked, and then their answers."""
        pending = self.branch.position.pending
        new = [each for each in note.questions if each.key not in pending]
        asked = [
            TaskInterrupted(
                task_id=each.task_id,
                node=each.node,
                interrupts=(each,),
                created_at=each.created_at,
            )
            for each in new
        ]
        for each in new:
            self.translation.noted(each)
        first = len(self.branch.events) + 1
        places = {each.key: first + number for number, each in enumerate(new)}
        known = {key: question.asked for key, question in pending.items()} | places
        given = note.told
        if isinstance(given, AnswersGiven):
            given = given.model_copy(update={"asked": {key: known[key] for key in given.answers}})
            self.translation.answered(each.id for each in note.questions if note.whole)
        return [*asked, given]


def _take_up(reading: _Reading, new: Sequence[Any], last: Any) -> None:
    """Record snapshots that follow one another, and of the last how the run that left it ended."""
    for snapshot, following in pairwise(new):
        # What a task reported after the thread was taken back there belongs to another branch.
        goes_on = (following.metadata or {}).get("source") not in ("fork", "update")
        reading.record(snapshot, _results(reading.translation, snapshot) if goes_on else list)
    reading.record(last, _reports(reading, last))


def signed(event: Event, by: str | None) -> Event:
    """Return an edit with the name of who made it; any other event as it is."""
    return event.model_copy(update={"by": by}) if isinstance(event, StateEdited) and by else event


# --- notes ----------------------------------------------------------------------------------


class _Note(Record):
    """What only we know of a checkpoint, as it is kept with it.

    `questions` are those of the engine's interrupts that were answered, in part or (`whole`) all.
    """

    at: float
    told: Annotated[AnswersGiven | BreakpointsSet, Field(discriminator="type")]
    questions: tuple[Interrupt, ...] = ()
    whole: bool = True


def note_of(event: AnswersGiven | BreakpointsSet, branch: BranchLog) -> Json:
    """Return an event as it is kept with the checkpoint that a branch stands at."""
    answers = event.answers if isinstance(event, AnswersGiven) else {}
    pending, answered = branch.position.pending, branch.position.answered
    ids = {pending[key].id for key in answers}
    asked = {key: item.interrupt for key, item in answered.items()} | dict(pending)
    batch = tuple(question for question in asked.values() if question.id in ids)
    whole = all(each.key in answers or each.key in answered for each in batch)
    note = _Note(at=event.created_at, told=event, questions=batch, whole=whole)
    return note.model_dump(mode="json")


def _in_order(kept: Iterable[Any]) -> list[_Note]:
    """Return notes as they were made; what is none of ours is left out."""
    found: list[_Note] = []
    for each in kept:
        try:
            found.append(_Note.model_validate(each))
        except ValidationError:
            continue
    return sorted(found, key=lambda note: note.at)


# --- reports --------------------------------------------------------------------------------


def _results(translation: Translation, snapshot: Any) -> _Reports:
    """Return what the tasks of a superstep that is over had as results."""
    return lambda: [
        event
        for task in snapshot.tasks
        if task.result is not None
        for event in translation.reported({**_task(task), "error": None, "interrupts": ()})
    ]


def _reports(reading: _Reading, snapshot: Any) -> _Reports:
    """Return what the tasks of the last superstep say, and how the run that left them ended."""

    def reports() -> list[Event | LiveEvent]:
        translation = reading.translation
        for task in snapshot.tasks:
            translation.learn_inner(task)
        told = [task for task in snapshot.tasks if task.error or task.interrupts or task.result]
        events = [event for task in told for event in translation.reported(_told(task))]
        held = translation.held(snapshot.tasks, reading.stops)
        return [*events, *held, *_ending(reading, [*events, *held])]

    return reports


def _told(task: Any) -> Mapping[str, Any]:
    """Return a task's report. One that has a result has had its questions answered."""
    report = _task(task)
    return report if task.result is None else {**report, "interrupts": (), "error": None}


def _task(task: Any) -> dict[str, Any]:
    return {name: getattr(task, name) for name in ("id", "name", "error", "interrupts", "result")}


def _ending(reading: _Reading, events: Sequence[Event | LiveEvent]) -> list[Event]:
    failed = next((event for event in events if isinstance(event, TaskFailed)), None)
    translation = reading.translation
    if failed is not None:
        return [RunFailed(error=failed.error)]
    if any(translation.asking.values()):
        return [RunPaused(reason="interrupt")]
    if not translation.tasks:
        return [RunFinished()]
    inside = [event.child for event in events if isinstance(event, TaskInterrupted)]
    sides = [child.paused for child in inside if child is not None and child.paused]
    if {*reading.stops} & {task.node for task in translation.tasks} or "before" in sides[:1]:
        return [RunPaused(reason="before")]
    return [RunPaused(reason="after")] if sides else []


def stops_of(position: Position) -> dict[str, str]:
    """Return the breakpoints of a branch as they are kept in its runs' metadata."""
    if position.before is None and position.after is None:
        return {}
    return {STOPS: json.dumps([position.before, position.after])}


def _dated(event: Event, at: float | None) -> Event:
    return event if at is None else event.model_copy(update={"created_at": at})


def _seconds(created_at: str | None) -> float | None:
    try:
        return None if created_at is None else datetime.fromisoformat(created_at).timestamp()
    except ValueError:
        return None
