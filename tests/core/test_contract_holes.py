"""Statements of the runtime's contract that no other room shows."""

from __future__ import annotations

from typing import Any

import pytest

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
    build_react_agent,
    interrupt,
    node,
    open_session,
    tool,
    when,
)
from nbgraph.chat import ChatResponse, HumanMessage, ToolCall
from nbgraph.core.messages import ToolMessage
from tests.core.graphs import Trail, chain, fan, stop


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
