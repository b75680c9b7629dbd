"""LangGraph graphs as their users have them."""

import operator
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import tool
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    note: str
    answer: Any


def says(word):
    return lambda state: {"log": [word]}


def row(*nodes, checkpointer=None, **options):
    """A graph of nodes one after the other; a node is a function, or a name that is logged."""
    builder = StateGraph(State)
    before = START
    for each in nodes:
        name = each if isinstance(each, str) else each.__name__
        builder.add_node(name, says(each) if isinstance(each, str) else each)
        builder.add_edge(before, name)
        before = name
    return builder.compile(checkpointer=checkpointer or InMemorySaver(), **options)


def asks(value="Go on?", schema=None, name="ask"):
    def ask(state):
        answer = interrupt(value) if schema is None else interrupt(value, response_schema=schema)
        return {"answer": answer, "log": [f"{name}:{answer}"]}

    ask.__name__ = name
    return ask


class Scripted(GenericFakeChatModel):
    def bind_tools(self, *args, **options):
        return self


def agent(calls, rules, *, ran, mode="batched", checkpointer=None):
    """An agent whose model asks for these calls, `(tool, arguments)`, and then is done."""

    @tool
    def refund(order: str, amount: int) -> str:
        """Refund an order."""
        ran.append(("refund", {"order": order, "amount": amount}))
        return f"refunded {amount}"

    @tool
    def remove(path: str) -> str:
        """Remove a file."""
        ran.append(("remove", {"path": path}))
        return f"removed {path}"

    asked = [
        {"name": name, "args": arguments, "id": f"c{number}"}
        for number, (name, arguments) in enumerate(calls)
    ]
    model = Scripted(messages=iter([AIMessage("", tool_calls=asked), AIMessage("done")]))
    return create_agent(
        model,
        tools=[refund, remove],
        middleware=[HumanInTheLoopMiddleware(rules, interrupt_mode=mode)],
        checkpointer=checkpointer or InMemorySaver(),
    )
