"""Layouts and styles that many controls share: a model each would double what a form sends."""

from __future__ import annotations

from typing import Any

import ipywidgets

__all__ = ["plain"]

_made: dict[type, Any] = {}


def plain(style: type[ipywidgets.Widget]) -> dict[str, Any]:
    """Return the layout and style of a control that changes neither, one for all such."""
    return {"layout": _one(ipywidgets.Layout), "style": _one(style)}


def _one(kind: type[ipywidgets.Widget]) -> Any:
    if kind not in _made or _made[kind].comm is None:
        _made[kind] = kind()
    return _made[kind]
