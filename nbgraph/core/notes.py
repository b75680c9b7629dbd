"""What a task says and keeps while nobody listens: it is handed on with the task's outcome."""

from __future__ import annotations

import asyncio
from dataclasses import field

from nbgraph.core.context import Home, Port
from nbgraph.core.events import OnceRecorded
from nbgraph.core.facts import Fact
from nbgraph.core.live import TaskEmitted
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.errors import GraphExecutionError

__all__ = ["Notes"]


@dataclass(slots=True)
class Notes:
    """Collects for one task."""

    said: list[TaskEmitted] = field(default_factory=list[TaskEmitted])
    once: list[OnceRecorded] = field(default_factory=list[OnceRecorded])

    async def record(self, fact: Fact) -> None:
        """Keep a result of `ctx.once`.

        Raises
        ------
        GraphExecutionError
            For the start of an effect, which is worth nothing until it is recorded.
        """
        if not isinstance(fact, OnceRecorded):
            raise GraphExecutionError(
                f"Task {fact.task_id!r} begins an effect that happens once, and where it runs "
                "nothing is recorded before it ends; leave executor= out, or write it as a node of "
                "its own with effect='once'"
            )
        self.once.append(fact)

    def port(self, loop: asyncio.AbstractEventLoop) -> Port:
        """Return a port for a task whose run is elsewhere."""
        return Port(loop, self.said.append, self.record, _no_home, at_once=True)


def _no_home() -> Home:
    raise GraphExecutionError("A sub-graph runs where its parent's run does")
