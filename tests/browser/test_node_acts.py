"""What is done with one node, and what the strip says of it, in a real front end."""

from __future__ import annotations

import re

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


def test_how_each_result_came_about_stands_in_the_strip_the_timeline_and_the_node(
    open_notebook: Open,
):
    code = """
from nbgraph import NodeCache, Retry, Timeline
tries = []

@node(cache=NodeCache())
def look(state: Order):
    return {"log": ["look"]}

@node(retry=Retry(attempts=3))
def shaky(state: Order):
    tries.append(1)
    if len(tries) % 3:
        raise TimeoutError("no reply")
    return {"log": ["shaky"]}

@node(on_error=lambda state, error: {"log": ["stood in"]})
def risky(state: Order):
    raise ValueError("no price")

graph = line(look, shaky, risky)
graph.invoke({}, thread_id="before")
panel = Panel(graph, "t", {})
"""
    _, panel = opened(open_notebook, code)
    expect(status(panel)).to_contain_text("Finished")
    strip = panel.locator(".nbgraph-strip")
    for path, how in (("look", "cached"), ("shaky", "3 tries"), ("risky", "error handled")):
        expect(node(panel, path)).to_have_attribute("aria-label", re.compile(how))
        if "tries" not in how:  # a row of the timeline has them
            expect(strip).to_contain_text(how)
    inspector = panel.locator(".nbgraph-inspector")
    said = {
        "risky": "ValueError: no price",
        "shaky": "Its first 2 tries failed, the next one went well.",
        "look": "It has not failed.",
    }
    for path, text in said.items():
        node(panel, path).click()
        inspector.get_by_text("Error", exact=True).click()
        expect(inspector.locator(".nbgraph-node-body")).to_contain_text(text)
