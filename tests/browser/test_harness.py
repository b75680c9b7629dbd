"""The harness itself: what every other browser test takes for granted."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import Open
from .labtool import Browser, KernelError

pytestmark = pytest.mark.browser

BUTTON = """
import ipywidgets
button = ipywidgets.Button(description="Press")
button.on_click(lambda _: setattr(button, "description", "Pressed"))
button
"""


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_notebook_opens_and_runs(open_notebook: Open, app):
    notebook = open_notebook(["print(6 * 7)", "'it' + 's text'", "1 / 0"], app)
    notebook.run_all()
    notebook.wait_idle()
    assert [notebook.output_text(index) for index in range(3)] == [
        "42\n",
        "'its text'",
        "ZeroDivisionError: division by zero",
    ]


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_click_on_a_widget_reaches_the_kernel(open_notebook: Open, app):
    notebook = open_notebook([BUTTON], app)
    notebook.run_all()
    notebook.cell(0).get_by_role("button", name="Press", exact=True).click()
    notebook.cell(0).get_by_role("button", name="Pressed").wait_for()
    assert notebook.execute("print(button.description)") == "Pressed\n"


def test_code_without_a_cell_prints_or_raises(open_notebook: Open):
    notebook = open_notebook(["x = 1"])
    assert notebook.execute("print('here')") == "here\n"
    with pytest.raises(KernelError, match="NameError: name 'x' is not defined"):
        notebook.execute("x")


def test_a_running_cell_can_be_looked_into_and_interrupted(open_notebook: Open):
    cell = "import threading\nstarted = True\nprint('started')\nthreading.Event().wait()"
    notebook = open_notebook([cell])
    notebook.run(0)
    notebook.wait_output(0, "started")
    assert notebook.execute("print(started)", beside=True) == "True\n"
    notebook.interrupt()
    assert "KeyboardInterrupt" in notebook.wait_output(0, "KeyboardInterrupt")
    notebook.wait_idle()


def test_a_restarted_kernel_has_forgotten(open_notebook: Open):
    notebook = open_notebook(["x = 1"])
    notebook.run_all()
    notebook.wait_idle()
    notebook.restart()
    assert notebook.execute("print('x' in globals())") == "False\n"


def test_a_saved_notebook_is_the_same_after_a_reload(open_notebook: Open):
    notebook = open_notebook(["print('kept')"])
    notebook.run_all()
    notebook.wait_idle()
    notebook.save()
    notebook.reload()
    assert notebook.output_text(0) == "kept\n"
    assert notebook.server.read(notebook.name).cells[0].outputs[0].text == "kept\n"


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_the_theme_changes_and_a_cell_can_be_photographed(open_notebook: Open, app, tmp_path):
    notebook = open_notebook(["print('dark')"], app)
    notebook.set_theme("dark")
    dark = notebook.screenshot(tmp_path / "dark.png", index=0).read_bytes()
    notebook.set_theme("light")
    assert notebook.screenshot(tmp_path / "light.png", index=0).read_bytes() != dark


def test_a_tab_that_was_put_back_shows_the_next_notebook_and_nothing_of_the_one_before(
    open_notebook: Open, browser: Browser
):
    first = open_notebook([BUTTON, "x = 1"])
    page = first.page
    first.run_all()
    first.cell(0).get_by_role("button").wait_for()
    first.wait_idle()
    browser.put_back(first)
    second = open_notebook(["'x' in globals()"])
    assert second.page is page
    second.run_all()
    assert second.wait_output(0, "False|True") == "False"
    expect(second.page.locator(".jp-Notebook .jp-Cell")).to_have_count(1)
    expect(second.page.get_by_role("button", name="Press")).to_have_count(0)
    second.reload()
    assert second.name.endswith("2.ipynb")
    assert second.output_text(0) == ""
    second.set_theme("dark")
    browser.put_back(second)
    assert page.is_closed()
