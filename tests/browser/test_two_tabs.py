"""One waiting thread seen twice: in two tabs of a notebook, and by two kernels on one store."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Open
from .labtool import Notebook
from .test_circle import DESK, answer, panel_of, status

pytestmark = pytest.mark.browser

BY_SOMEBODY = re.compile(r"answered by .+ at \d\d:\d\d:\d\d")
STEPPED = 'panel = Panel(desk, "twice")\npanel.session.breakpoints(before=["price"])\npanel'


def node(panel: Locator, path: str) -> Locator:
    return panel.locator(f'g.node[data-node="{path}"]')


def in_two_tabs(open_notebook: Open, panel: str, app: Any = "lab") -> tuple[Notebook, ...]:
    """Return a notebook, whose second cell has a panel, in two tabs."""
    first = open_notebook([DESK, panel], app)
    first.run_all()
    panel_of(first, 1).locator(".nbgraph-form").wait_for()
    first.wait_idle()
    first.save()
    second = open_notebook(first.name, app)
    panel_of(second, 1).locator(".nbgraph-form").wait_for()
    return first, second


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_draft_of_one_tab_is_in_the_other_which_answers_and_both_read_who_did(
    open_notebook: Open, app
):
    panel = 'panel = Panel(desk, "twice", {"amount": 5})\npanel'
    first, second = in_two_tabs(open_notebook, panel, app)
    here, there = panel_of(first, 1), panel_of(second, 1)
    here.get_by_label("Yes", exact=True).check()
    here.get_by_label("Reason").fill("broken in two")
    here.get_by_label("Reason").press("Tab")
    expect(there.get_by_label("Yes", exact=True)).to_be_checked()
    expect(there.get_by_label("Reason")).to_have_value("broken in two")
    there.locator(".nbgraph-submit").click()
    for shown in (here, there):
        expect(status(shown)).to_contain_text("Finished")
        expect(shown.locator(".nbgraph-form")).to_have_count(0)
        record = shown.locator(".nbgraph-record")
        expect(record).to_have_count(1)
        expect(record).to_contain_text(BY_SOMEBODY)
        expect(record).to_contain_text("broken in two")
        expect(record.locator("input, textarea, select")).to_have_count(0)
    counted = "print(runs, sum(e.type == 'answers_given' for e in panel.session.history()))"
    assert first.execute(counted) == "[True] 1\n"


def test_two_tabs_follow_a_step_of_each_other(open_notebook: Open):
    first, second = in_two_tabs(open_notebook, STEPPED)
    here, there = panel_of(first, 1), panel_of(second, 1)
    here.locator(".nbgraph-form .nbgraph-submit").click()
    for shown in (here, there):
        expect(status(shown)).to_contain_text("Paused before price")
    there.locator("button.nbgraph-step").click()
    for shown in (here, there):
        expect(status(shown)).to_contain_text("Paused before confirm")
        expect(node(shown, "price")).to_contain_class("nbgraph-is-done")
    here.locator("button.nbgraph-step").click()
    for shown in (here, there):
        expect(status(shown)).to_contain_text("Waiting for you")
        expect(node(shown, "confirm")).to_contain_class("nbgraph-is-waiting")
    assert first.execute("print(panel.session.snapshot.position.step)") == "1\n"


def test_a_question_that_another_kernel_answers_turns_into_its_record_and_a_step_is_followed(
    open_notebook: Open,
):
    first = open_notebook([DESK, STEPPED])
    first.run_all()
    here = panel_of(first, 1)
    here.locator(".nbgraph-form .nbgraph-submit").click()
    expect(status(here)).to_contain_text("Paused before price")
    second = open_notebook([DESK, 'panel = Panel(desk, "twice")\npanel'])
    second.run_all()
    there = panel_of(second, 1)
    expect(status(there)).to_contain_text("Paused before price")
    there.locator("button.nbgraph-continue").click()
    for shown in (here, there):
        expect(status(shown)).to_contain_text("Waiting for you")
        expect(node(shown, "price")).to_contain_class("nbgraph-is-done")
    here.get_by_label("Reason").fill("mine, half")
    here.get_by_label("Reason").press("Tab")
    answer(there, approve=False, reason="used")
    for shown in (here, there):
        expect(status(shown)).to_contain_text("Finished")
        expect(shown.locator(".nbgraph-form")).to_have_count(0)
        expect(shown.locator(".nbgraph-record")).to_contain_text(BY_SOMEBODY)
        expect(shown.locator(".nbgraph-record")).to_contain_text("used")
        expect(node(shown, "decline")).to_contain_class("nbgraph-is-done")
    why = here.locator(".nbgraph-why").first
    expect(why).to_contain_text("Yours was not sent.")
    for notebook, ran in ((first, "[]\n"), (second, "[False]\n")):
        assert notebook.execute("print(runs)") == ran
