"""Middleware: the base class, and what its hooks are given."""

from __future__ import annotations

from nbgraph.core.middleware import (
    GraphMiddlewareContext,
    Middleware,
    NodeMiddlewareContext,
    Replacement,
    RunOutcome,
)

__all__ = [
    "GraphMiddlewareContext",
    "Middleware",
    "NodeMiddlewareContext",
    "Replacement",
    "RunOutcome",
]
