"""Several questions on the page: closed but the first, opened and answered by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Open
from .test_circle import panel_of, status
from .test_keyboard import press, tab_to

pytestmark = pytest.mark.browser

TRIP = """
from typing import Annotated
from pydantic import BaseModel, Field
from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Panel, interrupt, node

class Booking(BaseModel):
    price: float
    note: str = ""

def merged(left: dict, right: dict) -> dict:
    return {**left, **right}

class Trip(BaseState):
    booked: Annotated[dict, merged] = Field(default_factory=dict)

def asking(name):
    @node(name=name)
    def ask(state: Trip) -> dict:
        answer = interrupt(
            id="price", message=f"What does the {name} cost?", response_schema=Booking
        )
        return {"booked": {name: answer.price}}
    return ask

nodes = [asking(name) for name in ("flight", "hotel", "car")]
trip = Graph(Trip, name="trip", state_store=InMemoryStateStore()).flow(
    START >> nodes, *(each >> END for each in nodes)
)
"""


def form(panel: Locator, name: str) -> Locator:
    return panel.locator(f".nbgraph-key-{name}-price")


def test_questions_are_closed_but_the_first_and_opened_by_keyboard(open_notebook: Open):
    notebook = open_notebook([TRIP, 'panel = Panel(trip, "t", {})\npanel'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    expect(form(panel, "car")).to_contain_text("What does the car cost?")
    notebook.wait_idle()
    expect(panel.locator("button.nbgraph-unfold")).to_have_count(2)
    expect(form(panel, "flight").get_by_label("Price")).to_be_visible()
    expect(form(panel, "car").get_by_label("Price")).to_have_count(0)

    form(panel, "flight").get_by_label("Price").focus()
    tab_to(notebook, form(panel, "car").locator("button.nbgraph-unfold"))
    press(notebook, "Enter")
    price = form(panel, "car").get_by_label("Price")
    expect(price).to_be_focused()
    notebook.page.keyboard.type("90.5")
    press(notebook, "Control+Enter")
    expect(panel.locator(".nbgraph-record")).to_contain_text("car")
    expect(form(panel, "flight").get_by_label("Price")).to_be_visible()
    expect(panel.locator("button.nbgraph-unfold")).to_have_count(1)

    form(panel, "flight").get_by_label("Price").fill("200")
    press(notebook, "Control+Enter")
    expect(panel.locator("button.nbgraph-unfold")).to_have_count(0)
    form(panel, "hotel").get_by_label("Price").fill("120")
    press(notebook, "Control+Enter")
    expect(status(panel)).to_contain_text("Finished")


def test_the_badge_of_a_node_opens_its_closed_question(open_notebook: Open):
    notebook = open_notebook([TRIP, 'panel = Panel(trip, "t", {})\npanel'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    expect(form(panel, "hotel")).to_contain_text("What does the hotel cost?")
    notebook.wait_idle()
    panel.locator("g.node[data-node='hotel'] .nbgraph-badge").click()
    expect(form(panel, "hotel").get_by_label("Price")).to_be_focused()
