"""Layouts and styles that many controls share: a model each would double what a form sends."""

from __future__ import annotations

from typing import Any

import ipywidgets
from ipywidgets.widgets.widget_description import DescriptionStyle

__all__ = ["plain", "shared"]

_made: dict[type, Any] = {}


def plain(style: type[ipywidgets.Widget] = DescriptionStyle) -> dict[str, Any]:
    """Return the layout and style of a control that changes neither, one for all such."""
    return {"layout": shared(ipywidgets.Layout), "style": shared(style)}


def shared(kind: type[ipywidgets.Widget]) -> Any:
    """Return the one layout or style of a kind; nobody may change it."""
    if kind not in _made or _made[kind].comm is None:
        _made[kind] = kind()
    return _made[kind]
