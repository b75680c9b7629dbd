"""Graphs in a real kernel: what a notebook cell can do without a front end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

GRAPH = """
from nbgraph import (
    END, START, BaseState, Graph, InMemoryStateStore, Panel, Resume, interrupt, node, play
)

class Refund(BaseState):
    amount: float = 0.0
    approved: bool = False

@node
def review(state: Refund) -> dict:
    print("review runs")
    return {"approved": interrupt(message="Approve?", id="approve", response_schema=bool)}

graph = Graph(Refund, name="refunds", state_store=InMemoryStateStore()).flow(
    START >> review >> END
)
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Any]:
    """Run cells in a new kernel and return the outputs of the last one."""

    def run_cells(*cells: str) -> list[Any]:
        notebook = new_notebook(cells=[new_code_cell(source) for source in (GRAPH, *cells)])
        NotebookClient(
            notebook,
            kernel_name="python3",
            resources={"metadata": {"path": str(tmp_path)}},
            timeout=60,
        ).execute()
        nbformat.validate(notebook)
        return notebook.cells[-1].outputs

    return run_cells


def printed(outputs: list[Any]) -> str:
    return "".join(each.text for each in outputs if each.output_type == "stream")


def test_invoke_and_ainvoke_work_in_a_cell(run):
    outputs = run(
        "paused = graph.invoke({'amount': 80}, thread_id='a')",
        "done = await graph.ainvoke(None, thread_id='a', resume=Resume(True))\n"
        "again = await graph.ainvoke({'amount': 8}, thread_id='b')\n"
        "print(paused.status, done.status, done.state.approved, again.status)",
    )
    assert printed(outputs) == "review runs\nreview runs\ninterrupted completed True interrupted\n"


def test_stream_and_astream_work_in_a_cell(run):
    outputs = run(
        "def kind(event): return getattr(event, 'type', type(event).__name__)\n"
        "first = [kind(each) for each in graph.stream({'amount': 80}, thread_id='a')]\n"
        "resumed = graph.astream(None, thread_id='a', resume=Resume(True))\n"
        "second = [kind(each) async for each in resumed]",
        "print(first[-2:], second[-1])",
    )
    assert printed(outputs) == "['task_interrupted', 'run_paused'] run_finished\n"


def test_an_approval_resumes_a_node_that_keeps_one_async_client(run):
    outputs = run(
        """
import asyncio

class Client:
    \"\"\"A connection that belongs to the loop it was opened on, as async clients do.\"\"\"
    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.waiting = asyncio.Queue()

    async def ask(self, text):
        assert asyncio.get_running_loop() is self.loop, "another loop"
        self.loop.call_soon(self.waiting.put_nowait, text.upper())
        return await self.waiting.get()

clients = []

@node
async def review(state: Refund) -> dict:
    if not clients:
        clients.append(Client())
    word = await clients[0].ask("price")
    approved = interrupt(word, id="approve", response_schema=bool)
    return {"approved": approved and await clients[0].ask("paid") == "PAID"}

graph = Graph(Refund, state_store=InMemoryStateStore()).flow(START >> review >> END)
graph.invoke({"amount": 80}, thread_id="a")
""",
        "done = graph.invoke(None, thread_id='a', resume=Resume(True))\n"
        "print(done.state.approved, len(clients))",
    )
    assert printed(outputs) == "True 1\n"


def test_prints_of_a_node_stay_in_the_cell_that_runs_it(run):
    outputs = run("graph.invoke({'amount': 1}, thread_id='a')\nprint('after')")
    assert printed(outputs) == "review runs\nafter\n"


def test_a_graph_shows_a_picture_and_text_in_a_cell(run):
    (output,) = run("graph")
    assert output.data["image/svg+xml"].lstrip().startswith("<svg")
    assert output.data["text/plain"].startswith("Graph refunds")


def test_unattended_play_answers_from_answers_and_leaves_one_static_picture(run):
    outputs = run(
        "result = await play(graph, {'amount': 80}, thread_id='a',"
        " answers={'review:approve': True})\nprint(result.state.approved)"
    )
    shown = [each for each in outputs if each.output_type == "display_data"]
    assert printed(outputs).endswith("True\n")
    assert [sorted(each.data) for each in shown] == [["text/html", "text/plain"]]
    assert (
        '<img alt="refunds: completed" src="data:image/svg+xml;base64,'
        in shown[0].data["text/html"]
    )
    assert shown[0].data["text/plain"] == (
        "refunds, thread a, branch main: completed, 1 superstep\n"
        "  1  review  done\n"
        "       asked review:approve: Approve?\n"
        "       answered true"
    )


def test_unattended_play_without_an_answer_names_the_key(run):
    with pytest.raises(CellExecutionError, match=r"Nobody is here to answer 'review:approve'"):
        run("await play(graph, {'amount': 80}, thread_id='a')")


def test_an_unattended_panel_runs_to_the_end_before_its_cell_does(run):
    (output,) = [
        each
        for each in run("Panel(graph, 'a', {'amount': 80}, answers={'review:approve': False})")
        if each.output_type == "execute_result"
    ]
    assert "application/vnd.jupyter.widget-view+json" not in output.data
    assert "answered false" in output.data["text/plain"]


def test_answers_are_not_used_where_a_person_can_answer(run):
    outputs = run(
        "get_ipython().kernel._allow_stdin = True\n"
        "panel = Panel(graph, 'a', {'amount': 80}, answers={'review:approve': True})\n"
        "print(panel.session.settle().status)",
    )
    assert printed(outputs).endswith("interrupted\n")


OLD_KERNEL = (
    "import sys, nbgraph.notebook.play\n"
    "sys.modules['nbgraph.notebook.play']._hears_clicks = lambda: False\n"
)


NO_WIDGETS = (
    "import sys, nbgraph.notebook.play\n"
    "sys.modules['nbgraph.notebook.play']._PATIENCE = 0.1\n"  # else the test would wait for it
)


@pytest.mark.parametrize("why", [OLD_KERNEL, NO_WIDGETS], ids=["old kernel", "no widgets"])
@pytest.mark.parametrize("waits", ["await play(graph, {})", "play(graph, {}).result()"])
def test_where_no_click_can_come_a_waiting_cell_asks_by_input(tmp_path, waits, why):
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    try:
        client.execute_interactive(GRAPH, timeout=60, allow_stdin=False)
        asked, said = [], []

        def answer(message):
            asked.append(message["content"]["prompt"])
            client.input("yes")

        def keep(message):
            if message["msg_type"] == "stream":
                said.append(message["content"]["text"])

        reply = client.execute_interactive(
            f"{why}result = {waits}\nprint(result.status, result.state.approved)",
            timeout=60,
            allow_stdin=True,
            stdin_hook=answer,
            output_hook=keep,
        )
        assert reply["content"]["status"] == "ok"
        assert asked == ["yes or no: "]
        assert "Approve?" in "".join(said)
        assert "".join(said).endswith("completed True\n")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
