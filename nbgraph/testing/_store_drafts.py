"""The part of the store contract that a store may leave out: answers that are half filled in."""

from __future__ import annotations

from pathlib import Path

from nbgraph.core.drafts import Draft, DraftStore
from nbgraph.core.store import StateStore
from nbgraph.errors import StateStoreError, UnknownThreadError
from nbgraph.testing._store_log import (
    append,
    fork_at,
    notes,
    question,
    refused,
    seen,
    summary,
    with_store,
)

__all__ = ["DraftConformance"]

HALF = Draft({"amount": "1x", "note": "\x00 \ud800 lamp", "list": [None, True, 2**70]}, 1.5)


class DraftConformance:
    """What a store does that keeps drafts. A subclass says how one is made."""

    def make_store(self, folder: Path) -> StateStore:
        """Return an empty store; `folder` is a fresh folder it may use."""
        raise NotImplementedError

    @with_store
    async def test_a_draft_is_kept_until_another_takes_its_place(self, store: StateStore) -> None:
        assert isinstance(store, DraftStore)
        await append(store, notes(1), question("t:0", asked=1), question("t:1", asked=1))
        assert await store.drafts("t") == {}
        await store.keep_draft("t", "main", "t:0", 1, HALF)
        await store.keep_draft("t", "main", "t:1", 1, Draft(None, 2.0))
        assert await store.drafts("t") == {("t:0", 1): HALF, ("t:1", 1): Draft(None, 2.0)}
        await store.keep_draft("t", "main", "t:0", 1, Draft([], 3.0))
        await store.keep_draft("t", "main", "t:1", 1, None)
        assert await store.drafts("t") == {("t:0", 1): Draft([], 3.0)}

    @with_store
    async def test_a_draft_is_no_event_and_changes_nothing_of_the_thread(
        self, store: StateStore
    ) -> None:
        assert isinstance(store, DraftStore)
        await append(store, notes(1), question("t:0", asked=1))
        before = await seen(store)
        await store.keep_draft("t", "main", "t:0", 1, HALF)
        assert await seen(store) == before

    @with_store
    async def test_a_draft_is_gone_when_its_question_is_answered(self, store: StateStore) -> None:
        assert isinstance(store, DraftStore)
        await append(store, notes(1), question("t:0", asked=1), question("t:1", asked=1))
        for key in ("t:0", "t:1"):
            await store.keep_draft("t", "main", key, 1, HALF)
        await append(store, notes(1, after=1), question("t:1", asked=1))
        assert await store.drafts("t") == {("t:1", 1): HALF}
        await append(store, notes(1, after=2), question("t:0", asked=3))
        assert await store.drafts("t") == {}

    @with_store
    async def test_without_a_question_that_waits_nothing_is_kept(self, store: StateStore) -> None:
        assert isinstance(store, DraftStore)
        await append(store, notes(1), question("t:0", asked=1))
        await store.keep_draft("t", "main", "t:0", 2, HALF)
        await store.keep_draft("t", "main", "other", 1, HALF)
        assert await store.drafts("t") == {}

    @with_store
    async def test_a_branch_has_drafts_of_its_own(self, store: StateStore) -> None:
        assert isinstance(store, DraftStore)
        await append(store, notes(1), question("t:0", asked=1))
        await store.keep_draft("t", "main", "t:0", 1, HALF)
        described = summary(1, question("t:0", asked=1))
        await store.fork(fork_at(1, "b"), notes(1, after=1, branch_id="b"), summary=described)
        assert await store.drafts("t", "b") == {}
        await store.keep_draft("t", "b", "t:0", 1, Draft(1, 1.0))
        assert await store.drafts("t") == {("t:0", 1): HALF}
        assert await store.drafts("t", "b") == {("t:0", 1): Draft(1, 1.0)}

    @with_store
    async def test_a_deleted_thread_takes_its_drafts_along(self, store: StateStore) -> None:
        assert isinstance(store, DraftStore)
        await append(store, notes(1), question("t:0", asked=1))
        await store.keep_draft("t", "main", "t:0", 1, HALF)
        await store.delete("t")
        await refused(store.drafts("t"), UnknownThreadError)
        await append(store, notes(1), question("t:0", asked=1))
        assert await store.drafts("t") == {}

    @with_store
    async def test_what_is_no_json_and_who_is_unknown_is_refused(self, store: StateStore) -> None:
        assert isinstance(store, DraftStore)
        await append(store, notes(1), question("t:0", asked=1))
        for bad in (float("nan"), {1, 2}):
            draft = Draft(bad, 1.0)
            await refused(store.keep_draft("t", "main", "t:0", 1, draft), StateStoreError)
        await refused(store.keep_draft("t", "other", "t:0", 1, HALF), UnknownThreadError)
        await refused(store.keep_draft("u", "main", "t:0", 1, HALF), UnknownThreadError)
        assert await store.drafts("t") == {}
