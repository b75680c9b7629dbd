"""A graph in the browser: laid out once, then told what changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from contextvars import copy_context
from types import MappingProxyType
from typing import Any, Literal

import traitlets

from nbgraph.core.driver import Shape
from nbgraph.drawing import (
    BADGES,
    BREAKPOINT,
    UNLIKE,
    WORDS,
    Mark,
    address,
    cut,
    edge_marks,
    folded,
    is_small,
    reveal,
    subgraphs,
    svg,
    with_ends,
)
from nbgraph.drawing.dot import END, START
from nbgraph.errors import DrawingError
from nbgraph.notebook.keys import Keys

__all__ = ["Breakpoint", "GraphView", "Side"]

Breakpoint = Literal["before", "after", "before and after", "differs"]
"""Where a run pauses at a node; in a comparison, that it is not the same on the other side."""

Side = Literal["before", "after"]

_NodeState = tuple[str, str, str]
_IDLE: _NodeState = ("idle", "", "")
_Shown = tuple[
    Mapping[str, Mark],
    Mapping[str, str],
    Collection[tuple[str, str]],
    Mapping[str, Breakpoint],
    dict[str, str],
]
_LINE_LIMIT = 40


class GraphView(Keys):
    """A graph's drawing, with marks, in the browser.

    A change costs one short message. The status as a whole travels only when a page asks. A small
    graph is laid out at once; a larger one in the background, and one that cannot be laid out is a
    list of its nodes.

    Parameters
    ----------
    shape : Shape
        What is drawn.

    Attributes
    ----------
    drawn : threading.Event
        Set when the layout is there, or has failed.
    """

    svg = traitlets.Unicode().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    listed = traitlets.List().tag(sync=True)
    folds = traitlets.Dict().tag(sync=True)
    marks = traitlets.Dict().tag(sync=True)
    breakpoint = traitlets.List().tag(sync=True)
    unlike = traitlets.List().tag(sync=True)
    status = traitlets.Dict().tag(sync=True)

    def __init__(self, shape: Shape) -> None:
        self._shape = self._seen = shape
        self._closed = frozenset[str]() if is_small(shape) else frozenset(subgraphs(shape))
        self._paths = {address(node.path): node.path for node in shape.nodes}
        self._shown: _Shown = ({}, {}, (), {}, {"heading": "", "note": ""})
        self._nodes: dict[str, _NodeState] = {}
        self._edges: dict[str, str] = {}
        self._words = {"heading": "", "note": ""}
        self._one_word_at_a_time = threading.RLock()  # no older status goes out after a newer one
        self._heard: dict[str, list[Callable[..., object]]] = {}
        self.drawn = threading.Event()
        super().__init__(marks=_marks(), breakpoint=list(BREAKPOINT), unlike=list(UNLIKE))
        self.add_class("nbgraph-graph")
        self._lay_out()

    # --- the layout --------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """Lay out what is unfolded, here if that is quick, else in a thread."""
        seen = folded(self._shape, self._closed)
        self.drawn.clear()
        if is_small(seen):
            self._draw(seen)
            return
        if not self.svg:
            self.label = f"Drawing {len(seen.nodes)} nodes …"
        context = copy_context()
        target, name = context.run, "nbgraph-layout"
        threading.Thread(target=target, args=(self._draw, seen), name=name, daemon=True).start()

    def _draw(self, seen: Shape) -> None:
        try:
            drawn, label, listed = svg(seen), cut(reveal(self._shape.name), 200), []
        except DrawingError as error:
            drawn, label = "", f"No picture of the graph: {error}"
            listed = [[address(each.path), cut(reveal(each.label))] for each in seen.nodes]
        with self._one_word_at_a_time:
            if seen != folded(self._shape, self._closed):  # folded otherwise meanwhile
                return
            self._seen = seen
            folds = {address(path): path in self._closed for path in self._foldable(seen)}
            with self.hold_sync():
                self.label, self.listed, self.folds, self.svg = label, listed, folds, drawn
            self._nodes, self._edges = self._states()
            if self.greeted.is_set():  # a page that comes later asks
                self._answer_hello()
        self.drawn.set()

    def _foldable(self, seen: Shape) -> list[str]:
        there = {node.path for node in seen.nodes}
        return [path for path in subgraphs(self._shape) if path in there]

    @property
    def folded(self) -> frozenset[str]:
        """The paths of the sub-graphs that are folded to their node."""
        return self._closed

    def fold(self, *paths: str) -> None:
        """Fold these sub-graphs, and unfold those that are folded."""
        known = set(subgraphs(self._shape))
        self._closed = self._closed.symmetric_difference(known.intersection(paths))
        self._lay_out()

    # --- the status --------------------------------------------------------------------------

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
        words = {"heading": reveal(heading), "note": reveal(note)}
        with self._one_word_at_a_time:
            self._shown = (marks, lines, taken, breakpoints, words)
            nodes, edges = self._states()
            change: dict[str, Any] = {
                "nodes": _difference(self._nodes, nodes, _IDLE),
                "edges": _difference(self._edges, edges, None),
                **{name: text for name, text in words.items() if text != self._words[name]},
            }
            self._nodes, self._edges, self._words = nodes, edges, words
            told = {name: value for name, value in change.items() if value != {}}
            if told:
                self.send({"kind": "status", **told})

    def _states(self) -> tuple[dict[str, _NodeState], dict[str, str]]:
        """Return what the nodes and edges of the drawing show."""
        marks, lines, taken, breakpoints, _ = self._shown
        seen = {node.path for node in self._seen.nodes} | {START, END}
        nodes = _states(with_ends(marks, taken), lines, breakpoints, seen)
        edges = edge_marks(self._seen, marks, taken)
        return nodes, {str(index): str(mark) for index, mark in edges.items()}

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the widget's state for a page; the status is made when a page asks for it."""
        state = super().get_state(key, drop_defaults)
        return state | {"status": self._status()} if "status" in state else state

    def _status(self) -> dict[str, Any]:
        return {"nodes": self._nodes, "edges": self._edges, **self._words}

    # --- what a person does ------------------------------------------------------------------

    def on_select(self, callback: Callable[[str], object]) -> None:
        """Call back with a node's path when a person clicks it or presses Enter on it."""
        self._heard.setdefault("select", []).append(callback)

    def on_open(self, callback: Callable[[str], object]) -> None:
        """Call back with the path of a waiting node when a person clicks its badge."""
        self._heard.setdefault("open", []).append(callback)

    def on_breakpoint(self, callback: Callable[[str, Side], object]) -> None:
        """Call back with a node's path and a side of it when a person wants to pause there.

        That is a click on its upper or lower edge, or B and Shift+B.
        """
        self._heard.setdefault("breakpoint", []).append(callback)

    def _receive(self, widget: object, content: Mapping[str, Any], buffers: object) -> None:
        if content.get("lacks"):
            self.send_state(("svg", "label", "listed", "folds"))
        super()._receive(widget, content, buffers)
        path = self._paths.get(content.get("node", ""))
        if path is None:
            return
        match content.get("kind"), content.get("side"):
            case "fold", _:
                self.fold(path)
            case "breakpoint", "before" | "after" as side:
                self._call("breakpoint", path, side)
            case "select" | "open" as kind, _:
                self._call(kind, path)
            case _:
                pass

    def _call(self, kind: str, *told: str) -> None:
        for callback in tuple(self._heard.get(kind, ())):
            callback(*told)

    def _answer_hello(self) -> None:
        with self._one_word_at_a_time:
            drawn = len(self.svg.encode("utf-16-le")) // 2  # as a page counts
            self.send({"kind": "status", "full": True, "drawn": drawn, **self._status()})


def _marks() -> dict[str, Any]:
    return {mark: {"word": word, "badge": list(BADGES[mark])} for mark, word in WORDS.items()}


def _states(
    marks: Mapping[str, Mark],
    lines: Mapping[str, str],
    breakpoints: Mapping[str, Breakpoint],
    seen: Collection[str],
) -> dict[str, _NodeState]:
    """Return what each node shows, by its address; a node that shows nothing has no entry."""
    states = {
        address(path): (
            marks.get(path, "idle"),
            cut(reveal(lines.get(path, "")), _LINE_LIMIT),
            breakpoints.get(path, ""),
        )
        for path in {**marks, **lines, **breakpoints}
        if path in seen
    }
    return {path: state for path, state in states.items() if state != _IDLE}


def _difference(old: Mapping[str, Any], now: Mapping[str, Any], gone: object) -> dict[str, Any]:
    changed = {key: value for key, value in now.items() if old.get(key) != value}
    return changed | dict.fromkeys(old.keys() - now.keys(), gone)
