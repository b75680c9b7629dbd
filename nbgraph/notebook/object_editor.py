"""Editors of objects: named fields in two columns, also where they depend on the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nbgraph.core.answers import UNSET
from nbgraph.core.json_values import Json, pointer
from nbgraph.forms import (
    ConstField,
    Field,
    ObjectField,
    Parts,
    Raw,
    inputs_of,
    read_part,
    settled,
    shown_fields,
)
from nbgraph.notebook.editor import Editor, GroupEditor, Making
from nbgraph.notebook.lean import grid
from nbgraph.notebook.routing import serve_while_busy

__all__ = ["ObjectEditor"]


_DEEP = 3
"""How deep an object lies that is closed until a person, a value or a problem opens it."""


class ObjectEditor(GroupEditor):
    """Named fields: in two columns, in a frame below the root.

    Attributes
    ----------
    grid : widget
        The fields on the page.
    """

    def __init__(self, field: ObjectField, making: Making) -> None:
        self._object = field
        self._shape = ""
        self._others: Mapping[str, Json] = {}
        self._there = self._lacking = False
        self._parked: dict[str, Editor] = {}
        self._editors: dict[str, Editor] = {}
        self._rest: Editor | None = None
        super().__init__(field, making)
        self._editors = {inner.name: self._edit(inner) for inner in field.fields}
        below = making.inside("/*", self._inner_changed)
        if field.rest is not None:
            self._rest = making.edit(field.rest, below)
        self.grid = grid(self._shown(), "nbgraph-fields")
        self._fill_box(self.grid)
        self.box.add_class("nbgraph-wide")
        if making.at.count("/") >= _DEEP:
            self.close_at_first(len(self.grid.children))

    def _edit(self, field: Field) -> Editor:
        below = self._making.inside(pointer([field.name]), self._inner_changed)
        return self._making.edit(field, below)

    def _shown(self) -> Iterator[Any]:
        """Yield what stands on the page."""
        yield from (each.box for each in self._editors.values() if not _is_hidden(each.field))
        if self._rest is not None:
            yield self._rest.box

    def parts(self) -> Iterator[tuple[str, Editor]]:
        """Yield the editors of its fields."""
        for name, editor in self._editors.items():
            yield pointer([name]), editor
        if self._rest is not None:
            for below, editor in self._rest.parts():
                yield below, editor

    @property
    def inner(self) -> Mapping[str, Editor]:
        """The editors on the page by the name of their field; `""` is that of any other name."""
        shown = {name: each for name, each in self._editors.items() if not _is_hidden(each.field)}
        return shown if self._rest is None else {**shown, "": self._rest}

    # --- the input ---

    def _inner_raw(self) -> Raw:
        fields = {name: editor.raw for name, editor in self._editors.items()}
        rest = UNSET if self._rest is None else self._rest.raw
        return Parts(fields, self._others, rest, self._there, self._lacking, self._shape)

    def _show_inner(self, raw: Raw) -> None:
        parts = raw if isinstance(raw, Parts) else _blank(self._object)
        self._others, self._there, self._lacking = parts.others, parts.there, parts.lacking
        self._take_shape(parts)
        for name, editor in self._editors.items():
            editor.show(parts.fields.get(name, UNSET))
        if self._rest is not None:
            self._rest.show(parts.rest)
        if self._is_closed and self._needs_somebody():
            self.open()

    def _needs_somebody(self) -> bool:
        """Return whether something stands in it, or must be filled in."""
        part = read_part(self._object, self._inner_raw())
        return part.touched or bool(self.field.required and part.missing)

    def _inner_changed(self, editor: Editor) -> None:
        self._lacking = False
        for inner in self._editors.values():
            if _is_hidden(inner.field) and inner.raw is UNSET:
                inner.show(True)
        if self._object.live is not None:
            self._settle()
        super()._inner_changed(editor)

    def _settle(self) -> None:
        """Show the fields that the answer now asks for, and no others."""
        raw = settled(self._object, self._inner_raw())
        if not isinstance(raw, Parts) or raw.shape == self._shape:
            return
        for editor in self._take_shape(raw):
            editor.show(raw.fields[editor.field.name])

    def _take_shape(self, raw: Parts) -> list[Editor]:
        """Make the editors of another shape; return those that were not there."""
        if raw.shape == self._shape:
            return []
        self._shape = raw.shape
        before = {**self._parked, **self._editors}
        self._editors = {}
        added: list[Editor] = []
        for field in shown_fields(self._object, raw).fields:
            kept = before.get(field.name)
            if kept is None or kept.field != field:
                kept = self._edit(field)
                serve_while_busy(kept.box)
                added.append(kept)
            self._editors[field.name] = kept
        self._parked = {name: old for name, old in before.items() if name not in self._editors}
        self.grid.children = tuple(self._shown())
        return added


def _blank(field: ObjectField) -> Parts:
    raw = inputs_of(field, UNSET)
    return raw if isinstance(raw, Parts) else Parts()


def _is_hidden(field: Field) -> bool:
    return isinstance(field, ConstField) and field.hidden
