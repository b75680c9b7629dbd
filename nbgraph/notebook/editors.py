"""The inputs of a form: one editor a field, made of stock ipywidgets.

An editor keeps what stands in its input (a `Raw`), which says more than the widget can show: text
that is empty and text that is not there look the same. A person's change replaces it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, assert_never

import ipywidgets

from nbgraph.core.answers import UNSET, Unset
from nbgraph.forms import (
    BooleanField,
    ChoiceField,
    ConstField,
    DecimalField,
    Field,
    IntegerField,
    JsonField,
    Misfit,
    NumberField,
    ObjectField,
    Raw,
    TextField,
    hint,
    untouched,
    value_words,
)
from nbgraph.notebook.labels import described, label, set_text

__all__ = ["Changed", "Editor", "ObjectEditor", "edit"]

Changed = Callable[[str], None]
"""Called with a field's pointer when a person has changed its input."""

_FEW, _MANY = 4, 20
_NO_VALUE = "no value (null)"


class Editor:
    """One field on the page: its control, and help or an error below it.

    Attributes
    ----------
    field : Field
        What it edits.
    box : widget
        What stands on the page.
    raw : Raw
        What stands in the input.
    """

    def __init__(self, field: Field, changed: Changed, *controls: ipywidgets.Widget) -> None:
        self.field = field
        self.raw: Raw = UNSET
        self._changed = changed
        self._showing = False
        self._default = untouched(field)[field.pointer]
        self._chip = label("default", "nbgraph-default")
        self._help = label(hint(field), "nbgraph-help")
        self._error = label("", "nbgraph-error")
        below = ipywidgets.HBox((self._chip, self._help)).add_class("nbgraph-row")
        self.box = ipywidgets.VBox((*controls, below, self._error)).add_class("nbgraph-field")
        self._below = below
        self.show_error(None)
        self._mark_default()

    def show(self, raw: Raw) -> None:
        """Put something into the input, as nobody's change."""
        self.raw = raw
        self._showing = True
        try:
            self._draw(raw)
        finally:
            self._showing = False
        self._mark_default()

    def show_error(self, error: str | None) -> None:
        """Show what is wrong in place of the help, or the help again."""
        set_text(self._error, error or "")
        self._error.layout.display = None if error else "none"
        self._below.layout.display = "none" if error else None
        if error:
            self.box.add_class("nbgraph-has-error")
        else:
            self.box.remove_class("nbgraph-has-error")

    def lock(self, *, locked: bool) -> None:
        """Let nobody change the input, or again somebody."""
        raise NotImplementedError

    def _draw(self, raw: Raw) -> None:
        """Show a raw in the control."""
        raise NotImplementedError

    def _take(self, raw: Raw) -> None:
        """Take a person's change over."""
        if self._showing:
            return
        self.raw = raw
        self._mark_default()
        self._changed(self.field.pointer)

    def _mark_default(self) -> None:
        is_default = self._default is not UNSET and self.raw == self._default
        is_default = is_default and not isinstance(self.field, ConstField)
        self._chip.layout.display = None if is_default else "none"


class _TextEditor(Editor):
    """Text, a number or JSON, in a text input."""

    def __init__(self, field: Field, changed: Changed) -> None:
        self._control = _text_control(field)
        self._null = ipywidgets.Checkbox(value=False, description=_NO_VALUE, indent=False)
        self._null.add_class("nbgraph-null")
        has_null = field.nullable and not isinstance(field, JsonField)
        controls = (self._control, self._null) if has_null else (self._control,)
        super().__init__(field, changed, *controls)
        if _is_wide(field):
            self.box.add_class("nbgraph-wide")
        self._control.observe(self._typed, names="value")
        self._null.observe(self._ticked, names="value")

    def _typed(self, change: Mapping[str, Any]) -> None:
        self._take(change["new"] or UNSET)

    def _ticked(self, change: Mapping[str, Any]) -> None:
        if self._showing:
            return
        self.show(None if change["new"] else UNSET)
        self._changed(self.field.pointer)

    def _draw(self, raw: Raw) -> None:
        is_null = raw is None
        self._null.value = is_null
        self._control.value = _shown_text(raw)
        self._control.placeholder = "null" if is_null else "not filled in"
        self._control.disabled = is_null

    def lock(self, *, locked: bool) -> None:
        self._control.disabled = locked or self.raw is None
        self._null.disabled = locked


def _text_control(field: Field) -> Any:
    options: dict[str, Any] = {
        "description": described(field),
        "placeholder": "not filled in",
        "continuous_update": False,
    }
    if isinstance(field, JsonField):
        return ipywidgets.Textarea(rows=3, **options).add_class("nbgraph-mono")
    if _is_wide(field):
        return ipywidgets.Textarea(rows=2, **options)
    if isinstance(field, TextField) and field.secret:
        return ipywidgets.Password(**options)
    return ipywidgets.Text(**options)


def _is_wide(field: Field) -> bool:
    if not isinstance(field, TextField):
        return isinstance(field, JsonField)
    return field.multiline or (isinstance(field.default, str) and "\n" in field.default)


def _shown_text(raw: Raw) -> str:
    match raw:
        case Misfit():
            return json.dumps(raw.value, ensure_ascii=False, default=repr)
        case str():
            return raw
        case int() | float():
            return str(raw)
        case _:
            return ""


class _PickEditor(Editor):
    """One of a few entries: radio buttons, or a list that starts with "choose…"."""

    def __init__(self, field: Field, changed: Changed, entries: list[tuple[str, Raw]]) -> None:
        self._raws = [raw for _, raw in entries]
        labels = [text for text, _ in entries]
        self._is_list = _is_list(field)
        if self._is_list:
            self._raws.insert(0, UNSET)
            labels.insert(0, "choose…")
        options = tuple((text, index) for index, text in enumerate(labels))
        kind = ipywidgets.Dropdown if self._is_list else ipywidgets.RadioButtons
        self._control: Any = kind(options=options, value=None, description=described(field))
        if not self._is_list:
            self._control.add_class("nbgraph-choice")
        super().__init__(field, changed, self._control)
        self._control.observe(self._picked, names="index")

    def _picked(self, change: Mapping[str, Any]) -> None:
        if change["new"] is not None:
            self._take(self._raws[change["new"]])

    def _draw(self, raw: Raw) -> None:
        places = [index for index, own in enumerate(self._raws) if own is raw or _equal(own, raw)]
        self._control.index = places[0] if places else (0 if self._is_list else None)

    def lock(self, *, locked: bool) -> None:
        self._control.disabled = locked


def _is_list(field: Field) -> bool:
    return isinstance(field, ChoiceField) and len(field.options) > _FEW


def _equal(one: Raw, other: Raw) -> bool:
    return type(one) is type(other) and one == other


def _entries(field: BooleanField | ChoiceField) -> list[tuple[str, Raw]]:
    match field:
        case BooleanField():
            entries: list[tuple[str, Raw]] = [("Yes", True), ("No", False)]
        case ChoiceField():
            entries = [(option.label, index) for index, option in enumerate(field.options)]
        case _:
            assert_never(field)
    if field.nullable:
        entries.append((_NO_VALUE, None))
    if not field.required and not _is_list(field):
        entries.append(("not set", UNSET))
    return entries


class _TickEditor(Editor):
    """Yes or no that has a default: a tick."""

    def __init__(self, field: BooleanField, changed: Changed) -> None:
        text = described(field, starred=False)
        self._control = ipywidgets.Checkbox(value=False, description=text, indent=False)
        super().__init__(field, changed, self._control)
        self._control.observe(self._ticked, names="value")

    def _ticked(self, change: Mapping[str, Any]) -> None:
        self._take(bool(change["new"]))

    def _draw(self, raw: Raw) -> None:
        self._control.value = raw if isinstance(raw, bool) else self.field.default is True

    def lock(self, *, locked: bool) -> None:
        self._control.disabled = locked


class _SearchEditor(Editor):
    """One of many options: type to search."""

    def __init__(self, field: ChoiceField, changed: Changed) -> None:
        self._entries = dict(_entries(field))
        self._control = ipywidgets.Combobox(
            options=tuple(self._entries),
            description=described(field),
            placeholder="type to search",
            continuous_update=False,
        )
        super().__init__(field, changed, self._control)
        self._control.observe(self._typed, names="value")

    def _typed(self, change: Mapping[str, Any]) -> None:
        text: str = change["new"]
        self._take(self._entries.get(text, text) if text else UNSET)

    def _draw(self, raw: Raw) -> None:
        shown = (text for text, own in self._entries.items() if _equal(own, raw))
        self._control.value = next(shown, _shown_text(raw))

    def lock(self, *, locked: bool) -> None:
        self._control.disabled = locked


class _FixedEditor(Editor):
    """A value that is decided."""

    def __init__(self, field: ConstField, changed: Changed) -> None:
        self._control = label("", "nbgraph-fixed")
        name = label(described(field, starred=False, escaped=False), "nbgraph-label")
        super().__init__(field, changed, name, self._control)

    def _draw(self, raw: Raw) -> None:
        assert isinstance(self.field, ConstField)
        value = raw.value if isinstance(raw, Misfit) else self.field.value
        set_text(self._control, value_words(value))

    def lock(self, *, locked: bool) -> None:
        """Do nothing: it cannot be changed anyway."""


class ObjectEditor(Editor):
    """Named fields: in two columns, in a frame below the root.

    Attributes
    ----------
    editors : tuple of Editor
        The editors of its fields.
    grid : widget
        The fields on the page.
    """

    def __init__(self, field: ObjectField, changed: Changed) -> None:
        self.editors = tuple(edit(inner, changed) for inner in field.fields)
        self.grid = ipywidgets.GridBox(tuple(editor.box for editor in self.editors))
        self.grid.add_class("nbgraph-fields")
        self._null = ipywidgets.Checkbox(value=False, description=_NO_VALUE, indent=False)
        self._null.add_class("nbgraph-null")
        name = label(described(field, escaped=False), "nbgraph-label")
        nulls = (self._null,) if field.nullable else ()
        super().__init__(field, changed, name, *nulls, self.grid)
        self.box.children = (name, self._below, self._error, *nulls, self.grid)
        self.box.add_class("nbgraph-wide").add_class("nbgraph-group")
        self._null.observe(self._ticked, names="value")

    def _ticked(self, change: Mapping[str, Any]) -> None:
        if self._showing:
            return
        self.show(None if change["new"] else UNSET)
        self._changed(self.field.pointer)

    def _draw(self, raw: Raw) -> None:
        self._null.value = raw is None
        self.grid.layout.display = "none" if raw is None else None

    def lock(self, *, locked: bool) -> None:
        """Let nobody choose null or not; its fields are locked by themselves."""
        self._null.disabled = locked


def edit(field: Field, changed: Changed) -> Editor:
    """Return an editor of a field."""
    match field:
        case BooleanField() if not isinstance(field.default, Unset) and not field.nullable:
            return _TickEditor(field, changed)
        case ChoiceField() if len(field.options) > _MANY:
            return _SearchEditor(field, changed)
        case BooleanField() | ChoiceField():
            return _PickEditor(field, changed, _entries(field))
        case ConstField():
            return _FixedEditor(field, changed)
        case ObjectField():
            return ObjectEditor(field, changed)
        case TextField() | IntegerField() | NumberField() | DecimalField() | JsonField():
            return _TextEditor(field, changed)
        case _:
            assert_never(field)
