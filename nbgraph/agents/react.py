"""The ready-made agent: a node that asks the model, and one that runs the tools it asks for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from nbgraph.agents.chat import Chat
from nbgraph.agents.limits import ToolLimitMiddleware
from nbgraph.agents.model import checked_tools, model_node
from nbgraph.agents.runner import ToolErrorPolicy, tool_runner
from nbgraph.agents.tools import Tool
from nbgraph.core.flow import when
from nbgraph.core.graph import Graph
from nbgraph.core.messages import AIMessage, HumanMessage, Message, ToolCall, add_messages
from nbgraph.core.middleware import Middleware, checked_middleware
from nbgraph.core.node import END, START
from nbgraph.core.schema import BaseState
from nbgraph.core.store import StateStore
from nbgraph.errors import RunInterruptedError

__all__ = ["AgentState", "build_react_agent", "run_agent"]


class AgentState(BaseState):
    """The state of an agent: a conversation, the calls that wait to run, and the final answer."""

    messages: Annotated[list[Message], add_messages] = Field(default_factory=list[Message])
    """The conversation."""
    tool_calls: list[ToolCall] = Field(default_factory=list[ToolCall])
    """The calls that wait to run."""
    final_text: str | None = None
    """The final answer as text."""
    final_output: Any = None
    """The final answer as the agent's `output_schema`, where it has one."""


def build_react_agent(  # noqa: PLR0913 - the documented options of an agent
    chat: Chat,
    *,
    tools: Iterable[Tool],
    name: str = "agent",
    system_prompt: str | None = None,
    middleware: Iterable[Middleware] = (),
    tool_errors: ToolErrorPolicy = "raise",
    stream: bool = False,
    output_schema: type[BaseModel] | None = None,
    max_steps: int = 25,
    max_tool_calls: int = 50,
    state_store: StateStore | None = None,
) -> Graph:
    """Return the graph of an agent: `think` asks the model, `act` runs tools, until it is done.

    Parameters
    ----------
    chat : Chat
        The model.
    tools : list of Tool
        What it may ask for, beside the tools that `middleware` brings.
    name : str
        The graph's name.
    system_prompt : str, optional
        Sent before the conversation on every call.
    middleware : list of Middleware
        Around the agent; a `ToolLimitMiddleware` comes before them.
    tool_errors : "raise", "return" or function
        As `tool_runner` takes it.
    stream : bool
        Show the model's answers piece by piece, as `"tokens"`.
    output_schema : type, optional
        A pydantic model that the final answer is parsed into, as the state's `final_output`.
    max_steps : int
        Supersteps one call may run.
    max_tool_calls : int
        Tool calls one turn may take; those over it are denied.
    state_store : StateStore, optional
        Where threads are kept; approvals need one.

    Raises
    ------
    GraphConfigError
        If a tool is listed twice, or an option cannot be used.
    """
    listed = checked_middleware(middleware)
    brought = [each for one in listed for each in one.tools()]
    known = checked_tools([*tools, *brought])
    think = model_node(
        "think",
        chat=chat,
        system_prompt=system_prompt,
        tools=known,
        stream=stream,
        output_schema=output_schema,
    )
    act = tool_runner("act", tools=known, tool_errors=tool_errors)
    graph = Graph(
        _state_of(output_schema),
        name=name,
        max_steps=max_steps,
        state_store=state_store,
        middleware=[ToolLimitMiddleware(max_calls=max_tool_calls), *listed],
    )
    return graph.flow(
        START >> think,
        think >> when(_has_tool_calls, act, otherwise=END),
        act >> think,
    )


def _state_of(output_schema: type[BaseModel] | None) -> type[AgentState]:
    if output_schema is None:
        return AgentState
    output: Any = (output_schema | None, None)
    return create_model("AgentState", __base__=AgentState, final_output=output)


def _has_tool_calls(state: AgentState) -> bool:
    return bool(state.tool_calls)


async def run_agent(graph: Graph, message: str, **options: Any) -> str:
    """Say something to an agent, and return its final answer.

    Parameters
    ----------
    graph : Graph
        Made by `build_react_agent`, or like it.
    message : str
        What the person says.
    **options
        The options of `Graph.ainvoke`.

    Returns
    -------
    str
        The answer; or the model's refusal.

    Raises
    ------
    RunInterruptedError
        If the run pauses. Its thread can be resumed.
    Exception
        What `ainvoke` raises.
    """
    result = await graph.ainvoke({"messages": [HumanMessage(content=message)]}, **options)
    if result.status == "interrupted":
        raise RunInterruptedError(result.thread_id, result.interrupts)
    if result.state.final_text is not None:
        return result.state.final_text
    last = result.state.messages[-1]
    return (last.refusal if isinstance(last, AIMessage) else None) or ""
