"""What happened inside a thread's sub-graphs, read from their own threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nbgraph.core.events import (
    ChildEvent,
    Event,
    RunStarted,
    StateEdited,
    SuperstepFinished,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.errors import UnknownThreadError

if TYPE_CHECKING:
    from nbgraph.core.flow import Structure
    from nbgraph.core.store import StateStore

__all__ = ["events_inside", "telling"]


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
    task: TaskSpec | TaskFinished | TaskFailed | TaskInterrupted,
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
