"""The timeline in a real front end: by keyboard through the steps, and a fork from one of them."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import Open
from .test_circle import DESK, panel_of, status

pytestmark = pytest.mark.browser

FINISHED = """
session = open_session(desk, "line")
session.start({"amount": 5}).result()
answers = {"confirm:decision": {"approve": True, "reason": "broken"}}
session.resume(answers, by="ops").result()
"""
SETUP = f"{DESK}\nfrom nbgraph import Timeline, open_session\n{FINISHED}"


def test_arrow_keys_move_through_the_steps_and_the_drawing_and_the_state_follow(
    open_notebook: Open,
):
    notebook = open_notebook([SETUP, "timeline = Timeline(session)\ntimeline"])
    notebook.run_all()
    shown = panel_of(notebook, 1)
    expect(shown.locator(".nbgraph-slider")).to_contain_text("after 3 of 3")
    handle = shown.locator(".nbgraph-slider .noUi-handle")
    handle.focus()
    notebook.page.keyboard.press("ArrowLeft")
    expect(shown.locator(".nbgraph-slider")).to_contain_text("after 2 of 3")
    notebook.page.keyboard.press("ArrowLeft")
    expect(shown.locator(".nbgraph-slider")).to_contain_text("after 1 of 3")
    expect(shown.locator("g.node.nbgraph-is-done", has_text="confirm")).to_have_count(0)
    expect(shown.locator("g.node.nbgraph-is-done", has_text="price")).to_have_count(1)
    expect(shown.locator(".nbgraph-past")).to_contain_text("State: start → after 1")
    notebook.page.keyboard.press("End")
    expect(shown.locator(".nbgraph-slider")).to_contain_text("after 3 of 3")
    notebook.page.keyboard.press("Home")
    expect(shown.locator(".nbgraph-slider")).to_contain_text("start of 3")
    assert notebook.execute("print(timeline.step, len(session.history()))").startswith("0 ")
    assert notebook.page.locator(".jp-Cell").count() == 2


def test_a_fork_from_a_step_of_a_panel_edits_the_state_in_a_form(open_notebook: Open):
    notebook = open_notebook([SETUP, 'panel = Panel(desk, "line")\npanel'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    panel.locator(".nbgraph-strip button").last.click()
    expect(panel.locator(".nbgraph-past")).to_contain_text("State: start → after 1")
    expect(panel.locator("g.node.nbgraph-is-done", has_text="confirm")).to_have_count(0)
    panel.locator(".nbgraph-fork-here").click()
    form = panel.locator(".nbgraph-forking")
    form.get_by_label("Amount").fill("7")
    form.locator(".nbgraph-submit").click()
    expect(status(panel)).to_contain_text("Stopped")
    out = notebook.execute(
        "now = panel.session\n"
        "print(now.branch_id != 'main', now.state['amount'], now.next, session.state['amount'])"
    )
    assert out == "True 7.0 ('confirm',) 5.0\n"
