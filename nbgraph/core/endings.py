"""How far a run may go, and how one ends that failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nbgraph.core.events import ErrorInfo, RunFailed, TaskFailed
from nbgraph.core.task import Outcome, described

__all__ = ["Limits", "echoed", "failed"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one call may go."""

    max_steps: int
    steps: int | None = None
    until: str | None = None
    timeout: float | None = None
    break_when: Callable[[Any], bool] | None = None
    into: bool = False


def failed(error: BaseException) -> RunFailed:
    """Return the end of a run that failed with an error of its own."""
    return RunFailed(error=described(error)).with_exception(error)


def echoed(outcome: Outcome) -> RunFailed:
    """Return the run's failure for a task's; the traceback stands with the task."""
    assert isinstance(outcome.event, TaskFailed)
    info = outcome.event.error
    ended = RunFailed(error=ErrorInfo(type=info.type, message=info.message))
    return ended.with_exception(outcome.exception) if outcome.exception else ended
