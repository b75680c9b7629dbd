"""Editors of what is chosen: yes or no, one of several, and what is decided already."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, assert_never

import ipywidgets

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
from nbgraph.notebook.editor import NO_VALUE, Editor, GroupEditor, Making
from nbgraph.notebook.labels import described, escaped, set_text
from nbgraph.notebook.lean import button, row, said, set_hidden, tick
from nbgraph.notebook.shared import slim
from nbgraph.notebook.text_editors import shown_text

__all__ = [
    "ChecksEditor",
    "FixedEditor",
    "PickEditor",
    "SearchEditor",
    "TagsEditor",
    "TickEditor",
    "entries",
]

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
        names = () if self._is_list else ("nbgraph-choice",)
        self._control: Any = slim(kind)(
            options=options, value=None, description=described(field), _dom_classes=names
        )
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
        self._control = tick(text)
        super().__init__(field, making, self._control)
        self._control.observe(self._ticked, names="value")

    def _ticked(self, change: Mapping[str, Any]) -> None:
        self._take(bool(change["new"]))

    def _draw(self, raw: Raw) -> None:
        self._control.value = raw if isinstance(raw, bool) else self.field.default is True

    def lock(self, *, locked: bool) -> None:
        """Let nobody tick it."""
        self._control.disabled = locked


_OFFERED = 200


class SearchEditor(Editor):
    """One of many options: type to search. Of very many, those that hold what is typed are offered.

    What is typed on the way to an option is no change yet.
    """

    def __init__(self, field: ChoiceField, making: Making) -> None:
        self._entries = dict(entries(field))
        self._is_narrowed = len(self._entries) > _OFFERED
        self._control = slim(ipywidgets.Combobox)(
            options=tuple(self._offered("")),
            description=described(field),
            placeholder="type to search",
            continuous_update=self._is_narrowed,
        )
        super().__init__(field, making, self._control)
        self._control.observe(self._typed, names="value")

    def _typed(self, change: Mapping[str, Any]) -> None:
        text: str = change["new"]
        found = self._offered(text)
        if self._is_narrowed and not self._showing:
            self._control.options = found
        if self._is_narrowed and found and text and text not in self._entries:
            self._raw = text
        else:
            self._take(self._entries.get(text, text) if text else UNSET)

    def _offered(self, text: str) -> tuple[str, ...]:
        """Return the options to offer for what is typed: all, if they are not very many."""
        if not self._is_narrowed:
            return tuple(self._entries)
        wanted = text.casefold()
        matching = (each for each in self._entries if wanted in each.casefold())
        return tuple(itertools.islice(matching, _OFFERED))

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
        self._control = said("", "nbgraph-fixed")
        self._fill = button("Fill in", self._filled, "quiet")
        name = said(described(field, starred=False, escaped=False), "nbgraph-label")
        super().__init__(field, making, name, self._control, self._fill)

    def _filled(self) -> None:
        self.show(True)
        self._making.changed(self)

    def _draw(self, raw: Raw) -> None:
        value = raw.value if isinstance(raw, Misfit) else self._value
        set_text(self._control, value_words(value))
        set_hidden(self._fill, hidden=raw is True)

    def lock(self, *, locked: bool) -> None:
        """Let nobody fill it in."""
        self._fill.disabled = locked


class ChecksEditor(GroupEditor):
    """Any of a few options, each at most once: ticks."""

    def __init__(self, field: ListField, making: Making) -> None:
        options = field.item.options if isinstance(field.item, ChoiceField) else ()
        self._items: tuple[Raw, ...] | None = None
        self._ticks: list[Any] = [tick(escaped(option.label)) for option in options]
        super().__init__(field, making)
        for each in self._ticks:
            each.observe(self._tick_changed, names="value")
        self._none: Any = None
        if field.required and not field.min_items:
            self._none = button("None of them", self._chose_none, "quiet", "nbgraph-empty")
        more = () if self._none is None else (self._none,)
        self._fill_box(row((*self._ticks, *more), "nbgraph-row", "nbgraph-checks"))

    def _inner_raw(self) -> Raw:
        return UNSET if self._items is None else Items(self._items)

    def _show_inner(self, raw: Raw) -> None:
        self._items = raw.raws if isinstance(raw, Items) else None
        for index, each in enumerate(self._ticks):
            each.value = self._items is not None and index in self._items
        self._show_none()

    def _show_none(self) -> None:
        if self._none is not None:
            set_hidden(self._none, hidden=self._items is not None)

    def _tick_changed(self, _: Mapping[str, Any]) -> None:
        if self._showing:
            return
        others = [raw for raw in self._items or () if not isinstance(raw, int)]
        ticked = [index for index, each in enumerate(self._ticks) if each.value]
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
        for each in (*self._ticks, self._none):
            if each is not None:
                each.disabled = locked


class TagsEditor(GroupEditor):
    """Short texts or options as tags: typed, then Enter; what is no tag is kept beside them."""

    def __init__(self, field: ListField, making: Making) -> None:
        self._options: dict[str, Raw] = {}
        if isinstance(field.item, ChoiceField):
            self._options = {each.label: at for at, each in enumerate(field.item.options)}
        self._items: tuple[Raw, ...] | None = None
        self._tags: Any = ipywidgets.TagsInput(
            allowed_tags=list(self._options), allow_duplicates=not field.unique,
            placeholder="type, then Enter", _dom_classes=("nbgraph-tags",),
        )  # fmt: skip
        super().__init__(field, making)
        self._tags.observe(self._tagged, names="value")
        self._fill_box(self._tags)

    def _inner_raw(self) -> Raw:
        return UNSET if self._items is None else Items(self._items)

    def _show_inner(self, raw: Raw) -> None:
        self._items = raw.raws if isinstance(raw, Items) else None
        self._tags.value = [text for text in map(self._tag_of, self._items or ()) if text]

    def _draw_kept(self) -> None:
        super()._draw_kept()
        others = [each for each in self._items or () if self._tag_of(each) is None]
        if others and not isinstance(self._kept, Misfit):
            self._draw_other(", ".join(map(shown_text, others)))

    def _tag_of(self, raw: Raw) -> str | None:
        """Return the tag of an entry, or None for one that cannot be a tag."""
        if self._options:
            return next((text for text, own in self._options.items() if own == raw), None)
        return raw if isinstance(raw, str) and raw else None

    def _tagged(self, change: Mapping[str, Any]) -> None:
        if self._showing:
            return
        others = [raw for raw in self._items or () if self._tag_of(raw) is None]
        self._items = (*(self._options.get(text, text) for text in change["new"]), *others)
        self._touched()
        self._making.changed(self)

    def lock(self, *, locked: bool) -> None:
        """Let nobody add or take away."""
        super().lock(locked=locked)
        self._tags.disabled = locked
