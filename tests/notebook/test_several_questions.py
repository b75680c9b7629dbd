"""Several questions in a panel: all are closed but the first, and opened one by one."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import ipywidgets
from form_parts import none_is_severed
from ipywidgets.widgets import widget as kept
from pydantic import Field

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Panel, interrupt, node


def merged(left: dict, right: dict) -> dict:
    return {**left, **right}


class Trip(BaseState):
    said: Annotated[dict, merged] = Field(default_factory=dict)


def asking(name: str) -> Any:
    @node(name=name)
    def ask(state: Trip) -> dict:
        answer = interrupt(id="ok", message=f"Is {name} right?", response_schema=bool)
        return {"said": {name: answer}}

    return ask


def trip(*names: str) -> Graph:
    nodes = [asking(name) for name in names]
    return Graph(Trip, name="trip", state_store=InMemoryStateStore()).flow(
        START >> nodes, *(each >> END for each in nodes)
    )


def panel_of(*names: str) -> Panel:
    panel = Panel(trip(*names), "t")
    panel.session.start({}).result()
    return panel


def closed(panel: Panel) -> dict[str, bool]:
    return {key.split(":")[0]: form.fold.is_closed for key, form in panel.forms.items()}


def press(form: Any) -> None:
    (button,) = (
        part for part in _within(form) if "nbgraph-unfold" in getattr(part, "_dom_classes", ())
    )
    button.click()


def _within(widget: Any) -> list[Any]:
    return [widget, *(each for child in getattr(widget, "children", ()) for each in _within(child))]


def words(form: Any) -> str:
    return " ".join(part.value for part in _within(form) if isinstance(part, ipywidgets.Label))


def test_all_are_closed_but_the_first_and_say_who_asks_what():
    panel = panel_of("flight", "hotel", "car")
    assert closed(panel) == {"flight": False, "hotel": True, "car": True}
    hotel = panel.forms["hotel:ok"]
    assert "hotel asks" in words(hotel)
    assert "Is hotel right?" in words(hotel)
    assert not [part for part in _within(hotel) if isinstance(part, ipywidgets.RadioButtons)]


def test_one_that_is_pressed_opens_and_no_other_closes():
    panel = panel_of("flight", "hotel", "car")
    press(panel.forms["car:ok"])
    assert closed(panel) == {"flight": False, "hotel": True, "car": False}
    panel.forms["flight:ok"].value = True
    assert panel.forms["flight:ok"].submit()
    panel.session.settle()
    assert closed(panel) == {"hotel": True, "car": False}


def test_where_all_are_closed_the_first_opens():
    panel = panel_of("flight", "hotel", "car")
    panel.forms["flight:ok"].value = True
    assert panel.forms["flight:ok"].submit()
    panel.session.settle()
    assert closed(panel) == {"hotel": False, "car": True}


def test_a_closed_one_is_answered_as_any():
    panel = panel_of("flight", "hotel")
    panel.forms["hotel:ok"].value = False
    assert panel.forms["hotel:ok"].submit()
    panel.session.settle()
    panel.forms["flight:ok"].value = True
    assert panel.forms["flight:ok"].submit()
    panel.session.settle()
    assert panel.session.state["said"] == {"flight": True, "hotel": False}


def test_the_badge_of_a_node_opens_its_question():
    panel = panel_of("flight", "hotel")
    assert closed(panel) == {"flight": False, "hotel": True}
    panel.acts.open_form("hotel")
    assert closed(panel) == {"flight": False, "hotel": False}


def test_one_that_was_begun_is_open_when_the_panel_is_made_again(monkeypatch):
    graph, kept_now = trip("flight", "hotel", "car"), threading.Event()
    first = Panel(graph, "t")
    first.session.start({}).result()
    car = first.forms["car:ok"]
    monkeypatch.setattr(car, "_say_draft", lambda _: kept_now.set())
    car.value = True
    assert kept_now.wait(60)
    assert closed(Panel(graph, "t")) == {"flight": False, "hotel": True, "car": False}


def test_a_question_that_was_closed_leaves_no_part_behind():
    with none_is_severed():
        panel = panel_of("flight", "hotel", "car")
        assert any(isinstance(each, ipywidgets.RadioButtons) for each in kept._instances.values())
        panel.close()
        left = [type(each).__name__ for each in kept._instances.values()]
    assert "RadioButtons" not in left
