"""A chat model that says what it is told to: for tests, demos and exercises, without a network."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable

from nbgraph.agents.chat import ChatRequest, ChatResponse, ChatStreamChunk
from nbgraph.errors import ModelProviderError

__all__ = ["ScriptedChat"]

_WORDS = re.compile(r"\s*\S+\s*|\s+")


class ScriptedChat:
    """Answers each request with the next response of a script.

    Parameters
    ----------
    responses : list of str or ChatResponse
        In order; a str is a response of that text.
    default : str or ChatResponse, optional
        Answers every request after them.

    Attributes
    ----------
    requests : list of ChatRequest
        All that were made.
    responses : list of ChatResponse
        Those that are left.
    model : str
        `"scripted"`.
    """

    def __init__(
        self,
        responses: Iterable[str | ChatResponse],
        *,
        default: str | ChatResponse | None = None,
    ) -> None:
        self.model = "scripted"
        self.requests: list[ChatRequest] = []
        self.responses = [_response(each) for each in responses]
        self._default = None if default is None else _response(default)

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the next response, and keep `request`.

        Raises
        ------
        ModelProviderError
            If the script has run out.
        """
        self.requests.append(request)
        if self.responses:
            return self.responses.pop(0)
        if self._default is None:
            raise ModelProviderError(
                f"ScriptedChat has no response left for request {len(self.requests)}"
            )
        return self._default

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatStreamChunk]:
        """Yield the next response to `request`: word by word, then its tool calls, then its end."""
        response = await self.complete(request)
        for word in _WORDS.findall(response.content or ""):
            yield ChatStreamChunk(content_delta=word)
        for word in _WORDS.findall(response.refusal or ""):
            yield ChatStreamChunk(refusal_delta=word)
        for index, call in enumerate(response.tool_calls):
            function = {"name": call.name, "arguments": json.dumps(call.arguments)}
            delta = {"index": index, "id": call.id, "function": function}
            yield ChatStreamChunk(tool_call_delta=delta)
        yield ChatStreamChunk(
            finish_reason=response.finish_reason, usage=response.usage, model=response.model
        )


def _response(given: str | ChatResponse) -> ChatResponse:
    match given:
        case str():
            return ChatResponse(content=given)
        case ChatResponse():
            return given
        case _:
            raise TypeError(f"A script lists str and ChatResponse, got {given!r}")
