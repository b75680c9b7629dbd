"""Whether a conversation is one that a chat model takes: each tool call followed by its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nbgraph.core.messages import AIMessage, HumanMessage, Message, ToolCall, ToolMessage
from nbgraph.errors import ChatHistoryError

__all__ = ["asked_in_turn", "check_history", "repaired"]

_NOT_EXECUTED = "Tool call was not executed."


def check_history(messages: Sequence[Message]) -> None:
    """Refuse a conversation in which a tool call has no result right after it, or none asked.

    Raises
    ------
    ChatHistoryError
        Naming the call.
    """
    for message, results in _turns(messages):
        asked = [call.id for call in _calls(message)]
        given = [result.tool_call_id for result in results]
        for call_id in given:
            if call_id not in asked:
                raise ChatHistoryError(
                    f"The conversation has a result of the tool call {call_id!r}, which the "
                    "message before it does not ask for"
                )
        missing = [call_id for call_id in asked if call_id not in given]
        if missing:
            raise ChatHistoryError(
                f"The tool calls {', '.join(map(repr, missing))} have no results; continue the "
                "thread with an input of None, fork it, or pass repair_history=True"
            )


def repaired(messages: Sequence[Message]) -> list[Message]:
    """Return a conversation without results nobody asked for, and with one for each call."""
    whole: list[Message] = []
    for message, results in _turns(messages):
        if message is not None:
            whole.append(message)
        given = {result.tool_call_id: result for result in results}
        whole += [given.get(call.id) or _not_executed(call) for call in _calls(message)]
    return whole


def _not_executed(call: ToolCall) -> ToolMessage:
    return ToolMessage(content=_NOT_EXECUTED, name=call.name, tool_call_id=call.id)


def _turns(messages: Sequence[Message]) -> Iterator[tuple[Message | None, list[ToolMessage]]]:
    """Yield each message that is no tool result, with the tool results that follow it."""
    current: Message | None = None
    results: list[ToolMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            results.append(message)
            continue
        if current is not None or results:
            yield current, results
        current, results = message, []
    if current is not None or results:
        yield current, results


def _calls(message: Message | None) -> Sequence[ToolCall]:
    return message.tool_calls if isinstance(message, AIMessage) else ()


def asked_in_turn(messages: Sequence[Any]) -> list[str]:
    """Return the tools that the model has asked for since a person last spoke, in order."""
    return [call.name for message in turn_of(messages) for call in _calls(message)]


def turn_of(messages: Sequence[Any]) -> Sequence[Any]:
    """Return the messages since a person last spoke; all of them if nobody did."""
    spoke = (
        at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)
    )
    return messages[next(spoke, 0) :]
