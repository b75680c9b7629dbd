"""The editor of each kind of field."""

from __future__ import annotations

from typing import assert_never

from nbgraph.core.answers import Unset
from nbgraph.forms import (
    BooleanField,
    ChoiceField,
    ConstField,
    DecimalField,
    Field,
    IntegerField,
    JsonField,
    LaterField,
    ListField,
    MapField,
    NumberField,
    ObjectField,
    TextField,
    TupleField,
    UnionField,
)
from nbgraph.notebook.editor import Editor, Making
from nbgraph.notebook.list_editors import ListEditor, TupleEditor
from nbgraph.notebook.map_editor import MapEditor
from nbgraph.notebook.object_editor import ObjectEditor
from nbgraph.notebook.pick_editors import (
    ChecksEditor,
    FixedEditor,
    PickEditor,
    SearchEditor,
    TagsEditor,
    TickEditor,
    entries,
)
from nbgraph.notebook.picker_editors import (
    ColourEditor,
    DateEditor,
    DateTimeEditor,
    TimeEditor,
    UploadEditor,
)
from nbgraph.notebook.text_editors import OwnEditor, SliderEditor, TextEditor
from nbgraph.notebook.union_editors import LaterEditor, UnionEditor

__all__ = ["edit"]

_MANY = 20
_TICKS = 12


def edit(field: Field, making: Making) -> Editor:
    """Return an editor of a field."""
    if making.at in making.widgets:
        return OwnEditor(field, making, making.widgets[making.at](field))
    match field:
        case ChoiceField() | BooleanField() | ConstField():
            return _picked(field, making)
        case TextField():
            return _typed(field, making)
        case IntegerField() | NumberField() if _is_slider(field):
            return SliderEditor(field, making)
        case IntegerField() | NumberField() | DecimalField() | JsonField():
            return TextEditor(field, making)
        case _:
            return _with_parts(field, making)


_Parts = ObjectField | ListField | TupleField | MapField | UnionField | LaterField


def _with_parts(field: _Parts, making: Making) -> Editor:
    match field:
        case ObjectField():
            return ObjectEditor(field, making)
        case ListField() if _is_ticked(field):
            return ChecksEditor(field, making)
        case ListField() if _is_tagged(field):
            return TagsEditor(field, making)
        case ListField():
            return ListEditor(field, making)
        case TupleField():
            return TupleEditor(field, making)
        case MapField():
            return MapEditor(field, making)
        case UnionField():
            return UnionEditor(field, making)
        case LaterField():
            return LaterEditor(field, making)
        case _:
            assert_never(field)


def _picked(field: BooleanField | ChoiceField | ConstField, making: Making) -> Editor:
    match field:
        case ConstField():
            return FixedEditor(field, making)
        case BooleanField() if not isinstance(field.default, Unset) and not field.nullable:
            return TickEditor(field, making)
        case ChoiceField() if len(field.options) > _MANY and not field.widget:
            return SearchEditor(field, making)
        case _:
            return PickEditor(field, making, entries(field))


def _typed(field: TextField, making: Making) -> Editor:
    if field.secret or field.widget in {"text", "textarea"}:
        return TextEditor(field, making)
    match field.widget or field.format:
        case "date":
            return DateEditor(field, making)
        case "time":
            return TimeEditor(field, making)
        case "date-time" | "datetime":
            return DateTimeEditor(field, making)
        case "color" | "colour":
            return ColourEditor(field, making)
        case _ if field.upload or field.widget in {"file", "upload"}:
            return UploadEditor(field, making)
        case _:
            return TextEditor(field, making)


def _is_ticked(field: ListField) -> bool:
    is_few = isinstance(field.item, ChoiceField) and len(field.item.options) <= _TICKS
    return is_few and (field.unique or field.widget == "checkboxes")


def _is_tagged(field: ListField) -> bool:
    """Return whether entries are tags: any of many options, or short texts where that is asked."""
    if isinstance(field.item, ChoiceField):
        return field.widget == "tags" or (field.unique and not field.widget)
    return field.widget == "tags" and isinstance(field.item, TextField) and not field.item.secret


def _is_slider(field: IntegerField | NumberField) -> bool:
    bounds = field.bounds
    is_bounded = bounds.minimum is not None and bounds.maximum is not None
    return field.widget == "slider" and is_bounded and not field.nullable
