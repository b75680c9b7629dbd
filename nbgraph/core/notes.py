"""What a task says and keeps while nobody listens: it is handed on with the task's outcome."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from nbgraph.core import answers
from nbgraph.core.context import Home, Port
from nbgraph.core.events import OnceRecorded, TaskEmitted
from nbgraph.core.values import fresh
from nbgraph.errors import GraphExecutionError

__all__ = ["Notes"]


@dataclass(slots=True)
class Notes:
    """Collects for one task."""

    said: list[TaskEmitted] = field(default_factory=list[TaskEmitted])
    once: list[OnceRecorded] = field(default_factory=list[OnceRecorded])

    def note_once(self, task_id: str, key: str, value: Any) -> Any:
        """Keep a result of `ctx.once`, and return it as it will be recorded."""
        kept = answers.to_json(value, where=f"result of ctx.once({key!r})")
        self.once.append(OnceRecorded(task_id=task_id, key=key, value=kept))
        return fresh(kept)

    async def record_once(self, task_id: str, key: str, value: Any) -> Any:
        """Do the same for an async node."""
        return self.note_once(task_id, key, value)

    def port(self, loop: asyncio.AbstractEventLoop) -> Port:
        """Return a port for a task whose run is elsewhere."""
        return Port(loop, self.said.append, self.record_once, _no_home, self.note_once)


def _no_home() -> Home:
    raise GraphExecutionError("A sub-graph runs where its parent's run does")
