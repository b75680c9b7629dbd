"""Any LangChain chat model as a chat model of ours."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nbgraph.agents.chat import ChatRequest, ChatResponse, ChatStreamChunk, parse_tool_arguments
from nbgraph.core.messages import (
    AIMessage,
    HumanMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from nbgraph.errors import (
    GraphConfigError,
    IntegrationNotInstalledError,
    ModelProviderError,
    ModelTimeoutError,
)

__all__ = ["LangChainChat", "from_langchain"]


def from_langchain(chat_model: Any) -> LangChainChat:
    """Return a LangChain chat model as one that agents of nbgraph take.

    Parameters
    ----------
    chat_model : BaseChatModel
        Any of LangChain's. It is asked by its async methods.

    Raises
    ------
    TypeError
        If it is no LangChain chat model.
    IntegrationNotInstalledError
        Without the package `langchain-core`.
    """
    try:
        from langchain_core.language_models import BaseChatModel
    except ImportError as error:
        raise IntegrationNotInstalledError("langchain-core", "langchain") from error
    if not isinstance(chat_model, BaseChatModel):
        raise TypeError(f"from_langchain takes a LangChain chat model, got {chat_model!r}")
    return LangChainChat(chat_model)


class LangChainChat:
    """A LangChain chat model; made by `from_langchain`."""

    def __init__(self, chat_model: Any) -> None:
        names = (getattr(chat_model, name, None) for name in ("model_name", "model"))
        self.model = (
            next((name for name in names if isinstance(name, str)), None)
            or type(chat_model).__name__
        )
        self._chat_model = chat_model

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the model's answer.

        Raises
        ------
        ModelTimeoutError
            If it does not come in time.
        ModelProviderError
            If the model raises.
        GraphConfigError
            If there are tools, and the model takes none.
        """
        with self._as_ours():
            found = await self._ready(request).ainvoke(_messages(request))
        return _response(found)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatStreamChunk]:
        """Yield the model's answer piece by piece; raises what `complete` raises."""
        with self._as_ours():
            async for piece in self._ready(request).astream(_messages(request)):
                for chunk in _chunks(piece):
                    yield chunk

    def _ready(self, request: ChatRequest) -> Any:
        """Return the model with the tools it may ask for."""
        if not request.tools:
            return self._chat_model
        tools = [
            {
                "type": "function",
                "function": {
                    "name": each.name,
                    "description": each.description,
                    "parameters": each.input_schema,
                },
            }
            for each in request.tools
        ]
        choice = {} if request.tool_choice is None else {"tool_choice": request.tool_choice}
        try:
            return self._chat_model.bind_tools(tools, **choice)
        except NotImplementedError as error:
            raise GraphConfigError(f"The chat model {self.model!r} takes no tools") from error

    @contextmanager
    def _as_ours(self) -> Generator[None]:
        try:
            yield
        except (GraphConfigError, ModelProviderError):
            raise
        except TimeoutError as error:
            raise ModelTimeoutError(f"{self.model!r} did not answer in time") from error
        except Exception as error:
            status = getattr(error, "status_code", None)
            raise ModelProviderError(
                f"{self.model!r} could not be asked: {type(error).__name__}: {error}",
                status if isinstance(status, int) else None,
            ) from error

    def __repr__(self) -> str:
        return f"<LangChainChat {self.model!r}>"


# --- to the model ---------------------------------------------------------------------------


def _messages(request: ChatRequest) -> list[Any]:
    listed = [_message(each) for each in request.messages]
    if request.output_schema is None:
        return listed
    schema = json.dumps(request.output_schema.model_json_schema())
    asked = f"When you answer without a tool, answer with JSON only, of this JSON Schema: {schema}"
    return [_message(SystemMessage(content=asked)), *listed]


def _message(message: Message) -> Any:
    from langchain_core import messages as theirs  # loaded when first needed

    match message:
        case SystemMessage(content=content):
            return theirs.SystemMessage(content=content)
        case HumanMessage(content=content):
            return theirs.HumanMessage(content=content)
        case ToolMessage(content=content, tool_call_id=call_id, name=name):
            return theirs.ToolMessage(content=content, tool_call_id=call_id or "", name=name)
        case AIMessage(content=content, tool_calls=calls):
            listed = [theirs.ToolCall(name=c.name, args=c.arguments, id=c.id) for c in calls]
            return theirs.AIMessage(content=content or "", tool_calls=listed)


# --- from the model -------------------------------------------------------------------------


def _response(found: Any) -> ChatResponse:
    calls = [ToolCall(id=c["id"], name=c["name"], arguments=c["args"]) for c in found.tool_calls]
    calls += [_unread(each) for each in found.invalid_tool_calls]
    return ChatResponse(
        content=str(found.text) or None,
        refusal=found.additional_kwargs.get("refusal"),
        tool_calls=tuple(calls),
        finish_reason=_reason(found),
        usage=_usage(found),
        raw=found,
    )


def _unread(call: Mapping[str, Any]) -> ToolCall:
    _, problem = parse_tool_arguments(call.get("args"))
    return ToolCall(
        id=call.get("id"),
        name=call.get("name") or "",
        arguments_error=problem or call.get("error") or "they are no JSON",
    )


def _chunks(piece: Any) -> Iterator[ChatStreamChunk]:
    for part in piece.tool_call_chunks:
        function = {"name": part.get("name"), "arguments": part.get("args")}
        delta = {"index": part.get("index") or 0, "id": part.get("id"), "function": function}
        yield ChatStreamChunk(tool_call_delta=delta, raw=piece)
    said = ChatStreamChunk(
        content_delta=str(piece.text) or None,
        refusal_delta=piece.additional_kwargs.get("refusal"),
        finish_reason=_reason(piece),
        usage=_usage(piece),
        raw=piece,
    )
    if any((said.content_delta, said.refusal_delta, said.finish_reason, said.usage)):
        yield said


def _reason(message: Any) -> str | None:
    found = message.response_metadata.get("finish_reason")
    return found if isinstance(found, str) else None


def _usage(message: Any) -> dict[str, Any] | None:
    return None if message.usage_metadata is None else dict(message.usage_metadata)
