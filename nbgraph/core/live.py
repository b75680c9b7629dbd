"""What is shown while it happens and not stored: the live events of a run."""

from __future__ import annotations

from typing import Any, Literal

from nbgraph.core.events import Event
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.record import ErrorInfo

__all__ = ["Attempt", "ChildEvent", "LiveEvent", "Logged", "TaskEmitted", "TaskStarted"]


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A task began to run."""

    task_id: str
    node: str
    at: float


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt of a task that failed and will be repeated after `wait` seconds.

    `number` counts from 1; `limit` is how many there may be, where that is known.
    """

    number: int
    limit: int | None
    error: ErrorInfo
    wait: float


@dataclass(frozen=True, slots=True)
class Logged:
    """A log record of a node; `grave` is one of level ERROR or above."""

    level: str
    logger: str
    message: str
    grave: bool


@dataclass(frozen=True, slots=True)
class TaskEmitted:
    """A node said something while it ran.

    `kind` is `"custom"` for `ctx.emit(data)`, `"token"` for `ctx.emit_token(piece)`, and
    `"attempt"` for an attempt that will be repeated, whose `data` is an `Attempt`. Where somebody
    listens, it is `"print"` for lines the node printed, `"log"` for a `Logged`, and `"held"` for
    the seconds for which it held the loop.
    """

    task_id: str
    node: str
    kind: Literal["custom", "token", "attempt", "print", "log", "held"]
    data: Any
    at: float


@dataclass(frozen=True, slots=True)
class ChildEvent:
    """Something happened in a sub-graph while it ran; what is stored stands in its own log.

    Attributes
    ----------
    path : str
        The sub-graph's node, `"refund"`, or `"refund/check"` for one inside it.
    task_id : str
        The tasks it runs in, joined likewise: `"refund[1]/check"`.
    event
        What happened there.
    """

    path: str
    task_id: str
    event: Event | TaskStarted | TaskEmitted


LiveEvent = TaskStarted | TaskEmitted | ChildEvent
"""Anything that is shown while it happens and not stored."""
