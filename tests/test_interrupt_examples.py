"""What nodestep's page on interrupts shows and states, with graphs of our own."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from nbgraph import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    GraphInterrupt,
    InMemoryStateStore,
    Middleware,
    NodeContext,
    Resume,
    add,
    interrupt,
    node,
)
from nbgraph.core.events import Interrupt
from nbgraph.errors import GraphConfigError, GraphExecutionError, ResumeError
from nbgraph.middleware import NodeMiddlewareContext


class Loan(BaseState):
    days: float = 0.0
    extended: bool = False


@node
def extend(state: Loan) -> dict[str, Any]:
    answer = interrupt(f"Extend the loan by {state.days} days?", id="extend")
    return {"extended": answer == "yes"}


def library() -> Graph:
    return Graph(Loan, state_store=InMemoryStateStore()).flow(START >> extend, extend >> END)


def test_the_first_example_pauses_with_its_question_and_goes_on_with_the_answer() -> None:
    graph = library()
    paused = graph.invoke({"days": 14}, thread_id="loan-1")
    assert paused.status == "interrupted"
    asked = {key: question.payload for key, question in paused.interrupts.items()}
    assert asked == {"extend:extend": "Extend the loan by 14.0 days?"}
    done = graph.invoke(None, thread_id="loan-1", resume=Resume("yes"))
    assert (done.status, done.state.extended) == ("completed", True)


class Issue(BaseState):
    marks: Annotated[list[str], add] = Field(default_factory=list)


@node
def editor(state: Issue) -> dict[str, Any]:
    return {"marks": [f"editor: {interrupt('Editor: print it?', id='print')}"]}


@node
def printer(state: Issue) -> dict[str, Any]:
    return {"marks": [f"printer: {interrupt('Printer: print it?', id='print')}"]}


@node(goto=[editor, printer])
def ask_both(state: Issue) -> Command:
    return Command(goto=[editor, printer])


def magazine() -> Graph:
    return Graph(Issue, state_store=InMemoryStateStore()).flow(
        START >> ask_both, editor >> END, printer >> END
    )


def test_the_second_example_asks_two_nodes_under_one_id_and_takes_answers_by_key() -> None:
    graph = magazine()
    paused = graph.invoke({}, thread_id="issue-1")
    assert list(paused.interrupts) == ["editor:print", "printer:print"]
    answers = {"editor:print": "good", "printer:print": "good"}
    done = graph.invoke(None, thread_id="issue-1", resume=Resume(answers=answers))
    assert done.status == "completed"
    assert done.state.marks == ["editor: good", "printer: good"]


class Trip(BaseState):
    fare: float = 0.0
    booked: bool = False


def test_the_third_example_runs_the_node_again_and_computes_what_it_cached_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @node
    def book(state: Trip, ctx: NodeContext) -> dict[str, Any]:
        print("book runs")
        if "fare" not in ctx.cache:
            print("looking up the fare")
            ctx.cache["fare"] = 19.5
        answer = interrupt(f"Book for {ctx.cache['fare']}?", id="book")
        return {"fare": ctx.cache["fare"], "booked": answer == "yes"}

    graph = Graph(Trip, state_store=InMemoryStateStore()).flow(START >> book, book >> END)
    graph.invoke({}, thread_id="trip-1")
    result = graph.invoke(None, thread_id="trip-1", resume=Resume("yes"))
    assert str(result.state) == "fare=19.5 booked=True"
    assert capsys.readouterr().out.splitlines() == ["book runs", "looking up the fare", "book runs"]


def test_a_pending_interrupt_has_key_id_node_task_and_payload() -> None:
    paused = library().invoke({"days": 1}, thread_id="t")
    [question] = paused.interrupts.values()
    assert question == Interrupt(
        key="extend:extend",
        id="extend",
        node="extend",
        task_id="extend",
        payload="Extend the loan by 1.0 days?",
        asked=question.asked,
        created_at=question.created_at,
    )


def test_a_paused_result_shows_the_state_before_the_superstep() -> None:
    done_writes = node(name="writes")(lambda state: {"marks": ["written"]})
    graph = Graph(Issue, state_store=InMemoryStateStore()).flow(
        START >> [done_writes, editor], done_writes >> END, editor >> END
    )
    paused = graph.invoke({}, thread_id="t")
    assert paused.state == Issue()
    assert graph.invoke(None, thread_id="t", resume=Resume("ok")).state.marks == [
        "written",
        "editor: ok",
    ]


def test_answers_arrive_as_json() -> None:
    seen: list[Any] = []

    class Terms(BaseModel):
        days: int

    asks = node(name="asks")(lambda state: seen.append(interrupt(id="terms")))
    graph = Graph(Loan, state_store=InMemoryStateStore()).flow(START >> asks, asks >> END)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(Terms(days=3)))
    assert seen == [{"days": 3}]


def test_a_pause_needs_a_state_store() -> None:
    graph = Graph(Loan).flow(START >> extend, extend >> END)
    with pytest.raises(GraphExecutionError, match="a pause needs a state store"):
        graph.invoke({"days": 1})


def test_a_pause_needs_a_thread_id() -> None:
    with pytest.raises(GraphConfigError, match="needs a thread_id"):
        library().invoke({"days": 1})


def test_except_exception_does_not_swallow_a_pause() -> None:
    @node
    def careful(state: Loan) -> dict[str, Any]:
        try:
            return {"extended": interrupt("?", id="q") == "yes"}
        except Exception:  # noqa: BLE001 - what the example is about
            return {"extended": False}

    graph = Graph(Loan, state_store=InMemoryStateStore()).flow(START >> careful, careful >> END)
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    assert not issubclass(GraphInterrupt, Exception)


@pytest.mark.parametrize(
    "resume",
    [
        Resume("yes"),
        Resume(answers={"editor:print": "a"}),
        Resume(answers={"editor:print": "a", "printer:print": "b", "other:x": "c"}),
    ],
    ids=["one value for two questions", "one unanswered", "one not pending"],
)
def test_answers_are_checked_before_anything_runs(resume: Resume) -> None:
    graph = magazine()
    graph.invoke({}, thread_id="t")
    before = graph.sync.history("t")
    with pytest.raises(ResumeError):
        graph.invoke(None, thread_id="t", resume=resume)
    assert graph.sync.history("t") == before


def test_input_on_a_paused_thread_is_refused() -> None:
    graph = library()
    graph.invoke({"days": 1}, thread_id="t")
    before = graph.sync.history("t")
    with pytest.raises(ResumeError, match="waits for 'extend:extend'"):
        graph.invoke({"days": 2}, thread_id="t")
    assert graph.sync.history("t") == before


def test_resume_with_nothing_pending_is_refused() -> None:
    graph = library()
    graph.invoke({"days": 1}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("no"))
    before = graph.sync.history("t")
    with pytest.raises(ResumeError, match="asks nothing"):
        graph.invoke(None, thread_id="t", resume=Resume("no"))
    assert graph.sync.history("t") == before


def test_a_command_is_no_answer() -> None:
    graph = library()
    graph.invoke({"days": 1}, thread_id="t")
    with pytest.raises(TypeError, match="resume takes a Resume"):
        graph.invoke(None, thread_id="t", resume=Command())  # type: ignore[arg-type]


def test_the_context_of_the_paused_run_is_passed_again_with_the_answer() -> None:
    @node
    def asks(state: Loan, ctx: NodeContext) -> dict[str, Any]:
        interrupt("?", id="q")
        return {"days": ctx.context}

    graph = Graph(Loan, state_store=InMemoryStateStore()).flow(START >> asks, asks >> END)
    graph.invoke({}, thread_id="t", context=1.0)
    done = graph.invoke(None, thread_id="t", resume=Resume("ok"), context=2.0)
    assert done.state.days == 2.0


class Repair(BaseState):
    price: float = 0.0
    agreed: bool = False


class AgreeToSmallRepairs(Middleware):
    def on_interrupt(self, ctx: NodeMiddlewareContext, payload: object) -> object:
        if isinstance(payload, dict) and payload.get("price", 0) < 100:
            return "yes"
        return None


@node
def agree(state: Repair) -> dict[str, Any]:
    return {"agreed": interrupt({"price": state.price}, id="agree") == "yes"}


def workshop(*middleware: Middleware, **options: Any) -> Graph:
    return Graph(Repair, middleware=middleware, **options).flow(START >> agree, agree >> END)


def test_the_fourth_example_is_answered_by_middleware_without_a_store() -> None:
    assert workshop(AgreeToSmallRepairs()).invoke({"price": 20}).state.agreed is True


def test_what_no_hook_answers_pauses_and_that_needs_a_store() -> None:
    with pytest.raises(GraphExecutionError, match="a pause needs a state store"):
        workshop(AgreeToSmallRepairs()).invoke({"price": 200})
    graph = workshop(AgreeToSmallRepairs(), state_store=InMemoryStateStore())
    paused = graph.invoke({"price": 200}, thread_id="t")
    assert list(paused.interrupts) == ["agree:agree"]
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.agreed is True


def test_hooks_are_asked_in_order_and_the_first_answer_wins() -> None:
    asked: list[str] = []

    def hook(name: str, answer: str | None) -> Middleware:
        class Answers(Middleware):
            def on_interrupt(self, ctx: NodeMiddlewareContext, payload: object) -> object:
                asked.append(name)
                return answer

        return Answers()

    graph = workshop(hook("silent", None), hook("agrees", "yes"), hook("refuses", "no"))
    assert graph.invoke({"price": 1}).state.agreed is True
    assert asked == ["silent", "agrees"]


def test_an_on_interrupt_hook_may_be_async_too() -> None:
    class Agrees(Middleware):
        async def on_interrupt(self, ctx: NodeMiddlewareContext, payload: object) -> object:
            return "yes"

    assert workshop(Agrees()).invoke({"price": 1}).state.agreed is True
