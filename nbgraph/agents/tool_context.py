"""What a running tool can ask of the run that called it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nbgraph.core.context import NOT_PROVIDED
from nbgraph.core.middleware import Middleware
from nbgraph.errors import ContextNotProvidedError

__all__ = ["ToolContext"]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """A tool's parameter of this type is hidden from the model, and given where the tool runs.

    Attributes
    ----------
    graph_name, node, thread_id, branch_id, run_id, root_run_id, task_id : str
        Where the tool is called.
    tool_call_id : str or None
        The call.
    state : Any
        What the calling node was given.
    emit : function
        Shows a value to whoever watches the run; it is not stored.
    middleware : tuple of Middleware
        The graph's.
    idempotency_key : str
        The same text for every run of this call on this branch, and for nothing else: for a
        receiver that takes a request it has seen before for the same one.
    """

    graph_name: str
    node: str
    thread_id: str
    run_id: str
    root_run_id: str
    task_id: str
    state: Any = field(repr=False)
    emit: Callable[[Any], None] = field(repr=False)
    tool_call_id: str | None = None
    branch_id: str = "main"
    middleware: tuple[Middleware, ...] = ()
    given: Any = field(default=NOT_PROVIDED, repr=False)
    idempotency_key: str = ""

    @property
    def context(self) -> Any:
        """What the run was given as `context=`; it is never stored.

        Raises
        ------
        ContextNotProvidedError
            If it was given none.
        """
        if self.given is NOT_PROVIDED:
            raise ContextNotProvidedError(self.node)
        return self.given
