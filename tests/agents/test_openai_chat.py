"""`OpenAIChat` against a server that speaks the protocol."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from nbgraph import OpenAIChat, build_react_agent, tool
from nbgraph.chat import (
    AIMessage,
    ChatRequest,
    ChatResponse,
    ChatStreamChunk,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    assemble_stream,
)
from nbgraph.errors import (
    IntegrationNotInstalledError,
    ModelProviderError,
    ModelTimeoutError,
    NbgraphError,
)

from .completions import USAGE, Answer, Server, message, piece, serving, tool_call

T = TypeVar("T")
SECRET = "key-that-nobody-sees"
REQUEST = ChatRequest(messages=[HumanMessage(content="Hello")])
USED = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}


def using(server: Server, use: Callable[[OpenAIChat], Awaitable[T]], **options: Any) -> T:
    async def scenario() -> T:
        settings = {"base_url": server.url, "api_key": SECRET, "max_retries": 0, **options}
        chat = OpenAIChat("small", **settings)
        try:
            return await use(chat)
        finally:
            await chat.aclose()

    return asyncio.run(scenario())


def completed(server: Server, request: ChatRequest = REQUEST, **options: Any) -> ChatResponse:
    return using(server, lambda chat: chat.complete(request), **options)


def streamed(server: Server, request: ChatRequest = REQUEST, **options: Any) -> ChatResponse:
    return using(server, lambda chat: assemble_stream(chat.stream(request)), **options)


# --- what is sent ---------------------------------------------------------------------------


class Ticket(BaseModel):
    title: str


def test_a_request_is_sent_as_the_protocol_has_it() -> None:
    request = ChatRequest(
        messages=[
            SystemMessage(content="Be kind."),
            HumanMessage(content="Hello"),
            AIMessage(tool_calls=(ToolCall(id="a", name="find", arguments={"q": "é"}),)),
            ToolMessage(content="found", name="find", tool_call_id="a"),
            AIMessage(content="Well", refusal="no"),
        ],
        tools=[ToolDefinition(name="find", description="Find.", input_schema={"type": "object"})],
        tool_choice="find",
        output_schema=Ticket,
    )
    with serving(message("Hi")) as server:
        completed(server, request, options={"temperature": 0})
    (sent,) = server.requests
    assert sent["model"] == "small"
    assert sent["temperature"] == 0
    assert sent["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hello"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [tool_call("a", "find", '{"q": "\\u00e9"}')],
        },
        {"role": "tool", "tool_call_id": "a", "content": "found"},
        {"role": "assistant", "content": "Well", "refusal": "no"},
    ]
    function = {"name": "find", "description": "Find.", "parameters": {"type": "object"}}
    assert sent["tools"] == [{"type": "function", "function": function}]
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "find"}}
    assert sent["response_format"]["json_schema"]["name"] == "Ticket"
    assert server.seen[0]["authorization"] == f"Bearer {SECRET}"
    assert server.seen[0]["path"] == "/v1/chat/completions"


@pytest.mark.parametrize("choice", ["auto", "required", "none"])
def test_a_choice_of_tools_is_sent_with_tools_only(choice: str) -> None:
    tools = [ToolDefinition(name="t", description="T.", input_schema={"type": "object"})]
    with serving(message("a"), message("b")) as server:
        completed(server, REQUEST.model_copy(update={"tool_choice": choice, "tools": tools}))
        completed(server, REQUEST.model_copy(update={"tool_choice": choice}))
    assert server.requests[0]["tool_choice"] == choice
    assert "tool_choice" not in server.requests[1]


# --- what comes back ------------------------------------------------------------------------


def test_text_comes_back_with_what_it_took() -> None:
    with serving(message("Hi")) as server:
        response = completed(server)
    assert (response.content, response.finish_reason) == ("Hi", "stop")
    assert (response.usage, response.model, response.tool_calls) == (USED, "small-1", ())


def test_a_refusal_comes_back_as_one() -> None:
    with serving(message(refusal="I will not.")) as server:
        response = completed(server)
    assert (response.content, response.refusal) == (None, "I will not.")


@pytest.mark.parametrize("text", ["{", "[1]", "nonsense", '{"a": NaN}'])
def test_arguments_that_are_no_json_object_come_back_as_the_models_mistake(text: str) -> None:
    calls = [tool_call("a", "t", text), tool_call("b", "t", '{"x": 1}'), tool_call("c", "t", "")]
    with serving(message(tool_calls=calls)) as server:
        wrong, right, none = completed(server).tool_calls
    assert (wrong.arguments, bool(wrong.arguments_error)) == ({}, True)
    assert (right.arguments, right.arguments_error) == ({"x": 1}, None)
    assert (none.arguments, none.arguments_error) == ({}, None)


def test_a_stream_comes_piece_by_piece_with_text_calls_and_usage() -> None:
    events = [
        piece(role="assistant", content=""),
        piece(content="Hel"),
        piece(content="lo"),
        piece(tool_calls=[{"index": 0, **tool_call("a", "t", '{"x"')}]),
        piece(tool_calls=[{"index": 0, "function": {"arguments": ": 1}"}}]),
        piece(tool_calls=[{"index": 1, **tool_call("b", "u", "{")}]),
        piece("tool_calls"),
        USAGE,
        "[DONE]",
    ]

    async def chunks(chat: OpenAIChat) -> list[ChatStreamChunk]:
        return [chunk async for chunk in chat.stream(REQUEST)]

    with serving(Answer(events=events), Answer(events=events)) as server:
        pieces = using(server, chunks)
        response = streamed(server)
    assert [chunk.content_delta for chunk in pieces if chunk.content_delta] == ["Hel", "lo"]
    assert response.content == "Hello"
    assert response.tool_calls[0] == ToolCall(id="a", name="t", arguments={"x": 1})
    assert response.tool_calls[1].arguments_error
    assert (response.finish_reason, response.usage) == ("tool_calls", USED)
    assert server.requests[0]["stream"] is True
    assert server.requests[0]["stream_options"] == {"include_usage": True}


def test_a_refusal_is_streamed() -> None:
    events = [piece(refusal="I will"), piece(refusal=" not."), piece("stop"), "[DONE]"]
    with serving(Answer(events=events)) as server:
        assert streamed(server).refusal == "I will not."


# --- what goes wrong ------------------------------------------------------------------------

BOTH = pytest.mark.parametrize("ask", [completed, streamed], ids=["complete", "stream"])


@BOTH
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 429, 500, 503])
def test_a_status_of_failure_is_an_error_that_keeps_it(ask: Any, status: int) -> None:
    body = {"error": {"message": "not now", "type": "x", "code": None, "param": None}}
    refused = pytest.raises(ModelProviderError, match="not now")
    with serving(Answer(body, status=status)) as server, refused as raised:
        ask(server)
    assert raised.value.status == status
    assert SECRET not in str(raised.value)


@BOTH
def test_a_redirect_is_not_followed_with_the_key_in_hand(ask: Any) -> None:
    with serving() as other:
        headers = {"Location": f"{other.url}/chat/completions"}
        moved = Answer({}, status=307, headers=headers)
        with serving(moved) as server, pytest.raises(ModelProviderError) as raised:
            ask(server)
    assert raised.value.status == 307
    assert other.requests == []


@BOTH
def test_a_refusal_for_the_moment_is_repeated(ask: Any) -> None:
    busy = Answer({"error": {"message": "busy"}}, status=429, headers={"Retry-After-Ms": "1"})
    fine = message("Hi") if ask is completed else Answer(events=[piece("stop", content="Hi")])
    with serving(busy, busy, fine) as server:
        assert ask(server, max_retries=2).content == "Hi"
    assert len(server.requests) == 3


@BOTH
def test_a_server_that_says_nothing_is_a_timeout(ask: Any) -> None:
    late = pytest.raises(ModelTimeoutError, match="in time")
    with serving(Answer(silent=True)) as server, late:
        ask(server, timeout=0.05)


@BOTH
def test_a_server_that_is_not_there_is_an_error(ask: Any) -> None:
    with serving() as server:
        pass
    with pytest.raises(ModelProviderError, match="could not be asked"):
        ask(server)


@pytest.mark.parametrize(
    "answer",
    [
        Answer({}),
        Answer({"choices": []}),
        Answer(b"<html>"),
        Answer(b"{"),
        Answer([1]),
        Answer({"choices": [{"index": 0, "message": None, "finish_reason": "stop"}]}),
        message("Hi" * 100),
    ],
    ids=["empty", "no choice", "HTML", "half", "a list", "no message", "cut off"],
)
def test_an_answer_that_cannot_be_read_is_an_error(answer: Answer) -> None:
    answer.cut = answer.body == message("Hi" * 100).body
    with serving(answer) as server, pytest.raises(ModelProviderError):
        completed(server)


NAMELESS = {"index": 0, "function": {"arguments": "{}"}}


@pytest.mark.parametrize(
    "answer",
    [
        Answer(events=[piece(content="Hel")], cut=True),
        Answer(events=[piece(content="Hel"), "[DONE]"]),
        Answer(events=[]),
        Answer(events=[piece(content="Hel"), "{"]),
        Answer(events=[piece(content="Hel"), {"error": {"message": "overloaded"}}]),
        Answer(
            events=[
                piece(tool_calls=[{"index": 0, "function": {"arguments": "{}"}}]),
                piece("stop"),
            ]
        ),
    ],
    ids=["cut", "no end", "nothing", "half", "error event", "nameless call"],
)
def test_a_stream_that_breaks_off_is_an_error(answer: Answer) -> None:
    with serving(answer) as server, pytest.raises(ModelProviderError):
        streamed(server)


def test_without_a_key_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(message("Hi")) as server, pytest.raises(ModelProviderError):
        completed(server, api_key=None)
    assert server.requests == []


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(IntegrationNotInstalledError, match="openai"):
        OpenAIChat("small")


def test_every_error_of_a_provider_is_one_of_ours() -> None:
    assert issubclass(ModelTimeoutError, ModelProviderError)
    assert issubclass(ModelProviderError, NbgraphError)


# --- with an agent --------------------------------------------------------------------------


@tool
def find(order_id: str) -> str:
    """Find an order."""
    return f"found {order_id}"


def test_an_agent_tells_the_model_that_its_arguments_could_not_be_read() -> None:
    wrong = message(tool_calls=[tool_call("a", "find", '{"order_id": ')])
    right = message(tool_calls=[tool_call("b", "find", '{"order_id": "A-1"}')])
    with serving(wrong, right, message("It is there.")) as server:

        async def scenario(chat: OpenAIChat) -> Any:
            agent = build_react_agent(chat, tools=[find])
            return await agent.ainvoke({"messages": [HumanMessage(content="A-1?")]})

        done = using(server, scenario)
    assert done.state.final_text == "It is there."
    told = [each["content"] for each in server.requests[2]["messages"] if each["role"] == "tool"]
    assert "could not be read" in told[0]
    assert told[1] == '{"result":"found A-1"}'


def test_one_chat_serves_several_loops() -> None:
    with serving(message("a"), message("b")) as server:
        chat = OpenAIChat("small", base_url=server.url, api_key=SECRET, max_retries=0)

        async def once() -> str | None:
            try:
                return (await chat.complete(REQUEST)).content
            finally:
                await chat.aclose()

        assert [asyncio.run(once()), asyncio.run(once())] == ["a", "b"]
    assert SECRET not in repr(chat)
