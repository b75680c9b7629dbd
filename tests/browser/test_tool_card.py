"""Tool cards in a real front end: decided by mouse and by keyboard, and nothing in them hides."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Open
from .labtool import Notebook

pytestmark = pytest.mark.browser

DESK = """
from nbgraph import InMemoryStateStore, Panel, ScriptedChat, ToolCard, build_react_agent, tool
from nbgraph.chat import ChatResponse
from nbgraph.core.messages import ToolCall
from nbgraph.middleware import InterruptRule, ToolInterruptMiddleware

ran = []

@tool
def send_refund(order_id: str, amount: float, notify: bool = False, memo: str = "") -> str:
    '''Pays money back to the customer.'''
    ran.append((order_id, amount, notify))
    return "paid"

@tool
def look_up(order_id: str) -> str:
    '''Looks an order up.'''
    ran.append(order_id)
    return "a lamp"

@tool(destructive=True)
def forget(customer: str) -> str:
    '''Deletes all there is about a customer.'''
    ran.append(customer)
    return "gone"

numbers = iter(range(1, 99))

def call(name, **arguments):
    return ToolCall(id=f"c_{next(numbers)}", name=name, arguments=arguments)

def turn(*calls):
    return ChatResponse(tool_calls=list(calls))

def open_panel(*turns, take_back_for=0):
    graph = build_react_agent(
        ScriptedChat(turns, default="Done."), tools=[send_refund, look_up, forget],
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule("*")])],
        state_store=InMemoryStateStore(),
    )
    panel = Panel(graph, "t", {"messages": [{"type": "human", "content": "It flickers."}]})
    panel.take_back_for = take_back_for
    return panel

def said():
    return [each["content"] for each in panel.session.state["messages"] if each["type"] == "tool"]

REFUND = dict(order_id="A-1042", amount=180.0, notify=False)
"""


def opened(open_notebook: Open, turns: str) -> tuple[Notebook, Locator]:
    notebook = open_notebook([DESK, f"panel = open_panel({turns})\npanel"])
    notebook.run_all()
    panel = notebook.cell(1).locator(".nbgraph-panel")
    panel.locator(".nbgraph-card").wait_for()
    notebook.wait_idle()
    return notebook, panel


def status(panel: Locator) -> Locator:
    return panel.locator(".nbgraph-status")


def wait_armed(panel: Locator) -> None:
    """Wait until half a second has gone by since the card came up."""
    expect(panel.locator(".nbgraph-card .nbgraph-approve")).to_have_attribute(
        "aria-disabled", "false"
    )


def ran(notebook: Notebook) -> str:
    return notebook.execute("print(ran)").strip()


ONE = "turn(call('send_refund', **REFUND))"


def test_an_approved_call_runs_and_a_double_click_decides_once(open_notebook: Open):
    notebook, panel = opened(open_notebook, ONE)
    expect(panel.locator(".nbgraph-approve")).to_have_text("Approve send_refund")
    panel.locator(".nbgraph-approve").dblclick()
    expect(status(panel)).to_contain_text("Finished")
    expect(panel.locator(".nbgraph-record")).to_contain_text("approved by")
    assert ran(notebook) == "[('A-1042', 180.0, False)]"
    counted = "print(sum(e.type == 'answers_given' for e in panel.session.history()))"
    assert notebook.execute(counted).strip() == "1"


def test_an_edited_call_runs_with_what_was_typed(open_notebook: Open):
    notebook, panel = opened(open_notebook, ONE)
    panel.get_by_label("amount").fill("120.5")
    panel.get_by_label("notify").check()
    approve = panel.locator(".nbgraph-approve")
    expect(approve).to_have_text("Approve with 2 edits")
    expect(panel.locator(".nbgraph-zone.call .nbgraph-del")).to_have_text(["180.0", "False"])
    expect(panel.locator(".nbgraph-zone.call .nbgraph-ins")).to_have_text(["120.5", "True"])
    panel.locator(".nbgraph-reset:visible").last.click()
    expect(approve).to_have_text("Approve with 1 edit")
    approve.click()
    expect(status(panel)).to_contain_text("Finished")
    expect(panel.locator(".nbgraph-record")).to_contain_text("approved with 1 edit by")
    assert ran(notebook) == "[('A-1042', 120.5, False)]"


@pytest.mark.parametrize("place", ["input[type=checkbox]", "label:has(input[type=checkbox]) span"])
def test_a_tick_that_moves_under_the_pointer_is_set(open_notebook: Open, place: str):
    notebook, panel = opened(open_notebook, ONE)
    panel.get_by_label("amount").fill("120.5")
    tick, target = panel.get_by_label("notify"), panel.locator(f".nbgraph-card {place}").first
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box
    notebook.page.mouse.move(box["x"] + 5, box["y"] + 3)
    notebook.page.mouse.down()  # leaves the amount, which brings a line below it
    expect(panel.get_by_text("edited: 180.0 → 120.5")).to_be_visible()
    moved = target.bounding_box()
    assert moved
    assert moved["y"] > box["y"] + 10
    notebook.page.mouse.up()
    expect(tick).to_be_checked()
    expect(panel.locator(".nbgraph-approve")).to_have_text("Approve with 2 edits")


def test_a_denied_call_does_not_run_and_the_reason_reaches_the_model(open_notebook: Open):
    notebook, panel = opened(open_notebook, ONE)
    reason = panel.get_by_label("Reason for denying")
    reason.fill("Ask for a")
    reason.press("Tab")
    expect(panel.locator(".nbgraph-deny")).to_have_text("Deny with reason")
    reason.press("End")
    notebook.page.keyboard.type(" photo first.")
    reason.press("Control+Enter")  # the last letters are there too
    expect(status(panel)).to_contain_text("Finished")
    expect(panel.locator(".nbgraph-record.denied")).to_contain_text("Did not run.")
    assert ran(notebook) == "[]"
    assert "Ask for a photo first." in notebook.execute("print(said())")


def test_a_person_answers_for_the_tool(open_notebook: Open):
    notebook, panel = opened(open_notebook, "turn(call('look_up', order_id='A-1042'))")
    panel.locator(".nbgraph-respond").click()
    answer = panel.get_by_label("Answer for the tool")
    expect(answer).to_be_focused()
    answer.fill("It is a desk lamp.")
    panel.locator(".nbgraph-respond").click()
    expect(status(panel)).to_contain_text("Finished")
    assert notebook.execute("print(ran, said())").strip() == "[] ['It is a desk lamp.']"


THREE = (
    "turn(call('look_up', order_id='A'), call('send_refund', **REFUND), "
    "call('forget', customer='B'))"
)


def test_three_calls_are_decided_differently_and_sent_together(open_notebook: Open):
    notebook, panel = opened(open_notebook, THREE)
    segments = panel.locator(".nbgraph-segments button")
    expect(segments).to_have_count(3)
    panel.locator(".nbgraph-approve").click()
    expect(segments.nth(0)).to_contain_text("approved")
    segments.nth(1).click()
    panel.get_by_label("amount").fill("5")
    panel.locator(".nbgraph-approve").click()
    expect(segments.nth(1)).to_contain_text("approved with 1 edit")
    expect(panel.locator(".nbgraph-submit")).to_have_attribute("aria-disabled", "true")
    panel.locator(".nbgraph-submit").click(force=True)
    segments.nth(2).click()
    expect(panel.locator(".nbgraph-zone.system")).to_contain_text("forget")
    panel.get_by_label("Reason for denying").fill("not asked for")
    panel.locator(".nbgraph-deny").click()
    expect(segments.nth(2)).to_contain_text("denied: “not asked for”")
    assert ran(notebook) == "[]"
    expect(panel.locator(".nbgraph-submit")).to_have_text("Send 3 decisions")
    panel.locator(".nbgraph-submit").click()
    expect(status(panel)).to_contain_text("Finished")
    assert (
        notebook.execute("print(sorted(ran, key=str))").strip() == "[('A-1042', 5.0, False), 'A']"
    )


@pytest.mark.timeout(400)
def test_twenty_calls_are_approved_by_keyboard_alone_and_sent(open_notebook: Open):
    twenty = "turn(*[call('look_up', order_id=f'A-{n}') for n in range(20)])"
    notebook, panel = opened(open_notebook, twenty)
    cells = notebook.page.locator(".jp-Notebook .jp-Cell")
    segments = panel.locator(".nbgraph-segments button")
    keyboard = notebook.page.keyboard
    segments.first.focus()
    for n in range(20):
        expect(panel.locator(".nbgraph-zone.call")).to_contain_text(f'"A-{n}"')
        wait_armed(panel)
        keyboard.press("a")
        expect(segments.nth(n)).to_contain_text("approved")
        if n < 19:
            keyboard.press("j")
            expect(segments.nth(n + 1)).to_be_focused()
    keyboard.press("Control+Enter")
    expect(status(panel)).to_contain_text("Finished")
    assert notebook.execute("print(len(ran))").strip() == "20"
    expect(cells).to_have_count(2)


@pytest.mark.timeout(400)  # twenty cards, each with a round trip to the kernel
def test_twenty_calls_one_after_the_other_are_approved_by_keyboard_alone(open_notebook: Open):
    twenty = "*[turn(call('look_up', order_id=f'A-{n}')) for n in range(20)]"
    notebook, panel = opened(open_notebook, twenty)
    panel.locator(".nbgraph-approve").focus()
    for n in range(20):
        expect(panel.locator(".nbgraph-zone.call")).to_contain_text(f'"A-{n}"')
        if n:
            expect(panel.locator(".nbgraph-deny")).to_be_focused()
        wait_armed(panel)
        notebook.page.keyboard.press("a")
    expect(status(panel)).to_contain_text("Finished")
    assert notebook.execute("print(len(ran))").strip() == "20"
    expect(notebook.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)


def test_keys_edit_deny_and_move_and_leave_a_destructive_tool_alone(open_notebook: Open):
    notebook, panel = opened(open_notebook, THREE)
    keyboard = notebook.page.keyboard
    segments = panel.locator(".nbgraph-segments button")
    segments.first.focus()
    keyboard.press("j")
    keyboard.press("e")  # before its card is there: it waits for it
    expect(panel.get_by_label("order_id")).to_be_focused()
    expect(panel.locator(".nbgraph-zone.system")).to_contain_text("send_refund")
    keyboard.type("adek")  # it is text there
    keyboard.press("Tab")
    expect(segments.nth(1)).to_contain_text("1 edit, not decided yet")
    keyboard.press("Escape")
    expect(panel.locator(".nbgraph-card")).to_be_focused()
    keyboard.press("d")
    expect(segments.nth(1)).to_contain_text("denied")
    expect(panel.get_by_label("Reason for denying")).to_be_focused()
    keyboard.type("just a joke")  # no key of the card: an a would approve
    keyboard.press("Escape")
    expect(segments.nth(1)).to_contain_text("denied: “just a joke”")
    keyboard.press("k")
    expect(segments.nth(0)).to_be_focused()
    keyboard.press("j")
    expect(segments.nth(1)).to_be_focused()
    keyboard.press("j")
    expect(panel.locator(".nbgraph-zone.system")).to_contain_text("Marked destructive")
    for key in ("a", "d", "Control+Enter"):
        keyboard.press(key)
    notebook.wait_idle()
    expect(segments.nth(2)).to_contain_text("not decided yet")
    expect(notebook.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)


def test_a_long_argument_is_opened_before_approving(open_notebook: Open):
    long = "turn(call('send_refund', **REFUND, memo='word ' * 600 + 'THE END'))"
    notebook, panel = opened(open_notebook, long)
    approve = panel.locator(".nbgraph-approve")
    expect(approve).to_have_attribute("aria-disabled", "true")
    approve.click(force=True)
    expect(panel.locator(".nbgraph-open")).to_be_focused()
    notebook.page.keyboard.press("Enter")
    expect(approve).to_have_attribute("aria-disabled", "false")
    expect(panel.locator(".nbgraph-zone.model .nbgraph-value").last).to_contain_text("THE END")
    assert ran(notebook) == "[]"
    approve.click()
    expect(status(panel)).to_contain_text("Finished")


def test_a_tool_is_allowed_until_it_is_revoked(open_notebook: Open):
    three = "*[turn(call('look_up', order_id='A')) for _ in range(3)]"
    turns = f"{three}, turn(call('forget', customer='B'))"
    notebook, panel = opened(open_notebook, turns)
    panel.get_by_role("button", name="Allow look_up here until the kernel stops").click()
    expect(panel.locator(".nbgraph-zone.system")).to_contain_text("Deletes all there is")
    assert ran(notebook) == "['A', 'A', 'A']"
    panel.get_by_role("button", name="look_up: ask again").click()
    expect(panel.locator(".nbgraph-allowed")).to_be_hidden()


def test_a_card_that_is_answered_elsewhere_turns_into_a_record(open_notebook: Open):
    notebook = open_notebook([DESK, f"panel = open_panel({ONE})\npanel", "Panel(panel.session)"])
    notebook.run_all()
    first, second = (notebook.cell(n).locator(".nbgraph-panel") for n in (1, 2))
    second.locator(".nbgraph-card").wait_for()
    first.locator(".nbgraph-deny").click()
    expect(second.locator(".nbgraph-record.denied")).to_contain_text("denied by")
    expect(second.locator(".nbgraph-card")).to_have_count(0)
    assert ran(notebook) == "[]"


def test_a_page_loaded_again_shows_the_panel_after_a_call_was_approved(open_notebook: Open):
    notebook, panel = opened(open_notebook, f"{ONE}, {ONE}")
    panel.locator(".nbgraph-approve").click()
    expect(panel.locator(".nbgraph-record")).to_have_count(1)
    notebook.wait_idle()
    notebook.save()
    notebook.reload()
    expect(panel.locator(".nbgraph-card")).to_have_count(1)
    expect(panel.locator(".nbgraph-record")).to_have_count(1)
    assert [each for each in notebook.console if "model not found" in each] == []


AT_ONCE = """
(way) => {
  const pointer = (button) => {
    const { x, y } = button.getBoundingClientRect();
    const at = { bubbles: true, button: 0, clientX: x + 2, clientY: y + 2 };
    const press = (type) => button.dispatchEvent(new PointerEvent(type, { ...at, pointerId: 1 }));
    press("pointerdown");
    press("pointerup");
    button.dispatchEvent(new MouseEvent("click", { ...at, detail: 1 }));
  };
  const keys = (button) => {
    for (const key of [{ key: "a" }, { key: "Enter", ctrlKey: true }])
      button.dispatchEvent(new KeyboardEvent("keydown", { ...key, bubbles: true }));
  };
  window.hit = (button) => ({ pointer, keys })[way](button);
  new MutationObserver(() => {
    const approve = document.querySelector(".nbgraph-key-act-approve-c-2 button.nbgraph-approve");
    if (!approve || approve.offsetParent === null || "heard" in window) return;
    window.heard = "";
    window.hit(approve);
    window.heard = approve.closest(".nbgraph-panel").querySelector(".nbgraph-live").textContent;
  }).observe(document.body, { childList: true, subtree: true });
}
"""


@pytest.mark.parametrize("way", ["pointer", "keys"])
def test_what_hits_a_call_as_it_comes_up_does_not_approve_and_later_it_does(
    open_notebook: Open, way: str
):
    notebook, panel = opened(open_notebook, f"{ONE}, {ONE}")
    notebook.page.evaluate(AT_ONCE, way)
    panel.locator(".nbgraph-approve").click()
    second = panel.locator(".nbgraph-key-act-approve-c-2")
    expect(second.locator(".nbgraph-deny")).to_be_focused()
    wait_armed(panel)
    told = "That came up just before you pressed. Look at it, and press again."
    assert notebook.page.evaluate("window.heard") == told
    assert notebook.execute("print(len(ran), panel.session.status)").strip() == "1 interrupted"
    wait_armed(panel)  # running something draws the output anew
    second.locator(".nbgraph-deny").focus()
    second.locator(".nbgraph-approve").evaluate("window.hit")  # the very same, when it is meant
    expect(status(panel)).to_contain_text("Finished")
    assert notebook.execute("print(len(ran))").strip() == "2"


def test_a_decision_is_taken_back_before_it_is_sent_or_sent_at_once(open_notebook: Open):
    notebook, panel = opened(open_notebook, f"{ONE}, take_back_for=300")
    panel.locator(".nbgraph-approve").click()
    holding = panel.locator(".nbgraph-holding")
    expect(holding).to_contain_text("send_refund: approved. It is sent in 300 s.")
    expect(holding.locator(".nbgraph-take-back")).to_be_focused()
    notebook.page.keyboard.press("Enter")
    expect(holding).to_be_hidden()
    expect(panel.locator(".nbgraph-deny")).to_be_focused()
    expect(panel.locator(".nbgraph-record")).to_have_count(0)
    notebook.page.keyboard.press("d")
    expect(holding).to_contain_text("send_refund: denied. It is sent in 300 s.")
    holding.locator(".nbgraph-send-now").click()
    expect(status(panel)).to_contain_text("Finished")
    assert ran(notebook) == "[]"


SPOOFED = """
from nbgraph import Interrupt
from nbgraph.testing.spoofs import SPOOFS

texts = [each for each in SPOOFS if "\\ud800" not in each.text]

def card(arguments):
    payload = {"kind": "tool_interrupt", "tool_name": "t", "tool_call_id": "c",
               "arguments": arguments, "allowed": ["approve", "deny"],
               "input_schema": {"type": "object"}}
    return ToolCard(Interrupt(key="a:c", id="c", node="a", task_id="a", payload=payload))

def some(part, which):
    return card({f"s{n}": getattr(each, which) for n, each in enumerate(texts[part::6])})
"""

WIDTHS = """
(cell) => [...cell.querySelectorAll(".nbgraph-zone.model .nbgraph-value")].map((value) => {
  const labels = [...value.querySelectorAll(".widget-label")];
  const rects = labels.flatMap((label) => [...label.getClientRects()]);
  const right = Math.max(...rects.map((rect) => rect.right));
  return right - Math.min(...rects.map((rect) => rect.left));
})
"""


def widths(cell: Locator) -> list[float]:
    return cell.evaluate(WIDTHS)


@pytest.mark.parametrize("part", range(6))
def test_a_spoof_is_wider_or_narrower_than_the_text_it_passes_for(open_notebook: Open, part: int):
    sources = [f"some({part}, {which!r})" for which in ("text", "clean")]
    notebook = open_notebook([DESK + SPOOFED, *sources])
    notebook.run_all()
    for index in (1, 2):
        notebook.cell(index).locator(".nbgraph-card").wait_for()
    notebook.wait_idle()
    wide = "document.querySelectorAll('.nbgraph').forEach((e) => { e.style.width = '6000px' })"
    notebook.page.evaluate(wide)
    spoofs, clean = widths(notebook.cell(1)), widths(notebook.cell(2))
    assert len(spoofs) == len(clean) >= 12
    alike = [n for n, (a, b) in enumerate(zip(spoofs, clean, strict=True)) if abs(a - b) < 3]
    assert alike == []


HOSTILE = r"""
text = ("<img src=x onerror=alert(1)><script>document.title='owned'</script> $x^2$ \\(y\\) "
        "[a](javascript:alert(1)) <style>.nbgraph-deny{display:none}</style> \u202eevil")
panel = open_panel(turn(call("send_refund", order_id=text, amount=1.0, memo=text)))
panel
"""


def test_text_of_the_model_is_shown_as_text_and_nothing_runs(open_notebook: Open):
    notebook = open_notebook([DESK, HOSTILE])
    title = notebook.page.title()
    notebook.run_all()
    panel = notebook.cell(1).locator(".nbgraph-panel")
    panel.locator(".nbgraph-card").wait_for()
    notebook.wait_idle()
    expect(panel.locator(".nbgraph-zone.model")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(panel.locator(".nbgraph-zone.call")).to_contain_text("$x^2$")
    live = ".jp-OutputArea-output :is(script, iframe, mjx-container, img[src=x], a[href])"
    expect(notebook.page.locator(live)).to_have_count(0)
    for style in notebook.page.locator(".jp-OutputArea-output style").all_text_contents():
        assert ".nbgraph-still" in style  # the panel's own: no text of the model is one
    expect(panel.locator(".nbgraph-deny")).to_be_visible()
    expect(panel.locator(".nbgraph-zone.system")).not_to_contain_text("evil")
    assert notebook.dialogs == []
    assert notebook.page.title() == title


def test_every_field_and_button_of_a_card_has_a_name(open_notebook: Open):
    _, panel = opened(open_notebook, THREE)
    names = panel.locator(".nbgraph-calls").evaluate(
        """(calls) => [...calls.querySelectorAll("input, textarea, select, button")]
          .filter((each) => each.offsetParent).map((each) =>
          each.getAttribute("aria-label") || each.labels?.[0]?.textContent || each.textContent
          || each.title)"""
    )
    assert names
    assert all(re.search(r"\w", name or "") for name in names), names
    expect(panel.get_by_role("tablist")).to_have_count(1)
    expect(panel.get_by_role("tab", selected=True)).to_have_count(1)
    expect(panel.locator(".nbgraph-card[role=article], .nbgraph-card[role=group]")).to_have_count(1)
