"""What AgentFlow says while it runs, as events of a branch."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import time
from typing import Any

from nbgraph.adapters.agentflow_shape import ENDS
from nbgraph.adapters.agentflow_state import values_of
from nbgraph.adapters.errors import error_of
from nbgraph.adapters.values import plain
from nbgraph.core.events import (
    Event,
    Interrupt,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStarted,
    StateEdited,
    SuperstepFinished,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.core.live import LiveEvent, TaskEmitted, TaskStarted
from nbgraph.core.position import Position

__all__ = ["Translation"]

_Happened = Event | LiveEvent


class Translation:
    """Turns the chunks of a run into events, in the order they come.

    Parameters
    ----------
    position : Position
        Where the branch stands before the first.
    """

    def __init__(self, position: Position) -> None:
        self.tasks: tuple[TaskSpec, ...] = position.tasks
        self.given: Any = None
        self.finished: str | None = None
        self.place: Any = None
        self._known: dict[str, Any] = dict(position.state)
        self._began: float | None = None
        self._step: int | None = None

    def chunk(self, chunk: Any) -> list[_Happened]:
        """Return what a chunk says."""
        data: dict[str, Any] = chunk.data or {}
        match str(getattr(chunk.event, "value", chunk.event)):
            case "updates":
                return self._update(data, chunk)
            case "state":
                return self._stated(chunk)
            case "message":
                return self._said(chunk)
            case _:
                return []

    def _update(self, data: dict[str, Any], chunk: Any) -> list[_Happened]:
        node, status = data.get("node"), data.get("status")
        if status == "interrupted":
            return self._asked(data["interrupt"])
        if "step" not in data or status not in ("node_invoked", "invoking_node", "graph_invoked"):
            return self._progress(data)
        if node == ENDS[1]:
            return self._next(None, chunk)
        if node is None or node in ENDS:
            return []
        return self._next(node, chunk, int(data["step"]))

    def _progress(self, data: dict[str, Any]) -> list[_Happened]:
        """Return that a node began: before that it may pause there."""
        if data.get("status") != "invoking_node" or not self.tasks or self._began is not None:
            return []
        if data.get("node") != self.tasks[0].node:
            return []
        self._began = time.time()
        return [TaskStarted(self.tasks[0].task_id, self.tasks[0].node, self._began)]

    def _next(self, node: str | None, chunk: Any, step: int = 0) -> list[_Happened]:
        """Return that a superstep is finished and another one planned, when it is."""
        if self._step is None and self.tasks and node == self.tasks[0].node:
            self._step = step  # the node at hand, of a run that goes on
            return []
        if node is not None and step == self._step:
            return []
        self._step = step
        planned = () if node is None else (TaskSpec(task_id=node, node=node),)
        if not self.tasks:
            return [] if node is None else self._begun(planned, chunk)
        return [*self._over(chunk), *self._planned(planned)]

    def _begun(self, planned: tuple[TaskSpec, ...], chunk: Any) -> list[_Happened]:
        given = self.given if isinstance(self.given, dict) else {}
        self.tasks, self.given = planned, None
        return [RunStarted(input=given, tasks=planned), *self._written(chunk.state, whole=True)]

    def failed(self, error: Exception) -> list[Event]:
        """Return that the node at hand failed; a turn may have failed before its first node."""
        begun: list[Event] = []
        if self.given is not None:
            given = self.given if isinstance(self.given, dict) else {}
            begun = [RunStarted(input=given, tasks=())]
            self.given = None
        told = error_of(error)
        return [
            *begun,
            *(TaskFailed(task_id=each.task_id, node=each.node, error=told) for each in self.tasks),
        ]

    def _over(self, chunk: Any) -> list[_Happened]:
        [task] = self.tasks
        began, self._began = self._began, None
        self.finished = task.node
        written = self._written(chunk.state)
        done = TaskFinished(
            task_id=task.task_id,
            node=task.node,
            update=dict(written[0].update) if written else {},
            started=began or 0.0,
            duration=0.0 if began is None else max(0.0, time.time() - began),
        )
        return [done, *written]

    def _planned(self, tasks: tuple[TaskSpec, ...]) -> list[_Happened]:
        self.tasks = tasks
        return [SuperstepFinished(next=tasks)]

    def _stated(self, chunk: Any) -> list[_Happened]:
        if chunk.state is not None:
            self.place = chunk.state.model_copy(deep=True)
        return []

    def _written(self, state: Any, *, whole: bool = False) -> list[StateEdited]:
        if state is None:
            state = self.place
        if state is None:
            return []
        self.place = state.model_copy(deep=True)
        values = values_of(state)
        changed = {
            name: value
            for name, value in values.items()
            if whole or name not in self._known or self._known[name] != value
        }
        self._known.update(changed)
        if not changed:
            return []
        return [StateEdited(update=changed, replaced=tuple(changed), replace=whole)]

    def _asked(self, data: dict[str, Any]) -> list[_Happened]:
        task = self.tasks[0]
        self._began = None
        question = _question(data, task)
        return [TaskInterrupted(task_id=task.task_id, node=task.node, interrupts=(question,))]

    def _said(self, chunk: Any) -> list[_Happened]:
        message = chunk.message
        if message is None or not self.tasks or not getattr(message, "delta", False):
            return []
        task = self.tasks[0]
        return [TaskEmitted(task.task_id, task.node, "token", message.text(), time.time())]

    def found(self, state: Any, asks: Any) -> list[Event]:
        """Return where a thread stands that another process ran."""
        meta = state.execution_meta
        status = meta.status.value
        over = status == "completed"
        node = meta.interrupted_node or meta.current_node
        tasks = () if over or node in ENDS else (TaskSpec(task_id=node, node=node),)
        begun: list[Event] = [RunStarted(input={}, tasks=tasks), *self._written(state)]
        if not tasks:
            return [*begun, SuperstepFinished(next=()), RunFinished()]
        return [*begun, *_standing(tasks[0], status, asks)]


def _standing(task: TaskSpec, status: str, asks: Any) -> list[Event]:
    """Return how a thread stands at a node that has not finished."""
    if asks is not None:
        question = _question(asks.model_dump(), task)
        asked = TaskInterrupted(task_id=task.task_id, node=task.node, interrupts=(question,))
        return [asked, RunPaused(reason="interrupt")]
    if status == "error":
        error = error_of(f"Error({task.node!r} failed, in another process)")
        return [
            TaskFailed(task_id=task.task_id, node=task.node, error=error),
            RunFailed(error=error),
        ]
    return [RunPaused(reason="after" if status == "interrupted_after" else "before")]


def _question(data: dict[str, Any], task: TaskSpec) -> Interrupt:
    """Return the engine's question. Its key ends in the number of the call that asks."""
    number = str(data.get("key") or "0").rpartition(":")[2]
    call = data.get("tool_call_id")
    place = f"{call}/{number}" if call else number
    schema = data.get("response_schema")
    return Interrupt(
        key=f"{task.task_id}:{place}",
        id=str(data["id"]),
        node=task.node,
        task_id=task.task_id,
        payload=plain(data.get("value")),
        message=data.get("message"),
        reason=data.get("reason") or "input_required",
        response_schema=schema if isinstance(schema, dict) else None,
        tool_call_id=call,
    )
