"""The part of the store contract that is about lists: threads, branches, pending questions."""

from __future__ import annotations

from dataclasses import replace

from nbgraph.core.store import PendingRecord, StateStore, ThreadRecord
from nbgraph.errors import UnknownThreadError
from nbgraph.testing._store_log import (
    append,
    fork_at,
    notes,
    question,
    refused,
    seen,
    summary,
    telling_question,
    with_store,
)

__all__ = ["ListingConformance"]


class ListingConformance:
    """What is listed follows what is appended."""

    @with_store
    async def test_branches_are_listed_oldest_first(self, store: StateStore) -> None:
        await append(store, notes(3))
        assert list(await store.branches("t")) == []
        forks = [fork_at(3, "z"), fork_at(1, "a"), fork_at(2, "m")]
        for record in forks:
            events = notes(1, after=record.parent_sequence, branch_id=record.id)
            await store.fork(record, events, summary=summary())
        assert list(await store.branches("t")) == forks

    @with_store
    async def test_threads_are_listed_the_one_written_last_first(self, store: StateStore) -> None:
        for number, thread_id in enumerate("abc"):
            await append(store, notes(number + 1), thread_id=thread_id)
        assert [one.thread_id for one in await store.threads()] == ["c", "b", "a"]
        await append(store, notes(8, after=1), question("t:0", asked=9), thread_id="a")
        first = ThreadRecord("a", "graph", "interrupted", 1, 1, created_at=1.0, updated_at=9.0)
        assert (await store.threads())[0] == first

    @with_store
    async def test_a_write_to_a_branch_lists_its_thread_first(self, store: StateStore) -> None:
        await append(store, notes(2))
        await append(store, notes(3), thread_id="other")
        await store.fork(fork_at(1, "b"), notes(4, after=1, branch_id="b"), summary=summary(9))
        first = ThreadRecord("t", "graph", "completed", 0, 2, created_at=1.0, updated_at=5.0)
        assert (await store.threads())[0] == first

    @with_store
    async def test_pending_questions_are_those_of_the_last_commit(self, store: StateStore) -> None:
        one, two = question("t:0", asked=1), question("t:1", asked=1)
        again = question("t:0", asked=3)
        for after, pending in enumerate(([one, two], [two], [two, again], [two, again], [])):
            await append(store, notes(1, after=after), *pending)
            found = [record.interrupt for record in await store.pending()]
            assert sorted(found, key=lambda asked: asked.key) == sorted(
                pending, key=lambda asked: asked.key
            )

    @with_store
    async def test_a_question_comes_back_equal(self, store: StateStore) -> None:
        asked = telling_question()
        await append(store, notes(1), asked)
        assert list(await store.pending()) == [PendingRecord("t", "main", "graph", asked)]

    @with_store
    async def test_pending_questions_of_all_threads_and_branches_are_listed_oldest_first(
        self, store: StateStore
    ) -> None:
        late, early = question("x", asked=1, created_at=9.0), question("x", asked=1, created_at=5.0)
        forked = question("x", asked=2, created_at=7.0)
        await append(store, notes(1), late, thread_id="t")
        await append(store, notes(1), early, thread_id="other")
        events = notes(1, after=1, branch_id="b")
        await store.fork(fork_at(1, "b"), events, summary=summary(1, forked))
        expected = [
            PendingRecord("other", "main", "graph", early),
            PendingRecord("t", "b", "graph", forked),
            PendingRecord("t", "main", "graph", late),
        ]
        assert list(await store.pending()) == expected
        await append(store, notes(1, after=1))
        assert list(await store.pending()) == expected[:2]

    @with_store
    async def test_the_thread_of_a_sub_graph_is_not_listed_and_goes_with_its_root(
        self, store: StateStore
    ) -> None:
        await append(store, notes(1), thread_id="kept")
        await append(store, notes(1))
        for thread_id, root in (("t:sub:1", "t"), ("t:sub:1:sub:1", "t"), ("u", "kept")):
            under = replace(summary(), root=root)
            await store.append(thread_id, "main", notes(2), expected=0, summary=under)
        await store.append("u", "main", notes(1, after=2), expected=2, summary=summary())
        assert [one.thread_id for one in await store.threads()] == ["t", "kept"]
        await store.delete("t")
        await refused(store.events("t:sub:1"), UnknownThreadError)
        await refused(store.events("t:sub:1:sub:1"), UnknownThreadError)
        assert len(await store.events("u")) == 3
        assert [one.thread_id for one in await store.threads()] == ["kept"]
        await append(store, notes(1), thread_id="t:sub:1")
        assert [one.thread_id for one in await store.threads()] == ["t:sub:1", "kept"]

    @with_store
    async def test_a_deleted_thread_leaves_nothing_and_no_other_thread_changes(
        self, store: StateStore
    ) -> None:
        await append(store, notes(3), question("x", asked=3), thread_id="kept")
        before = await seen(store)
        await append(store, notes(3), question("x", asked=3))
        events = notes(1, after=2, branch_id="b")
        await store.fork(fork_at(2, "b"), events, summary=summary(1, question("y", asked=3)))
        await store.delete("t")
        await store.delete("nobody")
        assert await seen(store) == before
        await refused(store.events("t"), UnknownThreadError)
        await refused(store.events("t", "b"), UnknownThreadError)
        await append(store, notes(1, text="again"))
        assert list(await store.events("t")) == notes(1, text="again")

    @with_store
    async def test_threads_are_listed_page_by_page(self, store: StateStore) -> None:
        for number in range(10):
            await append(store, notes(1 + number // 3), thread_id=f"t{number}")
        every = list(await store.threads())
        assert [one.thread_id for one in every[:4]] == ["t9", "t8", "t7", "t6"]
        for size in (1, 3, 10, 11):
            found: list[ThreadRecord] = []
            while page := await store.threads(limit=size, after=found[-1] if found else None):
                assert len(page) <= size
                found += page
            assert found == every
        assert list(await store.threads(limit=0)) == []

    @with_store
    async def test_questions_are_listed_page_by_page(self, store: StateStore) -> None:
        for thread_id in ("b", "a", "\u00e9", "B"):
            asked = [question(key, asked=1, created_at=at) for key, at in (("y", 2), ("x", 2))]
            early = question("z", asked=1, created_at=1 + len(thread_id) / 8)
            await append(store, notes(1), *asked, early, thread_id=thread_id)
        every = list(await store.pending())
        assert len(every) == 12
        for size in (1, 5, 12, 13):
            found: list[PendingRecord] = []
            while page := await store.pending(limit=size, after=found[-1] if found else None):
                assert len(page) <= size
                found += page
            assert found == every

    @with_store
    async def test_questions_answered_between_two_pages_leave_no_gap(
        self, store: StateStore
    ) -> None:
        for number in range(6):
            asked = question("x", asked=1, created_at=float(number))
            await append(store, notes(1), asked, thread_id=str(number))
        first = await store.pending(limit=3)
        for number in (0, 2, 3):
            await append(store, notes(1, after=1), thread_id=str(number))
        rest = await store.pending(limit=9, after=first[-1])
        assert [one.thread_id for one in rest] == ["4", "5"]
