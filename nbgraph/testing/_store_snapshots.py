"""The part of the store contract that is about snapshots: a store may keep them, and may not."""

from __future__ import annotations

from functools import partial

from nbgraph.core.store import PositionSnapshot, StateStore
from nbgraph.errors import UnknownThreadError
from nbgraph.testing._store_log import fork_at, notes, refused, summary, with_store

__all__ = ["SnapshotConformance"]


def _snapshot(sequence: int) -> PositionSnapshot:
    return PositionSnapshot(sequence, "made by the suite", b'{"at":%d}' % sequence)


async def _fill(
    store: StateStore, commits: int, *, branch_id: str = "main", after: int = 0
) -> None:
    for number in range(after, after + commits):
        events = notes(1, after=number, branch_id=branch_id, text="x" * 2000)
        made = partial(_snapshot, number + 1)
        await store.append(
            "t", branch_id, events, expected=number, summary=summary(), snapshot=made
        )


class SnapshotConformance:
    """Whatever snapshot a store hands out, with the events after it, is the whole log."""

    @with_store
    async def test_a_snapshot_and_the_events_after_it_are_the_log(self, store: StateStore) -> None:
        await _fill(store, 40)
        events = list(await store.events("t"))
        for upto in (1, 5, 9, 10, 20, 39, 40, None):
            found = await store.recall("t", upto=upto)
            start = 0 if found.snapshot is None else found.snapshot.sequence
            assert found.snapshot in {None, _snapshot(start)}
            assert list(found.events) == events[start:upto]

    @with_store
    async def test_a_fork_has_the_snapshots_of_its_ancestors_up_to_where_it_forks_off(
        self, store: StateStore
    ) -> None:
        await _fill(store, 40)
        for at in (1, 20, 40):
            branch_id = f"b{at}"
            own = notes(1, after=at, branch_id=branch_id)
            await store.fork(fork_at(at, branch_id), own, summary=summary())
            found = await store.recall("t", branch_id)
            start = 0 if found.snapshot is None else found.snapshot.sequence
            assert start <= at
            assert list(found.events) == list(await store.events("t", branch_id, after=start))

    @with_store
    async def test_a_snapshot_that_cannot_be_made_is_none(self, store: StateStore) -> None:
        for number in range(20):
            events = notes(1, after=number, text="x" * 2000)
            await store.append(
                "t", "main", events, expected=number, summary=summary(), snapshot=lambda: None
            )
        found = await store.recall("t")
        assert found.snapshot is None
        assert list(found.events) == list(await store.events("t"))

    @with_store
    async def test_what_is_recalled_of_nothing_is_an_error(self, store: StateStore) -> None:
        await _fill(store, 1)
        await refused(store.recall("nobody"), UnknownThreadError)
        await refused(store.recall("t", "nothing"), UnknownThreadError)
