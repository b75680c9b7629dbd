"""Answers are recorded without the thread's graph, and whoever has it goes on."""

from __future__ import annotations

import asyncio
import threading

import pytest

from nbgraph import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    Resume,
    SQLiteStateStore,
    interrupt,
    node,
    open_session,
)
from nbgraph.core.fold import fold
from nbgraph.core.recording import record_answers
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    ResumeError,
    StaleAnswerError,
    UnknownThreadError,
)


def graph_of(store, *nodes):
    return Graph(dict, name="desk", state_store=store).flow(
        START >> list(nodes), *(each >> END for each in nodes)
    )


@node
def left(state):
    return {"left": interrupt(id="ok", response_schema=bool)}


@node
def right(state):
    return {"right": interrupt(id="ok", response_schema=bool)}


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    if request.param == "memory":
        yield InMemoryStateStore()
    else:
        made = SQLiteStateStore(tmp_path / "t.db")
        yield made
        made.close()


def record(store, answers, asked=None, **options):
    request = Resume(answers=answers, partial=True, asked=asked or {}, by="Front Desk")
    branch = options.pop("branch_id", "main")
    return asyncio.run(
        record_answers(store, "t", branch, request, graph="desk", now=0.0, **options)
    )


def kept(store):
    return [event.type for event in asyncio.run(store.events("t"))]


def test_a_recorded_answer_is_listed_no_more_and_the_run_goes_on_when_somebody_runs_it(store):
    graph = graph_of(store, left)
    graph.invoke({}, thread_id="t")
    position = record(store, {"left:ok": True})
    (thread,) = asyncio.run(store.threads())
    assert (position.status, thread.status, asyncio.run(store.pending())) == (
        "stopped",
        "stopped",
        [],
    )
    session = open_session(graph, "t")
    assert [(record.answer, record.by) for record in session.snapshot.records] == [
        (True, "Front Desk")
    ]
    done = graph.invoke(None, thread_id="t")
    assert (done.status, done.data) == ("completed", {"left": True})


def test_what_still_waits_stays_pending_and_nobody_is_taken_for_running_it(store):
    graph = graph_of(store, left, right)
    graph.invoke({}, thread_id="t")
    record(store, {"left:ok": True})
    assert [each.interrupt.key for each in asyncio.run(store.pending())] == ["right:ok"]
    record(store, {"right:ok": False})
    assert graph.invoke(None, thread_id="t").data == {"left": True, "right": False}


def test_several_questions_of_one_task_leave_the_pause_that_a_run_leaves(store):
    @node
    def both(state):
        first = interrupt(id="a", response_schema=int)
        return {"sum": first + interrupt(id="b", response_schema=int)}

    graph = graph_of(store, both)
    graph.invoke({}, thread_id="t")
    record(store, {"both:a": 1})
    assert graph.invoke(None, thread_id="t").interrupts.keys() == {"both:b"}
    record(store, {"both:b": 2})
    assert graph.invoke(None, thread_id="t").data == {"sum": 3}


@pytest.mark.parametrize(
    ("answers", "asked", "error"),
    [
        ({"left:ok": "perhaps"}, {}, AnswerError),
        ({"left:ok": True}, {"left:ok": 99}, StaleAnswerError),
        ({"other:ok": True}, {}, ResumeError),
    ],
)
def test_a_refused_answer_records_nothing(store, answers, asked, error):
    graph_of(store, left).invoke({}, thread_id="t")
    before = kept(store)
    with pytest.raises(error):
        record(store, answers, asked)
    assert kept(store) == before


def test_the_second_answer_is_told_who_was_first(store):
    graph_of(store, left).invoke({}, thread_id="t")
    (row,) = asyncio.run(store.pending())
    asked = {"left:ok": row.interrupt.asked}
    record(store, {"left:ok": True}, asked)
    before = kept(store)
    with pytest.raises(AlreadyAnsweredError, match="'Front Desk' answered 'left:ok' first"):
        record(store, {"left:ok": False}, asked)
    assert kept(store) == before


def test_of_many_that_answer_at_once_one_is_recorded(store):
    graph_of(store, left).invoke({}, thread_id="t")
    (row,) = asyncio.run(store.pending())
    asked = {"left:ok": row.interrupt.asked}

    async def all_at_once():
        request = Resume(answers={"left:ok": True}, partial=True, asked=asked)
        tries = [
            record_answers(store, "t", "main", request, graph="desk", now=0.0) for _ in range(8)
        ]
        return await asyncio.gather(*tries, return_exceptions=True)

    found = asyncio.run(all_at_once())
    assert sum(isinstance(each, AlreadyAnsweredError) for each in found) == 7
    assert kept(store).count("answers_given") == 1


def test_a_thread_that_may_be_running_is_taken_over_only_on_purpose(store):
    begun, go = threading.Event(), threading.Event()

    @node
    def slow(state):
        begun.set()
        go.wait(60)
        return {"slow": True}

    session = open_session(graph_of(store, left, slow), "t")
    asked = threading.Event()
    session.watch(lambda snapshot: asked.set() if snapshot.pending else None)
    run = session.start({})
    assert begun.wait(60)
    assert asked.wait(60)
    before = kept(store)
    with pytest.raises(ResumeError, match="Other tasks of thread 't' may be running"):
        record(store, {"left:ok": True})
    assert kept(store) == before
    go.set()
    run.result()
    record(store, {"left:ok": True})
    assert session.driver.graph.invoke(None, thread_id="t").data == {"slow": True, "left": True}


def test_a_run_whose_process_died_can_be_taken_over(store):
    graph = graph_of(store, left, right)
    graph.invoke({}, thread_id="t")
    events = asyncio.run(store.events("t"))
    other = InMemoryStateStore()
    cut = [event for event in events if event.type != "run_paused"]
    summary = fold(cut, graph.schema).summary("desk")
    asyncio.run(other.append("t", "main", cut, expected=0, summary=summary))
    with pytest.raises(ResumeError):
        record(other, {"left:ok": True})
    record(other, {"left:ok": True}, take_over=True)
    assert [each.interrupt.key for each in asyncio.run(other.pending())] == ["right:ok"]


def test_a_branch_is_answered_alone(store):
    graph = graph_of(store, left)
    graph.invoke({}, thread_id="t")
    name = graph.sync.fork("t", name="other").id
    record(store, {"left:ok": False}, branch_id=name)
    assert [each.branch_id for each in asyncio.run(store.pending())] == ["main"]
    assert graph.invoke(None, thread_id="t", branch_id=name).data == {"left": False}


def test_a_thread_that_is_gone_says_so(store):
    with pytest.raises(UnknownThreadError):
        record(store, {"left:ok": True})
