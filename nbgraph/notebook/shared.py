"""Stock widgets without a layout and a style of their own: each would be two more views on a page.

A form has hundreds of controls. Where a control needs a style only, those of a kind share one.
"""

from __future__ import annotations

import functools
from typing import Any

from ipywidgets import Layout, Widget, widget_serialization
from ipywidgets.widgets.trait_types import InstanceDict

__all__ = ["no_layout", "shared", "slim"]

_made: dict[type, Any] = {}


def no_layout() -> Any:
    """Return the trait of a widget's layout, for a kind of widget that has none: None."""
    return InstanceDict(Layout, allow_none=True).tag(sync=True, **widget_serialization)


@functools.cache
def slim(kind: type[Widget]) -> Any:
    """Return a kind of stock widget whose instances have neither layout nor style: both are None.

    What is not to be seen wears a class, and so does whatever looks different.
    """
    none = {
        name: InstanceDict(Layout, allow_none=True).tag(sync=True, **widget_serialization)
        for name in ("layout", "style")
        if kind.class_traits().get(name) is not None
    }
    return type(kind.__name__, (kind,), {"__module__": __name__, "__doc__": kind.__doc__, **none})


def shared(kind: type[Widget]) -> Any:
    """Return the one style of a kind; nobody may change it."""
    if kind not in _made or _made[kind].comm is None:
        _made[kind] = kind()
    return _made[kind]
