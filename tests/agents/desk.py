"""An agent of a service desk that the tests share: a bank that counts, and a scripted model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbgraph import Graph, InMemoryStateStore, ScriptedChat, build_react_agent, tool
from nbgraph.agents.tools import Tool
from nbgraph.chat import ChatResponse, HumanMessage, ToolCall
from nbgraph.core.store import StateStore
from nbgraph.middleware import InterruptRule, Middleware, ToolInterruptMiddleware


@dataclass
class Desk:
    """What is outside: all that was done, in order."""

    done: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    fails: int = 0

    def note(self, name: str, /, **arguments: Any) -> None:
        self.done.append((name, arguments))
        if self.fails:
            self.fails -= 1
            raise ConnectionError("no answer")

    def tools(self) -> list[Tool]:
        @tool
        def refund(order_id: str, amount: float, note: str = "") -> str:
            """Pay money back for an order."""
            self.note("refund", order_id=order_id, amount=amount, note=note)
            return f"refunded {amount}"

        @tool
        async def look_up(order_id: str) -> dict[str, str]:
            """Find an order."""
            self.note("look_up", order_id=order_id)
            return {"order": order_id}

        @tool(destructive=True)
        def close_account(name: str) -> None:
            """Close an account. It cannot be opened again."""
            self.note("close_account", name=name)

        return [refund, look_up, close_account]


def call(name: str, call_id: str = "c1", /, **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def asks(*calls: ToolCall) -> ChatResponse:
    return ChatResponse(tool_calls=calls)


REFUND = call("refund", order_id="A-1", amount=120.0)
MESSAGE = {"messages": [HumanMessage(content="Please help")]}


def agent(
    desk: Desk,
    script: Sequence[str | ChatResponse],
    *rules: InterruptRule,
    store: StateStore | None = None,
    middleware: Iterable[Middleware] = (),
    **options: Any,
) -> Graph:
    """Return an agent that says what the script says, and asks by the rules."""
    return build_react_agent(
        ScriptedChat(script, default="Done."),
        tools=desk.tools(),
        middleware=[*middleware, ToolInterruptMiddleware(rules=rules)],
        state_store=store or InMemoryStateStore(),
        **options,
    )
