"""Editors of text and numbers: typed, and where it helps also picked or uploaded."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from datetime import date
from typing import Any

import ipywidgets
from ipywidgets.widgets.widget_string import TextStyle

from nbgraph.core.answers import UNSET
from nbgraph.core.formats import format_problem
from nbgraph.forms import (
    Field,
    IntegerField,
    JsonField,
    Misfit,
    NumberField,
    Raw,
    TextField,
    inputs_of,
    read_part,
)
from nbgraph.notebook.editor import Editor, Making, null_tick
from nbgraph.notebook.labels import described, label, set_text
from nbgraph.notebook.shared import plain

__all__ = [
    "ColourEditor",
    "DateEditor",
    "DateTimeEditor",
    "OwnEditor",
    "SliderEditor",
    "TextEditor",
    "UploadEditor",
    "is_wide",
    "shown_text",
]

_MAX_BYTES = 5_000_000
"""A larger upload breaks the connection of the page."""

_LAST_DAY = date(9999, 12, 31)


class TextEditor(Editor):
    """Text, a number or JSON, in a text input; beside it may stand another control."""

    def __init__(self, field: Field, making: Making, *beside: Any) -> None:
        self._control = _text_control(field)
        self._beside = beside
        has_null = field.nullable and not isinstance(field, JsonField)
        self._null = null_tick(self._ticked) if has_null else None
        line = ipywidgets.HBox((self._control, *beside)) if beside else self._control
        if beside:
            line.add_class("nbgraph-beside")
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
        self._control.value = shown_text(raw)
        if isinstance(self._control, ipywidgets.Textarea):
            self._control.rows = max(2, min(12, self._control.value.count("\n") + 1))
        self._control.placeholder = "null" if raw is None else "not filled in"
        self._control.disabled = raw is None

    def forget_secret(self) -> None:
        """Take a secret off the page; the input keeps it."""
        if isinstance(self.field, TextField) and self.field.secret and self._control.value:
            self._showing = True
            self._control.value = ""
            self._control.placeholder = "filled in, not shown"
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
    options |= plain(TextStyle)
    if isinstance(field, JsonField):
        return ipywidgets.Textarea(rows=3, **options).add_class("nbgraph-mono")
    if is_wide(field):
        return ipywidgets.Textarea(rows=2, **options)
    if not isinstance(field, TextField):
        return ipywidgets.Text(**options)
    if field.secret:
        return ipywidgets.Password(**options)
    examples = [each for each in field.examples if isinstance(each, str)]
    if examples:
        return ipywidgets.Combobox(options=examples, ensure_option=False, **options)
    return ipywidgets.Text(**options)


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


class DateEditor(TextEditor):
    """A day: typed as 2026-11-29, or picked."""

    def __init__(self, field: TextField, making: Making) -> None:
        self._picker: Any = ipywidgets.DatePicker(max=_LAST_DAY, tooltip="Pick a day")
        self._picker.add_class("nbgraph-pick")
        super().__init__(field, making, self._picker)
        self._picker.observe(self._picked, names="value")

    def _picked(self, change: Mapping[str, Any]) -> None:
        if self._showing or change["new"] is None:
            return
        self.show(change["new"].isoformat())
        self._making.changed(self)

    def _typed(self, change: Mapping[str, Any]) -> None:
        super()._typed(change)
        if not self._showing:
            self._draw_picker(self._raw)

    def _draw(self, raw: Raw) -> None:
        super()._draw(raw)
        self._draw_picker(raw)

    def _draw_picker(self, raw: Raw) -> None:
        is_day = isinstance(raw, str) and not format_problem("date", raw)
        was, self._showing = self._showing, True
        self._picker.value = date.fromisoformat(raw) if is_day and isinstance(raw, str) else None
        self._showing = was


_ZONES = (
    "Z", *(f"-{hour:02}:00" for hour in range(12, 0, -1)), "-03:30",
    *(f"+{hour:02}:00" for hour in range(1, 15)), "+05:30", "+05:45", "+09:30",
)  # fmt: skip
_NO_ZONE = "no zone"
_WITH_ZONE = re.compile(r"(.*\d)([Zz]|[+-]\d{2}:?\d{2})", re.ASCII)
_DAY_AND_CLOCK = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?", re.ASCII)


class DateTimeEditor(TextEditor):
    """A day and time: typed; the zone is typed too, or chosen, and never dropped."""

    def __init__(self, field: TextField, making: Making) -> None:
        self._zone: Any = ipywidgets.Dropdown(options=(_NO_ZONE, *_ZONES), tooltip="Time zone")
        self._zone.add_class("nbgraph-pick")
        super().__init__(field, making, self._zone)
        self._zone.observe(self._chosen, names="value")

    def _chosen(self, change: Mapping[str, Any]) -> None:
        if self._showing or not isinstance(self._raw, str):
            return
        zone = "" if change["new"] == _NO_ZONE else change["new"]
        found = _WITH_ZONE.fullmatch(self._raw)
        clock = found[1] if found else self._raw
        if parts := _DAY_AND_CLOCK.fullmatch(clock.strip()):
            clock = f"{parts[1]}T{parts[2]}{parts[3] or ':00'}"
        self.show(f"{clock}{zone}")
        self._making.changed(self)

    def _typed(self, change: Mapping[str, Any]) -> None:
        super()._typed(change)
        if not self._showing:
            self._draw_zone(self._raw)

    def _draw(self, raw: Raw) -> None:
        super()._draw(raw)
        self._draw_zone(raw)

    def _draw_zone(self, raw: Raw) -> None:
        found = _WITH_ZONE.fullmatch(raw) if isinstance(raw, str) else None
        clock = found and _DAY_AND_CLOCK.fullmatch(found[1])
        zone = found[2].upper() if found and clock else _NO_ZONE
        was, self._showing = self._showing, True
        if zone not in self._zone.options:
            self._zone.options = (*self._zone.options, zone)
        self._zone.value = zone
        self._showing = was


class ColourEditor(TextEditor):
    """A colour: typed, or picked."""

    def __init__(self, field: TextField, making: Making) -> None:
        self._picker: Any = ipywidgets.ColorPicker(concise=True, tooltip="Pick a colour")
        self._picker.add_class("nbgraph-pick")
        super().__init__(field, making, self._picker)
        self._picker.observe(self._picked, names="value")

    def _picked(self, change: Mapping[str, Any]) -> None:
        if self._showing:
            return
        self.show(change["new"])
        self._making.changed(self)

    def _typed(self, change: Mapping[str, Any]) -> None:
        super()._typed(change)
        if not self._showing:
            self._draw_picker(self._raw)

    def _draw(self, raw: Raw) -> None:
        super()._draw(raw)
        self._draw_picker(raw)

    def _draw_picker(self, raw: Raw) -> None:
        if isinstance(raw, str) and raw.startswith("#") and not format_problem("color", raw):
            was, self._showing = self._showing, True
            self._picker.value = raw
            self._showing = was


class UploadEditor(TextEditor):
    """Text that a file can fill in, as base64, as a data URL or as it is."""

    def __init__(self, field: TextField, making: Making) -> None:
        self._way = field.upload
        self._file: Any = ipywidgets.FileUpload(description="Choose file", multiple=False)
        self._said_file = label("up to 5 MB", "nbgraph-2nd", "nbgraph-small")
        super().__init__(field, making, self._file, self._said_file)
        self._file.observe(self._uploaded, names="value")

    def _uploaded(self, change: Mapping[str, Any]) -> None:
        if self._showing or not change["new"]:
            return
        given = change["new"][0]
        content = bytes(given["content"])
        self._showing = True
        self._file.value = ()
        self._showing = False
        text = self._text_of(content, str(given["type"]))
        if text is None:
            set_text(self._said_file, f"{given['name']} is too large, or no text. Up to 5 MB.")
            return
        set_text(self._said_file, f"{given['name']}, {len(content):,} bytes")
        self.show(text)
        self._making.changed(self)

    def _text_of(self, content: bytes, kind: str) -> str | None:
        if len(content) > _MAX_BYTES:
            return None
        if self._way == "text":
            try:
                return content.decode()
            except UnicodeDecodeError:
                return None
        encoded = b64encode(content).decode()
        if self._way == "base64":
            return encoded
        return f"data:{kind or 'application/octet-stream'};base64,{encoded}"


class SliderEditor(Editor):
    """A number between two bounds, on a slider; nothing is chosen until it is moved."""

    def __init__(self, field: IntegerField | NumberField, making: Making) -> None:
        low, high = field.bounds.minimum or 0, field.bounds.maximum or 0
        is_whole = isinstance(field, IntegerField)
        kind: Any = ipywidgets.IntSlider if is_whole else ipywidgets.FloatSlider
        step = field.bounds.step or (1 if is_whole else (high - low) / 100)
        self._control = kind(
            min=low, max=high, step=step, description=described(field), readout=False,
            continuous_update=False,
        )  # fmt: skip
        self._said_value = label("nothing chosen", "nbgraph-unset")
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
        name = label(described(field, escaped=False), "nbgraph-label")
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
