"""From one position to the next: where a thread stands is a fold over its events, no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, cast

from nbgraph.core.driver import Folding
from nbgraph.core.events import (
    AnswerRefused,
    AnswersGiven,
    BreakpointsSet,
    ChildPlace,
    Event,
    Forked,
    OnceRecorded,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStopped,
    StateEdited,
    SuperstepFinished,
    TaskBegan,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.core.position import Answered, Position, position_with
from nbgraph.core.questions import waiting
from nbgraph.core.record import empty
from nbgraph.core.starts import ended, outcome_key, paused, started

__all__ = ["advance", "fold", "merged_state", "superstepped"]


def fold(events: Iterable[Event], folding: Folding, start: Position | None = None) -> Position:
    """Return the position after `events`, from `start` or from nothing."""
    position = start or Position()
    if isinstance(events, (tuple, list)) and len(events) == 1:
        return advance(position, events[0], folding)
    for finished, group in groupby(events, _is_result):
        if finished:
            position = _all_finished(position, cast("Iterable[TaskFinished]", group))
            continue
        for event in group:
            position = advance(position, event, folding)
    return position


def _is_result(event: Event) -> bool:
    return isinstance(event, TaskFinished)


def _all_finished(position: Position, events: Iterable[TaskFinished]) -> Position:
    """Return the position after results that became known together, at the cost of one."""
    values: dict[str, Any] = position.__dict__ | _GOES_ON  # quicker than to write out a dict
    done = values["finished"] = dict(position.finished)
    for event in events:
        done[event.task_id] = event
        values["sequence"] = event.sequence
    if position.failed:
        failed = position.failed.items()
        values["failed"] = {key: value for key, value in failed if key not in done}
    return position_with(values)


def advance(position: Position, event: Event, folding: Folding) -> Position:
    """Return the position after one more event."""
    match event:
        case TaskFinished():
            return _all_finished(position, (event,))
        case SuperstepFinished():
            state = position.state if position.merged else merged_state(position, folding)
            return superstepped(position, event, state)
        case RunStarted() | StateEdited():
            return _written(position, event, folding)
        case TaskFailed() | TaskInterrupted() | TaskBegan() | OnceRecorded():
            return _reported(position, event)
        case AnswersGiven() | AnswerRefused():
            return _asked(position, event)
        case BreakpointsSet() | Forked() | RunPaused() | RunStopped() | RunFinished() | RunFailed():
            return _marked(position, event)


def merged_state(position: Position, folding: Folding) -> Mapping[str, Any]:
    """Return the state after the updates of all tasks, applied in task order."""
    updates: list[tuple[Mapping[str, Any], tuple[str, ...]]] = []
    for task in position.tasks:
        result = position.finished[task.task_id]
        if result.update:
            updates.append((result.update, result.replaced))
    return folding.apply_all(position.state, updates) if updates else position.state


def superstepped(
    position: Position, event: SuperstepFinished, state: Mapping[str, Any]
) -> Position:
    """Return the position after a superstep whose merged state is `state`."""
    values: dict[str, Any] = position.__dict__ | _CLEARED
    values["sequence"], values["state"] = event.sequence, state
    values["joins"] = event.joins
    if not position.merged:
        values["step"] = position.step + 1
    if event.next is None:
        values["finished"], values["merged"] = position.finished, True
    else:
        values["tasks"], values["planned"] = event.next, event.sequence
        values["planned_at"] = event.created_at
    return position_with(values)


_GOES_ON: dict[str, Any] = {"paused": None, "failure": None}
"""What every result leaves nothing of."""

_CLEARED: dict[str, Any] = {
    name: empty()
    for name in (
        "finished",
        "failed",
        "began",
        "pending",
        "answered",
        "caches",
        "once",
        "hooked",
        "children",
    )
} | {"merged": False, "paused": None, "failure": None}
"""What a finished superstep leaves nothing of."""


def _written(position: Position, event: RunStarted | StateEdited, folding: Folding) -> Position:
    match event:
        case RunStarted(input=update, replaced=replaced, tasks=tasks):
            return Position(
                sequence=event.sequence,
                step=position.step,
                state=folding.apply(position.state, update, replaced),
                tasks=tasks,
                planned=event.sequence,
                planned_at=event.created_at,
                before=position.before,
                after=position.after,
            )
        case StateEdited(update=update, replaced=replaced, replace=whole):
            start: Mapping[str, Any] = {} if whole else position.state
            state = folding.apply(start, update, replaced)
            edited = position.moved(sequence=event.sequence, state=state)
            return edited if event.tasks is None else _sent_to(edited, event, event.tasks)


def _sent_to(position: Position, event: StateEdited, tasks: tuple[TaskSpec, ...]) -> Position:
    """Return the position after somebody said what runs next."""
    return position.moved(
        **_CLEARED, tasks=tasks, planned=event.sequence, planned_at=event.created_at
    )


def _reported(
    position: Position,
    event: TaskFailed | TaskInterrupted | TaskBegan | OnceRecorded,
) -> Position:
    task_id = event.task_id
    moved = position.moved(sequence=event.sequence, paused=None, failure=None)
    failed = {key: value for key, value in position.failed.items() if key != task_id}
    match event:
        case TaskFailed():
            return moved.moved(
                failed={**position.failed, task_id: event},
                children=_placed(position, event),
                answered=_asked_anew(position.answered, task_id),
            )
        case TaskInterrupted(interrupts=interrupts, cache=cache, answers=hooked, ended=keys):
            asked = {item.key for item in interrupts}
            old = position.answered
            return moved.moved(
                failed=failed,
                began=paused(position.began, task_id, asked, keys),
                pending=waiting(position.tasks, position.pending, *interrupts),
                answered={key: given for key, given in old.items() if key not in asked},
                caches={**position.caches, task_id: cache},
                hooked={**position.hooked, task_id: hooked},
                children=_placed(position, event),
            )
        case TaskBegan(key=key):
            return _begun(moved, task_id, key).moved(failed=failed)
        case OnceRecorded(key=key, value=value):
            kept = {**position.once.get(task_id, {}), key: value}
            began = ended(position.began, task_id, key)
            return moved.moved(once={**position.once, task_id: kept}, began=began)


def _asked_anew(answered: Mapping[str, Answered], task_id: str) -> Mapping[str, Answered]:
    """Return what is answered after a task failed: one without an answer asks again."""
    if all(item.counts for item in answered.values()):
        return answered
    return {
        key: item
        for key, item in answered.items()
        if item.counts or item.interrupt.task_id != task_id
    }


def _begun(position: Position, task_id: str, key: str | None) -> Position:
    """Return the position after a start, which uses up what was answered about an earlier one."""
    address = outcome_key(task_id, key)
    given = {**position.hooked.get(task_id, {})}
    given.pop(address, None)
    return position.moved(
        began=started(position.began, task_id, key),
        answered={one: answer for one, answer in position.answered.items() if one != address},
        hooked={**position.hooked, task_id: given},
    )


def _placed(position: Position, event: TaskFailed | TaskInterrupted) -> Mapping[str, ChildPlace]:
    if event.child is None:
        return position.children
    return {**position.children, event.task_id: event.child}


def _asked(position: Position, event: AnswersGiven | AnswerRefused) -> Position:
    pending, answered, began = dict(position.pending), dict(position.answered), position.began
    match event:
        case AnswersGiven(answers=answers, by=by, lapsed=lapsed, comment=comment):
            for key, answer in answers.items():
                answered[key] = Answered(
                    pending.pop(key),
                    answer,
                    by,
                    event.created_at,
                    event.sequence,
                    position.step + 1,
                    event.branch_id,
                    lapsed.get(key),
                    comment,
                )
        case AnswerRefused(key=key, problems=problems):
            asked = {"asked": event.sequence, "created_at": event.created_at}
            again = {**asked, "problems": problems}
            question = answered.pop(key).interrupt.model_copy(update=again)
            pending = dict(waiting(position.tasks, pending, question))
            began = paused(began, question.task_id, (key,))
    return position.moved(
        sequence=event.sequence, pending=pending, answered=answered, began=began, paused=None
    )


def _marked(
    position: Position,
    event: BreakpointsSet | Forked | RunPaused | RunStopped | RunFinished | RunFailed,
) -> Position:
    moved = position.moved(sequence=event.sequence)
    match event:
        case BreakpointsSet(before=before, after=after):
            return moved.moved(
                before=position.before if before is None else before,
                after=position.after if after is None else after,
            )
        case RunPaused(reason=reason):
            return moved.moved(paused=reason, failure=None)
        case RunStopped():
            return moved.moved(paused=None, failure=None)
        case RunFailed():
            return moved.moved(paused=None, failure=event)
        case RunFinished():
            return moved.moved(tasks=(), finished={}, merged=False, paused=None, failure=None)
        case Forked():
            return moved
