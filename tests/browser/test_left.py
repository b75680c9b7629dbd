"""What a saved notebook shows without a kernel: picture, thread and answers, no dead widget."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import expect

from .conftest import Open
from .labtool import Notebook, Server
from .test_circle import DESK, answer, panel_of, status

pytestmark = pytest.mark.browser

WIDGET = "application/vnd.jupyter.widget-view+json"
SECRET = """
class Login(BaseModel):
    token: str = Field(json_schema_extra={"writeOnly": True, "format": "password"})

@node
def login(state: Refund) -> dict:
    return {"letter": interrupt(id="login", message="Token?", response_schema=Login).token[:1]}

gate = Graph(Refund, name="gate", state_store=store).flow(START >> login >> END)
"""


def finished(open_notebook: Open, *more: str) -> Notebook:
    panel = 'panel = Panel(desk, "left", {"amount": 5})\npanel'
    notebook = open_notebook([DESK, panel, "print(panel.session.status)", *more])
    notebook.run(0)
    notebook.run(1)
    answer(panel_of(notebook, 1), approve=True, reason="broken & <b>bent</b>")
    let_go(notebook)
    return notebook


def let_go(notebook: Notebook) -> None:
    """Wait until a panel has finished, and the kernel knows that nobody works in it any more."""
    panel = panel_of(notebook, 1)
    expect(status(panel)).to_contain_text("Finished")
    expect(panel.locator(".nbgraph-main")).to_be_focused()  # where the form was that had the focus
    notebook.execute("0")  # what the page said before has arrived


def saved(notebook: Notebook, server: Server) -> nbformat.NotebookNode:
    notebook.wait_idle()
    notebook.save()
    return server.read(notebook.name)


def left(file: nbformat.NotebookNode) -> Any:
    """Return what a cell keeps for readers without a kernel; its other output is empty."""
    widget, still = file.cells[1].outputs
    assert widget.data == {"text/html": "", "text/plain": ""}
    return still


def test_a_thread_that_ended_leaves_picture_thread_and_answers_in_the_file(
    open_notebook: Open, server: Server, tmp_path: Path
):
    notebook = finished(open_notebook)
    notebook.run(2)
    image = notebook.cell(1).locator("img[src^='data:image/svg+xml']")
    expect(image).to_be_visible()
    expect(notebook.cell(1).locator(".nbgraph-panel")).to_have_count(0)
    file = saved(notebook, server)
    output = left(file)
    assert (
        'answered {"approve": true, "reason": "broken & <b>bent</b>"}' in output.data["text/plain"]
    )
    assert "<b>" not in output.data["text/html"]
    assert len(json.dumps(output)) <= 60_000
    notebook.close()
    server.shut_down_kernels()
    again = open_notebook(notebook.name)
    expect(again.cell(1).locator("img[src^='data:image/svg+xml']")).to_be_visible()
    expect(again.cell(1)).to_contain_text("answered")
    expect(again.page.get_by_text("model not found")).to_have_count(0)
    again.screenshot(tmp_path / "left.png", index=1)
    page = _converted(server, notebook.name, tmp_path)
    assert "data:image/svg+xml;base64," in page
    assert "broken &amp; &lt;b&gt;bent&lt;/b&gt;" in page


def test_evaluated_again_the_panel_is_back(open_notebook: Open):
    notebook = finished(open_notebook, "panel")
    notebook.run(2)
    expect(notebook.cell(1).locator("img")).to_be_visible()
    notebook.run(3)
    expect(status(panel_of(notebook, 3))).to_contain_text("Finished")
    panel_of(notebook, 3).locator("button", has_text="Answer differently").click()
    expect(status(panel_of(notebook, 3))).to_contain_text("Waiting for you")


def test_a_panel_on_a_thread_that_had_ended_stays_and_closed_it_leaves_the_picture(
    open_notebook: Open, server: Server
):
    run = 'desk.invoke({"amount": 5}, thread_id="was")\n'
    run += 'desk.invoke(resume=Resume({"approve": True, "reason": "broken"}), thread_id="was")'
    source = f"{DESK}\nfrom nbgraph import Resume\n{run}"
    notebook = open_notebook([source, 'panel = Panel(desk, "was")\npanel', "1", "panel.close()"])
    notebook.run(0)
    notebook.run(1)
    notebook.run(2)
    notebook.wait_idle()
    expect(status(panel_of(notebook, 1))).to_contain_text("Finished")
    notebook.run(3)
    expect(notebook.cell(1).locator("img")).to_be_visible()
    assert "answered" in left(saved(notebook, server)).data["text/plain"]


def test_a_thread_that_waits_keeps_its_panel_and_tells_other_readers_where_it_stands(
    open_notebook: Open, server: Server
):
    """Report G46."""
    panel = 'panel = Panel(desk, "waits", {"amount": 5})\npanel'
    notebook = open_notebook([DESK, panel, "1 + 1"])
    notebook.run(0)
    notebook.run(1)
    panel_of(notebook, 1).locator(".nbgraph-form").wait_for()
    notebook.run(2)
    notebook.wait_output(1, "asks confirm:decision")
    widget, output = saved(notebook, server).cells[1].outputs
    assert "asks confirm:decision: May we?" in output.data["text/plain"]
    answer(panel_of(notebook, 1), approve=True, reason="broken")
    notebook.wait_output(1, "completed, 3 supersteps")
    widget, output = saved(notebook, server).cells[1].outputs
    assert WIDGET in widget.data
    assert "completed, 3 supersteps" in output.data["text/plain"]
    assert "data:image/svg+xml;base64," in output.data["text/html"]


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_panel_that_waited_reads_without_its_kernel_trusted_or_not(
    open_notebook: Open, server: Server, tmp_path: Path, app
):
    panel = 'panel = Panel(desk, "waits", {"amount": 5})\npanel'
    notebook = open_notebook([DESK, panel], app)
    notebook.run_all()
    notebook.wait_output(1, "asks confirm:decision")  # kept a moment after the form is there
    file = saved(notebook, server)
    assert WIDGET in file.cells[1].outputs[0].data
    notebook.close()
    server.shut_down_kernels()
    file.cells[0].source += "\n# somebody else's"
    elsewhere = str(Path(notebook.name).with_name("elsewhere.ipynb"))
    nbformat.write(file, server.root / elsewhere)
    for name in (notebook.name, elsewhere):
        again = open_notebook(name, app)
        expect(again.cell(1).locator("img[src^='data:image/svg+xml']")).to_be_visible()
        expect(again.cell(1)).to_contain_text("asks confirm:decision: May we?")
        for error in again.page.get_by_text("model not found").all():
            expect(error).to_be_hidden()
        again.screenshot(tmp_path / f"{Path(name).stem}.png", index=1)
    for kind in ("html", "markdown"):
        page = _converted(server, notebook.name, tmp_path, kind)
        assert "asks confirm:decision: May we?" in page
        assert "data:image/svg+xml;base64," in page


BUSY = "released = threading.Event()\nprint('busy')\nreleased.wait(600)"
MARK = "document.activeElement.nbgraphStays = true"
STAYS = "document.activeElement.nbgraphStays === true"


def busy(open_notebook: Open, code: str) -> Notebook:
    """Return a notebook with a panel in its second cell, while its third one runs."""
    notebook = open_notebook([f"import threading\n{DESK}", code, BUSY])
    notebook.run_all()
    notebook.wait_output(2, "busy")
    return notebook


def released(notebook: Notebook) -> None:
    notebook.execute("released.set()", beside=True)
    notebook.wait_idle()


def test_who_is_half_way_in_a_field_keeps_focus_place_and_text_whatever_runs_beside(
    open_notebook: Open, server: Server
):
    notebook = busy(open_notebook, 'panel = Panel(desk, "half", {"amount": 5})\npanel')
    reason = panel_of(notebook, 1).get_by_label("Reason")
    reason.press_sequentially("half a wor")
    reason.press("ArrowLeft")
    notebook.page.evaluate(MARK)
    top = reason.bounding_box()
    panel_of(notebook, 1).locator(".nbgraph-past").wait_for(state="attached")
    notebook.execute("panel.session.breakpoints(before=['pay'])", beside=True)
    released(notebook)
    assert notebook.page.evaluate(STAYS)
    assert reason.bounding_box() == top
    reason.press_sequentially("X")
    expect(reason).to_have_value("half a woXr")
    expect(notebook.cell(1).locator("img")).to_be_hidden()
    _, still = saved(notebook, server).cells[1].outputs
    assert "asks confirm:decision" in still.data["text/plain"]


def test_a_panel_whose_thread_has_ended_stays_while_somebody_works_in_it(open_notebook: Open):
    notebook = busy(open_notebook, 'panel = Panel(desk, "works", {"amount": 5})\npanel')
    panel = panel_of(notebook, 1)
    answer(panel, approve=True, reason="broken")
    expect(status(panel)).to_contain_text("Finished")
    panel.get_by_role("button", name="Answer differently").focus()
    notebook.page.evaluate(MARK)
    released(notebook)
    assert notebook.page.evaluate(STAYS)
    expect(notebook.cell(1).locator("img")).to_be_hidden()
    notebook.page.evaluate("document.activeElement.blur()")
    notebook.run(2)
    notebook.wait_output(2, "busy")
    released(notebook)
    expect(notebook.cell(1).locator("img")).to_be_visible()
    expect(panel).to_have_count(0)


def test_a_secret_is_in_no_saved_output(open_notebook: Open, server: Server):
    notebook = open_notebook([DESK + SECRET, 'panel = Panel(gate, "s", {})\npanel', "1 + 1"])
    notebook.run(0)
    notebook.run(1)
    form = panel_of(notebook, 1).locator(".nbgraph-form")
    form.locator("input[type=password]").fill("tok-4711")
    form.locator(".nbgraph-submit").click()
    let_go(notebook)
    notebook.run(2)
    expect(notebook.cell(1).locator("img")).to_be_visible()
    text = nbformat.writes(saved(notebook, server))
    assert "4711" not in text
    assert "••••••" in text


def _converted(server: Server, name: str, folder: Path, kind: str = "html") -> str:
    """Return a notebook as nbconvert makes a page of it, without running it."""
    command = [sys.executable, "-m", "nbconvert", "--to", kind, str(server.root / name)]
    subprocess.run([*command, "--output-dir", str(folder)], check=True, capture_output=True)
    (made,) = folder.glob(f"{Path(name).stem}.{'html' if kind == 'html' else 'md'}")
    return made.read_text(encoding="utf-8")
