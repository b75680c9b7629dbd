"""A value of a state for reading: short, unfolded on request, frames and pictures as themselves."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import ipywidgets

from nbgraph.notebook.labels import label, set_text
from nbgraph.notebook.parts import button, classed, column, row
from nbgraph.notebook.routing import serve_while_busy

__all__ = ["ValueView", "brief", "own_view"]

_BRIEF, _FULL = 110, 20_000
_ROWS, _COLUMNS = 12, 10
_SIDE = 320


def brief(value: Any, limit: int = _BRIEF) -> str:
    """Return a JSON value in one line, its beginning if it is long."""
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= limit else f"{shown[:limit]}…"


class ValueView(ipywidgets.VBox):
    """A JSON value: in one line, and all of it after a press of show."""

    def __init__(self, value: Any, *classes: str) -> None:
        super().__init__()
        shown = json.dumps(value, ensure_ascii=False)
        self._value = value
        self._text = label(brief(value), "nbgraph-mono", *classes)
        self._is_open = False
        parts: list[ipywidgets.Widget] = [self._text]
        if len(shown) > _BRIEF:
            self._link = button("show", self._toggle, "link", "nbgraph-small")
            parts.append(self._link)
        self.children = (row(parts, "nbgraph-folded"),)

    def _toggle(self) -> None:
        self._is_open = not self._is_open
        shown = json.dumps(self._value, indent=1, ensure_ascii=False)
        if len(shown) > _FULL:
            shown = f"{shown[:_FULL]}\n… {len(shown) - _FULL:,} more characters"
        set_text(self._text, shown if self._is_open else brief(self._value))
        self._link.description = "fold" if self._is_open else "show"


def own_view(value: Any) -> ipywidgets.Widget | None:
    """Return how a frame or a picture shows itself; None for any other value."""
    pandas, pillow = sys.modules.get("pandas"), sys.modules.get("PIL.Image")
    if pandas is not None and isinstance(value, pandas.DataFrame | pandas.Series):
        return _frame(value.to_frame() if isinstance(value, pandas.Series) else value)
    if pillow is not None and isinstance(value, pillow.Image):
        return _picture(value)
    return None


def _frame(value: Any) -> ipywidgets.Widget:
    """Return a frame as its own table; pandas escapes what stands in it."""
    rows, columns = value.shape
    table = value.to_html(max_rows=_ROWS, max_cols=_COLUMNS, escape=True)
    plain = value.to_string(max_rows=_ROWS, max_cols=_COLUMNS)
    data = {"text/html": f'<div class="mathjax_ignore">{table}</div>', "text/plain": plain}
    shown = ipywidgets.Output()
    shown.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)
    count = label(f"{rows:,} rows, {columns:,} columns", "nbgraph-2nd", "nbgraph-small")
    return _told(column([shown, count], "nbgraph-own"))


def _picture(value: Any) -> ipywidgets.Widget:
    width, height = value.size
    small = value.copy()
    small.thumbnail((_SIDE, _SIDE))
    file = io.BytesIO()
    (small if small.mode in ("RGB", "RGBA", "L") else small.convert("RGBA")).save(file, "PNG")
    shown = ipywidgets.Image(value=file.getvalue(), format="png")
    shown.layout.max_width = f"{_SIDE}px"
    count = label(f"{value.mode}, {width} × {height} pixels", "nbgraph-2nd", "nbgraph-small")
    return _told(column([shown, count], "nbgraph-own"))


def _told(widget: Any) -> ipywidgets.Widget:
    serve_while_busy(widget)
    return classed(widget)
