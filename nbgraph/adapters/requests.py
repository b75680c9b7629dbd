"""Requests to another engine's thread, checked by the same rules as those to ours."""

from __future__ import annotations

from typing import Any

from nbgraph.adapters.log import BranchLog
from nbgraph.core.answering import check_unanswered
from nbgraph.core.driver import Shape
from nbgraph.core.events import Event
from nbgraph.core.flow import Structure
from nbgraph.core.lapses import Lapse
from nbgraph.core.node import Node, node
from nbgraph.core.opening import opening
from nbgraph.core.requests import Continue, Edit, Resume, SetBreakpoints, Skip, Start
from nbgraph.core.schema import StateSchema
from nbgraph.errors import ResumeError

__all__ = ["check_edit", "checked"]


def checked(
    request: Start | Resume | Continue | Skip | SetBreakpoints,
    shape: Shape,
    branch: BranchLog,
    thread_id: str,
) -> list[Event]:
    """Return the events a request begins with; the engine says what a start begins with.

    Raises
    ------
    ResumeError
        If it does not fit where the branch stands.
    AnswerError
        If an answer does not fit its question.
    """
    if isinstance(request, Start):
        return _start(branch)
    if isinstance(request, Resume):
        _check_answers(request)
    if isinstance(request, Continue) and request.tasks:
        raise ResumeError("This engine runs all tasks of a superstep; leave tasks= out")
    stand_ins = {each.path: _stand_in(each.path) for each in shape.nodes}
    try:
        return opening(
            request,
            branch.position,
            structure=Structure(stand_ins),
            schema=StateSchema(dict),
            thread_id=thread_id,
        )
    except ResumeError:
        if isinstance(request, Resume):
            check_unanswered(branch.events, request.asked, request.asked)
        raise


def check_edit(request: Edit) -> None:
    """Refuse an edit that leads somewhere, which no other engine records.

    Raises
    ------
    ResumeError
        If it does.
    """
    if request.goto is not None:
        raise ResumeError("This engine chooses by itself what runs next; leave goto= out")


def _check_answers(request: Resume) -> None:
    """Refuse what is no answer: another engine's node would read it as one."""
    for given in (request.value, *(request.answers or {}).values()):
        if isinstance(given, Lapse):
            raise ResumeError(f"{given!r} stands for no answer, and this engine needs one")


def _start(branch: BranchLog) -> list[Event]:
    if branch.position.pending:
        waiting = ", ".join(map(repr, branch.position.pending))
        raise ResumeError(
            f"The thread waits for {waiting}; answer with Resume, or fork it at an earlier event "
            "and start there"
        )
    return []


def _stand_in(path: str) -> Node:
    def nothing(state: Any) -> None:  # noqa: ARG001 - a node takes the state
        return None

    return node(name=path)(nothing)
