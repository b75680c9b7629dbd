"""Editors of lists and tuples: rows that are added, moved and taken away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET
from nbgraph.forms import (
    MAX_ROWS,
    BooleanField,
    ChoiceField,
    DecimalField,
    Field,
    IntegerField,
    Items,
    LaterField,
    ListField,
    MapField,
    NumberField,
    ObjectField,
    Raw,
    TextField,
    TupleField,
    UnionField,
    added,
    inputs_of,
    is_secret,
)
from nbgraph.notebook.editor import Editor, GroupEditor, Making
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.lean import button, column, row, said, set_hidden
from nbgraph.notebook.parts import set_class
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import slim

__all__ = ["ListEditor", "Row", "RowsEditor", "TupleEditor", "hold"]

_SHORT = (TextField, IntegerField, NumberField, DecimalField, ChoiceField)
_COLUMNS = 6
_TABLE = 3
_WIDE = (ObjectField, UnionField, ListField, TupleField, MapField, LaterField)


class Row:
    """One entry of a list or map: its editor, a number or key before it, buttons after it."""

    def __init__(self, editor: Editor, before: list[Any], buttons: list[Any]) -> None:
        self.editor = editor
        self.before = before
        self.buttons = buttons
        tall = ("nbgraph-tall",) if isinstance(editor, GroupEditor) else ()
        self.box = row((*before, editor.box, *buttons), "nbgraph-item", *tall)
        editor.bare()
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


class RowsEditor(GroupEditor):
    """Rows of one kind, and the buttons below them."""

    def __init__(self, field: ListField | MapField, making: Making, add: str) -> None:
        self._rows: list[Row] = []
        self._is_there = False
        self._max = field.max_items
        self._min = field.min_items
        super().__init__(field, making)
        self._list = column((), "nbgraph-rows")
        self._add = button(add, self._added, "nbgraph-add", icon="plus")
        empty = field.required and not field.min_items
        self._empty = (
            button("Leave empty", self._emptied, "quiet", "nbgraph-empty") if empty else None
        )
        more = () if self._empty is None else (self._empty,)
        self._foot = row((self._add, *more), "nbgraph-row")
        self._fill_box(self._list, self._foot)
        item = field.item if isinstance(field, ListField) else field.value
        if isinstance(item, _WIDE):
            self.box.add_class("nbgraph-wide")

    # --- rows ---

    def _row(self, raw: Raw) -> Row:
        raise NotImplementedError

    def _replace(self, rows: list[Row]) -> None:
        gone = [each for each in self._rows if each not in rows]
        self._rows = rows
        self._list.children = tuple(each.box for each in rows)
        for each in gone:
            each.close()
        self._mark_rows()

    def _mark_rows(self) -> None:
        many = len(self._rows)
        bound = f" of {self._min} to {self._max}" if self._max is not None else ""
        self._say_count(f"{many}{bound}" if many or bound else "")
        hold(self._add, held=self._max is not None and many >= self._max)
        if self._empty is not None:
            set_hidden(self._empty, hidden=self._is_there)

    def _added(self) -> None:
        if self._max is not None and len(self._rows) >= self._max:
            return
        row = self._row(self._new())
        self._is_there = True
        self._replace([*self._rows, row])
        self._rows_changed()
        self._making.focus(row.editor.box)

    def _new(self) -> Raw:
        raise NotImplementedError

    def _emptied(self) -> None:
        self._is_there = True
        self._replace([])
        self._rows_changed()

    def _remove(self, row: Row) -> None:
        self._replace([each for each in self._rows if each is not row])
        self._rows_changed()

    def _move(self, row: Row, by: int) -> None:
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

    def _moving(self, row: list[Row], kind: str, icon: str, tooltip: str) -> Any:
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


class ListEditor(RowsEditor):
    """Any number of values of one kind; short ones can be pasted, a line each."""

    def __init__(self, field: ListField, making: Making) -> None:
        self._item = field.item
        self._lines: Any = None
        super().__init__(field, making, "Add one")
        self._is_flat = _is_flat(field.item)
        self._paste: Any = None
        if isinstance(field.item, _SHORT) and not is_secret(field.item):
            self._paste = button(
                "or paste several lines", self._open_lines, "link", "nbgraph-paste"
            )
            self._foot.children = (*self._foot.children, self._paste)

    def parts(self) -> Iterator[tuple[str, Editor]]:
        """Yield the editors of its entries."""
        for index, each in enumerate(self._rows):
            yield f"/{index}", each.editor

    def _inner_raw(self) -> Raw:
        return Items(tuple(row.editor.raw for row in self._rows)) if self._is_there else UNSET

    def _show_inner(self, raw: Raw) -> None:
        self._is_there = isinstance(raw, Items)
        self._replace([self._row(each) for each in raw.raws] if isinstance(raw, Items) else [])

    def _new(self) -> Raw:
        return added(self._item)

    # --- several lines at once ---

    def _open_lines(self) -> None:
        """Show a text whose lines become entries when it is left."""
        if self._lines is None:
            self._lines = slim(ipywidgets.Textarea)(
                rows=3, placeholder="one a line", description="Lines", continuous_update=False,
                _dom_classes=("nbgraph-lines",),
            )  # fmt: skip
            self._lines.observe(self._take_lines, names="value")
            self._fill_box(*self._inside, self._lines)
            serve_while_busy(self._lines)
        set_hidden(self._lines, hidden=False)
        self._making.focus(self._lines)

    def _take_lines(self, change: Mapping[str, Any]) -> None:
        lines = [line.strip() for line in change["new"].splitlines() if line.strip()]
        if not lines:
            return
        if len(self._rows) + len(lines) > MAX_ROWS:
            self._say_count(f"up to {MAX_ROWS} rows; write more as JSON")
            return
        self._lines.value = ""
        set_hidden(self._lines, hidden=True)
        self._is_there = True
        self._replace([*self._rows, *(self._row(_of_line(self._item, line)) for line in lines)])
        self._rows_changed()

    def _row(self, raw: Raw) -> Row:
        editor = self._making.edit(self._item, self._making.inside("/*", self._inner_changed))
        holder: list[Row] = []
        row = Row(
            editor,
            [said("", "no")],
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
        set_class(self._list, "nbgraph-as-table", on=self._is_flat and last >= _TABLE)
        for index, entry in enumerate(self._rows):
            set_text(entry.before[0], str(index + 1))
            up, down, remove = entry.buttons
            hold(up, held=index == 0)
            hold(down, held=index == last)
            for each, what in ((up, "up"), (down, "down")):
                each.tooltip = f"Move {index + 1} {what}"
            remove.tooltip = f"Remove {index + 1}"

    def lock(self, *, locked: bool) -> None:
        """Let nobody add, move, take away or paste."""
        super().lock(locked=locked)
        for each in (self._paste, self._lines):
            if each is not None:
                each.disabled = locked


def _is_flat(item: Field) -> bool:
    """Return whether entries are objects of a few short fields, which can be rows of a table."""
    if not isinstance(item, ObjectField) or item.rest is not None or item.live is not None:
        return False
    return 1 < len(item.fields) <= _COLUMNS and all(map(_is_cell, item.fields))


def _is_cell(field: Field) -> bool:
    if isinstance(field, TextField):
        return not field.multiline and not field.upload
    return isinstance(field, (*_SHORT, BooleanField))


def _of_line(field: Field, line: str) -> Raw:
    """Return the input that a line of text stands for: of a choice, the option of that name."""
    if isinstance(field, ChoiceField):
        places = (place for place, option in enumerate(field.options) if option.label == line)
        return next(places, inputs_of(field, line))
    return line


class TupleEditor(GroupEditor):
    """A list whose places have a field each."""

    def __init__(self, field: TupleField, making: Making) -> None:
        self._extra: tuple[Raw, ...] = ()
        self._editors: list[Editor] = []
        self._is_there = False
        super().__init__(field, making)
        below = making.inside("/*", self._inner_changed)
        self._editors = [making.edit(item, below) for item in field.items]
        self._fill_box(row((editor.box for editor in self._editors), "nbgraph-places"))
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


def hold(pressed: Any, *, held: bool) -> None:
    """Hold a button back, or let it act; it stays where it is and keeps the focus."""
    set_class(pressed, "nbgraph-held", on=held)
