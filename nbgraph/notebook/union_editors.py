"""Editors of what is one of several kinds, and of what is opened later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET
from nbgraph.forms import (
    Branch,
    LaterField,
    Picked,
    Raw,
    UnionField,
    added,
    carried,
)
from nbgraph.notebook.editor import NO_VALUE, Editor, GroupEditor, Making
from nbgraph.notebook.lean import button, column, set_hidden
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import slim

__all__ = ["LaterEditor", "UnionEditor"]

_FEW = 4


class UnionEditor(GroupEditor):
    """One of several kinds: which, and then the fields of that kind."""

    def __init__(self, field: UnionField, making: Making) -> None:
        self._branches: tuple[Branch, ...] = field.branches
        self._made: dict[int, Editor] = {}
        self._index: int | None = None
        super().__init__(field, making)
        if self._null is not None:
            self._null.close()
            self._null = None
        self._choice = self._choice_control(field)
        self._choice.observe(self._picked, names="index")
        self._inner = column((), "nbgraph-branch-fields")
        self._fill_box(self._choice, self._inner)
        self.box.add_class("nbgraph-wide")

    def _choice_control(self, field: UnionField) -> Any:
        labels = [branch.label for branch in field.branches]
        if field.nullable:
            labels.append(NO_VALUE)
        if not field.required:
            labels.append("not set")
        self._is_list = len(labels) > _FEW + 2
        if self._is_list:
            labels = ["choose…", *labels]
        options = tuple((text, index) for index, text in enumerate(labels))
        kind: Any = ipywidgets.Dropdown if self._is_list else ipywidgets.RadioButtons
        names = ("nbgraph-kind",) if self._is_list else ("nbgraph-kind", "nbgraph-choice")
        return slim(kind)(options=options, value=None, description="Kind", _dom_classes=names)

    def parts(self) -> Iterator[tuple[str, Editor]]:
        """Yield the editor of the kind that is chosen, which has the same place."""
        if self._index is not None:
            yield "", self._made[self._index]

    # --- the input ---

    def _inner_raw(self) -> Raw:
        return UNSET if self._index is None else Picked(self._index, self._made[self._index].raw)

    def _show_inner(self, raw: Raw) -> None:
        self._index = raw.index if isinstance(raw, Picked) else None
        if isinstance(raw, Picked):
            self._branch(raw.index).show(raw.raw)
        self._draw_branch()

    def _draw_kept(self) -> None:
        super()._draw_kept()
        set_hidden(self._choice, hidden=False)
        self._show_choice()

    def _show_choice(self) -> None:
        was, self._showing = self._showing, True
        first = int(self._is_list)
        if self._index is not None:
            self._choice.index = first + self._index
        elif self._kept is None:
            self._choice.index = first + len(self._branches)
        else:
            self._choice.index = 0 if self._is_list else None
        self._showing = was

    def _branch(self, index: int) -> Editor:
        if index not in self._made:
            below = self._making.inside("", self._inner_changed)
            editor = self._making.edit(self._branches[index].field, below)
            editor.bare()
            if isinstance(editor, GroupEditor):
                editor.box.add_class("nbgraph-group").add_class("inner")
            serve_while_busy(editor.box)
            self._made[index] = editor
        return self._made[index]

    def _draw_branch(self) -> None:
        self._inner.children = () if self._index is None else (self._branch(self._index).box,)

    def _picked(self, change: Mapping[str, Any]) -> None:
        if self._showing or change["new"] is None:
            return
        index = change["new"] - int(self._is_list)
        if 0 <= index < len(self._branches):
            self._kept = UNSET
            self._switch(index)
        else:
            is_null = index == len(self._branches) and self.field.nullable
            self._index, self._kept = None, None if is_null else UNSET
        self._draw_branch()
        self._draw_kept()
        self._tell()

    def _switch(self, index: int) -> None:
        """Go to another kind; what both have in common is carried over."""
        new = self._branches[index].field
        if self._index is None:
            self._branch(index).show(added(new))
        elif self._index != index:
            old = self._branches[self._index].field
            raw = carried(old, self._made[self._index].raw, new)
            self._branch(index).show(added(new, raw))
        self._index = index

    def lock(self, *, locked: bool) -> None:
        """Let nobody choose."""
        self._choice.disabled = locked


class LaterEditor(GroupEditor):
    """What is opened on demand: closed, it is a button."""

    def __init__(self, field: LaterField, making: Making) -> None:
        self._later = field
        self._opened: Editor | None = None
        super().__init__(field, making)
        self._open = button("Add", self._add, "nbgraph-add", icon="plus")
        self._close = button("Take away", self._take_away, "quiet", "nbgraph-remove", icon="times")
        self._place = column((), "nbgraph-rows")
        self._fill_box(self._open, self._place)
        self.box.add_class("nbgraph-wide")

    def parts(self) -> Iterator[tuple[str, Editor]]:
        """Yield what was opened, which has the same place."""
        if self._opened is not None:
            yield "", self._opened

    def _inner_raw(self) -> Raw:
        return UNSET if self._opened is None else self._opened.raw

    def _show_inner(self, raw: Raw) -> None:
        if raw is UNSET:
            self._shut()
        else:
            self._editor().show(raw)
        self._draw_open()

    def _draw_kept(self) -> None:
        super()._draw_kept()
        self._draw_open()

    def _editor(self) -> Editor:
        if self._opened is None:
            editor = self._making.edit(
                self._later.opened(), self._making.inside("", self._inner_changed)
            )
            editor.bare().box.add_class("nbgraph-group").add_class("inner")
            self._opened = editor
            self._place.children = (editor.box, self._close)
            serve_while_busy(self._place)
        return self._opened

    def _draw_open(self) -> None:
        is_closed = self._opened is None
        set_hidden(self._open, hidden=not is_closed)
        set_hidden(self._place, hidden=is_closed)

    def _add(self) -> None:
        self._kept = UNSET
        self._editor().show(added(self._later))
        self._draw_kept()
        self._tell()

    def _take_away(self) -> None:
        self._shut()
        self._draw_kept()
        self._tell()

    def _shut(self) -> None:
        if self._opened is not None:
            self._opened.box.close()
        self._opened = None
        self._place.children = ()

    def lock(self, *, locked: bool) -> None:
        """Let nobody open or take away."""
        super().lock(locked=locked)
        self._open.disabled = self._close.disabled = locked
