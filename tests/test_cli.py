"""The `nbgraph` command, in processes of its own where it starts a server."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from nbgraph import cli

COMMAND = str(Path(sysconfig.get_path("scripts")) / "nbgraph")
EMPTY_NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


@pytest.fixture
def environment(tmp_path):
    """Jupyter folders of this test's own."""
    names = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    own = {f"JUPYTER_{name}": str(tmp_path / "jupyter" / name.lower()) for name in names}
    return os.environ | own


@pytest.fixture
def examples(tmp_path, monkeypatch):
    """Two example notebooks in place of the real ones."""
    folder = tmp_path / "examples"
    folder.mkdir()
    for name in ("01_first_graph.ipynb", "02_more.ipynb"):
        (folder / name).write_text(f"original {name}")
    monkeypatch.setattr(cli, "_examples", lambda: folder)
    return folder


@pytest.fixture
def shown(monkeypatch):
    """The server commands that would have been run; a process that prints an address runs."""
    commands = []
    real = cli._command

    def command(target, *, port, browser):
        commands.append(real(target, port=port, browser=browser))
        return [sys.executable, "-c", "print('[I] http://localhost:1/lab?token=t')"]

    monkeypatch.setattr(cli, "_command", command)
    return commands


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_without_a_browser_it_prints_the_address_and_serves_until_it_is_stopped(
    tmp_path, environment, number
):
    (tmp_path / "a notebook.ipynb").write_text(EMPTY_NOTEBOOK)
    with subprocess.Popen(
        [COMMAND, "lab", "a notebook.ipynb", "--no-browser"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            address = process.stdout.readline().strip()
            page = get(address)
        finally:
            process.send_signal(number)
            rest = process.communicate()
    assert urlsplit(address).path == "/lab/tree/a%20notebook.ipynb"
    assert '"news": {"disabled": true}' in page
    assert (process.returncode, rest) == (0, ("", ""))
    with pytest.raises(urllib.error.URLError):
        get(address)


def test_a_port_in_use_is_one_sentence(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = run("lab", "--no-browser", "--port", str(port), cwd=tmp_path)
    assert refusal(result) == (
        f"nbgraph: Port {port} cannot be used: Address already in use; "
        "pass another --port, or none\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_missing_jupyterlab_is_one_sentence_with_the_command_that_installs_it(tmp_path):
    code = (
        "import sys; sys.modules['jupyterlab'] = None; from nbgraph.cli import main; "
        "sys.exit(main(['lab']))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert refusal(result) == (
        "nbgraph: 'jupyterlab' is not installed; in nbgraph's checkout: "
        'python -m pip install ".[lab]"\n'
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path, examples, capsys):
    (tmp_path / "file").touch()
    assert cli.main(["lab", str(tmp_path / "file" / "folder")]) == 1
    assert capsys.readouterr().err == (
        f"nbgraph: The example notebooks cannot be written to '{tmp_path}/file/folder': "
        "Not a directory; pass another folder: nbgraph lab FOLDER\n"
    )


def test_a_read_only_folder_is_one_sentence_and_stays_as_it_was(
    tmp_path, examples, capsys, monkeypatch
):
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert cli.main(["lab", str(folder)]) == 1
    assert capsys.readouterr().err == (
        f"nbgraph: The example notebooks cannot be written to '{folder}': "
        "Permission denied; pass another folder: nbgraph lab FOLDER\n"
    )
    assert list(folder.iterdir()) == []


def test_a_notebook_that_is_not_there_is_one_sentence(tmp_path):
    result = run("lab", "missing.ipynb", cwd=tmp_path)
    assert refusal(result) == (
        "nbgraph: There is no notebook 'missing.ipynb'; pass one, or a folder\n"
    )


def test_missing_examples_are_one_sentence(tmp_path, examples, capsys):
    shutil.rmtree(examples)
    assert cli.main(["lab", str(tmp_path / "folder")]) == 1
    assert capsys.readouterr().err == (
        "nbgraph: The example notebooks are missing from nbgraph; install it again\n"
    )


def test_a_server_that_ends_early_is_one_sentence_with_its_last_line(
    tmp_path, examples, capsys, monkeypatch
):
    failing = [sys.executable, "-c", "print('[C 12:00 ServerApp] Bad config\\n'); exit(3)"]
    monkeypatch.setattr(cli, "_command", lambda *_, **__: failing)
    assert cli.main(["lab", str(tmp_path / "folder")]) == 1
    assert capsys.readouterr().err == (
        "nbgraph: JupyterLab ended before it was ready: Bad config\n"
    )


@pytest.mark.parametrize(
    "words", [["lab", "--port", "0"], ["lab", "--port", "lab"], [], ["lab", "a", "b"]]
)
def test_wrong_usage_is_exit_code_2(words, capsys):
    with pytest.raises(SystemExit) as error:
        cli.main(words)
    assert error.value.code == 2
    assert "usage: nbgraph" in capsys.readouterr().err


def test_version_is_printed(capsys):
    with pytest.raises(SystemExit) as error:
        cli.main(["--version"])
    assert error.value.code == 0
    assert capsys.readouterr().out == f"nbgraph {importlib.metadata.version('nbgraph')}\n"


def test_the_examples_are_copied_and_the_first_is_opened(
    tmp_path, examples, shown, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["lab"]) == 0
    assert (
        capsys.readouterr().out == "JupyterLab: http://localhost:1/lab?token=t  (Ctrl+C ends it)\n"
    )
    folder = tmp_path / "nbgraph-notebooks"
    assert texts(folder) == texts(examples)
    assert f"--ServerApp.root_dir={folder}" in shown[0]
    assert "--LabApp.default_url=/lab/tree/01_first_graph.ipynb" in shown[0]


def test_a_notebook_that_was_changed_is_kept(tmp_path, examples, shown):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "01_first_graph.ipynb").write_text("mine")
    assert cli.main(["lab", str(folder)]) == 0
    assert texts(folder) == {
        "01_first_graph.ipynb": "mine",
        "02_more.ipynb": "original 02_more.ipynb",
    }


def test_a_notebook_of_ones_own_is_opened_where_it_is(tmp_path, examples, shown):
    notebook = tmp_path / "own" / "mine.ipynb"
    notebook.parent.mkdir()
    notebook.write_text(EMPTY_NOTEBOOK)
    assert cli.main(["lab", str(notebook), "--port", "1234"]) == 0
    assert list(notebook.parent.iterdir()) == [notebook]
    assert f"--ServerApp.root_dir={notebook.parent}" in shown[0]
    assert "--LabApp.default_url=/lab/tree/mine.ipynb" in shown[0]
    assert {"--ServerApp.port=1234", "--ServerApp.port_retries=0"} <= set(shown[0])


def get(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read().decode()


def run(*words, cwd):
    return subprocess.run([COMMAND, *words], cwd=cwd, capture_output=True, text=True, check=False)


def refusal(result):
    """Return the sentence of a refused command."""
    assert (result.returncode, result.stdout) == (1, "")
    return result.stderr


def refuse(*_):
    raise PermissionError(13, "Permission denied")


def texts(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}
