"""A session: everything a person can do to a thread, without a widget."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from nbgraph import (
    END,
    START,
    Graph,
    GraphResult,
    InMemoryStateStore,
    NodeContext,
    node,
    open_session,
    when,
)
from nbgraph.core.loop import call_soon, run_sync
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    GraphConfigError,
    ResumeError,
    StateStoreError,
    StateUpdateError,
    UnknownThreadError,
)
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot
from tests.core.graphs import Trail, asker, chain, failing, fan, stop


def seen(session: Session) -> Any:
    """Return all there is to see of a thread but when it happened."""
    return session.status, session.state, session.next, dict(session.pending), session.history()


class Gate:
    """A node that stands still until it is let go."""

    def __init__(self, *, is_async: bool = True) -> None:
        self.begun, self._open = threading.Event(), threading.Event()
        self._here: asyncio.Event | None = None

        async def waits(state: Trail) -> dict[str, Any]:
            self._here = asyncio.Event()
            self.begun.set()
            if not self._open.is_set():
                await self._here.wait()
            return {"log": ["gate"]}

        def sync_waits(state: Trail) -> dict[str, Any]:
            self.begun.set()
            self._open.wait(60)
            return {"log": ["gate"]}

        self.node = node(name="gate")(waits if is_async else sync_waits)

    def open(self) -> None:
        """Let go of who waits."""
        self._open.set()
        call_soon(lambda: self._here.set() if self._here else None)


def test_a_new_thread_is_new_and_has_an_id() -> None:
    session = open_session(chain(stop("a"), name="desk"))
    assert (session.status, session.state, session.next) == ("new", {}, ())
    assert session.thread_id.startswith("desk-")
    assert session.branch_id == "main"
    assert session.marks == {"a": "idle"}
    assert session.error is None
    assert list(session.history()) == []


def test_a_graph_without_a_store_gets_one_in_memory_and_the_session_says_so() -> None:
    graph = Graph(Trail).flow(START >> asker("ask") >> END)
    session = open_session(graph)
    assert session.notice is not None
    assert "memory" in session.notice
    session.start().result()
    assert session.resume({"ask:ok": "yes"}).result().status == "completed"
    assert open_session(chain(stop("a"))).notice is None


def test_start_returns_a_run_whose_result_says_where_the_thread_stands() -> None:
    session = open_session(chain(stop("a"), stop("b")), thread_id="t")
    result = session.start({"count": 1}).result()
    assert isinstance(result, GraphResult)
    assert result.state == Trail(log=["a", "b"], count=1)
    assert (result.status, result.step, result.thread_id) == ("completed", 2, "t")
    assert result.checkpoint_id == session.history()[-1].id
    assert (session.status, session.state["log"]) == ("completed", ["a", "b"])


def test_a_run_can_be_awaited() -> None:
    session = open_session(chain(stop("a")))

    async def cell() -> GraphResult:
        return await session.start()

    assert asyncio.run(cell()).status == "completed"


def test_step_runs_one_superstep_at_a_time() -> None:
    session = open_session(chain(stop("a"), stop("b"), stop("c")))
    session.start().result()
    session.start().result()
    stepped = open_session(chain(stop("a"), stop("b"), interrupt_before=["a"]))
    stepped.start().result()
    logs = []
    while stepped.status == "interrupted":
        logs.append((stepped.next, stepped.step().result().step, stepped.state["log"]))
    assert logs == [(("a",), 1, ["a"]), (("b",), 1, ["a", "b"])]


def test_run_until_stops_when_a_task_of_the_node_is_next() -> None:
    a, b = stop("a"), stop("b")
    graph = Graph(Trail, interrupt_before=["a"], state_store=InMemoryStateStore()).flow(
        START >> a >> b, b >> when(lambda state: len(state.log) < 4, b)
    )
    session = open_session(graph)
    session.start().result()
    assert session.run_until("b").result().state.log == ["a"]
    assert session.run_until("b").result().state.log == ["a", "b"]


def test_a_predicate_is_asked_before_the_first_superstep_and_going_on_passes_the_point() -> None:
    asked: list[list[str]] = []

    def said(state: Trail) -> bool:
        asked.append(state.log)
        return True

    session = open_session(chain(stop("a"), stop("b")))
    logs = [session.start(break_when=said).result().state.log]
    assert (session.status, session.next) == ("interrupted", ("a",))
    while session.status == "interrupted":
        logs.append(session.proceed(break_when=said).result().state.log)
    assert (logs, asked) == ([[], ["a"], ["a", "b"]], [[], ["a"]])


def test_run_until_an_unknown_node_is_refused_by_name() -> None:
    session = open_session(chain(stop("a"), interrupt_before=["a"]))
    session.start().result()
    before = seen(session)
    with pytest.raises(ResumeError, match="no node 'x'; nodes are 'a'"):
        session.run_until("x")
    assert seen(session) == before


def test_a_question_is_pending_and_an_answer_goes_on() -> None:
    session = open_session(chain(asker("ask"), stop("b")))
    session.start().result()
    assert (session.status, list(session.pending)) == ("interrupted", ["ask:ok"])
    assert session.resume({"ask:ok": "yes"}, by="ada").result().state.log == ["ask: 'yes'", "b"]
    [record] = session.snapshot.records
    assert (record.answer, record.by, record.interrupt.key) == ("yes", "ada", "ask:ok")


def test_an_answer_that_does_not_fit_is_an_error_of_its_run_and_changes_nothing() -> None:
    session = open_session(chain(asker("ask", response_schema=bool)))
    session.start().result()
    before = seen(session)
    with pytest.raises(AnswerError) as caught:
        session.resume({"ask:ok": "perhaps"}).result()
    assert list(caught.value.problems) == [""]
    assert seen(session) == before


def test_of_two_sessions_that_answer_the_second_is_told_who_was_first() -> None:
    graph = chain(asker("ask"))
    one = open_session(graph, thread_id="t")
    one.start().result()
    two = open_session(graph, thread_id="t")
    one.resume({"ask:ok": "yes"}, by="ada").result()
    with pytest.raises(AlreadyAnsweredError, match="'ada' answered"):
        two.resume({"ask:ok": "no"}).result()
    assert seen(two) == seen(one)


def test_a_session_on_an_old_thread_shows_the_same_screen() -> None:
    graph = chain(stop("a"), asker("ask"), stop("b"))
    one = open_session(graph, thread_id="t")
    one.start().result()
    two = open_session(graph, thread_id="t")
    assert seen(two) == seen(one)
    assert two.marks == one.marks == {"a": "done", "ask": "waiting", "b": "idle"}
    assert two.snapshot.supersteps[0].tasks[0].mark == "done"
    two.resume({"ask:ok": "yes"}).result()
    one.reload()
    assert seen(one) == seen(two)


def test_a_failure_is_raised_by_the_run_and_shown() -> None:
    session = open_session(chain(failing("a", ValueError("no"))))
    with pytest.raises(ValueError, match="no"):
        session.start().result()
    assert (session.status, session.error, session.marks) == (
        "failed",
        "ValueError: no",
        {"a": "failed"},
    )
    assert session.proceed().result().status == "completed"
    assert session.error is None


ILLEGAL: list[tuple[str, Callable[[Session], Any], str]] = [
    ("new", lambda session: session.proceed(), "nothing to continue"),
    ("new", lambda session: session.step(), "nothing to continue"),
    ("new", lambda session: session.resume({}), "empty"),
    ("waiting", lambda session: session.start({}), "waits for 'ask:ok'"),
    ("waiting", lambda session: session.proceed(), "waits for 'ask:ok'"),
    ("waiting", lambda session: session.step(), "waits for 'ask:ok'"),
    ("waiting", lambda session: session.skip("ask"), "answer it instead"),
    ("waiting", lambda session: session.skip("x"), "'x' is not unfinished"),
    ("waiting", lambda session: session.breakpoints(before=["x"]), "no node 'x'"),
    ("waiting", lambda session: session.resume({"x:y": 1}).result(), "'x:y' is not pending"),
    ("done", lambda session: session.proceed(), "nothing to continue"),
    ("done", lambda session: session.resume({"ask:ok": 1}).result(), "asks nothing"),
]


@pytest.mark.parametrize(("stage", "call", "message"), ILLEGAL)
def test_what_the_snapshot_shows_to_be_illegal_is_refused_and_changes_nothing(
    stage: str, call: Callable[[Session], Any], message: str
) -> None:
    session = open_session(chain(asker("ask")))
    if stage != "new":
        session.start().result()
    if stage == "done":
        session.resume({"ask:ok": 1}).result()
    before = seen(session)
    with pytest.raises(ResumeError, match=message):
        call(session)
    assert seen(session) == before


def test_while_a_run_goes_on_nothing_else_is_begun() -> None:
    gate = Gate()
    session = open_session(chain(gate.node))
    run = session.start()
    assert gate.begun.wait(60)
    assert session.status == "running"
    calls: list[Callable[[], Any]] = [
        session.start,
        session.proceed,
        session.step,
        lambda: session.edit({"count": 1}),
        lambda: session.skip("gate"),
    ]
    for call in calls:
        with pytest.raises(ResumeError, match="is running"):
            call()
    gate.open()
    assert run.result().state == Trail(log=["gate"])


def test_an_answer_that_comes_while_the_run_that_asked_is_ending_is_taken_up() -> None:
    asked, go_on = threading.Event(), threading.Event()

    def watcher(snapshot: Snapshot) -> None:
        if snapshot.pending and not asked.is_set():
            asked.set()
            assert go_on.wait(60)

    session = open_session(chain(asker("ask"), stop("b")))
    session.watch(watcher)
    first = session.start()
    assert asked.wait(60)
    second = session.resume({"ask:ok": "yes"})
    assert not first.done
    go_on.set()
    assert first.result().status == "interrupted"
    assert second.result().state.log == ["ask: 'yes'", "b"]
    assert (session.status, session.snapshot.running) == ("completed", False)


@pytest.mark.parametrize("is_async", [True, False])
def test_stop_ends_the_run_now_and_its_tasks_can_be_continued(is_async: bool) -> None:
    gate = Gate(is_async=is_async)
    session = open_session(chain(stop("a"), gate.node))
    run = session.start()
    assert gate.begun.wait(60)
    session.stop()
    result = run.result(timeout=60)
    assert (result.status, session.status, session.next) == ("interrupted", "stopped", ("gate",))
    assert session.marks["gate"] == "idle"
    gate.open()
    assert session.proceed().result().state.log == ["a", "gate"]


def test_a_stop_right_after_the_start_is_not_lost() -> None:
    gate = Gate()
    session = open_session(chain(gate.node))
    run = session.start()
    session.stop()
    assert run.result(timeout=60).status == "interrupted"
    assert session.status == "stopped"


def test_cancelling_a_run_stops_it() -> None:
    gate = Gate()
    session = open_session(chain(gate.node))
    run = session.start()
    assert gate.begun.wait(60)
    run.cancel()
    run.result(timeout=60)
    assert (run.done, session.status) == (True, "stopped")


def test_pause_ends_the_run_when_its_superstep_is_finished() -> None:
    gate = Gate()
    session = open_session(chain(gate.node, stop("b")))
    run = session.start()
    assert gate.begun.wait(60)
    session.pause()
    run_sync(asyncio.sleep(0))  # after this the loop has it
    gate.open()
    run.result(timeout=60)
    assert (session.status, session.state["log"], session.next) == (
        "interrupted",
        ["gate"],
        ("b",),
    )


def test_stop_without_a_run_changes_nothing() -> None:
    session = open_session(chain(stop("a")))
    session.start().result()
    before = seen(session)
    session.stop()
    session.reload()
    assert seen(session) == before


def test_edit_changes_the_state_through_its_reducers() -> None:
    session = open_session(chain(stop("a"), stop("b"), interrupt_before=["b"]))
    session.start().result()
    session.edit({"log": ["edit"], "count": 2})
    assert session.proceed().result().state == Trail(log=["a", "edit", "b"], count=2)


def test_an_edit_that_does_not_fit_changes_nothing() -> None:
    session = open_session(chain(stop("a")))
    session.start().result()
    before = seen(session)
    with pytest.raises(StateUpdateError):
        session.edit({"count": "many"})
    assert seen(session) == before


def test_skip_counts_a_task_as_finished_with_a_value() -> None:
    session = open_session(chain(stop("a"), stop("b"), interrupt_before=["a"]))
    session.start().result()
    session.skip("a", {"log": ["skipped"]})
    assert session.proceed().result().state.log == ["skipped", "b"]
    assert session.marks["a"] == "skipped"


def test_skip_takes_a_failed_task() -> None:
    session = open_session(chain(failing("a", ValueError("no"), ValueError("no")), stop("b")))
    with pytest.raises(ValueError, match="no"):
        session.start().result()
    session.skip("a")
    assert session.proceed().result().state.log == ["b"]


def test_breakpoints_are_remembered_and_cleared() -> None:
    session = open_session(chain(stop("a"), stop("b")))
    session.breakpoints(before=["b"])
    assert session.status == "new"
    assert session.start().result().status == "interrupted"
    session.breakpoints(before=())
    assert session.start().result().data == {"log": ["a", "a", "b"], "count": 0}


def test_fork_opens_a_session_on_a_branch_of_its_own() -> None:
    session = open_session(chain(asker("ask")), thread_id="t")
    session.start().result()
    before = seen(session)
    other = session.fork(name="no")
    assert (other.thread_id, other.branch_id, list(other.pending)) == ("t", "no", ["ask:ok"])
    other.resume({"ask:ok": "no"}).result()
    assert seen(session) == before
    assert session.resume({"ask:ok": "yes"}).result().state.log == ["ask: 'yes'"]
    assert other.state["log"] == ["ask: 'no'"]


def test_a_fork_that_cannot_be_made_changes_nothing() -> None:
    session = open_session(chain(stop("a")))
    session.start().result()
    session.fork(name="x")
    before = seen(session)
    with pytest.raises(StateStoreError):
        session.fork(name="x")
    with pytest.raises(StateUpdateError):
        session.fork(at=99, name="y")
    assert seen(session) == before


def test_a_watcher_is_called_now_and_after_every_event_until_it_is_stopped() -> None:
    session = open_session(chain(stop("a"), stop("b")))
    snapshots: list[Snapshot] = []
    ended = threading.Event()

    def watcher(snapshot: Snapshot) -> None:
        snapshots.append(snapshot)
        if snapshot.status == "completed":
            ended.set()

    stop_watching = session.watch(watcher)
    session.start().result()
    assert ended.wait(60)
    stop_watching()
    stop_watching()
    statuses = [snapshot.status for snapshot in snapshots]
    assert (statuses[0], statuses[1], statuses[-1]) == ("new", "running", "completed")
    assert {"running", "done"} <= {snapshot.marks["a"] for snapshot in snapshots}
    sequences = [snapshot.position.sequence for snapshot in snapshots]
    assert sequences == sorted(sequences)
    count = len(snapshots)
    session.start().result()
    session.reload()
    assert len(snapshots) == count


def test_what_a_node_emits_is_a_line_of_the_log() -> None:
    @node
    def talks(state: Trail, ctx: NodeContext) -> None:
        ctx.emit("halfway")

    session = open_session(chain(talks))
    session.start().result()
    assert "halfway" in [line.text for line in session.snapshot.log]


def test_a_context_reaches_the_nodes_of_a_session() -> None:
    @node
    def reads(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        return {"log": [ctx.context]}

    assert open_session(chain(reads), context="ada").start().result().state.log == ["ada"]


def test_close_ends_the_run_and_waits_for_its_end() -> None:
    gate = Gate()
    session = open_session(chain(gate.node), thread_id="t")
    run = session.start()
    assert gate.begun.wait(60)
    session.close()
    assert run.done
    assert session.history()[-1].type == "run_stopped"


def test_close_can_be_called_twice_and_on_the_loop_thread() -> None:
    session = open_session(chain(stop("a")))
    session.start().result()
    closed = threading.Event()

    def close(snapshot: Snapshot) -> None:
        if threading.current_thread() is not threading.main_thread():
            session.close()
            closed.set()

    session.watch(close)
    session.start().result()
    assert closed.wait(60)
    session.close()


def test_finish_answers_by_key_and_in_order_and_by_call() -> None:
    a, b, c = asker("a"), asker("b"), asker("c")
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> a, a >> when(lambda state: len(state.log) < 2, a, otherwise=b), b >> c >> END
    )
    session = open_session(graph)
    session.start()
    result = session.finish({
        "a:ok": ["one", "two"],
        "b:ok": "three",
        "c:ok": lambda question: question.payload,
    })
    assert result.state.log == ["a: 'one'", "a: 'two'", "b: 'three'", "c: 'c?'"]


def test_finish_goes_past_breakpoints() -> None:
    session = open_session(chain(stop("a"), stop("b"), interrupt_before="*", interrupt_after="*"))
    session.start()
    assert session.finish().status == "completed"


def test_finish_names_the_key_that_nobody_is_there_to_answer() -> None:
    session = open_session(chain(asker("ask")))
    session.start()
    with pytest.raises(ResumeError, match="Nobody is here to answer 'ask:ok'"):
        session.finish({"other:ok": 1})
    assert list(session.pending) == ["ask:ok"]


def test_finish_says_when_a_list_of_answers_is_used_up() -> None:
    ask = asker("ask")
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> ask, ask >> when(lambda state: len(state.log) < 2, ask)
    )
    session = open_session(graph)
    session.start()
    with pytest.raises(ResumeError, match="asked 2 times and answers has 1"):
        session.finish({"ask:ok": ["one"]})


def test_an_app_that_is_no_graph_is_refused() -> None:
    with pytest.raises(GraphConfigError, match="no driver for dict"):
        open_session({})


def test_a_branch_that_is_not_there_cannot_be_opened() -> None:
    with pytest.raises(UnknownThreadError):
        open_session(chain(stop("a")), thread_id="t", branch_id="x")


def test_of_two_threads_that_start_a_session_exactly_one_begins() -> None:
    gate = Gate()
    session = open_session(chain(gate.node))
    together = threading.Barrier(2, timeout=60)
    outcomes: list[str] = []

    def begin() -> None:
        together.wait()
        try:
            session.start()
            outcomes.append("begun")
        except ResumeError:
            outcomes.append("refused")

    threads = [threading.Thread(target=begin) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gate.open()
    assert sorted(outcomes) == ["begun", "refused"]


def test_sessions_run_side_by_side_and_a_blocked_sync_node_blocks_nobody() -> None:
    gate = Gate(is_async=False)
    slow, quick = open_session(chain(gate.node)), open_session(fan(stop("a"), stop("b")))
    run = slow.start()
    assert gate.begun.wait(60)
    assert quick.start().result().state.log == ["a", "b"]
    assert not run.done
    gate.open()
    run.result()


def test_a_refused_answer_of_a_form_can_be_given_again() -> None:
    session = open_session(chain(asker("ask", response_schema=int)))
    session.start().result()
    with pytest.raises(AnswerError):
        session.resume({"ask:ok": "x"}).result()
    assert session.status == "interrupted"
    assert session.resume({"ask:ok": 3}).result().status == "completed"


def test_a_store_that_fails_is_an_error_of_the_run_and_the_session_goes_on() -> None:
    class Full(InMemoryStateStore):
        full = False

        async def append(self, *args: Any, **options: Any) -> int:
            if self.full:
                raise StateStoreError("no space is left")
            return await super().append(*args, **options)

    store = Full()
    session = open_session(chain(stop("a"), state_store=store))
    session.start().result()
    store.full = True
    before = seen(session)
    with pytest.raises(StateStoreError, match="no space"):
        session.start().result()
    assert seen(session) == before
    store.full = False
    assert session.start().result().status == "completed"
