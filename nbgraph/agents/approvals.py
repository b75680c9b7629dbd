"""Approvals: a tool call waits for a person, and what was shown is what runs."""

from __future__ import annotations

from collections.abc import Iterable

from nbgraph.agents.contexts import ToolMiddlewareContext
from nbgraph.agents.responding import Responded
from nbgraph.agents.rules import InterruptRule, matched
from nbgraph.core.decisions import (
    ToolDecision,
    ToolInterrupt,
    approval_id,
    call_hash,
    decided,
    decision_schema,
    edited_arguments,
)
from nbgraph.core.interrupts import Submitted, ask
from nbgraph.core.middleware import Middleware, Replacement
from nbgraph.errors import GraphConfigError, ToolDeniedError

__all__ = ["ToolInterruptMiddleware", "shown_call"]

REASON = "tool_approval"
"""The reason of the interrupt that asks about a call."""


class ToolInterruptMiddleware(Middleware):
    """Asks a person about tool calls before they run.

    The pending question's payload is a `ToolInterrupt`. `True` or a `ToolDecision` answers it; any
    other answer denies the call, and the model reads the reason. An approval is bound to the digest
    of the call that was shown: where another call stands in its place by now, or the answer was
    given on another branch, it is asked about again.

    Parameters
    ----------
    rules : list of InterruptRule
        The first one that matches a call says what may be decided about it.

    Raises
    ------
    GraphConfigError
        If one is no rule.
    """

    def __init__(self, *, rules: Iterable[InterruptRule]) -> None:
        self.rules = tuple(rules)
        for rule in self.rules:
            if not isinstance(rule, InterruptRule):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
                raise GraphConfigError(f"rules lists InterruptRule instances, got {rule!r}")

    def before_tool(self, ctx: ToolMiddlewareContext) -> Replacement | None:
        """Ask about a call that a rule matches, and do what is decided.

        Raises
        ------
        ToolDeniedError
            If it is denied.
        """
        found = matched(self.rules, ctx.tool_name, ctx.value, ctx.tool.input_schema())
        if found is None:
            return None
        rule, how = found
        call = shown_call(ctx).model_copy(update={"rule": how, "allowed": rule.allowed})
        reply = ask(
            call,
            id=approval_id(ctx.tool_call_id),
            message=f"Run {ctx.tool_name}?",
            reason=REASON,
            response_schema=decision_schema(call.input_schema, rule.allowed),
            tool_call_id=ctx.tool_call_id,
            same=lambda shown: shown.get("call_hash") == call.call_hash,
        )
        decision = decided(reply.answer, rule.allowed)
        if decision.call_hash not in (None, call.call_hash):
            reply.refuse({"/call_hash": "Another call than this one was shown; look again"})
        return _done(ctx, decision, reply)


def shown_call(ctx: ToolMiddlewareContext) -> ToolInterrupt:
    """Return a call as it is shown to a person."""
    schema = ctx.tool.input_schema()
    return ToolInterrupt(
        tool_name=ctx.tool_name,
        tool_call_id=ctx.tool_call_id or "",
        arguments=ctx.value,
        description=ctx.tool.description,
        input_schema=schema,
        destructive=ctx.tool.destructive,
        call_hash=call_hash(
            ctx.tool_name,
            ctx.value,
            shown={"description": ctx.tool.description, "input_schema": schema},
            thread_id=ctx.thread_id,
            tool_call_id=ctx.tool_call_id or "",
        ),
    )


def _done(
    ctx: ToolMiddlewareContext, decision: ToolDecision, reply: Submitted
) -> Replacement | None:
    match decision.action:
        case "approve":
            ctx.approved["arguments"] = ctx.value
            return None
        case "edit":
            arguments = edited_arguments(ctx.value, decision)
            problems = ctx.tool.problems_of(arguments)
            if problems:
                reply.refuse({f"/arguments{path}": text for path, text in problems.items()})
            ctx.approved["arguments"] = arguments
            return ctx.replace(arguments)
        case "respond":
            raise Responded(decision.message or "")
        case "deny":
            raise ToolDeniedError(ctx.tool_name, decision.message)
