"""JupyterLab 4 and Notebook 7 for tests: a server, a browser, a notebook in a tab.

`Server` runs JupyterLab (with Notebook 7 beside it) on folders of its own, `Browser` is Chromium
through Playwright, `Notebook` is one notebook in one tab. Nothing here sleeps: a wait ends when the
server prints a line or when a condition holds in the page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TextIO

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import ConsoleMessage, Dialog, Locator, Page, ViewportSize, sync_playwright

__all__ = ["App", "Browser", "BrowserMissingError", "KernelError", "Notebook", "Server"]

App = Literal["lab", "notebook"]
ADDRESSES: Mapping[App, str] = {"lab": "doc/tree", "notebook": "notebooks"}

START_SECONDS = 120
WAIT_SECONDS = 60
TOKEN = "test"

CHROMIUM_NAMES = ("chromium", "chromium-browser")
CHROMIUM_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

VIEWPORT: ViewportSize = {"width": 1400, "height": 1600}

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}

PAGE_SCRIPT = Path(__file__).parent / "page.js"


class BrowserMissingError(Exception):
    """No Chromium is installed."""


class KernelError(Exception):
    """Code run by `Notebook.execute` raised in the kernel."""


class Server:
    """JupyterLab and Notebook 7 on a port of their own, with all their files below `folder`."""

    def __init__(self, folder: Path, *, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.root = folder / "notebooks"
        self.root.mkdir(parents=True)
        _write_settings(folder / "settings")
        self._process = _start_server(self.root, _environment(folder, environment or {}))
        self._log = _Log(_pipe_of(self._process), folder / "server.log")
        self.address = self._wait_for_address()

    def _wait_for_address(self) -> str:
        found = self._log.wait_for(r"http://127\.0\.0\.1:(\d+)/lab", START_SECONDS)
        if found is None:
            self.close()
            raise RuntimeError(f"JupyterLab did not start:\n{self._log.text}")
        _wait_until_it_listens(self._process, int(found[1]))
        return f"http://127.0.0.1:{found[1]}"

    @property
    def log(self) -> str:
        """What the server has printed."""
        return self._log.text

    def write(self, name: str, cells: Sequence[str]) -> str:
        """Write a notebook with these code cells below the root folder, and return its name."""
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = new_notebook(
            cells=[new_code_cell(source) for source in cells], metadata={"kernelspec": kernel}
        )
        (self.root / name).parent.mkdir(exist_ok=True)
        nbformat.write(notebook, self.root / name)
        return name

    def copy(self, path: Path, folder: str) -> str:
        """Copy a file into a folder below the root folder, and return its name there."""
        (self.root / folder).mkdir(exist_ok=True)
        shutil.copyfile(path, self.root / folder / path.name)
        return f"{folder}/{path.name}"

    def read(self, name: str) -> nbformat.NotebookNode:
        """Return a notebook below the root folder as it is on the disk."""
        return nbformat.read(self.root / name, as_version=4)

    def reset_settings(self) -> None:
        """Forget what a test has changed in JupyterLab's settings, as the theme."""
        shutil.rmtree(self.folder / "settings")
        _write_settings(self.folder / "settings")

    def shut_down_kernels(self) -> None:
        """End every session with its kernel."""
        for session in self._request("sessions"):
            self._request(f"sessions/{session['id']}", method="DELETE")

    def close(self) -> None:
        """End the server and its kernels."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _request(self, path: str, *, method: str = "GET") -> Any:
        request = urllib.request.Request(
            f"{self.address}/api/{path}",
            method=method,
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
            body = answer.read()
        return json.loads(body) if body else None


class Browser:
    """Chromium: Debian's package, or the one that Playwright has downloaded.

    To load JupyterLab takes seconds of CPU time. So Chromium keeps its compiled scripts in a
    profile, and a tab that `put_back` found as JupyterLab had loaded it shows the next notebook.
    Playwright's sync API leaves an asyncio loop marked as running in this thread until `close`.
    """

    def __init__(self) -> None:
        self._playwright = sync_playwright().start()
        try:
            path = find_chromium(self._playwright.chromium.executable_path)
        except BrowserMissingError:
            self._playwright.stop()
            raise
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._context = self._playwright.chromium.launch_persistent_context(
            self._profile.name,
            executable_path=path,
            args=list(CHROMIUM_ARGUMENTS),
            viewport=VIEWPORT,
        )
        self._context.set_default_timeout(WAIT_SECONDS * 1000)
        self._context.add_init_script(path=PAGE_SCRIPT)

        self._spare: list[Notebook] = []

    def open(self, server: Server, name: str, app: App = "lab") -> Notebook:
        """Open a notebook below the server's root folder in a tab, and wait for its kernel."""
        for spare in self._spare:
            if (spare.server, spare.app) == (server, app):
                self._spare.remove(spare)
                return spare.instead(name)
        return Notebook(self._context.new_page(), server, name, app)

    def put_back(self, notebook: Notebook) -> None:
        """Keep a tab for the next notebook, or close it if JupyterLab is not as it was loaded."""
        if notebook.is_plain and not self._spare:
            self._spare.append(notebook)
        else:
            notebook.close()

    def close(self) -> None:
        """Close every tab, Chromium and Playwright."""
        self._context.close()
        self._playwright.stop()
        self._profile.cleanup()


class Notebook:
    """One notebook in one tab, in JupyterLab or in Notebook 7.

    Attributes
    ----------
    page : playwright.sync_api.Page
        The tab, for everything that has no method here.
    console : list of str
        What the page wrote to the console, as `"kind: text"`; uncaught errors are of the kind
        `pageerror`. Notebook 7 has two of its own.
    dialogs : list of str
        What browser dialogs (`alert`, leaving the page) said; each was accepted.
    """

    def __init__(self, page: Page, server: Server, name: str, app: App) -> None:
        self.page = page
        self.server = server
        self.name = name
        self.app = app
        self.console: list[str] = []
        self.dialogs: list[str] = []
        self._themed = False
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.console.append(f"pageerror: {error}"))
        page.on("dialog", self._on_dialog)
        self.reload()

    def instead(self, name: str) -> Notebook:
        """Show another notebook in this tab, and wait for its kernel; the one before is gone."""
        self.name, self.console, self.dialogs = name, [], []
        self.page.evaluate("name => harness.show(name)", name)
        self.wait_until("harness.ready()", seconds=START_SECONDS)
        return self

    @property
    def is_plain(self) -> bool:
        """Whether the tab can show another notebook as if JupyterLab had just been loaded."""
        is_open = self.app == "lab" and not self.page.is_closed()
        return is_open and not self._themed and self.page.viewport_size == VIEWPORT

    def _on_console(self, message: ConsoleMessage) -> None:
        self.console.append(f"{message.type}: {message.text}")

    def _on_dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.accept()

    def reload(self) -> None:
        """Load the page again, and wait for its kernel; unsaved changes are lost."""
        address = f"{self.server.address}/{ADDRESSES[self.app]}/{self.name}?token={TOKEN}"
        self.page.goto(address, timeout=START_SECONDS * 1000)
        self.wait_until("harness.ready()", seconds=START_SECONDS)

    def wait_until(
        self, condition: str, argument: object = None, *, seconds: float = WAIT_SECONDS
    ) -> None:
        """Wait until a JavaScript expression, or a function of one argument, holds in the page."""
        self.page.wait_for_function(condition, arg=argument, timeout=seconds * 1000)

    def run_all(self) -> None:
        """Start to run every cell, and return at once."""
        self._start("notebook:run-all-cells")

    def run(self, index: int) -> None:
        """Start to run one cell, and return at once."""
        self.page.evaluate("index => harness.runCell(index)", index)

    def wait_idle(self, *, seconds: float = WAIT_SECONDS) -> None:
        """Wait until every cell that was started here has ended and the kernel is idle."""
        self.wait_until("harness.idle()", seconds=seconds)

    def cell(self, index: int) -> Locator:
        """Locate a cell, counted from 0, Markdown cells included."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def outputs(self, index: int) -> list[dict[str, Any]]:
        """Return a cell's outputs as the notebook would save them."""
        return self.page.evaluate("index => harness.outputs(index)", index)

    def output_text(self, index: int) -> str:
        """Return the text of a cell's outputs: streams, text/plain, and `"Type: message"`."""
        return self.page.evaluate("index => harness.outputText(index)", index)

    def wait_output(self, index: int, pattern: str, *, seconds: float = WAIT_SECONDS) -> str:
        """Wait until a cell's output text holds a (JavaScript) pattern, and return the text."""
        self.wait_until(
            "([index, pattern]) => new RegExp(pattern).test(harness.outputText(index))",
            [index, pattern],
            seconds=seconds,
        )
        return self.output_text(index)

    def execute(self, code: str, *, beside: bool = False, seconds: float = WAIT_SECONDS) -> str:
        """Run code in the kernel without a cell, and return what it prints.

        With `beside`, it runs in a subshell, so it is served while a cell runs (ipykernel 7).

        Raises
        ------
        KernelError
            The code raised; the message is `"Type: message"`.
        """
        call = "harness.besideMainShell(" if beside else "harness.execute(harness.kernel(), "
        answer = self.page.evaluate(f"([code, ms]) => {call}code, ms)", [code, seconds * 1000])
        if answer["error"] is not None:
            raise KernelError(answer["error"])
        return answer["text"]

    def kernel_status(self) -> str:
        """Return the kernel's status as the page knows it."""
        return self.page.evaluate("harness.kernel()?.status ?? 'none'")

    def interrupt(self) -> None:
        """Interrupt the kernel."""
        self.page.evaluate("harness.kernel().interrupt()")

    def restart(self) -> None:
        """Restart the kernel, and wait until it answers."""
        self.page.evaluate("harness.session().restartKernel()")
        self.wait_until("harness.ready()", seconds=START_SECONDS)
        self.execute("")

    def save(self) -> None:
        """Save the notebook, and wait until it is on the disk."""
        self.page.evaluate("harness.panel().context.save()")

    def set_theme(self, theme: Literal["light", "dark"]) -> None:
        """Switch JupyterLab's theme, and wait until the page shows it."""
        self._themed = True
        self._start("apputils:change-theme", {"theme": f"JupyterLab {theme.title()}"})
        self.wait_until("theme => harness.shows(theme)", theme)

    def screenshot(self, path: Path, *, index: int | None = None) -> Path:
        """Take a picture of a cell, or of the page, and return its path."""
        target = self.page if index is None else self.cell(index)
        target.screenshot(path=path)
        return path

    def close(self) -> None:
        """Close the tab; the kernel goes on."""
        self.page.close()

    def _start(self, command: str, arguments: Mapping[str, object] | None = None) -> None:
        self.page.evaluate(
            "([command, args]) => harness.start(command, args)", [command, dict(arguments or {})]
        )


def find_chromium(playwrights_own: str) -> str:
    """Return the path of Debian's Chromium, or else of Playwright's own.

    Raises
    ------
    BrowserMissingError
        Neither is there.
    """
    debians = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if debians is not None:
        return debians
    if Path(playwrights_own).exists():
        return playwrights_own
    raise BrowserMissingError(
        "no Chromium: install the system package chromium, or run `python -m playwright install "
        "chromium`"
    )


class _Log:
    """Follows a process's output into a file, and lets one wait for a line."""

    def __init__(self, pipe: TextIO, path: Path) -> None:
        self._pipe = pipe
        self._path = path
        self._lines: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        return "".join(self._lines)

    def wait_for(self, pattern: str, seconds: float) -> re.Match[str] | None:
        """Return the first match in the text, or None when the process ends or time is up."""

        def settled() -> bool:
            return self._ended or re.search(pattern, self.text) is not None

        with self._changed:
            self._changed.wait_for(settled, seconds)
        return re.search(pattern, self.text)

    def close(self) -> None:
        self._thread.join()
        self._pipe.close()

    def _follow(self) -> None:
        with self._path.open("w", encoding="utf-8") as file:
            for line in self._pipe:
                file.write(line)
                with self._changed:
                    self._lines.append(line)
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


def _environment(folder: Path, extra: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not _is_foreign(name)}
    own = {
        "JUPYTER_CONFIG_DIR": folder / "config",
        "JUPYTER_DATA_DIR": folder / "data",
        "JUPYTER_RUNTIME_DIR": folder / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": folder / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": folder / "workspaces",
        "IPYTHONDIR": folder / "ipython",
    }
    return kept | {name: str(path) for name, path in own.items()} | dict(extra)


def _is_foreign(name: str) -> bool:
    return name.startswith(("JUPYTER", "JPY_", "IPYTHON", "NBGRAPH_"))


def _write_settings(folder: Path) -> None:
    for name, values in SETTINGS.items():
        path = folder / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")


def _start_server(root: Path, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *("--ip=127.0.0.1", "--port=0", f"--ServerApp.root_dir={root}"),
            f"--IdentityProvider.token={TOKEN}",
            *("--expose-app-in-browser", "--JupyterNotebookApp.expose_app_in_browser=True"),
            *("--LabApp.news_url=None", "--LabApp.extension_manager=readonly"),
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        ],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _wait_until_it_listens(process: subprocess.Popen[str], port: int) -> None:
    """The server tells its address a moment before it listens, and nothing tells of that."""
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return


def _pipe_of(process: subprocess.Popen[str]) -> TextIO:
    if process.stdout is None:
        raise RuntimeError("the server was started without a pipe")
    return process.stdout  # type: ignore[return-value]  # IO[str] is a TextIO here
