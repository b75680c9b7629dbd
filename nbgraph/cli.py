"""The `nbgraph` command: `lab` opens JupyterLab on the examples; others look into state stores."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.parse import quote, urlsplit

from nbgraph.cli_stores import add_commands
from nbgraph.errors import IntegrationNotInstalledError, NbgraphError

__all__ = ["main"]

_FIRST_NOTEBOOK = "01_first_graph.ipynb"
_FOLDER = "nbgraph-notebooks"
_ADDRESS = re.compile(r"https?://\S+/lab\S*")
_LOG_PREFIX = re.compile(r"^\[[^\]]*\]\s*")
_STOP_SECONDS = 10

_QUIET = (
    "--log-level=INFO",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
)


class _CommandError(NbgraphError):
    """The command cannot do what was asked; the message is one sentence for the terminal."""


@dataclass(frozen=True, slots=True)
class _Target:
    """What JupyterLab is to show: a folder, and the notebook in it to open."""

    folder: Path
    notebook: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1 with a sentence on stderr, 2 for usage.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after `nbgraph`; by default those of this process.
    """
    options = _parser().parse_args(arguments)
    try:
        code = options.run(options)
        sys.stdout.flush()
        return code
    except NbgraphError as error:
        print(f"nbgraph: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:  # who reads the output, as `head` does, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nbgraph", description="Human-in-the-loop graphs inside Jupyter."
    )
    version = importlib.metadata.version("nbgraph")
    parser.add_argument("--version", action="version", version=f"nbgraph {version}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    add_commands(commands)
    lab = commands.add_parser("lab", help="open JupyterLab on the example notebooks")
    lab.set_defaults(run=_run_lab)
    lab.add_argument(
        "path",
        nargs="?",
        type=Path,
        default=Path(_FOLDER),
        metavar="NOTEBOOK_OR_FOLDER",
        help=f"a notebook to open, or the folder to put the examples in (default: {_FOLDER}); "
        "files that are there are kept",
    )
    lab.add_argument(
        "--no-browser",
        dest="browser",
        action="store_false",
        help="print the address instead of opening it",
    )
    lab.add_argument("--port", type=_port, metavar="N", help="the port (default: a free one)")
    return parser


def _run_lab(options: argparse.Namespace) -> int:
    return _lab(options.path, port=options.port, browser=options.browser)


def _port(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port; pass a number from 1 to 65535")


def _lab(path: Path, *, port: int | None, browser: bool) -> int:
    if importlib.util.find_spec("jupyterlab") is None:
        raise IntegrationNotInstalledError("jupyterlab", "lab")
    if port is not None:
        _check_port(port)
    target = _target(path)
    with _server(_command(target, port=port, browser=browser)) as server:
        return _follow(server, browser=browser)


def _check_port(port: int) -> None:
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name != "nt")
            probe.bind(("127.0.0.1", port))
    except OSError as error:
        raise _CommandError(
            f"Port {port} cannot be used: {error.strerror}; pass another --port, or none"
        ) from error


def _target(path: Path) -> _Target:
    if path.suffix == ".ipynb":
        if not path.is_file():
            raise _CommandError(f"There is no notebook {str(path)!r}; pass one, or a folder")
        return _Target(path.parent.resolve(), path.name)
    _copy_examples(path)
    return _Target(path.resolve(), _FIRST_NOTEBOOK)


def _copy_examples(folder: Path) -> None:
    examples = sorted(_examples().glob("*.ipynb"))
    if not any(example.name == _FIRST_NOTEBOOK for example in examples):
        raise _CommandError("The example notebooks are missing from nbgraph; install it again")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for example in examples:
            _copy(example, folder / example.name)
    except OSError as error:
        raise _CommandError(
            f"The example notebooks cannot be written to {str(folder)!r}: {error.strerror}; "
            "pass another folder: nbgraph lab FOLDER"
        ) from error


def _examples() -> Path:
    package = Path(__file__).parent
    shipped = package / "_notebooks"
    return shipped if shipped.is_dir() else package.parent / "notebooks"


def _copy(example: Path, to: Path) -> None:
    """Copy a file whole or not at all, and never over one that is there."""
    if to.exists():
        return
    part = to.with_suffix(".part")
    part.write_bytes(example.read_bytes())
    part.replace(to)


def _command(target: _Target, *, port: int | None, browser: bool) -> list[str]:
    command = [sys.executable, "-m", "jupyterlab", *_QUIET]
    command.append(f"--ServerApp.root_dir={target.folder}")
    command.append(f"--LabApp.default_url=/lab/tree/{quote(target.notebook)}")
    if port is not None:
        command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if not browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return command


@contextmanager
def _server(command: Sequence[str]) -> Generator[subprocess.Popen[str], None, None]:
    """Run the server in a session of its own, so that Ctrl+C reaches this process alone."""
    server = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    with _signals_as_interrupt():
        try:
            yield server
        finally:
            _stop(server)


@contextmanager
def _signals_as_interrupt() -> Generator[None, None, None]:
    """Let a request to end, or a closed terminal, do what Ctrl+C does."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    kept = {number: signal.getsignal(number) for number in numbers}
    try:
        for number, handler in kept.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, _interrupt)
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # it may come twice, and once is enough
    raise KeyboardInterrupt


def _stop(server: subprocess.Popen[str]) -> None:
    server.terminate()
    try:
        server.communicate(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.communicate()


def _follow(server: subprocess.Popen[str], *, browser: bool) -> int:
    """Print the address when the server can be reached there, and stay until the server ends."""
    lines = iter(server.stdout or ())
    said: list[str] = []
    for line in lines:
        said.append(_LOG_PREFIX.sub("", line.strip()))
        if found := _ADDRESS.search(line):
            _wait_for(server, found[0])
            print(f"JupyterLab: {found[0]}  (Ctrl+C ends it)" if browser else found[0], flush=True)
            return _outlast(server, lines)
    last = next(filter(None, reversed(said)), "it said nothing")
    raise _CommandError(f"JupyterLab ended before it was ready: {last}")


def _wait_for(server: subprocess.Popen[str], address: str) -> None:
    """Wait until the server listens: it tells its address a moment before."""
    place = urlsplit(address)
    while server.poll() is None:
        try:
            socket.create_connection((place.hostname or "localhost", place.port or 80)).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
        else:
            return


def _outlast(server: subprocess.Popen[str], lines: Iterator[str]) -> int:
    for _ in lines:
        pass
    if server.wait() != 0:
        raise _CommandError(f"JupyterLab ended with exit code {server.returncode}")
    return 0
