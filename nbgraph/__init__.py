"""Human-in-the-loop graphs inside Jupyter: draw, run, pause, answer in a form, fork.

What needs Jupyter, graphviz or a database is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from nbgraph import errors
from nbgraph.core.answers import UNSET
from nbgraph.core.asking import GraphInterrupt
from nbgraph.core.context import NodeContext
from nbgraph.core.effects import Effect
from nbgraph.core.events import Interrupt
from nbgraph.core.executor import Executor, InlineExecutor, ThreadExecutor
from nbgraph.core.exports import set_writer
from nbgraph.core.flow import branch, join, when
from nbgraph.core.graph import Graph
from nbgraph.core.interrupts import interrupt
from nbgraph.core.lapses import ASK_AGAIN, DISMISS
from nbgraph.core.middleware import Middleware, RunOutcome
from nbgraph.core.node import END, START, Command, Node, Send, node
from nbgraph.core.node_cache import NodeCache
from nbgraph.core.reducers import Replace, add, merge_dict, replace
from nbgraph.core.requests import Resume
from nbgraph.core.result import GraphResult
from nbgraph.core.retry import Retry
from nbgraph.core.schema import BaseState
from nbgraph.core.spec import GraphData
from nbgraph.core.streaming import StreamEvent
from nbgraph.core.timeout import Timeout
from nbgraph.core.unnamed import UnnamedInterruptWarning

if TYPE_CHECKING:
    from pathlib import Path

    from nbgraph.agents.calling import call_tool
    from nbgraph.agents.contexts import ModelMiddlewareContext
    from nbgraph.agents.langchain_chat import from_langchain
    from nbgraph.agents.model import model_node
    from nbgraph.agents.openai_chat import OpenAIChat
    from nbgraph.agents.react import AgentState, build_react_agent, run_agent
    from nbgraph.agents.runner import tool_runner
    from nbgraph.agents.scripted import ScriptedChat
    from nbgraph.agents.tool_context import ToolContext
    from nbgraph.agents.tools import Tool, tool
    from nbgraph.core.driver import Shape
    from nbgraph.core.futures import FuturesExecutor
    from nbgraph.core.messages import RemoveMessage, add_messages
    from nbgraph.core.subgraph import subgraph
    from nbgraph.drawing.drawing import Drawing
    from nbgraph.notebook.compare import compare
    from nbgraph.notebook.display import draw
    from nbgraph.notebook.form import Form
    from nbgraph.notebook.inbox import Inbox
    from nbgraph.notebook.panel import Panel
    from nbgraph.notebook.play import play
    from nbgraph.notebook.timeline import Timeline
    from nbgraph.notebook.tool_card import ToolCard
    from nbgraph.opening import open_session
    from nbgraph.session import Session
    from nbgraph.stores.memory import InMemoryStateStore
    from nbgraph.stores.postgres import PostgresStateStore
    from nbgraph.stores.sqlite import SQLiteStateStore
    from nbgraph.stores.sqlite import SQLiteStateStore as FilesystemStateStore

__all__ = [
    "ASK_AGAIN",
    "DISMISS",
    "END",
    "START",
    "UNSET",
    "AgentState",
    "BaseState",
    "Command",
    "Drawing",
    "Effect",
    "Executor",
    "FilesystemStateStore",
    "Form",
    "FuturesExecutor",
    "Graph",
    "GraphInterrupt",
    "GraphResult",
    "InMemoryStateStore",
    "Inbox",
    "InlineExecutor",
    "Interrupt",
    "Middleware",
    "ModelMiddlewareContext",
    "Node",
    "NodeCache",
    "NodeContext",
    "OpenAIChat",
    "Panel",
    "PostgresStateStore",
    "RemoveMessage",
    "Replace",
    "Resume",
    "Retry",
    "RunOutcome",
    "SQLiteStateStore",
    "ScriptedChat",
    "Send",
    "Session",
    "StreamEvent",
    "ThreadExecutor",
    "Timeline",
    "Timeout",
    "Tool",
    "ToolCard",
    "ToolContext",
    "UnnamedInterruptWarning",
    "add",
    "add_messages",
    "branch",
    "build_react_agent",
    "call_tool",
    "compare",
    "draw",
    "from_langchain",
    "interrupt",
    "join",
    "merge_dict",
    "model_node",
    "node",
    "open_session",
    "play",
    "replace",
    "run_agent",
    "subgraph",
    "tool",
    "tool_runner",
    "when",
]
__version__ = "0.1.0"

_LAZY = {
    "AgentState": "nbgraph.agents.react",
    "Drawing": "nbgraph.drawing.drawing",
    "FilesystemStateStore": "nbgraph.state",
    "Form": "nbgraph.notebook.form",
    "FuturesExecutor": "nbgraph.core.futures",
    "InMemoryStateStore": "nbgraph.stores.memory",
    "Inbox": "nbgraph.notebook.inbox",
    "ModelMiddlewareContext": "nbgraph.agents.contexts",
    "OpenAIChat": "nbgraph.agents.openai_chat",
    "Panel": "nbgraph.notebook.panel",
    "PostgresStateStore": "nbgraph.stores.postgres",
    "RemoveMessage": "nbgraph.core.messages",
    "SQLiteStateStore": "nbgraph.stores.sqlite",
    "ScriptedChat": "nbgraph.agents.scripted",
    "Session": "nbgraph.session",
    "Timeline": "nbgraph.notebook.timeline",
    "Tool": "nbgraph.agents.tools",
    "ToolCard": "nbgraph.notebook.tool_card",
    "ToolContext": "nbgraph.agents.tool_context",
    "add_messages": "nbgraph.core.messages",
    "build_react_agent": "nbgraph.agents.react",
    "call_tool": "nbgraph.agents.calling",
    "compare": "nbgraph.notebook.compare",
    "draw": "nbgraph.notebook.display",
    "from_langchain": "nbgraph.agents.langchain_chat",
    "model_node": "nbgraph.agents.model",
    "open_session": "nbgraph.opening",
    "play": "nbgraph.notebook.play",
    "run_agent": "nbgraph.agents.react",
    "subgraph": "nbgraph.core.subgraph",
    "tool": "nbgraph.agents.tools",
    "tool_runner": "nbgraph.agents.runner",
}


def __getattr__(name: str) -> Any:
    if name in errors.__all__:  # as in nodestep, all errors are found here too
        return getattr(errors, name)
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Make the line magic `%nbgraph` known: `%load_ext nbgraph`."""
    from nbgraph.notebook.magics import register

    register(shell)


def _graph_bundle(graph: Graph, **options: Any) -> dict[str, Any]:
    """Return what `graph` shows in a cell, with IPython's `options`; the runtime draws nothing."""
    from nbgraph.drawing.drawing import Drawing

    drawing = Drawing(graph.shape)
    return drawing._repr_mimebundle_(**options)  # pyright: ignore[reportPrivateUsage] - IPython's protocol


def _mermaid(shape: Shape) -> str:
    """Return a `shape` as Mermaid text; the runtime itself knows no drawing."""
    from nbgraph.drawing.mermaid import mermaid

    return mermaid(shape)


def _write_notebook(session: Session, path: Path) -> None:
    """Write a session as a notebook; the session itself knows no notebooks."""
    from nbgraph.notebook.export import write_notebook

    write_notebook(session, path)


set_writer(_write_notebook)
Graph.show_in_cell = staticmethod(_graph_bundle)
GraphData.draw_as_mermaid = staticmethod(_mermaid)
