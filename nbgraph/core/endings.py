"""How far a run may go, and how one ends that failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nbgraph.core.events import ErrorInfo, RunFailed, TaskFailed
from nbgraph.core.outcome import Outcome
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.requests import Continue
from nbgraph.core.task_call import described

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
    tasks: tuple[str, ...] = ()
    max_thread_steps: int | None = None

    def asked(self, request: Continue) -> Limits:
        """Return the limits of a `Continue`; what the graph around it says goes first."""
        if self.into:
            return self
        until = self.until or request.until
        return replace(
            self, steps=request.steps, until=until, into=request.into, tasks=request.tasks
        )


def failed(error: BaseException) -> RunFailed:
    """Return the end of a run that failed with an error of its own."""
    return RunFailed(error=described(error)).with_exception(error)


def echoed(outcome: Outcome, *others: Outcome) -> RunFailed:
    """Return the run's failure for a task's; the traceback stands with the task.

    The exception is told of others that failed at the same time.
    """
    for other in others:
        if outcome.exception is not None and isinstance(other.event, TaskFailed):
            error = other.event.error
            note = f"Task {other.task_id!r} failed too, with {error.type}: {error.message}"
            outcome.exception.add_note(note)
    assert isinstance(outcome.event, TaskFailed)
    info = outcome.event.error
    ended = RunFailed(error=ErrorInfo(type=info.type, message=info.message))
    return ended.with_exception(outcome.exception) if outcome.exception else ended
