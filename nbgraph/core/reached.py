"""Where a run ended, for the next one in the same process: it need not read what is recorded.

A position follows from the events before it, from the types of the fields and from the names that
are exchanged. Where all of these are the same, so is the position; a store tells whether the events
are, by the hash of the last commit. What is handed on is nobody else's: the run that ended has told
of it by copies only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from nbgraph.core.events import Interrupt
from nbgraph.core.migration import Migration
from nbgraph.core.position import Position
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.record import made_of
from nbgraph.core.schema import StateSchema
from nbgraph.core.snapshots import snapshot_of
from nbgraph.core.store import PositionSnapshot
from nbgraph.core.values import fresh

__all__ = ["Reached", "ReachedStore", "reached"]

_HALF_DONE = ("finished", "failed", "began", "answered", "once", "children", "failure")
_KEPT_BY_TASKS = ("caches", "hooked")
_SHARED = ("payload", "response_schema", "default", "problems")


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """A position that a commit leads to, for a store to hand on; it makes the snapshot too."""

    position: Position
    folding: StateSchema
    migration: Migration

    def __call__(self) -> PositionSnapshot | None:
        """Return the position as a snapshot, or None if it would not come back as it is."""
        return snapshot_of(self.position, self.folding, self.migration)

    def fits(self, folding: StateSchema, migration: Migration) -> bool:
        """Return whether a fold with these leads to the same position."""
        return self.folding is folding and self.migration == migration


class ReachedStore(ABC):
    """What a state store can do besides its log; one that does not is one all the same."""

    @abstractmethod
    async def reached(self, thread_id: str, branch_id: str = "main") -> Reached | None:
        """Return what the branch's last commit was given as `snapshot`, if it is there to be had.

        It is handed on once, and only if the branch ends with that commit and nobody else has
        written to the store since. None says nothing: `recall` does.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist any more.
        DamagedStoreError
            If the row of the branch is not what was written.
        """


def reached(position: Position, folding: StateSchema, migration: Migration) -> Reached | None:
    """Return a position to hand on, where no task is half done; None where one is."""
    if any(getattr(position, name) for name in _HALF_DONE):
        return None
    if any(any(getattr(position, name).values()) for name in _KEPT_BY_TASKS):
        return None
    if position.pending:
        pending = {key: _own(question) for key, question in position.pending.items()}
        position = position.moved(pending=pending)
    return Reached(position, folding, migration)


def _own(question: Interrupt) -> Interrupt:
    """Return a question that shares nothing with the one that the caller gets."""
    values = question.__dict__
    return made_of(Interrupt, values | {name: fresh(values[name]) for name in _SHARED})
