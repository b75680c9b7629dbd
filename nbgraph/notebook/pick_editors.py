"""Editors of what is chosen: yes or no, one of several, and what is decided already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import ipywidgets
from ipywidgets.widgets.widget_description import DescriptionStyle

from nbgraph.core.answers import UNSET
from nbgraph.forms import (
    BooleanField,
    ChoiceField,
    ConstField,
    Field,
    Items,
    ListField,
    Misfit,
    Raw,
    value_words,
)
from nbgraph.notebook.editor import NO_VALUE, Editor, GroupEditor, Making, button
from nbgraph.notebook.labels import described, escaped, label, set_text
from nbgraph.notebook.shared import plain
from nbgraph.notebook.text_editors import shown_text

__all__ = ["ChecksEditor", "FixedEditor", "PickEditor", "SearchEditor", "TickEditor", "entries"]

FEW = 4


class PickEditor(Editor):
    """One of a few entries: radio buttons, or a list that starts with "choose…"."""

    def __init__(self, field: Field, making: Making, listed: list[tuple[str, Raw]]) -> None:
        self._raws = [raw for _, raw in listed]
        labels = [text for text, _ in listed]
        self._is_list = is_list(field)
        if self._is_list:
            self._raws.insert(0, UNSET)
            labels.insert(0, "choose…")
        options = tuple((text, index) for index, text in enumerate(labels))
        kind = ipywidgets.Dropdown if self._is_list else ipywidgets.RadioButtons
        look = plain(DescriptionStyle)
        self._control: Any = kind(options=options, value=None, description=described(field), **look)
        if not self._is_list:
            self._control.add_class("nbgraph-choice")
        super().__init__(field, making, self._control)
        self._control.observe(self._picked, names="index")

    def _picked(self, change: Mapping[str, Any]) -> None:
        if change["new"] is not None:
            self._take(self._raws[change["new"]])

    def _draw(self, raw: Raw) -> None:
        places = [index for index, own in enumerate(self._raws) if own is raw or _equal(own, raw)]
        self._control.index = places[0] if places else (0 if self._is_list else None)

    def lock(self, *, locked: bool) -> None:
        """Let nobody choose."""
        self._control.disabled = locked


def is_list(field: Field) -> bool:
    """Return whether a choice is a list and not a row of buttons."""
    if not isinstance(field, ChoiceField) or field.widget in {"radio", "select"}:
        return field.widget == "select"
    return len(field.options) > FEW


def _equal(one: Raw, other: Raw) -> bool:
    return type(one) is type(other) and one == other


def entries(field: BooleanField | ChoiceField) -> list[tuple[str, Raw]]:
    """Return what can be chosen, each with the input it stands for."""
    match field:
        case BooleanField():
            listed: list[tuple[str, Raw]] = [("Yes", True), ("No", False)]
        case ChoiceField():
            listed = [(option.label, index) for index, option in enumerate(field.options)]
        case _:
            assert_never(field)
    if field.nullable and not _has_null(field):
        listed.append((NO_VALUE, None))
    if not field.required and not is_list(field):
        listed.append(("not set", UNSET))
    return listed


def _has_null(field: BooleanField | ChoiceField) -> bool:
    return isinstance(field, ChoiceField) and any(each.value is None for each in field.options)


class TickEditor(Editor):
    """Yes or no that has a default: a tick."""

    def __init__(self, field: BooleanField, making: Making) -> None:
        text = described(field, starred=False)
        self._control = ipywidgets.Checkbox(value=False, description=text, indent=False)
        super().__init__(field, making, self._control)
        self._control.observe(self._ticked, names="value")

    def _ticked(self, change: Mapping[str, Any]) -> None:
        self._take(bool(change["new"]))

    def _draw(self, raw: Raw) -> None:
        self._control.value = raw if isinstance(raw, bool) else self.field.default is True

    def lock(self, *, locked: bool) -> None:
        """Let nobody tick it."""
        self._control.disabled = locked


class SearchEditor(Editor):
    """One of many options: type to search."""

    def __init__(self, field: ChoiceField, making: Making) -> None:
        self._entries = dict(entries(field))
        self._control = ipywidgets.Combobox(
            options=tuple(self._entries),
            description=described(field),
            placeholder="type to search",
            continuous_update=False,
        )
        super().__init__(field, making, self._control)
        self._control.observe(self._typed, names="value")

    def _typed(self, change: Mapping[str, Any]) -> None:
        text: str = change["new"]
        self._take(self._entries.get(text, text) if text else UNSET)

    def _draw(self, raw: Raw) -> None:
        shown = (text for text, own in self._entries.items() if _equal(own, raw))
        self._control.value = next(shown, shown_text(raw))

    def lock(self, *, locked: bool) -> None:
        """Let nobody type."""
        self._control.disabled = locked


class FixedEditor(Editor):
    """A value that is decided; where an answer lacks it, it can be filled in."""

    def __init__(self, field: ConstField, making: Making) -> None:
        self._value = field.value
        self._control = label("", "nbgraph-fixed")
        self._fill = button("Fill in", self._filled, "quiet")
        name = label(described(field, starred=False, escaped=False), "nbgraph-label")
        super().__init__(field, making, name, self._control, self._fill)

    def _filled(self) -> None:
        self.show(True)
        self._making.changed(self)

    def _draw(self, raw: Raw) -> None:
        value = raw.value if isinstance(raw, Misfit) else self._value
        set_text(self._control, value_words(value))
        self._fill.layout.display = None if raw is not True else "none"

    def lock(self, *, locked: bool) -> None:
        """Let nobody fill it in."""
        self._fill.disabled = locked


class ChecksEditor(GroupEditor):
    """Any of a few options, each at most once: ticks."""

    def __init__(self, field: ListField, making: Making) -> None:
        options = field.item.options if isinstance(field.item, ChoiceField) else ()
        self._items: tuple[Raw, ...] | None = None
        self._ticks: list[Any] = [
            ipywidgets.Checkbox(value=False, description=escaped(option.label), indent=False)
            for option in options
        ]
        super().__init__(field, making)
        for tick in self._ticks:
            tick.observe(self._tick_changed, names="value")
        none = button("None of them", self._chose_none, "quiet", "nbgraph-empty")
        self._none = none if field.required and not field.min_items else None
        more = () if self._none is None else (self._none,)
        row = ipywidgets.HBox((*self._ticks, *more)).add_class("nbgraph-row")
        self._fill_box(row.add_class("nbgraph-checks"))

    def _inner_raw(self) -> Raw:
        return UNSET if self._items is None else Items(self._items)

    def _show_inner(self, raw: Raw) -> None:
        self._items = raw.raws if isinstance(raw, Items) else None
        for index, tick in enumerate(self._ticks):
            tick.value = self._items is not None and index in self._items
        self._show_none()

    def _show_none(self) -> None:
        if self._none is not None:
            self._none.layout.display = None if self._items is None else "none"

    def _tick_changed(self, _: Mapping[str, Any]) -> None:
        if self._showing:
            return
        others = [raw for raw in self._items or () if not isinstance(raw, int)]
        ticked = [index for index, tick in enumerate(self._ticks) if tick.value]
        self._items = (*ticked, *others)
        self._chosen()

    def _chose_none(self) -> None:
        self._items = ()
        self._chosen()

    def _chosen(self) -> None:
        self._show_none()
        self._touched()
        self._making.changed(self)

    def lock(self, *, locked: bool) -> None:
        """Let nobody tick."""
        super().lock(locked=locked)
        for tick in (*self._ticks, self._none):
            if tick is not None:
                tick.disabled = locked
