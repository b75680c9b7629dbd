"""AgentFlow's threads in a SQLite file: found again by another process, where they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

from nbgraph import open_session
from nbgraph.adapters.log import forget
from nbgraph.core.loop import run_sync

from .graphs import HI, asks, row, says

pytest.importorskip("aiosqlite", reason="AgentFlow keeps threads in SQLite with aiosqlite")
from tenxgraph.storage.checkpointer import SqliteCheckpointer

OTHER = """
import os, sys
from tests.agentflow.test_sqlite import left
left(sys.argv[1])
os._exit(0)
"""


savers = []


@pytest.fixture(autouse=True)
def files_are_closed():
    yield
    while savers:
        run_sync(savers.pop().arelease())


def three(path):
    savers.append(SqliteCheckpointer(path))
    return row(
        first=says("first"),
        ask=asks({"article": "lamp"}, {"type": "integer"}),
        last=says("last"),
        checkpointer=savers[-1],
    )


def opened(app, branch_id="main"):
    return open_session(app, thread_id="t", branch_id=branch_id)


def left(path):
    """Leave a thread that asks on two branches, as a process does that is killed."""
    session = opened(three(path))
    session.start(HI).result()
    session.edit({"note": "äöü 日本"})
    session.fork(name="other", update={"note": "other"})


@pytest.fixture
def path(tmp_path):
    """A file in which another process has left the thread."""
    file = tmp_path / "threads.db"
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", OTHER, file], cwd=root, check=True, timeout=120)
    return file


def test_a_thread_that_another_process_left_is_found_on_both_branches_and_answered(path):
    app = three(path)
    main, other = opened(app), opened(app, "other")
    for session, note in ((main, "äöü 日本"), (other, "other")):
        question = session.pending["ask:0"]
        assert (session.status, session.next) == ("interrupted", ("ask",))
        assert (question.message, question.payload) == ("How many?", {"article": "lamp"})
        assert question.response_schema == {"type": "integer"}
        assert (session.state["log"], session.state["note"]) == (["first"], note)
    main.resume({"ask:0": 3}).result()
    other.resume({"ask:0": 30}).result()
    assert (main.status, main.state["log"]) == ("completed", ["first", "3", "last"])
    assert (other.status, other.state["log"]) == ("completed", ["first", "30", "last"])


def test_what_was_answered_here_is_found_after_another_restart(path):
    opened(three(path)).resume({"ask:0": 3}).result()
    again = opened(three(path))
    assert (again.status, again.pending) == ("completed", {})
    assert again.state["log"] == ["first", "3", "last"]
    again.start(HI).result()
    assert list(again.pending) == ["ask:0"]


def test_nine_pairs_of_graph_and_file_do_not_meet(tmp_path):
    apps = [three(tmp_path / f"{graph}-{number}.db") for graph in "abc" for number in range(3)]
    sessions = [opened(app) for app in apps]
    for run in [session.start(HI) for session in sessions]:
        run.result()
    for number, session in enumerate(sessions):
        session.resume({"ask:0": number}).result()
    for app in apps:
        forget(app)
    for number, app in enumerate(apps):
        assert opened(app).state["log"] == ["first", str(number), "last"]
