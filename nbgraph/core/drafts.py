"""Answers that are half filled in: kept beside the log, never events, gone when answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from nbgraph.core.json_values import Json
from nbgraph.core.quick_dataclass import dataclass

__all__ = ["Draft", "DraftStore"]


@dataclass(frozen=True, slots=True)
class Draft:
    """What somebody has filled in so far, as JSON, and when it was kept."""

    value: Json
    saved_at: float


@runtime_checkable
class DraftStore(Protocol):
    """What a state store can do besides its log; one that does not is a state store all the same.

    A draft belongs to one asking of one question on branch `branch_id` of thread `thread_id`, and
    is seen only while that waits.
    """

    async def keep_draft(
        self, thread_id: str, branch_id: str, key: str, asked: int, draft: Draft | None
    ) -> None:
        """Keep `draft` for question `key` as it was `asked`, in place of the last; None forgets it.

        For a question that does not wait nothing is kept.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        StateStoreError
            If the value is no JSON.
        """
        ...

    async def drafts(
        self, thread_id: str, branch_id: str = "main"
    ) -> Mapping[tuple[str, int], Draft]:
        """Return the drafts of the questions that wait, by key and asking.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        """
        ...
