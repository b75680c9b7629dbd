"""A run goes on from where the one before it ended, without reading that: never from elsewhere."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from nbgraph import END, START, Graph, Resume, SQLiteStateStore, interrupt, node
from nbgraph.core.reached import Reached, ReachedStore
from nbgraph.core.requests import Resume as Answers
from nbgraph.core.requests import Start
from nbgraph.core.store import StateStore
from nbgraph.core.values import same
from nbgraph.errors import ConcurrentRunError, DamagedStoreError, RedefinedGraphError, ResumeError
from nbgraph.stores import InMemoryStateStore
from nbgraph.stores import _sql_reached as rooms
from tests.core.graphs import Trail, asker, failing, stop
from tests.core.programs import Program, World, build, programs
from tests.core.test_cut_anywhere import _ENOUGH, _SETTINGS, _complete, _request

pytestmark = pytest.mark.filterwarnings("ignore::nbgraph.UnnamedInterruptWarning")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStateStore]:
    made = SQLiteStateStore(path)
    yield made
    made.close()


@pytest.fixture
def other(path: Path, store: SQLiteStateStore) -> Iterator[SQLiteStateStore]:
    """The same file in other hands: another connection, as another process has one."""
    made = SQLiteStateStore(path)
    yield made
    made.close()


def graph_of(store: StateStore, *nodes: Any, **options: Any) -> Graph:
    way: Any = START
    for each in nodes or (stop("a"), asker("b"), stop("c")):
        way = way >> each
    return Graph(Trail, state_store=store, **options).flow(way >> END)


@contextmanager
def reads(store: SQLiteStateStore) -> Iterator[list[str]]:
    """Note which tables are read."""
    connection = store._file._cursor.connection
    found: list[str] = []

    def heard(text: str) -> None:
        if "SELECT" in text:
            found.append(text.split("FROM")[1].split()[0])

    connection.set_trace_callback(heard)
    yield found
    connection.set_trace_callback(None)


async def streamed(graph: Graph, **options: Any) -> None:
    """Run as a stream does, whose reader gets the events."""
    async with aclosing(graph.astream(thread_id="t", **options)) as stream:
        async for _ in stream:
            pass


WHOLE = ["branches", "commits"]
"""What is read of a log that has to be read."""


def left(store: SQLiteStateStore, branch_id: str = "main") -> Reached | None:
    return asyncio.run(store.reached("t", branch_id))


# What is handed on is what is recorded.


@given(programs())
@_SETTINGS
def test_what_is_handed_on_is_what_is_recorded(
    tmp_path_factory: pytest.TempPathFactory, program: Program
) -> None:
    path = tmp_path_factory.mktemp("reached") / "threads.db"
    with closing(SQLiteStateStore(path)) as store:
        asyncio.run(_check(program, store))


async def _check(program: Program, store: SQLiteStateStore) -> None:
    graph = build(program, World())
    options: dict[str, Any] = {"thread_id": "t", "state_store": store}
    for _ in range(_ENOUGH):
        thread = graph.thread("t", state_store=store)
        position = await thread.load()
        if _complete(program, await thread.events(), position):
            return
        match _request(program, position):
            case Start(input=given):
                call = graph.ainvoke(given, **options)
            case Answers() as answers:
                call = graph.ainvoke(resume=answers, **options)
            case _:
                call = graph.ainvoke(**options)
        with suppress(Exception):  # a program's own failures
            await call
        handed_on = await store.reached("t")
        if handed_on is not None:
            recorded = await graph.thread("t", state_store=store).load()
            assert same(vars(handed_on.position), vars(recorded))
    raise AssertionError("the program does not end")


def test_who_goes_on_reads_neither_the_branch_nor_its_log(store: SQLiteStateStore) -> None:
    graph = graph_of(store)
    graph.invoke({}, thread_id="t")
    with reads(store) as found:
        result = graph.invoke(resume=Resume("yes"), thread_id="t")
        assert graph.invoke({}, thread_id="t").step == 1
    assert found == []
    assert result.data["log"] == ["a", "b: 'yes'", "c"]
    assert asyncio.run(store.verify()) == []


def test_a_write_of_this_process_elsewhere_lets_the_branch_be_looked_at(
    store: SQLiteStateStore,
) -> None:
    graph = graph_of(store)
    graph.invoke({}, thread_id="t")
    graph.invoke({}, thread_id="u")
    with reads(store) as found:
        assert graph.invoke(resume=Resume("yes"), thread_id="t").data["log"][1] == "b: 'yes'"
    assert found == ["branches"]


def test_it_is_handed_on_once(store: SQLiteStateStore) -> None:
    graph_of(store).invoke({}, thread_id="t")
    assert left(store) is not None
    assert left(store) is None


def test_of_many_threads_the_last_ones_are_known(
    store: SQLiteStateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "_MOST", 2)
    graph = graph_of(store)
    for thread_id in "abcb":
        with suppress(ResumeError):
            graph.invoke({}, thread_id=thread_id)
    known = [one for one in "abc" if asyncio.run(store.reached(one)) is not None]
    assert known == ["c"]  # b was taken when it was called again


def test_what_a_caller_changes_in_a_result_is_not_what_the_next_run_finds(
    store: SQLiteStateStore,
) -> None:
    seen: list[Any] = []

    def ask(state: dict[str, Any]) -> dict[str, Any]:
        seen.append(state)
        answer = interrupt({"say": ["this"]}, id="ok", response_schema={"type": "string"})
        return {"items": [*state["items"], answer]}

    graph = Graph(dict, state_store=store).flow(START >> node(name="ask")(ask) >> END)
    result = graph.invoke({"items": ["one"]}, thread_id="t")
    question = result.interrupts["ask:ok"]
    question.payload["say"].append("that")
    question.response_schema["type"] = "integer"
    for mine in (result.data, result.state, seen[0]):
        mine["items"].append("mine")
    assert graph.invoke(resume=Resume("two"), thread_id="t").data == {"items": ["one", "two"]}


def test_only_runs_whose_events_nobody_sees_hand_on_and_take(store: SQLiteStateStore) -> None:
    graph = graph_of(store)
    asyncio.run(streamed(graph, initial_state={}))
    assert left(store) is None
    graph.invoke(resume=Resume("yes"), thread_id="t")
    with reads(store) as found:
        asyncio.run(streamed(graph, initial_state={}))
    assert found[:2] == WHOLE
    assert left(store) is None


def test_what_is_half_done_is_read(store: SQLiteStateStore) -> None:
    graph = graph_of(store, stop("a"), failing("b", ValueError("no")))
    with pytest.raises(ValueError, match="no"):
        graph.invoke({}, thread_id="t")
    assert left(store) is None
    assert graph.invoke(thread_id="t").data["log"] == ["a", "b"]


def test_what_is_deleted_pruned_or_closed_is_not_held_in_memory(store: SQLiteStateStore) -> None:
    def held() -> str:
        return "".join(sorted(thread_id for thread_id, _ in store._left._left))

    def begun() -> str:
        for thread_id in "tu":
            graph_of(store).invoke({}, thread_id=thread_id)
        return held()

    assert begun() == "tu"
    asyncio.run(store.delete("t"))
    assert held() == "u"
    asyncio.run(store.delete("u"))
    assert begun() == "tu"
    asyncio.run(store.prune())
    assert held() == ""
    asyncio.run(store.delete("t"))
    asyncio.run(store.delete("u"))
    assert begun() == "tu"
    store.close()
    assert held() == ""


# Somebody else was there in between.


def test_what_another_connection_did_is_seen(
    store: SQLiteStateStore, other: SQLiteStateStore
) -> None:
    mine, theirs = graph_of(store), graph_of(other)
    mine.invoke({}, thread_id="t")
    theirs.invoke(resume=Resume("theirs"), thread_id="t")
    with pytest.raises(ResumeError):
        mine.invoke(resume=Resume("mine"), thread_id="t")
    mine.invoke({}, thread_id="t")
    assert mine.invoke(resume=Resume("mine"), thread_id="t").data["log"] == [
        "a",
        "b: 'theirs'",
        "c",
        "a",
        "b: 'mine'",
        "c",
    ]
    assert asyncio.run(other.verify()) == []


def test_what_another_process_did_is_seen(store: SQLiteStateStore, path: Path) -> None:
    graph = graph_of(store)
    graph.invoke({}, thread_id="t")
    code = (
        "import sys; from tests.core.test_reached import graph_of; "
        "from nbgraph import Resume, SQLiteStateStore; "
        "graph_of(SQLiteStateStore(sys.argv[1])).invoke(resume=Resume('there'), thread_id='t')"
    )
    subprocess.run([sys.executable, "-c", code, path], check=True)
    with reads(store) as found:
        result = graph.invoke({}, thread_id="t")
    assert found[:2] == WHOLE
    assert result.data["log"] == ["a", "b: 'there'", "c", "a"]


def test_what_another_graph_did_through_the_same_store_is_seen(store: SQLiteStateStore) -> None:
    first, second = graph_of(store), graph_of(store)
    first.invoke({}, thread_id="t")
    second.invoke(resume=Resume("second"), thread_id="t")
    assert first.invoke({}, thread_id="t").data["log"] == ["a", "b: 'second'", "c", "a"]


def test_what_an_edit_did_through_the_same_store_is_seen(store: SQLiteStateStore) -> None:
    graph = graph_of(store)
    graph.invoke({}, thread_id="t")
    graph.sync.update_state("t", {"log": ["edited"]})
    data = graph.invoke(resume=Resume("yes"), thread_id="t").data
    assert data["log"] == ["a", "edited", "b: 'yes'", "c"]


def test_a_fork_and_its_parent_go_on_from_their_own_ends(store: SQLiteStateStore) -> None:
    graph = graph_of(store)
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", name="side")
    side = graph.invoke(resume=Resume("side"), thread_id="t", branch_id="side")
    main = graph.invoke(resume=Resume("main"), thread_id="t")
    assert side.data["log"][1] == "b: 'side'"
    assert main.data["log"][1] == "b: 'main'"
    again = graph.invoke({}, thread_id="t", branch_id="side").data["log"]
    assert again == ["a", "b: 'side'", "c", "a"]


@pytest.mark.parametrize("by", ["store", "other"])
def test_a_branch_that_was_taken_over_is_taken_over_again(
    store: SQLiteStateStore, other: SQLiteStateStore, by: str
) -> None:
    async def scenario() -> int:
        await graph.ainvoke({}, thread_id="t")
        epoch = await {"store": store, "other": other}[by].claim("t", owner="somebody")
        await graph.ainvoke(resume=Resume("yes"), thread_id="t")
        return await store.claim("t", owner="after") - epoch

    graph = graph_of(store)
    assert asyncio.run(scenario()) == 2  # the run's own, and the one after it


@pytest.mark.parametrize("by", ["store", "other"])
def test_a_thread_that_was_made_anew_is_not_taken_for_the_one_before(
    store: SQLiteStateStore, other: SQLiteStateStore, by: str
) -> None:
    theirs = {"store": store, "other": other}[by]
    graph = graph_of(store)
    graph.invoke({"count": 1}, thread_id="t")
    asyncio.run(theirs.delete("t"))
    asyncio.run(streamed(graph_of(theirs), initial_state={"count": 2}))
    assert graph.invoke(resume=Resume("yes"), thread_id="t").data["count"] == 2


def test_a_thread_that_is_gone_is_not_there(
    store: SQLiteStateStore, other: SQLiteStateStore
) -> None:
    graph = graph_of(store)
    for gone in (store, other):
        graph.invoke({}, thread_id="t")
        asyncio.run(gone.delete("t"))
        assert graph.invoke({}, thread_id="t").data["log"] == ["a"]
        asyncio.run(gone.delete("t"))


# The graph is another one.


def test_a_redefined_graph_reads_the_thread_as_it_names_it(store: SQLiteStateStore) -> None:
    graph_of(store).invoke({}, thread_id="t")
    moved = graph_of(store, stop("a"), asker("new"), stop("c"), migrate={"b": "new"})
    result = moved.invoke(resume=Resume(answers={"b:ok": "yes"}), thread_id="t")
    assert result.data["log"] == ["a", "new: 'yes'", "c"]


def test_a_redefined_graph_that_lacks_a_node_is_refused(store: SQLiteStateStore) -> None:
    graph_of(store).invoke({}, thread_id="t")
    lacking = graph_of(store, stop("a"), asker("new"), stop("c"))
    with pytest.raises(RedefinedGraphError):
        lacking.invoke(resume=Resume("yes"), thread_id="t")


def test_one_schema_with_other_names_is_read_with_them(store: SQLiteStateStore) -> None:
    graph = graph_of(store)
    graph.invoke({}, thread_id="t")
    handed_on = left(store)
    assert handed_on is not None
    assert handed_on.fits(graph.schema, graph.migration)
    renamed = graph_of(store, stop("a"), asker("new"), stop("c"), migrate={"b": "new"})
    assert not handed_on.fits(graph.schema, renamed.migration)
    assert not handed_on.fits(renamed.schema, graph.migration)


# The file is another one, or damaged.


def test_a_file_that_was_put_in_its_place_is_read(store: SQLiteStateStore, path: Path) -> None:
    graph = graph_of(store)
    graph.invoke({"count": 1}, thread_id="t")
    store.close()
    early = path.with_name("early.db")
    shutil.copy(path, early)
    with closing(SQLiteStateStore(path)) as later:
        graph.invoke(resume=Resume("later"), thread_id="t", state_store=later)
    early.replace(path)
    with closing(SQLiteStateStore(path)) as again:
        result = graph.invoke(resume=Resume("again"), thread_id="t", state_store=again)
        assert result.data["log"] == ["a", "b: 'again'", "c"]
        assert asyncio.run(again.verify()) == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE commits SET body = replace(body, 'main', 'mein') || ' '",
        "DELETE FROM commits WHERE place = (SELECT max(place) FROM commits)",
        "DELETE FROM commits WHERE place = (SELECT min(place) FROM commits)",
        "UPDATE branches SET step = step + 1",
        "UPDATE branches SET chain = zeroblob(16)",
    ],
)
def test_what_somebody_else_damaged_is_reported(
    store: SQLiteStateStore, path: Path, change: str
) -> None:
    graph = graph_of(store)
    graph.invoke({}, thread_id="t")
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute(change).rowcount
    connection.close()
    with pytest.raises(DamagedStoreError):
        graph.invoke(resume=Resume("yes"), thread_id="t")


def test_a_row_that_was_damaged_through_the_stores_own_connection_is_reported(
    store: SQLiteStateStore,
) -> None:
    graph = graph_of(store)
    graph.invoke({}, thread_id="t")
    store._file._cursor.execute("UPDATE branches SET step = step + 1")
    with pytest.raises(DamagedStoreError):
        graph.invoke(resume=Resume("yes"), thread_id="t")


class Undone(BaseException):
    """Ends a transaction from within."""


def test_a_commit_that_was_undone_leads_nowhere(
    store: SQLiteStateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = graph_of(store)
    note = store._left.note
    noted: list[Any] = []

    def undone(*given: Any) -> None:
        note(*given)
        noted.append(given)
        raise Undone

    with monkeypatch.context() as patch:
        patch.setattr(store._left, "note", undone)
        with pytest.raises(Undone):
            graph.invoke({}, thread_id="t")
    assert len(noted) == 1
    assert left(store) is None
    result = graph.invoke(thread_id="t")  # from where the file stands: before the question
    assert list(result.interrupts) == ["b:ok"]
    assert graph.invoke(resume=Resume("yes"), thread_id="t").data["log"] == ["a", "b: 'yes'", "c"]


def test_of_two_runs_at_once_one_goes_on(store: SQLiteStateStore) -> None:
    async def scenario() -> list[Any]:
        await graph.ainvoke({}, thread_id="t")
        calls = [graph.ainvoke(resume=Resume(str(at)), thread_id="t") for at in range(2)]
        return await asyncio.gather(*calls, return_exceptions=True)

    graph = graph_of(store)
    outcomes = asyncio.run(scenario())
    refused = [one for one in outcomes if isinstance(one, ConcurrentRunError | ResumeError)]
    assert len(refused) == 1
    assert asyncio.run(store.verify()) == []


def test_a_store_that_hands_nothing_on_is_a_store_all_the_same() -> None:
    assert not isinstance(InMemoryStateStore(), ReachedStore)
