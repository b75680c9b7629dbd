"""A compiled LangGraph graph is a driver like any other."""

import operator
from typing import Annotated

import pytest
from typing_extensions import TypedDict

pytest.importorskip("langgraph")

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from nbgraph.adapters.langgraph import LangGraphDriver
from nbgraph.testing.drivers import DriverConformance


class State(TypedDict):
    log: Annotated[list[str], operator.add]


def ask(state):
    return {"log": [str(interrupt({"question": "How many?"}, response_schema=int))]}


async def ask_async(state):
    return ask(state)


def fails(state):
    raise ValueError("no luck")


def compiled(first=lambda state: {"log": ["first"]}, asks=ask):
    builder = StateGraph(State)
    builder.add_node("first", first)
    builder.add_node("ask", asks)
    builder.add_node("last", lambda state: {"log": ["last"]})
    builder.add_edge(START, "first")
    builder.add_edge("first", "ask")
    builder.add_edge("ask", "last")
    builder.add_edge("last", END)
    return builder.compile(checkpointer=InMemorySaver())


class TestLangGraphDriver(DriverConformance):
    key = "ask:0"

    def make_driver(self):
        return LangGraphDriver(compiled(), "t")

    def make_failing_driver(self):
        return LangGraphDriver(compiled(first=fails), "t")


class TestAnAsyncLangGraphDriver(DriverConformance):
    key = "ask:0"

    def make_driver(self):
        return LangGraphDriver(compiled(asks=ask_async), "t")

    def make_failing_driver(self):
        return LangGraphDriver(compiled(first=fails, asks=ask_async), "t")
