"""The marks of nodes on stock widgets."""

from __future__ import annotations

import ipywidgets

from nbgraph.drawing import WORDS
from nbgraph.notebook.parts import set_classes

__all__ = ["show_mark"]


def show_mark(widget: ipywidgets.DOMWidget, name: str, prefix: str = "") -> None:
    """Give a widget the class of one mark, and of no other."""
    set_classes(widget, {f"{prefix}{each}": each == name for each in WORDS})
