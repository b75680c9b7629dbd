"""The half of a state store that is the same whatever keeps the commits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence

from pydantic_core import from_json
from typing_extensions import override

from nbgraph.core.blob import Packing
from nbgraph.core.codec import written_events
from nbgraph.core.events import Event
from nbgraph.core.store import BranchRecord, BranchSummary, Claim, PositionSnapshot, StateStore
from nbgraph.errors import StateStoreError
from nbgraph.stores._blobs import LARGE, extracted
from nbgraph.stores._log import Commit, require_text, where

__all__ = ["CommitStore"]

_PARSER_DEPTH = 190
"""Less than how deeply pydantic's parser reads JSON."""

_NO_BLOBS: Mapping[bytes, bytes] = {}


class CommitStore(StateStore):
    """Makes commits of what it is given; who derives from it keeps them."""

    @override
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
        commit = _commit(thread_id, branch_id, events, expected, summary)
        commit.snapshot, commit.claim = snapshot, claim
        if claim is not None and not claim.owner.isascii():
            require_text(claim.owner, "owner")
        kept = self._append(commit)
        return kept if isinstance(kept, int) else await kept

    @override
    async def fork(
        self, branch: BranchRecord, events: Sequence[Event], *, summary: BranchSummary
    ) -> None:
        require_text(branch.parent_branch_id, "branch id")
        at = branch.parent_sequence
        await self._fork(branch, _commit(branch.thread_id, branch.id, events, at, summary))

    @override
    async def aclose(self) -> None:
        self.close()

    @abstractmethod
    def _append(self, commit: Commit) -> int | Awaitable[int]:
        """Keep a commit, and return the epoch of its branch, at once where nobody has to wait."""

    @abstractmethod
    async def _fork(self, branch: BranchRecord, commit: Commit) -> None:
        """Make a branch with its first commit."""

    @abstractmethod
    def close(self) -> None:
        """Do what `aclose` does, from sync code; a second time is no error."""


def _commit(
    thread_id: str, branch_id: str, events: Sequence[Event], expected: int, summary: BranchSummary
) -> Commit:
    """Return the events as one commit.

    Raises
    ------
    StateStoreError
        If an id is no text, an event cannot be kept as JSON, or the events are not stamped with
        this branch and the sequences from `expected + 1`.
    """
    if not f"{thread_id}{branch_id}{summary.graph}".isascii():
        require_text(thread_id, "thread id")
        require_text(branch_id, "branch id")
        require_text(summary.graph, "graph name")
    _require_stamps(branch_id, events, expected)
    refs, blobs, packing = "", _NO_BLOBS, Packing()
    try:
        body = written_events(events, packing)
        _require_shallow(body)
        if packing.found or len(body) >= LARGE:
            extract = extracted(packing.packed(body))
            body, refs, blobs = extract.body, extract.refs, extract.blobs
    except ValueError as error:
        raise StateStoreError(
            f"{where(thread_id, branch_id, expected + 1)} cannot be kept as JSON: {error}"
        ) from error
    times = events[0].created_at, events[-1].created_at
    return Commit(thread_id, branch_id, expected, len(events), body, refs, blobs, summary, *times)


def _require_shallow(body: bytes) -> None:
    # The parser reads less deeply than the serializer writes. Few texts have enough brackets to
    # be too deep, and only those are read to find out.
    if body.count(b"[") + body.count(b"{") > _PARSER_DEPTH:
        from_json(body)


def _require_stamps(branch_id: str, events: Sequence[Event], expected: int) -> None:
    if not events:
        raise StateStoreError("A commit needs at least one event")
    for sequence, event in enumerate(events, expected + 1):
        if event.sequence != sequence or event.branch_id != branch_id:
            raise StateStoreError(
                f"Event {event.id!r} is not stamped {f'{branch_id}:{sequence}'!r}, its place in "
                "the commit"
            )
