"""How much a panel says: each of its drawings is few messages, whatever changed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from ipywidgets import Widget

from nbgraph import END, START, Graph, InMemoryStateStore, Panel, node
from nbgraph.notebook.painter import Painter

MOST = 30
"""Messages that going over to another status may be, models that are made included."""


@contextmanager
def counted() -> Iterator[list[str]]:
    """Record what widgets say in this thread; other panels' clocks, in theirs, are not heard."""
    sent: list[str] = []
    here = threading.get_ident()
    real_send, real_open = Widget._send, Widget.open

    def send(self: Widget, msg: Any, buffers: Any = None) -> None:
        if threading.get_ident() == here:
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


def test_the_start_and_the_end_of_a_run_are_few_messages_however_wide_the_graph_is():
    entered, go = threading.Event(), threading.Event()

    def works(number: int) -> Any:
        @node(name=f"n{number}")
        def work(state: dict) -> dict:
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
        panel.start({})
        assert entered.wait(60)
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
