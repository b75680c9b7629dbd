"""`UsageLimitMiddleware`: a turn that has cost enough asks no chat model any more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from nbgraph import InMemoryStateStore, Resume
from nbgraph.chat import ChatResponse
from nbgraph.errors import GraphConfigError, RunLimitExceededError
from nbgraph.middleware import InterruptRule, UsageLimitMiddleware

from .desk import MESSAGE, Desk, agent, call

OURS = {"input_tokens": 80, "output_tokens": 20}
THEIRS = {"prompt_tokens": 80, "completion_tokens": 20, "total_tokens": 100}


def looks(order: str, usage: Mapping[str, Any] | None) -> ChatResponse:
    return ChatResponse(
        tool_calls=(call("look_up", order, order_id=order),), usage=usage and dict(usage)
    )


def orders(desk: Desk) -> list[str]:
    return [arguments["order_id"] for _, arguments in desk.done]


@pytest.mark.parametrize("usage", [OURS, THEIRS], ids=["ours", "theirs"])
def test_a_turn_that_reached_its_tokens_asks_no_more_and_goes_on_with_a_higher_limit(
    usage: Mapping[str, Any],
) -> None:
    desk, store = Desk(), InMemoryStateStore()
    script = [looks(order, usage) for order in "abc"]
    cap = UsageLimitMiddleware(max_tokens=200)
    with pytest.raises(RunLimitExceededError, match="max_tokens=200; pass a higher max_tokens="):
        agent(desk, script, store=store, middleware=[cap]).invoke(MESSAGE, thread_id="t")
    assert orders(desk) == ["a", "b"]
    higher = UsageLimitMiddleware(max_tokens=400)
    more = agent(desk, script[2:], store=store, middleware=[higher])
    assert more.invoke(None, thread_id="t").status == "completed"
    assert orders(desk) == ["a", "b", "c"]


def test_every_turn_has_the_whole_limit() -> None:
    desk = Desk()
    script = [looks("a", OURS), "Done.", looks("b", OURS), "Done."]
    graph = agent(desk, script, middleware=[UsageLimitMiddleware(max_tokens=150)])
    graph.invoke(MESSAGE, thread_id="t")
    assert graph.invoke(MESSAGE, thread_id="t").status == "completed"


def test_a_limit_in_money_has_a_price_and_lives_with_the_thread_through_a_pause() -> None:
    desk, store = Desk(), InMemoryStateStore()
    cap = UsageLimitMiddleware(max_cost=1.5, price=lambda usage: usage["input_tokens"] / 80)
    script, rule = [looks("a", OURS), looks("b", OURS), looks("c", OURS)], InterruptRule(tool="*")
    agent(desk, script, rule, store=store, middleware=[cap]).invoke(MESSAGE, thread_id="t")
    other = agent(desk, script[1:], rule, store=store, middleware=[cap])
    other.invoke(resume=Resume(True), thread_id="t")
    with pytest.raises(RunLimitExceededError, match=r"max_cost=1\.5"):
        agent(desk, script[2:], rule, store=store, middleware=[cap]).invoke(
            resume=Resume(True), thread_id="t"
        )
    assert orders(desk) == ["a", "b"]


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": "many"}])
def test_a_message_that_tells_no_usage_counts_nothing(usage: Any) -> None:
    desk = Desk()
    cap = UsageLimitMiddleware(max_tokens=1)
    script = [looks("a", usage), looks("b", usage), "Done."]
    assert (
        agent(desk, script, middleware=[cap]).invoke(MESSAGE, thread_id="t").status == "completed"
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_tokens": -1},
        {"max_tokens": "100"},
        {"max_tokens": True},
        {"max_cost": 1.0},
        {"max_tokens": 5, "price": len},
        {"max_cost": float("nan"), "price": len},
    ],
)
def test_a_limit_that_is_none_is_refused(options: Any) -> None:
    with pytest.raises(GraphConfigError, match=r"max_tokens= or max_cost=|passed together"):
        UsageLimitMiddleware(**options)
