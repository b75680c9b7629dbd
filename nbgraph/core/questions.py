"""Questions of a thread: in which order they wait, and what is known of an answered one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nbgraph.core.events import Interrupt, TaskSpec
from nbgraph.core.quick_dataclass import dataclass

__all__ = ["Answered", "waiting"]


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, its question, who gave it when, and the event, superstep and branch of it.

    `lapsed` is why nobody gave it, if nobody did; it is the question's default then, or None.
    `comment` is what was said beside it.
    """

    interrupt: Interrupt
    answer: Any
    by: str | None
    at: float
    sequence: int
    step: int
    branch_id: str = "main"
    lapsed: str | None = None
    comment: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the question has an answer or a default, so that its node goes on with one."""
        return self.lapsed is None or (self.lapsed != "again" and self.interrupt.has_default)


def waiting(
    tasks: Sequence[TaskSpec], pending: Mapping[str, Interrupt], *asked: Interrupt
) -> Mapping[str, Interrupt]:
    """Return what waits after a task asked: in the order of the tasks, whoever asked first."""
    first = {item.key: item for item in asked}
    if not (first and pending):
        return first or pending
    asker, last = asked[0].task_id, list(pending.values())[-1].task_id
    for task in tasks:  # mostly they ask in their order: then nothing is sorted
        if task.task_id == asker:
            break
        if task.task_id == last:
            return {**pending, **first}
    places = {task.task_id: at for at, task in enumerate(tasks)}
    rest = {key: item for key, item in pending.items() if key not in first}
    return dict(sorted({**first, **rest}.items(), key=lambda item: places.get(item[1].task_id, 0)))
