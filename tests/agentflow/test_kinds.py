"""AgentFlow graphs of every kind: each is drawn, started, answered, forked, and found again."""

import asyncio
import json

import pytest
from injectq import InjectQ
from tenxgraph.core.graph import StateGraph, ToolNode
from tenxgraph.core.state import Message
from tenxgraph.storage.checkpointer import InMemoryCheckpointer
from tenxgraph.utils import END, Command, interrupt

from nbgraph import draw, open_session
from nbgraph.adapters.log import forget
from nbgraph.errors import GraphConfigError

from .graphs import HI, State, asks, row, says


def agent(*tools, calls):
    """A graph whose model asks for these calls, `(tool, arguments)`, and then is done."""

    def model(state):
        if any(message.role == "tool" for message in state.context):
            return Message.text_message("done", "assistant")
        asked = Message.text_message("", "assistant")
        asked.tools_calls = [
            {
                "id": f"c{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(calls)
        ]
        return asked

    graph = StateGraph(container=InjectQ())
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode(list(tools)))
    graph.set_entry_point("model")
    graph.add_conditional_edges(
        "model",
        lambda state: "tools" if state.context[-1].tools_calls else END,
        {"tools": "tools", END: END},
    )
    graph.add_edge("tools", "model")
    return graph.compile()


async def refund(amount: int) -> str:
    """Refund an order."""
    return f"{interrupt({'amount': amount}, message='Sure?')} {amount}"


async def twice() -> str:
    """Ask twice."""
    return interrupt(message="1?") + interrupt(message="2?")


async def look() -> str:
    """Look."""
    return "seen"


def a_row():
    return row(a=says("a"), ask=asks(), b=says("b"))


def an_async_node():
    async def node(state: State):
        await asyncio.sleep(0)
        state.log = ["async"]
        return state

    return row(node=node, ask=asks())


def a_node_that_returns_a_message():
    return row(talk=lambda state: Message.text_message("hello", "assistant"))


def a_node_that_returns_a_text():
    return row(talk=lambda state: "hello")


def a_node_that_says_where_to_go():
    def jump(state: State):
        return Command(update=None, goto="c")

    return row(jump=jump, b=says("b"), c=says("c"))


def a_loop():
    graph = StateGraph(State(), container=InjectQ())
    graph.add_node("a", says("a"))
    graph.set_entry_point("a")
    ways = {"a": "a", END: END}
    graph.add_conditional_edges("a", lambda state: "a" if len(state.log) < 3 else END, ways)
    return graph.compile()


def a_tool_that_asks_twice():
    return agent(twice, calls=[("twice", {})])


def tools_side_by_side():
    two = [("refund", {"amount": 1}), ("refund", {"amount": 2})]
    return agent(look, refund, calls=[("look", {}), *two])


def names_with_odd_characters():
    nodes = {name: says(name) for name in ("a b", "ä/ö", "<b>", "$x$")}
    return row(**nodes, **{"ask it": asks()})


def a_question_in_a_loop():
    def ask(state: State):
        given = None
        while given != "yes":
            given = interrupt(message="Go on?")
        state.log = ["asked"]
        return state

    return row(ask=ask, z=says("z"))


KINDS = [
    a_row,
    an_async_node,
    a_node_that_returns_a_message,
    a_node_that_returns_a_text,
    a_node_that_says_where_to_go,
    a_loop,
    a_tool_that_asks_twice,
    tools_side_by_side,
    names_with_odd_characters,
    a_question_in_a_loop,
]


def seen(session):
    shown = json.dumps(session.state, sort_keys=True)
    return session.status, session.next, list(session.pending), shown


@pytest.mark.parametrize("make", KINDS)
def test_a_graph_is_driven_to_its_end_and_found_again_as_it_was_left(make):
    app = make()
    assert draw(app).svg.startswith("<")
    session = open_session(app, thread_id="t")
    session.start(HI).result()
    while session.pending:
        other = session.fork()
        assert list(other.pending) == list(session.pending)
        session.resume(dict.fromkeys(session.pending, "yes")).result()
    assert (session.status, session.error) == ("completed", None)
    before = seen(session)
    forget(app)
    assert seen(open_session(app, thread_id="t")) == before


@pytest.mark.parametrize("make", KINDS)
def test_a_graph_is_stepped_to_its_end(make):
    session = open_session(make(), thread_id="t")
    session.breakpoints(before=["*"])
    session.start(HI).result()
    steps = 0
    while session.status == "interrupted":
        steps += 1
        if session.pending:
            session.resume(dict.fromkeys(session.pending, "yes")).result()
        else:
            session.step().result()
        assert steps < 30
    assert session.status == "completed"


def test_a_node_that_failed_in_another_process_has_failed():
    def bad(state: State):
        raise ValueError("no luck")

    app = row(a=says("a"), bad=bad)
    with pytest.raises(Exception, match="no luck"):
        open_session(app, thread_id="t").start(HI).result()
    forget(app)
    again = open_session(app, thread_id="t")
    assert (again.status, again.next, again.marks["bad"]) == ("failed", ("bad",), "failed")


def test_a_thread_of_another_graph_is_refused():
    kept = InMemoryCheckpointer()
    open_session(row(checkpointer=kept, ask=asks()), thread_id="t").start(HI).result()
    with pytest.raises(GraphConfigError, match="another graph"):
        open_session(row(checkpointer=kept, x=says("x")), thread_id="t")
