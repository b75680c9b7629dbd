"""DOT to places, by the Graphviz libraries at hand.

The libraries in pygraphviz's wheel hold the interpreter lock, so only small graphs are laid out in
this process; larger ones in a child, with a time limit. Without the wheel, `dot` on the PATH does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from nbgraph.drawing.child import laid_out
from nbgraph.errors import DrawingError

__all__ = ["TIME_LIMIT", "lay_out"]

TIME_LIMIT = 5.0
"""Seconds that a layout outside of this process may take."""

_CHILD = Path(__file__).with_name("child.py")
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)
_FONT_WARNING = b"Fontconfig "
_graphviz_lock = threading.Lock()
_fonts_loaded = threading.Event()


def lay_out(source: str, *, small: bool) -> str:
    """Return the `json0` that Graphviz makes of a DOT source.

    Raises
    ------
    DrawingError
        If no Graphviz is at hand, or it fails, or takes too long.
    """
    found = find_spec("pygraphviz")
    if found is None:
        return _run([_dot_command(), "-Tjson0"], source)
    if small:
        return _in_process(source)
    (folder,) = found.submodule_search_locations or ("",)
    return _run([sys.executable, "-I", "-S", str(_CHILD), folder], source)


def _dot_command() -> str:
    command = shutil.which("dot")
    if command is None:
        raise DrawingError(
            "No Graphviz found: install pygraphviz from a wheel, or put Graphviz's dot on the PATH"
        )
    return command


def _in_process(source: str) -> str:
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="nbgraph-draw") as pool:
        return pool.submit(_one_at_a_time, source).result()


def _one_at_a_time(source: str) -> str:
    with _graphviz_lock:
        if _fonts_loaded.is_set():
            return _laid_out(source)
        with _without_font_warnings():
            places = _laid_out(source)
        _fonts_loaded.set()
        return places


def _laid_out(source: str) -> str:
    try:
        from pygraphviz import graphviz  # loaded when first needed

        with tempfile.TemporaryFile() as file:
            file.write(source.encode())
            file.seek(0)
            return laid_out(graphviz, file).decode()
    except (ImportError, ValueError, OSError) as error:
        raise DrawingError(f"Graphviz could not draw the graph: {error}") from error


@contextmanager
def _without_font_warnings() -> Generator[None]:
    """Hold back what C code writes to stderr; pass on all but fontconfig's lines.

    Fontconfig complains about the machine's configuration when it is first read, and has no switch.
    """
    try:
        stderr = os.dup(2)
    except OSError:  # no stderr, as in a windowed process
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            held.seek(0)
            os.write(2, b"".join(line for line in held if not line.startswith(_FONT_WARNING)))


def _run(command: Sequence[str], source: str) -> str:
    try:
        done = subprocess.run(
            command,
            input=source.encode(),
            capture_output=True,
            timeout=TIME_LIMIT,
            check=False,
            creationflags=_NO_WINDOW,
        )
    except subprocess.TimeoutExpired as error:
        raise DrawingError(f"The layout took longer than {TIME_LIMIT:g} s") from error
    except OSError as error:
        raise DrawingError(f"Graphviz could not be started: {error}") from error
    if done.returncode != 0 or not done.stdout:
        raise DrawingError(f"Graphviz could not draw the graph: {_reason(done)}")
    return done.stdout.decode()


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.strip().splitlines()
    told = [line for line in lines if not line.startswith(_FONT_WARNING)]
    return told[-1].decode(errors="replace") if told else f"it ended with {done.returncode}"
