"""One server and one browser for all tests of this folder, one tab and kernel a test."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from playwright.sync_api import expect

from .labtool import WAIT_SECONDS, App, Browser, BrowserMissingError, Notebook, Server

Open = Callable[..., Notebook]
NIGHTLY = os.environ.get("NBGRAPH_NIGHTLY") == "1"
TIMES = 10
collect_ignore = [] if NIGHTLY else ["test_old_kernel.py"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each flow many times at night, all of them once before any of them again."""
    if NIGHTLY:
        metafunc.fixturenames.append("repetition")
        metafunc.parametrize("repetition", range(1, TIMES + 1), scope="session")


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """JupyterLab and Notebook 7, ended with the last test of this folder."""
    with Server(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium; where it is missing the test is skipped, or fails if NBGRAPH_REQUIRE_BROWSER=1."""
    try:
        opened = Browser()
    except BrowserMissingError as error:
        _give_up(str(error))
    expect.set_options(timeout=WAIT_SECONDS * 1000)
    yield opened
    opened.close()


@pytest.fixture
def open_notebook(
    browser: Browser, server: Server, request: pytest.FixtureRequest
) -> Iterator[Open]:
    """Open a notebook: code cells, the path of a file to copy, or the name of one opened before.

    Each test has a folder of its own, in which its kernels run. The kernels are ended and the
    tabs closed, or kept for the next test, when the test ends. `app` is "lab" or "notebook".
    """
    opened: list[Notebook] = []
    folder = re.sub(r"\W+", "_", request.node.name)
    names = (f"{folder}/{number}.ipynb" for number in itertools.count(1))

    def open_one(source: Sequence[str] | Path | str, app: App = "lab") -> Notebook:
        match source:
            case str():
                name = source
            case Path():
                name = server.copy(source, folder)
            case _:
                name = server.write(next(names), source)
        opened.append(browser.open(server, name, app))
        return opened[-1]

    yield open_one
    for notebook in opened:
        request.node.add_report_section("teardown", notebook.name, "\n".join(notebook.console))
        browser.put_back(notebook)
    server.shut_down_kernels()
    server.reset_settings()


class _NoBrowser(pytest.skip.Exception):
    """Skips every test of this folder for one reason."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let skips for want of a browser share one line of the summary."""
    report = yield
    if call.excinfo is not None and call.excinfo.errisinstance(_NoBrowser):
        report.longrepr = (__file__, None, f"Skipped: {call.excinfo.value}")
    return report


def _give_up(reason: str) -> NoReturn:
    if os.environ.get("NBGRAPH_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    raise _NoBrowser(reason)
