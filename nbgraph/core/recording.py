"""Answers are recorded where nobody has the thread's graph: whoever runs it later goes on.

What waits, and whether an answer fits, is in the log. What the answers lead to is not decided here:
the thread stands as a run leaves it that was stopped before its first task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nbgraph.core.answering import answers_given, check_unanswered
from nbgraph.core.events import (
    BreakpointsSet,
    Event,
    Forked,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStopped,
    StateEdited,
)
from nbgraph.core.fold import fold
from nbgraph.core.log import Draft
from nbgraph.core.position import Position
from nbgraph.core.requests import Resume
from nbgraph.core.store import StateStore
from nbgraph.errors import ConcurrentRunError, ResumeError

__all__ = ["record_answers"]


async def record_answers(
    store: StateStore,
    thread_id: str,
    branch_id: str,
    request: Resume,
    *,
    graph: str,
    now: float,
    take_over: bool = False,
) -> Position:
    """Record answers without running the thread, and return where it stands; its state is left out.

    Where no task can go on yet the thread pauses, as a run would have it; else it is stopped before
    its first task, and `Continue` goes on.

    Parameters
    ----------
    store : StateStore
        Where the thread is kept.
    thread_id, branch_id : str
        Which thread, and which branch of it.
    request : Resume
        The answers; `asked` says which asking each is for.
    graph : str
        The graph's name, which lists show.
    now : float
        Decides which questions are expired: theirs is recorded with the answers.
    take_over : bool
        Record them although the branch's last run has left no end, so that somebody may still run
        it: that run is then refused what it does next.

    Raises
    ------
    ResumeError
        If the answers do not fit where the thread stands, or somebody may be running it.
    AlreadyAnsweredError, QuestionExpiredError, StaleAnswerError, AnswerError
        If a question is not waiting any more, or an answer does not fit it. Nothing is recorded.
    StateStoreError
        If the store cannot be used, or somebody else wrote to the branch at this moment.
    """
    events = await store.events(thread_id, branch_id)
    draft = Draft(fold(events, _WITHOUT_STATE), branch_id, _WITHOUT_STATE)
    expected = draft.position.sequence
    try:
        draft.add(answers_given(request, draft.position, thread_id=thread_id, now=now))
    except ResumeError:
        check_unanswered(events, request.asked, request.asked)
        raise
    if not (take_over or _has_ended(events)):
        raise ResumeError(
            f"Other tasks of thread {thread_id!r} may be running; answer when they are done, or "
            "once more to take the thread over"
        )
    draft.add(RunStopped() if draft.position.runnable else RunPaused(reason="interrupt"))
    summary = draft.position.summary(graph)
    try:
        await store.append(thread_id, branch_id, draft.events, expected=expected, summary=summary)
    except ConcurrentRunError:
        later = await store.events(thread_id, branch_id, after=expected)
        check_unanswered(later, request.asked, request.asked)
        raise
    return draft.position


_ENDS = (RunPaused, RunStopped, RunFinished, RunFailed, Forked)


def _has_ended(events: Sequence[Event]) -> bool:
    """Return whether nobody runs the branch, as its log tells: after its last run came an end."""
    runs = (event for event in reversed(events) if not isinstance(event, _BETWEEN))
    return isinstance(next(runs, None), _ENDS)


_BETWEEN = (StateEdited, BreakpointsSet)


class _WithoutState:
    """Folds a log without its state, for which it would need the graph."""

    def apply(
        self,
        state: Mapping[str, Any],
        update: Mapping[str, Any],  # noqa: ARG002 - the protocol's
        replaced: Sequence[str],  # noqa: ARG002
    ) -> Mapping[str, Any]:
        return state

    def apply_all(
        self,
        state: Mapping[str, Any],
        updates: Iterable[tuple[Mapping[str, Any], Sequence[str]]],  # noqa: ARG002 - the protocol's
    ) -> Mapping[str, Any]:
        return state

    def to_json(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return dict(state)

    def view(self, state: Mapping[str, Any]) -> Any:
        return state


_WITHOUT_STATE = _WithoutState()
