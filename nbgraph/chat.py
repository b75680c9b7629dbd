"""Chat messages, and what is said to a chat model.

A field of messages is declared with its reducer: `Annotated[list[Message], add_messages]`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from nbgraph.agents.chat import (
    Chat,
    ChatRequest,
    ChatResponse,
    ChatStreamChunk,
    ToolDefinition,
    assemble_stream,
    parse_tool_arguments,
)
from nbgraph.agents.scripted import ScriptedChat
from nbgraph.core.messages import (
    AIMessage,
    HumanMessage,
    Message,
    RemoveMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    add_messages,
)

if TYPE_CHECKING:
    from nbgraph.agents.langchain_chat import from_langchain
    from nbgraph.agents.openai_chat import OpenAIChat

__all__ = [
    "AIMessage",
    "Chat",
    "ChatRequest",
    "ChatResponse",
    "ChatStreamChunk",
    "HumanMessage",
    "Message",
    "OpenAIChat",
    "RemoveMessage",
    "ScriptedChat",
    "SystemMessage",
    "ToolCall",
    "ToolDefinition",
    "ToolMessage",
    "add_messages",
    "assemble_stream",
    "from_langchain",
    "parse_tool_arguments",
]

_LAZY = {
    "OpenAIChat": "nbgraph.agents.openai_chat",
    "from_langchain": "nbgraph.agents.langchain_chat",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)
