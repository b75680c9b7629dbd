"""Results that no plain run made, cached, stood in for, tried again: in strip, rows and node."""

from __future__ import annotations

from typing import Any

import pytest
from form_parts import words

from nbgraph import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    NodeCache,
    Panel,
    Retry,
    Timeline,
    node,
)

HOW = {"look": "", "shaky": "3 tries", "risky": "error handled", "lost": "2 tries"}


def graph() -> Graph:
    """Return a graph whose nodes come to their results in each way, and whose last one fails."""
    tries: list[int] = []

    @node(cache=NodeCache())
    def look(state: dict) -> dict:
        return {"seen": True}

    @node(retry=Retry(attempts=3))
    def shaky(state: dict) -> dict:
        tries.append(1)
        if len(tries) % 3:
            raise TimeoutError("no reply")
        return {"shaky": len(tries)}

    @node(on_error=lambda state, error: {"price": str(error)})
    def risky(state: dict) -> dict:
        raise ValueError("no price")

    @node(retry=Retry(attempts=2))
    def lost(state: dict) -> dict:
        raise KeyError("gone")

    flow = START >> look >> shaky >> risky >> lost >> END
    return Graph(dict, name="how", state_store=InMemoryStateStore()).flow(flow)


def run(app: Graph, thread_id: str) -> Panel:
    panel = Panel(app, thread_id, {"x": 1})
    with pytest.raises(KeyError):
        panel.session.settle()
    panel._now()
    return panel


def boxes(panel: Panel) -> list[str]:
    """Return the tasks of the strip."""
    shown = panel._timeline._strip.boxes.get_state()["boxes"]
    return [text for box in shown for _, text in box[2]]


def rows(panel: Panel) -> list[str]:
    """Return the names of the timeline's rows."""
    shown = words(Timeline(panel.session)._gantt)
    return [each for each in shown if each.split("  ")[0] in HOW]


def errors(panel: Panel) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in HOW:
        look = panel.inspect(name)
        look.part = "Error"
        found[name] = look.text
    return found


def test_rows_of_the_timeline_and_the_strip_say_how_each_came_to_its_result():
    panel = run(graph(), "t")
    assert rows(panel) == [f"{name}  {how}".strip() for name, how in HOW.items()]
    told = dict(each.split(" ", 1) for each in boxes(panel))
    assert told["risky"] == "error handled"


def test_a_result_from_the_cache_says_so():
    app = graph()
    run(app, "t")
    panel = run(app, "again")
    assert rows(panel)[0] == "look  cached"
    assert "look cached" in boxes(panel)
    look = panel.inspect("look")
    assert "cached" in words(look)
    look.part = "Update"
    assert '"seen": true' in look.text


def test_the_error_of_a_node_is_what_it_raised_also_if_something_stood_in_for_it():
    found = errors(run(graph(), "t"))
    assert found["look"] == "It has not failed."
    assert found["shaky"] == ("Its first 2 tries failed, the next one went well. The log says why.")
    assert found["risky"].startswith("It failed, and its update was made instead by who handles")
    assert found["risky"].rstrip().endswith("ValueError: no price")
    assert found["lost"].rstrip().endswith("KeyError: 'gone'")


def test_the_traceback_of_a_node_that_was_tried_again_begins_in_the_node():
    trace = errors(run(graph(), "t"))["lost"].splitlines()
    places = [line for line in trace if line.lstrip().startswith("File ")]
    assert [place.rpartition(" in ")[2] for place in places] == ["lost"]
    assert __file__ in places[0]


def test_all_of_it_is_there_again_in_a_panel_that_was_made_later():
    app = graph()
    before = run(app, "t")
    later = Panel(app, "t")
    later._now()
    assert (rows(later), errors(later)) == (rows(before), errors(before))
    assert boxes(later) == boxes(before)


def test_the_slider_shows_it_at_the_step_where_it_was_so():
    timeline = Timeline(run(graph(), "t").session)
    timeline.step = 2
    assert timeline.snapshot.marks["risky"] == "idle"
    timeline.step = 3
    assert timeline.snapshot.progress["shaky"].tries == 3
    nodes: dict[str, Any] = timeline._graph.get_state()["status"]["nodes"]
    assert [each for each in nodes.values() if each[1] == "error handled"]
