"""Until when a tool call waits for a decision: said on its card, and what holds afterwards."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import Any

from form_parts import named, parts
from tool_asks import asked, button, is_held

from nbgraph import UNSET, ToolCard
from nbgraph.core.answers import publish
from nbgraph.core.decisions import ToolDecision
from nbgraph.notebook.deck import Calls

ENDS = 4_000_000_000.0
DENIED = {"action": "deny", "message": "Nobody was there."}


def card_of(**more: Any) -> tuple[ToolCard, list[Any]]:
    """Return the card of a call that can be decided until `ENDS`, and what it sends."""
    ends: dict[str, Any] = {
        "expires_at": ENDS, "default": DENIED, "has_default": True,
        "response_schema": publish(ToolDecision),
    }  # fmt: skip
    card, sent = ToolCard(asked().model_copy(update={**ends, **more})), []
    card.on_submit(sent.append)
    return card, sent


def line(card: ToolCard) -> Any:
    return next(
        each for each in parts(card) if "nbgraph-deadline" in getattr(each, "_dom_classes", ())
    )


def test_a_call_that_waits_for_ever_says_nothing_of_an_end():
    card, _ = card_of(expires_at=None)
    assert named(card, "nbgraph-deadline") == []
    assert (card.tick(ENDS + 9), card.is_over, is_held(card)) == (False, False, False)


def test_a_card_says_until_when_it_waits_and_what_counts_then():
    card, _ = card_of()
    card.tick(ENDS - 600)
    assert line(card).value.startswith("Expires in 10 min, at ")
    assert "Then the default counts: " in line(card).value
    assert "Nobody was there." in line(card).value
    card.tick(ENDS - 42)
    assert line(card).value.startswith("Expires in 42 s")
    assert "nbgraph-soon" in line(card)._dom_classes


def test_the_last_minute_and_the_end_are_said_aloud():
    card, _ = card_of()
    heard: list[str] = []
    card._page.say = heard.append  # type: ignore[method-assign] - what a screen reader is told
    card.tick(ENDS - 61)
    for now in (ENDS - 60, ENDS - 1, ENDS, ENDS + 1):
        card.tick(now)
    assert [each.split(" at ")[0].rstrip(",") for each in heard] == ["Expires in 1 min", "Expired"]


def test_when_the_time_is_over_nothing_is_decided_any_more():
    card, sent = card_of()
    assert [card.tick(now) for now in (ENDS - 1, ENDS, ENDS + 1)] == [False, True, False]
    assert (card.is_over, is_held(card), is_held(card, "deny")) == (True, True, True)
    assert card.said == "not decided in time"
    button(card, "approve").click()
    assert (card.approve(), card.deny("no"), card.submit()) == (False, False, False)
    assert (sent, card.decision) == ([], UNSET)
    assert "nbgraph-over" in line(card)._dom_classes


def test_a_card_that_is_made_too_late_is_over_from_the_start():
    card, sent = card_of(expires_at=1.0)
    assert line(card).value.startswith("Expired at ")
    assert (card.is_over, card.approve(), sent) == (True, False, [])


def test_of_several_calls_those_are_sent_whose_time_is_not_over():
    sent: list[Any] = []
    deck = Calls(sent.append, threading.RLock(), nullcontext, lambda _: None)
    late, other = card_of()[0], ToolCard(asked(n=2))
    deck.put([late, other])
    other.choose_approve()
    assert "first decide 1 more call" in deck._why.value
    assert not deck.submit()
    late.tick(ENDS)
    assert deck._segments.children[0].description.endswith("not decided in time")
    assert deck.submit()
    assert sent == [{other: other.decision}]
