"""Small widgets without layout and style: what is not to be seen wears a class."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import ipywidgets

from nbgraph.notebook.labels import NO_MATH, visible
from nbgraph.notebook.parts import set_class
from nbgraph.notebook.shared import no_layout, slim

__all__ = [
    "Column",
    "Row",
    "button",
    "column",
    "grid",
    "is_hidden",
    "menu",
    "row",
    "said",
    "set_hidden",
    "tabs",
    "tick",
]

_HIDDEN = "nbgraph-gone"


class _Part(ipywidgets.Box):
    layout = no_layout()

    def __init__(self, children: Iterable[Any] = (), *classes: str, hidden: bool = False) -> None:
        names = (*classes, *((_HIDDEN,) if hidden else ()))
        super().__init__(tuple(children), _dom_classes=names)


class Column(_Part, ipywidgets.VBox):
    """A part of a panel: a column that has no layout, made with its classes in one message."""


class Row(_Part, ipywidgets.HBox):
    """A part of a panel: a row that has no layout, made with its classes in one message."""


def set_hidden(widget: Any, *, hidden: bool) -> None:
    """Take a widget from sight, or show it again."""
    set_class(widget, _HIDDEN, on=hidden)


def is_hidden(widget: Any) -> bool:
    """Return whether a widget was taken from sight."""
    return _HIDDEN in widget._dom_classes


def said(text: str, *classes: str, hidden: bool = False) -> ipywidgets.Label:
    """Return a label that shows `text` as it is."""
    names = (NO_MATH, *classes, *((_HIDDEN,) if hidden else ()))
    return slim(ipywidgets.Label)(visible(text), _dom_classes=names)


def tabs(names: Iterable[str], chosen: str, *classes: str) -> Any:
    """Return radio buttons in the dress of tabs; the names are ready for a page."""
    dress = ("nbgraph-choice", "nbgraph-tabs", *classes)
    return slim(ipywidgets.RadioButtons)(options=tuple(names), value=chosen, _dom_classes=dress)


def menu(*classes: str, **traits: Any) -> Any:
    """Return a list to choose from."""
    return slim(ipywidgets.Dropdown)(**traits, _dom_classes=("nbgraph-branch", *classes))


def button(
    text: str,
    press: Callable[[], object],
    *classes: str,
    icon: str = "",
    tooltip: str = "",
    hidden: bool = False,
) -> Any:
    """Return a button that calls `press`; its text is plain on the page, whatever is in it."""
    names = (*classes, *((_HIDDEN,) if hidden else ()))
    made: Any = slim(ipywidgets.Button)(
        description=visible(text), icon=icon, tooltip=tooltip, _dom_classes=names
    )
    made.on_click(lambda _: press())
    return made


def tick(text: str, *classes: str) -> Any:
    """Return a tick that is not set; `text` is ready for a description."""
    return slim(ipywidgets.Checkbox)(
        value=False, description=text, indent=False, _dom_classes=classes
    )


def row(children: Iterable[Any], *classes: str) -> Any:
    """Return children side by side."""
    return _box(ipywidgets.HBox, children, classes)


def column(children: Iterable[Any], *classes: str) -> Any:
    """Return children one below the other."""
    return _box(ipywidgets.VBox, children, classes)


def grid(children: Iterable[Any], *classes: str) -> Any:
    """Return children in a grid; the class says how many columns."""
    return _box(ipywidgets.GridBox, children, classes)


def _box(kind: Any, children: Iterable[Any], classes: tuple[str, ...]) -> Any:
    return slim(kind)(tuple(children), _dom_classes=classes)
