"""A graph in the browser: laid out once, then told what changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import anywidget
import traitlets

from nbgraph.core.driver import Shape
from nbgraph.drawing import (
    BADGES,
    BREAKPOINT,
    WORDS,
    Mark,
    address,
    cut,
    edge_marks,
    reveal,
    svg,
    with_ends,
)
from nbgraph.errors import DrawingError
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.style import ensure_style

__all__ = ["Breakpoint", "GraphView", "Keys"]

Breakpoint = Literal["before", "after", "before and after"]
"""Where a run pauses at a node."""

_STATIC = Path(__file__).parent / "static"
_SCRIPTS = ("keys.js", "graph_view.js")
_NodeState = tuple[str, str, str]
_IDLE: _NodeState = ("idle", "", "")
_LINE_LIMIT = 24


class Keys(anywidget.AnyWidget):
    """What stock widgets cannot do: keys, focus, names for screen readers.

    It shows nothing and has to stand somewhere inside of the box with the class `nbgraph`. A panel
    needs one, and its `GraphView` is one.

    Attributes
    ----------
    greeted : threading.Event
        Set when a page has shown the widget and its message came through.
    """

    _esm = "\n".join((_STATIC / name).read_text(encoding="utf-8") for name in _SCRIPTS)

    def __init__(self, **traits: Any) -> None:
        ensure_style()
        super().__init__(**traits)
        self.greeted = threading.Event()
        self.on_msg(self._receive)
        serve_while_busy(self)

    def say(self, text: str) -> None:
        """Have a screen reader say something."""
        self.send({"kind": "say", "text": text})

    def focus_on(self, css_class: str) -> None:
        """Move the focus into the first element of this class: to a field that is wrong, if any."""
        self.send({"kind": "focus", "to": css_class})

    def _receive(self, _widget: object, content: Mapping[str, Any], _buffers: object) -> None:
        if content.get("kind") == "hello":
            self.greeted.set()
            self._answer_hello()

    def _answer_hello(self) -> None:
        self.send({"kind": "status", "full": True})


class GraphView(Keys):
    """A graph's drawing, with marks, in the browser.

    A change costs one short message. The status as a whole travels only when a page asks.

    Parameters
    ----------
    shape : Shape
        What is drawn. If the layout fails, the reason stands in its place.
    """

    svg = traitlets.Unicode().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    marks = traitlets.Dict().tag(sync=True)
    breakpoint = traitlets.List().tag(sync=True)
    status = traitlets.Dict().tag(sync=True)

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._paths = {address(node.path): node.path for node in shape.nodes}
        self._nodes: dict[str, _NodeState] = {}
        self._edges: dict[str, str] = {}
        self._words = {"heading": "", "note": ""}
        self._one_word_at_a_time = threading.Lock()  # no older status goes out after a newer one
        self._selecting: list[Callable[[str], object]] = []
        self._breaking: list[Callable[[str], object]] = []
        drawn, label = _drawn(shape)
        super().__init__(svg=drawn, label=label, marks=_marks(), breakpoint=list(BREAKPOINT))
        self.add_class("nbgraph-graph")

    def show(
        self,
        marks: Mapping[str, Mark],
        lines: Mapping[str, str] = MappingProxyType({}),
        taken: Collection[tuple[str, str]] = (),
        *,
        breakpoints: Mapping[str, Breakpoint] = MappingProxyType({}),
        heading: str = "",
        note: str = "",
    ) -> None:
        """Show where the graph stands; what has not changed is not sent.

        Parameters
        ----------
        marks : Mapping of str to Mark
            By node path; a node without one is idle.
        lines : Mapping of str to str
            The text below a node's name, by node path.
        taken : Collection of (str, str)
            The edges that were taken, as (source, target).
        breakpoints : Mapping of str to Breakpoint
            By node path.
        heading, note : str
            What stands above the drawing, and in weaker ink beside it.
        """
        nodes = _states(with_ends(marks, taken), lines, breakpoints)
        found = edge_marks(self._shape, marks, taken)
        edges = {str(index): str(mark) for index, mark in found.items()}
        words = {"heading": reveal(heading), "note": reveal(note)}
        with self._one_word_at_a_time:
            change: dict[str, Any] = {
                "nodes": _difference(self._nodes, nodes, _IDLE),
                "edges": _difference(self._edges, edges, None),
                **{name: text for name, text in words.items() if text != self._words[name]},
            }
            self._nodes, self._edges, self._words = nodes, edges, words
            told = {name: value for name, value in change.items() if value != {}}
            if told:
                self.send({"kind": "status", **told})

    def on_select(self, callback: Callable[[str], object]) -> None:
        """Call back with a node's path when a person clicks it or presses Enter on it."""
        self._selecting.append(callback)

    def on_breakpoint(self, callback: Callable[[str], object]) -> None:
        """Call back with a node's path when a person presses B on it."""
        self._breaking.append(callback)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the widget's state for a page; the status is made when a page asks for it."""
        state = super().get_state(key, drop_defaults)
        return state | {"status": self._status()} if "status" in state else state

    def _status(self) -> dict[str, Any]:
        return {"nodes": self._nodes, "edges": self._edges, **self._words}

    def _receive(self, widget: object, content: Mapping[str, Any], buffers: object) -> None:
        super()._receive(widget, content, buffers)
        listeners = {"select": self._selecting, "breakpoint": self._breaking}
        path = self._paths.get(content.get("node", ""))
        if path is not None:
            for callback in listeners.get(content.get("kind", ""), ()):
                callback(path)

    def _answer_hello(self) -> None:
        with self._one_word_at_a_time:
            self.send({"kind": "status", "full": True, **self._status()})


def _drawn(shape: Shape) -> tuple[str, str]:
    try:
        return svg(shape), cut(reveal(shape.name), 200)
    except DrawingError as error:
        return "", f"No picture of the graph: {error}"


def _marks() -> dict[str, Any]:
    return {mark: {"word": word, "badge": list(BADGES[mark])} for mark, word in WORDS.items()}


def _states(
    marks: Mapping[str, Mark], lines: Mapping[str, str], breakpoints: Mapping[str, Breakpoint]
) -> dict[str, _NodeState]:
    """Return what each node shows, by its address; a node that shows nothing has no entry."""
    states = {
        address(path): (
            marks.get(path, "idle"),
            cut(reveal(lines.get(path, "")), _LINE_LIMIT),
            breakpoints.get(path, ""),
        )
        for path in {**marks, **lines, **breakpoints}
    }
    return {path: state for path, state in states.items() if state != _IDLE}


def _difference(old: Mapping[str, Any], now: Mapping[str, Any], gone: object) -> dict[str, Any]:
    changed = {key: value for key, value in now.items() if old.get(key) != value}
    return changed | dict.fromkeys(old.keys() - now.keys(), gone)
