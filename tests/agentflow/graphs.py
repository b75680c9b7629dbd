"""AgentFlow graphs as their users have them."""

from typing import Annotated

from injectq import InjectQ
from pydantic import Field
from tenxgraph.core.graph import StateGraph
from tenxgraph.core.state import AgentState
from tenxgraph.utils import END, interrupt

HI = {"messages": ["hi"]}


class State(AgentState):
    log: Annotated[list[str], Field(default_factory=list)]
    note: str = ""


def says(word):
    def node(state: State):
        state.log = [*state.log, word]
        return state

    return node


def asks(value="Go on?", schema=None, message="How many?"):
    def node(state: State):
        answer = interrupt(value, message=message, response_schema=schema)
        state.log = [*state.log, str(answer)]
        return state

    return node


def row(container=None, checkpointer=None, compiled=None, **nodes):
    """A graph of nodes one after the other, by name."""
    graph = StateGraph(State(), container=container or InjectQ())
    names = list(nodes)
    for name, function in nodes.items():
        graph.add_node(name, function)
    graph.set_entry_point(names[0])
    for before, after in zip(names, [*names[1:], END], strict=True):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=checkpointer, **(compiled or {}))
