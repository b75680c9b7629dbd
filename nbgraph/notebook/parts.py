"""Small stock widgets in nbgraph's dress; text from data goes through `text`, never as markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import ipywidgets
from ipywidgets.widgets.widget_button import ButtonStyle

from nbgraph.notebook.labels import label
from nbgraph.notebook.shared import shared, slim

__all__ = [
    "Whole",
    "button",
    "classed",
    "column",
    "grid",
    "key_class",
    "mark",
    "row",
    "set_class",
    "set_classes",
    "spacer",
    "text",
    "within",
]


def classed(widget: Any, *classes: str) -> Any:
    """Return the widget with CSS classes added."""
    for name in classes:
        widget.add_class(name)
    return widget


def set_class(widget: ipywidgets.DOMWidget, name: str, *, on: bool) -> None:
    """Add or take away one class; nothing is sent when it is so already."""
    set_classes(widget, {name: on})


def set_classes(widget: Any, wanted: Mapping[str, bool]) -> None:
    """Add and take away classes in one message; nothing is sent when it is so already."""
    there: tuple[str, ...] = tuple(widget._dom_classes)
    kept = [name for name in there if wanted.get(name, True)]
    added = [name for name, on in wanted.items() if on and name not in there]
    if added or len(kept) != len(there):
        widget._dom_classes = (*kept, *added)


def text(value: str, *classes: str) -> ipywidgets.Label:
    """Return a label that shows `value` as it is."""
    return label(value, *classes)


def mark(name: str) -> ipywidgets.Label:
    """Return the sign of a mark: its shape is drawn by the style."""
    classes = ("nbgraph-mark", name)
    return slim(ipywidgets.Label)("", _dom_classes=classes)


def spacer() -> ipywidgets.Label:
    """Return what pushes the rest of a row to its end."""
    return slim(ipywidgets.Label)("", _dom_classes=("nbgraph-push",))


def button(
    description: str,
    pressed: Callable[[], object],
    *classes: str,
    icon: str = "",
    tooltip: str = "",
) -> ipywidgets.Button:
    """Return a button that calls `pressed`; its text is ours, never data."""
    made = ipywidgets.Button(
        description=description,
        icon=icon,
        tooltip=tooltip,
        style=shared(ButtonStyle),
        _dom_classes=classes,
    )
    made.on_click(lambda _: pressed())
    return made


def row(children: Iterable[Any], *classes: str) -> ipywidgets.HBox:
    """Return children side by side."""
    return ipywidgets.HBox(tuple(children), _dom_classes=classes)


def column(children: Iterable[Any], *classes: str) -> ipywidgets.VBox:
    """Return children one below the other."""
    return ipywidgets.VBox(tuple(children), _dom_classes=classes)


def grid(children: Iterable[Any], *classes: str) -> ipywidgets.GridBox:
    """Return children in a grid; the class says how many columns."""
    return ipywidgets.GridBox(tuple(children), _dom_classes=classes)


def key_class(key: str) -> str:
    """Return the CSS class of a question's form or card."""
    return f"nbgraph-key-{re.sub('[^A-Za-z0-9]', '-', key)}"


def within(widget: Any) -> Iterator[ipywidgets.Widget]:
    """Yield all that stands in a widget."""
    for child in getattr(widget, "children", ()):
        yield child
        yield from within(child)


class Whole(ipywidgets.VBox):
    """A box that is closed with all its parts, which the kernel would keep otherwise."""

    def close(self) -> None:
        """Close it with all that stands in it."""
        inner = list(within(self))
        super().close()
        for part in inner:
            part.close()
