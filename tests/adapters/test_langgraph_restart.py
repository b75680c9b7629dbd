"""What a LangGraph thread knows after a restart of its kernel, and what it keeps apart."""

import sqlite3

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import interrupt

from nbgraph import open_session
from nbgraph.adapters.log import forget
from nbgraph.core.events import AnswersGiven, StateEdited
from nbgraph.errors import GraphConfigError

from .graphs import agent, asks, row

HI = {"messages": [{"role": "user", "content": "go"}]}
CALLS = [("refund", {"order": "a", "amount": 10}), ("remove", {"path": "x"})]


@pytest.fixture(params=["memory", "file"])
def saver(request, tmp_path):
    if request.param == "memory":
        yield InMemorySaver()
        return
    connection = sqlite3.connect(tmp_path / "threads.db", check_same_thread=False)
    yield SqliteSaver(connection)
    connection.close()


def test_what_was_decided_of_a_batch_of_calls_is_kept_until_all_are(saver):
    ran = []
    app = agent(CALLS, {"refund": True, "remove": True}, ran=ran, checkpointer=saver)
    session = open_session(app, thread_id="t")
    session.start(HI).result()
    first, second = session.pending
    session.resume({first: {"action": "edit", "arguments": {"amount": 15}}}, by="ops").result()
    forget(app)
    again = open_session(app, thread_id="t")
    assert (again.status, list(again.pending)) == ("interrupted", [second])
    [given] = [event for event in again.history() if isinstance(event, AnswersGiven)]
    assert (list(given.answers), given.by) == ([first], "ops")
    again.resume({second: {"action": "deny", "message": "keep it"}}, by="desk").result()
    assert (again.status, ran) == ("completed", [("refund", {"order": "a", "amount": 15})])
    decided = [(row.tool_call_id, row.decision, row.executed, row.by) for row in again.decisions()]
    assert decided == [
        ("c0", "edit", {"order": "a", "amount": 15}, "ops"),
        ("c1", "deny", None, "desk"),
    ]


def test_a_second_question_keeps_its_key_and_the_first_its_answer(saver):
    def ask(state):
        return {"log": [interrupt("1?"), interrupt("2?")]}

    app = row(ask, checkpointer=saver)
    session = open_session(app, thread_id="t")
    session.start({}).result()
    session.resume({"ask:0": "a"}, by="ops").result()
    forget(app)
    again = open_session(app, thread_id="t")
    assert [(key, asked.message) for key, asked in again.pending.items()] == [("ask:1", "2?")]
    again.resume({"ask:1": "b"}, by="desk").result()
    assert again.state["log"] == ["a", "b"]
    forget(app)
    given = [
        (event.answers, event.by)
        for event in open_session(app, thread_id="t").history()
        if isinstance(event, AnswersGiven)
    ]
    assert given == [({"ask:0": "a"}, "ops"), ({"ask:1": "b"}, "desk")]


def test_a_branch_that_has_not_run_keeps_its_name_and_main_is_main(saver):
    app = row("plan", asks(), "act", checkpointer=saver)
    session = open_session(app, thread_id="t")
    session.start({}).result()
    session.fork(name="other", update={"note": "forked"})
    forget(app)
    main = open_session(app, thread_id="t")
    other = open_session(app, thread_id="t", branch_id="other")
    assert (main.state, other.state["note"]) == ({"log": ["plan"]}, "forked")
    assert list(main.pending) == list(other.pending) == ["ask:0"]


def test_an_edit_keeps_who_made_it_and_a_branch_its_breakpoints(saver, monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_USER", "ops")
    app = row("a", "b", "c", checkpointer=saver)
    session = open_session(app, thread_id="t")
    session.breakpoints(before=["b"])
    session.start({}).result()
    session.edit({"note": "edited"})
    session.breakpoints(after=["b"])
    forget(app)
    again = open_session(app, thread_id="t")
    position = again.snapshot.position
    assert (position.before, position.after, again.next) == (("b",), ("b",), ("b",))
    assert [event.by for event in again.history() if isinstance(event, StateEdited)][-1] == "ops"
    again.proceed().result()
    assert (again.next, again.snapshot.position.paused) == (("c",), "after")


# Three graphs and three checkpointers, one thread id.

GRAPHS = ("a", "b", "c")


def savers(tmp_path):
    tmp_path.mkdir(exist_ok=True)
    made = [InMemorySaver()]
    for number in range(2):
        connection = sqlite3.connect(tmp_path / f"{number}.db", check_same_thread=False)
        made.append(SqliteSaver(connection))
    return made


def test_nine_pairs_of_graph_and_checkpointer_do_not_meet(tmp_path):
    # Graphs with the same nodes: only what belongs to a thread can tell them apart.
    apps = {
        (name, number): row("plan", asks(f"{name}{number}?"), checkpointer=saver)
        for name in GRAPHS
        for number, saver in enumerate(savers(tmp_path / name))
    }
    assert len(apps) == 9
    sessions = {key: open_session(app, thread_id="t") for key, app in apps.items()}
    runs = [session.start({"note": f"{key}"}) for key, session in sessions.items()]
    for run in runs:
        run.result()
    forks = {key: session.fork(name="other") for key, session in sessions.items()}
    for (name, number), session in sessions.items():
        session.resume({"ask:0": f"{name}{number}"}, by=f"{name}{number}").result()
    for app in apps.values():
        forget(app)  # as after a restart: all is read from the checkpointers
    for key, app in apps.items():
        name, number = key
        own = f"{name}{number}"
        again = open_session(app, thread_id="t")
        assert again.state == {"log": ["plan", f"ask:{own}"], "note": f"{key}", "answer": own}
        given = [event for event in again.history() if isinstance(event, AnswersGiven)]
        assert [event.by for event in given] == [own]
        other = open_session(app, thread_id="t", branch_id="other")
        assert (other.state["note"], other.pending["ask:0"].message) == (f"{key}", f"{own}?")
        assert list(again.driver._log.branches) == ["main", "other"]
    for (name, number), other in forks.items():
        other.resume({"ask:0": f"other{name}{number}"}).result()
        assert other.state["answer"] == f"other{name}{number}"


def test_graphs_that_share_a_checkpointer_share_its_threads_or_refuse_them(tmp_path):
    for saver in savers(tmp_path):
        apps = [row(name, asks(name=f"ask_{name}"), checkpointer=saver) for name in GRAPHS]
        open_session(apps[0], thread_id="t").start({}).result()
        for app in apps[1:]:
            with pytest.raises(GraphConfigError, match="another graph"):
                open_session(app, thread_id="t")
        assert open_session(apps[1], thread_id="own").status == "new"


def test_a_checkpointer_that_two_copies_of_a_graph_share_has_one_thread(saver):
    first = row("plan", asks(), checkpointer=saver)
    open_session(first, thread_id="t").start({}).result()
    second = row("plan", asks(), checkpointer=saver)
    open_session(second, thread_id="t").resume({"ask:0": 1}).result()
    assert open_session(first, thread_id="t").status == "completed"
