"""The line magic `%nbgraph`, in a shell without a front end."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from nbgraph import (
    END,
    START,
    BaseState,
    Drawing,
    Graph,
    Inbox,
    Panel,
    SQLiteStateStore,
    interrupt,
    node,
    open_session,
)


class Desk(BaseState):
    by: str | None = None


@node
def confirm(state: Desk) -> dict:
    return {"by": interrupt(id="who", message="Who\u202e?", response_schema=str)}


@pytest.fixture
def shell(tmp_path, monkeypatch) -> Iterator[Any]:
    monkeypatch.chdir(tmp_path)
    graph = Graph(Desk, name="desk", state_store=SQLiteStateStore("desk.db")).flow(
        START >> confirm >> END
    )
    session = open_session(graph, "t-1")
    session.start({}).result()
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # a shell puts its own
    made = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    made.user_ns |= {"graph": graph, "session": session, "number": 3}
    made.run_line_magic("load_ext", "nbgraph")
    yield made
    atexit.unregister(made.atexit_operations)
    made.atexit_operations()


def said(shell: Any, line: str) -> str:
    with capture_output() as captured:
        assert shell.run_line_magic("nbgraph", line) is None
    return "".join(captured.stdout.splitlines()) + "".join(
        output.data["text/plain"] for output in captured.outputs
    )


def test_draw_and_panel_give_what_their_functions_give(shell):
    assert isinstance(shell.run_line_magic("nbgraph", "draw graph"), Drawing)
    panel = shell.run_line_magic("nbgraph", "panel graph t-1")
    assert isinstance(panel, Panel)
    assert list(panel.forms) == ["confirm:who"]


@pytest.mark.parametrize("store", ["graph", "session", "graph.state_store", "desk.db"])
def test_threads_and_inbox_take_a_store_a_graph_or_a_file(shell, store):
    assert said(shell, f"threads {store}").split()[:3] == ["t-1", "desk", "interrupted"]
    asked = said(shell, f"inbox {store}")
    assert "confirm:who" in asked
    assert "\u202e" not in asked


@pytest.mark.parametrize(
    ("store", "goes_on"), [("graph", True), ("session", True), ("desk.db", False)]
)
def test_in_a_notebook_the_inbox_is_shown_and_a_graph_that_is_named_goes_on(
    shell, monkeypatch, store, goes_on
):
    monkeypatch.setattr("nbgraph.notebook.magics.in_kernel", lambda: True)
    inbox = shell.run_line_magic("nbgraph", f"inbox {store}")
    assert isinstance(inbox, Inbox)
    assert [each.record.thread_id for each in inbox.questions] == ["t-1"]
    form = inbox.look_at(inbox.questions[0])
    form.value = "ops"
    assert form.submit()
    inbox.settle()
    status = "completed" if goes_on else "stopped"
    assert said(shell, "threads graph").split()[2] == status
    inbox.close()
    monkeypatch.setenv("NBGRAPH_UNATTENDED", "1")
    assert said(shell, f"inbox {store}") == "nothing waits"


def test_an_empty_store_says_so(shell):
    shell.user_ns["empty"] = SQLiteStateStore("empty.db")
    assert (said(shell, "threads empty"), said(shell, "inbox empty")) == (
        "no threads",
        "nothing waits",
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "%nbgraph draw GRAPH"),
        ("paint graph", "'paint graph' is not a command"),
        ("draw", "'draw' needs a name"),
        ("draw nothing", "There is no 'nothing' here"),
        ("threads number", "'number' is no store"),
        (
            "threads missing.db",
            "There is no file 'missing.db', and no store or graph of that name",
        ),
        ("draw 'graph", "no closing quotation"),
    ],
)
def test_a_line_that_makes_no_sense_is_refused_with_what_does(shell, line, why):
    with pytest.raises(UsageError, match=why):
        shell.run_line_magic("nbgraph", line)
