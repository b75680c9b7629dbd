"""The buttons of a panel that no other flow presses: of a node, a failure, a past step, the log."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Open
from .test_panel import SHOP, node, opened, panel_of, settled, status

pytestmark = pytest.mark.browser


def test_each_button_of_a_node_does_what_it_says(open_notebook: Open):
    code = 'panel = Panel(line(says("a"), says("b"), ask, interrupt_before=["a"]), "t", {})'
    notebook, panel = opened(open_notebook, code)
    inspector = panel.locator(".nbgraph-inspector")
    node(panel, "b").click()
    for side in ("before", "after"):
        inspector.get_by_role("button", name=f"Pause {side}").click()
        expect(node(panel, "b")).to_have_attribute("aria-label", re.compile(f"{side}"))
        inspector.get_by_role("button", name=f"Pause {side}").click()
        expect(inspector.get_by_role("button", name=f"○ Pause {side}")).to_be_visible()
    inspector.get_by_role("button", name="Run until here").click()
    expect(status(panel)).to_contain_text("Paused before b")
    panel.locator("button.nbgraph-continue").click()
    expect(status(panel)).to_contain_text("Waiting for you")
    node(panel, "ask").click()
    inspector.get_by_role("button", name="Answer", exact=True).click()
    notebook.wait_until("document.activeElement.closest('.nbgraph-key-ask-which') !== null")
    node(panel, "b").click()
    inspector.get_by_role("button", name="Retry from here").click()
    expect(panel.locator(".nbgraph-limbs button")).to_have_count(2)
    expect(status(panel)).to_contain_text("Waiting for you")
    ran = "print(panel.session.branch_id != 'main', panel.session.state['log'])"
    assert notebook.execute(ran) == "True ['a', 'b']\n"


def test_a_failure_is_retried_as_it_is_tried_in_a_fork_or_left_alone(open_notebook: Open):
    notebook, panel = opened(open_notebook, 'panel = Panel(line(risk), "t", {})')
    card = panel.locator(".nbgraph-failure")
    fails_again(panel, "Retry risk")
    assert settled_failed(notebook)
    fails_again(panel, "Try it in a fork instead")
    expect(panel.locator(".nbgraph-limbs button")).to_have_count(2)
    assert settled_failed(notebook)
    assert notebook.execute("print(panel.session.branch_id != 'main')") == "True\n"
    card.get_by_role("button", name="Stop the run").click()
    expect(card.get_by_role("button", name="Stop the run")).to_have_count(0)
    card.get_by_role("button", name="Choose again").click()
    expect(card.get_by_role("button", name="Retry risk", exact=True)).to_be_visible()


def fails_again(panel: Locator, name: str) -> None:
    """Press a button of a failure, and wait for the card of the next one."""
    card = panel.locator(".nbgraph-failure")
    card.evaluate("(card) => { card.dataset.seen = ''; }")
    card.get_by_role("button", name=name, exact=True).click()
    newer = panel.locator(".nbgraph-failure:not([data-seen])")
    expect(newer).to_contain_text("risk failed: no reply in 0.5 s")


def settled_failed(notebook) -> bool:
    code = "from contextlib import suppress\nwith suppress(Exception):\n    panel.session.settle()"
    notebook.execute(code)
    return notebook.execute("print(panel.session.status)") == "failed\n"


def test_a_past_step_is_gone_through_by_its_arrows_and_left_and_the_log_is_cleared(
    open_notebook: Open,
):
    code = 'panel = Panel(line(says("a"), says("b")), "t", {})'
    notebook, panel = opened(open_notebook, code)
    assert settled(notebook).startswith("completed")
    panel.locator(".nbgraph-strip button").first.click()
    past = panel.locator(".nbgraph-past")
    expect(past).to_contain_text("State: after 1 → after 2")
    past.get_by_role("button", name="Step back").click()
    expect(past).to_contain_text("State: start → after 1")
    expect(node(panel, "b")).not_to_contain_class("nbgraph-is-done")
    past.get_by_role("button", name="Step on").click()
    expect(past).to_contain_text("State: after 1 → after 2")
    past.get_by_role("button", name="Fork here").click()
    past.get_by_role("button", name="Cancel").click()
    expect(past.locator(".nbgraph-state-form")).to_have_count(0)
    past.get_by_role("button", name="Back to now").click()
    expect(past).not_to_contain_text("State:")
    log = panel.locator(".nbgraph-logs")
    expect(log).to_contain_text("a prints")
    log.get_by_role("radiogroup", name="Log").get_by_text("b", exact=True).click()
    expect(log.locator(".nbgraph-log")).not_to_contain_text("a prints")
    expect(log.locator(".nbgraph-log")).to_contain_text("b prints")
    log.get_by_role("button", name="Clear").click()
    expect(log.locator(".nbgraph-log")).not_to_contain_text("b prints")


def test_an_id_an_answer_and_a_test_are_copied_and_a_state_is_seen_before_and_after(
    open_notebook: Open,
):
    code = 'panel = Panel(line(says("a"), ask), "order-17", {})\npanel'
    alone = "from nbgraph import Timeline\nTimeline(panel.session)"
    notebook = open_notebook([SHOP, code, alone])
    notebook.run(0)
    notebook.run(1)
    panel = panel_of(notebook)
    panel.locator(".nbgraph-graph h3").wait_for()
    notebook.page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', "
        "{value: {writeText: (text) => { window.copied = text; }}})"
    )
    panel.get_by_role("button", name="Copy the thread's id").click()
    notebook.wait_until("window.copied === 'order-17'")
    form = panel.locator(".nbgraph-key-ask-which")
    form.get_by_role("textbox").first.fill("the lamp")
    form.get_by_role("button", name="Copy as code").click()
    expect(form.locator(".nbgraph-code textarea")).to_have_value(re.compile("the lamp"))
    form.locator(".nbgraph-submit").click()
    expect(status(panel)).to_contain_text("Finished")
    panel.locator(".nbgraph-strip button").first.click()
    past = panel.locator(".nbgraph-past")
    past.get_by_role("combobox", name="Compared with").select_option("start")
    expect(past).to_contain_text("the lamp")
    past.get_by_text("Before", exact=True).click()
    expect(past).not_to_contain_text("the lamp")
    past.get_by_text("After", exact=True).click()
    expect(past).to_contain_text("the lamp")
    notebook.run(2)
    timeline = notebook.cell(2)
    timeline.get_by_role("button", name="Copy as test").click()
    timeline.locator(".nbgraph-copied .nbgraph-copy-text").click()
    notebook.wait_until("window.copied.includes('the lamp') && window.copied.includes('graph')")


def test_another_turn_at_a_breakpoint_is_asked_about_first(open_notebook: Open):
    code = 'panel = Panel(line(says("a"), says("b"), interrupt_before=["b"]), "t", {})'
    notebook, panel = opened(open_notebook, code)
    expect(status(panel)).to_contain_text("Paused before b")
    again = panel.get_by_role("button", name="Start again")
    again.click()
    asks = panel.locator(".nbgraph-another")
    expect(asks).to_contain_text("This turn has not ended: b would run next.")
    panel.get_by_role("button", name="Keep this turn").click()
    expect(asks).to_have_count(0)
    again.click()
    panel.get_by_role("button", name="Start another turn").click()
    expect(asks).to_have_count(0)
    expect(status(panel)).to_contain_text("Paused before b")
    panel.locator("button.nbgraph-continue").click()
    expect(status(panel)).to_contain_text("Finished")
    turns = "print(sum(event.type == 'run_started' for event in panel.session.history()))"
    assert notebook.execute(turns) == "2\n"
