"""What is said to a chat model and what comes back, and the protocol a chat model follows."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from nbgraph.core.json_values import NotJsonError, to_json
from nbgraph.core.messages import Message, ToolCall
from nbgraph.errors import ModelProviderError

__all__ = [
    "Chat",
    "ChatRequest",
    "ChatResponse",
    "ChatStreamChunk",
    "ToolDefinition",
    "assemble_stream",
    "parse_tool_arguments",
]


class _Record(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", defer_build=True, arbitrary_types_allowed=True
    )


class ToolDefinition(_Record):
    """A tool as it is offered to a chat model.

    Attributes
    ----------
    name, description : str
        What the model calls it, and what it reads about it.
    input_schema : dict
        JSON Schema of its arguments.
    """

    name: str
    description: str
    input_schema: dict[str, Any]


class ChatRequest(_Record):
    """What is sent to a chat model.

    Attributes
    ----------
    messages : list of Message
        The conversation.
    tools : list of ToolDefinition
        What the model may ask for.
    tool_choice : str or None
        `"auto"`, `"required"`, `"none"`, or the name of a tool.
    output_schema : type or None
        The pydantic model the final answer must fit.
    """

    messages: list[Message]
    tools: list[ToolDefinition] = Field(default_factory=list[ToolDefinition])
    tool_choice: str | None = None
    output_schema: Any = None


class ChatResponse(_Record):
    """What a chat model answered.

    Attributes
    ----------
    content, refusal : str or None
        What it said, or why it would not.
    tool_calls : tuple of ToolCall
        What it asks for.
    finish_reason : str or None
        Why it ended, in the provider's words: `"stop"`, `"tool_calls"`, `"length"`.
    usage : dict or None
        The tokens it took: `{"input_tokens": 12, "output_tokens": 5, "total_tokens": 17}`.
    model : str or None
        Which model answered.
    raw : Any
        The provider's own object, which nothing reads.
    """

    content: str | None = None
    refusal: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    model: str | None = None
    raw: Any = Field(default=None, exclude=True, repr=False)


class ChatStreamChunk(_Record):
    """A piece of an answer.

    Attributes
    ----------
    content_delta, refusal_delta : str or None
        The next piece of what it says, or of why it will not.
    tool_call_delta : dict or None
        The next piece of a tool call, shaped
        `{"index": 0, "id": ..., "function": {"name": ..., "arguments": "..."}}`.
    finish_reason, usage, model, raw
        As `ChatResponse` has them; the last one that is given counts.
    """

    content_delta: str | None = None
    refusal_delta: str | None = None
    tool_call_delta: dict[str, Any] | None = None
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    model: str | None = None
    raw: Any = Field(default=None, exclude=True, repr=False)


@runtime_checkable
class Chat(Protocol):
    """A chat model: anything with a `model`, its name, and these two methods."""

    model: str

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the answer to `request`; a `ModelProviderError` where there is none."""
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[ChatStreamChunk]:
        """Return the answer to `request` piece by piece."""
        ...


def parse_tool_arguments(text: str | None) -> tuple[dict[str, Any], str | None]:
    """Return the arguments a model wrote as JSON, and why they could not be read.

    No `text` is no arguments.
    """
    if not text or not text.strip():
        return {}, None
    try:
        found = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return {}, f"they are no JSON: {error}"
    if not isinstance(found, dict):
        return {}, f"they are no JSON object but {type(found).__name__}"
    return kept_arguments(cast("dict[str, Any]", found))


def kept_arguments(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return arguments that can be kept in a state, and why they cannot where that is so."""
    try:
        return to_json(dict(arguments), where="they"), None
    except NotJsonError as error:
        return {}, str(error)


def whole_text(text: str) -> str:
    """Return text as it can be kept: halves of a character that came in two pieces are joined."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


@dataclass(slots=True)
class _CallParts:
    """A tool call that is still coming in."""

    id: str | None = None
    name: str = ""
    text: list[str] = field(default_factory=list[str])

    def add(self, delta: Mapping[str, Any]) -> None:
        function: Mapping[str, Any] = delta.get("function") or {}
        self.id = self.id or delta.get("id")
        self.name = self.name or function.get("name") or ""
        self.text.append(function.get("arguments") or "")

    def joined(self, index: int) -> ToolCall:
        if not self.name or not self.id:
            missing = "name" if not self.name else "id"
            raise ModelProviderError(f"The streamed tool call {index} has no {missing}")
        arguments, problem = parse_tool_arguments(whole_text("".join(self.text)))
        return ToolCall(id=self.id, name=self.name, arguments=arguments, arguments_error=problem)


async def assemble_stream(chunks: AsyncIterator[ChatStreamChunk]) -> ChatResponse:
    """Return the response that the `chunks` of a stream make together.

    Raises
    ------
    ModelProviderError
        If a streamed tool call has no name or no id.
    """
    return assembled([chunk async for chunk in chunks])


def assembled(chunks: Iterable[ChatStreamChunk]) -> ChatResponse:
    """Return the response that chunks make together."""
    content: list[str] = []
    refusal: list[str] = []
    calls: dict[int, _CallParts] = {}
    last: dict[str, Any] = {}
    for chunk in chunks:
        content.append(chunk.content_delta or "")
        refusal.append(chunk.refusal_delta or "")
        if chunk.tool_call_delta is not None:
            index = chunk.tool_call_delta.get("index") or 0
            calls.setdefault(index, _CallParts()).add(chunk.tool_call_delta)
        for name in ("finish_reason", "usage", "model"):
            value = getattr(chunk, name)
            if value is not None:
                last[name] = value
    return ChatResponse(
        content=whole_text("".join(content)) or None,
        refusal=whole_text("".join(refusal)) or None,
        tool_calls=tuple(calls[index].joined(index) for index in sorted(calls)),
        **last,
    )
