"""The part of the store contract that is about a store as a whole: export, size, damage, watch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from nbgraph.core.blob import Blob
from nbgraph.core.events import Event, OnceRecorded, StateEdited
from nbgraph.core.store import StateStore
from nbgraph.errors import DamagedStoreError, StateStoreError, UnknownThreadError
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

__all__ = ["CareConformance"]

_LARGE = "large \U0001f9ea " * 10_000
_BYTES = bytes(range(256))


def _holding(*values: object, after: int = 0) -> list[Event]:
    """Return events that hold values at some depth."""
    update = {"deep": [{"": value} for value in values], "~/odd": list(values)}
    return [StateEdited(sequence=after + 1, created_at=after + 1.0, update=update)]


def _blob(content: bytes = _BYTES) -> Blob:
    return Blob(kind="bytes", content=content, summary="some bytes", detail={"n": [1, None]})


async def _fill(store: StateStore) -> None:
    for after in range(0, 9, 3):
        await append(store, notes(3, after=after), question("t:0", asked=3))
    events = notes(2, after=4, branch_id="b")
    await store.fork(fork_at(4, "b"), events, summary=summary(2, question("t:1", asked=5)))
    own = notes(1, after=5, branch_id="c")
    await store.fork(fork_at(5, "c", parent="b"), own, summary=summary())
    await append(store, _holding(_LARGE, _blob(), after=9), question("t:0", asked=3))
    under = replace(summary(), root="t")
    await store.append("t:a:1", "main", notes(2), expected=0, summary=under)


async def _importing(store: StateStore, lines: Sequence[str]) -> None:
    await store.import_thread(lines)


class CareConformance:
    """What a store does with all that it holds."""

    @with_store
    async def test_values_kept_as_bytes_come_back_where_they_stood(self, store: StateStore) -> None:
        events = _holding(_blob(), _blob(b""), _blob(b"text"), None)
        await append(store, events)
        assert list(await store.events("t")) == events
        looks = _blob().shown()
        await append(store, _holding(looks, None, "", _blob(), after=1))
        (_, event) = await store.events("t")
        assert isinstance(event, StateEdited)
        assert event.update["~/odd"] == [looks, None, "", _blob()]

    @with_store
    async def test_a_large_value_is_kept_once(self, store: StateStore) -> None:
        for after in range(5):
            await append(store, _holding(_LARGE, _blob(), after=after))
        await append(store, _holding(_LARGE), thread_id="other")
        size = await store.size()
        assert size.large_values == 2
        assert size.large_value_bytes == len(_LARGE.encode()) + len(_BYTES)
        assert size.commit_bytes < 3000
        await store.delete("t")
        assert (await store.size()).large_values == 1
        await store.delete("other")
        assert (await store.size()).large_values == 0

    @with_store
    async def test_a_thread_comes_back_from_its_lines_as_it_was(self, store: StateStore) -> None:
        await _fill(store)
        await append(store, notes(1), thread_id="u")
        before, lines = await seen(store), list(await store.export_thread("t"))
        under = list(await store.events("t:a:1"))
        await store.delete("t")
        await refused(store.events("t:a:1"), UnknownThreadError)
        assert await store.import_thread(lines) == "t"
        assert await seen(store) == before
        assert list(await store.export_thread("t")) == lines
        assert list(await store.events("t:a:1")) == under
        assert list(await store.verify()) == []
        await append(store, notes(1, after=10))
        await append(store, notes(1, after=6, branch_id="c"), branch_id="c")
        assert list(await store.verify()) == []

    @with_store
    async def test_lines_with_one_changed_or_missing_keep_nothing(self, store: StateStore) -> None:
        await _fill(store)
        lines = list(await store.export_thread("t"))
        await store.delete("t")
        before = await seen(store)
        for number in range(len(lines)):
            without = [line for at, line in enumerate(lines) if at != number]
            await refused(_importing(store, without), StateStoreError)
            assert await seen(store) == before
        changed = [line.replace("once_recorded", "once_recorder") for line in lines]
        await refused(_importing(store, changed), DamagedStoreError)
        assert await seen(store) == before

    @with_store
    async def test_lines_that_are_no_export_are_refused(self, store: StateStore) -> None:
        head = '{"nbgraph":"thread","format":1,"thread":"t"}'
        for lines in ([], ["{}"], ["[1]"], ["{"], [head], [head.replace("1", "99")], ["null"]):
            await refused(_importing(store, lines), StateStoreError)
        assert list(await store.threads()) == []

    @with_store
    async def test_a_thread_that_is_there_is_not_imported_over(self, store: StateStore) -> None:
        await _fill(store)
        before, lines = await seen(store), list(await store.export_thread("t"))
        error = await refused(_importing(store, lines), StateStoreError)
        assert "is in the store already" in str(error)
        assert await seen(store) == before
        await refused(store.export_thread("nobody"), UnknownThreadError)

    @with_store
    async def test_pruning_changes_nothing_that_is_seen(self, store: StateStore) -> None:
        await _fill(store)
        await append(store, notes(90, text="x" * 300), thread_id="gone")
        await store.delete("gone")
        before = await seen(store)
        size = await store.prune()
        assert (size.threads, size.branches, size.commits) == (1, 4, 7)
        assert (size.large_values, size.snapshot_bytes) == (2, 0)
        assert await seen(store) == before
        assert await store.size() == size

    @with_store
    async def test_a_store_without_damage_says_so(self, store: StateStore) -> None:
        assert list(await store.verify()) == []
        await _fill(store)
        assert list(await store.verify()) == []

    @with_store
    async def test_a_watcher_is_told_of_writes_until_it_ends(self, store: StateStore) -> None:
        told = threading.Event()
        end = store.watch(told.set, every=0.01)
        await append(store, notes(1))
        assert told.wait(timeout=60)
        told.clear()
        events = notes(1, after=1, branch_id="b")
        await store.fork(fork_at(1, "b"), events, summary=summary())
        assert told.wait(timeout=60)
        end()
        end()
        told.clear()
        await append(store, notes(1, after=1))
        assert not told.is_set()

    @with_store
    async def test_a_note_of_what_was_computed_can_be_bytes(self, store: StateStore) -> None:
        note = OnceRecorded(sequence=1, task_id="t", key="k", value=_blob(), created_at=1.0)
        await append(store, [note])
        assert list(await store.events("t")) == [note]
