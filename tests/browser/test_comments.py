"""A comment beside an answer, on the page: found and written by keyboard, read by everybody."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import Open
from .test_circle import DESK, panel_of, status
from .test_keyboard import press, tab_to
from .test_tool_card import ONE, THREE, opened
from .test_tool_card import status as card_status

pytestmark = pytest.mark.browser


def test_a_comment_is_added_to_an_answer_with_the_keyboard_alone(open_notebook: Open):
    notebook = open_notebook([DESK, 'panel = Panel(desk, "said", {"amount": 5})\npanel'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    panel.locator(".nbgraph-form").wait_for()
    notebook.wait_idle()
    panel.get_by_label("Yes", exact=True).focus()
    press(notebook, "Space", "Tab")
    notebook.page.keyboard.type("broken")
    tab_to(notebook, panel.get_by_role("button", name="Add a comment"))
    press(notebook, "Enter")
    field = panel.get_by_label("Comment", exact=True)
    expect(field).to_be_focused()
    notebook.page.keyboard.type("As agreed <b>on the phone</b>.")
    press(notebook, "Control+Enter")
    expect(status(panel)).to_contain_text("Finished")
    expect(panel.locator(".nbgraph-record")).to_contain_text("As agreed <b>on the phone</b>.")
    expect(panel.locator(".nbgraph-log")).to_contain_text("“As agreed <b>on the phone</b>.”")
    expect(panel.locator(".nbgraph-record b")).to_have_count(0)
    expect(notebook.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)


def test_a_call_is_approved_with_a_comment_and_several_have_one_for_all(open_notebook: Open):
    _, panel = opened(open_notebook, f"{ONE}, {THREE}")
    panel.get_by_role("button", name="Add a comment").click()
    comment = panel.get_by_label("Comment", exact=True)
    expect(comment).to_be_focused()
    comment.fill("Seen the photo.")
    panel.locator(".nbgraph-approve").click()
    expect(panel.locator(".nbgraph-record")).to_contain_text("Comment: Seen the photo.")
    expect(panel.locator(".nbgraph-segments button")).to_have_count(3)
    adds = panel.get_by_role("button", name="Add a comment")
    expect(adds).to_have_count(1)
    adds.click()
    comment.fill("None of these.")
    for number in range(3):
        panel.locator(".nbgraph-segments button").nth(number).click()
        panel.locator(f".nbgraph-key-act-approve-c-{number + 2} .nbgraph-deny").click()
        expect(panel.locator(".nbgraph-segments button").nth(number)).to_contain_text("denied")
    expect(comment).to_have_value("None of these.")
    panel.locator(".nbgraph-foot .nbgraph-submit").click()
    expect(card_status(panel)).to_contain_text("Finished")
    expect(panel.locator(".nbgraph-record", has_text="None of these.")).to_have_count(3)
