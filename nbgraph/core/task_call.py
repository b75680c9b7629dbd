"""A task on its way to whatever runs it: the node, the state it is given, and its way back."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from nbgraph.core.asking import Frame
from nbgraph.core.context import NodeContext, Port
from nbgraph.core.events import ErrorInfo, TaskSpec
from nbgraph.core.live import Attempt, TaskEmitted
from nbgraph.core.node import Node
from nbgraph.core.node_hooks import NodeHooks
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.schema import StateSchema
from nbgraph.core.secrets import masked, secrets_of
from nbgraph.core.tracebacks import from_users_line

__all__ = ["TaskCall", "described"]


@dataclass(slots=True)  # a frozen one takes 0.5 us longer to make, for each task
class TaskCall:
    """All that a task needs to run; `values` are what middleware gives the node instead."""

    task: TaskSpec
    node: Node
    schema: StateSchema
    state: Mapping[str, Any]
    frame: Frame
    context: NodeContext | None
    port: Port
    hooks: NodeHooks | None = None
    values: Mapping[str, Any] | None = None
    inline: bool = False
    """Whether a sync node runs on the loop, instead of in a worker thread."""

    @property
    def is_bound(self) -> bool:
        """Whether the task needs its run's process.

        A sub-graph does, a node whose start must be recorded, one with a cache, one that asks when
        it fails, and one whose graph's parent may answer what it asks.
        """
        node, hooks = self.node, self.hooks
        is_own = node.inner is not None or node.effect is not None or node.cache is not None
        return is_own or node.on_error == "ask" or (hooks is not None and hooks.is_bound)

    def before(self) -> Mapping[str, Any]:
        """Return the values of the state the node is given."""
        if self.values is not None:
            return self.values
        return self.schema.laid(self.state, self.task.payload)

    def said(self, kind: Literal["print", "log"], data: Any) -> None:
        """Show what the node printed or logged."""
        self.port.say(TaskEmitted(self.task.task_id, self.node.name, kind, data, time.time()))

    def emit_attempt(self, attempt: Attempt, at: float) -> None:
        """Show an attempt that will be repeated."""
        self.port.say(TaskEmitted(self.task.task_id, self.node.name, "attempt", attempt, at))

    def described(self, error: BaseException) -> ErrorInfo:
        """Return an error as it is kept: without the secrets in the call's context."""
        info = described(error)
        context = None if self.context is None else self.context.given
        secrets = set(secrets_of(context))
        return ErrorInfo(
            type=info.type,
            message=masked(info.message, secrets),
            traceback=masked(info.traceback, secrets),
        )

    def heard_by(self, alive: Callable[[], None]) -> TaskCall:
        """Return the call with somebody to hear the node's signs of life."""
        context = self.context
        if context is None:
            return self
        return replace(self, context=replace(context, port=replace(context.port, alive=alive)))

    def again(self, attempt: int = 1) -> TaskCall:
        """Return the call for another run of the node."""
        context = None if self.context is None else self.context.again(attempt)
        return replace(self, frame=self.frame.again(), context=context)


def described(error: BaseException) -> ErrorInfo:
    """Return an error as it is kept."""
    try:
        message = str(error)
    except Exception as problem:  # noqa: BLE001 - the error's class is the user's own
        message = f"<no message: its __str__ raised {type(problem).__name__}>"
    trace = from_users_line(error.__traceback__)
    text = "".join(traceback.format_exception(type(error), error, trace))
    return ErrorInfo(
        type=type(error).__name__, message=_readable(message), traceback=_readable(text)
    )


def _readable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
