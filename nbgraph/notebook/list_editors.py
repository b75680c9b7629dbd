"""Editors of lists, tuples and maps: rows that are added, moved and taken away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.json_values import pointer
from nbgraph.forms import (
    ChoiceField,
    Field,
    Items,
    LaterField,
    ListField,
    MapField,
    ObjectField,
    Pairs,
    Raw,
    TupleField,
    UnionField,
    added,
)
from nbgraph.notebook.editor import Editor, GroupEditor, Making, button
from nbgraph.notebook.labels import label, set_text
from nbgraph.notebook.routing import serve_while_busy

__all__ = ["ListEditor", "MapEditor", "TupleEditor"]

_WIDE = (ObjectField, UnionField, ListField, TupleField, MapField, LaterField)


class _Row:
    """One entry of a list or map: its editor, a number or key before it, buttons after it."""

    def __init__(self, editor: Editor, before: list[Any], buttons: list[Any]) -> None:
        self.editor = editor
        self.before = before
        self.buttons = buttons
        self.box = ipywidgets.HBox((*before, editor.box, *buttons)).add_class("nbgraph-item")
        editor.bare()
        if isinstance(editor, GroupEditor):
            self.box.add_class("nbgraph-tall")
        serve_while_busy(self.box)

    def close(self) -> None:
        """Close all its widgets, which the kernel would keep otherwise."""
        self.box.close()
        for widget in _within(self.box):
            widget.close()


def _within(widget: Any) -> Iterator[Any]:
    for child in getattr(widget, "children", ()):
        yield child
        yield from _within(child)


class _RowsEditor(GroupEditor):
    """Rows of one kind, and the buttons below them."""

    def __init__(self, field: ListField | MapField, making: Making, add: str) -> None:
        self._rows: list[_Row] = []
        self._is_there = False
        self._max = field.max_items
        self._min = field.min_items
        super().__init__(field, making)
        self._list = ipywidgets.VBox().add_class("nbgraph-rows")
        self._add = button(add, self._added, "nbgraph-add", icon="plus")
        empty = button("Leave empty", self._emptied, "quiet", "nbgraph-empty")
        self._empty = empty if field.required and not field.min_items else None
        more = () if self._empty is None else (self._empty,)
        foot = ipywidgets.HBox((self._add, *more)).add_class("nbgraph-row")
        self._fill_box(self._list, foot)
        item = field.item if isinstance(field, ListField) else field.value
        if isinstance(item, _WIDE):
            self.box.add_class("nbgraph-wide")

    # --- rows ---

    def _row(self, raw: Raw) -> _Row:
        raise NotImplementedError

    def _replace(self, rows: list[_Row]) -> None:
        gone = [row for row in self._rows if row not in rows]
        self._rows = rows
        self._list.children = tuple(row.box for row in rows)
        for row in gone:
            row.close()
        self._mark_rows()

    def _mark_rows(self) -> None:
        many = len(self._rows)
        bound = f" of {self._min} to {self._max}" if self._max is not None else ""
        set_text(self._count, f"{many}{bound}" if many or bound else "")
        _hold(self._add, held=self._max is not None and many >= self._max)
        if self._empty is not None:
            self._empty.layout.display = "none" if self._is_there else None

    def _added(self) -> None:
        if self._max is not None and len(self._rows) >= self._max:
            return
        row = self._row(self._new())
        self._is_there = True
        self._replace([*self._rows, row])
        self._rows_changed()
        self._making.focus(row.editor)

    def _new(self) -> Raw:
        raise NotImplementedError

    def _emptied(self) -> None:
        self._is_there = True
        self._replace([])
        self._rows_changed()

    def _remove(self, row: _Row) -> None:
        self._replace([each for each in self._rows if each is not row])
        self._rows_changed()

    def _move(self, row: _Row, by: int) -> None:
        rows = list(self._rows)
        at = rows.index(row)
        if 0 <= at + by < len(rows):
            rows[at], rows[at + by] = rows[at + by], rows[at]
            self._replace(rows)
            self._rows_changed()

    def _rows_changed(self) -> None:
        self._touched()
        self._making.changed(self)

    def _inner_changed(self, editor: Editor) -> None:
        self._is_there = True
        super()._inner_changed(editor)

    def _moving(self, row: list[_Row], kind: str, icon: str, tooltip: str) -> Any:
        """Return a button that acts on the row that is put into `row`."""
        acts = {
            "nbgraph-up": lambda: self._move(row[0], -1),
            "nbgraph-down": lambda: self._move(row[0], 1),
            "nbgraph-remove": lambda: self._remove(row[0]),
        }
        return button("", acts[kind], "only", kind, icon=icon, tooltip=tooltip)

    def lock(self, *, locked: bool) -> None:
        """Let nobody add, move or take away."""
        super().lock(locked=locked)
        buttons = [each for row in self._rows for each in (*row.before, *row.buttons)]
        others = [] if self._empty is None else [self._empty]
        for each in (self._add, *others, *buttons):
            if hasattr(each, "disabled"):
                each.disabled = locked


class ListEditor(_RowsEditor):
    """Any number of values of one kind."""

    def __init__(self, field: ListField, making: Making) -> None:
        self._item = field.item
        super().__init__(field, making, "Add one")

    def parts(self) -> Iterator[tuple[str, Editor]]:
        """Yield the editors of its entries."""
        for index, row in enumerate(self._rows):
            yield f"/{index}", row.editor

    def _inner_raw(self) -> Raw:
        return Items(tuple(row.editor.raw for row in self._rows)) if self._is_there else UNSET

    def _show_inner(self, raw: Raw) -> None:
        self._is_there = isinstance(raw, Items)
        self._replace([self._row(each) for each in raw.raws] if isinstance(raw, Items) else [])

    def _new(self) -> Raw:
        return added(self._item)

    def _row(self, raw: Raw) -> _Row:
        editor = self._making.edit(self._item, self._making.inside("/*", self._inner_changed))
        holder: list[_Row] = []
        row = _Row(
            editor,
            [label("", "no")],
            [
                self._moving(holder, "nbgraph-up", "arrow-up", "Move up"),
                self._moving(holder, "nbgraph-down", "arrow-down", "Move down"),
                self._moving(holder, "nbgraph-remove", "times", "Remove"),
            ],
        )
        holder.append(row)
        editor.show(raw)
        return row

    def _mark_rows(self) -> None:
        super()._mark_rows()
        last = len(self._rows) - 1
        for index, row in enumerate(self._rows):
            set_text(row.before[0], str(index + 1))
            up, down, remove = row.buttons
            _hold(up, held=index == 0)
            _hold(down, held=index == last)
            for each, what in ((up, "up"), (down, "down")):
                each.tooltip = f"Move {index + 1} {what}"
            remove.tooltip = f"Remove {index + 1}"


class MapEditor(_RowsEditor):
    """Values under keys that the person names."""

    def __init__(self, field: MapField, making: Making) -> None:
        self._map = field
        super().__init__(field, making, "Add a key")

    def parts(self) -> Iterator[tuple[str, Editor]]:
        """Yield the editors of its values; one whose key is not named has the empty key."""
        for row in self._rows:
            key = self._key_of(row)
            yield pointer(["" if isinstance(key, Unset) else key]), row.editor

    def _inner_raw(self) -> Raw:
        if not self._is_there:
            return UNSET
        return Pairs(tuple((self._key_of(row), row.editor.raw) for row in self._rows))

    def _show_inner(self, raw: Raw) -> None:
        self._is_there = isinstance(raw, Pairs)
        rows = raw.rows if isinstance(raw, Pairs) else ()
        self._replace([self._row(value, key) for key, value in rows])

    def _new(self) -> Raw:
        return added(self._map.value)

    def _row(self, raw: Raw, key: str | Unset = UNSET) -> _Row:
        below = self._making.inside("/*", self._inner_changed)
        editor = self._making.edit(self._map.value, below)
        holder: list[_Row] = []
        control = _KeyControl(self._map.key, key, lambda: self._key_changed(holder[0]))
        remove = self._moving(holder, "nbgraph-remove", "times", "Remove")
        row = _Row(editor, [control.widget], [remove])
        row.before.append(control)
        holder.append(row)
        editor.show(raw)
        return row

    def _key_of(self, row: _Row) -> str | Unset:
        return row.before[1].key

    def _key_changed(self, row: _Row) -> None:
        self._inner_changed(row.editor)


class _KeyControl:
    """The input of a key: typed, or one of a few names."""

    def __init__(self, field: Field, key: str | Unset, changed: Any) -> None:
        self.key = key
        self._changed = changed
        options = [each.value for each in field.options] if isinstance(field, ChoiceField) else []
        self._names = [UNSET, *(each for each in options if isinstance(each, str))]
        is_other = not isinstance(key, Unset) and key not in self._names
        if options and not is_other:
            labels = ["choose…", *map(str, options)]
            shown = tuple((text, index) for index, text in enumerate(labels))
            self.widget: Any = ipywidgets.Dropdown(
                options=shown, index=self._names.index(key), description="Key"
            )
            self.widget.observe(self._chosen, names="index")
        else:
            text = "" if isinstance(key, Unset) else key
            self.widget = ipywidgets.Text(
                value=text, description="Key", placeholder="key", continuous_update=False
            )
            self.widget.observe(self._typed, names="value")
        self.widget.add_class("nbgraph-map-key")

    def _chosen(self, change: Any) -> None:
        self.key = self._names[change["new"] or 0]
        self._changed()

    def _typed(self, change: Any) -> None:
        self.key = change["new"] or UNSET
        self._changed()


class TupleEditor(GroupEditor):
    """A list whose places have a field each."""

    def __init__(self, field: TupleField, making: Making) -> None:
        self._extra: tuple[Raw, ...] = ()
        self._editors: list[Editor] = []
        self._is_there = False
        super().__init__(field, making)
        below = making.inside("/*", self._inner_changed)
        self._editors = [making.edit(item, below) for item in field.items]
        row = ipywidgets.HBox(tuple(editor.box for editor in self._editors))
        self._fill_box(row.add_class("nbgraph-places"))
        if len(field.items) > 3 or any(isinstance(item, _WIDE) for item in field.items):
            self.box.add_class("nbgraph-wide")

    def parts(self) -> Iterator[tuple[str, Editor]]:
        """Yield the editors of its places."""
        for index, editor in enumerate(self._editors):
            yield f"/{index}", editor

    def _inner_raw(self) -> Raw:
        raws = (*(editor.raw for editor in self._editors), *self._extra)
        return Items(raws, there=self._is_there)

    def _show_inner(self, raw: Raw) -> None:
        raws = raw.raws if isinstance(raw, Items) else ()
        self._is_there = isinstance(raw, Items) and raw.there
        self._extra = raws[len(self._editors) :]
        for index, editor in enumerate(self._editors):
            editor.show(raws[index] if index < len(raws) else UNSET)


def _hold(pressed: Any, *, held: bool) -> None:
    if held:
        pressed.add_class("nbgraph-held")
    else:
        pressed.remove_class("nbgraph-held")
