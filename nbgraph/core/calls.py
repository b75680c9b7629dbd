"""The calls of a run's tasks: all that a task needs to run, made of where the log stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from nbgraph.core.asking import Frame
from nbgraph.core.context import NodeContext, Port
from nbgraph.core.eager import Starter
from nbgraph.core.events import TaskSpec
from nbgraph.core.lapses import Lapse
from nbgraph.core.log import Log
from nbgraph.core.node import Node
from nbgraph.core.node_hooks import Asker, node_hooks
from nbgraph.core.position import Answered
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.task_call import TaskCall
from nbgraph.core.values import fresh

if TYPE_CHECKING:
    from nbgraph.core.graph import Graph

__all__ = ["RunInfo"]

_NONE: Mapping[str, Answered] = {}


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run: its graph, its log, and what it was given."""

    graph: Graph
    log: Log
    run_id: str
    root_run_id: str
    given: Any
    stream_modes: frozenset[str]
    asker: Asker | None = None
    """Answers questions in the name of the graph this one is a sub-graph of."""
    starter: Starter = field(default_factory=Starter)
    """Begins its tasks."""
    nodes: Mapping[str, Node] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", self.graph.structure.nodes)

    @property
    def names(self) -> dict[str, str]:
        """The ids of the run, of the outermost graph's run, of its thread and its branch."""
        return {
            "run_id": self.run_id,
            "root_run_id": self.root_run_id,
            "thread_id": self.log.thread_id,
            "branch_id": self.log.branch_id,
        }

    def remaining(self, step: int) -> int:
        """Return how many supersteps may follow superstep `step` of this call."""
        graph, left = self.graph, self.graph.max_steps - step
        if graph.max_thread_steps is not None:
            left = min(left, graph.max_thread_steps - self.log.position.step)
        return left - 1

    def calls(self, tasks: Iterable[TaskSpec], port: Port, step: int) -> list[TaskCall]:
        """Return a call for each task of superstep `step`, with the answers it was given."""
        graph, position = self.graph, self.log.position
        nodes, schema, state = self.nodes, graph.schema, position.state
        answered = self._answered() if position.answered else {}
        entered, hooked = position.entered, bool(graph.middleware or self.asker)
        thread_id = self.log.thread_id
        calls: list[TaskCall] = []
        for task in tasks:
            node, given = nodes[task.node], answered.get(task.task_id, _NONE)
            if entered:
                frame = self._frame(task, given)
            else:  # nothing is recorded of it
                frame = Frame(thread_id, task.task_id, task.node, {})
            context = self._context(task, given, port, step) if node.accepts_context else None
            hooks = node_hooks(self, task, step) if hooked else None
            calls.append(TaskCall(task, node, schema, state, frame, context, port, hooks))
        return calls

    def _answered(self) -> dict[str, dict[str, Answered]]:
        """Return the answers that were given to each task, by key."""
        answered: dict[str, dict[str, Answered]] = {}
        for key, item in self.log.position.answered.items():
            answered.setdefault(item.interrupt.task_id, {})[key] = item
        return answered

    def _frame(self, task: TaskSpec, given: Mapping[str, Answered]) -> Frame:
        position = self.log.position
        hooked = dict(fresh(position.hooked.get(task.task_id) or {}))
        began = set(position.began.get(task.task_id, ()))
        answered = {key: fresh(item.answer) for key, item in given.items() if item.counts}
        lapsed = {key: Lapse(item.lapsed) for key, item in given.items() if item.lapsed}
        known = hooked | answered | lapsed
        here = {
            key: item.interrupt
            for key, item in given.items()
            if item.branch_id == self.log.branch_id
        }
        return Frame(
            self.log.thread_id,
            task.task_id,
            task.node,
            known,
            hooked=hooked,
            shown=here,
            began=began,
        )

    def _context(
        self, task: TaskSpec, given: Mapping[str, Answered], port: Port, step: int
    ) -> NodeContext:
        answered = {key: item.answer for key, item in given.items() if item.counts}
        log, position = self.log, self.log.position
        return NodeContext(
            graph_name=self.graph.name,
            node=task.node,
            run_id=self.run_id,
            thread_id=log.thread_id,
            branch_id=log.branch_id,
            step=step,
            task_id=task.task_id,
            cache=dict(fresh(position.caches.get(task.task_id, {}))),
            given=self.given,
            recorded=dict(position.once.get(task.task_id, {})),
            port=port,
            middleware=self.graph.middleware,
            root_run_id=self.root_run_id,
            state_schema=self.graph.state_schema,
            state_store=log.store,
            stream_modes=self.stream_modes,
            resume_values=MappingProxyType(fresh(answered)),
            planned=(position.planned, position.planned_at),
            remaining_steps=self.remaining(step),
        )
