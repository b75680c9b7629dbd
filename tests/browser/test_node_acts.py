"""What is done with one node, and what the strip says of it, in a real front end."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import Open
from .test_circle import status
from .test_panel import node, opened, settled

pytestmark = pytest.mark.browser


def test_a_task_is_stepped_alone_and_a_question_is_asked_again_and_dismissed(open_notebook: Open):
    code = """
@node
def inquire(state: Order):
    return {"item": interrupt(id="it", message="What?", response_schema=str, default="none")}

@node(on_error=lambda state, error: {"log": ["stood in"]})
def risky(state: Order):
    raise ValueError("no reply")

first, last = says("first"), says("last")
ways = [START >> [inquire, risky, first], inquire >> last, risky >> last, first >> last >> END]
graph = Graph(Order, name="wide", state_store=InMemoryStateStore(), interrupt_before="*")
panel = Panel(graph.flow(*ways), "t", {})
"""
    notebook, panel = opened(open_notebook, code)
    expect(panel.locator(".nbgraph-strip .next")).to_contain_text("1, next")
    for name in ("first", "risky", "inquire"):
        node(panel, name).click()
        panel.locator("button.nbgraph-node-step").click()
        settled(notebook)
    expect(node(panel, "risky")).to_contain_text("error handled")
    expect(panel.locator(".nbgraph-strip .now")).to_contain_text("risky error handled")
    expect(panel.locator(".nbgraph-strip .ahead")).to_contain_text("2, next")
    expect(panel.locator(".nbgraph-strip button")).to_have_count(1)
    panel.locator("button.nbgraph-node-lapse-again").click()
    expect(panel.locator(".nbgraph-record")).to_contain_text("to be asked again")
    expect(status(panel)).to_contain_text("Waiting for you")
    panel.locator("button.nbgraph-node-lapse-dismiss").click()
    expect(status(panel)).to_contain_text("Paused before last")
    expect(panel.locator(".nbgraph-record").last).to_contain_text("its default counts")
    panel.locator("button.nbgraph-edit-state").click()
    form = panel.locator(".nbgraph-state-form")
    form.locator(".nbgraph-goto select").select_option("first")
    form.locator(".nbgraph-submit").click()
    expect(status(panel)).to_contain_text("Stopped")
    expect(panel.locator(".nbgraph-strip .next")).to_contain_text("first")
