"""Faults that widgets with output were reported to have, tried on panels."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Panel, node

LINES = 100


class State(BaseState):
    name: str
    done: bool = False


def printing(both: threading.Barrier) -> Graph:
    @node
    def say(state: State) -> dict[str, Any]:
        both.wait(30)
        for number in range(LINES):
            print(f"{state.name} {number}")
        both.wait(30)
        return {"done": True}

    return Graph(State, name="printer", state_store=InMemoryStateStore()).flow(START >> say >> END)


def lines_of(panel: Panel) -> list[str]:
    return [each.text for each in panel.session.snapshot.log if each.kind == "print"]


def test_what_a_node_prints_is_in_its_own_panel_and_nowhere_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Report G43."""
    both = threading.Barrier(3)
    graph = printing(both)
    panels = {name: Panel(graph, name) for name in ("left", "right")}
    runs = [panel.start({"name": name}) for name, panel in panels.items()]
    both.wait(30)
    print("another cell")
    both.wait(30)
    for run in runs:
        run.result(30)
    assert capsys.readouterr().out == "another cell\n"
    for name, panel in panels.items():
        assert lines_of(panel) == [f"{name} {number}" for number in range(LINES)]
        panel.close()
