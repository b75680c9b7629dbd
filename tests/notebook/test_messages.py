"""How much a panel says: each of its drawings is few messages, whatever changed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from ipywidgets import Widget
from pydantic import BaseModel

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Panel,
    interrupt,
    node,
)
from nbgraph.notebook.painter import Painter

MOST = 25
"""Messages that going over to another status may be, models that are made included."""

MOST_TO_BE_MADE = 120
"""Messages that a panel may be when it is made: parts that nobody sees yet are made later."""


@contextmanager
def counted() -> Iterator[list[str]]:
    """Record what widgets say in this thread; other panels' clocks, in theirs, are not heard."""
    sent: list[str] = []
    here = threading.get_ident()
    real_send, real_open = Widget._send, Widget.open

    def send(self: Widget, msg: Any, buffers: Any = None) -> None:
        if threading.get_ident() == here and self.comm is not None:
            sent.append(f"{type(self).__name__} {msg.get('method')} {list(msg.get('state', ()))}")
        real_send(self, msg, buffers)

    def open_(self: Widget) -> None:
        if threading.get_ident() == here:
            sent.append(f"{type(self).__name__} made")
        real_open(self)

    with (
        mock.patch.object(Widget, "_send", send),
        mock.patch.object(Widget, "open", open_),
        mock.patch.object(Painter, "want"),  # drawn when the test says so, not by the clock
        mock.patch("nbgraph.notebook.panel.every"),
    ):
        yield sent


@contextmanager
def opened() -> Iterator[list[Widget]]:
    """Record the widgets that are made in this thread."""
    made: list[Widget] = []
    here = threading.get_ident()
    real_open = Widget.open

    def open_(self: Widget) -> None:
        if threading.get_ident() == here:
            made.append(self)
        real_open(self)

    with mock.patch.object(Widget, "open", open_):
        yield made


def test_the_start_and_the_end_of_a_run_are_few_messages_however_wide_the_graph_is():
    entered, go = threading.Event(), threading.Event()

    def works(number: int) -> Any:
        @node(name=f"n{number}")
        def work(state: dict, ctx: NodeContext) -> dict:
            print("begins")
            ctx.emit({"done": 1, "total": 2})
            if number == 11:
                entered.set()
            go.wait(60)
            return {f"n{number}": number}

        return work

    nodes = [works(number) for number in range(12)]
    graph = Graph(dict, state_store=InMemoryStateStore())
    with counted() as sent:
        panel = Panel(graph.flow(START >> nodes, *(each >> END for each in nodes)), "t")
        panel._now()
        sent.clear()
        said = threading.Event()
        panel.session.watch(lambda seen: said.set() if len(seen.doing) > 4 else None)
        panel.start({})
        assert entered.wait(60)
        assert said.wait(60)
        panel._now()
        start = sent.copy()
        sent.clear()
        go.set()
        panel.session.settle()
        panel._now()
        end = sent.copy()
        sent.clear()
        panel._now()
        assert sent == []
    panel.close()
    assert 0 < len(start) <= MOST, start
    assert 0 < len(end) <= MOST, end


class Desk(BaseState):
    amount: float = 0.0
    customer: str = ""


class Decision(BaseModel):
    approve: bool
    reason: str = ""


def desk() -> Graph:
    @node
    def price(state: Desk) -> dict:
        return {"amount": 5.0}

    @node
    def confirm(state: Desk) -> dict:
        interrupt(id="decision", message="May we?", response_schema=Decision)
        return {}

    return Graph(Desk, state_store=InMemoryStateStore()).flow(START >> price >> confirm >> END)


def test_a_panel_that_is_made_is_few_messages_before_a_start_at_a_question_and_after_the_end():
    graph, sizes = desk(), {}
    with counted() as sent:
        Panel(graph, "another").close()  # what a kernel has one of is there
        for stands in ("new", "interrupted", "completed"):
            sent.clear()
            panel = Panel(graph, "t")
            assert panel.session.status == stands
            sizes[stands] = len(sent)
            made = sum(each.endswith(" made") for each in sent)
            assert made <= len(sent) <= MOST_TO_BE_MADE, sent
            for form in [*panel.forms.values()]:
                form.value = {"approve": True}
                form.submit()
            if stands == "new":
                panel.start({})
            panel.session.settle()
            panel.close()
    assert set(sizes) == {"new", "interrupted", "completed"}


def test_what_nobody_sees_is_made_when_it_is_first_shown_and_once():
    with counted() as sent:
        panel = Panel(desk(), "t", {})
        panel.session.settle()
        panel._now()
        panel.inspect("price")
        panel._timeline._choose(1)
        panel.inspect("confirm")
        sent.clear()
        panel._inspector.look_away()
        panel.inspect("price")
        panel._timeline.past.choose(None)
        panel._timeline._choose(1)
        assert not [each for each in sent if each.endswith(" made")], sent
    panel.close()


def test_the_kernel_keeps_no_widget_of_a_closed_panel_and_few_of_branches_that_are_left():
    Panel(desk(), "another").close()  # what a kernel has one of is there

    def kept() -> list[str]:
        return [type(each).__name__ for each in made if each.comm is not None]

    with counted() as sent, opened() as made:
        panel = Panel(desk(), "t", {})
        panel.session.settle()
        panel._now()
        panel.inspect("price")
        one = len(kept())
        for _ in range(5):
            panel.fork()
            panel._now()
        assert len(kept()) < 2 * one, kept()
        panel.close()
    assert sent
    assert not kept(), " ".join(kept())
