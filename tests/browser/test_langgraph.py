"""A LangGraph agent in a real front end: its tool calls are cards, decided one by one."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import Open

pytestmark = pytest.mark.browser

AGENT = """
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import tool
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from nbgraph import Panel

paid = []

@tool
def refund(order: str, amount: float) -> str:
    '''Pay an order back.'''
    paid.append((order, amount))
    return "paid"

class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **options):
        return self

calls = [
    {"name": "refund", "args": {"order": "A-1", "amount": 180.0}, "id": "c1"},
    {"name": "refund", "args": {"order": "A-2", "amount": 900.0}, "id": "c2"},
]
agent = create_agent(
    Scripted(messages=iter([AIMessage("", tool_calls=calls), AIMessage("done")])),
    tools=[refund],
    middleware=[HumanInTheLoopMiddleware({"refund": True}, interrupt_mode=MODE)],
    checkpointer=InMemorySaver(),
)
panel = Panel(agent, "t", {"messages": [{"role": "user", "content": "Pay both back"}]})
"""


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_two_calls_at_once_are_edited_and_denied(open_notebook: Open, mode: str):
    notebook = open_notebook([AGENT.replace("MODE", repr(mode)), "panel"])
    notebook.run_all()
    panel = notebook.cell(1).locator(".nbgraph-panel")
    panel.locator(".nbgraph-card").first.wait_for()
    notebook.wait_idle()
    segments = panel.locator(".nbgraph-segments button")
    expect(segments).to_have_count(2)
    panel.get_by_label("amount").fill("120.5")
    panel.locator(".nbgraph-approve").click()
    expect(segments.nth(0)).to_contain_text("approved with 1 edit")
    segments.nth(1).click()
    expect(panel.locator(".nbgraph-zone.call")).to_contain_text("A-2")
    panel.get_by_label("Reason for denying").fill("Too much.")
    panel.locator(".nbgraph-deny").click()
    expect(segments.nth(1)).to_contain_text("denied")
    panel.locator(".nbgraph-calls .nbgraph-submit").click()
    expect(panel.locator(".nbgraph-status")).to_contain_text("Finished")
    assert notebook.execute("print(paid)").strip() == "[('A-1', 120.5)]"
    said = "print([each['content'] for each in panel.session.state['messages']])"
    assert "Too much." in notebook.execute(said)
