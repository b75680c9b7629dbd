"""The panel without a mouse: from the start form to a fork, and every key that is promised."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Open
from .labtool import Notebook
from .test_circle import DESK, panel_of, status

pytestmark = pytest.mark.browser

NODES = "g.node[data-node='{}']"


def focused(notebook: Notebook) -> str:
    return notebook.page.evaluate(
        "(document.activeElement.title || document.activeElement.textContent ||"
        " document.activeElement.closest('.nbgraph-field')?.textContent || '').trim()"
    )


def press(notebook: Notebook, *keys: str) -> None:
    for key in keys:
        notebook.page.keyboard.press(key)


def stops(notebook: Notebook, count: int) -> list[str]:
    """Return what Tab comes to, from where the focus is."""
    found = [focused(notebook)]
    for _ in range(count - 1):
        press(notebook, "Tab")
        found.append(focused(notebook))
    return found


def tab_to(notebook: Notebook, place: Locator) -> None:
    for _ in range(40):
        press(notebook, "Tab")
        if place.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError("not reached in 40 stops")


def test_from_the_start_form_to_a_fork_with_the_keyboard_alone(open_notebook: Open):
    notebook = open_notebook([DESK, 'panel = Panel(desk, "keys")\npanel'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    panel.locator(".nbgraph-form").wait_for()
    notebook.wait_idle()
    panel.locator("button.nbgraph-step").focus()
    tab_to(notebook, panel.get_by_label("Amount"))
    notebook.page.keyboard.type("12")
    press(notebook, "Control+Enter")
    expect(status(panel)).to_contain_text("Waiting for you")
    expect(panel.locator(".nbgraph-main")).to_be_focused()  # the form had it, and is gone
    tab_to(notebook, panel.get_by_label("Yes", exact=True))
    press(notebook, "Space", "Tab")
    notebook.page.keyboard.type("fine")
    press(notebook, "Control+Enter")
    expect(status(panel)).to_contain_text("Finished")
    expect(panel.locator(".nbgraph-main")).to_be_focused()
    tab_to(notebook, panel.get_by_role("button", name="Answer differently"))
    press(notebook, "Enter")
    expect(status(panel)).to_contain_text("Waiting for you")
    expect(panel.locator(".nbgraph-main")).to_be_focused()
    tab_to(notebook, panel.get_by_label("Yes", exact=True))
    press(notebook, "ArrowRight", "Tab")
    notebook.page.keyboard.type("used")
    press(notebook, "Control+Enter")
    expect(status(panel)).to_contain_text("Finished")
    tab_to(notebook, panel.locator(".nbgraph-limbs").get_by_role("button", name="main"))
    press(notebook, "Enter")
    expect(panel.locator(".nbgraph-result")).to_contain_text('"letter": "fine"')
    expect(notebook.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)


def test_each_key_of_the_map_does_what_it_says(open_notebook: Open):
    notebook = open_notebook([DESK, 'panel = Panel(desk, "map", {"amount": 5})\npanel'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    panel.locator(".nbgraph-form").wait_for()
    notebook.wait_idle()
    tab_goes_through_toolbar_graph_question_timeline_and_log(notebook, panel)
    a_held_button_is_described(panel)
    keys_of_the_graph(notebook, panel)
    keys_of_a_form(notebook, panel)
    keys_of_the_timeline(notebook, panel)
    expect(notebook.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)


def tab_goes_through_toolbar_graph_question_timeline_and_log(notebook: Notebook, panel: Locator):
    panel.locator("button.nbgraph-step").focus()
    order = stops(notebook, 20)
    expect(panel.locator(".nbgraph-log")).to_be_focused()
    assert [order[at] for at in (0, 8, 9, 11, 13, 16)] == [
        "Step waits for your answer",
        next(name for name in order if name.startswith("price")),
        "Pay back *YesNo",
        "Submit answer",
        "Add a comment",
        "Look at this superstep",
    ]


def a_held_button_is_described(panel: Locator):
    step = panel.locator("button.nbgraph-step")
    told = step.get_attribute("aria-describedby")
    expect(panel.locator(f"#{told}")).to_have_text("Step waits for your answer")
    expect(panel.locator("button.nbgraph-fork")).not_to_have_attribute("aria-describedby", "")


def keys_of_the_graph(notebook: Notebook, panel: Locator):
    panel.locator(NODES.format("price")).focus()
    press(notebook, "ArrowDown")
    confirm = panel.locator(NODES.format("confirm"))
    expect(confirm).to_be_focused()
    press(notebook, "b")
    expect(confirm).to_have_attribute("aria-label", re.compile("breakpoint before"))
    press(notebook, "b", "Enter")
    expect(panel.locator(".nbgraph-inspector")).to_contain_text("confirm")
    svg = panel.locator("svg.nbgraph-svg")
    whole = svg.get_attribute("viewBox") or ""
    press(notebook, "+")
    expect(svg).not_to_have_attribute("viewBox", whole)
    press(notebook, "-", "0")
    expect(svg).to_have_attribute("viewBox", whole)
    press(notebook, "/")
    notebook.page.keyboard.type("decl")
    expect(panel.locator(".nbgraph-found")).to_have_count(1)
    press(notebook, "Enter")
    expect(panel.locator(NODES.format("decline"))).to_be_focused()


def keys_of_a_form(notebook: Notebook, panel: Locator):
    reason = panel.get_by_label("Reason")
    reason.fill("fine")
    press(notebook, "Escape")
    expect(panel.locator(".nbgraph-form")).to_be_focused()
    panel.get_by_label("Yes", exact=True).focus()
    press(notebook, "Space")
    reason.focus()
    press(notebook, "Enter")
    expect(panel.locator(".nbgraph-form .nbgraph-submit")).to_be_focused()
    reason.focus()
    press(notebook, "Control+Enter")
    expect(status(panel)).to_contain_text("Finished")


def keys_of_the_timeline(notebook: Notebook, panel: Locator):
    boxes = panel.locator(".nbgraph-strip button")
    expect(boxes).to_have_count(3)
    boxes.first.focus()  # the newest
    press(notebook, "ArrowLeft")
    past = panel.locator(".nbgraph-past")
    expect(past).to_contain_text("State: after 1 → after 2")
    press(notebook, "Home")
    expect(past).to_contain_text("State: start → after 1")
    expect(boxes.last).to_be_focused()
    press(notebook, "End")
    expect(past).to_contain_text("State: after 2 → after 3")
    press(notebook, "Escape")
    expect(past).not_to_contain_text("State:")
