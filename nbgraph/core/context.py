"""What a running node can ask of its run."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Coroutine, Generator, Mapping
from concurrent.futures import CancelledError as FutureCancelledError
from contextlib import contextmanager
from dataclasses import field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

from nbgraph.core import answers
from nbgraph.core.asking import Frame, GraphInterrupt, running
from nbgraph.core.effects import Effect, begin, checked_effect, outcome
from nbgraph.core.events import OnceRecorded
from nbgraph.core.facts import Fact
from nbgraph.core.live import ChildEvent, TaskEmitted
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.values import fresh
from nbgraph.errors import ContextNotProvidedError

if TYPE_CHECKING:
    from nbgraph.core.executor import Executor
    from nbgraph.core.middleware import Middleware
    from nbgraph.core.node_hooks import Asker
    from nbgraph.core.position import Position
    from nbgraph.core.schema import StateSchema
    from nbgraph.core.store import StateStore

__all__ = ["NOT_PROVIDED", "Home", "NodeContext", "Parent", "Port", "driven", "runs_on"]

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
    executor : Executor
        Where the parent's tasks run.
    until : str or None
        The node the parent runs until.
    """

    store: StateStore | None
    root: str
    position: Position
    schema: StateSchema
    before: tuple[str, ...]
    after: tuple[str, ...]
    into: bool
    tell: Callable[[ChildEvent], None]
    executor: Executor
    until: str | None


@dataclass(frozen=True, slots=True)
class Parent:
    """What the thread of a sub-graph belongs to.

    Attributes
    ----------
    root : str
        The thread it is hidden under and deleted with.
    root_run_id : str
        The run of the outermost graph.
    asker : Asker or None
        Answers its questions in the name of the graphs around it.
    """

    root: str
    root_run_id: str
    asker: Asker | None = None


@dataclass(frozen=True, slots=True)
class Port:
    """How a task reaches its run: it can say something, and have a fact recorded."""

    loop: asyncio.AbstractEventLoop
    say: Callable[[TaskEmitted], None]
    record: Callable[[Fact], Coroutine[Any, Any, None]]
    """Takes what is to be recorded before the task goes on; on the run's own loop only."""
    home: Callable[[], Home]
    """Returns where the task's run stands at that moment."""
    at_once: bool = False
    """Whether `record` waits for nothing: what it takes is recorded with the task's outcome."""
    alive: Callable[[], None] | None = None
    """Takes a sign of life, where somebody waits for one."""


@dataclass(frozen=True, slots=True)
class NodeContext:
    """A node's second parameter: where it runs, and what it may keep.

    Attributes
    ----------
    graph_name, node, thread_id, branch_id, task_id, run_id : str
        Where the task runs.
    step : int
        Number of the superstep in this call, from 0.
    remaining_steps : int
        How many supersteps this call, and its thread, may run after this one; 0 in the last.
    attempt : int
        Which try of the task this is, from 1; with `@node(retry=...)` there may be more.
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
    planned: tuple[int, float] = field(default=(0, 0.0), repr=False)
    attempt: int = 1
    remaining_steps: int = 0
    _used: set[str] = field(default_factory=set[str], repr=False)

    def again(self, attempt: int) -> NodeContext:
        """Return the context for another run of the task: it keeps what was kept and recorded."""
        return replace(self, attempt=attempt, _used=set())

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

    @property
    def idempotency_key(self) -> str:
        """The same text for every run of this task on this branch, and for nothing else.

        For a receiver that takes a request it has seen before for the same one. Where a task makes
        several, add a name of yours to each.
        """
        names = (self.thread_id, self.branch_id, self.task_id, *self.planned)
        return blake2b(repr(names).encode(errors="surrogatepass"), digest_size=16).hexdigest()

    def emit(self, data: Any) -> None:
        """Show `data` to whoever watches the run; it is not stored."""
        self._say("custom", data)

    def emit_token(self, piece: Any) -> None:
        """Show a `piece` of an answer that is still being made; it is not stored.

        A text, or a chat model's chunk. A stream that asked for `"tokens"` yields it.
        """
        self._say("token", piece)

    def heartbeat(self) -> None:
        """Say that the node still works, where `@node(timeout=Timeout(idle=...))` counts."""
        if self.port.alive is not None:
            self.port.alive()

    def _say(self, kind: Literal["custom", "token"], data: Any) -> None:
        self.heartbeat()
        self.port.say(TaskEmitted(self.task_id, self.node, kind, data, time.time()))

    def once(
        self,
        key: str,
        function: Callable[[], Any],
        *,
        effect: Literal["once"] | Effect | None = None,
    ) -> Any:
        """Return `function()`, computed once however often the node runs for this task.

        The result is recorded, as JSON, before it is returned. In an async node, pass an async
        function and await: `await ctx.once("price", fetch_price)`.

        Parameters
        ----------
        key : str
            Names the result within the task.
        function : function
            Without parameters. Its result is JSON.
        effect : "once" or Effect, optional
            The function is called at most once: its start is recorded before the call, and if the
            process ends or the call fails before there is a result, it is not repeated. A person
            is asked to retry it, to skip it (the result is then None) or to set its result.

        Raises
        ------
        ValueError
            If the key was used before in this run of the node, or `effect` is another word.
        TypeError
            If an async node passes a function that is not async.
        RuntimeError
            If an effect is to happen once, and a thread that the node started asks for it; or if
            the task's run is over, and nothing can be recorded of it any more.
        """
        if key in self._used:
            raise ValueError(f"ctx.once was called twice with the key {key!r} in one run")
        frame = None if effect is None else _own_frame()
        once = _Once(self, key, checked_effect(effect, function), frame)
        self._used.add(key)
        if inspect.iscoroutinefunction(function):
            return once.called_async(function)
        if runs_on(self.port.loop) and not self.port.at_once:
            raise TypeError(f"In an async node, await ctx.once({key!r}, async_function)")
        return once.called(function)

    async def record_once(self, key: str, value: Any) -> Any:
        """Record `value` under a `key` of `once`, and return it as it is kept."""
        self.heartbeat()
        kept = answers.to_json(value, where=f"result of ctx.once({key!r})")
        await self.port.record(OnceRecorded(task_id=self.task_id, key=key, value=kept))
        self.recorded[key] = kept
        return fresh(kept)


@dataclass(frozen=True, slots=True)
class _Once:
    """One call of `ctx.once`; with a frame, of an effect that happens at most once."""

    ctx: NodeContext
    key: str
    effect: Effect
    frame: Frame | None

    def called(self, function: Callable[[], Any]) -> Any:
        if self.key in self.ctx.recorded:
            return fresh(self.ctx.recorded[self.key])
        found = self._found()
        if found is None:
            if self.frame is not None:
                self._wait(begin(self.key, self.frame, self.ctx.port))
            with self._known_end():
                found = (function(),)
        return self._wait(self.ctx.record_once(self.key, found[0]))

    async def called_async(self, function: Callable[[], Any]) -> Any:
        if self.key in self.ctx.recorded:
            return fresh(self.ctx.recorded[self.key])
        found = self._found()
        if found is None:
            if self.frame is not None:
                await begin(self.key, self.frame, self.ctx.port)
            with self._known_end():
                found = (await function(),)
        return await self.ctx.record_once(self.key, found[0])

    @contextmanager
    def _known_end(self) -> Generator[None]:
        """Let an effect begin again that ended by asking: it has not happened."""
        try:
            yield
        except GraphInterrupt:
            if self.frame is not None:
                self.frame.began.discard(self.key)
                self.frame.ended.add(self.key)
            raise

    def _found(self) -> tuple[Any] | None:
        """Return what stands for the result, in a tuple; None if the function is to be called."""
        return None if self.frame is None else outcome(self.key, self.effect, self.frame)

    def _wait(self, step: Coroutine[Any, Any, Any]) -> Any:
        if self.ctx.port.at_once:
            return driven(step)
        try:
            return asyncio.run_coroutine_threadsafe(step, self.ctx.port.loop).result()
        except FutureCancelledError as error:
            raise RuntimeError(
                f"The run of task {self.ctx.task_id!r} is over, so ctx.once({self.key!r}) cannot "
                "be recorded"
            ) from error


def driven(step: Coroutine[Any, Any, Any], problem: str = "it waits for something") -> Any:
    """Return what a coroutine returns that waits for nothing.

    Raises
    ------
    TypeError
        With `problem` as its message, if it waits after all.
    """
    try:
        step.send(None)
    except StopIteration as done:
        return done.value
    step.close()
    raise TypeError(problem)


def _own_frame() -> Frame:
    frame = running()
    if frame is None:
        raise RuntimeError("ctx.once(effect=...) works in the node itself, not in its threads")
    return frame


def runs_on(loop: asyncio.AbstractEventLoop) -> bool:
    """Return whether the caller runs on a loop."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
