"""The whole circle in a real front end: a graph runs, asks in a form, and goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Open
from .labtool import Notebook, Server

pytestmark = pytest.mark.browser

FIRST = Path(__file__).parents[2] / "notebooks" / "01_first_graph.ipynb"

DESK = """
from pydantic import BaseModel, Field
from nbgraph import (
    END, START, BaseState, Graph, Panel, SQLiteStateStore, compare, interrupt, node, play, when
)

runs = []

class Refund(BaseState):
    amount: float = 0.0
    paid: float = 0.0
    letter: str = ""

class Decision(BaseModel):
    approve: bool = Field(title="Pay back")
    reason: str = Field(min_length=3, title="Reason")

@node
def price(state: Refund) -> dict:
    return {"amount": state.amount}

@node
def confirm(state: Refund) -> dict:
    answer = interrupt(id="decision", message="May we?", response_schema=Decision)
    runs.append(answer.approve)
    return {"letter": answer.reason, "paid": state.amount if answer.approve else 0.0}

@node
def pay(state: Refund) -> dict:
    return {}

@node
def decline(state: Refund) -> dict:
    return {}

store = SQLiteStateStore("circle.db")
desk = Graph(Refund, name="desk", state_store=store).flow(
    START >> price >> confirm,
    confirm >> when(lambda state: state.paid > 0, pay, otherwise=decline),
    pay >> END,
    decline >> END,
)
"""


def panel_of(notebook: Notebook, index: int) -> Locator:
    return notebook.cell(index).locator(".nbgraph-panel")


def answer(panel: Locator, *, approve: bool, reason: str) -> None:
    form = panel.locator(".nbgraph-form").first
    form.get_by_label("Yes" if approve else "No", exact=True).check()
    form.get_by_label("Reason").fill(reason)
    form.locator(".nbgraph-submit").click()


def status(panel: Locator) -> Locator:
    return panel.locator(".nbgraph-status")


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_the_first_notebook_asks_is_answered_and_ends(open_notebook: Open, app):
    notebook = open_notebook(FIRST, app)
    notebook.run_all()
    asking = notebook.page.locator(".nbgraph-form .nbgraph-submit")
    asking.wait_for()
    form = notebook.page.locator(".nbgraph-form")
    form.get_by_label("Yes", exact=True).check()
    form.get_by_label("Amount").fill("150")
    form.get_by_label("Reason").fill("The lamp came broken.")
    asking.click()
    expect(notebook.page.get_by_text("The lamp came broken. You get 150.00 EUR.")).to_be_visible()
    form = notebook.page.locator(".nbgraph-form")
    form.get_by_label("No", exact=True).check()
    form.get_by_label("Amount").fill("150")
    form.get_by_label("Reason").fill("The lamp was used.")
    form.locator(".nbgraph-submit").click()
    expect(notebook.page.locator(".nbgraph-diff").get_by_text("/approved")).to_be_visible()
    notebook.wait_idle()
    assert "Error" not in "".join(notebook.output_text(index) for index in range(18))


def test_a_bad_answer_shows_its_problem_at_the_field_and_changes_nothing(open_notebook: Open):
    notebook = open_notebook([DESK, 'panel = Panel(desk, "bad", {"amount": 5})\npanel'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    answer(panel, approve=True, reason="ok")
    expect(panel.locator(".nbgraph-has-error .nbgraph-error")).to_contain_text("3")
    assert notebook.execute("print(panel.session.status, runs)") == "interrupted []\n"
    panel.locator(".nbgraph-form").get_by_label("Reason").fill("broken")
    panel.locator(".nbgraph-submit").click()
    expect(status(panel)).to_contain_text("Finished")
    assert notebook.execute("print(runs)") == "[True]\n"


def test_a_paused_thread_is_answered_after_a_page_reload(open_notebook: Open):
    notebook = open_notebook([DESK, 'panel = Panel(desk, "reload", {"amount": 5})\npanel'])
    notebook.run_all()
    panel_of(notebook, 1).locator(".nbgraph-form").wait_for()
    notebook.wait_idle()
    notebook.save()
    notebook.reload()
    answer(panel_of(notebook, 1), approve=True, reason="broken")
    expect(status(panel_of(notebook, 1))).to_contain_text("Finished")
    expect(panel_of(notebook, 1).locator("g.node.nbgraph-is-done")).to_have_count(5)
    assert notebook.execute("print(panel.session.state['paid'])") == "5.0\n"


def test_a_paused_thread_is_taken_up_after_a_kernel_restart(open_notebook: Open):
    notebook = open_notebook([
        DESK,
        'Panel(desk, "restart", {"amount": 5})',
        'panel = Panel(desk, "restart")\npanel',
    ])
    notebook.run(0)
    notebook.run(1)
    panel_of(notebook, 1).locator(".nbgraph-form").wait_for()
    notebook.wait_idle()
    notebook.restart()
    notebook.run(0)
    notebook.run(2)
    panel = panel_of(notebook, 2)
    expect(status(panel)).to_contain_text("Waiting for you")
    answer(panel, approve=True, reason="broken")
    expect(status(panel)).to_contain_text("Finished")
    assert notebook.execute("print(panel.session.state['paid'], runs)") == "5.0 [True]\n"


def test_a_fork_answers_the_question_differently_and_both_results_are_shown(open_notebook: Open):
    notebook = open_notebook([DESK, 'panel = Panel(desk, "fork", {"amount": 5})\npanel'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    answer(panel, approve=True, reason="broken")
    expect(status(panel)).to_contain_text("Finished")
    panel.locator(".nbgraph-fork").click()
    expect(status(panel)).to_contain_text("Waiting for you")
    answer(panel, approve=False, reason="used")
    expect(status(panel)).to_contain_text("Finished")
    differing = panel.locator(".nbgraph-diff")
    expect(differing).to_contain_text("/paid")
    expect(differing).to_contain_text('"used"')
    expect(differing).to_contain_text('"broken"')
    expect(panel.locator('g.node[data-node="decline"]')).to_contain_class("nbgraph-is-done")


def test_a_notebook_whose_kernel_is_gone_is_closed_with_the_focus_in_a_panel_without_an_error(
    open_notebook: Open, server: Server
):
    notebook = open_notebook([DESK, 'panel = Panel(desk, "closed", {"amount": 5})\npanel'])
    notebook.run_all()
    panel_of(notebook, 1).get_by_label("Reason").focus()
    notebook.wait_idle()
    server.shut_down_kernels()
    notebook.instead(server.write(str(Path(notebook.name).with_name("next.ipynb")), ["1"]))
    notebook.run_all()
    notebook.wait_idle()
    assert [line for line in notebook.console if "Cannot send" in line] == []


def test_a_double_click_on_submit_applies_once(open_notebook: Open):
    notebook = open_notebook([DESK, 'panel = Panel(desk, "double", {"amount": 5})\npanel'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    form = panel.locator(".nbgraph-form")
    form.get_by_label("Yes", exact=True).check()
    form.get_by_label("Reason").fill("broken")
    form.locator(".nbgraph-submit").dblclick()
    expect(status(panel)).to_contain_text("Finished")
    counted = "print(runs, sum(e.type == 'answers_given' for e in panel.session.history()))"
    assert notebook.execute(counted) == "[True] 1\n"


def test_a_click_is_served_while_another_cell_runs(open_notebook: Open):
    busy = "import threading\nreleased = threading.Event()\nprint('busy')\nreleased.wait(600)"
    notebook = open_notebook([DESK, 'panel = Panel(desk, "busy", {"amount": 5})\npanel', busy])
    notebook.run_all()
    notebook.wait_output(2, "busy")
    panel = panel_of(notebook, 1)
    answer(panel, approve=True, reason="broken")
    expect(status(panel)).to_contain_text("Finished")
    notebook.execute("released.set()", beside=True)
    notebook.wait_idle()
    assert notebook.output_text(2).split() == ["busy", "True"]


def test_a_new_thread_is_started_from_the_form_and_stepped(open_notebook: Open):
    notebook = open_notebook([DESK, 'panel = Panel(desk, "step")\npanel'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    expect(status(panel)).to_contain_text("New")
    panel.locator(".nbgraph-form").get_by_label("Amount").fill("12.5")
    panel.locator(".nbgraph-form .nbgraph-submit").click()
    expect(status(panel)).to_contain_text("Waiting for you")
    panel.locator(".nbgraph-step").click(force=True)  # held, not disabled: it says why
    expect(panel.locator(".nbgraph-why")).to_contain_text("Step waits for your answer")
    answer(panel, approve=True, reason="broken")
    expect(status(panel)).to_contain_text("Finished")
    assert notebook.execute("print(panel.session.state['paid'])") == "12.5\n"


def test_typing_on_a_button_never_changes_the_cells(open_notebook: Open):
    notebook = open_notebook([DESK, 'Panel(desk, "keys", {"amount": 5})'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    panel.locator(".nbgraph-form").wait_for()
    cells = notebook.page.locator(".jp-Notebook .jp-Cell")
    panel.locator(".nbgraph-fork").focus()
    for key in ("a", "b", "d", "d", "x"):
        notebook.page.keyboard.press(key)
    expect(cells).to_have_count(2)


def test_control_enter_in_a_field_submits_the_form(open_notebook: Open):
    notebook = open_notebook([DESK, 'Panel(desk, "enter", {"amount": 5})'])
    notebook.run_all()
    panel = panel_of(notebook, 1)
    form = panel.locator(".nbgraph-form")
    form.get_by_label("Yes", exact=True).check()
    form.get_by_label("Reason").fill("broken")
    form.get_by_label("Reason").press("Control+Enter")
    expect(status(panel)).to_contain_text("Finished")


HOSTILE = r"""
from nbgraph import END, START, BaseState, Graph, Panel, interrupt, node

class Odd(BaseState):
    text: str = ""

NAMES = [
    'say "hi" \\', "<b>bold</b>", "A::B", "$x$ and \\(y\\)",
    "\u05d0\u202eevil\u202c", "<script>document.title='owned'</script>",
]

def step(name):
    return node(lambda state: {"text": name}, name=name, label=name)

steps = [step(name) for name in NAMES]

@node
def ask(state: Odd) -> dict:
    payload = {name: f"<img src=x onerror=alert(1)> {name}" for name in NAMES}
    return {"text": interrupt(payload, message=" ".join(NAMES), response_schema={
        "type": "object",
        "title": NAMES[5],
        "properties": {name: {"type": "string", "title": name} for name in NAMES},
    })}

items = [START >> steps[0]]
items += [before >> after for before, after in zip(steps, steps[1:])]
odd = Graph(Odd, name=NAMES[5], max_steps=99).flow(*items, steps[-1] >> ask, ask >> END)
"""


def test_names_labels_and_payloads_are_text_and_nothing_runs(open_notebook: Open):
    notebook = open_notebook([HOSTILE, "odd", 'Panel(odd, "t", {"text": "x"})'])
    title = notebook.page.title()
    notebook.run_all()
    panel = panel_of(notebook, 2)
    panel.locator(".nbgraph-form").wait_for()
    notebook.wait_idle()
    expect(panel.locator(".nbgraph-graph")).to_contain_text("<b>bold</b>")
    expect(panel.locator(".nbgraph-graph")).to_contain_text("A::B")
    expect(panel.locator(".nbgraph-table")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(panel.locator(".nbgraph-message")).to_contain_text("$x$ and \\(y\\)")
    live = ".jp-OutputArea-output :is(script, iframe, mjx-container, img[src=x])"
    expect(notebook.page.locator(live)).to_have_count(0)
    assert notebook.dialogs == []
    assert notebook.page.title() == title
