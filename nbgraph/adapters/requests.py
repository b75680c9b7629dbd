"""Requests to another engine's thread, checked by the same rules as those to ours."""

from __future__ import annotations

from collections.abc import Iterable

from nbgraph.adapters.log import BranchLog
from nbgraph.core.driver import Shape
from nbgraph.core.events import Event
from nbgraph.core.lapses import Lapse
from nbgraph.core.requests import Continue, Edit, Resume, SetBreakpoints, Skip, Start
from nbgraph.core.schema import StateSchema
from nbgraph.core.stand_ins import opening_for
from nbgraph.errors import ResumeError

__all__ = ["check_edit", "checked", "expanded"]

_ALL = "*"


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
    schema = StateSchema(dict)
    return opening_for(request, shape, branch.events, branch.position, thread_id, schema)


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


def expanded(named: Iterable[str], shape: Shape) -> list[str]:
    """Return the paths of nodes; `"*"` is all of the graph's own, those of sub-graphs not."""
    found: dict[str, None] = {}
    for name in named:
        every = (node.path for node in shape.nodes if node.parent is None)
        found.update(dict.fromkeys(every if name == _ALL else (name,)))
    return list(found)
