"""Small graphs that the runtime's tests share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Node, add, interrupt, node
from nbgraph.core.events import Event, RunStarted, TaskFinished, TaskSpec


class Trail(BaseState):
    """Says who ran."""

    log: Annotated[list[str], add] = Field(default_factory=list)
    count: int = 0


def stop(name: str, **options: Any) -> Node:
    """Return a node that writes its name."""
    return node(name=name, **options)(lambda state: {"log": [name]})


def named(function: Any, name: str = "a", **options: Any) -> Node:
    """Return a node of a function under a name."""
    return node(name=name, **options)(function)


def asker(name: str, **question: Any) -> Node:
    """Return a node that asks, and writes the answer."""

    def ask(state: Trail) -> dict[str, Any]:
        answer = interrupt(f"{name}?", **{"id": "ok", **question})
        return {"log": [f"{name}: {answer!r}"]}

    return node(name=name)(ask)


def failing(name: str, *errors: BaseException) -> Node:
    """Return a node that raises these, one a run, and then writes its name."""
    waiting = list(errors)

    def run(state: Trail) -> dict[str, Any]:
        if waiting:
            raise waiting.pop(0)
        return {"log": [name]}

    return node(name=name)(run)


def chain(*nodes: Node, **options: Any) -> Graph:
    """Return a graph that runs nodes one after the other, with a store in memory."""
    graph = Graph(Trail, **{"state_store": InMemoryStateStore(), **options})
    path: Any = START
    for each in nodes:
        path = path >> each
    return graph.flow(path >> END)


def fan(*nodes: Node, **options: Any) -> Graph:
    """Return a graph that runs nodes side by side, with a store in memory."""
    graph = Graph(Trail, **{"state_store": InMemoryStateStore(), **options})
    return graph.flow(START >> list(nodes), *(each >> END for each in nodes))


def history(graph: Graph, thread_id: str = "t", branch_id: str = "main") -> Sequence[Event]:
    """Return all that is recorded; nothing for a thread that is not."""
    if not graph.sync.exists(thread_id):
        return []
    return list(graph.sync.history(thread_id, branch_id=branch_id))


def types(graph: Graph, thread_id: str = "t") -> list[str]:
    """Return the types of the recorded events."""
    return [event.type for event in history(graph, thread_id)]


def started(*task_ids: str) -> RunStarted:
    """Return the start of a turn."""
    return RunStarted(tasks=tuple(TaskSpec(task_id=each, node=each) for each in task_ids))


def finished(task_id: str, **update: Any) -> TaskFinished:
    """Return a task's result."""
    return TaskFinished(task_id=task_id, node=task_id, update=update)
