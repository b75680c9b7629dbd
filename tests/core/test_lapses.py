"""Questions that end without a person's answer: expired, dismissed, or asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from nbgraph import (
    ASK_AGAIN,
    DISMISS,
    END,
    START,
    Graph,
    InMemoryStateStore,
    Interrupt,
    Middleware,
    NodeContext,
    Resume,
    SQLiteStateStore,
    interrupt,
    node,
    open_session,
    subgraph,
)
from nbgraph.adapters.log import BranchLog
from nbgraph.adapters.requests import checked
from nbgraph.core.driver import Shape
from nbgraph.core.events import AnswersGiven, TaskFailed
from nbgraph.core.fold import fold
from nbgraph.core.schema import StateSchema
from nbgraph.core.snapshots import position_of, snapshot_of
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    GraphConfigError,
    NoAnswerError,
    QuestionExpiredError,
    ResumeError,
    StaleAnswerError,
)
from tests.core.graphs import Trail, asker, chain, fan, history

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Decision(BaseModel):
    to: Literal["north", "harbour"]


def timed(*nodes: Any, **options: Any) -> tuple[Graph, Callable[[float], None]]:
    """Return nodes side by side, before noon, and what sets the graph's clock, in seconds after."""
    graph = fan(*nodes, **options)

    def set_clock(seconds: float) -> None:
        at = NOON.timestamp() + seconds
        graph.clock = lambda: at

    set_clock(-1)
    return graph, set_clock


def given(graph: Graph, thread_id: str = "t") -> list[AnswersGiven]:
    return [event for event in history(graph, thread_id) if isinstance(event, AnswersGiven)]


# --- expiry --------------------------------------------------------------------------------------


def test_a_question_that_expired_goes_on_with_its_default_and_the_event_names_nobody() -> None:
    graph, set_clock = timed(asker("a", expires=NOON, default="no"))
    question = graph.invoke({}, thread_id="t").interrupts["a:ok"]
    assert (question.expires_at, question.default) == (NOON.timestamp(), "no")
    set_clock(0)
    assert graph.invoke(None, thread_id="t").state.log == ["a: 'no'"]
    [event] = given(graph)
    assert (event.answers, event.lapsed, event.by) == ({"a:ok": "no"}, {"a:ok": "expired"}, None)


def test_before_its_time_a_question_waits_and_is_answered_as_any_other() -> None:
    graph, _ = timed(asker("a", expires=NOON, default="no"))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(ResumeError, match="waits for 'a:ok'"):
        graph.invoke(None, thread_id="t")
    assert history(graph) == before
    assert graph.invoke(resume=Resume("yes"), thread_id="t").state.log == ["a: 'yes'"]
    assert given(graph)[0].lapsed == {}


@pytest.mark.parametrize("resume", [Resume("yes"), Resume(answers={"a:ok": "yes"})])
def test_an_answer_that_comes_too_late_is_refused_and_nothing_is_recorded(resume: Any) -> None:
    graph, set_clock = timed(asker("a", expires=NOON, default="no"))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    set_clock(0)
    with pytest.raises(QuestionExpiredError, match="comes too late; continue the thread") as caught:
        graph.invoke(resume=resume, thread_id="t")
    assert (caught.value.key, caught.value.at) == ("a:ok", NOON.timestamp())
    assert history(graph) == before
    graph.invoke(None, thread_id="t")
    with pytest.raises(QuestionExpiredError):
        graph.invoke(resume=Resume(answers={"a:ok": 1}, asked={"a:ok": 2}), thread_id="t")


def test_a_default_is_the_schemas_type_and_is_checked_where_the_question_is_asked() -> None:
    seen: list[Any] = []

    @node
    def route(state: Trail) -> None:
        default = Decision(to="north")
        seen.append(interrupt(response_schema=Decision, expires=NOON, default=default))

    graph, set_clock = timed(route)
    graph.invoke({}, thread_id="t")
    assert given(graph) == []
    set_clock(1)
    graph.invoke(None, thread_id="t")
    assert seen == [Decision(to="north")]
    bad = chain(asker("a", response_schema=Decision, default={"to": "south"}))
    with pytest.raises(GraphConfigError, match=r"default of 'a:ok' does not fit .* /to: "):
        bad.invoke({}, thread_id="t")


def test_without_a_default_the_node_is_told_and_may_catch_it() -> None:
    @node
    def ask(state: Trail) -> dict[str, Any]:
        try:
            return {"log": [interrupt(expires=NOON)]}
        except NoAnswerError as error:
            return {"log": [f"{error.key} {error.how}"]}

    graph, set_clock = timed(ask)
    graph.invoke({}, thread_id="t")
    set_clock(0)
    assert graph.invoke(None, thread_id="t").state.log == ["ask:0 expired"]
    assert given(graph)[0].answers == {"ask:0": None}


def test_none_is_a_default() -> None:
    graph, set_clock = timed(asker("a", expires=NOON, default=None))
    graph.invoke({}, thread_id="t")
    set_clock(0)
    assert graph.invoke(None, thread_id="t").state.log == ["a: None"]


def test_of_several_questions_those_that_expired_end_and_the_others_wait() -> None:
    graph, set_clock = timed(asker("a", expires=NOON, default="no"), asker("b"))
    graph.invoke({}, thread_id="t")
    set_clock(0)
    waits = graph.invoke(None, thread_id="t")
    assert list(waits.interrupts) == ["b:ok"]
    assert graph.invoke(resume=Resume("yes"), thread_id="t").state.log == ["a: 'no'", "b: 'yes'"]


def test_one_answer_is_for_the_one_question_whose_time_is_not_over() -> None:
    graph, set_clock = timed(asker("a", expires=NOON, default="no"), asker("b"))
    graph.invoke({}, thread_id="t")
    set_clock(0)
    done = graph.invoke(resume=Resume("yes", by="ops"), thread_id="t")
    assert done.state.log == ["a: 'no'", "b: 'yes'"]
    [event] = given(graph)
    assert (event.answers, event.lapsed) == ({"a:ok": "no", "b:ok": "yes"}, {"a:ok": "expired"})


@pytest.mark.parametrize("expires", [60, timedelta(minutes=1)])
def test_a_time_may_be_said_from_the_asking_on(expires: Any) -> None:
    graph = chain(asker("a", expires=expires))
    before = datetime.now(UTC).timestamp()
    [question] = graph.invoke({}, thread_id="t").interrupts.values()
    assert question.expires_at is not None
    assert before + 60 <= question.expires_at <= datetime.now(UTC).timestamp() + 60


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (datetime(2030, 1, 1), ValueError),
        (float("nan"), ValueError),
        (float("inf"), ValueError),
        ("tomorrow", TypeError),
        (True, TypeError),
    ],
)
def test_a_time_that_is_none_fails_the_node(bad: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="expires"):
        chain(asker("a", expires=bad)).invoke({}, thread_id="t")


def test_a_question_inside_a_sub_graph_expires_by_its_roots_clock() -> None:
    inner = Graph(Trail, name="inner").flow(START >> asker("a", expires=NOON, default="no") >> END)
    graph, set_clock = timed(subgraph("sub", inner, share=["log"]))
    graph.invoke({}, thread_id="t")
    inner.clock = lambda: NOON.timestamp() + 99  # its own clock does not count
    with pytest.raises(ResumeError):
        graph.invoke(None, thread_id="t")
    set_clock(0)
    assert graph.invoke(None, thread_id="t").state.log == ["a: 'no'"]
    child = next(iter(graph.sync.position("t", at=2).children.values()))
    events = asyncio.run(graph.thread(child.thread_id).events())
    [event] = [event for event in events if isinstance(event, AnswersGiven)]
    assert event.lapsed == {"a:ok": "expired"}


def test_a_store_lists_until_when_a_question_waits(tmp_path: Path) -> None:
    graph = chain(
        asker("a", expires=NOON, default="no"), state_store=SQLiteStateStore(tmp_path / "t.db")
    )
    graph.invoke({}, thread_id="t")
    other = SQLiteStateStore(tmp_path / "t.db")
    [record] = asyncio.run(other.pending())
    assert record.interrupt.expires_at == NOON.timestamp()
    assert (record.interrupt.default, record.interrupt.has_default) == ("no", True)


def test_a_session_goes_on_where_a_question_may_be_over() -> None:
    graph, set_clock = timed(asker("a", expires=NOON, default="no"))
    session = open_session(graph, "t")
    session.start({}).result()
    with pytest.raises(ResumeError):
        session.proceed().result()
    set_clock(0)
    session.proceed().result()
    assert session.state["log"] == ["a: 'no'"]
    assert "nobody answered in time a:ok" in [line.text for line in session.snapshot.log]


# --- dismissed -----------------------------------------------------------------------------------


def test_a_dismissed_question_counts_its_default_and_the_event_names_who_dismissed_it() -> None:
    graph = chain(asker("a", default="no"))
    graph.invoke({}, thread_id="t")
    done = graph.invoke(resume=Resume(DISMISS, by="ops"), thread_id="t")
    assert done.state.log == ["a: 'no'"]
    [event] = given(graph)
    assert (event.answers, event.lapsed, event.by) == (
        {"a:ok": "no"},
        {"a:ok": "dismissed"},
        "ops",
    )


def test_without_a_default_a_dismissal_fails_the_node_which_then_asks_again() -> None:
    graph = chain(asker("a"))
    first = graph.invoke({}, thread_id="t").interrupts["a:ok"]
    with pytest.raises(NoAnswerError, match=r"'a:ok' ends without an answer \(dismissed\)"):
        graph.invoke(resume=Resume(DISMISS), thread_id="t")
    assert [event.error.type for event in history(graph) if isinstance(event, TaskFailed)] == [
        "NoAnswerError"
    ]
    again = graph.invoke(None, thread_id="t").interrupts["a:ok"]
    assert again.asked > first.asked
    assert graph.invoke(resume=Resume("yes"), thread_id="t").state.log == ["a: 'yes'"]


def test_one_of_several_is_dismissed_by_its_key_beside_answers() -> None:
    graph = fan(asker("a", default=0), asker("b"), asker("c"))
    graph.invoke({}, thread_id="t")
    waits = graph.invoke(
        resume=Resume(answers={"a:ok": DISMISS, "b:ok": 2}, partial=True), thread_id="t"
    )
    assert list(waits.interrupts) == ["c:ok"]
    done = graph.invoke(resume=Resume(3), thread_id="t")
    assert done.state.log == ["a: 0", "b: 2", "c: 3"]


def test_a_dismissed_question_of_a_sub_graph_is_dismissed_there() -> None:
    inner = Graph(Trail, name="inner").flow(START >> asker("a", default="no") >> END)
    graph = chain(subgraph("sub", inner, share=["log"]))
    graph.invoke({}, thread_id="t")
    assert graph.invoke(resume=Resume(DISMISS), thread_id="t").state.log == ["a: 'no'"]


def test_who_answers_after_a_dismissal_is_told_who_was_first() -> None:
    graph = chain(asker("a", default="no"))
    asked = graph.invoke({}, thread_id="t").interrupts["a:ok"].asked
    graph.invoke(resume=Resume(DISMISS, by="ops"), thread_id="t")
    with pytest.raises(AlreadyAnsweredError, match="'ops' answered"):
        graph.invoke(resume=Resume(answers={"a:ok": 1}, asked={"a:ok": asked}), thread_id="t")


def test_a_node_finds_no_answer_of_a_dismissed_question_in_its_context() -> None:
    seen: list[dict[str, Any]] = []

    @node
    def ask(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        seen.append(dict(ctx.resume_values))
        first = interrupt(id="first", default=1)
        try:
            interrupt(id="second")
        except NoAnswerError:
            return {"count": first}
        return {}

    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    graph.invoke(resume=Resume(DISMISS), thread_id="t")
    assert graph.invoke(resume=Resume(DISMISS), thread_id="t").state.count == 1
    assert seen == [{}, {"ask:first": 1}, {"ask:first": 1}]


# --- asked again ---------------------------------------------------------------------------------


def test_a_question_asked_again_shows_what_was_edited_and_is_another_asking() -> None:
    @node
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt(f"{state.count} kg?", id="ok")]}

    graph = chain(ask)
    first = graph.invoke({"count": 1}, thread_id="t").interrupts["ask:ok"]
    graph.sync.update_state("t", {"count": 2})
    again = graph.invoke(resume=Resume(ASK_AGAIN), thread_id="t").interrupts["ask:ok"]
    assert (first.payload, again.payload) == ("1 kg?", "2 kg?")
    late = Resume(answers={"ask:ok": "yes"}, asked={"ask:ok": first.asked})
    with pytest.raises(StaleAnswerError):
        graph.invoke(resume=late, thread_id="t")
    assert graph.invoke(resume=Resume("yes"), thread_id="t").state.log == ["yes"]
    assert [event.lapsed for event in given(graph)] == [{"ask:ok": "again"}, {}]


def test_what_a_node_was_answered_before_stays_answered_when_it_asks_again() -> None:
    @node
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [f"{interrupt(id='one')} {interrupt(state.count, id='two')}"]}

    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    graph.invoke(resume=Resume("first"), thread_id="t")
    graph.sync.update_state("t", {"count": 7})
    again = graph.invoke(resume=Resume(ASK_AGAIN), thread_id="t")
    assert [(key, item.payload) for key, item in again.interrupts.items()] == [("ask:two", 7)]
    assert graph.invoke(resume=Resume("second"), thread_id="t").state.log == ["first second"]


def test_a_question_in_a_sub_graph_is_asked_again_there() -> None:
    calls: list[int] = []

    @node
    def ask(state: Trail) -> dict[str, Any]:
        calls.append(1)
        return {"log": [interrupt(id="ok")]}

    inner = Graph(Trail, name="inner").flow(START >> ask >> END)
    graph = chain(subgraph("sub", inner, share=["log"]))
    first = graph.invoke({}, thread_id="t").interrupts["sub/ask:ok"]
    again = graph.invoke(resume=Resume(ASK_AGAIN), thread_id="t").interrupts["sub/ask:ok"]
    assert again.asked > first.asked
    assert len(calls) == 2
    assert graph.invoke(resume=Resume("yes"), thread_id="t").state.log == ["yes"]


def test_a_node_that_does_not_ask_any_more_goes_on() -> None:
    @node
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": ["sure" if state.count else interrupt(id="ok")]}

    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    graph.sync.update_state("t", {"count": 1})
    assert graph.invoke(resume=Resume(ASK_AGAIN), thread_id="t").state.log == ["sure"]


# --- around them ---------------------------------------------------------------------------------


def test_a_position_comes_back_from_a_snapshot_with_what_lapsed() -> None:
    graph, set_clock = timed(asker("a", expires=NOON, default="no"), asker("b"))
    graph.invoke({}, thread_id="t")
    set_clock(0)
    graph.invoke(None, thread_id="t")
    schema = StateSchema(Trail)
    events = history(graph)
    for end in range(1, len(events) + 1):
        position = fold(events[:end], schema)
        snapshot = snapshot_of(position, schema)
        assert snapshot is not None
        assert position_of(snapshot, schema) == position


@pytest.mark.parametrize("given", [DISMISS, ASK_AGAIN])
def test_another_engine_is_given_no_dismissal_for_an_answer(given: Any) -> None:
    branch = BranchLog("main", StateSchema(dict))
    shape = Shape("g", (), (), {})
    with pytest.raises(ResumeError, match="stands for no answer, and this engine needs one"):
        checked(Resume(given), shape, branch, "t")
    with pytest.raises(ResumeError, match="stands for no answer"):
        checked(Resume(answers={"a": given}), shape, branch, "t")


def test_middleware_answers_and_does_not_dismiss() -> None:
    class Quiet(Middleware):
        def on_interrupt(self, ctx: Any, payload: Any) -> Any:
            return DISMISS

    with pytest.raises(AnswerError, match="stands for no answer, which is not possible here"):
        chain(asker("a"), middleware=[Quiet()]).invoke({}, thread_id="t")


def test_middleware_is_asked_again_too() -> None:
    class Later(Middleware):
        ready = False

        def on_interrupt(self, ctx: Any, payload: Any) -> Any:
            return "by code" if self.ready else None

    later = Later()
    graph = chain(asker("a"), middleware=[later])
    graph.invoke({}, thread_id="t")
    later.ready = True
    assert graph.invoke(resume=Resume(ASK_AGAIN), thread_id="t").state.log == ["a: 'by code'"]


def test_a_fork_of_an_expired_question_expires_on_its_own() -> None:
    graph, set_clock = timed(asker("a", expires=NOON, default="no"))
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", name="other")
    graph.invoke(resume=Resume("yes"), thread_id="t")
    set_clock(0)
    done = graph.invoke(None, thread_id="t", branch_id="other")
    assert done.state.log == ["a: 'no'"]


def test_a_question_without_an_end_is_stored_as_it_was() -> None:
    question = Interrupt(key="a:0", id="0", node="a", task_id="a")
    assert question.model_dump(exclude_defaults=True) == {
        "key": "a:0",
        "id": "0",
        "node": "a",
        "task_id": "a",
    }


def test_a_dismissed_approval_denies() -> None:
    from nbgraph import ScriptedChat, build_react_agent, tool
    from nbgraph.chat import AIMessage, ChatResponse, ToolCall, ToolMessage
    from nbgraph.middleware import InterruptRule, ToolInterruptMiddleware

    ran: list[int] = []

    @tool
    def pay(amount: int) -> str:
        """Pay an amount."""
        ran.append(amount)
        return "paid"

    calls = (ToolCall(id="c1", name="pay", arguments={"amount": 5}),)
    chat = ScriptedChat([ChatResponse(content="", tool_calls=list(calls)), "done"])
    graph = build_react_agent(
        chat,
        tools=[pay],
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule(tool="pay")])],
        state_store=InMemoryStateStore(),
    )
    from nbgraph.chat import HumanMessage

    graph.invoke({"messages": [HumanMessage(content="pay 5")]}, thread_id="t")
    done = graph.invoke(resume=Resume(DISMISS), thread_id="t")
    assert (done.status, ran) == ("completed", [])
    kinds = [type(message) for message in done.state.messages]
    assert kinds == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    [row] = open_session(graph, "t").decisions()
    assert row.decision == "deny"
