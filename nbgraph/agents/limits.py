"""Limits on what a turn may take: tool calls, tokens, money."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nbgraph.agents.contexts import ModelMiddlewareContext, ToolMiddlewareContext
from nbgraph.agents.history import turn_of
from nbgraph.core.messages import AIMessage
from nbgraph.core.middleware import Middleware
from nbgraph.core.usage import is_number, tokens_of
from nbgraph.errors import GraphConfigError, RunLimitExceededError, ToolDeniedError

__all__ = ["ToolLimitMiddleware", "UsageLimitMiddleware"]


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


class UsageLimitMiddleware(Middleware):
    """Ends a run before it asks a chat model once more, when its turn has cost enough.

    A turn is what follows one input. What it cost is read from the `usage` of the messages that are
    sent, so it is the same after a pause, in another process and on a fork; a message without a
    usage counts nothing. What one answer costs is known when it is there: the last one of a turn
    may go over the limit. The thread can be continued, with a higher one.

    Parameters
    ----------
    max_tokens : int, optional
        Tokens read and written, together.
    max_cost : float, optional
        In the currency of `price`.
    price : function, optional
        Takes the usage of a message, and returns what it cost. Needed with `max_cost`.

    Raises
    ------
    GraphConfigError
        If there is no limit, one is no number of 0 or more, or a cost has no price.
    """

    def __init__(
        self,
        *,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        price: Callable[[Mapping[str, Any]], float] | None = None,
    ) -> None:
        self.max_tokens = max_tokens
        self.max_cost = max_cost
        self.price = price
        limits = [limit for limit in (max_tokens, max_cost) if limit is not None]
        if not limits or not all(is_number(limit) and limit >= 0 for limit in limits):
            raise GraphConfigError(
                f"A limit is a number of 0 or more; pass max_tokens= or max_cost=, got {limits}"
            )
        if (max_cost is None) != (price is None):
            raise GraphConfigError("max_cost= and price=, what a usage costs, are passed together")

    def before_model(self, ctx: ModelMiddlewareContext) -> None:
        """Refuse to ask once more.

        Raises
        ------
        RunLimitExceededError
            If the turn has reached a limit.
        """
        usages = list(_usages(ctx.request.messages))
        tokens = sum(sum(tokens_of(usage)) for usage in usages)
        if self.max_tokens is not None and tokens >= self.max_tokens:
            raise RunLimitExceededError("max_tokens", self.max_tokens)
        if self.max_cost is None or self.price is None:
            return
        if usages and sum(map(self.price, usages)) >= self.max_cost:
            raise RunLimitExceededError("max_cost", self.max_cost)


def _usages(messages: list[Any]) -> Iterator[Mapping[str, Any]]:
    for message in turn_of(messages):
        if isinstance(message, AIMessage) and message.usage:
            yield message.usage
