"""A graph's nodes with others in their place: for tests, and to try a flow without its effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from nbgraph.core.flow import Structure
from nbgraph.core.node import Node, node
from nbgraph.errors import GraphConfigError

__all__ = ["overridden"]


def overridden(
    structure: Structure,
    stand_ins: Mapping[str, Callable[..., Any]],
    others: Callable[..., Any] | None,
) -> Structure:
    """Return a flow whose nodes run other functions, and are the same in all else.

    Raises
    ------
    GraphConfigError
        If a name is that of no node.
    TypeError
        If a function is none a node can be made of.
    """
    unknown = [name for name in stand_ins if name not in structure.nodes]
    if unknown:
        wrong, known = (", ".join(map(repr, names)) for names in (unknown, structure.nodes))
        raise GraphConfigError(f"There is no node {wrong} to override; nodes are {known}")
    nodes = {
        name: _with(each, stand_ins.get(name, others)) for name, each in structure.nodes.items()
    }
    return replace(structure, nodes=nodes)


def _with(found: Node, function: Callable[..., Any] | None) -> Node:
    if function is None:
        return found
    handler = function.handler if isinstance(function, Node) else function
    made = node(name=found.name)(handler)
    return replace(
        found,
        handler=made.handler,
        accepts_context=made.accepts_context,
        context_is_keyword=made.context_is_keyword,
        context_parameter_name=made.context_parameter_name,
        text=found.description,
        cache=None,
        inner=None,
    )
