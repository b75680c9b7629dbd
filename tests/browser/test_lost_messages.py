"""A server drops messages that come in a burst: what a page lacks it asks for again."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import Open
from .test_circle import panel_of

pytestmark = pytest.mark.browser

LOSES_A_DRAWING = """
from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Panel, node
from nbgraph.notebook.graph_view import GraphView

class Trail(BaseState):
    n: int = 0

def named(name):
    @node(name=name)
    def step(state: Trail) -> dict:
        return {}
    return step

path = START
for number in range(100):
    path = path >> named(f"n{number}")
graph = Graph(Trail, name="long", state_store=InMemoryStateStore()).flow(path >> END)

send_state, lost = GraphView.send_state, []

def loses(self, key=None):
    if key is not None and "svg" in key and not lost:
        lost.append(key)
    else:
        send_state(self, key)

GraphView.send_state = loses
"""


def test_a_drawing_that_was_lost_on_its_way_is_drawn(open_notebook: Open):
    notebook = open_notebook([LOSES_A_DRAWING, 'panel = Panel(graph, "t")\npanel', "len(lost)"])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    expect(panel.locator("g.node")).to_have_count(102)
    notebook.wait_idle()
    assert notebook.execute("print(len(lost))").strip() == "1"
