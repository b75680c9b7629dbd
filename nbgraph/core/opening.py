"""What a request records before anything runs, decided without I/O."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from nbgraph.core import answers
from nbgraph.core.events import (
    AnswersGiven,
    BreakpointsSet,
    Event,
    RunStarted,
    StateEdited,
    TaskFinished,
)
from nbgraph.core.flow import Structure
from nbgraph.core.position import Position, merged_state
from nbgraph.core.requests import Continue, Edit, Resume, SetBreakpoints, Skip, Start
from nbgraph.core.schema import StateSchema, Update
from nbgraph.core.superstep import check_conflicts, first_tasks
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    InvalidUpdateError,
    ResumeError,
    StaleAnswerError,
)

__all__ = ["answering", "check_breakpoints", "check_unanswered", "login_name", "opening"]


def opening(
    request: Start | Resume | Continue | Edit | Skip | SetBreakpoints,
    position: Position,
    *,
    structure: Structure,
    schema: StateSchema,
    thread_id: str,
) -> list[Event]:
    """Return the events a request begins with.

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
            return [answering(request, position, thread_id)]
        case Continue(until=until):
            _check_continue(position)
            _check_until(until, structure)
            if position.unmerged:
                _check_merge(position, schema)
            return []
        case Edit():
            return [_edited(request, position, schema)]
        case Skip():
            return [_skipped(request, position, schema)]
        case SetBreakpoints():
            return _breakpoints(request, position, structure)


def _start(
    request: Start, position: Position, structure: Structure, schema: StateSchema
) -> RunStarted:
    if position.pending:
        raise ResumeError(
            f"The thread waits for {_listed(position.pending)}; answer with Resume, or fork it at "
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


def _edited(request: Edit, position: Position, schema: StateSchema) -> StateEdited:
    checked = _fitted(request.update, "edit", position, schema)
    for result in () if position.merged else position.finished.values():
        for name in checked.values:
            alone = not schema.merges(name) or name in (*checked.replaced, *result.replaced)
            if name in result.update and alone:
                raise InvalidUpdateError(name, ["an edit", result.node])
    return StateEdited(
        update=dict(checked.values), replaced=checked.replaced, by=request.by or login_name()
    )


def _check_continue(position: Position) -> None:
    if position.pending and not position.runnable:
        raise ResumeError(f"The thread waits for {_listed(position.pending)}; answer with Resume")
    if not position.tasks:
        state = "is new" if position.status == "new" else "has finished"
        raise ResumeError(f"The thread {state}, so there is nothing to continue; pass an input")


def _check_until(path: str | None, structure: Structure) -> None:
    known = (shape.path for shape in structure.node_shapes())
    if path is not None and path not in known:
        raise ResumeError(
            f"There is no node {path!r} to run to; nodes are {_listed(structure.nodes)}"
        )


def _check_merge(position: Position, schema: StateSchema) -> None:
    """Refuse to merge results again that still do not go together: nothing would change."""
    try:
        check_conflicts(position, schema)
        merged_state(position, schema)
    except Exception as error:  # a reducer is the user's own code
        raise ResumeError(
            f"The results of {_listed(position.finished)} cannot be merged: {error}; edit the "
            "state, skip one of these tasks with another value, or fork the thread before it"
        ) from error


def answering(request: Resume, position: Position, thread_id: str) -> AnswersGiven:
    """Return what is recorded of answers, which fit their questions and where the thread stands.

    Raises
    ------
    ResumeError
        If there is no such question, or a question without an answer where all are needed.
    StaleAnswerError
        If an answer was given to another asking of its question.
    AnswerError
        If an answer does not fit its question.
    """
    if not position.pending:
        where = {"before": "at a breakpoint", "after": "at a breakpoint"}.get(position.paused or "")
        stands = f"pauses {where}; continue it without an answer" if where else "asks nothing now"
        _check_asked(request, position)
        raise ResumeError(f"The thread {stands}")
    given = _by_key(request, position)
    _check_asked(request, position)
    unknown = [key for key in given if key not in position.pending]
    if unknown:
        raise ResumeError(
            f"{_listed(unknown)} is not pending; pending are {_listed(position.pending)}"
        )
    missing = [key for key in position.pending if key not in given]
    if missing and not request.partial:
        raise ResumeError(
            f"{_listed(missing)} has no answer; answer all, or pass partial=True to answer some"
        )
    return AnswersGiven(
        answers=_judged(given, position, thread_id),
        asked={key: position.pending[key].asked for key in given},
        by=request.by or login_name(),
    )


def _judged(given: Mapping[str, Any], position: Position, thread_id: str) -> dict[str, Any]:
    judged: dict[str, Any] = {}
    problems: dict[str, AnswerError] = {}
    for key, answer in given.items():
        try:
            judged[key] = answers.judge(position.pending[key], answer, thread_id=thread_id)
        except AnswerError as error:
            problems[key] = error
    if problems:
        raise next(iter(problems.values()))
    return judged


def _by_key(request: Resume, position: Position) -> Mapping[str, Any]:
    if request.answers is not None:
        return request.answers
    if len(position.pending) > 1:
        raise ResumeError(
            f"Resume(value) answers the only pending question, and {_listed(position.pending)} "
            "are pending; pass Resume(answers={key: value})"
        )
    return {next(iter(position.pending)): request.value}


def _check_asked(request: Resume, position: Position) -> None:
    for key, asked in request.asked.items():
        pending = position.pending.get(key)
        if pending is None or pending.asked != asked:
            raise StaleAnswerError(key, asked, pending.asked if pending else None)


def _skipped(request: Skip, position: Position, schema: StateSchema) -> TaskFinished:
    # Where results cannot be merged, another value for one of them is a way out.
    open_tasks = position.tasks if position.unmerged else position.unfinished
    unfinished = {task.task_id: task for task in open_tasks}
    task = unfinished.get(request.task_id)
    if task is None or position.merged:
        raise ResumeError(
            f"Task {request.task_id!r} is not unfinished; unfinished are {_listed(unfinished)}"
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
            f"There is no node {_listed(unknown)} to pause at; nodes are {_listed(structure.nodes)}"
        )


def check_unanswered(
    events: Sequence[Event], keys: Iterable[str], asked: Mapping[str, int]
) -> None:
    """Refuse an answer that somebody gave before, as these events tell.

    Raises
    ------
    AlreadyAnsweredError
        Saying who answered, and when.
    """
    given = [event for event in events if isinstance(event, AnswersGiven)]
    for event in given:
        for key in keys:
            if key in event.answers and asked.get(key, event.asked[key]) == event.asked[key]:
                raise AlreadyAnsweredError(key, event.by, event.created_at)


def login_name() -> str | None:
    """Return who uses this process: `JUPYTERHUB_USER`, else the login name, if there is one."""
    try:
        import getpass

        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    except (KeyError, OSError):
        return None


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names)) or "nothing"
