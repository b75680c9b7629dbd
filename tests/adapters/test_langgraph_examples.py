"""What LangGraph's own page on interrupts shows, answered through a session."""

import operator
import sqlite3
from typing import Annotated, Any, Literal

import pytest
from langchain.tools import tool
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from nbgraph import open_session

from .graphs import row


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    text: str
    action_details: str
    approved: bool
    answer: Any
    age: int | None
    question: str | None
    items: list[str]
    name: str
    city: str


def compiled(*nodes, saver=None, **options):
    builder = StateGraph(State)
    before = START
    for each in nodes:
        builder.add_node(each)
        builder.add_edge(before, each.__name__)
        before = each.__name__
    return builder.compile(checkpointer=saver or InMemorySaver(), **options)


def asked(app, given=None):
    session = open_session(app, thread_id="t")
    session.start(given or {}).result()
    return session


def only(session):
    [question] = session.pending.values()
    return question


def answered(session, answer):
    return session.resume({only(session).key: answer}).result()


@pytest.mark.parametrize("answer", [True, False])
def test_a_node_waits_for_an_approval(answer):
    def approval(state):
        return {"approved": interrupt("Do you approve?")}

    session = asked(compiled(approval))
    assert only(session).message == "Do you approve?"
    assert answered(session, answer).data["approved"] is answer


def test_a_typed_question_gives_the_node_its_type():
    class Decision(BaseModel):
        approved: bool
        note: str | None = None

    def decide(state):
        answer = interrupt({"question": "approve?"}, response_schema=Decision)
        return {"answer": answer, "approved": isinstance(answer, Decision)}

    session = asked(compiled(decide))
    assert only(session).response_schema == Decision.model_json_schema()
    assert answered(session, {"approved": True}).data["approved"] is True


@pytest.mark.parametrize(("answer", "way"), [(True, "proceed"), (False, "cancel")])
def test_an_answer_chooses_the_way(answer, way):
    def approval(state) -> Command[Literal["proceed", "cancel"]]:
        details = state["action_details"]
        agreed = interrupt({"question": "Do you want this?", "details": details})
        return Command(goto="proceed" if agreed else "cancel")

    builder = StateGraph(State)
    builder.add_node(approval)
    builder.add_node("proceed", lambda state: {"log": ["proceed"]})
    builder.add_node("cancel", lambda state: {"log": ["cancel"]})
    builder.add_edge(START, "approval")
    session = asked(builder.compile(checkpointer=InMemorySaver()), {"action_details": "move 500"})
    assert only(session).payload["details"] == "move 500"
    assert answered(session, answer).data["log"] == [way]
    assert ("approval", way) in session.snapshot.taken


def test_a_text_is_reviewed_and_edited():
    def review(state):
        return {"text": interrupt({"instruction": "Review this", "content": state["text"]})}

    session = asked(compiled(review), {"text": "draft"})
    assert (only(session).message, only(session).payload["content"]) == ("Review this", "draft")
    assert answered(session, "better").data["text"] == "better"


class Mails(TypedDict):
    messages: Annotated[list[AnyMessage], operator.add]


def test_a_tool_asks_and_the_answer_can_change_what_it_does(tmp_path):
    sent = []

    @tool
    def send_email(to: str, subject: str) -> str:
        """Send an email."""
        answer = interrupt({
            "action": "send_email",
            "to": to,
            "subject": subject,
            "message": "Send this?",
        })
        if answer.get("action") != "approve":
            return "cancelled"
        sent.append((answer.get("to", to), answer.get("subject", subject)))
        return "sent"

    def agent(state):
        if state["messages"][-1].type == "tool":
            return {"messages": [AIMessage("done")]}
        call = {"name": "send_email", "args": {"to": "desk", "subject": "Hi"}, "id": "c1"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    def tools(state):
        calls = state["messages"][-1].tool_calls
        results = [(call["id"], send_email.invoke(call["args"])) for call in calls]
        return {"messages": [ToolMessage(text, tool_call_id=call_id) for call_id, text in results]}

    def more(state) -> Literal["tools", "__end__"]:
        return "tools" if state["messages"][-1].tool_calls else END

    builder = StateGraph(Mails)
    builder.add_node(agent)
    builder.add_node(tools)
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", more, ["tools", END])
    builder.add_edge("tools", "agent")
    with sqlite3.connect(tmp_path / "mails.db", check_same_thread=False) as connection:
        app = builder.compile(checkpointer=SqliteSaver(connection))
        session = asked(app, {"messages": [{"role": "user", "content": "Write to the desk"}]})
        assert only(session).message == "Send this?"
        answered(session, {"action": "approve", "subject": "Updated"})
    connection.close()
    assert (session.status, sent) == ("completed", [("desk", "Updated")])
    assert [each["content"] for each in session.state["messages"][-2:]] == ["sent", "done"]


def test_a_node_asks_until_the_answer_is_good():
    def collect(state):
        answer = interrupt(state.get("question") or "What is your age?")
        if isinstance(answer, int) and answer > 0:
            return {"age": answer, "question": None}
        return {"question": f"{answer!r} is no age. Give a positive number."}

    builder = StateGraph(State)
    builder.add_node(collect)
    builder.add_edge(START, "collect")
    builder.add_conditional_edges(
        "collect", lambda state: END if state.get("age") else "collect", ["collect", END]
    )
    session = asked(builder.compile(checkpointer=InMemorySaver()))
    answered(session, "thirty")
    assert only(session).message == "'thirty' is no age. Give a positive number."
    assert answered(session, 30).data["age"] == 30


def test_questions_in_the_same_order_each_time_get_their_answers():
    def person(state):
        name = interrupt("Your name?")
        age = interrupt("Your age?")
        return {"name": name, "age": age, "city": interrupt("Your city?")}

    session = asked(compiled(person))
    for answer in ("Desk", 7, "Town"):
        answered(session, answer)
    assert {name: session.state[name] for name in ("name", "age", "city")} == {
        "name": "Desk",
        "age": 7,
        "city": "Town",
    }


def test_payloads_of_simple_values_are_shown():
    def ask(state):
        return {"answer": [interrupt(42), interrupt(True), interrupt({"fields": ["name"]})]}

    session = asked(compiled(ask))
    for shown in (42, True, {"fields": ["name"]}):
        assert only(session).payload == shown
        answered(session, "x")
    assert session.status == "completed"


def test_a_payload_that_cannot_be_kept_fails_the_run_and_says_so():
    def ask(state):
        return {"answer": interrupt({"question": "Name?", "validator": only})}

    session = open_session(compiled(ask), thread_id="t")
    with pytest.raises(TypeError, match="serializable"):
        session.start({}).result()
    assert session.status == "failed"


def test_code_before_a_question_runs_again_and_code_after_it_once():
    ran = []

    def approval(state):
        ran.append("before")
        approved = interrupt("Approve?")
        ran.append("after")
        return {"approved": approved}

    answered(asked(compiled(approval)), True)
    assert ran == ["before", "before", "after"]


def test_a_caught_pause_is_no_pause():
    def careless(state):
        try:
            interrupt("Name?")
        except Exception as error:  # noqa: BLE001 - what the page warns of
            return {"log": [type(error).__name__]}
        return {}

    session = asked(compiled(careless))
    assert (session.status, session.state["log"]) == ("completed", ["GraphInterrupt"])


def test_a_graph_called_by_a_node_asks_through_it():
    ran = []

    def inside(state):
        ran.append("inside")
        return {"name": interrupt("Your name?")}

    builder = StateGraph(State)
    builder.add_node(inside)
    builder.add_edge(START, "inside")
    child = builder.compile()

    def outside(state):
        ran.append("outside")
        return {"name": child.invoke({})["name"]}

    session = asked(compiled(outside))
    assert only(session).message == "Your name?"
    assert answered(session, "Desk").data["name"] == "Desk"
    assert ran == ["outside", "inside"] * 2


def test_static_breakpoints_of_the_graph_and_of_the_panel():
    def node_a(state):
        return {"log": ["a"]}

    def node_b(state):
        return {"log": ["b"]}

    def node_c(state):
        return {"log": ["c"]}

    nodes = (node_a, node_b, node_c)
    for app, own in (
        (compiled(*nodes, interrupt_before=["node_a"], interrupt_after=["node_b"]), False),
        (compiled(*nodes), True),
    ):
        session = open_session(app, thread_id="t")
        if own:
            session.breakpoints(before=["node_a"], after=["node_b"])
        session.start({}).result()
        assert (session.next, session.state.get("log", [])) == (("node_a",), [])
        session.proceed().result()
        assert (session.next, session.state["log"]) == (("node_c",), ["a", "b"])
        session.proceed().result()
        assert session.status == "completed"


def test_a_graph_of_functions_runs_too():
    from langgraph.func import entrypoint, task

    @task
    def double(number: int) -> int:
        return 2 * number

    @entrypoint(checkpointer=InMemorySaver())
    def flow(given: dict) -> dict:
        number = double(given["number"]).result()
        return {"number": number, "agreed": interrupt(f"Is {number} right?")}

    session = asked(flow, {"number": 4})
    assert only(session).message == "Is 8 right?"
    answered(session, True)
    assert session.status == "completed"


def test_nodes_that_ask_are_found_by_name_unattended():
    from .graphs import asks

    session = open_session(row(asks("Go?", bool)), thread_id="t")
    session.start({})
    assert session.finish({"ask:0": True}).data["answer"] is True
