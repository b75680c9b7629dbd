"""Widgets with a module of our own: the page says hello, and is told what stands there."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anywidget

from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import no_layout
from nbgraph.notebook.style import ensure_style

__all__ = ["Greeted", "module"]

_STATIC = Path(__file__).parent / "static"


def module(*names: str) -> str:
    """Return an ES module made of these files, after the one that says hello."""
    return "\n".join((_STATIC / name).read_text(encoding="utf-8") for name in ("greet.js", *names))


class Greeted(anywidget.AnyWidget):
    """A widget whose page asks for what stands there, since what was said before it came is lost.

    Attributes
    ----------
    greeted : threading.Event
        Set when a page has shown the widget and its message came through.
    """

    _esm = module()
    layout = no_layout()

    def __init__(self, **traits: Any) -> None:
        ensure_style()
        super().__init__(**traits)
        self.greeted = threading.Event()
        self.on_msg(self._receive)
        serve_while_busy(self)

    def _receive(self, _widget: object, content: Mapping[str, Any], _buffers: object) -> None:
        if content.get("kind") == "hello":
            self.greeted.set()
            self._answer_hello()

    def _answer_hello(self) -> None:
        """Say what stands there, in a message that is `full`."""
