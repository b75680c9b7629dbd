"""The panel on ipykernel 6.29, which serves clicks between cells only. Nightly: it installs one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .labtool import Browser, Notebook, Server
from .test_panel import SHOP, node, panel_of, status

pytestmark = pytest.mark.browser
VERSION = "6.29.5"


@pytest.fixture(scope="session")
def old_kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ipykernel of its own that goes before the one of the environment."""
    folder = tmp_path_factory.mktemp("ipykernel")
    wanted = [f"ipykernel=={VERSION}", "--no-deps", "--quiet", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "install", *wanted], check=True)
    return folder


@pytest.fixture
def notebook(
    browser: Browser, old_kernel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Notebook]:
    path = os.pathsep.join(filter(None, [str(old_kernel), os.environ.get("PYTHONPATH")]))
    code = 'panel = Panel(line(says("a"), ask, says("c")), "t")\npanel'
    folder = tmp_path_factory.mktemp("old")
    with Server(folder, environment={"PYTHONPATH": path}) as server:
        name = server.write("old.ipynb", [SHOP, code, "import ipykernel\nipykernel.__version__"])
        opened = browser.open(server, name)
        yield opened
        opened.close()


def test_the_main_flow_goes_through(notebook: Notebook):
    notebook.run_all()
    panel = panel_of(notebook)
    panel.locator(".nbgraph-graph h3").wait_for()
    notebook.wait_idle()
    assert VERSION in notebook.output_text(2)
    node(panel, "c").locator(".nbgraph-handle").first.click()
    expect(node(panel, "c").locator(".nbgraph-break .nbgraph-m-dot")).to_have_count(1)
    panel.locator(".nbgraph-form .nbgraph-submit").click()
    expect(status(panel)).to_contain_text("Waiting for you")
    form = panel.locator(".nbgraph-key-ask-which")
    form.get_by_role("textbox").first.fill("the lamp")
    form.locator(".nbgraph-submit").click()
    expect(status(panel)).to_contain_text("Paused before c")
    panel.locator("button.nbgraph-step").click()
    expect(status(panel)).to_contain_text("Finished")
    expect(panel.locator(".nbgraph-log")).to_contain_text("a prints")
    assert notebook.execute("print(panel.session.state['item'])") == "the lamp\n"
