"""Any LangChain chat model as one of ours, with LangChain's own fakes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage as TheirAIMessage
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import BaseModel, Field

from nbgraph import build_react_agent, from_langchain, run_agent, tool
from nbgraph.chat import (
    AIMessage,
    Chat,
    ChatRequest,
    ChatResponse,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    assemble_stream,
)
from nbgraph.errors import (
    GraphConfigError,
    IntegrationNotInstalledError,
    ModelProviderError,
    ModelTimeoutError,
)

REQUEST = ChatRequest(messages=[HumanMessage(content="Hello")])


class Toolbox(GenericFakeChatModel):
    """A fake that takes tools, keeps what it is sent, and streams what it is given."""

    bound: list[dict[str, Any]] = Field(default_factory=list)
    seen: list[Any] = Field(default_factory=list)
    chunks: list[Any] = Field(default_factory=list)
    model_name: str = "toolbox-1"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Runnable[Any, Any]:
        self.bound.append({"tools": list(tools), **options})
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.seen.append(messages)
        return ChatResult(generations=[ChatGeneration(message=next(self.messages))])

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.seen.append(messages)
        for chunk in self.chunks:
            yield ChatGenerationChunk(message=chunk)


class Fails(GenericFakeChatModel):
    error: Any = None

    def _generate(self, *args: Any, **options: Any) -> ChatResult:
        raise self.error

    def _stream(self, *args: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        raise self.error


def toolbox(*messages: TheirAIMessage, chunks: Sequence[Any] = ()) -> Toolbox:
    return Toolbox(messages=iter(messages), chunks=list(chunks))


def completed(model: Any, request: ChatRequest = REQUEST) -> ChatResponse:
    return asyncio.run(from_langchain(model).complete(request))


def streamed(model: Any, request: ChatRequest = REQUEST) -> ChatResponse:
    async def scenario() -> ChatResponse:
        return await assemble_stream(from_langchain(model).stream(request))

    return asyncio.run(scenario())


def test_a_fake_of_langchains_own_answers() -> None:
    chat = from_langchain(FakeListChatModel(responses=["one", "two"]))
    assert isinstance(chat, Chat)
    assert chat.model == "FakeListChatModel"
    agent = build_react_agent(chat, tools=[])
    assert asyncio.run(run_agent(agent, "Hello")) == "one"
    assert streamed(FakeListChatModel(responses=["Hello you"])).content == "Hello you"


def test_a_conversation_is_sent_as_langchains_messages() -> None:
    model = toolbox(TheirAIMessage(content="Hi"))
    request = ChatRequest(
        messages=[
            SystemMessage(content="Be kind."),
            HumanMessage(content="Hello"),
            AIMessage(tool_calls=(ToolCall(id="a", name="t", arguments={"x": 1}),)),
            ToolMessage(content="r", name="t", tool_call_id="a"),
        ],
        tools=[ToolDefinition(name="t", description="T.", input_schema={"type": "object"})],
        tool_choice="t",
    )
    assert completed(model, request).content == "Hi"
    (sent,) = model.seen
    assert [each.type for each in sent] == ["system", "human", "ai", "tool"]
    assert sent[2].tool_calls == [{"name": "t", "args": {"x": 1}, "id": "a", "type": "tool_call"}]
    assert (sent[3].content, sent[3].tool_call_id, sent[3].name) == ("r", "a", "t")
    function = {"name": "t", "description": "T.", "parameters": {"type": "object"}}
    assert model.bound == [
        {"tools": [{"type": "function", "function": function}], "tool_choice": "t"}
    ]
    assert from_langchain(model).model == "toolbox-1"


def test_an_answer_comes_back_with_calls_usage_and_reason() -> None:
    message = TheirAIMessage(
        content=[{"type": "text", "text": "Let me "}, {"type": "text", "text": "see"}],
        tool_calls=[{"name": "t", "args": {"x": 1}, "id": "a"}],
        invalid_tool_calls=[{"name": "t", "args": '{"x": ', "id": "b", "error": None}],
        response_metadata={"finish_reason": "tool_calls"},
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        additional_kwargs={"refusal": "no"},
    )
    response = completed(toolbox(message))
    assert response.content == "Let me see"
    assert response.refusal == "no"
    assert response.finish_reason == "tool_calls"
    assert response.usage == {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    right, wrong = response.tool_calls
    assert right == ToolCall(id="a", name="t", arguments={"x": 1})
    assert (wrong.id, wrong.name, wrong.arguments) == ("b", "t", {})
    assert "no JSON" in str(wrong.arguments_error)


def test_a_stream_comes_back_with_the_pieces_of_its_calls() -> None:
    def part(**given: Any) -> AIMessageChunk:
        piece = {"name": None, "args": None, "id": None, "index": 0, **given}
        return AIMessageChunk(content="", tool_call_chunks=[piece])

    chunks = [
        AIMessageChunk(content="Hel"),
        AIMessageChunk(content="lo"),
        part(name="t", id="a", args='{"x"'),
        part(args=": 1}"),
        part(name="u", id="b", args="{", index=1),
        AIMessageChunk(content="", response_metadata={"finish_reason": "tool_calls"}),
    ]
    response = streamed(toolbox(chunks=chunks))
    assert response.content == "Hello"
    assert response.finish_reason == "tool_calls"
    assert response.tool_calls[0] == ToolCall(id="a", name="t", arguments={"x": 1})
    assert response.tool_calls[1].arguments_error


class Ticket(BaseModel):
    title: str


def test_an_output_schema_is_asked_for_in_words_that_any_model_reads() -> None:
    model = toolbox(TheirAIMessage(content='{"title": "Down"}'))
    agent = build_react_agent(from_langchain(model), tools=[], output_schema=Ticket)
    done = agent.invoke({"messages": [HumanMessage(content="It is down")]})
    assert done.state.final_output == Ticket(title="Down")
    assert '"title"' in model.seen[0][0].content
    assert done.state.messages[0].content == "It is down"


def test_an_agent_runs_the_tools_of_a_langchain_model() -> None:
    @tool
    def find(order_id: str) -> str:
        """Find an order."""
        return f"found {order_id}"

    wrong = {"name": "find", "args": "{", "id": "a", "error": "bad"}
    model = toolbox(
        TheirAIMessage(content="", invalid_tool_calls=[wrong]),
        TheirAIMessage(
            content="", tool_calls=[{"name": "find", "args": {"order_id": "A"}, "id": "b"}]
        ),
        TheirAIMessage(content="It is there."),
    )
    agent = build_react_agent(from_langchain(model), tools=[find])
    assert asyncio.run(run_agent(agent, "A?")) == "It is there."
    assert "could not be read" in model.seen[1][-1].content
    assert model.seen[2][-1].content == '{"result":"found A"}'


@pytest.mark.parametrize("ask", [completed, streamed], ids=["complete", "stream"])
def test_what_the_model_raises_is_an_error_of_ours(ask: Any) -> None:
    class Busy(Exception):
        status_code = 429

    with pytest.raises(ModelProviderError, match="Busy: later") as raised:
        ask(Fails(messages=iter([]), error=Busy("later")))
    assert raised.value.status == 429
    with pytest.raises(ModelTimeoutError):
        ask(Fails(messages=iter([]), error=TimeoutError()))


def test_a_model_that_takes_no_tools_says_so() -> None:
    tools = [ToolDefinition(name="t", description="T.", input_schema={"type": "object"})]
    with pytest.raises(GraphConfigError, match="takes no tools"):
        completed(FakeListChatModel(responses=["a"]), REQUEST.model_copy(update={"tools": tools}))


def test_something_else_is_no_chat_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match="LangChain chat model"):
        from_langchain(3)
    monkeypatch.setitem(sys.modules, "langchain_core.language_models", None)
    with pytest.raises(IntegrationNotInstalledError, match="langchain-core"):
        from_langchain(3)
