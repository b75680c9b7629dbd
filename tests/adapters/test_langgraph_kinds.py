"""LangGraph graphs of every kind: each is drawn, started, answered, forked, edited, found again."""

import asyncio
import dataclasses
import decimal
import json
import operator
import sqlite3
from typing import Annotated

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware, wrap_tool_call
from langchain_core.messages import AIMessage, RemoveMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import CachePolicy, Command, Overwrite, RetryPolicy, Send, interrupt
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from nbgraph import draw, open_session
from nbgraph.adapters.log import forget

from .graphs import Scripted, State, Telling, agent, asks, row, says

HI = {"messages": [{"role": "user", "content": "hi"}]}
KINDS = {}


def kind(given, **options):
    """Note a kind of graph: what makes it, its input, and what a start takes beside that."""

    def noted(make):
        KINDS[make.__name__] = (make, given, options)
        return make

    return noted


def calls(name, **arguments):
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "c0"}])


def chat(*messages):
    return Scripted(messages=iter(messages))


def built(*nodes, state=State, start=None, **options):
    builder = StateGraph(state)
    before = START
    for name, function in nodes:
        builder.add_node(name, function)
        builder.add_edge(before, name)
        before = name
    return builder.compile(checkpointer=InMemorySaver(), **options)


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@kind(HI)
def an_agent_with_a_tool():
    model = chat(calls("add", a=1, b=2), AIMessage("3"))
    return create_agent(model, [add], checkpointer=InMemorySaver())


@kind(HI)
def an_agent_with_middleware():
    @wrap_tool_call
    def as_it_is(request, handler):
        return handler(request)

    model = chat(calls("add", a=1, b=2), AIMessage("3"))
    return create_agent(
        model, [add], middleware=[as_it_is, TodoListMiddleware()], checkpointer=InMemorySaver()
    )


@kind(HI)
def an_agent_whose_tool_is_only_async():
    async def double(a: int) -> str:
        return str(2 * a)

    only = StructuredTool.from_function(coroutine=double, name="double", description="Double.")
    model = chat(calls("double", a=1), AIMessage("2"))
    return create_agent(model, [only], checkpointer=InMemorySaver())


@kind(HI)
def an_agent_whose_tools_ask():
    @tool
    def pay(a: int) -> str:
        """Pay."""
        return str(interrupt({"question": "Sure?", "a": a}))

    both = [{"name": "pay", "args": {"a": n}, "id": f"c{n}"} for n in range(2)]
    model = chat(AIMessage("", tool_calls=both), AIMessage("paid"))
    return create_agent(model, [pay], checkpointer=InMemorySaver())


@kind({"n": 1})
def a_dataclass_as_state():
    @dataclasses.dataclass
    class Counted:
        n: int = 0
        log: Annotated[list, operator.add] = dataclasses.field(default_factory=list)

    ask = ("ask", lambda state: {"log": [interrupt("?")]})
    return built(("a", lambda state: {"n": state.n + 1}), ask, state=Counted)


@kind({"n": 1})
def a_model_as_state():
    class Counted(BaseModel):
        n: int = Field(0, ge=0)
        log: Annotated[list[str], operator.add] = []

    ask = ("ask", lambda state: {"log": [interrupt("?")]})
    return built(("a", lambda state: {"n": state.n + 1}), ask, state=Counted)


@kind({"q": "x"})
def schemas_of_input_and_output():
    class Given(TypedDict):
        q: str

    class Made(TypedDict):
        a: str

    class Whole(Given, Made):
        hidden: str

    builder = StateGraph(Whole, input_schema=Given, output_schema=Made)
    builder.add_node("a", lambda state: {"hidden": "h", "a": state["q"]})
    builder.add_node("ask", lambda state: {"a": interrupt("?")})
    builder.add_edge(START, "a")
    builder.add_edge("a", "ask")
    return builder.compile(checkpointer=InMemorySaver())


@dataclasses.dataclass
class Desk:
    user: str


@kind({}, context=Desk("ops"))
def a_context():
    def who(state, runtime: Runtime[Desk]):
        return {"note": runtime.context.user}

    builder = StateGraph(State, context_schema=Desk)
    builder.add_node(who)
    builder.add_edge(START, "who")
    return builder.compile(checkpointer=InMemorySaver())


@kind({})
def a_fan_out_of_sends():
    builder = StateGraph(State)
    builder.add_node("work", lambda state: {"log": [str(state["i"])]})
    builder.add_node("reduce", lambda state: {"note": "|".join(state["log"])})
    builder.add_conditional_edges(START, lambda _: [Send("work", {"i": i}) for i in range(5)])
    builder.add_edge("work", "reduce")
    return builder.compile(checkpointer=InMemorySaver())


@kind({"log": []})
def a_way_out_of_a_sub_graph():
    def leave(state):
        return Command(goto="last", graph=Command.PARENT, update={"log": ["left"]})

    child = StateGraph(State)
    child.add_node(leave)
    child.add_edge(START, "leave")
    builder = StateGraph(State)
    builder.add_node("sub", child.compile(), destinations=("last",))
    builder.add_node("last", says("last"))
    builder.add_edge(START, "sub")
    return builder.compile(checkpointer=InMemorySaver())


@kind({})
def a_deferred_node():
    builder = StateGraph(State)
    for name in ("a", "b", "after_b"):
        builder.add_node(name, says(name))
    builder.add_node("last", says("last"), defer=True)
    for source, target in (
        (START, "a"),
        (START, "b"),
        ("b", "after_b"),
        ("a", "last"),
        ("after_b", "last"),
    ):
        builder.add_edge(source, target)
    return builder.compile(checkpointer=InMemorySaver())


@kind({})
def a_node_that_is_tried_again():
    tries = []

    def flaky(state):
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("flaky")
        return {"log": ["there"]}

    builder = StateGraph(State)
    policy = RetryPolicy(initial_interval=0.001, jitter=False)
    builder.add_node(flaky, retry_policy=policy)
    builder.add_edge(START, "flaky")
    return builder.compile(checkpointer=InMemorySaver())


@kind({})
def a_node_with_a_cache():
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"note": "kept"}, cache_policy=CachePolicy())
    builder.add_edge(START, "a")
    return builder.compile(checkpointer=InMemorySaver(), cache=InMemoryCache())


def nested(checkpointer):
    child = row("prepare", asks()).builder.compile(checkpointer=checkpointer)
    return built(("sub", child), ("last", says("last")))


@kind({"log": []})
def a_sub_graph():
    return nested(None)


@kind({"log": []})
def a_sub_graph_that_keeps_its_thread():
    return nested(True)


@kind({"log": []})
def a_sub_graph_that_keeps_nothing():
    return nested(False)


@kind({"log": []})
def a_sub_graph_with_a_checkpointer_of_its_own():
    return nested(InMemorySaver())


@kind(1)
def a_function():
    @task
    def more(x):
        return x + 1

    @entrypoint(checkpointer=InMemorySaver())
    def flow(x: int):
        y = more(x).result()
        return {"y": y, "said": interrupt({"question": "ok?", "y": y})}

    return flow


@kind({"n": 1})
def an_async_function():
    @entrypoint(checkpointer=InMemorySaver())
    async def flow(x: dict):
        await asyncio.sleep(0)
        return [x["n"], interrupt("ok?")]

    return flow


@kind({})
def nodes_that_are_only_async():
    async def first(state):
        return {"log": ["first"]}

    async def ask(state):
        return {"log": [interrupt("?")]}

    return row(first, ask)


@kind({})
def a_database():
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    return row("a", asks(), checkpointer=SqliteSaver(connection))


@kind({})
def a_question_in_a_loop():
    def ask(state):
        question, given = "How old?", None
        while given != "yes":
            given, question = interrupt(question), f"{given} is no age"
        return {"answer": given}

    return row("a", ask, "z")


@kind({})
def names_with_odd_characters():
    names = ["a b", "ä/ö", "q\"u'o", "<b>", "$x$", "a.b-c", "{x}", "日本", "a\\b", "n;x"]
    return built(*((name, says(name)) for name in names), ("ask/it", asks()))


@kind({})
def values_that_are_no_json():
    def make(state):
        return {"answer": {1, 2}, "note": str(decimal.Decimal("1.5"))}

    return row(make, "after")


@kind(HI)
def messages_that_are_removed():
    return built(
        ("a", lambda state: {"messages": [AIMessage("x", id="1")]}),
        ("b", lambda state: {"messages": [RemoveMessage(id="1")]}),
        state=MessagesState,
    )


@kind({})
def commands_and_updates_together():
    def several(state):
        return [Command(update={"log": ["1"]}), {"log": ["2"]}, Command(goto="z")]

    builder = StateGraph(State)
    builder.add_node(several, destinations=("z",))
    builder.add_node("z", says("z"))
    builder.add_edge(START, "several")
    return builder.compile(checkpointer=InMemorySaver())


@kind({})
def a_value_that_goes_past_its_reducer():
    return built(("a", says("a")), ("b", lambda state: {"log": Overwrite(["only"])}))


def seen(session):
    shown = json.dumps(session.state, sort_keys=True)
    return session.status, session.next, list(session.pending), shown


@pytest.mark.parametrize("name", KINDS)
def test_a_graph_is_driven_to_its_end_and_found_again_as_it_was_left(name):
    make, given, options = KINDS[name]
    app = make()
    assert draw(app).svg.startswith("<")
    session = open_session(app, thread_id="t", **options)
    session.start(given).result()
    _found_again(app, session, options)
    for _ in range(4):
        if not session.pending:
            break
        other = session.fork()
        assert list(other.pending) == list(session.pending)
        session.resume(dict.fromkeys(session.pending, "yes")).result()
        _found_again(app, session, options)
    assert (session.status, session.error) == ("completed", None)


def _found_again(app, session, options):
    before = seen(session)
    forget(app)
    assert seen(open_session(app, thread_id="t", **options)) == before
    forget(app)
    session.reload()


@pytest.mark.parametrize("name", KINDS)
def test_a_graph_is_stepped_to_its_end(name):
    make, given, options = KINDS[name]
    session = open_session(make(), thread_id="t", **options)
    session.breakpoints(before=["*"])
    session.start(given).result()
    steps = 0
    while session.status == "interrupted":
        steps += 1
        if session.pending:
            session.resume(dict.fromkeys(session.pending, "yes")).result()
        else:
            session.step().result()
        assert steps < 40
    assert session.status == "completed"


# What a thread that did not come to its end says.


def test_a_state_that_does_not_fit_its_model_fails_the_run_and_is_shown_as_it_is():
    class Counted(BaseModel):
        n: int = Field(0, ge=0)

    app = built(("a", lambda state: {"n": -5}), ("b", lambda state: {"n": 1}), state=Counted)
    session = open_session(app, thread_id="t")
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        session.start({"n": 1}).result()
    assert (session.status, session.next, session.state) == ("failed", ("b",), {"n": -5})
    forget(app)
    again = open_session(app, thread_id="t")
    assert (again.next, again.state) == (("b",), {"n": -5})


def test_an_input_that_does_not_fit_is_a_turn_that_failed():
    class Counted(BaseModel):
        n: int = Field(0, ge=0)

    session = open_session(built(("a", lambda state: {}), state=Counted), thread_id="t")
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        session.start({"n": -1}).result()
    assert (session.status, session.next) == ("failed", ("a",))


def test_a_limit_of_steps_fails_the_run_where_it_stands_and_it_can_go_on():
    builder = StateGraph(State)
    builder.add_node("a", says("a"))
    builder.add_edge(START, "a")
    builder.add_edge("a", "a")
    app = builder.compile(checkpointer=InMemorySaver()).with_config(recursion_limit=5)
    session = open_session(app, thread_id="t")
    with pytest.raises(RecursionError):
        session.start({}).result()
    assert (session.status, session.next, session.state["log"]) == ("failed", ("a",), ["a"] * 5)
    with pytest.raises(RecursionError):
        session.proceed().result()
    assert len(session.state["log"]) > 5


@pytest.mark.parametrize("leaving", [SystemExit, KeyboardInterrupt])
def test_a_node_that_leaves_the_process_is_a_failure_of_its_run(leaving):
    def leave(state):
        raise leaving

    session = open_session(row("a", leave), thread_id="t")
    with pytest.raises(leaving):
        session.start({}).result()
    assert session.status == "failed"
    other = open_session(row("a"), thread_id="t")  # the loop runs on
    assert other.start({}).result().data["log"] == ["a"]


def test_a_sibling_that_failed_is_tried_again_and_no_question_gets_another_s_answer():
    luck, saver = [], Telling("__interrupt__")

    def shaky(state):
        if not luck:
            saver.wait()
            raise ValueError("no luck")
        return {"log": ["shaky"]}

    def ask(state):
        return {"log": [interrupt("1?"), interrupt("2?")]}

    builder = StateGraph(State)
    for node in (shaky, ask):
        builder.add_node(node)
        builder.add_edge(START, node.__name__)
    session = open_session(builder.compile(checkpointer=saver), thread_id="t")
    for begin in (lambda: session.start({}), lambda: session.resume({"ask:0": "A"})):
        with pytest.raises(ValueError, match="no luck"):
            begin().result()
    luck.append(1)
    session.proceed().result()
    assert list(session.pending) == ["ask:1"]
    session.resume({"ask:1": "B"}).result()
    assert session.state["log"] == ["A", "B", "shaky"]


# What others do with the thread at the engine.

CONFIG = {"configurable": {"thread_id": "t"}}


def test_a_thread_that_was_taken_back_asks_again_and_its_other_end_is_a_branch():
    app = row("plan", asks(), "end")
    app.invoke({}, CONFIG)
    [asked] = [each for each in app.get_state_history(CONFIG) if each.next == ("ask",)]
    app.invoke(Command(resume=1), CONFIG)
    app.invoke(None, asked.config)
    session = open_session(app, thread_id="t")
    assert (list(session.pending), session.marks["ask"]) == (["ask:0"], "waiting")
    session.resume({"ask:0": 5}).result()
    assert session.state["log"] == ["plan", "ask:5", "end"]
    other = open_session(app, thread_id="t", branch_id="fork-1")
    assert other.state["log"] == ["plan", "ask:1", "end"]


def test_a_question_is_gone_when_somebody_edits_the_thread_and_comes_back_when_it_goes_on():
    app = row("plan", asks(), "end")
    session = open_session(app, thread_id="t")
    session.start({}).result()
    app.update_state(CONFIG, {"note": "theirs"})
    session.reload()
    assert (dict(session.pending), session.next, session.state["note"]) == ({}, ("ask",), "theirs")
    session.proceed().result()
    assert list(session.pending) == ["ask:0"]


def test_an_update_in_a_node_s_name_goes_past_it():
    app = row("plan", asks(), "end")
    app.invoke({}, CONFIG)
    app.update_state(CONFIG, {"note": "by hand"}, as_node="ask")
    session = open_session(app, thread_id="t")
    assert (session.next, session.proceed().result().data["note"]) == (("end",), "by hand")


def test_calls_of_an_agent_in_a_sub_graph_are_decided_like_any():
    ran = []
    inner = agent([("remove", {"path": "x"})], {"remove": True}, ran=ran)
    app = built(("agent", inner.copy({"checkpointer": None})), state=MessagesState)
    session = open_session(app, thread_id="t")
    session.start(HI).result()
    [key] = session.pending
    assert key == "agent/HumanInTheLoopMiddleware.after_model:0/0"
    session.resume({key: True}).result()
    assert (session.status, ran) == ("completed", [("remove", {"path": "x"})])


def test_a_router_that_does_not_say_where_it_leads_is_drawn_to_anywhere():
    builder = StateGraph(State)
    builder.add_node("asks", says("asks"))
    builder.add_node("ends", says("ends"))
    builder.add_edge(START, "asks")
    builder.add_conditional_edges("asks", lambda state: "ends")
    drawing = draw(builder.compile())
    assert "n0_ -.-> anywhere_" in drawing.mermaid
    assert "n0 -> anywhere [id=e1 style=dashed]" in drawing.dot.source
