"""The style sheet of everything nbgraph shows: one model in a kernel, however many panels."""

from __future__ import annotations

from pathlib import Path

import anywidget

__all__ = ["Style", "ensure_style"]

_STATIC = Path(__file__).parent / "static"
_SHEETS = ("nbgraph", "form", "panel", "tool_card", "graph_view", "timeline", "inbox")
"""In this order: where two say something of one part, the later one counts."""


class Style(anywidget.AnyWidget):
    """A widget that brings the style sheet to the page; it is made, never shown."""

    _esm = "export default {}"
    _css = "\n".join((_STATIC / f"{name}.css").read_text(encoding="utf-8") for name in _SHEETS)


_made: list[Style] = []


def ensure_style() -> None:
    """Bring the style sheet to the page, unless it is there."""
    if _made and _made[-1].comm is not None:
        return
    _made[:] = [Style()]
