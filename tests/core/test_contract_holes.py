"""Statements of the runtime's contract that no other room shows."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, computed_field

from nbgraph import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    Node,
    NodeContext,
    Resume,
    ScriptedChat,
    Send,
    build_react_agent,
    interrupt,
    node,
    open_session,
    tool,
    when,
)
from nbgraph.chat import ChatResponse, HumanMessage, ToolCall
from nbgraph.core.events import TaskFinished, TaskInterrupted
from nbgraph.core.messages import ToolMessage
from nbgraph.errors import GraphExecutionError, StateStoreError, StateUpdateError
from tests.core.graphs import Trail, chain, fan, history, stop


def test_a_session_remembers_its_context_over_a_pause() -> None:
    @node
    def ask(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        return {"log": [interrupt("?", id="q"), ctx.context["desk"]]}

    session = open_session(chain(ask), "t", context={"desk": "Front Desk"})
    session.start({}).result()
    assert session.resume({"ask:q": "yes"}).result().state.log == ["yes", "Front Desk"]


def counting(ran: list[str]) -> Node:
    @node
    def works(state: Trail) -> dict[str, Any]:
        ran.append("node")
        return {"log": ["works"]}

    return works


@pytest.mark.parametrize("way", ["invoke", "stream", "modes", "session"])
def test_finished_siblings_and_tools_do_not_run_again_whichever_way_a_thread_goes_on(
    way: str,
) -> None:
    ran: list[str] = []

    @tool
    def works(what: str) -> str:
        """Do something."""
        ran.append(what)
        return what

    @tool
    def asks(what: str) -> str:
        """Ask something."""
        return str(interrupt(what, id="q"))

    def go(graph: Graph, key: str) -> Any:
        answer = Resume(answers={key: "yes"})
        if way == "session":
            return open_session(graph, "t").resume({key: "yes"}).result().state
        if way == "invoke":
            return graph.invoke(resume=answer, thread_id="t").state
        modes: Any = {"stream_mode": "updates"} if way == "modes" else {}
        list(graph.stream(resume=answer, thread_id="t", **modes))
        return graph.sync.get_state("t").value

    @node
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt("?", id="q")]}

    graph = fan(counting(ran), ask)
    graph.invoke({}, thread_id="t")
    assert go(graph, "ask:q").log == ["works", "yes"]
    assert ran == ["node"]

    calls = (
        ToolCall(id="c1", name="works", arguments={"what": "tool"}),
        ToolCall(id="c2", name="asks", arguments={"what": "?"}),
    )
    chat = ScriptedChat([ChatResponse(tool_calls=calls), "Done."])
    store = InMemoryStateStore()
    agent = build_react_agent(chat, tools=[works, asks], state_store=store)
    asked = agent.invoke({"messages": [HumanMessage(content="Go")]}, thread_id="t").interrupts
    state = go(agent, next(iter(asked)))
    told = [message.content for message in state.messages if isinstance(message, ToolMessage)]
    assert (ran, len(told)) == (["node", "tool"], 2)


class Form(BaseState):
    age: int | None = None
    question: str = "What is your age?"


def test_a_node_that_leads_to_itself_asks_until_the_answer_is_good() -> None:
    @node
    def collect(state: Form) -> dict[str, Any]:
        answer = interrupt(state.question)
        if isinstance(answer, int) and answer > 0:
            return {"age": answer}
        return {"question": f"{answer!r} is no age. What is your age?"}

    graph = Graph(Form, state_store=InMemoryStateStore())
    graph.flow(START >> collect, collect >> when(lambda state: state.age is None, collect))
    asked = []
    result = graph.invoke({}, thread_id="t")
    for answer in ("thirty", -1, 30):
        [question] = result.interrupts.values()
        asked.append((question.key, question.payload))
        result = graph.invoke(resume=Resume(answer), thread_id="t")
    assert asked == [
        ("collect:0", "What is your age?"),
        ("collect:0", "'thirty' is no age. What is your age?"),
        ("collect:0", "-1 is no age. What is your age?"),
    ]
    assert result.state.age == 30


@pytest.mark.parametrize(("answer", "way"), [(True, "proceed"), (False, "cancel")])
def test_an_answer_chooses_the_way(answer: bool, way: str) -> None:
    proceed, cancel = stop("proceed"), stop("cancel")

    @node(goto=[proceed, cancel])
    def approve(state: Trail) -> Command:
        return Command(goto=proceed if interrupt("Go on?", response_schema=bool) else cancel)

    graph = Graph(Trail, state_store=InMemoryStateStore())
    graph.flow(START >> approve, proceed >> END, cancel >> END)
    graph.invoke({}, thread_id="t")
    assert graph.invoke(resume=Resume(answer), thread_id="t").state.log == [way]


def test_code_before_a_question_runs_again_and_code_after_it_once() -> None:
    ran: list[str] = []

    @node
    def ask(state: Trail) -> None:
        ran.append("before")
        interrupt("?", id="q")
        ran.append("after")

    @node
    def notify(state: Trail) -> None:
        ran.append("next node")

    graph = chain(ask, notify)
    graph.invoke({}, thread_id="t")
    graph.invoke(resume=Resume("yes"), thread_id="t")
    assert ran == ["before", "before", "after", "next node"]


# --- state -----------------------------------------------------------------------------------


class Priced(BaseModel):
    euros: int = Field(alias="price")

    @computed_field
    @property
    def cents(self) -> int:
        return self.euros * 100


def test_an_alias_comes_back_and_what_is_computed_is_not_kept() -> None:
    class Strict(Priced, extra="forbid"):
        pass

    class Bill(BaseState):
        total: Priced | None = None
        strict: Strict | None = None

    pays = node(name="pays")(lambda state: {"total": Priced(price=5), "strict": Strict(price=6)})
    graph = Graph(Bill, state_store=InMemoryStateStore()).flow(START >> pays >> END)
    graph.invoke({}, thread_id="t")
    again = graph.sync.get_state("t").value
    assert (again.total, again.strict) == (Priced(price=5), Strict(price=6))
    [kept] = [event for event in history(graph) if isinstance(event, TaskFinished)]
    assert kept.update == {"total": {"price": 5}, "strict": {"price": 6}}


class Odd:
    def __repr__(self) -> str:
        return "hush"


@pytest.mark.parametrize("value", [Odd(), {"hush": Odd()}, ["hush", {1: "hush"}], "hush"])
def test_a_value_that_is_refused_is_not_in_the_words_of_the_refusal(value: Any) -> None:
    class Kept(BaseState):
        anything: Any = None
        number: int = 0

    name = "number" if isinstance(value, str) else "anything"
    bad = node(name="bad")(lambda state: {name: value})
    graph = Graph(Kept, state_store=InMemoryStateStore()).flow(START >> bad >> END)
    with pytest.raises((StateStoreError, StateUpdateError)) as caught:
        graph.invoke({}, thread_id="t")
    said = str(caught.value)
    assert f"node 'bad', field '{name}'" in said
    assert "hush" not in said.replace("/hush", "")  # a key is a place


def test_a_reducer_of_ones_own_cannot_tell_what_was_changed_in_place() -> None:
    def both(current: int | None, update: int) -> int:
        return (current or 0) + update

    class Count(BaseState):
        total: Annotated[int, both] = 0

    @node
    def grows(state: Count) -> Count:
        state.total += 1
        return state

    graph = Graph(Count, state_store=InMemoryStateStore()).flow(START >> grows >> END)
    with pytest.raises(GraphExecutionError, match=r"'total' was changed in place .* Replace"):
        graph.invoke({}, thread_id="t")
    assert graph.sync.load("t") == {"total": 0}


def test_a_model_as_payload_lays_only_the_fields_that_were_set() -> None:
    class Over(BaseModel):
        count: int = 9
        log: list[str] = []

    work = node(name="work")(lambda state: {"log": [f"{state.log} {state.count}"]})
    lead = node(name="lead", goto=[work])(lambda state: Send(work, Over(count=5)))
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(START >> lead, work >> END)
    assert graph.invoke({"log": ["x"]}, thread_id="t").state.log == ["x", "['x'] 5"]


# --- running ---------------------------------------------------------------------------------


def test_a_question_is_told_while_the_task_beside_it_still_runs() -> None:
    told = threading.Event()

    @node
    def works(state: Trail) -> dict[str, Any]:
        return {"log": [f"told: {told.wait(60)}"]}

    ask = node(name="ask")(lambda state: {"log": [interrupt("?", id="q")]})
    graph = fan(ask, works)
    seen: list[str] = []
    for event in graph.stream({}, thread_id="t"):
        if isinstance(event, TaskInterrupted):
            told.set()
        seen.append(type(event).__name__)
    assert seen.index("TaskInterrupted") < seen.index("TaskFinished")
    assert graph.sync.load("t") == {"log": [], "count": 0}
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["yes", "told: True"]


def test_a_step_and_a_run_until_are_not_remembered() -> None:
    session = open_session(chain(*map(stop, "abcde"), interrupt_before=["a"]), "t")
    session.start({}).result()
    assert session.step().result().state.log == ["a"]
    assert session.run_until("d").result().state.log == ["a", "b", "c"]
    assert session.proceed().result().state.log == [*"abcde"]
    assert "breakpoints_set" not in [event.type for event in session.history()]


# --- questions -------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", ["What's the name?", 42, True, 1.5, None, ["a"], {"a": [1]}])
def test_simple_values_and_dicts_are_payloads(payload: Any) -> None:
    graph = chain(node(name="ask")(lambda state: {"log": [interrupt(payload, id="q")]}))
    asked = graph.invoke({}, thread_id="t").interrupts["ask:q"].payload
    kept = graph.sync.pending("t")["ask:q"].payload
    assert (asked, kept, type(asked), type(kept)) == (
        payload,
        payload,
        type(payload),
        type(payload),
    )


@pytest.mark.parametrize("by_key", [True, False])
def test_questions_of_one_node_are_answered_in_order_or_by_key(by_key: bool) -> None:
    @node
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt("dish?"), interrupt("guests?"), interrupt("city?")]}

    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    for number, answer in enumerate(["soup", "36", "Bremen"]):
        key = f"ask:{number}"
        assert list(graph.sync.pending("t")) == [key]
        resume = Resume(answers={key: answer}) if by_key else Resume(answer)
        done = graph.invoke(None, thread_id="t", resume=resume)
    assert done.state.log == ["soup", "36", "Bremen"]


def test_a_models_payload_is_told_as_json_at_once_and_later() -> None:
    class Part(BaseModel):
        name: str
        euros: float = 2.5

    @node
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt(Part(name="nut"), id="q", response_schema=str)]}

    graph = chain(ask)
    told = {"name": "nut", "euros": 2.5}
    assert graph.invoke({}, thread_id="t").interrupts["ask:q"].payload == told
    assert graph.sync.pending("t")["ask:q"].payload == told
