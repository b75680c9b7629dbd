"""What the model hooks and tool hooks of middleware are given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nbgraph.core.middleware import Replacement

if TYPE_CHECKING:
    from nbgraph.agents.chat import ChatRequest, ChatResponse
    from nbgraph.agents.tools import Tool

__all__ = ["ModelMiddlewareContext", "ToolMiddlewareContext"]


@dataclass(frozen=True, slots=True)
class ToolMiddlewareContext:
    """What a tool hook is given.

    Attributes
    ----------
    graph_name, node_name, run_id, root_run_id, thread_id, task_id : str
        Where the tool is called.
    tool_name, tool_call_id : str, str or None
        Which call of which tool.
    value : Any
        In `before_tool` and `on_tool_error`, the arguments, as JSON. In `after_tool`, the result.
    state : Any
        What the node was given.
    tool : Tool
        The tool itself.
    asked_before : tuple of str
        The tools that the model asked for earlier in this turn, in order: the same ones however
        often the node runs.
    """

    graph_name: str
    node_name: str
    tool_name: str
    value: Any
    state: Any
    run_id: str
    thread_id: str
    tool_call_id: str | None
    root_run_id: str
    task_id: str
    tool: Tool = field(repr=False)
    asked_before: tuple[str, ...] = field(default=(), repr=False)
    approved: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """Shared by the hooks of this run of the call: `"arguments"` once a person approved some."""

    def replace(self, value: Any) -> Replacement:
        """Return what a hook returns to put `value` in the place of what it was shown."""
        return Replacement(value)


@dataclass(frozen=True, slots=True)
class ModelMiddlewareContext:
    """What a model hook is given.

    Attributes
    ----------
    graph_name, node_name, run_id, root_run_id, thread_id, task_id : str
        Where the model is called.
    step : int
        Number of the superstep in this call of the graph, from 0.
    model : str
        The name of the chat model.
    request : ChatRequest
        What is sent.
    response : ChatResponse or None
        In `after_model`, what came back.
    """

    graph_name: str
    node_name: str
    run_id: str
    thread_id: str
    step: int
    task_id: str
    root_run_id: str
    model: str
    request: ChatRequest
    response: ChatResponse | None = None

    def replace(self, value: Any) -> Replacement:
        """Return what a hook returns to put `value` in the place of what it was shown."""
        return Replacement(value)
