"""Middleware: the base class, what its hooks are given, approvals of tool calls, and limits."""

from __future__ import annotations

from nbgraph.agents.approvals import ToolInterruptMiddleware
from nbgraph.agents.contexts import ModelMiddlewareContext, ToolMiddlewareContext
from nbgraph.agents.limits import ToolLimitMiddleware, UsageLimitMiddleware
from nbgraph.agents.rules import (
    InterruptRule,
    all_fields,
    any_field,
    eq,
    ge,
    gt,
    le,
    lt,
    matches,
    should_interrupt,
)
from nbgraph.core.decisions import ToolDecision, ToolInterrupt
from nbgraph.core.middleware import (
    GraphMiddlewareContext,
    Middleware,
    NodeMiddlewareContext,
    Replacement,
    RunOutcome,
)

__all__ = [
    "GraphMiddlewareContext",
    "InterruptRule",
    "Middleware",
    "ModelMiddlewareContext",
    "NodeMiddlewareContext",
    "Replacement",
    "RunOutcome",
    "ToolDecision",
    "ToolInterrupt",
    "ToolInterruptMiddleware",
    "ToolLimitMiddleware",
    "ToolMiddlewareContext",
    "UsageLimitMiddleware",
    "all_fields",
    "any_field",
    "eq",
    "ge",
    "gt",
    "le",
    "lt",
    "matches",
    "should_interrupt",
]
