"""Where what needs Jupyter hangs in: a session writes a notebook and imports nothing for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["set_writer", "written"]

Writer = Callable[[Any, Path], None]
_writers: list[Writer] = []


def set_writer(writer: Writer) -> None:
    """Say what writes a session to a file as a notebook."""
    _writers[:] = [writer]


def written(session: Any, path: Path) -> None:
    """Write a session to a file as a notebook."""
    _writers[0](session, path)
