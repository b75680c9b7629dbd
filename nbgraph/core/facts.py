"""Facts that a task has recorded before it goes on: results of `ctx.once`, starts of effects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence

from nbgraph.core.events import OnceRecorded, TaskBegan
from nbgraph.core.quick_dataclass import dataclass

__all__ = ["Fact", "Facts", "Recording"]

Fact = OnceRecorded | TaskBegan
"""What a task may have recorded while it runs."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A fact on its way to the log, and who waits for it."""

    fact: Fact
    done: asyncio.Future[None]


class Facts:
    """The facts of one run that are not recorded yet; used on the run's own loop only."""

    def __init__(self, hand_in: Callable[[Recording], None]) -> None:
        self._hand_in = hand_in
        self._waiting: set[asyncio.Future[None]] = set()
        self._over = False

    async def record(self, fact: Fact) -> None:
        """Return when a fact is recorded.

        Raises
        ------
        asyncio.CancelledError
            If the run ends first.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(done)
        self._hand_in(Recording(fact, done))
        if self._over:
            done.cancel()
        await done

    def admitted(
        self, recordings: Sequence[Recording], running: Collection[str]
    ) -> list[Recording]:
        """Return those to record: all results, and starts in tasks that still run.

        Who waits for another one is told that nothing will happen.
        """
        admitted: list[Recording] = []
        for recording in recordings:
            match recording.fact:
                case TaskBegan(task_id=task_id) if task_id not in running:
                    recording.done.cancel()
                case _:
                    admitted.append(recording)
        return admitted

    def recorded(self, recordings: Sequence[Recording]) -> None:
        """Let those who wait go on."""
        for recording in recordings:
            self._waiting.discard(recording.done)
            if not recording.done.done():
                recording.done.set_result(None)

    def close(self) -> None:
        """Let go of whoever waits: nothing is recorded any more."""
        self._over = True
        for done in self._waiting:
            done.cancel()
