"""Requests to a thread whose nodes are not ours, checked by the same rules as those to ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nbgraph.core.answering import check_unanswered
from nbgraph.core.driver import Shape
from nbgraph.core.events import Event
from nbgraph.core.flow import Structure
from nbgraph.core.node import Node, node
from nbgraph.core.opening import opening
from nbgraph.core.position import Position
from nbgraph.core.requests import Continue, Edit, Resume, SetBreakpoints, Skip, Start
from nbgraph.core.schema import StateSchema
from nbgraph.errors import ResumeError

__all__ = ["opening_for"]


def opening_for(
    request: Start | Resume | Continue | Edit | Skip | SetBreakpoints,
    shape: Shape,
    events: Sequence[Event],
    position: Position,
    thread_id: str,
    schema: StateSchema,
) -> list[Event]:
    """Return the events a request begins with, of a thread that is known by its shape and events.

    Raises
    ------
    ResumeError
        If it does not fit where the thread stands.
    AnswerError
        If an answer does not fit its question.
    """
    stand_ins = {each.path: _stand_in(each.path) for each in shape.nodes}
    structure = Structure(stand_ins)
    try:
        return opening(request, position, structure=structure, schema=schema, thread_id=thread_id)
    except ResumeError:
        if isinstance(request, Resume):
            check_unanswered(events, request.asked, request.asked)
        raise


def _stand_in(path: str) -> Node:
    def nothing(state: Any) -> None:  # noqa: ARG001 - a node takes the state
        return None

    return node(name=path)(nothing)
