"""The contract on SQLite, and what a file adds to it: it lasts, it can be busy, it has a size."""

from __future__ import annotations

import ast
import asyncio
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbgraph.stores
from nbgraph import START, Graph, node, when
from nbgraph.core.events import SuperstepFinished, TaskFinished, TaskSpec
from nbgraph.core.store import BranchSummary, Claim, StateStore
from nbgraph.errors import (
    ClaimLostError,
    ConcurrentRunError,
    StateStoreError,
    StoreBusyError,
    UnknownThreadError,
)
from nbgraph.stores import InMemoryStateStore, SQLiteStateStore
from nbgraph.testing._store_log import append, fork_at, notes, question, refused, seen, summary
from nbgraph.testing.stores import DraftConformance, StoreConformance


class TestSQLiteStateStore(StoreConformance, DraftConformance):
    def make_store(self, folder: Path) -> StateStore:
        return SQLiteStateStore(folder / "threads.db")


class TestSQLiteStateStoreInAHurry(StoreConformance, DraftConformance):
    def make_store(self, folder: Path) -> StateStore:
        return SQLiteStateStore(folder / "threads.db", durability="fast", busy_timeout=5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


@contextmanager
def held(path: Path) -> Iterator[Callable[[], None]]:
    """Hold the file as another process would that writes; the value lets go."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection.rollback
    finally:
        connection.close()


def transactions(path: Path) -> int:
    """Count the transactions in the write-ahead log: each ends with a frame that says so."""
    log = path.with_name(path.name + "-wal").read_bytes()
    frames = range(32, len(log), 24 + 4096)
    return sum(log[frame + 4 : frame + 8] != bytes(4) for frame in frames)


def superstep(after: int) -> list[TaskFinished | SuperstepFinished]:
    message = {"id": "m", "role": "assistant", "content": "x" * 200}
    update = {"messages": [message]}
    return [
        TaskFinished(sequence=after + 1, task_id="1:agent", node="agent", update=update),
        SuperstepFinished(sequence=after + 2, next=(TaskSpec(task_id="2:agent", node="agent"),)),
    ]


async def fill(store: StateStore, commits: int) -> None:
    for after in range(0, 2 * commits, 2):
        await append(store, superstep(after))


def closed_size(path: Path, work: Callable[[StateStore], object]) -> int:
    store = SQLiteStateStore(path, durability="fast")
    asyncio.run(work(store))
    store.close()
    return path.stat().st_size


# What a file keeps.


def test_a_store_opened_again_shows_the_same(path: Path) -> None:
    store = SQLiteStateStore(path)
    asyncio.run(append(store, notes(3), question("t:0", asked=3)))
    events = notes(2, after=2, branch_id="b")
    asyncio.run(store.fork(fork_at(2, "b"), events, summary=summary(1, question("x", asked=3))))
    before = asyncio.run(seen(store))
    store.close()
    again = SQLiteStateStore(path)
    assert asyncio.run(seen(again)) == before
    again.close()


steps = st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(0, 3), st.floats(0, 1))


@settings(max_examples=60)
@given(st.lists(steps, max_size=15))
def test_any_history_reads_as_it_does_in_memory(history: list[tuple[int, int, int, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "threads.db"
        store, memory = SQLiteStateStore(path, durability="fast"), InMemoryStateStore()
        asyncio.run(_played(store, history))
        asyncio.run(_played(memory, history))
        store.close()
        again = SQLiteStateStore(path)
        assert asyncio.run(seen(again)) == asyncio.run(seen(memory))
        again.close()


async def _played(store: StateStore, history: list[tuple[int, int, int, float]]) -> None:
    heads = {"main": 0}
    for number, (where, events, questions, at) in enumerate(history):
        branch_id = list(heads)[where % len(heads)]
        pending = [
            question(f"t:{key}", asked=heads[branch_id], created_at=number + key / 10)
            for key in range(questions)
        ]
        if where == 5 and heads[branch_id]:
            parent, branch_id = branch_id, f"b{number}"
            head = 1 + round(at * (heads[parent] - 1))
            added = notes(events, after=head, branch_id=branch_id)
            record = fork_at(head, branch_id, parent=parent)
            await store.fork(record, added, summary=summary(number, *pending))
        else:
            head = heads[branch_id]
            added = notes(events, after=head, branch_id=branch_id)
            await append(store, added, *pending, branch_id=branch_id)
        heads[branch_id] = head + events


# Who waits for whom.


def test_two_stores_on_one_file_decide_like_one(path: Path) -> None:
    async def scenario() -> None:
        one, two = SQLiteStateStore(path), SQLiteStateStore(path)
        await append(one, notes(1))
        await append(two, notes(1, after=1))
        error = await refused(append(one, notes(1, after=1)), ConcurrentRunError)
        assert (error.expected, error.actual) == (1, 2)
        assert list(await one.events("t")) == notes(2)
        await two.delete("t")
        await append(one, notes(1, text="again"))
        assert list(await two.events("t")) == notes(1, text="again")
        await one.aclose()
        await two.aclose()

    asyncio.run(scenario())


def test_a_file_that_stays_busy_is_an_error_and_keeps_nothing(path: Path) -> None:
    async def scenario() -> None:
        store = SQLiteStateStore(path, busy_timeout=0.01)
        await append(store, notes(1))
        fork = store.fork(fork_at(1, "b"), notes(1, after=1, branch_id="b"), summary=summary())
        before = await seen(store)
        with held(path):
            error = await refused(append(store, notes(1, after=1)), StoreBusyError)
            assert (error.path, error.waited) == (str(path), 0.01)
            await refused(fork, StoreBusyError)
            await refused(store.delete("t"), StoreBusyError)
            assert await seen(store) == before
        assert await seen(store) == before
        await append(store, notes(1, after=1))
        await store.aclose()

    asyncio.run(scenario())


def test_a_busy_file_is_waited_for_while_the_event_loop_goes_on(path: Path) -> None:
    async def scenario() -> None:
        store = SQLiteStateStore(path)
        await append(store, notes(1), thread_id="old")
        with held(path) as let_go:
            first = asyncio.create_task(append(store, notes(1), thread_id="0"))
            for _ in range(100):
                await asyncio.sleep(0)
            later = [
                asyncio.create_task(append(store, notes(1), thread_id=str(number)))
                for number in range(1, 10)
            ]
            assert list(await store.events("old")) == notes(1)
            assert not first.done()
            let_go()
            await asyncio.gather(first, *later)
        assert len(await store.threads()) == 11
        await store.aclose()

    asyncio.run(scenario())


def test_a_cancelled_append_that_was_not_written_never_is(path: Path) -> None:
    async def scenario() -> None:
        store = SQLiteStateStore(path)
        task = asyncio.create_task(append(store, notes(1), thread_id="cancelled"))
        other = asyncio.create_task(append(store, notes(1)))
        await asyncio.sleep(0)
        task.cancel()
        await other
        assert [one.thread_id for one in await store.threads()] == ["t"]
        await store.aclose()

    asyncio.run(scenario())


def test_a_commit_that_the_file_refuses_does_not_hold_up_the_others(path: Path) -> None:
    async def scenario() -> None:
        store = SQLiteStateStore(path)
        store._file._cursor.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 10_000)
        big = append(store, notes(1, text="x" * 10_000), thread_id="big")
        small = [append(store, notes(1), thread_id=str(number)) for number in range(3)]
        outcomes = await asyncio.gather(*small, big, return_exceptions=True)
        assert [type(one) for one in outcomes] == [type(None)] * 3 + [StateStoreError]
        assert {one.thread_id for one in await store.threads()} == {"0", "1", "2"}
        await store.aclose()

    asyncio.run(scenario())


# What it costs.


def test_an_append_is_one_transaction(path: Path) -> None:
    store = SQLiteStateStore(path)
    before = transactions(path)
    asyncio.run(fill(store, 50))
    assert transactions(path) == before + 50
    store.close()


def test_what_one_turn_of_the_loop_appends_is_one_transaction(path: Path) -> None:
    async def scenario() -> None:
        for after in range(3):
            calls = [append(store, notes(1, after=after), thread_id=str(n)) for n in range(100)]
            await asyncio.gather(*calls)

    store = SQLiteStateStore(path)
    before = transactions(path)
    asyncio.run(scenario())
    assert transactions(path) == before + 3
    store.close()


@contextmanager
def statements(store: SQLiteStateStore) -> Iterator[list[str]]:
    """Note the first word of each statement the store runs."""
    connection = store._file._cursor.connection
    found: list[str] = []
    connection.set_trace_callback(lambda text: found.append(text.split()[0]))
    yield found
    connection.set_trace_callback(None)


def test_who_goes_on_with_a_branch_does_not_read_it_first(path: Path) -> None:
    async def scenario() -> list[str]:
        await append(store, superstep(0))
        with statements(store) as found:
            await append(store, superstep(2))
        return found

    store = SQLiteStateStore(path)
    assert asyncio.run(scenario()) == ["BEGIN", "UPDATE", "INSERT", "COMMIT"]
    assert asyncio.run(store.verify()) == []
    store.close()


def test_who_takes_a_thread_up_reads_its_branch_once(path: Path) -> None:
    async def scenario() -> list[str]:
        await append(store, superstep(0))
        other = SQLiteStateStore(path)
        with statements(other) as found:
            await other.recall("t")
            await other.append(
                "t", "main", superstep(2), expected=2, summary=summary(), claim=Claim("me")
            )
        await other.aclose()
        return found

    store = SQLiteStateStore(path)
    reads, writes = ["BEGIN", *["SELECT"] * 2, "COMMIT"], ["BEGIN", "UPDATE", "INSERT", "COMMIT"]
    assert asyncio.run(scenario()) == reads + writes
    assert asyncio.run(store.verify()) == []
    store.close()


def test_a_thread_is_begun_with_one_row_each(path: Path) -> None:
    async def scenario() -> list[str]:
        with statements(store) as found:
            await append(store, notes(1))
        return found

    store = SQLiteStateStore(path)
    assert asyncio.run(scenario()) == ["BEGIN", "SELECT", "INSERT", "INSERT", "COMMIT"]
    store.close()


def test_of_two_questions_the_one_that_is_answered_goes(path: Path) -> None:
    async def scenario() -> list[str]:
        both = question("t:0", asked=2), question("t:1", asked=2)
        await append(store, notes(1))
        await append(store, notes(1, after=1), *both)
        with statements(store) as answering:
            await append(store, notes(1, after=2), both[1])
        return answering

    store = SQLiteStateStore(path)
    answered = ["BEGIN", "SELECT", "UPDATE", "INSERT", "DELETE", "DELETE", "COMMIT"]
    assert asyncio.run(scenario()) == answered
    assert [one.interrupt.key for one in asyncio.run(store.pending())] == ["t:1"]
    assert asyncio.run(store.verify()) == []
    store.close()


def test_a_question_and_its_answer_are_one_transaction_each(path: Path) -> None:
    async def scenario() -> list[list[str]]:
        await append(store, notes(1))
        with statements(store) as asking:
            await append(store, notes(1, after=1), question("t:0", asked=2))
        with statements(store) as answering:
            await append(store, notes(1, after=2))
        return [asking, answering]

    store = SQLiteStateStore(path)
    asked = ["BEGIN", "UPDATE", "INSERT", "INSERT", "COMMIT"]
    answered = ["BEGIN", "UPDATE", "INSERT", "DELETE", "DELETE", "COMMIT"]
    assert asyncio.run(scenario()) == [asked, answered]
    assert asyncio.run(store.pending()) == []
    store.close()


@node
async def _count(state: dict[str, int]) -> dict[str, int]:
    return {"count": state["count"] + 1}


_COUNTING = Graph(dict, name="counting").flow(
    START >> _count, _count >> when(lambda state: state["count"] < 20, _count)
)


def test_a_superstep_of_one_task_is_one_transaction(path: Path) -> None:
    store = SQLiteStateStore(path)
    before = transactions(path)
    graph = _COUNTING.ainvoke({"count": 0}, thread_id="t", state_store=store)
    assert asyncio.run(graph).step == 20
    assert transactions(path) - before == 1 + 20  # what began the run, and each superstep
    store.close()


def test_a_hundred_threads_at_once_share_their_transactions(path: Path) -> None:
    async def scenario() -> None:
        calls = [
            _COUNTING.ainvoke({"count": 0}, thread_id=str(number), state_store=store)
            for number in range(100)
        ]
        await asyncio.gather(*calls)

    store = SQLiteStateStore(path)
    before = transactions(path)
    asyncio.run(scenario())
    assert transactions(path) - before <= 0.2 * 100 * 20
    assert asyncio.run(store.verify()) == []
    store.close()


def test_a_hundred_threads_that_go_on_at_once_share_their_transactions(path: Path) -> None:
    async def turn() -> None:
        calls = [
            _COUNTING.ainvoke({"count": 18}, thread_id=str(number), state_store=store)
            for number in range(100)
        ]
        await asyncio.gather(*calls)

    store = SQLiteStateStore(path)
    asyncio.run(turn())
    before = transactions(path)
    asyncio.run(turn())  # each thread's branch is read, and then written to
    assert transactions(path) - before <= 0.2 * 100 * 3
    store.close()


def test_a_branch_that_somebody_else_wrote_to_is_read_again(path: Path) -> None:
    async def scenario() -> None:
        await append(store, superstep(0))
        await append(other, superstep(2))
        with pytest.raises(ConcurrentRunError):
            await append(store, superstep(2))
        await append(store, superstep(4))
        assert [event.sequence for event in await other.events("t")] == [1, 2, 3, 4, 5, 6]

    store, other = SQLiteStateStore(path), SQLiteStateStore(path)
    asyncio.run(scenario())
    assert asyncio.run(store.verify()) == []
    store.close()
    other.close()


def test_a_thread_that_was_made_anew_is_not_taken_for_the_one_that_was_known(path: Path) -> None:
    async def scenario() -> None:
        await append(store, superstep(0))
        await other.delete("t")
        with pytest.raises(UnknownThreadError):
            await append(store, superstep(2))
        await append(store, superstep(0))
        await other.delete("t")
        await append(other, notes(2, after=0))
        await append(store, superstep(2))
        kinds = [event.type for event in await other.events("t")]
        assert kinds[2:] == ["task_finished", "superstep_finished"]

    store, other = SQLiteStateStore(path), SQLiteStateStore(path)
    asyncio.run(scenario())
    assert asyncio.run(store.verify()) == []
    store.close()
    other.close()


def test_a_take_over_is_noticed_by_who_knew_the_branch(path: Path) -> None:
    async def scenario() -> None:
        claim = Claim("mine", await claimed(0, Claim("mine")))
        await claimed(2, claim)
        await other.claim("t", owner="theirs")
        with pytest.raises(ClaimLostError):
            await claimed(4, claim)
        assert len(await other.events("t")) == 4

    def claimed(after: int, claim: Claim) -> Awaitable[int]:
        events, described = superstep(after), summary(after)
        return store.append("t", "main", events, expected=after, summary=described, claim=claim)

    store, other = SQLiteStateStore(path), SQLiteStateStore(path)
    asyncio.run(scenario())
    store.close()
    other.close()


def test_a_long_log_stays_small_and_grows_evenly(path: Path) -> None:
    size = closed_size(path, lambda store: fill(store, 2000))
    assert size <= 1_600_000
    longer = closed_size(path.with_name("longer.db"), lambda store: fill(store, 4000))
    assert longer <= 2.05 * size


def test_a_fork_costs_its_own_rows_only(path: Path) -> None:
    size = closed_size(path, lambda store: fill(store, 1000))
    events = notes(1, after=1000, branch_id="b")
    described = BranchSummary("graph", "interrupted", 1, (question("x", asked=1001),))
    forked = closed_size(
        path, lambda store: store.fork(fork_at(1000, "b"), events, summary=described)
    )
    assert forked <= size + 8192
    connection = sqlite3.connect(path)
    tables = ("branches", "commits", "questions")
    counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables]
    connection.close()
    assert counts == [2, 1001, 1]


def test_every_statement_is_constant_text() -> None:
    folder = Path(nbgraph.stores.__file__).parent
    built = [
        f"{file.name}:{call.lineno}"
        for file in folder.glob("*.py")
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in {"execute", "executemany", "executescript"}
        and not isinstance(call.args[0], (ast.Name, ast.Constant, ast.Subscript))
    ]
    assert built == []
