"""A limit on how many tool calls a turn may take."""

from __future__ import annotations

from collections.abc import Mapping

from nbgraph.agents.contexts import ToolMiddlewareContext
from nbgraph.core.middleware import Middleware
from nbgraph.errors import GraphConfigError, ToolDeniedError

__all__ = ["ToolLimitMiddleware"]


class ToolLimitMiddleware(Middleware):
    """Denies the tool calls of a turn that go over a limit; the model reads it.

    A turn is what follows one input. Calls are counted in the thread's own messages, so the limit
    is the same after a pause, in another process, and on a fork.

    Parameters
    ----------
    max_calls : int
        Of all tools together.
    per_tool : dict of str to int, optional
        Of the tools it names.

    Raises
    ------
    GraphConfigError
        If a limit is no number of calls.
    """

    def __init__(self, *, max_calls: int = 50, per_tool: Mapping[str, int] | None = None) -> None:
        self.max_calls = max_calls
        self.per_tool = dict(per_tool or {})
        for limit in (max_calls, *self.per_tool.values()):
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:  # pyright: ignore[reportUnnecessaryIsInstance] - user's
                raise GraphConfigError(f"A limit is a number of calls, 0 or more, got {limit!r}")

    def before_tool(self, ctx: ToolMiddlewareContext) -> None:
        """Deny a call that is over a limit.

        Raises
        ------
        ToolDeniedError
            If it is.
        """
        name, asked = ctx.tool_name, ctx.asked_before
        if len(asked) >= self.max_calls:
            raise ToolDeniedError(name, f"the limit of {self.max_calls} tool calls is reached")
        limit = self.per_tool.get(name)
        if limit is not None and asked.count(name) >= limit:
            raise ToolDeniedError(name, f"the limit of {limit} calls of this tool is reached")
