"""What the runtime itself gets wrong around a task ends the run as failed: it never hangs it."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest

from nbgraph import END, START, Command, Graph, InMemoryStateStore, Send, node
from nbgraph.core import task
from nbgraph.core.events import RunFailed, TaskFailed, TaskFinished
from nbgraph.core.executor import THREADS, Executor, InlineExecutor


class State(TypedDict, total=False):
    said: str


@node
def threaded(state: State) -> State:
    return {"said": "threaded"}


@node
async def looped(state: State) -> State:
    return {"said": "looped"}


def refuses(kind: Any, values: Any) -> Any:
    """Break what records a result."""
    assert kind is TaskFinished
    raise LookupError("no record can be made")


def refuses_too(self: Any, error: BaseException) -> Any:
    """Break what describes an error."""
    raise ValueError("it cannot be described")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("executor", [THREADS, InlineExecutor()], ids=lambda one: one.name)
@pytest.mark.parametrize("one", [threaded, looped], ids=lambda one: one.name)
def test_an_error_past_the_node_ends_the_run_as_failed(
    monkeypatch: pytest.MonkeyPatch, one: Any, executor: Executor
) -> None:
    graph = Graph(State, state_store=InMemoryStateStore(), executor=executor).flow(
        START >> one >> END
    )
    with monkeypatch.context() as patched:
        patched.setattr(task, "made_of", refuses)
        with pytest.raises(LookupError, match="no record can be made"):
            graph.invoke({}, thread_id="t")
    last = list(graph.sync.history("t"))[-2:]
    assert [type(event) for event in last] == [TaskFailed, RunFailed]
    assert graph.invoke(None, thread_id="t").data == {"said": one.name}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("one", [threaded, looped], ids=lambda one: one.name)
def test_an_error_that_cannot_be_described_ends_the_run_too(
    monkeypatch: pytest.MonkeyPatch, one: Any
) -> None:
    graph = Graph(State, state_store=InMemoryStateStore()).flow(START >> one >> END)
    monkeypatch.setattr(task, "made_of", refuses)
    monkeypatch.setattr(task.TaskCall, "described", refuses_too)
    with pytest.raises(LookupError, match="no record can be made"):
        graph.invoke({}, thread_id="t")
    failed = list(graph.sync.history("t"))[-2]
    assert isinstance(failed, TaskFailed)
    assert failed.error.message == "<the error could not be described>"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("one", [threaded, looped], ids=lambda one: one.name)
def test_one_broken_task_of_many_takes_no_other_with_it(
    monkeypatch: pytest.MonkeyPatch, one: Any
) -> None:
    made_of, broken = task.made_of, []

    def refuses_once(kind: Any, values: Any) -> Any:
        if values.get("task_id") == f"{one.name}[1]" and not broken:
            broken.append(values["task_id"])
            raise LookupError("no record can be made")
        return made_of(kind, values)

    @node(goto=[one])
    async def spread(state: State) -> Command:
        return Command(goto=[Send(one, {}) for _ in range(3)])

    graph = Graph(State, state_store=InMemoryStateStore()).flow(START >> spread, one >> END)
    monkeypatch.setattr(task, "made_of", refuses_once)
    with pytest.raises(LookupError):
        graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t").data == {"said": one.name}
    assert broken == [f"{one.name}[1]"]
