"""What happened inside a thread's sub-graphs, read from their own threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nbgraph.core.driver import InnerLog
from nbgraph.core.events import (
    Event,
    RunStarted,
    StateEdited,
    SuperstepFinished,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.core.live import ChildEvent
from nbgraph.errors import UnknownThreadError

if TYPE_CHECKING:
    from nbgraph.core.flow import Structure
    from nbgraph.core.node import Inner
    from nbgraph.core.store import StateStore

__all__ = ["events_inside", "log_inside", "telling"]

_Report = TaskFinished | TaskFailed | TaskInterrupted


def telling(events: Sequence[Event]) -> list[Event]:
    """Return those events of a thread behind which its sub-graphs' newest ones are found.

    They are the last report of each task of the current turn, and the last plan.
    """
    reports: dict[str, Event] = {}
    plan: Event | None = None
    for event in events:
        match event:
            case RunStarted():
                reports, plan = {}, event
            case SuperstepFinished(next=tasks) | StateEdited(tasks=tasks) if tasks:
                plan = event
            case TaskFinished() | TaskFailed() | TaskInterrupted() if event.child is not None:
                reports.pop(event.task_id, None)
                reports[event.task_id] = event
            case _:
                pass
    return [*reports.values(), *([plan] if plan is not None else [])]


async def events_inside(
    store: StateStore, structure: Structure, thread_id: str, event: Event
) -> list[ChildEvent]:
    """Return what happened in the sub-graphs that an event tells of, in their last turn.

    A task that reported says where its sub-graph's thread is. Of a plan's tasks none has yet; the
    id of their threads follows from it, if each visit has one of its own.
    """
    match event:
        case TaskFinished() | TaskFailed() | TaskInterrupted() if event.child is not None:
            place = event.child
            names = (place.thread_id, place.branch_id)
            return await _turn(store, structure, event, *names, place.sequence)
        case RunStarted(tasks=tasks):
            return await _begun(store, structure, thread_id, event, tasks)
        case SuperstepFinished(next=tasks) | StateEdited(tasks=tasks) if tasks:
            return await _begun(store, structure, thread_id, event, tasks)
        case _:
            return []


async def log_inside(
    store: StateStore, structure: Structure, branch: tuple[str, str], path: str
) -> InnerLog | None:
    """Return the log of a sub-graph's newest thread; `branch` is that of the graph around it.

    On the branch that made it, a thread is read to its end; a fork's up to where the fork knows it.
    """
    name, rest = structure.split(path)
    node = structure.nodes.get(name)
    if node is None or node.inner is None:
        return None
    try:
        place = _newest(await store.events(*branch), name, node.inner, branch)
        events = () if place is None else await store.events(*place[0], upto=place[1])
    except UnknownThreadError:
        return None
    if place is None or not rest:
        return InnerLog(events, node.inner.folding) if events else None
    return await log_inside(store, node.inner.structure, place[0], rest)


def _newest(
    events: Sequence[Event], name: str, inner: Inner, branch: tuple[str, str]
) -> tuple[tuple[str, str], int | None] | None:
    """Return which branch of which thread a sub-graph's newest task runs in, and its last event."""
    found: tuple[tuple[str, str], int | None] | None = None
    for event in events:
        match event:
            case RunStarted(tasks=tasks) | SuperstepFinished(next=tasks) if tasks:
                mine = [task.task_id for task in tasks if task.node == name]
                for task_id in () if inner.stable else mine[-1:]:
                    own = inner.thread_id(*branch, task_id, event.sequence)
                    found = (own, "main"), None
            case TaskFinished() | TaskFailed() | TaskInterrupted() if (
                event.node == name and event.child is not None
            ):
                at = event.child
                ends = None if at.parent_branch_id == branch[1] else at.sequence
                found = (at.thread_id, at.branch_id), ends
            case _:
                pass
    return found


async def _begun(
    store: StateStore,
    structure: Structure,
    thread_id: str,
    plan: Event,
    tasks: Sequence[TaskSpec],
) -> list[ChildEvent]:
    found: list[ChildEvent] = []
    for task in tasks:
        node = structure.nodes.get(task.node)
        if node is not None and node.inner is not None and not node.inner.stable:
            own = node.inner.thread_id(thread_id, plan.branch_id, task.task_id, plan.sequence)
            found += await _turn(store, structure, task, own, "main", None)
    return found


async def _turn(
    store: StateStore,
    structure: Structure,
    task: TaskSpec | _Report,
    thread_id: str,
    branch_id: str,
    upto: int | None,
) -> list[ChildEvent]:
    node = structure.nodes.get(task.node)
    if node is None or node.inner is None:
        return []
    try:
        events = await store.events(thread_id, branch_id, upto=upto)
    except UnknownThreadError:
        return []
    inner = node.inner.structure
    found: list[ChildEvent] = []
    told = {id(each) for each in telling(events)}
    begins = max((at for at, each in enumerate(events) if isinstance(each, RunStarted)), default=0)
    for event in events[begins:]:
        below = await events_inside(store, inner, thread_id, event) if id(event) in told else []
        found += [
            ChildEvent(f"{task.node}/{each.path}", f"{task.task_id}/{each.task_id}", each.event)
            for each in below
        ]
        found.append(ChildEvent(task.node, task.task_id, event))
    return found
