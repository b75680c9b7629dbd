"""Nodes and routers with an import path, for the tests of graphs as data."""

from __future__ import annotations

from nbgraph import END, Node, node
from tests.core.graphs import Trail


@node
def draft(state: Trail) -> None:
    """Write."""


@node(goto=[draft, END])
def judge(state: Trail) -> Node:
    return draft


@node
def left(state: Trail) -> None: ...


@node
def right(state: Trail) -> None: ...


@node
def both(state: Trail) -> None: ...


def enough(state: Trail) -> bool:
    return state.count > 2


def size(state: Trail) -> object:
    return state.count
