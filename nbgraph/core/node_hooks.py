"""Middleware around one task: what its node is given, what it wrote, its errors, its questions."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from nbgraph.core.context import driven
from nbgraph.core.events import Interrupt, Route, TaskSpec
from nbgraph.core.middleware import (
    Middleware,
    NodeMiddlewareContext,
    Replacement,
    hooks_of,
    passed_on,
    settled,
)
from nbgraph.core.node import Node
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.schema import StateSchema
from nbgraph.core.superstep import read_result
from nbgraph.core.workers import waiting

if TYPE_CHECKING:
    from nbgraph.core.calls import RunInfo

__all__ = ["Asker", "NodeHooks", "Result", "node_hooks"]

Result = tuple[dict[str, Any], tuple[str, ...], tuple[Route, ...] | None]
"""A node's checked update, the fields that go past their reducer, and its own routes."""


_AWAITABLE = "on_interrupt returned an awaitable; declare it with async def"


@dataclass(frozen=True, slots=True)
class Asker:
    """Answers a question in the name of somebody else: the graph around a sub-graph.

    `at_once` says that its answers are there without waiting.
    """

    answer: Callable[[Interrupt], Coroutine[Any, Any, Any]]
    at_once: bool


@dataclass(slots=True)
class NodeHooks:
    """The node hooks of one task; `where` is their context, without a state.

    `outer` is asked where no hook has an answer.
    """

    middleware: Sequence[Middleware]
    node: Node
    schema: StateSchema
    where: NodeMiddlewareContext
    outer: Asker | None = None
    asked: set[Future[Any]] = field(default_factory=set[Future[Any]])
    over: bool = False

    @property
    def is_bound(self) -> bool:
        """Whether the hooks of another graph are asked, which are in this process."""
        return self.outer is not None

    def _seen(self, values: Mapping[str, Any]) -> NodeMiddlewareContext:
        return replace(self.where, state=self.schema.view(values))

    async def before(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the state's values the node is given."""
        return await passed_on(
            hooks_of(self.middleware, "before_node"),
            values,
            seen=self._seen,
            read=lambda state: self.schema.values(state, f"before_node of {self.node.name!r}"),
        )

    async def after(self, result: Result) -> Result:
        """Return the result of a node that returned, with the fields to write."""

        def seen(result: Result) -> NodeMiddlewareContext:
            return replace(self.where, state=self.schema.returned(result[0], result[1]))

        def read(fields: Any) -> Result:
            checked = self.schema.update(fields, f"after_node of {self.node.name!r}")
            return dict(checked.values), checked.replaced, result[2]

        hooks = hooks_of(self.middleware, "after_node")
        return await passed_on(hooks, result, seen=seen, read=read)

    async def instead(self, values: Mapping[str, Any], error: Exception) -> Result | None:
        """Return a result in the place of an error, if a hook has one."""
        for hook in hooks_of(self.middleware, "on_error"):
            ctx = self._seen(values)
            found = await settled(hook(ctx, error))
            if isinstance(found, Replacement):
                found = found.value
            if found is not None:
                return read_result(self.node, found, ctx.state, values, self.schema)
        return None

    def asks_now(
        self, values: Mapping[str, Any], loop: asyncio.AbstractEventLoop, *, inline: bool
    ) -> Callable[[Interrupt], Any] | None:
        """Return a function that gets an answer while the node waits in `interrupt()`.

        None if no hook answers, or if a node on the loop would hold it up while an async hook needs
        it: then `answer` is awaited when the node has ended, and the node runs again.
        """
        asker = self.asker(values)
        if asker is None:
            return None
        if asker.at_once:
            return lambda question: driven(asker.answer(question), _AWAITABLE)
        if self.node.is_async or inline:
            return None
        return lambda question: self._awaited(asker.answer(question), loop)

    def asker(self, values: Mapping[str, Any]) -> Asker | None:
        """Return what answers questions for this task, if anything does."""
        hooks = hooks_of(self.middleware, "on_interrupt")
        if not hooks:
            return self.outer
        at_once = not any(map(inspect.iscoroutinefunction, hooks))
        waits = self.outer is not None and not self.outer.at_once
        return Asker(lambda question: self.answer(values, question), at_once and not waits)

    def _awaited(self, asking: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> Any:
        """Wait in a worker thread for what the loop is asked, until the task is over."""
        future = asyncio.run_coroutine_threadsafe(asking, loop)
        self.asked.add(future)
        if self.over:
            future.cancel()
        with waiting():
            return future.result()

    def close(self) -> None:
        """Let go of a worker that still waits for a hook when the task has ended."""
        self.over = True
        for future in tuple(self.asked):
            future.cancel()

    async def answer(self, values: Mapping[str, Any], question: Interrupt) -> Any:
        """Return the first answer a hook has to a question, or None."""
        for hook in hooks_of(self.middleware, "on_interrupt"):
            ctx = replace(self._seen(values), interrupt=question)
            found = await settled(hook(ctx, question.payload))
            if found is not None:
                return found
        return None if self.outer is None else await self.outer.answer(question)


def node_hooks(info: RunInfo, task: TaskSpec, step: int) -> NodeHooks:
    """Return the node hooks of a task."""
    graph, log = info.graph, info.log
    where = NodeMiddlewareContext(
        graph_name=graph.name,
        node_name=task.node,
        state=None,
        run_id=info.run_id,
        thread_id=log.thread_id,
        step=step,
        task_id=task.task_id,
        root_run_id=info.root_run_id,
        superstep_size=len(log.position.tasks),
        scratch={},
        state_schema=graph.state_schema,
        schema=graph.schema,
        stored=log.position.state,
    )
    node = graph.structure.nodes[task.node]
    return NodeHooks(graph.middleware, node, graph.schema, where, info.asker)
