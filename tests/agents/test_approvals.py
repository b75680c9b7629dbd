"""Approvals of tool calls: what is asked, what may be decided, and what then runs."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import Field

from nbgraph import (
    FuturesExecutor,
    Graph,
    GraphInterrupt,
    InMemoryStateStore,
    Resume,
    ScriptedChat,
    SQLiteStateStore,
    build_react_agent,
    interrupt,
    tool,
)
from nbgraph.chat import ToolMessage
from nbgraph.core.answers import problems_of
from nbgraph.core.decisions import approval_id, decided, escaped
from nbgraph.core.events import AnswerRefused
from nbgraph.errors import AlreadyAnsweredError, GraphConfigError, GraphExecutionError
from nbgraph.middleware import (
    InterruptRule,
    Middleware,
    Replacement,
    ToolDecision,
    ToolInterrupt,
    ToolInterruptMiddleware,
    ToolMiddlewareContext,
    all_fields,
    any_field,
    eq,
    ge,
    gt,
    le,
    lt,
    matches,
    should_interrupt,
)

from .desk import MESSAGE, REFUND, Desk, agent, asks, call

BIG = InterruptRule(tool="refund", match=gt("amount", 100))
KEY = "act:approve_c1"


def answered(desk: Desk, decision: Any, *rules: InterruptRule) -> Any:
    """Return where the thread stands after a refund was asked about and decided."""
    graph = agent(desk, [asks(REFUND)], *(rules or (BIG,)))
    graph.invoke(MESSAGE, thread_id="t")
    return graph.invoke(None, thread_id="t", resume=Resume(decision))


def result_of(done: Any) -> ToolMessage:
    return next(each for each in done.state.messages if isinstance(each, ToolMessage))


# --- rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "met", "not_met", "unreadable"),
    [
        (gt("n", 100), 101, 100, "a lot"),
        (ge("n", 100), 100, 99.5, None),
        (lt("n", 0), -1, 0, True),
        (le("n", 0), 0, 0.5, float("nan")),
        (eq("n", 3), 3.0, 4, True),
        (eq("n", "EUR"), "EUR", "USD", 3),
        (matches("n", "^a.*z$"), "abcz", "abc", 7),
        (all_fields(n="a", m="x"), "a", "b", 1),
        (any_field(n="a", m="y"), "a", "b", 1),
    ],
    ids=lambda value: getattr(value, "text", None),
)
def test_a_condition_asks_if_it_is_met_or_cannot_be_checked(
    condition: Any, met: Any, not_met: Any, unreadable: Any
) -> None:
    rules = [InterruptRule(tool="refund", match=condition)]
    assert should_interrupt(rules, "refund", {"n": met, "m": "x"})
    assert not should_interrupt(rules, "refund", {"n": not_met, "m": "x"})
    assert should_interrupt(rules, "refund", {"n": unreadable, "m": "x"})
    assert should_interrupt(rules, "refund", {"m": "x"})
    assert not should_interrupt(rules, "look_up", {"n": met, "m": "x"})


@tool
def pay(n: Decimal | None, m: Annotated[Decimal, Field(gt=0)], code: str | Decimal = "") -> str:
    """Pay."""
    return f"{n} {m} {code}"


@pytest.mark.parametrize(
    ("condition", "met", "not_met"),
    [
        (gt("n", 100), "100.01", "100.00"),
        (ge("n", 0.1), "0.1", "0.0999999999999999999"),
        (lt("n", Decimal("0.30")), "0.29", "0.3"),
        (le("n", 1e3), "1E+3", 1000.5),
        (eq("n", 180), "180.00", "180.01"),
        (eq("n", Decimal("180.00")), 180, 180.5),
        (gt("n", Decimal("9007199254740992")), "9007199254740993", "9007199254740992"),
    ],
    ids=lambda value: getattr(value, "text", None),
)
def test_a_decimal_argument_is_compared_as_it_is_written(condition, met, not_met) -> None:
    rules = [InterruptRule(tool="pay", match=condition)]
    assert should_interrupt(rules, pay, {"n": met})
    assert not should_interrupt(rules, pay, {"n": not_met})
    for unreadable in ("a lot", "NaN", "sNaN", None, True):
        assert should_interrupt(rules, pay, {"n": unreadable})


def test_text_that_is_no_decimal_to_the_tool_is_asked_about() -> None:
    """A tool that takes any text reads `"20"` as text, and a name has no schema."""
    assert not should_interrupt([InterruptRule(tool="pay", match=gt("m", 100))], pay, {"m": "20"})
    assert should_interrupt([InterruptRule(tool="pay", match=gt("code", 100))], pay, {"code": "20"})
    assert should_interrupt([InterruptRule(tool="pay", match=gt("m", 100))], "pay", {"m": "20"})
    pattern = InterruptRule(tool="pay", match=matches("m", "^2"))
    assert should_interrupt([pattern], pay, {"m": "20"})
    assert not should_interrupt([pattern], pay, {"m": "30"})


@pytest.mark.parametrize(("amount", "status"), [("20.00", "completed"), ("180.00", "interrupted")])
def test_a_call_with_a_small_decimal_runs_unasked(amount: str, status: str) -> None:
    ran: list[Decimal] = []

    @tool
    def give(amount: Decimal) -> str:
        """Give."""
        ran.append(amount)
        return "given"

    graph = build_react_agent(
        ScriptedChat([asks(call("give", amount=amount))], default="Done."),
        tools=[give],
        middleware=[
            ToolInterruptMiddleware(rules=[InterruptRule(tool=give, match=gt("amount", 100))])
        ],
        state_store=InMemoryStateStore(),
    )
    done = graph.invoke(MESSAGE, thread_id="t")
    assert (done.status, ran) == (status, [Decimal(amount)] if status == "completed" else [])
    for question in done.interrupts.values():
        assert question.payload.rule.problem is None


def test_a_rule_without_a_condition_asks_about_every_call_of_its_tool() -> None:
    refund = Desk().tools()[0]
    for rule in (InterruptRule(tool="refund"), InterruptRule(tool=refund), InterruptRule(tool="*")):
        assert should_interrupt([rule], "refund")
        assert should_interrupt([rule], refund, {"amount": 1})
    assert not should_interrupt([InterruptRule(tool="refund")], "look_up")
    assert not should_interrupt([], "refund")


def test_a_condition_of_your_own_is_named_when() -> None:
    def late(arguments: Any) -> bool:
        return arguments["hour"] > 18

    rules = [InterruptRule(tool="*", when=late)]
    assert should_interrupt(rules, "refund", {"hour": 19})
    assert not should_interrupt(rules, "refund", {"hour": 8})
    assert should_interrupt(rules, "refund", {})


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"tool": ""}, "names a tool"),
        ({"tool": 3}, "names a tool"),
        ({"tool": "a", "match": 3}, "is a function"),
        ({"tool": "a", "match": len, "when": len}, "one thing"),
        ({"tool": "a", "allowed": ("approve", "maybe")}, "allowed lists"),
        ({"tool": "a", "allowed": "approve"}, "allowed lists"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused_at_once(
    options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(GraphConfigError, match=problem):
        InterruptRule(**options)


@pytest.mark.parametrize(
    "make",
    [lambda: gt("n", "3"), lambda: gt("n", True), lambda: lt("n", Decimal("nan")), all_fields],
)
def test_a_condition_that_compares_with_nothing_is_refused(make: Any) -> None:
    with pytest.raises(GraphConfigError):
        make()


def test_a_pattern_that_could_hang_is_refused() -> None:
    with pytest.raises(GraphConfigError, match="linear time"):
        matches("n", r"(?=a)(a+)+\1")
    assert not should_interrupt(
        [InterruptRule(tool="*", match=matches("n", "^(a+)+$"))], "t", {"n": "a" * 50_000 + "!"}
    )


def test_the_middleware_takes_rules_only() -> None:
    with pytest.raises(GraphConfigError, match="InterruptRule"):
        ToolInterruptMiddleware(rules=["refund"])  # type: ignore[list-item]


# --- what is asked --------------------------------------------------------------------------


def test_a_call_that_no_rule_matches_runs_without_a_question() -> None:
    desk = Desk()
    small = call("refund", order_id="A-1", amount=20.0)
    done = agent(desk, [asks(small)], BIG).invoke(MESSAGE, thread_id="t")
    assert (done.status, len(desk.done)) == ("completed", 1)


def test_the_question_shows_the_call_the_tool_the_rule_and_what_may_be_decided() -> None:
    desk = Desk()
    paused = agent(desk, [asks(REFUND)], BIG).invoke(MESSAGE, thread_id="t")
    question = paused.interrupts[KEY]
    payload = question.payload
    assert isinstance(payload, ToolInterrupt)
    assert payload.kind == "tool_interrupt"
    assert (payload.tool_name, payload.tool_call_id) == ("refund", "c1")
    assert payload.arguments == {"order_id": "A-1", "amount": 120.0}
    assert payload.description == "Pay money back for an order."
    assert payload.input_schema["properties"]["amount"] == {"title": "Amount", "type": "number"}
    assert payload.rule is not None
    assert payload.rule.model_dump() == {
        "tool": "refund",
        "condition": "amount > 100",
        "fields": ("amount",),
        "problem": None,
    }
    assert payload.allowed == ("approve", "edit", "deny", "respond")
    assert not payload.destructive
    assert re.fullmatch("[0-9a-f]{64}", payload.call_hash)
    assert (question.reason, question.tool_call_id) == ("tool_approval", "c1")
    assert desk.done == []


def test_the_question_says_that_a_condition_could_not_be_checked() -> None:
    rule = InterruptRule(tool="refund", match=gt("order_id", 1))
    paused = agent(Desk(), [asks(REFUND)], rule).invoke(MESSAGE, thread_id="t")
    assert paused.interrupts[KEY].payload.rule.problem == "TypeError: 'A-1' is no number"


def test_the_question_says_that_a_tool_is_destructive() -> None:
    script = [asks(call("close_account", name="Front Desk"))]
    paused = agent(Desk(), script, InterruptRule(tool="*")).invoke(MESSAGE, thread_id="t")
    assert paused.interrupts[KEY].payload.destructive


@pytest.mark.parametrize(
    ("call_id", "written"),
    [
        ("call_1", "call_1"),
        ("call-A9", "call-A9"),
        ("a.b", "a.2eb"),
        ("a b", "a.20b"),
        ("é", ".c3.a9"),
        ("/0", ".2f0"),
    ],
)
def test_the_question_has_the_calls_id_in_its_own(call_id: str, written: str) -> None:
    assert approval_id(call_id) == f"approve_{written}"
    assert escaped(call_id) == written
    script = [asks(call("refund", call_id, order_id="A-1", amount=120.0))]
    paused = agent(Desk(), script, BIG).invoke(MESSAGE, thread_id="t")
    assert list(paused.interrupts) == [f"act:approve_{written}"]


@pytest.mark.parametrize("missing", ["", None])
def test_a_call_without_an_id_cannot_be_asked_about(missing: Any) -> None:
    with pytest.raises(ValueError, match="without an id"):
        approval_id(missing)


def test_arguments_that_do_not_fit_are_the_models_mistake_and_nobody_is_asked() -> None:
    desk = Desk()
    wrong = call("refund", order_id="A-1", amount="a lot")
    done = agent(desk, [asks(wrong)], InterruptRule(tool="*")).invoke(MESSAGE, thread_id="t")
    assert (done.status, desk.done) == ("completed", [])
    assert "amount: Not a number" in result_of(done).content


# --- decisions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decision", [True, ToolDecision(action="approve"), {"action": "approve"}], ids=repr
)
def test_an_approval_runs_the_call_as_it_was_shown(decision: Any) -> None:
    desk = Desk()
    done = answered(desk, decision)
    assert desk.done == [("refund", {"order_id": "A-1", "amount": 120.0, "note": ""})]
    assert result_of(done).content == '{"result":"refunded 120.0"}'
    assert result_of(done).arguments == REFUND.arguments


@pytest.mark.parametrize("as_dict", [True, False])
def test_an_edit_is_merged_into_the_arguments(*, as_dict: bool) -> None:
    desk = Desk()
    decision = ToolDecision(action="edit", arguments={"amount": 80.0})
    done = answered(desk, decision.model_dump() if as_dict else decision)
    assert desk.done == [("refund", {"order_id": "A-1", "amount": 80.0, "note": ""})]
    assert result_of(done).arguments == {"order_id": "A-1", "amount": 80.0}
    assert done.state.messages[1].tool_calls[0].arguments == REFUND.arguments


def test_an_edit_that_replaces_can_leave_an_argument_out() -> None:
    desk = Desk()
    noted = call("refund", order_id="A-1", amount=120.0, note="as asked")
    graph = agent(desk, [asks(noted)], BIG)
    graph.invoke(MESSAGE, thread_id="t")
    whole = {"order_id": "A-1", "amount": 110.0}
    decision = ToolDecision(action="edit", arguments=whole, replace=True)
    done = graph.invoke(None, thread_id="t", resume=Resume(decision))
    assert desk.done == [("refund", {**whole, "note": ""})]
    assert result_of(done).arguments == whole


@pytest.mark.parametrize(
    ("arguments", "path", "options"),
    [
        ({"amount": "80"}, "/arguments/amount", {}),
        ({"amount": True}, "/arguments/amount", {}),
        ({"colour": "red"}, "/arguments/colour", {}),
        ({"amount": 80.0}, "/arguments/order_id", {"replace": True}),
    ],
)
def test_an_edit_that_does_not_fit_is_asked_again_and_says_why(
    arguments: dict[str, Any], path: str, options: dict[str, Any]
) -> None:
    desk = Desk()
    graph = agent(desk, [asks(REFUND)], BIG)
    graph.invoke(MESSAGE, thread_id="t")
    decision = ToolDecision(action="edit", arguments=arguments, **options)
    again = graph.invoke(None, thread_id="t", resume=Resume(decision))
    assert again.status == "interrupted"
    assert list(again.interrupts[KEY].problems) == [path]
    assert desk.done == []
    history = graph.sync.history("t")
    assert sum(isinstance(event, AnswerRefused) for event in history) == 1
    done = graph.invoke(None, thread_id="t", resume=Resume(True))
    assert (done.status, len(desk.done)) == ("completed", 1)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (False, "denied"),
        (ToolDecision(action="deny"), "denied"),
        (ToolDecision(action="deny", message="wrong order"), "denied: wrong order"),
        ("yes", "could not be read"),
        (None, "could not be read"),
        (1, "could not be read"),
        ([True], "could not be read"),
        ({}, "could not be read"),
        ({"action": "run"}, "could not be read"),
        ({"action": "edit"}, "could not be read"),
        ({"action": "approve", "arguments": {"amount": 1}}, "could not be read"),
        ({"action": "approve", "more": 1}, "could not be read"),
        ({"approve": True}, "could not be read"),
    ],
    ids=repr,
)
def test_any_other_answer_denies_and_the_model_reads_why(answer: Any, said: str) -> None:
    desk = Desk()
    done = answered(desk, answer)
    assert (done.status, desk.done) == ("completed", [])
    message = result_of(done)
    assert said in message.content
    assert message.arguments is None


def test_a_person_can_answer_in_the_tools_place() -> None:
    desk = Desk()
    done = answered(desk, ToolDecision(action="respond", message="Already paid back."))
    assert (result_of(done).content, desk.done) == ("Already paid back.", [])


@pytest.mark.parametrize("action", ["approve", "edit", "respond"])
def test_a_decision_that_is_not_allowed_denies(action: str) -> None:
    desk = Desk()
    rule = InterruptRule(tool="refund", allowed=tuple({"approve", "edit", "respond"} - {action}))
    decision = {"action": action, "message": "x"}
    if action == "edit":
        decision["arguments"] = {"amount": 1.0}  # type: ignore[assignment]
    done = answered(desk, decision, rule)
    assert desk.done == []
    assert "is not allowed" in result_of(done).content


def test_denying_is_always_allowed() -> None:
    assert InterruptRule(tool="refund", allowed=("approve",)).allowed == ("approve", "deny")


def test_middleware_can_decide_and_then_nobody_is_asked() -> None:
    class Small(Middleware):
        def on_interrupt(self, ctx: Any, payload: Any) -> Any:
            return payload["arguments"]["amount"] < 150 or None

    desk = Desk()
    done = agent(desk, [asks(REFUND)], BIG, middleware=[Small()]).invoke(MESSAGE, thread_id="t")
    assert (done.status, len(desk.done)) == ("completed", 1)


# --- the schema for forms -------------------------------------------------------------------


def test_a_form_is_held_to_the_schema_of_a_decision_with_the_tools_arguments_in_it() -> None:
    paused = agent(Desk(), [asks(REFUND)], BIG).invoke(MESSAGE, thread_id="t")
    schema = paused.interrupts[KEY].response_schema
    assert schema is not None
    for good in (
        {"action": "approve"},
        {"action": "deny", "message": "no"},
        {"action": "edit", "arguments": {"amount": 80}},
        {"action": "respond", "message": "done"},
    ):
        assert problems_of(schema, good) == {}
    for bad in (
        "yes",
        {"action": "run"},
        {"action": "edit"},
        {"action": "edit", "arguments": {"amount": "80"}},
        {"action": "edit", "arguments": {"colour": "red"}},
        {"action": "respond"},
        {"action": "approve", "more": 1},
    ):
        assert problems_of(schema, bad)


def test_the_schema_has_the_allowed_decisions_only() -> None:
    rule = InterruptRule(tool="refund", allowed=("approve",))
    paused = agent(Desk(), [asks(REFUND)], rule).invoke(MESSAGE, thread_id="t")
    schema = paused.interrupts[KEY].response_schema
    assert problems_of(schema, {"action": "deny"}) == {}
    assert problems_of(schema, {"action": "edit", "arguments": {}})


# --- several calls --------------------------------------------------------------------------


def test_calls_of_one_turn_are_asked_about_together_and_decided_apart() -> None:
    desk = Desk()
    script = [
        asks(
            call("refund", "a", order_id="A", amount=200.0),
            call("look_up", "b", order_id="B"),
            call("refund", "c", order_id="C", amount=300.0),
            call("refund", "d", order_id="D", amount=400.0),
        )
    ]
    graph = agent(desk, script, BIG)
    paused = graph.invoke(MESSAGE, thread_id="t")
    assert list(paused.interrupts) == ["act:approve_a", "act:approve_c", "act:approve_d"]
    assert desk.done == [("look_up", {"order_id": "B"})]
    decisions = {
        "act:approve_a": True,
        "act:approve_c": ToolDecision(action="deny", message="too much"),
        "act:approve_d": ToolDecision(action="edit", arguments={"amount": 40.0}),
    }
    done = graph.invoke(None, thread_id="t", resume=Resume(answers=decisions))
    assert [(name, arguments["order_id"]) for name, arguments in desk.done] == [
        ("look_up", "B"),
        ("refund", "A"),
        ("refund", "D"),
    ]
    results = [each for each in done.state.messages if isinstance(each, ToolMessage)]
    assert [each.tool_call_id for each in results] == ["a", "b", "c", "d"]
    assert "too much" in results[2].content
    assert results[3].arguments == {"order_id": "D", "amount": 40.0}


def test_a_result_that_exists_never_runs_again_while_others_are_asked_one_by_one() -> None:
    desk = Desk()
    calls = [call("refund", name, order_id=name, amount=200.0) for name in "abc"]
    graph = agent(desk, [asks(*calls, call("look_up", "d", order_id="D"))], BIG)
    graph.invoke(MESSAGE, thread_id="t")
    for name in "abc":
        answers = {f"act:approve_{name}": True}
        graph.invoke(None, thread_id="t", resume=Resume(answers=answers, partial=True))
    names = [arguments["order_id"] for _, arguments in desk.done]
    assert sorted(names) == ["D", "a", "b", "c"]


# --- shown is run ---------------------------------------------------------------------------


def edited_calls(graph: Graph, branch: str = "main", **arguments: Any) -> None:
    """Change the calls that wait, as somebody could who edits the state of a paused thread."""
    changed = [call("refund", **{"order_id": "A-1", "amount": 120.0, **arguments})]
    asyncio.run(graph.update_state("t", {"tool_calls": changed}, branch_id=branch))


def test_a_call_that_was_changed_after_it_was_shown_is_asked_about_again() -> None:
    desk = Desk()
    graph = agent(desk, [asks(REFUND)], BIG)
    first = graph.invoke(MESSAGE, thread_id="t").interrupts[KEY]
    edited_calls(graph, order_id="M-9", amount=9999.0)
    again = graph.invoke(None, thread_id="t", resume=Resume(True))
    assert (again.status, desk.done) == ("interrupted", [])
    second = again.interrupts[KEY]
    assert second.payload.arguments == {"order_id": "M-9", "amount": 9999.0}
    assert second.payload.call_hash != first.payload.call_hash
    assert second.asked > first.asked
    done = graph.invoke(None, thread_id="t", resume=Resume(True))
    assert done.status == "completed"
    assert [arguments["amount"] for _, arguments in desk.done] == [9999.0]


def test_an_answer_to_the_call_that_was_shown_before_comes_too_late() -> None:
    graph = agent(Desk(), [asks(REFUND)], BIG)
    first = graph.invoke(MESSAGE, thread_id="t").interrupts[KEY]
    edited_calls(graph, amount=9999.0)
    graph.invoke(None, thread_id="t", resume=Resume(True))
    with pytest.raises(AlreadyAnsweredError):
        graph.invoke(
            None,
            thread_id="t",
            resume=Resume(answers={KEY: True}, asked={KEY: first.asked}),
        )


def test_a_decision_with_another_digest_than_the_one_that_waits_does_not_count() -> None:
    desk = Desk()
    graph = agent(desk, [asks(REFUND)], BIG)
    graph.invoke(MESSAGE, thread_id="t")
    other = ToolDecision(action="approve", call_hash="0" * 64)
    again = graph.invoke(None, thread_id="t", resume=Resume(other))
    assert list(again.interrupts[KEY].problems) == ["/call_hash"]
    assert desk.done == []
    right = ToolDecision(action="approve", call_hash=again.interrupts[KEY].payload.call_hash)
    assert graph.invoke(None, thread_id="t", resume=Resume(right)).status == "completed"


def test_an_approval_counts_on_its_own_branch_only() -> None:
    desk = Desk()
    graph = agent(desk, [asks(REFUND)], BIG)
    graph.invoke(MESSAGE, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(True))
    (given,) = [e for e in graph.sync.history("t") if e.type == "answers_given"]
    asyncio.run(graph.fork("t", from_=given.sequence, name="side"))
    forked = graph.invoke(None, thread_id="t", branch_id="side")
    assert (forked.status, len(desk.done)) == ("interrupted", 1)
    done = graph.invoke(None, thread_id="t", branch_id="side", resume=Resume(False))
    assert (done.status, len(desk.done)) == ("completed", 1)


def test_a_fork_of_a_paused_thread_is_decided_apart_and_once() -> None:
    desk = Desk()
    graph = agent(desk, [asks(REFUND)], BIG)
    paused = graph.invoke(MESSAGE, thread_id="t")
    asyncio.run(graph.fork("t", from_=int(paused.checkpoint_id.split(":")[1]), name="side"))
    done = graph.invoke(None, thread_id="t", branch_id="side", resume=Resume(True))
    assert (done.status, len(desk.done)) == ("completed", 1)
    assert list(graph.sync.pending("t")) == [KEY]


def test_a_hook_that_changes_approved_arguments_is_an_error_and_nothing_runs() -> None:
    class Doubles(Middleware):
        def before_tool(self, ctx: ToolMiddlewareContext) -> Replacement:
            return ctx.replace({**ctx.value, "amount": 2 * ctx.value["amount"]})

    desk = Desk()
    graph = build_react_agent(
        ScriptedChat([asks(REFUND)], default="Done."),
        tools=desk.tools(),
        middleware=[ToolInterruptMiddleware(rules=[BIG]), Doubles()],
        state_store=InMemoryStateStore(),
    )
    graph.invoke(MESSAGE, thread_id="t")
    with pytest.raises(GraphConfigError, match="after a person approved"):
        graph.invoke(None, thread_id="t", resume=Resume(True))
    assert desk.done == []
    desk = Desk()
    shown = agent(desk, [asks(REFUND)], BIG, middleware=[Doubles()]).invoke(MESSAGE, thread_id="t")
    assert shown.interrupts[KEY].payload.arguments["amount"] == 240.0


def test_what_a_tool_does_to_its_arguments_is_not_what_is_recorded() -> None:
    @tool
    def fill(names: list[str]) -> int:
        """Add a name."""
        names.append("more")
        return len(names)

    graph = build_react_agent(
        ScriptedChat([asks(call("fill", names=["one"]))], default="Done."), tools=[fill]
    )
    done = graph.invoke(MESSAGE)
    assert result_of(done).arguments == {"names": ["one"]}
    assert done.state.messages[1].tool_calls[0].arguments == {"names": ["one"]}


# --- what lives on --------------------------------------------------------------------------


def test_another_process_decides_about_what_this_one_asked(tmp_path: Any) -> None:
    async def scenario() -> None:
        desk = Desk()
        first = SQLiteStateStore(tmp_path / "t.db")
        await agent(desk, [asks(REFUND)], BIG, store=first).ainvoke(MESSAGE, thread_id="t")
        await first.aclose()
        for answer, status in (("nonsense", "completed"),):
            second = SQLiteStateStore(tmp_path / "t.db")
            graph = agent(desk, [], BIG, store=second)
            pending = await graph.pending("t")
            assert pending[KEY].payload.arguments == REFUND.arguments
            done = await graph.ainvoke(None, thread_id="t", resume=Resume(answer))
            assert (done.status, desk.done) == (status, [])
            await second.aclose()

    asyncio.run(scenario())


def test_a_question_inside_a_tool_carries_the_call_and_approval_comes_first() -> None:
    sent: list[str] = []

    @tool
    def send(to: str) -> str:
        """Send a letter."""
        how = interrupt(message="How?", response_schema=str)
        why = interrupt(id="why")
        sent.append(f"{to} {how} {why}")
        return how

    graph = build_react_agent(
        ScriptedChat([asks(call("send", "a", to="A"), call("send", "b", to="B"))], default="."),
        tools=[send],
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule(tool="send")])],
        state_store=InMemoryStateStore(),
    )
    paused = graph.invoke(MESSAGE, thread_id="t")
    approvals = dict.fromkeys(["act:approve_a", "act:approve_b"], True)
    assert sorted(paused.interrupts) == sorted(approvals)
    asked = graph.invoke(None, thread_id="t", resume=Resume(answers=approvals))
    assert sorted(asked.interrupts) == ["act:a/0", "act:b/0"]
    assert asked.interrupts["act:a/0"].tool_call_id == "a"
    answers = {"act:a/0": "by post", "act:b/0": "by hand"}
    again = graph.invoke(None, thread_id="t", resume=Resume(answers=answers))
    assert sorted(again.interrupts) == ["act:a/why", "act:b/why"]
    done = graph.invoke(
        None, thread_id="t", resume=Resume(answers={"act:a/why": 1, "act:b/why": 2})
    )
    assert done.status == "completed"
    assert sorted(sent) == ["A by post 1", "B by hand 2"]


def test_an_except_in_a_tool_does_not_swallow_its_question() -> None:
    @tool
    def careful() -> str:
        """Ask, carefully."""
        try:
            return interrupt(id="q")
        except Exception:  # noqa: BLE001 - what is tested
            return "swallowed"

    graph = build_react_agent(
        ScriptedChat([asks(call("careful"))], default="."),
        tools=[careful],
        tool_errors="return",
        state_store=InMemoryStateStore(),
    )
    assert list(graph.invoke(MESSAGE, thread_id="t").interrupts) == ["act:c1/q"]
    assert issubclass(GraphInterrupt, BaseException)


def test_a_decision_is_read_the_same_wherever_it_comes_from() -> None:
    assert decided(True).action == "approve"
    assert decided(False).action == "deny"
    assert decided(1).action == "deny"


@pytest.mark.parametrize("idempotent", [True, False])
def test_an_approved_call_runs_elsewhere_only_if_it_may_run_twice(*, idempotent: bool) -> None:
    ran: list[str] = []

    @tool(idempotent=idempotent)
    def mark(name: str) -> str:
        """Mark."""
        ran.append(name)
        return name

    graph = build_react_agent(
        ScriptedChat([asks(call("mark", name="A"))], default="."),
        tools=[mark],
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule(tool="*")])],
        state_store=InMemoryStateStore(),
    )
    with ThreadPoolExecutor(2) as pool:
        elsewhere = FuturesExecutor(pool)
        graph.invoke(MESSAGE, thread_id="t", executor=elsewhere)
        if idempotent:
            graph.invoke(None, thread_id="t", resume=Resume(True), executor=elsewhere)
        else:
            with pytest.raises(GraphExecutionError, match="effect that happens once"):
                graph.invoke(None, thread_id="t", resume=Resume(True), executor=elsewhere)
    assert ran == (["A"] if idempotent else [])


def test_the_payload_is_the_same_type_wherever_a_call_tells_of_the_question() -> None:
    seen: list[Any] = []

    class Ends(Middleware):
        def on_run_end(self, ctx: Any, outcome: Any) -> None:
            seen.extend(outcome.interrupts.values())

    graph = agent(Desk(), [asks(REFUND)], BIG, middleware=[Ends()])
    (last,) = list(graph.stream(MESSAGE, stream_mode=[], thread_id="t"))
    seen.extend(last.data.interrupts.values())
    seen.extend(graph.sync.pending("t").values())
    assert [type(question.payload) for question in seen] == [ToolInterrupt] * 3


def test_a_payload_of_yours_that_calls_itself_an_approval_stays_as_it_is() -> None:
    @tool
    def ask() -> str:
        """Ask."""
        return interrupt({"kind": "tool_interrupt"}, id="q")

    graph = build_react_agent(
        ScriptedChat([asks(call("ask"))], default="."),
        tools=[ask],
        state_store=InMemoryStateStore(),
    )
    paused = graph.invoke(MESSAGE, thread_id="t")
    assert paused.interrupts["act:c1/q"].payload == {"kind": "tool_interrupt"}
