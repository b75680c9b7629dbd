"""Requests and responses, the scripted model, and streams put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from nbgraph import ScriptedChat
from nbgraph.chat import (
    AIMessage,
    Chat,
    ChatRequest,
    ChatResponse,
    ChatStreamChunk,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    assemble_stream,
    parse_tool_arguments,
)
from nbgraph.errors import ModelProviderError

REQUEST = ChatRequest(messages=[HumanMessage(content="Hello")])


def together(*chunks: ChatStreamChunk) -> ChatResponse:
    async def stream() -> AsyncIterator[ChatStreamChunk]:
        for chunk in chunks:
            yield chunk

    return asyncio.run(assemble_stream(stream()))


def part(text: str | None = None, **more: Any) -> ChatStreamChunk:
    function = {"name": more.pop("name", None), "arguments": text}
    return ChatStreamChunk(tool_call_delta={**more, "function": function})


def test_text_refusal_and_the_rest_are_put_together() -> None:
    assert together(
        ChatStreamChunk(content_delta="Hel"),
        ChatStreamChunk(content_delta="lo", model="m"),
        ChatStreamChunk(refusal_delta="no"),
        ChatStreamChunk(finish_reason="stop"),
        ChatStreamChunk(usage={"total_tokens": 3}),
    ) == ChatResponse(
        content="Hello", refusal="no", finish_reason="stop", usage={"total_tokens": 3}, model="m"
    )
    assert together() == ChatResponse()


def test_a_tool_call_comes_in_pieces_and_several_at_once() -> None:
    response = together(
        part('{"city": ', index=0, id="a", name="weather"),
        part(None, index=1, id="b", name="time"),
        part('"Oslo"}', index=0),
        ChatStreamChunk(finish_reason="tool_calls"),
    )
    assert response.tool_calls == (
        ToolCall(id="a", name="weather", arguments={"city": "Oslo"}),
        ToolCall(id="b", name="time"),
    )


def test_a_piece_without_an_index_belongs_to_the_first_call() -> None:
    response = together(part('{"a": ', id="a", name="t"), part("1}"))
    assert response.tool_calls == (ToolCall(id="a", name="t", arguments={"a": 1}),)


@pytest.mark.parametrize(("given", "missing"), [({"id": "a"}, "name"), ({"name": "t"}, "id")])
def test_a_streamed_call_without_a_name_or_an_id_is_an_error(
    given: dict[str, Any], missing: str
) -> None:
    with pytest.raises(ModelProviderError, match=f"no {missing}"):
        together(part("{}", index=0, **given))


@pytest.mark.parametrize(
    "text", ["{", "nonsense", "[1]", '"a"', "3", "null", '{"a": NaN}', "[" * 100_000, "{'a': 1}"]
)
def test_arguments_that_are_no_json_object_are_told_and_not_raised(text: str) -> None:
    arguments, problem = parse_tool_arguments(text)
    assert arguments == {}
    assert problem
    call = together(part(text, index=0, id="a", name="t")).tool_calls[0]
    assert (call.arguments, call.arguments_error) == ({}, problem)


@pytest.mark.parametrize("text", [None, "", "  ", "{}"])
def test_no_text_is_no_arguments(text: str | None) -> None:
    assert parse_tool_arguments(text) == ({}, None)


def test_the_type_tells_one_message_from_another() -> None:
    messages = [
        {"type": "system", "content": "a"},
        {"type": "human", "content": "b"},
        {"type": "ai", "content": "c", "tool_calls": [{"id": "x", "name": "t"}]},
        {"type": "tool", "content": "d", "name": "t", "tool_call_id": "x"},
    ]
    request = ChatRequest.model_validate({"messages": messages})
    kinds: Sequence[type] = [type(each) for each in request.messages]
    assert kinds == [SystemMessage, HumanMessage, AIMessage, ToolMessage]


# --- the scripted model ---------------------------------------------------------------------


def test_a_scripted_model_answers_in_order_and_keeps_the_requests() -> None:
    chat = ScriptedChat(["one", ChatResponse(content="two")])
    assert isinstance(chat, Chat)
    assert chat.model == "scripted"
    assert [asyncio.run(chat.complete(REQUEST)).content for _ in range(2)] == ["one", "two"]
    assert (chat.requests, chat.responses) == ([REQUEST, REQUEST], [])
    with pytest.raises(ModelProviderError, match="no response left for request 3"):
        asyncio.run(chat.complete(REQUEST))


def test_a_default_answers_all_that_follow() -> None:
    chat = ScriptedChat(["one"], default="more")
    assert [asyncio.run(chat.complete(REQUEST)).content for _ in range(3)] == [
        "one",
        "more",
        "more",
    ]


def test_a_script_lists_texts_and_responses() -> None:
    with pytest.raises(TypeError, match="str and ChatResponse"):
        ScriptedChat([3])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "response",
    [
        ChatResponse(content="Hello, how  are\nyou? ", finish_reason="stop", usage={"n": 1}),
        ChatResponse(content=" "),
        ChatResponse(refusal="I will not."),
        ChatResponse(
            content="Wait.",
            tool_calls=(
                ToolCall(id="a", name="t", arguments={"x": [1, "é"]}),
                ToolCall(id="b", name="u"),
            ),
            finish_reason="tool_calls",
            model="m",
        ),
    ],
)
def test_a_scripted_stream_makes_the_response_again(response: ChatResponse) -> None:
    async def scenario() -> ChatResponse:
        return await assemble_stream(ScriptedChat([response]).stream(REQUEST))

    assert asyncio.run(scenario()) == response
