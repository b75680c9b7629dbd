"""Editors of text and numbers that are typed, and of what has a control of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET
from nbgraph.drawing.labels import cut, reveal
from nbgraph.forms import (
    Field,
    IntegerField,
    JsonField,
    Misfit,
    NumberField,
    Raw,
    TextField,
    inputs_of,
    is_secret,
    read_part,
)
from nbgraph.notebook.editor import Editor, Making, null_tick
from nbgraph.notebook.labels import described, set_text
from nbgraph.notebook.lean import row, said
from nbgraph.notebook.shared import slim

__all__ = [
    "OwnEditor",
    "SliderEditor",
    "TextEditor",
    "is_wide",
    "shown_text",
]


_MOST_ROWS = 12
_UNSEEN = "filled in, not shown"
_LONG = 1_000
"""An example that is longer is not proposed while one types."""


class TextEditor(Editor):
    """Text, a number or JSON, in a text input; beside it may stand another control."""

    def __init__(self, field: Field, making: Making, *beside: Any) -> None:
        self._control = _text_control(field)
        self._beside = beside
        has_null = field.nullable and not isinstance(field, JsonField)
        self._null = null_tick(self._ticked) if has_null else None
        line = row((self._control, *beside), "nbgraph-beside") if beside else self._control
        controls = (line,) if self._null is None else (line, self._null)
        super().__init__(field, making, *controls)
        if is_wide(field):
            self.box.add_class("nbgraph-wide")
        self._control.observe(self._typed, names="value")

    def _typed(self, change: Mapping[str, Any]) -> None:
        self._take(change["new"] or UNSET)

    def _ticked(self, ticked: bool) -> None:
        if self._showing:
            return
        self.show(None if ticked else UNSET)
        self._making.changed(self)

    def _draw(self, raw: Raw) -> None:
        if self._null is not None:
            self._null.value = raw is None
        text = shown_text(raw)
        self._control.value = "" if is_secret(self.field) else text
        if isinstance(self._control, ipywidgets.Textarea):
            lines = min(_MOST_ROWS, self._control.value.count("\n") + 1)
            self._control.rows = max(_rows(self.field), lines)
        empty = _UNSEEN if text and is_secret(self.field) else "not filled in"
        self._control.placeholder = "null" if raw is None else empty
        self._control.disabled = raw is None

    def forget_secret(self) -> None:
        """Take a secret off the page; the input keeps it."""
        if is_secret(self.field) and self._control.value:
            self._showing = True
            self._control.value = ""
            self._control.placeholder = _UNSEEN
            self._showing = False

    def lock(self, *, locked: bool) -> None:
        """Let nobody type."""
        self._control.disabled = locked or self._raw is None
        for widget in (*self._beside, self._null):
            if widget is not None and hasattr(widget, "disabled"):
                widget.disabled = locked


def _text_control(field: Field) -> Any:
    options: dict[str, Any] = {
        "description": described(field),
        "placeholder": "not filled in",
        "continuous_update": False,
    }
    if isinstance(field, TextField) and field.pattern:  # the help may say it in words
        options["tooltip"] = f"Pattern: {reveal(cut(field.pattern, _LONG))}"
    if isinstance(field, JsonField):
        return slim(ipywidgets.Textarea)(rows=3, _dom_classes=("nbgraph-mono",), **options)
    if is_wide(field):
        return slim(ipywidgets.Textarea)(rows=_rows(field), **options)
    if is_secret(field):
        return slim(ipywidgets.Password)(**options)
    if not isinstance(field, TextField):
        return slim(ipywidgets.Text)(**options)
    examples = [each for each in field.examples if isinstance(each, str) and len(each) <= _LONG]
    if examples:
        return slim(ipywidgets.Combobox)(options=examples, ensure_option=False, **options)
    return slim(ipywidgets.Text)(**options)


def _rows(field: Field) -> int:
    return (field.rows if isinstance(field, TextField) else 0) or 2


def is_wide(field: Field) -> bool:
    """Return whether a field takes both columns."""
    if not isinstance(field, TextField):
        return isinstance(field, JsonField)
    if field.secret:
        return False
    return field.multiline or (isinstance(field.default, str) and "\n" in field.default)


def shown_text(raw: Raw) -> str:
    """Return what a text input shows for a raw."""
    match raw:
        case Misfit():
            return json.dumps(raw.value, ensure_ascii=False, default=repr)
        case str():
            return raw
        case int() | float():
            return str(raw)
        case _:
            return ""


class SliderEditor(Editor):
    """A number between two bounds, on a slider; nothing is chosen until it is moved."""

    def __init__(self, field: IntegerField | NumberField, making: Making) -> None:
        low, high = field.bounds.minimum or 0, field.bounds.maximum or 0
        is_whole = isinstance(field, IntegerField)
        kind: Any = ipywidgets.IntSlider if is_whole else ipywidgets.FloatSlider
        step = field.bounds.step or (1 if is_whole else (high - low) / 100)
        self._control = slim(kind)(
            min=low, max=high, step=step, description=described(field), readout=False,
            continuous_update=False,
        )  # fmt: skip
        self._said_value = said("nothing chosen", "nbgraph-unset")
        super().__init__(field, making, self._control, self._said_value)
        self._control.observe(self._moved, names="value")

    def _moved(self, change: Mapping[str, Any]) -> None:
        if not self._showing:
            self.show(str(change["new"]))
            self._making.changed(self)

    def _draw(self, raw: Raw) -> None:
        value = read_part(self.field, raw).value
        if isinstance(value, int | float) and self._control.min <= value <= self._control.max:
            self._control.value = value
        set_text(self._said_value, shown_text(raw) or "nothing chosen")

    def lock(self, *, locked: bool) -> None:
        """Let nobody move it."""
        self._control.disabled = locked


class OwnEditor(Editor):
    """A control that the person who wrote the program brings: anything with a `value`."""

    def __init__(self, field: Field, making: Making, control: Any) -> None:
        self._control = control
        name = said(described(field, escaped=False), "nbgraph-label")
        super().__init__(field, making, name, control)
        control.observe(self._set, names="value")

    def _set(self, change: Mapping[str, Any]) -> None:
        self._take(inputs_of(self.field, change["new"]))

    def _draw(self, raw: Raw) -> None:
        value = read_part(self.field, raw).value
        if value is not UNSET:
            self._control.value = value

    def lock(self, *, locked: bool) -> None:
        """Let nobody change it, where it can be disabled."""
        if hasattr(self._control, "disabled"):
            self._control.disabled = locked
