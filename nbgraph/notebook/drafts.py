"""Half filled-in answers of a thread's questions: kept meanwhile, there again after a restart."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Protocol
from weakref import WeakKeyDictionary

from nbgraph.core.answers import Unset
from nbgraph.core.drafts import Draft, DraftStore
from nbgraph.core.events import Interrupt
from nbgraph.core.json_values import Json
from nbgraph.core.loop import call_soon, run_sync
from nbgraph.core.workers import call_in_worker
from nbgraph.errors import NbgraphError, UnknownThreadError

__all__ = ["Addressed", "DraftPlace", "Drafts", "Keeping", "StartPlace"]

_LOGGER = logging.getLogger("nbgraph")

Told = Callable[[float | None], object]
"""Is given when a draft was kept; None if there is none any more."""


class Keeping(Protocol):
    """Where a form keeps what is filled in so far."""

    @property
    def found(self) -> Draft | None:
        """What was kept there when the form was made."""
        ...

    def keep(self, value: Json | Unset, told: Told) -> None:
        """Keep what is filled in, UNSET for nothing; `told` is called when that is done."""
        ...

    def forget(self) -> None:
        """Forget it: the answer was sent."""
        ...


class Addressed(Protocol):
    """A branch of a thread; it may have a `store`."""

    @property
    def thread_id(self) -> str:
        """The thread's id."""
        ...

    @property
    def branch_id(self) -> str:
        """The branch's id."""
        ...


class Drafts:
    """The drafts of one branch, as far as its store keeps any."""

    def __init__(self, driver: Addressed) -> None:
        store = getattr(driver, "store", None)
        self._store = store if isinstance(store, DraftStore) else None
        self._names = (driver.thread_id, driver.branch_id)

    def place(self, question: Interrupt) -> DraftPlace | None:
        """Return where the draft of a question is kept; None where the store keeps none."""
        if self._store is None:
            return None
        found = self._found(self._store).get((question.key, question.asked))
        return DraftPlace(self._store, self._names, (question.key, question.asked), found)

    def _found(self, store: DraftStore) -> Mapping[tuple[str, int], Draft]:
        try:
            return run_sync(_read(store, self._names))
        except UnknownThreadError:
            return {}
        except NbgraphError:
            _LOGGER.exception("The drafts of thread %r cannot be read", self._names[0])
            return {}


async def _read(store: DraftStore, names: tuple[str, str]) -> Mapping[tuple[str, int], Draft]:
    return await store.drafts(*names)


class DraftPlace:
    """Where the draft of one question is kept.

    Attributes
    ----------
    found : Draft or None
        What was kept there.
    """

    def __init__(
        self,
        store: DraftStore,
        names: tuple[str, str],
        question: tuple[str, int],
        found: Draft | None,
    ) -> None:
        self.found = found
        self._store = store
        self._place = (*names, *question)
        self._wanted: tuple[Draft | None, Told] | None = None
        self._task: asyncio.Task[None] | None = None

    def keep(self, value: Json | Unset, told: Told) -> None:
        """Keep what is filled in soon, UNSET for nothing; the last of several is what counts."""
        draft = None if isinstance(value, Unset) else Draft(value, time.time())
        self._wanted = (draft, told)
        call_soon(self._begin)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._keep_up())

    def forget(self) -> None:
        """Leave it to the store, which forgets a draft with the answer to its question."""

    async def _keep_up(self) -> None:
        while self._wanted is not None:
            (draft, told), self._wanted = self._wanted, None
            try:
                await self._store.keep_draft(*self._place, draft)
            except NbgraphError:
                _LOGGER.exception("The draft of question %r was not kept", self._place[2])
                continue
            saved_at = None if draft is None else draft.saved_at
            await call_in_worker(lambda told=told, at=saved_at: told(at))


_starts: WeakKeyDictionary[object, dict[tuple[str, str], Draft]] = WeakKeyDictionary()


class StartPlace:
    """Where what is typed into a start form is kept: in the kernel, as there is no thread yet.

    A panel that is made again for the same thread of the same store shows it.
    """

    def __init__(self, driver: Addressed) -> None:
        self._names = (driver.thread_id, driver.branch_id)
        self._kept = _starts.setdefault(getattr(driver, "store", driver), {})

    @property
    def found(self) -> Draft | None:
        """What was kept there."""
        return self._kept.get(self._names)

    def keep(self, value: Json | Unset, told: Told) -> None:
        """Keep what is filled in, UNSET for nothing."""
        if isinstance(value, Unset):
            self.forget()
            told(None)
            return
        self._kept[self._names] = Draft(value, time.time())
        told(self._kept[self._names].saved_at)

    def forget(self) -> None:
        """Forget it: the graph was started with it."""
        self._kept.pop(self._names, None)
