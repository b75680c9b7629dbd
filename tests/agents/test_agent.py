"""The model node, the tool runner, and the agent made of both."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, Field

from nbgraph import (
    END,
    START,
    AgentState,
    BaseState,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    ScriptedChat,
    ToolContext,
    add_messages,
    build_react_agent,
    call_tool,
    interrupt,
    model_node,
    node,
    run_agent,
    tool,
    tool_runner,
    when,
)
from nbgraph.agents.model import StructuredOutputEvent
from nbgraph.chat import (
    AIMessage,
    ChatRequest,
    ChatResponse,
    ChatStreamChunk,
    HumanMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from nbgraph.errors import (
    ChatHistoryError,
    ContextNotProvidedError,
    GraphConfigError,
    ModelProviderError,
    RunInterruptedError,
    StructuredOutputError,
    ToolDeniedError,
    ToolGroupExecutionError,
)
from nbgraph.middleware import (
    Middleware,
    ModelMiddlewareContext,
    Replacement,
    ToolLimitMiddleware,
    ToolMiddlewareContext,
)

from .desk import MESSAGE, Desk, agent, asks, call


class Chat(BaseState):
    messages: Annotated[list[Message], add_messages] = Field(default_factory=list)
    tool_calls: list[ToolCall] = Field(default_factory=list)
    final_text: str | None = None


def loop(chat: ScriptedChat, tools: Any, state: Any = Chat, **options: Any) -> Graph:
    """Return an agent made by hand."""
    runs = {name: options.pop(name) for name in ("tool_errors",) if name in options}
    graph_options = {n: options.pop(n) for n in ("middleware", "state_store") if n in options}
    think = model_node("think", chat=chat, tools=tools, **options)
    act = tool_runner("act", tools=tools, **runs)
    return Graph(state, **graph_options).flow(
        START >> think,
        think >> when(lambda s: bool(s.tool_calls), act, otherwise=END),
        act >> think,
    )


def told(done: Any) -> list[str]:
    return [each.content for each in done.state.messages if isinstance(each, ToolMessage)]


# --- the agent ------------------------------------------------------------------------------


def test_an_agent_runs_tools_until_the_model_answers() -> None:
    desk = Desk()
    chat = ScriptedChat([asks(call("look_up", order_id="A-1")), "It is on its way."])
    graph = build_react_agent(chat, tools=desk.tools(), system_prompt="You are kind.")
    assert asyncio.run(run_agent(graph, "Where is A-1?")) == "It is on its way."
    assert desk.done == [("look_up", {"order_id": "A-1"})]
    assert chat.responses == []
    first, second = chat.requests
    assert first.messages[0] == SystemMessage(content="You are kind.")
    assert [each.name for each in first.tools] == ["refund", "look_up", "close_account"]
    assert second.messages[-1].content == '{"result":{"order":"A-1"}}'
    assert list(graph.nodes) == ["think", "act"]


def test_an_agent_keeps_the_conversation_in_its_thread() -> None:
    graph = agent(Desk(), ["Hello.", "Again."])
    asyncio.run(run_agent(graph, "One", thread_id="t"))
    done = graph.invoke({"messages": [HumanMessage(content="Two")]}, thread_id="t")
    assert isinstance(done.state, AgentState)
    assert [each.content for each in done.state.messages] == ["One", "Hello.", "Two", "Again."]
    assert not any(isinstance(each, SystemMessage) for each in done.state.messages)


def test_a_run_that_pauses_is_told_to_who_asked_for_the_answer() -> None:
    @tool
    def ask() -> str:
        """Ask."""
        return interrupt(id="q")

    graph = build_react_agent(
        ScriptedChat([asks(call("ask"))], default="."),
        tools=[ask],
        state_store=InMemoryStateStore(),
    )
    with pytest.raises(RunInterruptedError) as raised:
        asyncio.run(run_agent(graph, "Go", thread_id="t"))
    assert raised.value.thread_id == "t"
    assert list(raised.value.interrupts) == ["act:c1/q"]


def test_a_refusal_is_no_final_text_and_is_what_the_agent_answers() -> None:
    chat = ScriptedChat([ChatResponse(refusal="I will not.")] * 2)
    graph = build_react_agent(chat, tools=[])
    done = graph.invoke(MESSAGE)
    assert (done.state.final_text, done.state.messages[-1].refusal) == (None, "I will not.")
    assert asyncio.run(run_agent(graph, "Do it")) == "I will not."


def test_a_model_that_asks_for_tools_with_every_answer_reaches_the_limit_of_steps() -> None:
    chat = ScriptedChat([], default=asks(call("look_up", order_id="A")))
    graph = build_react_agent(chat, tools=Desk().tools(), max_steps=5)
    with pytest.raises(Exception, match="max_steps=5"):
        graph.invoke(MESSAGE)


def test_calls_get_ids_where_the_model_gave_none_or_the_same() -> None:
    desk = Desk()
    calls = [
        ToolCall(name="look_up", arguments={"order_id": "A"}),
        call("look_up", "x", order_id="B"),
        call("look_up", "x", order_id="C"),
    ]
    done = build_react_agent(ScriptedChat([asks(*calls)], default="."), tools=desk.tools()).invoke(
        MESSAGE
    )
    asked = [each.id for each in done.state.messages[1].tool_calls]
    assert len(set(asked)) == 3
    assert [each.tool_call_id for each in done.state.messages[2:5]] == asked
    assert sorted(arguments["order_id"] for _, arguments in desk.done) == ["A", "B", "C"]


# --- tools in an agent ----------------------------------------------------------------------


def test_tool_calls_of_one_turn_run_together() -> None:
    together = threading.Barrier(3)

    @tool
    def meet(name: str) -> str:
        """Wait for the others."""
        together.wait(timeout=60)
        return name

    calls = [call("meet", name, name=name) for name in "abc"]
    done = build_react_agent(ScriptedChat([asks(*calls)], default="."), tools=[meet]).invoke(
        MESSAGE
    )
    assert told(done) == ['{"result":"a"}', '{"result":"b"}', '{"result":"c"}']


def test_a_tool_is_given_the_context_of_the_run() -> None:
    @tool
    async def where(sku: str, ctx: ToolContext) -> list[Any]:
        """Say where it is."""
        ctx.emit({"sku": sku})
        asked = ctx.state.messages[0].content
        return [ctx.context[sku], ctx.node, ctx.tool_call_id, ctx.thread_id, asked]

    graph = build_react_agent(
        ScriptedChat([asks(call("where", sku="mug")), ".", asks(call("where", sku="mug"))]),
        tools=[where],
        state_store=InMemoryStateStore(),
    )
    events = graph.stream(MESSAGE, stream_mode="custom", thread_id="t", context={"mug": 12})
    first, last = list(events)
    assert first.data == {"sku": "mug"}
    assert last.data.state["messages"][2]["content"] == (
        '{"result":[12,"act","c1","t","Please help"]}'
    )
    with pytest.raises(ContextNotProvidedError):
        graph.invoke(MESSAGE, thread_id="u")


@pytest.mark.parametrize("policy", ["raise", "return", str])
def test_an_error_in_the_declaration_is_raised_whatever_the_policy(policy: Any) -> None:
    @tool
    def needs(ctx: ToolContext) -> str:
        """Need a context."""
        return ctx.context

    graph = build_react_agent(
        ScriptedChat([asks(call("needs"))], default="."), tools=[needs], tool_errors=policy
    )
    with pytest.raises(ContextNotProvidedError):
        graph.invoke(MESSAGE)


def failing(policy: Any, *calls: ToolCall) -> Graph:
    @tool
    def find(order_id: str) -> str:
        """Find an order."""
        raise LookupError(f"no order {order_id}")

    return build_react_agent(
        ScriptedChat([asks(*calls)], default="Sorry."), tools=[find], tool_errors=policy
    )


def test_a_failing_tool_fails_the_run_or_is_told_to_the_model() -> None:
    one = call("find", order_id="B-7")
    with pytest.raises(LookupError, match="no order B-7"):
        failing("raise", one).invoke(MESSAGE)
    assert told(failing("return", one).invoke(MESSAGE)) == ["Tool error: LookupError: no order B-7"]
    done = failing(lambda error: f"Try again: {error}", one).invoke(MESSAGE)
    assert told(done) == ["Try again: no order B-7"]
    assert done.state.final_text == "Sorry."


def test_several_failing_tools_are_raised_together() -> None:
    with pytest.raises(ToolGroupExecutionError) as raised:
        failing("raise", call("find", "a", order_id="A"), call("find", "b", order_id="B")).invoke(
            MESSAGE
        )
    assert [str(error) for error in raised.value.errors] == ["no order A", "no order B"]


def test_a_result_is_kept_while_another_call_fails_the_run() -> None:
    desk = Desk()
    fails = [True]

    @tool
    def fragile() -> str:
        """Fail the first time."""
        if fails.pop():
            raise ConnectionError("no answer")
        return "fine"

    fails.insert(0, False)
    graph = build_react_agent(
        ScriptedChat([asks(call("look_up", "a", order_id="A"), call("fragile", "b"))], default="."),
        tools=[*desk.tools(), fragile],
        state_store=InMemoryStateStore(),
    )
    with pytest.raises(ConnectionError):
        graph.invoke(MESSAGE, thread_id="t")
    done = graph.invoke(None, thread_id="t")
    assert told(done) == ['{"result":{"order":"A"}}', '{"result":"fine"}']
    assert len(desk.done) == 1


@pytest.mark.parametrize("policy", ["raise", "return"])
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (call("fly"), "there is no such tool; the tools are 'find'"),
        (call("find"), "order_id: Fill this in"),
        (call("find", order_id=3), "order_id: Not text"),
        (call("find", order_id="a", more=1), "more"),
        (ToolCall(id="c1", name="find", arguments_error="they are no JSON"), "could not be read"),
    ],
    ids=["unknown", "missing", "type", "more", "no JSON"],
)
def test_the_models_mistakes_come_back_to_the_model(
    policy: Any, wrong: ToolCall, said: str
) -> None:
    done = failing(policy, wrong).invoke(MESSAGE)
    (content,) = told(done)
    assert content.startswith("Tool error: ToolExecutionError: ")
    assert said in content
    assert done.status == "completed"


def test_what_ends_the_process_is_not_told_to_the_model() -> None:
    @tool
    def leave() -> str:
        """Leave."""
        raise SystemExit(3)

    graph = build_react_agent(
        ScriptedChat([asks(call("leave", "a"), call("leave", "b"))], default="."),
        tools=[leave],
        tool_errors="return",
    )
    with pytest.raises(SystemExit):
        graph.invoke(MESSAGE)


def test_a_tool_is_called_outside_of_an_agent_with_the_same_checks_and_hooks() -> None:
    class Doubles(Middleware):
        def before_tool(self, ctx: ToolMiddlewareContext) -> Replacement:
            assert (ctx.tool_name, ctx.node_name, ctx.tool_call_id) == ("add_up", "sum", "add_up-0")
            return ctx.replace({**ctx.value, "a": 2 * ctx.value["a"]})

        def after_tool(self, ctx: ToolMiddlewareContext) -> Replacement:
            return ctx.replace(ctx.value + 1)

    @tool
    def add_up(a: int, b: int = 0) -> int:
        """Add."""
        return a + b

    class Total(BaseState):
        total: int = 0

    @node(name="sum")
    async def summed(state: Total, ctx: NodeContext) -> dict[str, Any]:
        result = await call_tool(add_up, {"a": 3, "b": 1}, ctx)
        assert result.arguments == {"a": 6, "b": 1}
        return {"total": result.value}

    graph = Graph(Total, middleware=[Doubles()]).flow(START >> summed, summed >> END)
    assert graph.invoke({}).state.total == 8
    assert asyncio.run(call_tool(add_up, {"a": 3})).value == 3
    with pytest.raises(TypeError, match="ctx is the context"):
        asyncio.run(call_tool(add_up, {"a": 3}, 3))  # type: ignore[arg-type]


# --- middleware -----------------------------------------------------------------------------


class Log(Middleware):
    """Writes down which hook is called with what."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    def before_model(self, ctx: ModelMiddlewareContext) -> None:
        self.log.append(f"{self.name} before_model {ctx.model}")

    async def after_model(self, ctx: ModelMiddlewareContext) -> None:
        assert ctx.response is not None
        self.log.append(f"{self.name} after_model {ctx.response.content}")

    async def before_tool(self, ctx: ToolMiddlewareContext) -> None:
        self.log.append(f"{self.name} before_tool {ctx.value}")

    def after_tool(self, ctx: ToolMiddlewareContext) -> None:
        self.log.append(f"{self.name} after_tool {ctx.value}")

    def on_tool_error(self, ctx: ToolMiddlewareContext, error: Exception) -> None:
        self.log.append(f"{self.name} on_tool_error {error}")


def test_hooks_are_called_in_order_around_the_model_and_the_tools() -> None:
    log: list[str] = []
    graph = build_react_agent(
        ScriptedChat([asks(call("look_up", order_id="A")), "Done."]),
        tools=Desk().tools(),
        middleware=[Log("outer", log), Log("inner", log)],
    )
    graph.invoke(MESSAGE)
    assert log == [
        "outer before_model scripted",
        "inner before_model scripted",
        "inner after_model None",
        "outer after_model None",
        "outer before_tool {'order_id': 'A'}",
        "inner before_tool {'order_id': 'A'}",
        "inner after_tool {'order': 'A'}",
        "outer after_tool {'order': 'A'}",
        "outer before_model scripted",
        "inner before_model scripted",
        "inner after_model Done.",
        "outer after_model Done.",
    ]


def test_an_error_of_a_tool_is_seen_from_the_inside_out_and_cannot_be_replaced() -> None:
    class Breaks(Middleware):
        def on_tool_error(self, ctx: ToolMiddlewareContext, error: Exception) -> Any:
            raise ValueError("mine")

    class Returns(Middleware):
        def on_tool_error(self, ctx: ToolMiddlewareContext, error: Exception) -> Any:
            return "instead"

    log: list[str] = []
    graph = build_react_agent(
        ScriptedChat([asks(call("look_up", order_id="A"))] * 2, default="Done."),
        tools=Desk(fails=2).tools(),
        middleware=[Log("outer", log), Breaks(), Returns()],
    )
    with pytest.raises(ConnectionError) as raised:
        graph.invoke(MESSAGE)
    assert log[-1] == "outer on_tool_error no answer"
    assert raised.value.__notes__ == [
        "on_tool_error returned 'instead'; it only looks",
        "on_tool_error raised ValueError: mine",
        "In node 'act'",
    ]


def test_a_hook_may_replace_the_request_and_the_response_and_the_state_keeps_its_own() -> None:
    class Dated(Middleware):
        def before_model(self, ctx: ModelMiddlewareContext) -> Replacement:
            note = SystemMessage(content="Today is Monday.")
            messages = [note, *ctx.request.messages]
            return ctx.replace(ctx.request.model_copy(update={"messages": messages}))

        def after_model(self, ctx: ModelMiddlewareContext) -> Replacement:
            return ctx.replace(ChatResponse(content="Replaced."))

    chat = ScriptedChat(["Said."])
    done = build_react_agent(chat, tools=[], middleware=[Dated()]).invoke(MESSAGE)
    assert chat.requests[0].messages[0].content == "Today is Monday."
    assert [each.content for each in done.state.messages] == ["Please help", "Replaced."]


@pytest.mark.parametrize("hook", ["before_model", "after_model"])
def test_a_hook_that_replaces_with_something_else_is_an_error(hook: str) -> None:
    kind = type("Odd", (Middleware,), {hook: lambda self, ctx: ctx.replace("text")})
    with pytest.raises(ModelProviderError, match=f"{hook} gave str"):
        build_react_agent(ScriptedChat(["a"]), tools=[], middleware=[kind()]).invoke(MESSAGE)


def test_a_hook_may_deny_a_call_and_the_model_reads_it_whatever_the_policy() -> None:
    class Closed(Middleware):
        def before_tool(self, ctx: ToolMiddlewareContext) -> None:
            raise ToolDeniedError(ctx.tool_name, "closed on Mondays")

    desk, log = Desk(), list[str]()
    graph = agent(desk, [asks(call("look_up", order_id="A"))], middleware=[Log("a", log), Closed()])
    done = graph.invoke(MESSAGE, thread_id="t")
    assert (desk.done, done.status) == ([], "completed")
    assert told(done) == ["The call of 'look_up' was denied: closed on Mondays"]
    assert not any("on_tool_error" in line or "after_tool" in line for line in log)


def test_an_agent_takes_up_the_tools_of_its_middleware() -> None:
    class Brings(Middleware):
        def tools(self) -> list[Any]:
            return Desk().tools()[1:2]

    chat = ScriptedChat(["a"])
    build_react_agent(chat, tools=[], middleware=[Brings()]).invoke(MESSAGE)
    assert [each.name for each in chat.requests[0].tools] == ["look_up"]
    with pytest.raises(GraphConfigError, match="'look_up' is listed twice"):
        build_react_agent(chat, tools=Desk().tools(), middleware=[Brings()])


# --- limits ---------------------------------------------------------------------------------


def looks(*names: str) -> ChatResponse:
    return asks(*(call("look_up", name, order_id=name) for name in names))


def test_calls_over_the_limit_are_denied_and_the_model_reads_it() -> None:
    desk = Desk()
    graph = agent(desk, [looks("a", "b"), looks("c", "d")], max_tool_calls=3)
    done = graph.invoke(MESSAGE, thread_id="t")
    assert [arguments["order_id"] for _, arguments in desk.done] == ["a", "b", "c"]
    assert told(done)[-1] == (
        "The call of 'look_up' was denied: the limit of 3 tool calls is reached"
    )


def test_a_tool_may_have_a_limit_of_its_own() -> None:
    desk = Desk()
    limit = ToolLimitMiddleware(per_tool={"look_up": 1})
    refund = call("refund", "r", order_id="A", amount=1.0)
    graph = agent(desk, [looks("a"), looks("b"), asks(refund)], middleware=[limit])
    graph.invoke(MESSAGE, thread_id="t")
    assert [name for name, _ in desk.done] == ["look_up", "refund"]


def test_every_turn_has_the_whole_limit() -> None:
    desk = Desk()
    graph = agent(desk, [looks("a"), "Done.", looks("b"), looks("c")], max_tool_calls=1)
    graph.invoke(MESSAGE, thread_id="t")
    graph.invoke(MESSAGE, thread_id="t")
    assert [arguments["order_id"] for _, arguments in desk.done] == ["a", "b"]


def test_the_limit_lives_with_the_thread_through_pauses_other_processes_and_forks() -> None:
    from nbgraph.middleware import InterruptRule

    store = InMemoryStateStore()
    script = [looks("a"), looks("b"), looks("c")]
    desk, rule = Desk(), InterruptRule(tool="*")
    paused = agent(desk, script, rule, store=store, max_tool_calls=2).invoke(MESSAGE, thread_id="t")
    other = agent(desk, script[1:], rule, store=store, max_tool_calls=2)
    paused = other.invoke(None, thread_id="t", resume=Resume(True))
    at = int(str(paused.checkpoint_id).split(":")[1])
    asyncio.run(other.fork("t", from_=at, name="side"))
    for branch in ("main", "side"):
        again = agent(desk, script[2:], rule, store=store, max_tool_calls=2)
        done = again.invoke(None, thread_id="t", branch_id=branch, resume=Resume(True))
        assert done.status == "completed"
        assert "limit of 2" in told(done)[-1]
    assert [arguments["order_id"] for _, arguments in desk.done] == ["a", "b", "b"]


@pytest.mark.parametrize(
    "options", [{"max_calls": -1}, {"max_calls": True}, {"per_tool": {"a": 1.5}}]
)
def test_a_limit_is_a_number_of_calls(options: Any) -> None:
    with pytest.raises(GraphConfigError, match="number of calls"):
        ToolLimitMiddleware(**options)


# --- tokens ---------------------------------------------------------------------------------


def test_an_answer_is_streamed_piece_by_piece() -> None:
    chat = ScriptedChat([looks("a"), "It is on its way."])
    graph = build_react_agent(chat, tools=Desk().tools(), stream=True)
    events = list(graph.stream(MESSAGE, stream_mode=["tokens", "updates"]))
    chunks = [event.data for event in events if event.mode == "tokens"]
    assert all(isinstance(chunk, ChatStreamChunk) for chunk in chunks)
    assert [chunk.content_delta for chunk in chunks if chunk.content_delta] == [
        "It ",
        "is ",
        "on ",
        "its ",
        "way.",
    ]
    assert {event.node for event in events if event.mode == "tokens"} == {"think"}
    assert events[-1].data.state["final_text"] == "It is on its way."


# --- structured output ----------------------------------------------------------------------


class Ticket(BaseModel):
    title: str
    priority: int


class WithTicket(Chat):
    final_output: Ticket | None = None


def test_the_final_answer_is_parsed() -> None:
    chat = ScriptedChat([looks("a"), '{"title": "Down", "priority": 1}'])
    graph = build_react_agent(chat, tools=Desk().tools(), output_schema=Ticket)
    done = graph.invoke(MESSAGE)
    assert done.state.final_output == Ticket(title="Down", priority=1)
    assert chat.requests[0].output_schema is Ticket


@pytest.mark.parametrize("answer", ["", "nonsense", "{}", '{"title": "a", "priority": "high"}'])
def test_an_answer_that_does_not_fit_is_an_error_or_an_event(answer: str) -> None:
    with pytest.raises(StructuredOutputError) as raised:
        loop(ScriptedChat([answer]), [], WithTicket, output_schema=Ticket).invoke(MESSAGE)
    assert (raised.value.schema_name, raised.value.raw_content) == ("Ticket", answer)
    graph = loop(ScriptedChat([answer]), [], WithTicket, output_schema=Ticket, on_invalid="emit")
    event, last = list(graph.stream(MESSAGE, stream_mode="custom"))
    assert isinstance(event.data, StructuredOutputEvent)
    assert event.data.raw_content == answer
    assert last.data.state["final_output"] is None


# --- the conversation -----------------------------------------------------------------------

MADE_UP = "Tool call was not executed."
ASKED = AIMessage(id="1", tool_calls=(call("look_up", "a"), call("look_up", "b")))
A = ToolMessage(id="2", content="a", name="look_up", tool_call_id="a")
B = ToolMessage(id="3", content="b", name="look_up", tool_call_id="b")
HI = HumanMessage(id="4", content="Hi")


@pytest.mark.parametrize(
    ("messages", "repaired"),
    [
        (
            [HI, ASKED, HI],
            ["Hi", None, "Tool call was not executed.", "Tool call was not executed.", "Hi"],
        ),
        ([HI, ASKED, B], ["Hi", None, "Tool call was not executed.", "b"]),
        ([HI, A], ["Hi"]),
        ([A, HI], ["Hi"]),
        ([ASKED, A, HI, B], [None, "a", MADE_UP, "Hi"]),
    ],
)
def test_calls_and_results_that_do_not_match_are_refused_or_repaired(
    messages: list[Any], repaired: list[str | None]
) -> None:
    given = {"messages": [m.model_copy(update={"id": str(i)}) for i, m in enumerate(messages)]}
    chat = ScriptedChat(["a"])
    with pytest.raises(ChatHistoryError):
        loop(chat, []).invoke(given)
    assert chat.requests == []
    done = loop(chat, [], repair_history=True).invoke(given)
    assert [each.content for each in chat.requests[0].messages] == repaired
    assert len(done.state.messages) == len(messages) + 1


def test_results_in_another_order_are_fine() -> None:
    chat = ScriptedChat(["a"])
    loop(chat, []).invoke({"messages": [ASKED, B, A]})
    assert len(chat.requests) == 1


def test_a_stopped_tool_turn_goes_on_without_input() -> None:
    desk = Desk(fails=1)
    graph = agent(desk, [looks("a")])
    with pytest.raises(ConnectionError):
        graph.invoke(MESSAGE, thread_id="t")
    assert graph.invoke(None, thread_id="t").status == "completed"
    desk = Desk(fails=1)
    graph = agent(desk, [looks("a")])
    with pytest.raises(ConnectionError):
        graph.invoke(MESSAGE, thread_id="u")
    with pytest.raises(ChatHistoryError, match="have no results"):
        graph.invoke(MESSAGE, thread_id="u")


# --- declarations ---------------------------------------------------------------------------


class Plain(BaseState):
    messages: list[Message] = Field(default_factory=list)
    tool_calls: list[ToolCall] = Field(default_factory=list)
    final_text: str | None = None


class Short(BaseState):
    messages: Annotated[list[Message], add_messages] = Field(default_factory=list)
    tool_calls: list[ToolCall] = Field(default_factory=list)


@pytest.mark.parametrize(
    ("state", "problem"),
    [(Plain, "add_messages"), (Short, "no field 'final_text'"), (dict, "add_messages")],
)
def test_a_state_that_cannot_hold_a_conversation_is_refused_before_the_model_is_asked(
    state: Any, problem: str
) -> None:
    chat = ScriptedChat(["a"])
    think = model_node("think", chat=chat)
    graph = Graph(state).flow(START >> think, think >> END)
    with pytest.raises(GraphConfigError, match=problem):
        graph.invoke({"messages": []})
    assert chat.requests == []


def test_the_fields_may_have_other_names_and_the_state_may_be_a_typed_dict() -> None:
    class Mail(TypedDict):
        letters: Annotated[list[Message], add_messages]
        wanted: list[ToolCall]
        said: str | None

    names = {"messages_field": "letters", "tool_calls_field": "wanted"}
    desk = Desk()
    chat = ScriptedChat([looks("a"), "Done."])
    think = model_node("think", chat=chat, tools=desk.tools(), final_text_field="said", **names)
    act = tool_runner("act", tools=desk.tools(), **names)
    graph = Graph(Mail).flow(
        START >> think, think >> when(lambda s: bool(s["wanted"]), act, otherwise=END), act >> think
    )
    given = {"letters": [HI], "wanted": [], "said": None}
    assert graph.invoke(given).state["said"] == "Done."
    assert len(desk.done) == 1


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: model_node("a", chat=ScriptedChat([]), on_invalid="?"), "on_invalid"),
        (lambda: model_node("a", chat=ScriptedChat([]), tool_choice="fly"), "tool_choice"),
        (lambda: model_node("a", chat=ScriptedChat([]), tools=[print]), "made with @tool"),
        (lambda: tool_runner("a", tools=Desk().tools() * 2), "listed twice"),
        (lambda: tool_runner("a", tools=[], tool_errors="ignore"), "tool_errors"),
    ],
)
def test_a_node_that_cannot_work_is_refused_when_it_is_made(make: Any, problem: str) -> None:
    with pytest.raises(GraphConfigError, match=problem):
        make()


def test_a_chat_of_your_own_needs_three_members() -> None:
    class Echo:
        model = "echo"

        async def complete(self, request: ChatRequest) -> ChatResponse:
            return ChatResponse(content=f"You said: {request.messages[-1].content}")

        async def stream(self, request: ChatRequest) -> Any:
            yield ChatStreamChunk(content_delta=(await self.complete(request)).content)

    for streams in (False, True):
        graph = build_react_agent(Echo(), tools=[], stream=streams)
        assert asyncio.run(run_agent(graph, "Hello")) == "You said: Hello"


def test_a_model_that_answers_something_else_is_an_error() -> None:
    class Odd:
        model = "odd"

        async def complete(self, request: ChatRequest) -> Any:
            return "text"

        async def stream(self, request: ChatRequest) -> Any:
            yield None

    with pytest.raises(ModelProviderError, match="gave str"):
        build_react_agent(Odd(), tools=[]).invoke(MESSAGE)  # type: ignore[arg-type]


# --- text that cannot be kept ---------------------------------------------------------------


def test_half_a_character_in_an_answer_is_joined_or_shown_as_missing() -> None:
    halves = [ChatStreamChunk(content_delta=half) for half in ("\ud83d", "\ude00", "\ud83d")]

    class Halves:
        model = "halves"

        async def complete(self, request: ChatRequest) -> ChatResponse:
            return ChatResponse(content="\ud83d", refusal="\udc00")

        async def stream(self, request: ChatRequest) -> Any:
            for half in halves:
                yield half

    streamed = build_react_agent(Halves(), tools=[], stream=True).invoke(MESSAGE)
    assert streamed.state.final_text == "\U0001f600\ufffd"
    whole = build_react_agent(Halves(), tools=[]).invoke(MESSAGE)
    assert (whole.state.messages[-1].content, whole.state.messages[-1].refusal) == (
        "\ufffd",
        "\ufffd",
    )


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "\ud800", object()],
    ids=["NaN", "infinity", "half", "object"],
)
def test_arguments_that_cannot_be_kept_are_the_models_mistake(value: Any) -> None:
    desk = Desk()
    script = [asks(call("look_up", order_id=value))]
    done = agent(desk, script).invoke(MESSAGE, thread_id="t")
    assert (done.status, desk.done) == ("completed", [])
    assert "could not be read" in told(done)[0]


def test_an_error_whose_text_cannot_be_kept_is_told_all_the_same() -> None:
    @tool
    def broken() -> str:
        """Break."""
        raise ValueError("half \ud800")

    graph = build_react_agent(
        ScriptedChat([asks(call("broken"))], default="."), tools=[broken], tool_errors="return"
    )
    assert told(graph.invoke(MESSAGE)) == ["Tool error: ValueError: half \ufffd"]


# --- an agent inside a graph ----------------------------------------------------------------


def test_an_agent_as_a_sub_graph_asks_through_its_parent_and_runs_what_was_shown() -> None:
    from nbgraph import subgraph
    from nbgraph.middleware import InterruptRule, ToolInterruptMiddleware

    desk = Desk()
    inner = build_react_agent(
        ScriptedChat([asks(call("refund", order_id="A", amount=3.0))], default="Paid."),
        tools=desk.tools(),
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule(tool="*")])],
    )

    class Case(BaseState):
        said: str = ""

    help_out = subgraph(
        "help_out",
        inner,
        state_in=lambda state: {"messages": [HumanMessage(content="Pay")]},
        state_out=lambda child: {"said": child.final_text},
    )
    graph = Graph(Case, state_store=InMemoryStateStore()).flow(START >> help_out, help_out >> END)
    paused = graph.invoke({}, thread_id="t")
    (key,) = paused.interrupts
    assert key == "help_out/act:approve_c1"
    assert paused.interrupts[key].payload.arguments == {"order_id": "A", "amount": 3.0}
    done = graph.invoke(None, thread_id="t", resume=Resume(True))
    assert (done.status, done.state.said, len(desk.done)) == ("completed", "Paid.", 1)
