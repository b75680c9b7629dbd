"""The inbox in a real front end: by keyboard alone, several at once, and answered elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import Open

pytestmark = pytest.mark.browser

DESK = """
import asyncio
from nbgraph import END, START, Graph, Inbox, InMemoryStateStore, Resume, ScriptedChat
from nbgraph import build_react_agent, interrupt, node, tool
from nbgraph.chat import ChatResponse
from nbgraph.core.messages import ToolCall
from nbgraph.middleware import InterruptRule, ToolInterruptMiddleware

ran, store = [], InMemoryStateStore()

@node
def sign(state):
    asked = {"to": state["to"]}
    return {"signed": interrupt(asked, id="letter", message="Sign?", response_schema=bool)}

@tool
def send_refund(order_id: str, amount: float) -> str:
    '''Pays money back to the customer.'''
    ran.append(order_id)
    return "paid"

letters = Graph(dict, name="letters", state_store=store).flow(START >> sign >> END)

def agent(*turns):
    return build_react_agent(
        ScriptedChat(turns, default="Done."), tools=[send_refund],
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule("*")])],
        state_store=store, name="desk",
    )

def ask(order, amount):
    arguments = {"order_id": order, "amount": amount}
    call = ToolCall(id=f"c_{order}", name="send_refund", arguments=arguments)
    graph = agent(ChatResponse(tool_calls=[call]))
    graph.invoke({"messages": [{"type": "human", "content": "It flickers."}]}, thread_id=order)

for order, amount in (("A-1", 180.0), ("A-2", 42.5), ("A-3", 12.0)):
    ask(order, amount)
for to in ("<img src=x onerror=alert(1)>", "$x^2$", "ops"):
    letters.invoke({"to": to}, thread_id=f"to {to}")

def status():
    return {each.thread_id: each.status for each in asyncio.run(store.threads())}
"""

ELSEWHERE = """
await letters.ainvoke(None, thread_id="to ops", resume=Resume(False, by="desk-2"))
"""


def opened(open_notebook: Open) -> tuple[Any, Any, Any]:
    """Return a notebook with an inbox of six questions, the inbox, and its rows."""
    notebook = open_notebook([DESK, "inbox = Inbox(store, apps=[letters, agent()])\ninbox"])
    notebook.run_all()
    notebook.wait_idle()
    inbox = notebook.cell(1).locator(".nbgraph-inbox")
    rows = inbox.locator("tr.nbgraph-inbox-row")
    expect(rows).to_have_count(6)
    return notebook, inbox, rows


AT_ONCE = """
() => {
  new MutationObserver(() => {
    const all = document.querySelector(".nbgraph-together button.nbgraph-approve-all");
    if (!all || all.offsetParent === null || window.tried) return;
    window.tried = true;
    const { x, y } = all.getBoundingClientRect();
    const at = { bubbles: true, button: 0, clientX: x + 2, clientY: y + 2 };
    for (const type of ["pointerdown", "pointerup"])
      all.dispatchEvent(new PointerEvent(type, { ...at, pointerId: 1 }));
    all.dispatchEvent(new MouseEvent("click", { ...at, detail: 1 }));
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["class"] });
}
"""


def test_what_hits_a_button_for_several_as_it_comes_up_does_nothing_and_is_told_so(
    open_notebook: Open,
):
    notebook, inbox, rows = opened(open_notebook)
    notebook.page.evaluate(AT_ONCE)
    rows.first.locator("input").click()
    approve = inbox.locator(".nbgraph-together .nbgraph-approve-all")
    expect(approve).to_have_attribute("aria-disabled", "false")
    assert notebook.page.evaluate("window.tried")
    expect(inbox.locator(".nbgraph-live")).to_have_text(
        "That came up just before you pressed. Look at it, and press again."
    )
    assert notebook.execute("print(ran, inbox._together._held.is_waiting)").strip() == "[] False"


def test_calls_are_picked_and_approved_by_keyboard_alone(open_notebook: Open):
    notebook, inbox, rows = opened(open_notebook)
    keyboard = notebook.page.keyboard
    rows.first.focus()
    for key in ("x", "j", "x", "j", "j", "x"):
        keyboard.press(key)
    expect(inbox.get_by_role("checkbox", name="Pick A-2")).to_be_checked()
    expect(rows.nth(3)).to_be_focused()
    expect(rows.nth(3).locator("input")).not_to_be_checked()
    together = inbox.locator(".nbgraph-together")
    expect(together).to_contain_text('A-2  send_refund(order_id="A-2", amount=42.5)')
    approve = together.get_by_role("button", name="Approve these 2")
    expect(approve).to_have_attribute("aria-disabled", "false")  # it came up a moment ago
    notebook.execute("inbox.take_back_for = 300")
    approve.focus()
    keyboard.press("Enter")
    expect(together).to_contain_text("2 calls approved. It is sent in 300 s.")
    expect(together.get_by_role("button", name="Take it back")).to_be_focused()
    assert notebook.execute("print(ran, len(inbox.questions))").strip() == "[] 6"
    keyboard.press("Tab")
    keyboard.press("Enter")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_be_focused()  # where the last key had gone
    notebook.wait_idle()
    assert notebook.execute("inbox.settle(); print(sorted(ran))").strip() == "['A-1', 'A-2']"


def test_questions_are_opened_and_answered_by_keyboard_alone(open_notebook: Open):
    notebook, inbox, rows = opened(open_notebook)
    keyboard = notebook.page.keyboard
    assert inbox.locator("img").count() == 0
    expect(inbox.get_by_role("table", name="Waiting questions")).to_be_visible()
    for name in ("Search the waiting questions", "Graph", "Node", "Tool", "Age", "Order"):
        expect(inbox.get_by_label(name, exact=True)).to_be_visible()

    # a question is opened in place and answered; the focus is never lost
    rows.nth(3).focus()
    keyboard.press("Enter")
    form = inbox.locator(".nbgraph-opened .nbgraph-form")
    expect(form).to_contain_text("<img src=x onerror=alert(1)>")
    expect(form.locator("input").first).to_be_focused()
    keyboard.press("Space")
    keyboard.press("Control+Enter")
    expect(inbox.locator(".nbgraph-record")).to_contain_text("answered by")
    expect(rows).to_have_count(5)
    expect(inbox.locator(".nbgraph-opened .nbgraph-close")).to_be_focused()
    keyboard.press("Enter")
    expect(inbox.locator(".nbgraph-opened")).to_have_count(0)
    expect(rows.nth(3)).to_be_focused()

    # what somebody else answers goes from the rows, and it is said who did
    notebook.execute(ELSEWHERE)
    expect(rows).to_have_count(4)
    expect(inbox.locator(".nbgraph-why").first).to_contain_text("to ops: answered by desk-2 at ")
    rows.last.focus()
    keyboard.press("k")
    expect(rows.nth(2)).to_be_focused()
    expect(notebook.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)
    assert notebook.dialogs == []
