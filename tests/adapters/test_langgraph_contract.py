"""A compiled LangGraph graph is a driver like any other."""

import asyncio
import operator
import threading
from typing import Annotated

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from nbgraph.adapters.langgraph import open_thread
from nbgraph.testing.drivers import DriverConformance


class State(TypedDict):
    log: Annotated[list[str], operator.add]


def ask(state):
    return {"log": [str(interrupt({"question": "How many?"}, response_schema=int))]}


async def ask_async(state):
    return ask(state)


def fails(state):
    raise ValueError("no luck")


def compiled(first, asks):
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
    asks = staticmethod(ask)

    def setup_method(self):
        self.gate = threading.Event()
        self.release()

    def hold(self):
        self.gate.clear()

    def release(self):
        self.gate.set()

    def first(self, state):
        self.gate.wait()
        return {"log": ["first"]}

    def make_driver(self):
        return open_thread(compiled(self.first, self.asks), "t")[0]

    def make_failing_driver(self):
        return open_thread(compiled(fails, self.asks), "t")[0]


class TestAnAsyncLangGraphDriver(TestLangGraphDriver):
    asks = staticmethod(ask_async)

    async def first(self, state):
        await asyncio.to_thread(self.gate.wait)
        return {"log": ["first"]}
