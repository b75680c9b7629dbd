"""Fork and compare in a real front end: two branches side by side, by mouse and by keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Open
from .labtool import Notebook
from .test_circle import DESK, answer, panel_of, status
from .test_keyboard import press, tab_to

pytestmark = pytest.mark.browser


def finished(open_notebook: Open, *cells: str, app: Any = "lab") -> tuple[Notebook, Locator]:
    """Return a notebook whose panel has finished, and the panel."""
    notebook = open_notebook(
        [DESK, 'panel = Panel(desk, "fork", {"amount": 5})\npanel', *cells], app
    )
    notebook.run(0)
    notebook.run(1)
    panel = panel_of(notebook, 1)
    answer(panel, approve=True, reason="broken")
    expect(status(panel)).to_contain_text("Finished")
    notebook.wait_idle()
    return notebook, panel


def rows(shown: Locator) -> Locator:
    return shown.locator(".nbgraph-diff.two > .widget-box")


def side(both: Locator, at: int) -> Locator:
    return both.locator(".nbgraph-two > .nbgraph-side").nth(at)


def node(shown: Locator, path: str) -> Locator:
    return shown.locator(f'g.node[data-node="{path}"]')


def words_of(table: Locator) -> list[str]:
    return [" ".join(each.split()) for each in rows(table).all_inner_texts()]


DIFFERING = ["~ /paid 5.0 0.0", '~ /letter "broken" "used"']


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_past_answer_is_given_differently_and_two_branches_stand_side_by_side(
    open_notebook: Open, app
):
    notebook, panel = finished(open_notebook, "compare(first, panel.session)", app=app)
    notebook.execute("first = panel.session")
    panel.get_by_role("button", name="Answer differently").click()
    expect(status(panel)).to_contain_text("Waiting for you")
    answer(panel, approve=False, reason="used")
    expect(status(panel)).to_contain_text("Finished")
    notebook.wait_idle()
    notebook.run(2)
    both = panel_of(notebook, 2)
    expect(both.locator(".nbgraph-comparing")).to_contain_text(
        "≠ differs. The same up to superstep 1."
    )
    for at, taken, left, said in ((0, "pay", "decline", "Yes"), (1, "decline", "pay", "No")):
        here = side(both, at)
        expect(status(here)).to_contain_text("Finished")
        expect(node(here, taken)).to_contain_class("nbgraph-is-done")
        expect(node(here, left)).to_contain_class("nbgraph-is-skipped")
        for path in ("confirm", "pay", "decline"):
            expect(node(here, path)).to_have_attribute("aria-label", re.compile("differs"))
        expect(node(here, "price")).not_to_have_attribute("aria-label", re.compile("differs"))
        expect(here.locator(".nbgraph-record .nbgraph-table")).to_contain_text("≠ Pay back")
        expect(here.locator(".nbgraph-record .nbgraph-table")).to_contain_text(said)
    only = both.get_by_role("button", name="Only what differs")
    expect(only).to_have_attribute("aria-pressed", "true")
    expect(rows(both)).to_have_count(3)
    assert words_of(both)[1:] == DIFFERING
    only.click()
    expect(only).to_have_attribute("aria-pressed", "false")
    expect(rows(both)).to_have_count(4)
    assert words_of(both)[1:] == ["= /amount 5.0 the same", *DIFFERING]
    only.click()
    expect(rows(both)).to_have_count(3)


def test_forked_answered_and_compared_with_the_keyboard_alone(open_notebook: Open):
    notebook, panel = finished(open_notebook, "compare(first, panel.session)")
    notebook.execute("first = panel.session")
    panel.locator("button.nbgraph-step").focus()
    tab_to(notebook, panel.locator("button.nbgraph-fork"))
    press(notebook, "Enter")
    expect(status(panel)).to_contain_text("Waiting for you")
    tab_to(notebook, panel.get_by_label("Yes", exact=True))
    press(notebook, "ArrowRight", "Tab")
    notebook.page.keyboard.type("used")
    press(notebook, "Control+Enter")
    expect(status(panel)).to_contain_text("Finished")
    notebook.wait_idle()
    notebook.execute("third = first.fork(at=1, name='empty', update={'amount': 9.0})")
    notebook.run(2)
    both = panel_of(notebook, 2)
    expect(rows(both)).to_have_count(3)
    both.locator(".nbgraph-with select").first.focus()
    tab_to(notebook, both.locator(".nbgraph-with select").last)
    press(notebook, "e")  # a list goes to what begins so
    expect(side(both, 1).locator(".nbgraph-head").first).to_contain_text("empty")
    expect(rows(both)).to_have_count(4)
    tab_to(notebook, both.locator(".nbgraph-limbs").get_by_role("button", name="main"))
    press(notebook, "Enter")
    expect(side(both, 1).locator(".nbgraph-head").first).to_contain_text("main")
    expect(both.locator(".nbgraph-comparing")).to_contain_text("The same")
    expect(rows(both)).to_have_count(1)
    tab_to(notebook, both.get_by_role("button", name="Only what differs"))
    press(notebook, "Space")
    expect(rows(both)).to_have_count(4)
    expect(both.get_by_role("button", name="Only what differs")).to_be_focused()
    expect(notebook.page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)
