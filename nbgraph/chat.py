"""Chat messages: what a state with a conversation is made of.

A field of them is declared with its reducer, `messages: Annotated[list[Message], add_messages]`.
"""

from __future__ import annotations

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

__all__ = [
    "AIMessage",
    "HumanMessage",
    "Message",
    "RemoveMessage",
    "SystemMessage",
    "ToolCall",
    "ToolMessage",
    "add_messages",
]
