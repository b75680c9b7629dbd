"""The contract of a state store as tests: subclass `StoreConformance` and say how to make yours.

>>> class TestMyStore(StoreConformance):
...     def make_store(self, folder):
...         return MyStore(folder / "threads.db")
"""

# ruff: noqa: D102 - a test's name is the sentence of the contract

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from pathlib import Path

from nbgraph.core.events import Event, Json, StateEdited
from nbgraph.core.store import BranchRecord, StateStore
from nbgraph.errors import ConcurrentRunError, StateStoreError, UnknownThreadError
from nbgraph.testing._store_care import CareConformance
from nbgraph.testing._store_claims import ClaimConformance
from nbgraph.testing._store_drafts import DraftConformance
from nbgraph.testing._store_listing import ListingConformance
from nbgraph.testing._store_log import (
    ODD_IDS,
    append,
    fork_at,
    in_threads,
    last_read,
    notes,
    one_of_each,
    question,
    refused,
    seen,
    summary,
    with_store,
)
from nbgraph.testing._store_snapshots import SnapshotConformance

__all__ = ["DraftConformance", "StoreConformance"]


class StoreConformance(ListingConformance, ClaimConformance, SnapshotConformance, CareConformance):
    """What every state store does. A subclass says how one is made."""

    def make_store(self, folder: Path) -> StateStore:
        """Return an empty store; `folder` is a fresh folder it may use."""
        raise NotImplementedError

    # What is appended is what is read.

    @with_store
    async def test_every_type_of_event_comes_back_equal(self, store: StateStore) -> None:
        events = one_of_each()
        await append(store, events)
        assert list(await store.events("t")) == events

    @with_store
    async def test_events_are_dense_over_commits_and_stamped(self, store: StateStore) -> None:
        for after, count in ((0, 1), (1, 3), (4, 2)):
            await append(store, notes(count, after=after))
        assert list(await store.events("t")) == notes(6)

    @with_store
    async def test_any_part_of_a_log_can_be_read(self, store: StateStore) -> None:
        for after in (0, 3, 6):
            await append(store, notes(3, after=after))
        for after in range(11):
            for upto in range(11):
                expected = [one for one in notes(9) if after < one.sequence <= upto]
                assert list(await store.events("t", after=after, upto=upto)) == expected

    @with_store
    async def test_what_comes_out_can_be_changed_without_changing_the_store(
        self, store: StateStore
    ) -> None:
        given = StateEdited(sequence=1, created_at=1.0, update={"list": [1]})
        asked = question("x", asked=1).model_copy(update={"payload": [1]})
        await append(store, [given], asked)
        before = await seen(store)
        given.update["list"].append(2)
        asked.payload.append(2)
        (event,), (record,) = await store.events("t"), await store.pending()
        assert isinstance(event, StateEdited)
        event.update["list"].append(3)
        record.interrupt.payload.append(3)
        assert await seen(store) == before

    @with_store
    async def test_ids_are_data(self, store: StateStore) -> None:
        for number, odd in enumerate(ODD_IDS):
            await append(store, notes(1, text=str(number)), thread_id=odd)
        for number, odd in enumerate(ODD_IDS):
            assert list(await store.events(odd)) == notes(1, text=str(number))
        assert {one.thread_id for one in await store.threads()} == set(ODD_IDS)

    @with_store
    async def test_branch_ids_and_keys_are_data(self, store: StateStore) -> None:
        await append(store, notes(1))
        forks = [odd for odd in ODD_IDS if odd != "main"]
        for odd in forks:
            events = notes(1, after=1, branch_id=odd)
            described = summary(1, question(odd, asked=2))
            await store.fork(fork_at(1, odd), events, summary=described)
        assert [one.id for one in await store.branches("t")] == forks
        found = {(one.branch_id, one.interrupt.key) for one in await store.pending()}
        assert found == {(odd, odd) for odd in forks}

    @with_store
    async def test_an_id_with_half_a_surrogate_pair_is_refused(self, store: StateStore) -> None:
        await append(store, notes(1))
        before = await seen(store)
        for odd in ("\ud800", "a\udfff"):
            await refused(append(store, notes(1), thread_id=odd), StateStoreError)
            fork = store.fork(fork_at(1, odd), notes(1, after=1, branch_id=odd), summary=summary())
            await refused(fork, StateStoreError)
            await refused(store.events(odd), StateStoreError)
        assert await seen(store) == before

    # A commit is kept whole or not at all.

    @with_store
    async def test_a_commit_that_does_not_fit_keeps_nothing(self, store: StateStore) -> None:
        await append(store, notes(3), question("t:0", asked=3))
        before = await seen(store)
        for expected in (0, 1, 2, 4, 9):
            error = await refused(append(store, notes(2, after=expected)), ConcurrentRunError)
            assert (error.expected, error.actual) == (expected, 3)
        assert await seen(store) == before

    @with_store
    async def test_a_thread_is_made_by_its_first_commit_on_main_only(
        self, store: StateStore
    ) -> None:
        for after, branch_id in ((1, "main"), (0, "other"), (1, "other")):
            events = notes(1, after=after, branch_id=branch_id)
            await refused(append(store, events, branch_id=branch_id), UnknownThreadError)
        assert await seen(store) == {"threads": [], "branches": [], "pending": [], "events": {}}

    @with_store
    async def test_a_commit_that_cannot_be_kept_as_json_keeps_nothing(
        self, store: StateStore
    ) -> None:
        await append(store, notes(1))
        before = await seen(store)
        bad = notes(2, after=1, text="\ud800")
        await refused(append(store, [*notes(1, after=1), *bad[1:]]), StateStoreError)
        await refused(
            append(store, notes(1, after=1), question("\ud800", asked=2)), StateStoreError
        )
        assert await seen(store) == before

    @with_store
    async def test_a_value_of_any_depth_can_be_read_or_is_refused(self, store: StateStore) -> None:
        head, value = 0, "deep"
        for depth in range(1, 300):
            value: Json = [value]
            if depth < 150:
                continue
            events = [notes(1, after=head)[0].model_copy(update={"value": value})]
            with suppress(StateStoreError):
                await append(store, events)
                head += 1
                assert list(await store.events("t", after=head - 1)) == events
        assert len(await store.events("t")) == head

    @with_store
    async def test_a_commit_stamped_for_another_place_is_refused(self, store: StateStore) -> None:
        await append(store, notes(1))
        before = await seen(store)
        elsewhere = notes(1, after=1, branch_id="other")
        misplaced: list[list[Event]] = [notes(1), notes(1, after=2), elsewhere, []]
        for events in misplaced:
            call = store.append("t", "main", events, expected=1, summary=summary())
            await refused(call, StateStoreError)
        assert await seen(store) == before

    @with_store
    async def test_of_tasks_that_append_at_one_place_exactly_one_wins(
        self, store: StateStore
    ) -> None:
        for after in range(20):
            calls = [append(store, notes(1, after=after, text=str(n))) for n in range(5)]
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(one) for one in outcomes].count(ConcurrentRunError) == 4
            assert len(await store.events("t")) == after + 1

    @with_store
    async def test_one_refused_commit_does_not_hold_up_the_others(self, store: StateStore) -> None:
        good = [append(store, notes(1), thread_id=f"good-{number}") for number in range(5)]
        bad = [append(store, notes(1, after=7), thread_id=f"bad-{number}") for number in range(5)]
        both = [call for pair in zip(good, bad, strict=True) for call in pair]
        outcomes = await asyncio.gather(*both, return_exceptions=True)
        assert [type(one) for one in outcomes] == [type(None), UnknownThreadError] * 5
        assert len(await store.threads()) == 5

    def test_of_threads_that_append_at_one_place_exactly_one_wins(self, tmp_path: Path) -> None:
        store, rounds, writers = self.make_store(tmp_path), 30, 4
        barrier = threading.Barrier(writers)

        def won(name: str) -> list[int]:
            places: list[int] = []
            for after in range(rounds):
                barrier.wait(timeout=60)
                try:
                    asyncio.run(append(store, notes(1, after=after, text=name)))
                except ConcurrentRunError:
                    continue
                places.append(after)
            return places

        wins = in_threads([lambda name=str(number): won(name) for number in range(writers)])
        assert sorted(place for places in wins for place in places) == list(range(rounds))
        assert len(asyncio.run(last_read(store))) == rounds

    def test_a_store_serves_one_event_loop_after_another(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        for after in range(3):
            asyncio.run(append(store, notes(1, after=after)))
        assert list(asyncio.run(last_read(store))) == notes(3)

    def test_a_reader_sees_whole_commits_only(self, tmp_path: Path) -> None:
        store, commits = self.make_store(tmp_path), 100
        asyncio.run(append(store, notes(3)))

        async def write() -> None:
            for number in range(1, commits):
                await append(store, notes(3, after=3 * number))

        async def read() -> list[int]:
            lengths = [0]
            while lengths[-1] < 3 * commits:
                events = await store.events("t")
                assert list(events) == notes(len(events))
                lengths.append(len(events))
            return lengths

        lengths, _ = in_threads([lambda: asyncio.run(read()), lambda: asyncio.run(write())])
        assert lengths == sorted(lengths)
        assert [length for length in lengths if length % 3] == []
        asyncio.run(store.aclose())

    @with_store
    async def test_an_unknown_thread_or_branch_is_named(self, store: StateStore) -> None:
        await append(store, notes(1))
        error = await refused(store.events("nobody"), UnknownThreadError)
        assert (error.thread_id, error.branch_id) == ("nobody", "main")
        error = await refused(store.events("t", "nothing"), UnknownThreadError)
        assert (error.thread_id, error.branch_id) == ("t", "nothing")
        await refused(store.branches("nobody"), UnknownThreadError)

    # A fork goes on from any event and leaves its parent alone.

    @with_store
    async def test_a_fork_continues_its_parents_events(self, store: StateStore) -> None:
        await append(store, notes(4))
        own = notes(2, after=3, branch_id="b")
        await store.fork(fork_at(3, "b"), own, summary=summary())
        await append(store, notes(1, after=5, branch_id="b"), branch_id="b")
        await append(store, notes(2, after=4))
        expected = [*notes(3), *own, *notes(1, after=5, branch_id="b")]
        assert list(await store.events("t", "b")) == expected
        assert list(await store.events("t")) == notes(6)

    @with_store
    async def test_a_fork_can_start_within_a_commit(self, store: StateStore) -> None:
        await append(store, notes(2))
        await append(store, notes(5, after=2))
        for at in range(1, 8):
            own = notes(1, after=at, branch_id=f"b{at}")
            await store.fork(fork_at(at, f"b{at}"), own, summary=summary())
            assert list(await store.events("t", f"b{at}")) == [*notes(at), *own]

    @with_store
    async def test_forks_of_forks_are_read_along_their_ancestry(self, store: StateStore) -> None:
        await append(store, notes(4))
        parent, expected = "main", notes(4)
        for depth in range(1, 30):
            at, branch_id = 4 + 2 * depth - 3 if depth > 1 else 4, f"b{depth}"
            own = notes(3, after=at, branch_id=branch_id)
            await store.fork(fork_at(at, branch_id, parent=parent), own, summary=summary())
            parent, expected = branch_id, [*expected[:at], *own]
        for after in (0, 3, 10, len(expected)):
            found = await store.events("t", parent, after=after, upto=len(expected) - 1)
            assert list(found) == expected[after:-1]

    @with_store
    async def test_a_fork_can_go_back_before_its_parent_began(self, store: StateStore) -> None:
        await append(store, notes(6))
        own = notes(1, after=5, branch_id="b")
        await store.fork(fork_at(5, "b"), own, summary=summary())
        own = notes(1, after=2, branch_id="c")
        await store.fork(fork_at(2, "c", parent="b"), own, summary=summary())
        assert list(await store.events("t", "c")) == [*notes(2), *own]

    @with_store
    async def test_a_fork_that_does_not_fit_keeps_nothing(self, store: StateStore) -> None:
        await append(store, notes(3))
        await store.fork(fork_at(2, "b"), notes(1, after=2, branch_id="b"), summary=summary())
        before = await seen(store)
        cases: list[tuple[BranchRecord, type[StateStoreError]]] = [
            (fork_at(3, "b"), StateStoreError),
            (fork_at(3, "main"), StateStoreError),
            (fork_at(4, "c"), StateStoreError),
            (fork_at(0, "c"), StateStoreError),
            (fork_at(4, "c", parent="b"), StateStoreError),
            (fork_at(3, "c", parent="nothing"), UnknownThreadError),
            (BranchRecord("nobody", "c", "main", 1, 1.0), UnknownThreadError),
        ]
        for record, error in cases:
            events = notes(1, after=record.parent_sequence, branch_id=record.id)
            await refused(store.fork(record, events, summary=summary()), error)
        assert await seen(store) == before

    @with_store
    async def test_of_forks_of_one_name_exactly_one_is_made(self, store: StateStore) -> None:
        await append(store, notes(2))
        calls = [
            store.fork(fork_at(2, "b"), notes(1, after=2, branch_id="b"), summary=summary())
            for _ in range(5)
        ]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(one, StateStoreError) for one in outcomes) == 4
        assert list(await store.branches("t")) == [fork_at(2, "b")]

    @with_store
    async def test_a_closed_store_is_refused(self, store: StateStore) -> None:
        await append(store, notes(1))
        await store.aclose()
        await store.aclose()
        await refused(append(store, notes(1, after=1)), StateStoreError)
        await refused(store.events("t"), StateStoreError)
        await refused(store.threads(), StateStoreError)
        await refused(store.delete("t"), StateStoreError)
