"""Drafts of answers in the store that keeps everything in memory."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping

from typing_extensions import override

from nbgraph.core.drafts import Draft, DraftStore
from nbgraph.stores._drafts import draft_text
from nbgraph.stores._log import MAIN
from nbgraph.stores._memory_rows import Branch

__all__ = ["MemoryDrafts"]


class MemoryDrafts(DraftStore):
    """The part of the store that keeps half filled-in answers."""

    _lock: threading.Lock

    def _branch(self, thread_id: str, branch_id: str) -> Branch:
        raise NotImplementedError

    @override
    async def keep_draft(
        self, thread_id: str, branch_id: str, key: str, asked: int, draft: Draft | None
    ) -> None:
        text = draft_text(draft)
        with self._lock:
            branch = self._branch(thread_id, branch_id)
            branch.drafts.pop((key, asked), None)
            if draft is not None and text is not None and (key, asked) in branch.questions:
                branch.drafts[key, asked] = (text, draft.saved_at)

    @override
    async def drafts(
        self, thread_id: str, branch_id: str = MAIN
    ) -> Mapping[tuple[str, int], Draft]:
        with self._lock:
            kept = dict(self._branch(thread_id, branch_id).drafts)
        return {name: Draft(json.loads(text), at) for name, (text, at) in kept.items()}
