"""Stores with questions of many threads, and finding what an inbox shows of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from approvers import Agent, calls
from pydantic import BaseModel, Field

from nbgraph import END, START, Graph, Inbox, InMemoryStateStore, Resume, interrupt, node
from nbgraph.core.recording import record_answers


class Review(BaseModel):
    complete: bool
    remark: str | None = Field(default=None, max_length=20)


@node
def review(state: dict) -> dict:
    answer = interrupt(
        {"name": state["name"]},
        id="income",
        message="Is the income statement complete?",
        response_schema=Review,
    )
    return {"ok": answer.complete}


def loans(store: Any, *names: str, graph_name: str = "loans") -> Graph:
    """Return a graph with a thread for each name, all of which ask."""
    graph = Graph(dict, name=graph_name, state_store=store).flow(START >> review >> END)
    for name in names:
        graph.invoke({"name": name}, thread_id=f"loan-{name}")
    return graph


def refunds(store: Any, *amounts: float, **arguments: Any) -> list[Agent]:
    """Return an agent for each amount, whose call of `send_refund` is asked about."""
    agents: list[Agent] = []
    for number, amount in enumerate(amounts, 1):
        asked = {"order_id": f"A-{number}", "amount": amount, **arguments}
        agent = Agent(calls(("send_refund", asked), start=number), store=store)
        agent.graph.invoke(
            {"messages": [{"type": "human", "content": "It flickers."}]}, thread_id=f"r-{number}"
        )
        agents.append(agent)
    return agents


def rows(inbox: Inbox) -> list[dict[str, Any]]:
    """Return the rows on the page, from top to bottom."""
    return [*inbox._face.rows.rows, *inbox._face.rest.rows]


def press(inbox: Inbox, kind: str, row: dict[str, Any] | None = None) -> None:
    """Have the page say that something was pressed in a row."""
    content = {"kind": kind, "row": row["id"] if row else ""}
    inbox._face.rows._receive(None, content, None)


def until(inbox: Inbox, holds: Callable[[], object]) -> None:
    """Wait until something holds; it is looked at whenever the rows or what is said change."""
    came = threading.Event()

    def look(_: object = None) -> None:
        if holds():
            came.set()

    watched = ((inbox._face.rows, "rows"), (inbox._face._why, "value"))
    for widget, name in watched:
        widget.observe(look, name)
    look()
    assert came.wait(30)
    for widget, name in watched:
        widget.unobserve(look, name)
    with inbox._painter.lock:  # what it shows is shown as a whole
        assert holds()


def until_kept(store: Any, holds: Callable[[], object]) -> None:
    """Wait until something holds; it is looked at whenever the store was written."""
    came = threading.Event()

    def look() -> None:
        if holds():
            came.set()

    stop = store.watch(look, every=0.01)
    look()
    assert came.wait(30)
    stop()


def answer_elsewhere(store: Any, question: Any, answer: Any, by: str = "desk-2") -> None:
    """Answer a question as somebody else would."""
    thread_id, branch_id, key, asked = question.address
    request = Resume(answers={key: answer}, asked={key: asked}, partial=True, by=by)
    asyncio.run(
        record_answers(store, thread_id, branch_id, request, graph=question.record.graph, now=0.0)
    )


def answers_in(store: Any, thread_id: str) -> list[Any]:
    """Return what was answered in a thread."""
    events = asyncio.run(store.events(thread_id))
    return [event.answers for event in events if event.type == "answers_given"]


def status_of(store: Any) -> dict[str, str]:
    """Return how the threads of a store stand."""
    return {each.thread_id: each.status for each in asyncio.run(store.threads())}


class Counted(InMemoryStateStore):
    """Counts the questions it hands out."""

    read = 0

    async def pending(self, **given: Any) -> Any:
        found = await super().pending(**given)
        self.read += len(found)
        return found


class Drafted(InMemoryStateStore):
    """Says when a draft is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = threading.Event()

    async def keep_draft(self, *given: Any) -> None:
        await super().keep_draft(*given)
        self.kept.set()


class Quiet(InMemoryStateStore):
    """Tells nobody that it was written."""

    def watch(self, callback: Callable[[], None], *, every: float = 0.5) -> Callable[[], None]:
        return lambda: None
