"""What the runtime asks of a state store.

A store keeps, for each branch of each thread, commits: lists of events that became known together.
It decides one thing, whether a commit still fits (`expected`), and it keeps a summary of every
branch so that threads and pending questions can be listed without reading logs. The summary is a
cache of the log: it is handed in with each commit and written in the same transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from nbgraph.core.events import Event, Interrupt

__all__ = [
    "BranchRecord",
    "BranchSummary",
    "PendingRecord",
    "StateStore",
    "Status",
    "ThreadRecord",
]

Status = Literal["new", "running", "interrupted", "completed", "failed", "stopped"]
"""Where a thread stands. A stored thread that nobody is known to run is never `"running"`."""


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """What lists show of a branch without reading its log.

    `root` is set for the thread of a sub-graph: the thread it is hidden under and deleted with,
    as its first commit says.
    """

    graph: str
    status: Status
    step: int
    pending: tuple[Interrupt, ...] = ()
    root: str | None = None


@dataclass(frozen=True, slots=True)
class BranchRecord:
    """A branch other than main: its events go on after `parent_sequence` of its parent."""

    thread_id: str
    id: str
    parent_branch_id: str
    parent_sequence: int
    created_at: float


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A thread as it is listed: where its main branch stands, and how many branches it has."""

    thread_id: str
    graph: str
    status: Status
    step: int
    branches: int
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class PendingRecord:
    """A question that waits, over all threads and branches."""

    thread_id: str
    branch_id: str
    graph: str
    interrupt: Interrupt


class StateStore(Protocol):
    """An append-only log of commits for each branch of each thread.

    Every method is atomic and may be called from any event loop, several at once. Reads see whole
    commits only. Text given as an id is data: any str without a surrogate is a valid id.
    """

    async def append(
        self,
        thread_id: str,
        branch_id: str,
        events: Sequence[Event],
        *,
        expected: int,
        summary: BranchSummary,
    ) -> None:
        """Keep `events` as one commit after event `expected`, or keep nothing.

        The events come stamped with sequences `expected + 1` onwards. `expected=0` on `"main"`
        makes the thread.

        Raises
        ------
        ConcurrentRunError
            If the branch does not end at `expected`.
        UnknownThreadError
            If the branch does not exist and `expected` is not 0, or it is not `"main"`.
        StoreBusyError
            If another process held the store for longer than the store waits.
        """
        ...

    async def events(
        self, thread_id: str, branch_id: str = "main", *, after: int = 0, upto: int | None = None
    ) -> Sequence[Event]:
        """Return the branch's events with `after < sequence <= upto`, its ancestors' included.

        Events come in order, dense, stamped with the branch whose log they stand in.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        DamagedStoreError
            If a row cannot be read, or one is missing.
        """
        ...

    async def fork(
        self, branch: BranchRecord, events: Sequence[Event], *, summary: BranchSummary
    ) -> None:
        """Make a branch with its first commit; the parent is untouched and not copied.

        The events come stamped with sequences `branch.parent_sequence + 1` onwards.

        Raises
        ------
        UnknownThreadError
            If the thread or the parent branch does not exist.
        StateStoreError
            If the branch exists, or `parent_sequence` is not an event of the parent.
        """
        ...

    async def branches(self, thread_id: str) -> Sequence[BranchRecord]:
        """Return the thread's branches other than main, oldest first.

        Raises
        ------
        UnknownThreadError
            If the thread does not exist.
        """
        ...

    async def threads(self) -> Sequence[ThreadRecord]:
        """Return all threads but those of sub-graphs, the one written last first."""
        ...

    async def pending(self) -> Sequence[PendingRecord]:
        """Return the pending questions of all threads and branches, oldest first."""
        ...

    async def delete(self, thread_id: str) -> None:
        """Remove a thread with its branches, questions and the threads of its sub-graphs.

        An unknown thread is no error.
        """
        ...

    async def aclose(self) -> None:
        """Let go of files and connections. Using the store afterwards is an error."""
        ...
