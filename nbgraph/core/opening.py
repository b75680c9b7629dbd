"""What a request records before anything runs, decided without I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from nbgraph.core.answering import answers_given, expired
from nbgraph.core.events import (
    AnswersGiven,
    BreakpointsSet,
    Event,
    RunStarted,
    StateEdited,
    TaskFinished,
)
from nbgraph.core.flow import Structure
from nbgraph.core.fold import merged_state
from nbgraph.core.naming import listed, login_name
from nbgraph.core.position import Position
from nbgraph.core.requests import Continue, Edit, Resume, SetBreakpoints, Skip, Start
from nbgraph.core.schema import StateSchema, Update
from nbgraph.core.superstep import check_conflicts, first_tasks, gone_to
from nbgraph.errors import InvalidUpdateError, ResumeError

__all__ = ["check_breakpoints", "opening"]


def opening(
    request: Start | Resume | Continue | Edit | Skip | SetBreakpoints,
    position: Position,
    *,
    structure: Structure,
    schema: StateSchema,
    thread_id: str,
    now: float = -math.inf,
) -> list[Event]:
    """Return the events a request begins with; `now` decides which questions are expired.

    Raises
    ------
    ResumeError
        If the request does not fit where the thread stands.
    AnswerError
        If an answer does not fit its question.
    StateUpdateError, StateStoreError
        If an input or edit does not fit the state.
    """
    match request:
        case Start():
            return [_start(request, position, structure, schema)]
        case Resume():
            return [answers_given(request, position, thread_id=thread_id, now=now)]
        case Continue():
            _check_until(request.until, structure)
            _check_tasks(request.tasks, position)
            return _continued(position, schema, expired(position, thread_id=thread_id, now=now))
        case Edit():
            return [_edited(request, position, structure, schema)]
        case Skip():
            return [_skipped(request, position, schema)]
        case SetBreakpoints():
            return _breakpoints(request, position, structure)


def _start(
    request: Start, position: Position, structure: Structure, schema: StateSchema
) -> RunStarted:
    if position.pending:
        raise ResumeError(
            f"The thread waits for {listed(position.pending)}; answer with Resume, or fork it at "
            "an earlier event and start there"
        )
    update = _fitted(request.input, "input", position, schema)
    return RunStarted(
        input=dict(update.values), replaced=update.replaced, tasks=first_tasks(structure)
    )


def _fitted(
    given: Mapping[str, Any] | BaseModel, where: str, position: Position, schema: StateSchema
) -> Update:
    """Return a checked update; the first one of a thread brings the schema's defaults."""
    if position.state:
        return schema.update(given, where)
    return schema.start(given, where)


def _edited(
    request: Edit, position: Position, structure: Structure, schema: StateSchema
) -> StateEdited:
    checked = _fitted(request.update, "edit", position, schema)
    tasks = None if request.goto is None else gone_to(structure, schema, request.goto)
    if tasks is None and not position.merged:
        _check_unwritten(checked, position, schema)
    return StateEdited(
        update=dict(checked.values),
        replaced=checked.replaced,
        by=request.by or login_name(),
        tasks=tasks,
    )


def _check_unwritten(checked: Update, position: Position, schema: StateSchema) -> None:
    """Refuse an edit of a field that a finished task of the superstep wrote, unless both merge."""
    known = (position.finished.get(task.task_id) for task in position.tasks)
    for result in filter(None, known):
        for name in checked.values:
            alone = not schema.merges(name) or name in (*checked.replaced, *result.replaced)
            if name in result.update and alone:
                raise InvalidUpdateError(name, ["an edit", result.node])


def _continued(position: Position, schema: StateSchema, over: AnswersGiven | None) -> list[Event]:
    if over is not None:
        return [over]
    _check_continue(position)
    if position.unmerged:
        _check_merge(position, schema)
    return []


def _check_continue(position: Position) -> None:
    if position.pending and not position.runnable:
        raise ResumeError(
            f"The thread waits for {listed(position.pending)}; answer with Resume, which also "
            "takes DISMISS and ASK_AGAIN"
        )
    if not position.tasks:
        state = "is new" if position.status == "new" else "has finished"
        raise ResumeError(f"The thread {state}, so there is nothing to continue; pass an input")


def _check_until(path: str | None, structure: Structure) -> None:
    known = (shape.path for shape in structure.node_shapes())
    if path is not None and path not in known:
        raise ResumeError(
            f"There is no node {path!r} to run to; nodes are {listed(structure.nodes)}"
        )


def _check_tasks(task_ids: tuple[str, ...], position: Position) -> None:
    known = [task.task_id for task in position.runnable]
    unknown = [task_id for task_id in task_ids if task_id not in known]
    if unknown:
        raise ResumeError(
            f"Task {listed(unknown)} is not about to run; those that are: {listed(known)}"
        )


def _check_merge(position: Position, schema: StateSchema) -> None:
    """Refuse to merge results again that still do not go together: nothing would change."""
    try:
        check_conflicts(position, schema)
        merged_state(position, schema)
    except Exception as error:  # a reducer is the user's own code
        named = listed(task.task_id for task in position.tasks)
        raise ResumeError(
            f"The results of {named} cannot be merged: {error}; edit the "
            "state, skip one of these tasks with another value, or fork the thread before it"
        ) from error


def _skipped(request: Skip, position: Position, schema: StateSchema) -> TaskFinished:
    # Where results cannot be merged, another value for one of them is a way out.
    open_tasks = position.tasks if position.unmerged else position.unfinished
    unfinished = {task.task_id: task for task in open_tasks}
    task = unfinished.get(request.task_id)
    if task is None or position.merged:
        raise ResumeError(
            f"Task {request.task_id!r} is not unfinished; unfinished are {listed(unfinished)}"
        )
    if any(item.task_id == task.task_id for item in position.pending.values()):
        raise ResumeError(f"Task {task.task_id!r} waits for an answer; answer it instead")
    checked = schema.update(request.value, f"value for {task.task_id!r}")
    return TaskFinished(
        task_id=task.task_id,
        node=task.node,
        update=dict(checked.values),
        replaced=checked.replaced,
        attempts=0,
    )


def _breakpoints(request: SetBreakpoints, position: Position, structure: Structure) -> list[Event]:
    before = position.before if request.before is None else tuple(request.before)
    after = position.after if request.after is None else tuple(request.after)
    check_breakpoints(structure, (*(before or ()), *(after or ())))
    if (before, after) == (position.before, position.after):
        return []
    return [
        BreakpointsSet(
            before=None if request.before is None else before,
            after=None if request.after is None else after,
        )
    ]


def check_breakpoints(structure: Structure, names: tuple[str, ...]) -> None:
    """Refuse a breakpoint at a node the graph does not have.

    Raises
    ------
    ResumeError
        Naming the node and the nodes there are.
    """
    unknown = [name for name in names if not structure.has(name)]
    if unknown:
        raise ResumeError(
            f"There is no node {listed(unknown)} to pause at; nodes are {listed(structure.nodes)}"
        )
