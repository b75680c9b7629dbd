"""Editors of text that can be picked too: days, times, colours, files. What is typed is kept."""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

import ipywidgets

from nbgraph.core.formats import format_problem
from nbgraph.forms import Raw, TextField
from nbgraph.notebook.editor import Making
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.lean import said
from nbgraph.notebook.shared import slim
from nbgraph.notebook.text_editors import TextEditor

__all__ = ["ColourEditor", "DateEditor", "DateTimeEditor", "TimeEditor", "UploadEditor"]

_MAX_BYTES = 5_000_000
"""A larger upload breaks the connection of the page."""

_LAST_DAY = date(9999, 12, 31)
_LAST_MOMENT = datetime(9999, 12, 31, 23, 59, 59)


_PICK = {"_dom_classes": ("nbgraph-pick",)}


class _PickedEditor(TextEditor):
    """Text with a picker beside it, which shows what the text says and puts its own there."""

    def __init__(self, field: TextField, making: Making, picker: Any, *beside: Any) -> None:
        super().__init__(field, making, picker, *beside)
        picker.observe(self._picked, names="value")

    def _picked(self, change: Mapping[str, Any]) -> None:
        if not self._showing and change["new"] is not None:
            self._put(self._text_of(change["new"]))

    def _put(self, text: str) -> None:
        self.show(text)
        self._making.changed(self)

    def _typed(self, change: Mapping[str, Any]) -> None:
        super()._typed(change)
        if not self._showing:
            self._show_picked(self._raw)

    def _draw(self, raw: Raw) -> None:
        super()._draw(raw)
        self._show_picked(raw)

    def _show_picked(self, raw: Raw) -> None:
        was, self._showing = self._showing, True
        self._draw_picker(raw if isinstance(raw, str) else "")
        self._showing = was

    def _text_of(self, value: Any) -> str:
        """Return the text of what was picked."""
        raise NotImplementedError

    def _draw_picker(self, text: str) -> None:
        raise NotImplementedError


class DateEditor(_PickedEditor):
    """A day: typed as 2026-11-29, or picked."""

    def __init__(self, field: TextField, making: Making) -> None:
        self._picker: Any = slim(ipywidgets.DatePicker)(
            max=_LAST_DAY, tooltip="Pick a day", **_PICK
        )
        super().__init__(field, making, self._picker)

    def _text_of(self, value: Any) -> str:
        return value.isoformat()

    def _draw_picker(self, text: str) -> None:
        is_day = bool(text) and not format_problem("date", text)
        self._picker.value = date.fromisoformat(text) if is_day else None


_ZONE = r"[Zz]|[+-]\d{2}:?\d{2}"
_WITH_ZONE = re.compile(rf"(.*\d)({_ZONE})", re.ASCII)
_TIME = re.compile(rf"(\d{{2}}:\d{{2}}(?::\d{{2}}(?:\.\d{{1,6}})?)?)({_ZONE})?", re.ASCII)


class TimeEditor(_PickedEditor):
    """A time of day: typed as 12:04:00, or picked; a zone that was typed stays."""

    def __init__(self, field: TextField, making: Making) -> None:
        self._picker: Any = slim(ipywidgets.TimePicker)(step=1, tooltip="Pick a time", **_PICK)
        super().__init__(field, making, self._picker)

    def _text_of(self, value: Any) -> str:
        found = _TIME.fullmatch(self._raw) if isinstance(self._raw, str) else None
        return f"{value.isoformat()}{(found and found[2]) or ''}"

    def _draw_picker(self, text: str) -> None:
        found = None if format_problem("time", text) else _TIME.fullmatch(text)
        self._picker.value = time.fromisoformat(found[1]) if found else None


_ZONES = (
    "Z", *(f"-{hour:02}:00" for hour in range(12, 0, -1)), "-03:30",
    *(f"+{hour:02}:00" for hour in range(1, 15)), "+05:30", "+05:45", "+09:30",
)  # fmt: skip
_NO_ZONE = "no zone"
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,6})?)?", re.ASCII)


class DateTimeEditor(_PickedEditor):
    """A day and time: typed or picked; the zone is typed or chosen, and never dropped."""

    def __init__(self, field: TextField, making: Making) -> None:
        self._picker: Any = slim(ipywidgets.NaiveDatetimePicker)(
            max=_LAST_MOMENT, tooltip="Pick a day and time", **_PICK
        )
        self._zone: Any = slim(ipywidgets.Dropdown)(
            options=(_NO_ZONE, *_ZONES), tooltip="Time zone", **_PICK
        )
        super().__init__(field, making, self._picker, self._zone)
        self._zone.observe(self._zone_chosen, names="value")

    def _text_of(self, value: Any) -> str:
        return f"{value.isoformat()}{self._parts()[1]}"

    def _zone_chosen(self, change: Mapping[str, Any]) -> None:
        clock = self._parts()[0]
        if clock and not self._showing:
            self._put(f"{clock}{'' if change['new'] == _NO_ZONE else change['new']}")

    def _parts(self) -> tuple[str, str]:
        """Return the day and time that stand there, written as they are sent, and the zone."""
        text = self._raw.strip() if isinstance(self._raw, str) else ""
        found = _WITH_ZONE.fullmatch(text)
        moment = _MOMENT.fullmatch(found[1] if found else text)
        if moment is None:
            chosen = self._zone.value
            return text, "" if chosen == _NO_ZONE else chosen
        return f"{moment[1]}T{moment[2]}{moment[3] or ':00'}", found[2] if found else ""

    def _draw_picker(self, text: str) -> None:
        if not text:
            self._picker.value = None
            return
        is_moment = not format_problem("date-time", text)
        clock, zone = self._parts() if is_moment else (text, "")
        shown = zone.upper() or _NO_ZONE
        if shown not in self._zone.options:
            self._zone.options = (*self._zone.options, shown)
        self._zone.value = shown
        self._picker.value = datetime.fromisoformat(clock) if is_moment and "T" in clock else None


class ColourEditor(_PickedEditor):
    """A colour: typed, or picked."""

    def __init__(self, field: TextField, making: Making) -> None:
        self._picker: Any = slim(ipywidgets.ColorPicker)(
            concise=True, tooltip="Pick a colour", **_PICK
        )
        super().__init__(field, making, self._picker)

    def _text_of(self, value: Any) -> str:
        return value

    def _draw_picker(self, text: str) -> None:
        if text.startswith("#") and not format_problem("color", text):
            self._picker.value = text


class UploadEditor(TextEditor):
    """Text that a file can fill in, as base64, as a data URL or as it is."""

    def __init__(self, field: TextField, making: Making) -> None:
        self._way = field.upload
        self._file: Any = slim(ipywidgets.FileUpload)(description="Choose file", multiple=False)
        self._said_file = said("up to 5 MB", "nbgraph-2nd", "nbgraph-small")
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
        if self._way == "base64url":
            return urlsafe_b64encode(content).decode()
        return f"data:{kind or 'application/octet-stream'};base64,{encoded}"
