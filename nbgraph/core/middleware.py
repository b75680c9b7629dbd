"""Middleware: code around runs, nodes, model calls and tool calls. What a hook is, and is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, TypeVar

from nbgraph.core.events import Interrupt
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.schema import StateSchema
from nbgraph.errors import GraphExecutionError

__all__ = [
    "GraphMiddlewareContext",
    "Hook",
    "Middleware",
    "NodeMiddlewareContext",
    "Replacement",
    "RunOutcome",
    "checked_middleware",
    "hooks_of",
    "passed_on",
    "settled",
    "told",
]

T = TypeVar("T")
Hook = Callable[..., Any]
"""A middleware's own method for one of the hooks."""
_PREFIXES = ("before_", "after_", "on_")


@dataclass(frozen=True, slots=True)
class Replacement:
    """What a hook puts in the place of what it was shown; made by `ctx.replace(value)`."""

    value: Any


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended.

    Attributes
    ----------
    status : "completed", "paused", "failed" or "cancelled"
        A run that is stopped, or whose stream is closed early, is cancelled.
    interrupts : mapping of str to Interrupt
        What a paused run waits for, by key; empty at a breakpoint.
    error : BaseException or None
        What a failed run raised.
    """

    status: Literal["completed", "paused", "failed", "cancelled"]
    interrupts: Mapping[str, Interrupt] = field(default_factory=dict[str, Interrupt])
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class GraphMiddlewareContext:
    """What a graph hook is given.

    Attributes
    ----------
    graph_name, run_id, root_run_id, thread_id, branch_id : str
        What runs.
    state : Any
        A copy of the state.
    resuming : bool
        Whether the run goes on with an unfinished turn.
    """

    graph_name: str
    state: Any
    run_id: str
    thread_id: str
    branch_id: str
    root_run_id: str
    resuming: bool


@dataclass(frozen=True, slots=True)
class NodeMiddlewareContext:
    """What a node hook is given.

    Attributes
    ----------
    graph_name, node_name, run_id, root_run_id, thread_id, task_id : str
        Where the task runs.
    state : Any
        In `after_node`, the fields the node writes, as a dict. In the other hooks, a copy of what
        the node is given.
    step, superstep_size : int
        Number of the superstep in this call, from 0, and how many tasks it has.
    scratch : dict
        Shared by the hooks of this run of the task, and gone with it.
    state_schema : type
        The graph's.
    interrupt : Interrupt or None
        In `on_interrupt`, the whole question: message, reason, response schema.
    """

    graph_name: str
    node_name: str
    state: Any
    run_id: str
    thread_id: str
    step: int
    task_id: str
    root_run_id: str
    superstep_size: int
    scratch: dict[str, Any]
    state_schema: Any
    interrupt: Interrupt | None = None
    schema: StateSchema | None = field(default=None, repr=False)
    stored: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @property
    def stored_state(self) -> Any:
        """A copy of the thread's state, without a `Send` payload and without replacements."""
        return dict(self.stored) if self.schema is None else self.schema.view(self.stored)

    def replace(self, value: Any) -> Replacement:
        """Return what a hook returns to put `value` in the place of `state`."""
        return Replacement(value)


class Middleware:
    """Code around a graph's runs and nodes; subclass it and write the hooks you need.

    Every hook may be `def` or `async def`, and is given a `ctx` that says where it is called.
    `before_*`, `on_error` and `on_interrupt` are called in
    the order of `Graph(middleware=[...])`, the others in reverse, so the first one wraps the rest.
    A method that is named as a hook and is none is a `TypeError` when the class is made.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        named = (name for name in dir(cls) if name.startswith(_PREFIXES))
        wrong = [name for name in named if name not in _HOOKS and callable(getattr(cls, name))]
        if wrong:
            raise TypeError(
                f"{cls.__qualname__}.{wrong[0]} is named as a hook and is none; hooks are "
                f"{', '.join(_HOOKS)}"
            )

    def before_graph(self, ctx: GraphMiddlewareContext) -> Any:
        """Do something before a run's first superstep, also when it goes on; return None."""

    def after_graph(self, ctx: GraphMiddlewareContext) -> Any:
        """Do something after a run's last superstep, if it completed; return None."""

    def on_run_end(self, ctx: GraphMiddlewareContext, outcome: RunOutcome) -> Any:
        """Do something once a run has ended, with whatever `outcome`; return None.

        Called if this middleware's `before_graph` was.
        """

    def before_node(self, ctx: NodeMiddlewareContext) -> Any:
        """Return `ctx.replace(state)` to give the node another state, for this run of it only."""

    def after_node(self, ctx: NodeMiddlewareContext) -> Any:
        """Return `ctx.replace(fields)` to have other fields written; `ctx.state` are the node's."""

    def on_error(self, ctx: NodeMiddlewareContext, error: Exception) -> Any:
        """Return what the node that raised `error` should have returned; or None.

        In any form in which a node may return it. None leaves the error to the next hook.
        """

    def on_interrupt(self, ctx: NodeMiddlewareContext, payload: Any) -> Any:
        """Return an answer to what the node asks, so that the run does not pause; or None.

        `payload` is what the node passed to `interrupt`; `ctx.interrupt` is the whole question.
        """

    def before_model(self, ctx: Any) -> Any:
        """Return `ctx.replace(request)` to send another request; called by agents."""

    def after_model(self, ctx: Any) -> Any:
        """Return `ctx.replace(response)` to go on with another response; called by agents."""

    def before_tool(self, ctx: Any) -> Any:
        """Return `ctx.replace(arguments)` to call the tool with others; called by agents."""

    def after_tool(self, ctx: Any) -> Any:
        """Return `ctx.replace(result)` to go on with another result; called by agents."""

    def on_tool_error(self, ctx: Any, error: Exception) -> Any:
        """Look at the `error` that a tool raised; called by agents."""

    def tools(self) -> Sequence[Any]:
        """Return tools this middleware brings to an agent."""
        return ()


_HOOKS = tuple(name for name in vars(Middleware) if name.startswith(_PREFIXES))


def checked_middleware(given: Iterable[Any] | None) -> tuple[Middleware, ...]:
    """Return middleware as a tuple.

    Raises
    ------
    TypeError
        If one is no `Middleware`.
    """
    if not isinstance(given, Iterable | None):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
        raise TypeError(f"middleware lists Middleware instances, got {given!r}")
    listed = tuple(given or ())
    for each in listed:
        if not isinstance(each, Middleware):
            raise TypeError(f"middleware lists Middleware instances, got {each!r}")
    return listed


def hooks_of(middleware: Sequence[Middleware], name: str) -> tuple[Hook, ...]:
    """Return the methods that were written for a hook, in the order in which it is called."""
    wraps = name.startswith("after_") or name in ("on_run_end", "on_tool_error")
    ordered = reversed(middleware) if wraps else middleware
    unwritten = getattr(Middleware, name)
    return tuple(getattr(each, name) for each in ordered if getattr(type(each), name) != unwritten)


async def settled(returned: Any) -> Any:
    """Return what a hook returned, once it is there."""
    return await returned if inspect.isawaitable(returned) else returned


async def passed_on(
    hooks: Iterable[Hook], value: T, *, seen: Callable[[T], Any], read: Callable[[Any], T]
) -> T:
    """Return a value after hooks that may each replace it, one after the other.

    Parameters
    ----------
    hooks : hooks
        In the order in which they are asked.
    value : T
        What there is at first.
    seen : function
        Returns the context that shows a value.
    read : function
        Returns a replacement as a value.

    Raises
    ------
    TypeError
        If a hook returns something else than `ctx.replace(value)` or None.
    """
    for hook in hooks:
        match await settled(hook(seen(value))):
            case None:
                pass
            case Replacement(value=other):
                value = read(other)
            case returned:
                raise TypeError(
                    f"{hook.__qualname__} returned {returned!r}; return ctx.replace(value) or None"
                )
    return value


async def told(hook: Hook, *args: Any) -> None:
    """Call a hook that only looks.

    Raises
    ------
    GraphExecutionError, TypeError
        If it returns a replacement, or anything else.
    """
    returned = await settled(hook(*args))
    if isinstance(returned, Replacement):
        raise GraphExecutionError(f"{hook.__qualname__} cannot replace anything; return None")
    if returned is not None:
        raise TypeError(f"{hook.__qualname__} returned {returned!r}; return None")
