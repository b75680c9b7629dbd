"""What is shown can be read in both themes: the contrast of every text, from computed colours."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from .conftest import Open
from .labtool import Notebook
from .test_form_kinds import LISTS, PICKED
from .test_forms import SETUP

pytestmark = pytest.mark.browser

PANELS = """
import ipywidgets
from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Panel, interrupt, node

class State(BaseState):
    amount: int = 0

@node
def done(state: State) -> dict:
    return {"amount": 1}

@node
def asks(state: State) -> dict:
    return {"amount": interrupt("How much?", id="sum", response_schema=int)}

@node
def fails(state: State) -> dict:
    raise ValueError("no reply")

def panel_of(last):
    graph = Graph(State, name="marks", state_store=InMemoryStateStore())
    return Panel(graph.flow(START >> done >> last >> END), "t", {})

ipywidgets.VBox([panel_of(asks), panel_of(fails)])
"""

MEASURE = """(root) => {
  const numbers = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const clear = (text) => text === "none" || text === "transparent" || numbers(text)[3] === 0;
  const light = (text) => {
    const [r, g, b] = numbers(text).map((n) => (n / 255 <= 0.04045
      ? n / 255 / 12.92 : ((n / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const shape = element.closest("g.node")?.querySelector("polygon, path, ellipse, rect");
    if (shape && element instanceof SVGElement && !clear(getComputedStyle(shape).fill)) {
      return getComputedStyle(shape).fill;
    }
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!clear(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const element of root.querySelectorAll("*")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const gone = box.width < 2 || style.visibility === "hidden" || element.closest("style, title");
    if (!own || gone || element.closest(".nbgraph-held, .nbgraph-gone")) continue;
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), element.textContent.trim().slice(0, 40),
      parseFloat(style.fontSize)]);
  }
  return found;
}"""


def unreadable(notebook: Notebook, cell: int) -> list[Any]:
    """Return what is too pale in a cell, with its contrast."""
    root = notebook.cell(cell).locator(".jp-OutputArea-output").last
    found = root.evaluate(MEASURE)
    assert len(found) > 10
    return [each for each in found if each[2] and (each[0] < 4.5 or each[2] < 11)]


def test_every_text_can_be_read_in_both_themes(open_notebook: Open) -> None:
    """Report G56."""
    notebook = open_notebook([SETUP, LISTS + "form.submit()\nform", PICKED, PANELS])
    notebook.run_all()
    for cell in (1, 2, 3):
        notebook.cell(cell).locator(".nbgraph-form").first.wait_for()
    notebook.cell(3).locator("g.node.nbgraph-is-failed").wait_for()
    notebook.wait_idle()
    themes: list[Literal["light", "dark"]] = ["light", "dark"]
    for theme in themes:
        notebook.set_theme(theme)
        assert [unreadable(notebook, cell) for cell in (1, 2, 3)] == [[], [], []]
