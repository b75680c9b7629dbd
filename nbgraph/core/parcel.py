"""Tasks as a value that can travel to another process, and their outcomes as one that can return.

A parcel holds the nodes and the state type themselves: whatever carries it decides how code
travels (the standard library's pools by import path, others by value). State, answers and events
in it are JSON.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from nbgraph.core.asking import Frame
from nbgraph.core.blob import Packed
from nbgraph.core.codec import decode_events, encode_events
from nbgraph.core.context import NOT_PROVIDED, NodeContext
from nbgraph.core.events import Interrupt, OnceRecorded, TaskFailed, TaskSpec
from nbgraph.core.importing import is_importable
from nbgraph.core.live import TaskEmitted
from nbgraph.core.loop import run_sync
from nbgraph.core.middleware import Middleware, NodeMiddlewareContext
from nbgraph.core.node import Node
from nbgraph.core.node_hooks import NodeHooks
from nbgraph.core.notes import Notes
from nbgraph.core.outcome import Outcome
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.schema import StateSchema
from nbgraph.core.task import run_task
from nbgraph.core.task_call import TaskCall
from nbgraph.core.values import plain_copy
from nbgraph.errors import NodeFailedError, StateStoreError

if TYPE_CHECKING:
    from nbgraph.core.calls import RunInfo

__all__ = ["Parcel", "Reply", "run_parcel"]


@dataclass(frozen=True, slots=True)
class Errand:
    """One task of a parcel: what it does not share with the others."""

    task: dict[str, Any]
    node: Node
    answers: dict[str, Any]
    hooked: dict[str, Any]
    shown: dict[str, Any]
    """The questions behind answers of this branch, by key, as JSON."""
    began: frozenset[str | None]
    cache: dict[str, Any] = field(default_factory=dict[str, Any])
    recorded: dict[str, Any] = field(default_factory=dict[str, Any])
    resume_values: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Parcel:
    """Tasks of one superstep, as a value. `run_parcel` runs them, in any process."""

    graph_name: str
    state_schema: Any
    middleware: tuple[Middleware, ...]
    names: Mapping[str, str]
    """The ids of the run, its thread and its branch."""
    step: int
    remaining_steps: int
    planned: tuple[int, float]
    size: int
    """How many tasks the superstep has."""
    stream_modes: frozenset[str]
    context: tuple[Any, ...]
    """The call's `context=`, or nothing."""
    state: dict[str, Any]
    errands: tuple[Errand, ...]

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The tasks, by id."""
        return tuple(errand.task["task_id"] for errand in self.errands)


@dataclass(frozen=True, slots=True)
class Reply:
    """How one task of a parcel went, as a value.

    `events` is JSON: results of `ctx.once`, and last the outcome. `error` is what the node raised,
    if it can travel.
    """

    task_id: str
    node: str
    events: Packed
    said: tuple[TaskEmitted, ...] = ()
    error: BaseException | None = None


def packed(info: RunInfo, step: int, calls: Sequence[TaskCall]) -> Parcel:
    """Return tasks as a parcel."""
    first = calls[0]
    return Parcel(
        graph_name=info.graph.name,
        state_schema=info.graph.state_schema,
        middleware=info.graph.middleware,
        names=info.names,
        step=step,
        remaining_steps=info.remaining(step),
        planned=(info.log.position.planned, info.log.position.planned_at),
        size=len(info.log.position.tasks),
        stream_modes=info.stream_modes,
        context=() if info.given is NOT_PROVIDED else (info.given,),
        state=first.schema.kept(first.state),
        errands=tuple(map(_errand, calls)),
    )


def _errand(call: TaskCall) -> Errand:
    context, frame = call.context, call.frame
    errand = Errand(
        task=call.task.model_dump(),
        node=call.node,
        answers=frame.answers,
        hooked=frame.hooked,
        shown={key: question.model_dump() for key, question in frame.shown.items()},
        began=frozenset(frame.began),
    )
    if context is None:
        return errand
    return replace(
        errand,
        cache=dict(context.cache),
        recorded=dict(context.recorded),
        resume_values=dict(context.resume_values),
    )


def run_parcel(parcel: Parcel) -> list[Reply]:
    """Run a parcel's tasks, side by side, and return how each went; whatever a node raises.

    Blocks: to be called in a worker, and not on an event loop.
    """
    return run_sync(_replies(parcel))


async def _replies(parcel: Parcel) -> list[Reply]:
    schema = StateSchema(parcel.state_schema)
    state = schema.revived(parcel.state)
    calls = [_unpacked(parcel, errand, schema, state) for errand in parcel.errands]
    return list(await asyncio.gather(*(_reply(call, notes) for call, notes in calls)))


def _unpacked(
    parcel: Parcel, errand: Errand, schema: StateSchema, state: Mapping[str, Any]
) -> tuple[TaskCall, Notes]:
    task, node, notes = TaskSpec(**errand.task), errand.node, Notes()
    names, answers, hooked = parcel.names, dict(errand.answers), dict(errand.hooked)
    frame = Frame(
        names["thread_id"],
        task.task_id,
        node.name,
        answers,
        hooked=hooked,
        shown={key: Interrupt.model_validate(one) for key, one in errand.shown.items()},
        began=set(errand.began),
    )
    port = notes.port(asyncio.get_running_loop())
    context = NodeContext(
        graph_name=parcel.graph_name,
        node=node.name,
        step=parcel.step,
        task_id=task.task_id,
        cache=dict(errand.cache),
        given=parcel.context[0] if parcel.context else NOT_PROVIDED,
        recorded=dict(errand.recorded),
        port=port,
        middleware=parcel.middleware,
        state_schema=parcel.state_schema,
        stream_modes=parcel.stream_modes,
        resume_values=MappingProxyType(errand.resume_values),
        planned=parcel.planned,
        remaining_steps=parcel.remaining_steps,
        run_id=names["run_id"],
        root_run_id=names["root_run_id"],
        thread_id=names["thread_id"],
        branch_id=names["branch_id"],
    )
    hooks = None
    if parcel.middleware:
        hooks = NodeHooks(parcel.middleware, node, schema, _hooks_context(context, parcel, state))
    given = context if node.accepts_context else None
    return TaskCall(task, node, schema, state, frame, given, port, hooks), notes


def _hooks_context(
    context: NodeContext, parcel: Parcel, state: Mapping[str, Any]
) -> NodeMiddlewareContext:
    return NodeMiddlewareContext(
        graph_name=parcel.graph_name,
        node_name=context.node,
        state=None,
        run_id=context.run_id,
        thread_id=context.thread_id,
        step=parcel.step,
        task_id=context.task_id,
        root_run_id=context.root_run_id,
        superstep_size=parcel.size,
        scratch={},
        state_schema=parcel.state_schema,
        schema=StateSchema(parcel.state_schema),
        stored=state,
    )


async def _reply(call: TaskCall, notes: Notes) -> Reply:
    outcome = await run_task(call)
    said = tuple(_sayable(each) for each in notes.said)
    events = encode_events([*notes.once, outcome.event])
    error = outcome.exception
    carried = error if error is not None and _travels(error) else None
    return Reply(call.task.task_id, call.node.name, events, said, carried)


def _travels(error: BaseException) -> bool:
    """Return whether an error comes out of any other process as it went in."""
    if not is_importable(type(error)):
        return False
    try:
        plain_copy([*error.args], "")
        plain_copy({**vars(error)}, "")
        return isinstance(copy.copy(error), type(error))
    except Exception:  # noqa: BLE001 - how it is made again is the user's own code
        return False


def _sayable(said: TaskEmitted) -> TaskEmitted:
    """Return what a node said with its text in the place of what might not travel."""
    if isinstance(said.data, BaseModel) and is_importable(type(said.data)):
        return said
    if said.kind == "attempt":
        return said
    try:
        data = plain_copy(said.data, "")
    except StateStoreError:
        data = str(said.data)
    return TaskEmitted(said.task_id, said.node, said.kind, data, said.at)


def received(reply: Reply) -> Outcome:
    """Return a reply as the outcome it stands for."""
    where = f"Reply of task {reply.task_id!r}"
    *before, event = decode_events(reply.events, branch_id="", first=0, where=where)
    once = tuple(each for each in before if isinstance(each, OnceRecorded))
    error = reply.error
    if isinstance(event, TaskFailed) and error is None:
        error = NodeFailedError(reply.node, event.error.type, event.error.message)
    return Outcome(reply.task_id, event, error, once, reply.said)
