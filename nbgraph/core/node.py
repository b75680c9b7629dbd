"""Nodes, and what they may return."""

from __future__ import annotations

import inspect
import re
import textwrap
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from pydantic import BaseModel

from nbgraph.core.context import NodeContext
from nbgraph.core.driver import Folding, Shape
from nbgraph.core.importing import found_at, is_importable
from nbgraph.core.node_cache import NodeCache
from nbgraph.core.node_options import OnError, checked_cache, checked_effect, checked_on_error
from nbgraph.core.path import Goal, Source
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.retry import Retry, checked_retry
from nbgraph.core.timeout import Timeout, checked_timeout

if TYPE_CHECKING:
    from tenacity import BaseRetrying

    from nbgraph.core.flow import Structure

__all__ = ["END", "START", "Command", "Inner", "Node", "Send", "node"]

_TASK_NUMBER = r"\[\d+\]$"


class _Start(Source):
    """Where a turn begins; `START >> a` in a flow."""

    name = "__start__"

    def __repr__(self) -> str:
        return "START"


class _End(Goal):
    """Where a turn ends; `a >> END` in a flow, or a node's return value."""

    name = "__end__"

    def __repr__(self) -> str:
        return "END"


START = _Start()
END = _End()


@dataclass(frozen=True, slots=True)
class Send:
    """Runs `node` in the next superstep once, with `payload` laid over the state for it alone.

    A node returns it, alone or in a list, or as the `goto` of a `Command`. A `TypeError` if `node`
    is none.
    """

    node: Node
    payload: Mapping[str, Any] | BaseModel | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.node, Node):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
            raise TypeError(f"Send takes a node, got {self.node!r}")


@dataclass(frozen=True, slots=True)
class Command:
    """A node's update together with where it leads.

    Parameters
    ----------
    update : dict, optional
        As a node returns it.
    goto : node, Send, END or a list of them, optional
        Replaces the node's edges; `[]` leads nowhere, None follows the edges. Targets must be
        declared in `@node(goto=[...])`.
    """

    update: Mapping[str, Any] | None = None
    goto: Any = None


@dataclass(frozen=True, slots=True)
class Inner:
    """The sub-graph that a node runs: how it is drawn and folded, and the fields both states have.

    `stable` is whether all visits are turns of one thread.
    """

    shape: Shape
    structure: Structure
    folding: Folding
    shared: tuple[str, ...] = ()
    stable: bool = False

    def thread_id(self, parent: str, branch_id: str, task_id: str, planned: int) -> str:
        """Return the id of the thread a task makes; a branch's own are told apart."""
        if self.stable:
            return f"{parent}:{task_id}"
        branch = "" if branch_id == "main" else f"{branch_id}:"
        return f"{parent}:{task_id}:{branch}{planned}"


@dataclass(frozen=True, slots=True, eq=False)
class Node(Source, Goal):
    """A named step of a graph: a function of the state, and how it is run and drawn.

    Made by `node`. Calling it calls the function; `a >> b` puts it into a flow.

    Attributes
    ----------
    name, handler, ref, timeout, retry, on_error, cache, goto, label, metadata, effect, defer
        As `node` was given them: `handler` is its `function`, and `text` its `description`.
    accepts_context, context_is_keyword, context_parameter_name : bool, bool, str or None
        How the function takes a `NodeContext`.
    inner : Inner or None
        The sub-graph it runs, if it was made by `subgraph`.
    """

    name: str
    handler: Callable[..., Any]
    ref: str | None = None
    accepts_context: bool = False
    context_is_keyword: bool = False
    context_parameter_name: str | None = None
    timeout: float | Timeout | None = None
    retry: Retry | BaseRetrying | None = None
    on_error: OnError | None = None
    cache: NodeCache | None = None
    goto: tuple[Any, ...] = ()
    label: str | None = None
    text: str | None = field(default=None, repr=False)
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inner: Inner | None = None
    effect: Literal["once"] | None = None
    defer: bool = False
    is_async: bool = field(init=False, repr=False)
    is_bare: bool = field(init=False, repr=False)
    """Whether to run it is to call it: nothing limits, repeats or records what it does."""
    goes_away: bool = field(init=False, repr=False)
    """Whether all there is to a task of it is a call that may block, so that a worker makes it."""
    place: str = field(init=False, repr=False)
    """What it is called where a value of it is refused."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_async", _is(inspect.iscoroutinefunction, self.handler))
        around = (self.timeout, self.retry, self.effect, self.on_error, self.cache)
        object.__setattr__(self, "is_bare", all(each is None for each in around))
        object.__setattr__(self, "goes_away", self.is_bare and not self.is_async)
        object.__setattr__(self, "place", f"node {self.name!r}")

    @property
    def source(self) -> str | None:
        """The function's source; None where it cannot be had."""
        try:
            return textwrap.dedent(inspect.getsource(self.handler))
        except (OSError, TypeError):
            return None

    @property
    def description(self) -> str | None:
        """What `@node(description=...)` says, else the first line of the function's docstring."""
        if self.text is not None:
            return self.text
        handler = self.handler
        text = inspect.getdoc(handler.func if isinstance(handler, partial) else handler)
        return text.splitlines()[0] if text else None

    def call(self, state: Any, context: NodeContext | None) -> Any:
        """Call the function with `state`, and with `context` if it takes one."""
        if not self.accepts_context:
            return self.handler(state)
        if self.context_is_keyword:
            return self.handler(state, **{str(self.context_parameter_name): context})
        return self.handler(state, context)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 - the class says it
        return self.handler(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the node's import path to whoever carries it elsewhere, where it has one."""
        handler = self.handler
        if is_importable(handler) and found_at(*_place(handler)) is self:
            return found_at, _place(handler)
        return object.__reduce_ex__(self, protocol)

    def __repr__(self) -> str:
        return f"<node {self.name!r}>"


def _place(handler: Callable[..., Any]) -> tuple[str, str]:
    return handler.__module__, handler.__qualname__


@overload
def node(function: Callable[..., Any], /) -> Node: ...
@overload
def node(
    function: None = None,
    /,
    *,
    name: str | None = None,
    ref: str | None = None,
    timeout: float | Timeout | None = None,
    retry: Retry | BaseRetrying | None = None,
    on_error: OnError | None = None,
    cache: NodeCache | None = None,
    goto: Iterable[Any] | None = None,
    label: str | None = None,
    description: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    effect: Literal["once"] | None = None,
    defer: bool = False,
) -> Callable[[Callable[..., Any]], Node]: ...
def node(  # noqa: PLR0913 - a decorator's options
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    ref: str | None = None,
    timeout: float | Timeout | None = None,
    retry: Retry | BaseRetrying | None = None,
    on_error: OnError | None = None,
    cache: NodeCache | None = None,
    goto: Iterable[Any] | None = None,
    label: str | None = None,
    description: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    effect: Literal["once"] | None = None,
    defer: bool = False,
) -> Node | Callable[[Callable[..., Any]], Node]:
    """Make a node of a function, as a decorator with or without options.

    Parameters
    ----------
    function : function, bound method or other callable object
        Takes the state, and optionally one more parameter annotated `NodeContext`. Sync or async.
    name : str, optional
        The node's name; by default the function's. A lambda, a `functools.partial` and an object
        with `__call__` need one.
    ref : str, optional
        An import path that stands for the function in a graph's specification.
    timeout : float or Timeout, optional
        Seconds one run of the node may take; with `retry`, each attempt. `Timeout(run=, idle=)`
        also says for how long it may be silent.
    retry : Retry or tenacity Retrying, optional
        Tries the node again when it raises. Of tenacity's object, `stop`, `wait` and `retry` are
        used. An interrupt is no error.
    on_error : function or "ask", optional
        Stands in when the node fails, after its last attempt. A function takes the state and the
        error, and returns what a node may return, or None to let the error be. `"ask"` asks a
        person: retry, skip, or set the result.
    cache : NodeCache, optional
        Keeps the node's results, and gives them where the input is the same.
    goto : list of nodes, names and END, optional
        Where the node may lead by its own word.
    label, description : str, optional
        What the drawing shows instead of the name, and beside it instead of the docstring's first
        line.
    metadata : dict, optional
        Yours; nbgraph does not read it.
    effect : "once", optional
        The node runs at most once for a task: its start is recorded before it runs, and if the
        process ends or it fails before there is a result, it is not repeated. A person is asked to
        retry it, to skip it (nothing is written) or to set what it returned.
    defer : bool
        The node waits until no other node follows, and then runs once, however many led to it. A
        `Send` to it is not held back.

    Returns
    -------
    Node

    Raises
    ------
    TypeError
        If the function or an option is none a node can be made of.
    """

    def made(handler: Callable[..., Any]) -> Node:
        _check_function(handler, name)
        context = _context_parameter(handler)
        return Node(
            name=name or _name_of(handler),
            handler=handler,
            ref=ref,
            accepts_context=context is not None,
            context_is_keyword=context is not None and context.kind is context.KEYWORD_ONLY,
            context_parameter_name=None if context is None else context.name,
            timeout=checked_timeout(timeout),
            retry=checked_retry(retry),
            on_error=checked_on_error(on_error, effect),
            cache=checked_cache(cache, effect),
            goto=_checked_goto(goto),
            label=label,
            text=description,
            metadata=dict(metadata or {}),
            effect=checked_effect(effect, retry),
            defer=bool(defer),
        )

    return made if function is None else made(function)


def _is(kind: Callable[[Any], bool], handler: Any) -> bool:
    """Return whether a function is of a kind, or the one that an object is called by."""
    return kind(handler) or kind(getattr(handler, "__call__", None))  # noqa: B004 - not whether


def _name_of(handler: Any) -> str:
    return getattr(handler, "__name__", "")


def _check_function(handler: Any, name: str | None) -> None:
    if isinstance(handler, type | types.BuiltinFunctionType) or not callable(handler):
        raise TypeError(f"A node is a function or an object that can be called, got {handler!r}")
    if _is(inspect.isgeneratorfunction, handler) or _is(inspect.isasyncgenfunction, handler):
        raise TypeError(
            f"{handler!r} yields, and a node returns; show what comes bit by bit with "
            "ctx.emit(...) or ctx.emit_token(...), and return the update"
        )
    if _name_of(handler) in ("", "<lambda>") and not name:
        what = "A lambda" if _name_of(handler) else repr(handler)
        raise TypeError(f"{what} has no name of its own; pass node(name=...)")
    if name is not None and not (isinstance(name, str) and name.strip()):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
        raise TypeError(f"A node's name is a str with something in it, got {name!r}")
    called = name or _name_of(handler)
    if called in (START.name, END.name) or re.search(_TASK_NUMBER, called):
        raise TypeError(
            f"A node's name is not {START.name!r} or {END.name!r} and does not end in a number in "
            f"brackets, which tells tasks apart; got {called!r}"
        )


def _called(handler: Any) -> str:
    return getattr(handler, "__qualname__", repr(handler))


def _context_parameter(handler: Callable[..., Any]) -> inspect.Parameter | None:
    parameters = list(inspect.signature(handler).parameters.values())
    variadic = [
        item.name for item in parameters if item.kind in (item.VAR_POSITIONAL, item.VAR_KEYWORD)
    ]
    if (
        variadic
        or not 1 <= len(parameters) <= 2
        or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY
    ):
        raise TypeError(
            f"{_called(handler)} must take the state, and at most one more parameter annotated "
            f"NodeContext; it takes ({', '.join(item.name for item in parameters)})"
        )
    if len(parameters) == 1:
        return None
    if parameters[1].annotation not in (NodeContext, "NodeContext"):
        raise TypeError(
            f"The second parameter {parameters[1].name!r} of {_called(handler)} must be "
            "annotated NodeContext"
        )
    return parameters[1]


def _checked_goto(goto: Iterable[Any] | None) -> tuple[Any, ...]:
    if goto is None:
        return ()
    targets = (goto,) if isinstance(goto, str) else tuple(goto)
    if not targets:
        raise TypeError("goto is empty; leave it out, or list the nodes this one may lead to")
    for target in targets:
        if not (isinstance(target, Node | str) or target is END):
            raise TypeError(f"goto lists nodes, names and END, got {target!r}")
    return targets
