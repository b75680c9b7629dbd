"""What stands on the page for a schema, in the words of the documentation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from nbgraph.core.answers import UNSET
from nbgraph.notebook.form import Form

__all__ = ["controls", "untouched"]

_WORDS = {
    "RadioButtons": "buttons",
    "Dropdown": "list",
    "Combobox": "search",
    "Text": "text",
    "Textarea": "long text",
    "Password": "unseen text",
    "Checkbox": "tick",
    "IntSlider": "slider",
    "FloatSlider": "slider",
    "DatePicker": "day",
    "TimePicker": "time",
    "NaiveDatetimePicker": "day and time",
    "ColorPicker": "colour",
    "FileUpload": "file",
    "TagsInput": "tags",
}
_MARKED = {"nbgraph-add": "add", "nbgraph-fixed": "fixed", "nbgraph-null": "null tick"}


def controls(schema: dict[str, Any]) -> str:
    """Return the controls of a form that nobody has touched, in order."""
    form = Form(schema)
    found = [word for editor in form._fields.boxes[:1] for word in _controls(editor)]
    form.close()
    return ", ".join(_counted(found)) or "nothing"


def untouched(schema: dict[str, Any]) -> str:
    """Return the answer of a form that nobody has touched, as JSON."""
    form = Form(schema)
    value = form.value
    form.close()
    return "UNSET" if value is UNSET else json.dumps(value)


def _controls(widget: Any) -> Iterator[str]:
    names = getattr(widget, "_dom_classes", ())
    if "nbgraph-gone" in names:
        return
    marked = next((_MARKED[name] for name in names if name in _MARKED), None)
    word = marked or _WORDS.get(type(widget).__name__)
    if word is not None:
        yield word
    for child in getattr(widget, "children", ()):
        yield from _controls(child)


def _counted(found: list[str]) -> Iterator[str]:
    for word, same in groupby(found):
        many = len(list(same))
        yield word if many == 1 else f"{many} × {word}"
