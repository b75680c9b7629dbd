"""A branch's log as a run sees it: where it stands, what to add, and one commit at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from nbgraph.core.codec import stamp
from nbgraph.core.driver import Folding
from nbgraph.core.events import (
    Event,
    Forked,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStopped,
    SuperstepFinished,
)
from nbgraph.core.fold import fold, superstepped
from nbgraph.core.migration import Migration
from nbgraph.core.position import Position
from nbgraph.core.reached import ReachedStore, reached
from nbgraph.core.replay import replayed
from nbgraph.core.schema import StateSchema
from nbgraph.core.snapshots import position_of, snapshot_of
from nbgraph.core.store import BranchSummary, Claim, PositionSnapshot, StateStore
from nbgraph.errors import StateUpdateError, UnknownThreadError

__all__ = ["Draft", "Log"]


class Draft:
    """Events that are not recorded yet, and the position they lead to."""

    def __init__(self, position: Position, branch_id: str, folding: Folding) -> None:
        self.events: list[Event] = []
        self.position = position
        self._branch_id = branch_id
        self._folding = folding

    def add(self, *events: Event) -> None:
        """Append events."""
        self._stamp(events)
        self.position = fold(events, self._folding, self.position)

    def finish(self, event: SuperstepFinished, state: Mapping[str, Any]) -> None:
        """Append the end of a superstep whose merged state is known."""
        self._stamp((event,))
        self.position = superstepped(self.position, event, state)

    def _stamp(self, events: Sequence[Event]) -> None:
        stamp(events, branch_id=self._branch_id, first=self.position.sequence + 1)
        self.events += events

    @property
    def ends_run(self) -> bool:
        """Whether the last event is the end of a run."""
        return bool(self.events) and type(self.events[-1]) in _ENDS


_ENDS = frozenset((RunPaused, RunFinished, RunFailed, RunStopped))


class Log:
    """One branch of one thread: its position, and commits to its store if there is one."""

    def __init__(
        self,
        *,
        graph: str,
        folding: StateSchema,
        store: StateStore | None,
        thread_id: str,
        branch_id: str,
        migration: Migration | None = None,
        root: str | None = None,
    ) -> None:
        self.graph = graph
        self.root = root
        self._migration = migration or Migration()
        self.folding = folding
        self.store = store
        self.thread_id = thread_id
        self.branch_id = branch_id
        self.position = Position()
        self._claim: Claim | None = None
        self._hands_on = False

    def keep_private(self) -> None:
        """Show nobody a position or an event of this log, which is new, but copies of its parts.

        Where a run ends is then handed on to the next one in this process, by a store that can.
        """
        self._hands_on = not self.position.sequence and isinstance(self.store, ReachedStore)

    def take_over(self, owner: str) -> None:
        """Let the next commit take the branch over: a run that began earlier commits no more."""
        self._claim = Claim(owner)

    def let_go(self) -> None:
        """Commit without a claim from now on, as whoever edits between two runs does."""
        self._claim = None

    async def load(self) -> Position:
        """Take up what others recorded, and return where the branch stands.

        A thread that is not in the store yet is new; a branch that is not raises.

        Raises
        ------
        UnknownThreadError
            If the branch does not exist.
        StateStoreError
            If what is kept does not fit the state any more, or cannot be read.
        """
        if not self.position.sequence:
            self.position = await self.recalled() or self.position
        elif self.store is not None:
            events = await self.read(after=self.position.sequence)
            self.position = fold(events, self.folding, self.position)
        return self.position

    async def position_at(self, at: int | None = None) -> Position:
        """Return where the branch stands, or stood after event `at`.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        StateUpdateError
            If `at` is no event of the branch.
        """
        last = await self.load()
        if not last.sequence:
            raise UnknownThreadError(self.thread_id, self.branch_id)
        if at is None:
            return last
        is_number = isinstance(at, int) and not isinstance(at, bool)  # pyright: ignore[reportUnnecessaryIsInstance] - user's
        if not (is_number and 1 <= at <= last.sequence):
            raise StateUpdateError(
                f"Branch {self.branch_id!r} of thread {self.thread_id!r} has no event {at!r}; its "
                f"last is {last.sequence}"
            )
        return await self.recalled(at) or last

    async def recalled(self, upto: int | None = None) -> Position | None:
        """Return where the branch stands, or stood after event `upto`, as it is recorded.

        None for a thread that is new. A snapshot saves reading the events before it.

        Raises
        ------
        UnknownThreadError
            If the branch does not exist.
        StateStoreError
            If what is kept does not fit the state any more, or cannot be read.
        """
        if self.store is None:
            return None
        try:
            if upto is None and (left := await self._handed_on()) is not None:
                return left
            found = await self.store.recall(self.thread_id, self.branch_id, upto=upto)
        except UnknownThreadError:
            if self.branch_id == "main":
                return None
            raise
        if found.snapshot is None:
            return replayed(self._migration.read(found.events), self.folding)
        start = position_of(found.snapshot, self.folding, self._migration)
        if start is None:
            return replayed(await self.read(upto=upto), self.folding)
        return replayed(self._migration.read(found.events), self.folding, start)

    async def _handed_on(self) -> Position | None:
        """Return where the run before left the branch, if the store knows and it still is there."""
        if not (self._hands_on and isinstance(self.store, ReachedStore)):
            return None
        left = await self.store.reached(self.thread_id, self.branch_id)
        fits = left is not None and left.fits(self.folding, self._migration)
        return left.position if left is not None and fits else None

    async def read(self, *, after: int = 0, upto: int | None = None) -> Sequence[Event]:
        """Return recorded events; none for a thread that is new."""
        if self.store is None:
            return ()
        try:
            kept = await self.store.events(self.thread_id, self.branch_id, after=after, upto=upto)
        except UnknownThreadError:
            if self.branch_id == "main" and not self.position.sequence:
                return ()
            raise
        return self._migration.read(kept)

    def draft(self, events: Iterable[Event] = ()) -> Draft:
        """Return a draft that begins with `events`."""
        draft = Draft(self.position, self.branch_id, self.folding)
        draft.add(*events)
        return draft

    def forked(self, position: Position, branch_id: str) -> Draft:
        """Return a draft of another branch, which begins at a position of this one."""
        draft = Draft(position, branch_id, self.folding)
        draft.add(Forked(parent_branch_id=self.branch_id, parent_sequence=position.sequence))
        return draft

    def summary(self, position: Position) -> BranchSummary:
        """Return what a store lists of the branch; a sub-graph's questions are its root's."""
        summary = position.summary(self.graph)
        return summary if self.root is None else replace(summary, pending=(), root=self.root)

    async def commit(self, draft: Draft) -> Sequence[Event]:
        """Record a draft as one commit, and return its events; an empty one records none.

        Raises
        ------
        ConcurrentRunError
            If somebody else wrote to the branch since it was loaded.
        ClaimLostError
            If somebody else took the branch over since this log did.
        """
        if self.store is not None:
            if draft.events:
                epoch = await self.store.append(
                    self.thread_id,
                    self.branch_id,
                    draft.events,
                    expected=self.position.sequence,
                    summary=self.summary(draft.position),
                    snapshot=self._handed_to_next(draft)
                    if self._hands_on and draft.ends_run
                    else partial(snapshot_of, draft.position, self.folding, self._migration),
                    claim=self._claim,
                )
            else:
                epoch = await self._taken_over(self.store)
            if self._claim is not None and self._claim.epoch != epoch:
                self._claim = Claim(self._claim.owner, epoch)
        self.position = draft.position
        return draft.events

    def _handed_to_next(self, draft: Draft) -> Callable[[], PositionSnapshot | None]:
        """Return where a run ends, for the next one too, if that may go on from there."""
        parts = draft.position, self.folding, self._migration
        return reached(*parts) or partial(snapshot_of, *parts)

    async def _taken_over(self, store: StateStore) -> int | None:
        """Take a branch over without a commit, where that is due, and return its epoch."""
        if self._claim is None or self._claim.epoch is not None or not self.position.sequence:
            return None if self._claim is None else self._claim.epoch
        return await store.claim(self.thread_id, self.branch_id, owner=self._claim.owner)
