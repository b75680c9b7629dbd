"""A state beside another one: as a difference by path, or as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import ipywidgets

from nbgraph.moments import Change
from nbgraph.notebook.labels import visible
from nbgraph.notebook.parts import button, column, row, text
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.value_view import ValueView, brief, own_view

__all__ = ["SIGNS", "Tree", "counted", "difference_rows", "field_of"]

_CLASSES = {"+": "add", "-": "rem", "~": "chg"}
SIGNS = {"+": "+", "-": "−", "~": "~"}
"""How a difference's sign is shown."""
_MOST = 200
"""How many rows are shown at a time."""


def counted(changes: Sequence[Change], same: int) -> str:
    """Return how much differs: `2 added, 2 changed, 9 the same`."""
    signs = [change.difference.sign for change in changes]
    names = {"+": "added", "~": "changed", "-": "removed"}
    found = [f"{signs.count(sign)} {name}" for sign, name in names.items() if sign in signs]
    return ", ".join([*(found or ["nothing changed"]), f"{same} the same"])


def difference_rows(
    changes: Sequence[Change], before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[ipywidgets.Widget]:
    """Return a row for each path that differs.

    `before` and `after` are the states as Python values: frames and pictures show themselves.
    """
    rows: list[ipywidgets.Widget] = []
    for change in changes[:_MOST]:
        item = change.difference
        value = column([*_value(change, before, after)], "nbgraph-change")
        cells = [
            text(SIGNS[item.sign], "sign"),
            text(item.path or "/", "nbgraph-mono"),
            value,
            text(change.words, "nbgraph-2nd", "nbgraph-small"),
        ]
        rows.append(row(cells, _CLASSES[item.sign]))
    if len(changes) > _MOST:
        rows.append(row([text(""), text(f"{len(changes) - _MOST:,} more paths differ")]))
    return rows or [row([text(""), text("Nothing differs.", "nbgraph-2nd")])]


def _value(
    change: Change, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[ipywidgets.Widget]:
    item = change.difference
    own = own_view((before if item.sign == "-" else after).get(field_of(item.path)))
    if own is not None:
        yield own
        return
    grown = _grown(item.first, item.second)
    if item.sign == "~" and grown:
        yield text(f"{len(grown)} added at the end ({len(item.first)} → {len(item.second)})")
        yield from (ValueView(each, "nbgraph-ins") for each in grown[:10])
        return
    sides: list[ipywidgets.Widget] = []
    if item.sign != "+":
        sides.append(ValueView(item.first, "nbgraph-del"))
    if item.sign == "~":
        sides.append(text("→"))
    if item.sign != "-":
        sides.append(ValueView(item.second, *(["nbgraph-ins"] if item.sign == "~" else [])))
    yield row(sides, "nbgraph-sides")


def field_of(path: str) -> str:
    """Return the name of the field that is itself at a path, as one of a frame or picture is."""
    return path.removeprefix("/").replace("~1", "/").replace("~0", "~")


def _grown(first: Any, second: Any) -> list[Any]:
    """Return what a list has got at its end; nothing if it differs elsewhere."""
    if isinstance(first, list) and isinstance(second, list) and len(first) < len(second):
        return second[len(first) :] if second[: len(first)] == first else []
    return []


Kind = Literal["object", "list"]


class Tree(ipywidgets.VBox):
    """A JSON value as a tree: objects and lists open when they are pressed.

    Parameters
    ----------
    value : dict or list
        What is shown.
    own : mapping, optional
        Python values by name, for those of the first level that show themselves.
    """

    def __init__(self, value: Any, own: Mapping[str, Any] | None = None) -> None:
        named = value.items() if isinstance(value, Mapping) else enumerate(value)
        pairs = [(str(name), each) for name, each in named]
        shown = [_node(name, each, (own or {}).get(name)) for name, each in pairs[:_MOST]]
        if len(pairs) > _MOST:
            shown.append(text(f"{len(pairs) - _MOST:,} more", "nbgraph-2nd"))
        super().__init__(shown or [text("empty", "nbgraph-2nd")])
        self.add_class("nbgraph-tree")


def _node(name: str, value: Any, own: Any) -> ipywidgets.Widget:
    view = own_view(own)
    if view is not None:
        return column([text(name, "nbgraph-mono"), view], "nbgraph-leaf")
    if isinstance(value, dict | list) and value:
        return _Fold(name, value)
    return row([text(name, "nbgraph-mono", "nbgraph-2nd"), ValueView(value)], "nbgraph-leaf")


class _Fold(ipywidgets.VBox):
    """An object or list that opens."""

    def __init__(self, name: str, value: Any) -> None:
        self._name, self._value = name, value
        self._tree: Tree | None = None
        self._link = button("", self._toggle, "link", "nbgraph-fold")
        super().__init__([self._link])
        self._show()

    def _toggle(self) -> None:
        self._tree = Tree(self._value) if self._tree is None else None
        self._show()

    def _show(self) -> None:
        count = f"{len(self._value):,} in it" if len(self._value) > 3 else ""
        closed = f"{brief(self._value, 70)}  {count}"
        sign, rest = ("▾", "") if self._tree else ("▸", closed)
        self._link.description = visible(f"{sign} {self._name}  {rest}").strip()
        self.children = (self._link, *([self._tree] if self._tree else []))
        serve_while_busy(self)
