"""The part of the store contract that is about who writes: claims, epochs, take-overs."""

from __future__ import annotations

from nbgraph.core.store import Claim, StateStore
from nbgraph.errors import (
    ClaimLostError,
    ConcurrentRunError,
    ThreadClaimedError,
    UnknownThreadError,
)
from nbgraph.testing._store_log import append, fork_at, notes, refused, seen, summary, with_store

__all__ = ["ClaimConformance"]


async def write(
    store: StateStore, after: int, claim: Claim | None, *, branch_id: str = "main"
) -> int:
    events = notes(1, after=after, branch_id=branch_id)
    return await store.append(
        "t", branch_id, events, expected=after, summary=summary(), claim=claim
    )


class ClaimConformance:
    """One writer of a branch at a time, and whoever was taken over from keeps nothing."""

    @with_store
    async def test_after_a_take_over_the_writer_before_keeps_nothing(
        self, store: StateStore
    ) -> None:
        old = Claim("old", await write(store, 0, Claim("old")))
        await write(store, 1, old)
        new = Claim("new", await store.claim("t", owner="new"))
        before = await seen(store)
        error = await refused(write(store, 2, old), ClaimLostError)
        assert (error.thread_id, error.branch_id, error.expected) == ("t", "main", 2)
        assert await seen(store) == before
        await write(store, 2, new)
        await refused(write(store, 3, old), ClaimLostError)
        assert list(await store.events("t")) == notes(3)

    @with_store
    async def test_a_commit_can_take_over_itself(self, store: StateStore) -> None:
        old = Claim("old", await write(store, 0, Claim("old")))
        new = Claim("new", await write(store, 1, Claim("new")))
        await refused(write(store, 2, old), ClaimLostError)
        await write(store, 2, new)
        assert list(await store.events("t")) == notes(3)

    @with_store
    async def test_a_commit_that_does_not_fit_takes_nothing_over(self, store: StateStore) -> None:
        old = Claim("old", await write(store, 0, Claim("old")))
        await refused(write(store, 5, Claim("new")), ConcurrentRunError)
        await write(store, 1, old)
        assert list(await store.events("t")) == notes(2)

    @with_store
    async def test_a_commit_without_a_claim_ends_nobodys(self, store: StateStore) -> None:
        owner = Claim("a", await write(store, 0, Claim("a")))
        await append(store, notes(1, after=1))
        await write(store, 2, owner)
        assert list(await store.events("t")) == notes(3)

    @with_store
    async def test_branches_are_claimed_one_by_one(self, store: StateStore) -> None:
        owner = Claim("a", await write(store, 0, Claim("a")))
        await store.fork(fork_at(1, "b"), notes(1, after=1, branch_id="b"), summary=summary())
        await store.claim("t", "b", owner="b")
        await write(store, 1, owner)
        assert list(await store.events("t")) == notes(2)

    @with_store
    async def test_a_claim_with_a_time_is_respected_until_it_is_released(
        self, store: StateStore
    ) -> None:
        await append(store, notes(1))
        first = await store.claim("t", owner="a", ttl=3600)
        error = await refused(store.claim("t", owner="b", ttl=3600), ThreadClaimedError)
        assert error.owner == "a"
        assert await store.claim("t", owner="a", ttl=3600) == first
        await store.release("t", owner="b")
        await refused(store.claim("t", owner="b", ttl=3600), ThreadClaimedError)
        await store.release("t", owner="a")
        assert await store.claim("t", owner="b", ttl=3600) == first + 1

    @with_store
    async def test_a_claim_whose_time_is_over_is_anybodys(self, store: StateStore) -> None:
        await append(store, notes(1))
        old = Claim("a", await store.claim("t", owner="a", ttl=-1))
        new = Claim("b", await store.claim("t", owner="b", ttl=3600))
        await refused(write(store, 1, old), ClaimLostError)
        await write(store, 1, new)

    @with_store
    async def test_only_a_thread_that_is_there_can_be_claimed(self, store: StateStore) -> None:
        await append(store, notes(1))
        for names in (("nobody", "main"), ("t", "nothing")):
            error = await refused(store.claim(*names, owner="a"), UnknownThreadError)
            assert (error.thread_id, error.branch_id) == names
            await refused(store.release(*names, owner="a"), UnknownThreadError)
