"""Odd graphs, values and moments: the panel shows them, says what is wrong, and breaks no run."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Panel,
    Timeline,
    compare,
    interrupt,
    node,
)
from nbgraph.core.loop import run_sync
from nbgraph.errors import ResumeError, StateStoreError
from nbgraph.notebook.display import static_bundle
from tests.notebook.test_panel import found, press, shown, texts
from tests.notebook.test_panel_acts import Order, graph_of, says, why

NAMES = [
    *("a/b", "x y", "<b>x</b>", "$x$", "😀" * 30, "n" * 200, "..", "a\nb"),
    *("a\u202eb", "%s{0}", "__init__", "a'\"\\"),
]


def asking(store: InMemoryStateStore) -> Graph:
    @node
    def ask(state: Order) -> dict[str, Any]:
        return {"item": interrupt("Which?", id="which", response_schema=str)}

    path = START >> says("a") >> ask >> says("b") >> END
    return Graph(Order, name="g", state_store=store).flow(path)


def paused(store: InMemoryStateStore) -> Panel:
    panel = Panel(asking(store), "t", {})
    panel.session.settle()
    return panel


def answer(panel: Panel, value: str) -> None:
    form = panel.forms["ask:which"]
    form.value = value
    assert form.submit()


def test_any_name_is_looked_at_paused_at_and_forked_from():
    panel = Panel(graph_of(*map(says, NAMES)), "t", {})
    panel.session.settle()
    for name in NAMES:
        assert "log" in panel.inspect(name).text
        panel.acts.toggle_breakpoint(name, "before")
    assert set(panel.session.snapshot.position.before or ()) == set(NAMES)
    timeline = Timeline(panel.session)
    timeline.step = 2
    first = panel.session
    panel.fork(name="f/<b>$x$ 😀")
    assert panel.session.branch_id in shown(panel)
    assert compare(first, panel.session).comparison.differences == ()
    assert "<b>" not in static_bundle(first)["text/html"]


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


ODD = [
    {"done": 0, "total": 0},
    {"progress": float("nan")},
    {"progress": -5},
    {"progress": 10**400},
    {"done": 10**400, "total": 10**400},
    {"done": 5, "total": 3},
    {"progress": "x"},
    {"progress": 0.5, "message": Broken()},
    Broken(),
]


def test_whatever_a_node_emits_its_run_goes_on():
    @node
    def odd(state: Order, ctx: NodeContext) -> dict[str, Any]:
        for each in ODD:
            ctx.emit(each)
        return {}

    panel = Panel(graph_of(odd), "t", {})
    assert panel.session.settle().status == "completed"
    assert shown(panel)
    assert "Broken whose repr raised RuntimeError" in " ".join(
        row[2] for row in panel._log.lines._rows
    )


class Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no str")


@pytest.mark.parametrize("error", [Silent(), ValueError(), ValueError("<b>" * 2_000_000)])
def test_whatever_a_node_raises_it_is_a_card_of_a_size(error: Exception):
    @node
    def bad(state: Order) -> dict[str, Any]:
        raise error

    panel = Panel(graph_of(bad), "t", {})
    with pytest.raises(type(error)):
        panel.session.settle()
    assert len(found(panel, "nbgraph-failure") if shown(panel) else []) == 1
    assert len(shown(panel)) < 40_000
    assert len(panel.inspect("bad").text) < 21_000


def test_whatever_a_node_prints_is_a_few_lines():
    @node
    def chatty(state: Order) -> dict[str, Any]:
        print("x" * 10_000_000)
        print("y\n" * 100_000)
        return {}

    panel = Panel(graph_of(chatty), "t", {})
    panel.session.settle()
    panel.inspect("chatty").part = "Prints"
    assert sum(len(row[2]) for row in panel._log.lines._rows) < 3_000
    assert "10,000,000 characters" in shown(panel)


class Large(BaseState):
    items: list[Any] = Field(default_factory=list)
    ratio: float = 0.0


def test_a_state_without_end_is_folded_everywhere():
    @node
    def grow(state: Large) -> dict[str, Any]:
        return {"items": [*range(100_000), {"k" * 5_000: "v" * 500_000}]}

    graph = Graph(Large, state_store=InMemoryStateStore()).flow(START >> grow >> END)
    panel = Panel(graph, "t", {})
    panel.session.settle()
    panel.inspect("grow").part = "Output"
    timeline = Timeline(panel.session)
    timeline.step = 1
    assert len(shown(panel)) + len(texts(timeline)) < 60_000
    assert "Too large to be edited here: items" in texts(panel.edit())


def test_a_number_that_is_none_is_a_failure_that_names_its_place():
    @node
    def divide(state: Large) -> dict[str, Any]:
        return {"ratio": float("nan")}

    graph = Graph(Large, state_store=InMemoryStateStore()).flow(START >> divide >> END)
    panel = Panel(graph, "t", {})
    with pytest.raises(StateStoreError):
        panel.session.settle()
    assert "field 'ratio'" in shown(panel)


# --- others at the same thread ----------------------------------------------------------------


def test_two_panels_of_a_thread_follow_each_other():
    store = InMemoryStateStore()
    first, second, third = paused(store), Panel(asking(store), "t"), Panel(asking(store), "new")
    form = second.forms["ask:which"]  # before its own clock takes up the answer
    answer(first, "lamp")
    first.session.settle()
    second._tick()
    assert (second.session.status, second.forms) == ("completed", {})
    assert "answered ask:which at" in why(second)
    assert "Yours was not sent" in why(second)
    assert found(second, "nbgraph-record")
    assert form.comm is None
    Panel(asking(store), "new", {}).session.settle()
    third._tick()
    assert list(third.forms) == ["ask:which"]
    assert "Yours was not sent" not in why(first)


def test_a_thread_that_is_deleted_under_a_panel_is_said_to_be():
    store = InMemoryStateStore()
    panel = paused(store)
    assert shown(panel)
    run_sync(store.delete("t"))
    panel._tick()
    told = "Thread 't' is not in the state store"
    assert told in why(panel)
    for act in (
        lambda: press(panel, "nbgraph-fork"),
        lambda: panel._timeline._strip.boxes.choose(1),
        lambda: panel._switch("elsewhere"),
    ):
        panel._toolbar.say("")
        act()
        assert "not in the state store" in why(panel) or "elsewhere" in why(panel)


def test_a_panel_that_is_closed_lets_its_run_end():
    entered, go_on = threading.Event(), threading.Event()

    @node
    def slow(state: Order) -> dict[str, Any]:
        entered.set()
        go_on.wait(60)
        return {}

    panel = Panel(graph_of(slow, says("b")), "t", {})
    assert entered.wait(60)
    session = panel.session
    panel.close()
    go_on.set()
    assert session.settle().data["log"] == ["b"]


def test_a_graph_defined_anew_shows_the_thread_and_says_what_is_missing():
    store = InMemoryStateStore()
    paused(store)
    path = START >> says("a") >> says("c") >> END
    again = Panel(Graph(Order, name="g", state_store=store).flow(path), "t")
    assert list(again.forms) == ["ask:which"]
    answer(again, "lamp")
    with pytest.raises(ResumeError, match="'ask', which its graph does not have any more"):
        again.session.settle()
    assert again.session.status == "interrupted"
    assert again.inspect("c").text == "It has not finished yet."
