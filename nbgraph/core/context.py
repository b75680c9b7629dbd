"""What a running node can ask of its run."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nbgraph.core.events import ChildEvent, TaskEmitted
from nbgraph.core.values import fresh
from nbgraph.errors import ContextNotProvidedError

if TYPE_CHECKING:
    from nbgraph.core.middleware import Middleware
    from nbgraph.core.position import Position
    from nbgraph.core.schema import StateSchema
    from nbgraph.core.store import StateStore

__all__ = ["NOT_PROVIDED", "Home", "NodeContext", "Port", "runs_on"]

NOT_PROVIDED = object()
"""Stands for a context that the call did not pass; None is a context."""


@dataclass(frozen=True, slots=True)
class Home:
    """What the thread of a task's sub-graph needs of the thread it belongs to.

    Attributes
    ----------
    store : StateStore or None
        Where both are kept.
    root : str
        The thread that nobody else's sub-graph runs in.
    position : Position
        Where the parent stood when its superstep was started.
    schema : StateSchema
        The parent's state.
    before, after : tuple of str
        The parent's breakpoints.
    into : bool
        Whether the parent steps into its sub-graphs.
    tell : function
        Shows an event of the sub-graph to whoever watches the parent; on the run's own loop only.
    """

    store: StateStore | None
    root: str
    position: Position
    schema: StateSchema
    before: tuple[str, ...]
    after: tuple[str, ...]
    into: bool
    tell: Callable[[ChildEvent], None]


@dataclass(frozen=True, slots=True)
class Port:
    """How a task reaches its run: it can say something, and have a fact recorded."""

    loop: asyncio.AbstractEventLoop
    say: Callable[[TaskEmitted], None]
    record_once: Callable[[str, str, Any], Coroutine[Any, Any, Any]]
    """Takes task id, key and value, and returns the value as it is recorded."""
    home: Callable[[], Home]
    """Returns where the task's run stands at that moment."""


@dataclass(frozen=True, slots=True)
class NodeContext:
    """A node's second parameter: where it runs, and what it may keep.

    Attributes
    ----------
    graph_name, node, thread_id, branch_id, task_id, run_id : str
        Where the task runs.
    step : int
        Number of the superstep in this call, from 0.
    cache : dict
        Values the node keeps for its next run after a pause; JSON.
    middleware : tuple of Middleware
        The graph's.
    root_run_id : str
        The run of the outermost graph; of a graph that is no sub-graph, its own `run_id`.
    state_schema : type
        The graph's state type.
    state_store : StateStore or None
        Where the thread is kept.
    stream_modes : frozenset of str
        The modes the call's `stream_mode=` asked for; empty without it.
    resume_values : mapping of str to JSON
        The answers that were given to this task, by key; read-only.
    """

    graph_name: str
    node: str
    run_id: str
    thread_id: str
    branch_id: str
    step: int
    task_id: str
    cache: dict[str, Any]
    given: Any = field(repr=False)
    recorded: dict[str, Any] = field(repr=False)
    port: Port = field(repr=False)
    root_run_id: str = ""
    state_schema: Any = field(default=None, repr=False)
    state_store: StateStore | None = field(default=None, repr=False)
    stream_modes: frozenset[str] = frozenset()
    resume_values: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    middleware: tuple[Middleware, ...] = ()
    _used: set[str] = field(default_factory=set[str], repr=False)

    def again(self) -> NodeContext:
        """Return the context for another run of the task: it keeps what was kept and recorded."""
        return replace(self, _used=set())

    @property
    def context(self) -> Any:
        """What the call passed as `context=`; it is never stored.

        Raises
        ------
        ContextNotProvidedError
            If the call passed none.
        """
        if self.given is NOT_PROVIDED:
            raise ContextNotProvidedError(self.node)
        return self.given

    def emit(self, data: Any) -> None:
        """Show `data` to whoever watches the run; it is not stored."""
        self.port.say(TaskEmitted(self.task_id, self.node, "custom", data, time.time()))

    def once(self, key: str, function: Callable[[], Any]) -> Any:
        """Return `function()`, computed once however often the node runs for this task.

        The result is recorded, as JSON, before it is returned. In an async node, pass an async
        function and await: `await ctx.once("price", fetch_price)`.

        Raises
        ------
        ValueError
            If the key was used before in this run of the node.
        TypeError
            If an async node passes a function that is not async.
        """
        if key in self._used:
            raise ValueError(f"ctx.once was called twice with the key {key!r} in one run")
        self._used.add(key)
        if inspect.iscoroutinefunction(function):
            return self._once_async(key, function)
        if runs_on(self.port.loop):
            raise TypeError(f"In an async node, await ctx.once({key!r}, async_function)")
        if key in self.recorded:
            return fresh(self.recorded[key])
        recording = self._recorded(key, function())
        return asyncio.run_coroutine_threadsafe(recording, self.port.loop).result()

    async def _once_async(self, key: str, function: Callable[[], Any]) -> Any:
        if key in self.recorded:
            return fresh(self.recorded[key])
        return await self._recorded(key, await function())

    async def _recorded(self, key: str, value: Any) -> Any:
        kept = await self.port.record_once(self.task_id, key, value)
        self.recorded[key] = fresh(kept)
        return kept


def runs_on(loop: asyncio.AbstractEventLoop) -> bool:
    """Return whether the caller runs on this loop."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
