"""Finding the parts of a form, as a person would see them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ipywidgets
from ipywidgets.widgets import widget as kept

from nbgraph.notebook.form import Form


def parts(widget: Any) -> Iterator[Any]:
    """Yield a widget and all in it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)


def visible(widget: Any) -> Iterator[Any]:
    """Yield a widget and all in it that is on the page."""
    names = getattr(widget, "_dom_classes", ())
    layout = getattr(widget, "layout", None)
    if "nbgraph-gone" in names or (layout is not None and layout.display == "none"):
        return
    yield widget
    for child in getattr(widget, "children", ()):
        yield from visible(child)


def named(form: Any, name: str) -> list[Any]:
    """Return the parts on the page that wear a class."""
    return [each for each in visible(form) if name in getattr(each, "_dom_classes", ())]


def inputs(form: Any, label: str) -> list[Any]:
    """Return the inputs on the page with a description, with or without its star."""
    found = [each for each in visible(form) if isinstance(each, ipywidgets.DOMWidget)]
    return [each for each in found if getattr(each, "description", "").rstrip(" *") == label]


def add(form: Form) -> None:
    """Press the first button that adds."""
    named(form, "nbgraph-add")[0].click()


def errors_shown(form: Form) -> list[str]:
    """Return the errors on the page."""
    return [label.value for label in named(form, "nbgraph-error")]


def words(form: Any) -> list[str]:
    """Return what can be read on the page."""
    return [each.value for each in visible(form) if isinstance(each, ipywidgets.Label)]


@contextmanager
def none_is_severed() -> Iterator[None]:
    """Hold that of what is made in here, the kernel keeps no widget with a closed part.

    With one of them, a page that is loaded again makes no widget of the notebook at all.
    """
    before = kept._instances
    kept._instances = made = {}
    try:
        yield
        for each in made.values():
            assert [part for part in getattr(each, "children", ()) if part.comm is None] == []
    finally:
        kept._instances = before
