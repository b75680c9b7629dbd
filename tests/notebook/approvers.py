"""Agents with a scripted model, whose tools write down that they ran."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, field_validator

from nbgraph import Graph, InMemoryStateStore, Panel, ScriptedChat, build_react_agent, tool
from nbgraph.chat import ChatResponse
from nbgraph.core.messages import ToolCall
from nbgraph.middleware import InterruptRule, ToolInterruptMiddleware

QUESTION = {"messages": [{"type": "human", "content": "My lamp flickers."}]}


class Refund(BaseModel):
    order_id: str
    amount: Annotated[float, Field(gt=0)]
    notify: bool = False

    @field_validator("order_id")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if value.endswith("?"):
            raise ValueError("no such order")
        return value


class Agent:
    """A graph of an agent, and what its tools did."""

    def __init__(self, *turns: Any, store: InMemoryStateStore | None = None, **rule: Any) -> None:
        self.ran: list[tuple[str, Any]] = []
        self.store = store or InMemoryStateStore()
        self.chat = ScriptedChat(turns, default="Done.")
        rules = [InterruptRule("*", **rule)]
        self.graph: Graph = build_react_agent(
            self.chat,
            tools=self._tools(),
            middleware=[ToolInterruptMiddleware(rules=rules)],
            state_store=self.store,
        )

    def _tools(self) -> list[Any]:
        @tool(input_model=Refund)
        def send_refund(order_id: str, amount: float, notify: bool) -> str:
            """Pays money back to the customer."""
            self.ran.append(("send_refund", (order_id, amount, notify)))
            return "paid"

        @tool
        def look_up(order_id: str) -> str:
            """Looks an order up."""
            self.ran.append(("look_up", order_id))
            return "a lamp"

        @tool(destructive=True)
        def forget(customer: str) -> str:
            """Deletes all there is about a customer."""
            self.ran.append(("forget", customer))
            return "gone"

        return [send_refund, look_up, forget]

    def panel(self, thread_id: str = "t", **more: Any) -> Panel:
        """Return a panel that waits for a person."""
        panel = Panel(self.graph, thread_id, QUESTION, **more)
        panel.session.settle()
        return panel

    def said(self, panel: Panel) -> list[Any]:
        """Return what the tools' messages say."""
        messages = panel.session.state["messages"]
        return [each["content"] for each in messages if each["type"] == "tool"]


def calls(*asked: tuple[str, dict[str, Any]], start: int = 1) -> ChatResponse:
    """Return a turn in which the model asks for tools."""
    return ChatResponse(
        tool_calls=[
            ToolCall(id=f"c_{number}", name=name, arguments=arguments)
            for number, (name, arguments) in enumerate(asked, start)
        ]
    )


REFUND = ("send_refund", {"order_id": "A-1042", "amount": 180.0})
LOOK_UP = ("look_up", {"order_id": "A-1042"})
FORGET = ("forget", {"customer": "A"})
