"""The editor of a map: values under keys that the person names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.json_values import pointer
from nbgraph.forms import ChoiceField, Field, MapField, Pairs, Raw, added
from nbgraph.notebook.editor import Editor, Making
from nbgraph.notebook.labels import escaped
from nbgraph.notebook.list_editors import Row, RowsEditor
from nbgraph.notebook.shared import slim

__all__ = ["MapEditor"]


class MapEditor(RowsEditor):
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

    def _row(self, raw: Raw, key: str | Unset = UNSET) -> Row:
        below = self._making.inside("/*", self._inner_changed)
        editor = self._making.edit(self._map.value, below)
        holder: list[Row] = []
        control = _KeyControl(self._map.key, key, lambda: self._key_changed(holder[0]))
        remove = self._moving(holder, "nbgraph-remove", "times", "Remove")
        row = Row(editor, [control.widget], [remove])
        row.before.append(control)
        holder.append(row)
        editor.show(raw)
        return row

    def _key_of(self, row: Row) -> str | Unset:
        return row.before[1].key

    def _key_changed(self, row: Row) -> None:
        self._offer_names()
        self._inner_changed(row.editor)

    def _mark_rows(self) -> None:
        super()._mark_rows()
        self._offer_names()

    def _offer_names(self) -> None:
        keys = [self._key_of(row) for row in self._rows]
        for index, row in enumerate(self._rows):
            control: _KeyControl = row.before[1]
            control.without(keys[:index] + keys[index + 1 :])


class _KeyControl:
    """The input of a key: typed, or one of the names that no other row has."""

    def __init__(self, field: Field, key: str | Unset, changed: Callable[[], None]) -> None:
        self.key = key
        self._changed = changed
        self._showing = False
        options = [each.value for each in field.options] if isinstance(field, ChoiceField) else []
        self._names = [each for each in options if isinstance(each, str)]
        is_other = not isinstance(key, Unset) and key not in self._names
        self.is_list = bool(self._names) and not is_other
        self._free = self._names
        if self.is_list:
            self.widget: Any = slim(ipywidgets.Dropdown)(
                options=(), description="Key", _dom_classes=("nbgraph-map-key",)
            )
            self.without(())
            self.widget.observe(self._chosen, names="index")
        else:
            text = "" if isinstance(key, Unset) else key
            self.widget = slim(ipywidgets.Text)(
                value=text, description="Key", placeholder="key", continuous_update=False,
                _dom_classes=("nbgraph-map-key",),
            )  # fmt: skip
            self.widget.observe(self._typed, names="value")

    def without(self, taken: Iterable[str | Unset]) -> None:
        """Offer only the names that no other row has."""
        if not self.is_list:
            return
        others = set(taken)
        self._free = [name for name in self._names if name == self.key or name not in others]
        labels = ["choose…", *map(escaped, self._free)]
        shown = tuple((text, index) for index, text in enumerate(labels))
        self._showing = True
        if self.widget.options != shown:
            self.widget.options = shown
        self.widget.index = 0 if isinstance(self.key, Unset) else 1 + self._free.index(self.key)
        self._showing = False

    def _chosen(self, change: Mapping[str, Any]) -> None:
        if self._showing:
            return
        self.key = self._free[change["new"] - 1] if change["new"] else UNSET
        self._changed()

    def _typed(self, change: Mapping[str, Any]) -> None:
        self.key = change["new"] or UNSET
        self._changed()
