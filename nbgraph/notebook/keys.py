"""Keys, focus and names for screen readers: what stock widgets cannot do on the page."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from nbgraph.notebook.greeted import Greeted, module

__all__ = ["Keys"]


class Keys(Greeted):
    """What stock widgets cannot do: keys, focus, names for screen readers.

    It shows nothing and has to stand somewhere inside of the box with the class `nbgraph`. A panel
    needs one, and its `GraphView` is one.

    Parameters
    ----------
    shown : callable, optional
        Is called, in a thread of its own, when a page has shown the widget.
    """

    _esm = module("keys.js", "focus.js", "graph.js", "graph_view.js")
    _within: frozenset[str] = frozenset()

    def __init__(self, shown: Callable[[], object] | None = None, **traits: Any) -> None:
        self._shown_to = shown
        super().__init__(**traits)

    @property
    def has_focus(self) -> bool:
        """Whether the focus is in the box, in one of the pages that show it."""
        return bool(self._within)

    def say(self, text: str) -> None:
        """Have a screen reader say something."""
        self.send({"kind": "say", "text": text})

    def focus_on(self, css_class: str) -> None:
        """Move the focus into the first element of this class: to a field that is wrong, if any."""
        self.send({"kind": "focus", "to": css_class})

    def _receive(self, widget: object, content: Mapping[str, Any], buffers: object) -> None:
        super()._receive(widget, content, buffers)
        match content:
            case {"kind": "focus", "within": bool(within), "view": str(view)}:
                self._within = self._within | {view} if within else self._within - {view}
            case _:
                pass

    def _answer_hello(self) -> None:
        self.send({"kind": "status", "full": True})
        if self._shown_to is not None:
            threading.Thread(target=self._shown_to, name="nbgraph-shown", daemon=True).start()
