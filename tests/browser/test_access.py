"""What a screen reader, a keyboard and weak eyes meet: names, tab stops, contrast, width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import Open
from .labtool import VIEWPORT
from .test_panel import SHOP, panel_of, status

pytestmark = pytest.mark.browser

FAULTS = (Path(__file__).parent / "faults.js").read_text("utf-8")


def test_every_part_of_a_panel_has_a_name_contrast_and_room(open_notebook: Open):
    asks = 'panel = Panel(line(says("a"), ask), "asks", {"item": "lamp"})'
    fails = 'failing = Panel(line(says("a"), risk), "fails", {})\nfailing'
    notebook = open_notebook([SHOP, f"{asks}\npanel", 'Panel(line(ask), "new")', fails])
    notebook.run_all()
    expect(status(panel_of(notebook, 3))).to_contain_text("Failed")
    panel_of(notebook, 2).locator(".nbgraph-form").wait_for()
    notebook.wait_idle()
    node = panel_of(notebook, 1).locator('g.node[data-node="a"]')
    node.click()
    expect(panel_of(notebook, 1).locator(".nbgraph-inspector")).to_be_visible()
    expect(notebook.page.get_by_role("region", name="Thread asks")).to_be_visible()
    expect(notebook.page.get_by_role("group", name="ask asks")).to_be_visible()
    found: dict[tuple[str, int], Any] = {}
    try:
        for theme in ("light", "dark"):
            notebook.set_theme(theme)
            for width in (1100, 700):
                notebook.page.set_viewport_size({**VIEWPORT, "width": width})
                expect(node).to_be_visible()
                found[theme, width] = notebook.page.evaluate(FAULTS)
    finally:
        notebook.page.set_viewport_size(VIEWPORT)
    assert {where: faults for where, faults in found.items() if faults} == {}


def test_the_strip_of_steps_is_one_stop_of_the_tab_key(open_notebook: Open):
    code = 'panel = Panel(line(*[says(f"n{i}") for i in range(6)]), "t", {})'
    notebook = open_notebook([SHOP, f"{code}\npanel"])
    notebook.run_all()
    panel = panel_of(notebook)
    steps = panel.locator(".nbgraph-strip button")
    expect(steps).to_have_count(6)
    expect(panel.locator(".nbgraph-strip button[tabindex='0']")).to_have_count(1)
    steps.first.focus()
    notebook.page.keyboard.press("ArrowLeft")
    expect(steps.nth(1)).to_be_focused()
    expect(panel.locator(".nbgraph-strip button[tabindex='0']")).to_have_count(1)
    notebook.page.keyboard.press("Tab")
    expect(panel.locator(".nbgraph-strip button:focus")).to_have_count(0)
