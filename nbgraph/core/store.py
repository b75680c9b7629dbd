"""What the runtime asks of a state store.

A store keeps, for each branch of each thread, commits: lists of events that became known together.
It decides one thing, whether a commit still fits (`expected`), and it keeps a summary of every
branch so that threads and pending questions can be listed without reading logs. The summary is a
cache of the log: it is handed in with each commit and written in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol

from nbgraph.core.blob import Blob, Path
from nbgraph.core.events import Event, Interrupt
from nbgraph.core.quick_dataclass import dataclass

__all__ = [
    "BranchRecord",
    "BranchSummary",
    "Claim",
    "Damage",
    "PendingRecord",
    "PositionSnapshot",
    "Recalled",
    "StateStore",
    "Status",
    "StoreSize",
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
    """A branch other than main: its events go on after `parent_sequence` of its parent.

    Attributes
    ----------
    thread_id, id : str
        Which branch of which thread.
    parent_branch_id : str
        The branch it was forked from.
    parent_sequence : int
        The last event that both have.
    created_at : float
        When it was made, in seconds since the epoch.
    """

    thread_id: str
    id: str
    parent_branch_id: str
    parent_sequence: int
    created_at: float

    @property
    def from_event_id(self) -> str:
        """The event it starts from, as an address on its parent: `"main:7"`."""
        return f"{self.parent_branch_id}:{self.parent_sequence}"


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


@dataclass(frozen=True, slots=True)
class PositionSnapshot:
    """The fold of a branch at one of its events, as JSON: a cache of the log, never the truth.

    `fingerprint` names what made the text; a reader with another one folds the events instead.
    """

    sequence: int
    fingerprint: str
    body: bytes
    blobs: tuple[tuple[Path, Blob], ...] = ()
    """What stands where the body has null."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What leads to a position: the newest snapshot there is, and the events after it."""

    snapshot: PositionSnapshot | None
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Claim:
    """Who writes to a branch, since when.

    Each take-over begins an epoch, and a commit of an earlier one is refused. A commit with
    `epoch=None` takes the branch over itself.
    """

    owner: str
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Damage:
    """Something in a store that is not what was written, and where its branch breaks off.

    Events before `sequence` can be read. The thread is `""` where none can be told.
    """

    thread_id: str
    branch_id: str
    sequence: int
    problem: str

    def __str__(self) -> str:
        if not self.thread_id and not self.branch_id:
            return self.problem
        place = f"Thread {self.thread_id!r}, branch {self.branch_id!r}, event {self.sequence}"
        return f"{place}: {self.problem}"


@dataclass(frozen=True, slots=True)
class StoreSize:
    """What a store holds, in rows and bytes. `snapshots` can be made again."""

    threads: int
    branches: int
    commits: int
    commit_bytes: int
    snapshot_bytes: int
    large_values: int
    large_value_bytes: int


class StateStore(Protocol):
    """An append-only log of commits for each branch of each thread.

    Every method is atomic and may be called from any event loop, several at once. Reads see whole
    commits only. A branch is named by its `thread_id` and `branch_id`. Text given as an id is data:
    any str without a surrogate is a valid id; one with it, a store that is closed and one that
    cannot be read or written are a `StateStoreError`, and a `StoreBusyError` where somebody else
    held it for longer than the store waits.
    """

    async def append(
        self,
        thread_id: str,
        branch_id: str,
        events: Sequence[Event],
        *,
        expected: int,
        summary: BranchSummary,
        snapshot: Callable[[], PositionSnapshot | None] | None = None,
        claim: Claim | None = None,
    ) -> int:
        """Keep `events` as one commit after event `expected`, or keep nothing.

        The events come stamped with sequences `expected + 1` onwards. `expected=0` on `"main"`
        makes the thread. `summary` is what lists show of the branch from then on. `snapshot` makes
        the position after the commit; a store calls it when the commits since the last one have
        grown larger than that, or never. Returns the branch's epoch.

        Raises
        ------
        ConcurrentRunError
            If the branch does not end at `expected`.
        ClaimLostError
            If somebody else took the branch over after `claim` was made.
        UnknownThreadError
            If the branch does not exist and `expected` is not 0, or it is not `"main"`.
        StateStoreError
            If an event cannot be kept as JSON.
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

    async def recall(
        self, thread_id: str, branch_id: str = "main", *, upto: int | None = None
    ) -> Recalled:
        """Return the newest snapshot at or before event `upto`, and the events after it up to it.

        A store without snapshots returns all events.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        DamagedStoreError
            If a row cannot be read, or one is missing.
        """
        ...

    async def claim(
        self, thread_id: str, branch_id: str = "main", *, owner: str, ttl: float | None = None
    ) -> int:
        """Make `owner` the one who writes to a branch, and return the epoch that begins.

        Without `ttl` this is a take-over: it always succeeds, and whoever wrote before is refused
        from now on. With it, the claim lasts so many seconds, a claim of somebody else that still
        lasts is respected, and the same owner renews its own. Clocks decide only who waits; what
        is written is safe whatever they show.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        ThreadClaimedError
            If `ttl` is given and somebody else's claim still lasts.
        """
        ...

    async def release(self, thread_id: str, branch_id: str = "main", *, owner: str) -> None:
        """End a claim of `owner`, so that others need not wait; one that is over is no error.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        """
        ...

    async def fork(
        self, branch: BranchRecord, events: Sequence[Event], *, summary: BranchSummary
    ) -> None:
        """Make a branch with its first commit; the parent is untouched and not copied.

        The `events` come stamped with sequences `branch.parent_sequence + 1` onwards. `summary` is
        what lists show of the branch.

        Raises
        ------
        UnknownThreadError
            If the thread or the parent branch does not exist.
        StateStoreError
            If the branch exists, `parent_sequence` is not an event of the parent, or an event
            cannot be kept as JSON.
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

    async def threads(
        self, *, limit: int | None = None, after: ThreadRecord | None = None
    ) -> Sequence[ThreadRecord]:
        """Return threads, the one written last first: at most `limit`, those that follow `after`.

        The threads of sub-graphs are not among them. Where two were written at the same time, the
        greater id is first.
        """
        ...

    async def pending(
        self, *, limit: int | None = None, after: PendingRecord | None = None
    ) -> Sequence[PendingRecord]:
        """Return pending questions of all threads and branches, oldest first.

        At most `limit`, those that follow `after`. Questions of the same time come by thread,
        branch, key and asking.
        """
        ...

    async def delete(self, thread_id: str) -> None:
        """Remove a thread with its branches, questions and the threads of its sub-graphs.

        An unknown thread is no error.
        """
        ...

    async def verify(self) -> Sequence[Damage]:
        """Check everything that is kept, and return what is not as it was written.

        Events before a damaged one can be read: `events(thread, branch, upto=sequence - 1)`.

        Raises
        ------
        DamagedStoreError
            If the store itself is too damaged to be read through.
        """
        ...

    async def size(self) -> StoreSize:
        """Return what the store holds, in rows and bytes."""
        ...

    async def prune(self) -> StoreSize:
        """Drop what can be made again or is not needed, give the space back, and return the size.

        Snapshots go, and large values that no thread holds. No event, question or state does;
        `delete` removes threads.
        """
        ...

    async def export_thread(self, thread_id: str) -> Sequence[str]:
        """Return a thread with its branches and questions as lines of JSON, hashes included.

        The threads of its sub-graphs are among them. The lines are the same from every store.

        Raises
        ------
        UnknownThreadError
            If the thread does not exist.
        DamagedStoreError
            If a part of it is not what was written.
        """
        ...

    async def import_thread(self, lines: Iterable[str]) -> str:
        """Write a thread that was exported as `lines`, whole or not at all, and return its id.

        Raises
        ------
        StateStoreError
            If the thread is there already, or the lines are no export.
        DamagedStoreError
            If a hash does not fit: the lines are not what was exported.
        """
        ...

    def watch(self, callback: Callable[[], None], *, every: float = 0.5) -> Callable[[], None]:
        """Call `callback` after anything was written, by anybody, and return what ends that.

        It is called in a thread of the store's, and must not raise. Several writes can be one
        call. `every` is how often, in seconds, is looked where nothing tells.
        """
        ...

    async def aclose(self) -> None:
        """Let go of files and connections. Using the store afterwards is an error."""
        ...
