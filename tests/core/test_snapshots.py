"""A snapshot is the fold of the events before it, or it is not used."""

from __future__ import annotations

import asyncio
import operator
import sqlite3
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given
from pydantic import BaseModel, Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    Resume,
    SQLiteStateStore,
    add,
    node,
    subgraph,
)
from nbgraph.core.blob import Packing
from nbgraph.core.fold import fold
from nbgraph.core.position import Position
from nbgraph.core.snapshots import _plain, fingerprint, position_of, snapshot_of
from nbgraph.core.store import StateStore
from tests.core.graphs import asker, chain, stop
from tests.core.programs import Program, World, build, programs
from tests.core.test_cut_anywhere import _SETTINGS, _finished

pytestmark = pytest.mark.filterwarnings("ignore::nbgraph.UnnamedInterruptWarning")
"""Drawn programs ask in loops, with ids and without: what runs again asks the same."""


@given(programs())
@_SETTINGS
def test_a_snapshot_of_any_position_comes_back_equal(program: Program) -> None:
    asyncio.run(_check_round_trips(program))


async def _check_round_trips(program: Program) -> None:
    graph = build(program, World())
    thread = graph.thread("t", state_store=InMemoryStateStore())
    await _finished(program, thread)
    events = await thread.events()
    for at in range(1, len(events) + 1):
        position = fold(events[:at], graph.schema)
        snapshot = snapshot_of(position, graph.schema)
        assert snapshot is not None
        assert position_of(snapshot, graph.schema) == position


@given(programs())
@_SETTINGS
def test_a_thread_with_a_snapshot_after_every_commit_reads_as_its_events_do(
    program: Program,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nbgraph.stores._log.SNAPSHOT_BYTES", -1)
        patch.setattr(
            "nbgraph.stores._log.Commit.snapshot_after",
            lambda commit, since, snapped: commit.snapshot and commit.snapshot(),
        )
        asyncio.run(_check_recall(program))


async def _check_recall(program: Program) -> None:
    graph, store = build(program, World()), InMemoryStateStore()
    await _finished(program, graph.thread("t", state_store=store))
    recalled = await store.recall("t")
    assert recalled.snapshot is not None
    assert list(recalled.events) == []
    events = await store.events("t")
    for at in range(1, len(events) + 1):
        thread = graph.thread("t", state_store=store)
        assert await thread.position(at=at) == fold(events[:at], graph.schema)


class Talk(BaseState):
    said: Annotated[list[str], add] = Field(default_factory=list)
    turns: int = 0


def talk(schema: Any = Talk, *, merge: Any = None) -> Graph:
    @node
    def speak(state: Any) -> dict[str, Any]:
        return {"said": ["x" * 400], "turns": (state.turns or 0) + 1}

    return Graph(schema, name="talk").flow(START >> speak >> END)


def spoken(store: StateStore, turns: int, graph: Graph | None = None) -> None:
    graph = graph or talk()
    for _ in range(turns):
        graph.invoke({}, thread_id="t", state_store=store)


def read_events(store: StateStore) -> list[tuple[int, int | None]]:
    """Return what each read of the store asks for, from now on."""
    asked: list[tuple[int, int | None]] = []
    events = store.events

    async def noted(*names: str, after: int = 0, upto: int | None = None) -> Any:
        asked.append((after, upto))
        return await events(*names, after=after, upto=upto)

    store.events = noted  # type: ignore[method-assign]
    return asked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


def test_snapshots_stand_at_growing_distances_and_the_newest_is_kept(path: Path) -> None:
    store = SQLiteStateStore(path, durability="fast")
    found: list[int] = []
    for _ in range(120):
        spoken(store, 4)
        recalled = asyncio.run(store.recall("t"))
        found.append(0 if recalled.snapshot is None else recalled.snapshot.sequence)
    distances = [after - before for before, after in pairwise(dict.fromkeys(found))]
    assert 5 <= len(distances) <= 20
    assert max(distances[-3:]) > 1.5 * max(distances[:3])
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM snapshots").fetchone() == (1,)
    connection.close()
    store.close()


def test_a_large_snapshot_is_kept_compressed_and_comes_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbgraph.stores._sql_write.COMPRESSED_BYTES", 1)
    store = SQLiteStateStore(path)
    spoken(store, 60)
    recalled = asyncio.run(store.recall("t"))
    assert recalled.snapshot is not None
    with sqlite3.connect(path) as connection:
        (size,) = connection.execute("SELECT length(body) FROM snapshots").fetchone()
    connection.close()
    assert size < len(recalled.snapshot.body) / 4
    expected = fold(asyncio.run(store.events("t")), talk().schema)
    assert talk().sync.position("t", state_store=store) == expected
    store.close()


def test_a_fork_makes_a_snapshot_of_its_own(path: Path) -> None:
    async def scenario() -> None:
        store, graph = SQLiteStateStore(path), talk()
        branch_id = (await graph.fork("t", from_=50, state_store=store)).id
        await graph.ainvoke({}, thread_id="t", branch_id=branch_id, state_store=store)
        found = await store.recall("t", branch_id)
        assert found.snapshot is not None
        assert found.snapshot.sequence > 50
        await store.aclose()

    store = SQLiteStateStore(path)
    spoken(store, 60)
    store.close()
    asyncio.run(scenario())


def test_a_branch_is_read_from_the_newest_snapshot_before_it(path: Path) -> None:
    async def scenario() -> None:
        store = SQLiteStateStore(path)
        graph = talk()
        recalled = await store.recall("t")
        assert recalled.snapshot is not None
        last = recalled.snapshot.sequence
        everything = await store.events("t")
        assert list(recalled.events) == list(everything[last:])
        for at in (1, last - 1, last, last + 1, len(everything)):
            expected = fold(everything[:at], graph.schema)
            found = await store.recall("t", upto=at)
            assert found.snapshot is not None or at < last
            assert all(event.sequence <= at for event in found.events)
            assert await graph.position("t", at=at, state_store=store) == expected
        await store.aclose()

    store = SQLiteStateStore(path)
    spoken(store, 60)
    store.close()
    asyncio.run(scenario())


def test_a_fork_is_read_from_a_snapshot_of_its_parent(path: Path) -> None:
    async def scenario() -> None:
        store, graph = SQLiteStateStore(path), talk()
        recalled = await store.recall("t")
        assert recalled.snapshot is not None
        at = recalled.snapshot.sequence
        for from_ in (at - 1, at, at + 1):
            branch_id = (await graph.fork("t", from_=from_, state_store=store)).id
            found = await store.recall("t", branch_id)
            assert from_ < at or found.snapshot == recalled.snapshot
            position = await graph.position("t", branch_id=branch_id, state_store=store)
            assert position == fold(await store.events("t", branch_id), graph.schema)
        await store.aclose()

    store = SQLiteStateStore(path)
    spoken(store, 60)
    store.close()
    asyncio.run(scenario())


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE snapshots SET body = x'00'",
        "UPDATE snapshots SET checksum = checksum + 1",
        'UPDATE snapshots SET refs = \'[[["state"],"00"]]\'',
        "UPDATE snapshots SET fingerprint = 'another'",
        "UPDATE snapshots SET place = place - 1",
        "DELETE FROM snapshots",
    ],
)
def test_a_snapshot_that_cannot_be_trusted_is_not_used(path: Path, change: str) -> None:
    store = SQLiteStateStore(path)
    spoken(store, 60)
    expected = talk().sync.position("t", state_store=store)
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute(change).rowcount
    connection.close()
    store = SQLiteStateStore(path)
    assert talk().sync.position("t", state_store=store) == expected
    spoken(store, 1)
    assert talk().sync.load("t", state_store=store)["turns"] == 61
    store.close()


def test_a_field_of_another_type_is_folded_from_the_events(path: Path) -> None:
    class Other(BaseState):
        said: Annotated[list[str], add] = Field(default_factory=list)
        turns: float = 0.0

    store = SQLiteStateStore(path)
    spoken(store, 60)
    asked = read_events(store)
    position = talk(Other).sync.position("t", state_store=store)
    assert (0, None) in asked
    assert position == fold(asyncio.run(store.events("t")), talk(Other).schema)
    store.close()


def test_what_a_reducer_made_stays_when_its_code_changes(path: Path) -> None:
    def longest(current: int, update: int) -> int:
        return max(current or 0, update)

    def total(current: int, update: int) -> int:
        return (current or 0) + update

    def graph(reducer: Any) -> Graph:
        class Counted(BaseState):
            said: Annotated[list[str], add] = Field(default_factory=list)
            turns: Annotated[int, reducer] = 0

        return talk(Counted)

    store = SQLiteStateStore(path)
    spoken(store, 60, graph(longest))
    recalled = asyncio.run(store.recall("t"))
    assert recalled.snapshot is not None
    at = recalled.snapshot.sequence
    before = graph(longest).sync.position("t", at=at, state_store=store)
    assert graph(total).sync.position("t", at=at, state_store=store) == before
    store.close()


def test_a_value_that_json_changes_makes_no_snapshot() -> None:
    class Odd(TypedDict):
        pair: Annotated[Any, lambda current, update: (update, update)]

    schema = Graph(Odd, name="odd").schema
    position = fold([], schema)
    object.__setattr__(position, "state", {"pair": (1, 1)})
    assert snapshot_of(position, schema) is None


def test_a_fingerprint_is_the_same_in_every_process_and_follows_the_types() -> None:
    class Nested(BaseModel):
        text: str

    def schema(annotation: Any) -> Any:
        return Graph(TypedDict("S", {"a": annotation}), name="g").schema

    same = [fingerprint(schema(Annotated[int, operator.add])) for _ in range(2)]
    assert same[0] == same[1] == fingerprint(schema(int))
    others = {fingerprint(schema(one)) for one in (int, str, list[int], Nested)}
    assert len(others) == 4


def test_a_snapshot_has_every_part_of_a_position() -> None:
    parts = {one.name for one in fields(Position)}
    assert parts == {"sequence", "state", *_plain(Position(), Packing())}


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a snapshot after every commit."""
    monkeypatch.setattr(
        "nbgraph.stores._log.Commit.snapshot_after",
        lambda commit, since, snapped: commit.snapshot and commit.snapshot(),
    )


@pytest.mark.usefixtures("always")
def test_a_sub_graph_goes_on_from_snapshots_of_both_threads() -> None:
    store = InMemoryStateStore()

    def made() -> Graph:
        inner = chain(stop("one"), asker("ask"), state_store=None, name="inner")
        return chain(stop("first"), subgraph("sub", inner, share=["log"]), state_store=store)

    made().invoke({}, thread_id="t")
    asked = read_events(store)
    position = made().sync.position("t")
    assert list(position.children) == ["sub"]
    assert asked == []
    done = made().invoke(resume=Resume("yes"), thread_id="t")
    assert done.state.log == ["first", "one", "ask: 'yes'"]


@pytest.mark.usefixtures("always")
def test_a_snapshot_under_old_names_is_not_read_by_a_graph_with_new_ones() -> None:
    store = InMemoryStateStore()
    chain(stop("first"), asker("ask"), state_store=store).invoke({}, thread_id="t")
    migrate = {"ask": "question"}
    renamed = chain(stop("first"), asker("question"), state_store=store, migrate=migrate)
    assert renamed.sync.position("t").next == ("question",)
    done = renamed.invoke(resume=Resume("yes"), thread_id="t")
    assert done.state.log == ["first", "question: 'yes'"]
    events = asyncio.run(store.events("t"))
    assert renamed.sync.position("t") == fold(renamed.migration.read(events), renamed.schema)


@pytest.mark.usefixtures("always")
def test_a_snapshot_of_a_migrated_thread_has_the_new_names() -> None:
    store = InMemoryStateStore()
    chain(asker("a"), asker("b"), state_store=store).invoke({}, thread_id="t")
    migrate = {"a": "one", "b": "two"}
    renamed = chain(asker("one"), asker("two"), state_store=store, migrate=migrate)
    renamed.invoke(resume=Resume("yes"), thread_id="t")
    asked = read_events(store)
    again = chain(asker("one"), asker("two"), state_store=store, migrate=migrate)
    assert again.sync.position("t").next == ("two",)
    assert asked == []
    # Whoever has the old names reads the events, in which the new ones were written since.
    old = chain(asker("a"), asker("b"), state_store=store).sync.position("t")
    assert asked == [(0, None)]
    assert old.next == ("two",)
