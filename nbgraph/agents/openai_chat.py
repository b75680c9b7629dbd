"""Any model behind an OpenAI-compatible server, by the official client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from nbgraph.agents.chat import (
    ChatRequest,
    ChatResponse,
    ChatStreamChunk,
    ToolDefinition,
    parse_tool_arguments,
)
from nbgraph.core.messages import (
    AIMessage,
    HumanMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from nbgraph.errors import IntegrationNotInstalledError, ModelProviderError, ModelTimeoutError

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAIChat"]


class OpenAIChat:
    """A chat model behind OpenAI's chat completions, or a server that speaks the same protocol.

    Parameters
    ----------
    model : str
        The model's name.
    base_url : str, optional
        The server; by default the client's own, which is `OPENAI_BASE_URL` or OpenAI.
    api_key : str, optional
        By default `OPENAI_API_KEY`. It is kept in no state, event or message.
    timeout : float
        Seconds one attempt may take.
    max_retries : int
        How often the client repeats a request that was refused for the moment.
    options : dict, optional
        More of a request, such as `{"temperature": 0}`.

    Raises
    ------
    IntegrationNotInstalledError
        Without the package `openai`.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        try:
            import openai
        except ImportError as error:
            raise IntegrationNotInstalledError("openai", "openai") from error
        self.model = model
        self._openai = openai
        self._settings: dict[str, Any] = {
            "base_url": base_url,
            "api_key": api_key,
            "timeout": timeout,
            "max_retries": max_retries,
        }
        self._options = dict(options or {})
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = (
            WeakKeyDictionary()
        )

    def _client(self) -> openai.AsyncOpenAI:
        """Return the client of the running loop: its connections belong to one."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            # A server that redirects must not be followed with the key in hand.
            http = self._openai.DefaultAsyncHttpxClient(follow_redirects=False)
            self._clients[loop] = self._openai.AsyncOpenAI(**self._settings, http_client=http)
        return self._clients[loop]

    async def aclose(self) -> None:
        """Close the connections that were opened on the running loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the model's answer to `request`.

        Raises
        ------
        ModelTimeoutError
            If it does not come in time.
        ModelProviderError
            If the server cannot be reached, refuses, or answers what cannot be read.
        """
        with self._as_ours():
            found = await self._create(**self._asked(request))
        return _response(found)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatStreamChunk]:
        """Yield the model's answer to `request` piece by piece.

        Raises
        ------
        ModelTimeoutError, ModelProviderError
            As `complete` does.
        """
        ended = False
        async for chunk in self._pieces(request):
            ended = ended or chunk.finish_reason is not None
            yield chunk
        if not ended:
            raise ModelProviderError(f"The answer of {self.model!r} broke off before its end")

    async def _pieces(self, request: ChatRequest) -> AsyncIterator[ChatStreamChunk]:
        options = {"stream": True, "stream_options": {"include_usage": True}}
        with self._as_ours():
            pieces = await self._create(**self._asked(request), **options)
            async with aclosing(_all_chunks(pieces)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def _create(self, **asked: Any) -> Any:
        completions: Any = self._client().chat.completions
        return await completions.create(**asked)

    def _asked(self, request: ChatRequest) -> dict[str, Any]:
        asked: dict[str, Any] = {
            **self._options,
            "model": self.model,
            "messages": [_message(each) for each in request.messages],
        }
        if request.tools:
            asked["tools"] = [_tool(each) for each in request.tools]
        if request.tools and request.tool_choice is not None:
            asked["tool_choice"] = _choice(request.tool_choice)
        if request.output_schema is not None:
            asked["response_format"] = _format(request.output_schema)
        return asked

    @contextmanager
    def _as_ours(self) -> Generator[None]:
        """Raise what the client raises as an error of ours, which keeps the status."""
        try:
            yield
        except (self._openai.APITimeoutError, TimeoutError) as error:
            raise ModelTimeoutError(f"{self.model!r} did not answer in time") from error
        except self._openai.APIStatusError as error:
            raise ModelProviderError(
                f"{self.model!r} was refused with status {error.status_code}: {error.message}",
                error.status_code,
            ) from error
        except (self._openai.OpenAIError, OSError, ValueError) as error:
            raise ModelProviderError(
                f"{self.model!r} could not be asked: {type(error).__name__}: {error}"
            ) from error
        except Exception as error:
            if not type(error).__module__.startswith("httpx"):
                raise
            raise ModelProviderError(
                f"The answer of {self.model!r} broke off: {type(error).__name__}: {error}"
            ) from error

    def __repr__(self) -> str:
        return f"<OpenAIChat {self.model!r}>"


# --- to the server --------------------------------------------------------------------------


def _message(message: Message) -> dict[str, Any]:
    match message:
        case SystemMessage(content=content):
            return {"role": "system", "content": content}
        case HumanMessage(content=content):
            return {"role": "user", "content": content}
        case ToolMessage(content=content, tool_call_id=call_id):
            return {"role": "tool", "tool_call_id": call_id, "content": content}
        case AIMessage(content=content, refusal=refusal, tool_calls=calls):
            said: dict[str, Any] = {"role": "assistant", "content": content}
            if refusal is not None:
                said["refusal"] = refusal
            if calls:
                said["tool_calls"] = [_call(each) for each in calls]
            return said


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    }
    return {"type": "function", "function": function}


def _choice(choice: str) -> Any:
    if choice in ("auto", "required", "none"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _format(output_schema: Any) -> dict[str, Any]:
    schema = {"name": output_schema.__name__, "schema": output_schema.model_json_schema()}
    return {"type": "json_schema", "json_schema": schema}


# --- from the server ------------------------------------------------------------------------


def _response(found: Any) -> ChatResponse:
    choices: Sequence[Any] = getattr(found, "choices", None) or ()
    if not choices or choices[0].message is None:
        raise ModelProviderError("The server answered without a choice")
    choice = choices[0]
    message = choice.message
    return ChatResponse(
        content=message.content,
        refusal=message.refusal,
        tool_calls=tuple(_read_call(each) for each in message.tool_calls or ()),
        finish_reason=choice.finish_reason,
        usage=_usage(found.usage),
        model=found.model,
        raw=found,
    )


def _read_call(call: Any) -> ToolCall:
    function = getattr(call, "function", None)
    if function is None or not function.name:
        raise ModelProviderError("The server answered with a tool call that names no function")
    arguments, problem = parse_tool_arguments(function.arguments)
    return ToolCall(id=call.id, name=function.name, arguments=arguments, arguments_error=problem)


async def _all_chunks(pieces: Any) -> AsyncGenerator[ChatStreamChunk, None]:
    """Yield what a stream says, and close it."""
    async with pieces:
        async for piece in pieces:
            for chunk in _chunks(piece):
                yield chunk


def _chunks(piece: Any) -> Iterator[ChatStreamChunk]:
    """Yield what a piece of the stream says; the last one may say only what it all took."""
    usage = _usage(getattr(piece, "usage", None))
    if usage is not None:
        yield ChatStreamChunk(usage=usage, model=piece.model, raw=piece)
    for choice in piece.choices or ():
        delta = choice.delta
        for call in (delta.tool_calls if delta else None) or ():
            yield ChatStreamChunk(
                tool_call_delta=call.model_dump(exclude_none=True), model=piece.model, raw=piece
            )
        said = ChatStreamChunk(
            content_delta=delta.content if delta else None,
            refusal_delta=delta.refusal if delta else None,
            finish_reason=choice.finish_reason,
            model=piece.model,
            raw=piece,
        )
        if said.content_delta or said.refusal_delta or said.finish_reason:
            yield said


def _usage(usage: Any) -> dict[str, Any] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
    }
