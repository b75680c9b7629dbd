"""Group commit: what one turn of an event loop appends is written in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from nbgraph.stores._log import Commit
from nbgraph.stores._sqlite_file import Busy

__all__ = ["Appends", "Outcomes"]

Outcomes: TypeAlias = Sequence[Exception | None]
"""For each commit, why it was not kept; None where it was."""

_Asked: TypeAlias = list[tuple[Commit, "asyncio.Future[None]"]]


class Appends:
    """The commits that one event loop has asked for and that are not written yet.

    `write` writes them on the loop, or raises `Busy`; `wait` does the same in a thread and waits.
    While the thread waits, further commits gather here, so that a held file occupies one thread.
    `done` is called when nothing is left.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        write: Callable[[Sequence[Commit]], Outcomes],
        wait: Callable[[Sequence[Commit]], Outcomes],
        done: Callable[[], object],
    ) -> None:
        self._loop = loop
        self._write = write
        self._wait = wait
        self._done = done
        self._asked: _Asked = []
        self._waiting: asyncio.Task[None] | None = None

    def add(self, commit: Commit) -> asyncio.Future[None]:
        """Ask for a commit; the future ends when it is kept or refused."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._asked.append((commit, future))
        if len(self._asked) == 1 and self._waiting is None:
            self._loop.call_soon(self._flush)
        return future

    def _flush(self) -> None:
        asked = [one for one in self._asked if not one[1].done()]
        self._asked = []
        try:
            _deliver(asked, self._write([commit for commit, _ in asked]))
        except Busy:
            self._waiting = self._loop.create_task(self._flush_patiently(asked))
        finally:
            if self._waiting is None:
                self._end(asked)

    async def _flush_patiently(self, asked: _Asked) -> None:
        try:
            _deliver(asked, await asyncio.to_thread(self._wait, [commit for commit, _ in asked]))
        finally:
            self._waiting = None
            self._end(asked)

    def _end(self, asked: _Asked) -> None:
        for _, future in asked:
            # Only where the loop shuts down or the write broke: nobody may wait for ever.
            future.cancel()
        if self._asked:
            self._loop.call_soon(self._flush)
        else:
            self._done()


def _deliver(asked: _Asked, outcomes: Outcomes) -> None:
    for (_, future), outcome in zip(asked, outcomes, strict=True):
        if future.done():
            continue
        if outcome is None:
            future.set_result(None)
        else:
            future.set_exception(outcome)
