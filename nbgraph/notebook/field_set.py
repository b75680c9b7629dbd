"""All fields of a form together: as inputs, or as one text of JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET
from nbgraph.core.json_values import Json, NotJsonError, to_json
from nbgraph.forms import (
    Field,
    JsonField,
    Misfit,
    Raw,
    Reading,
    answer_of,
    inputs_of,
    summary,
    untouched,
)
from nbgraph.notebook.editors import Editor, ObjectEditor, edit

__all__ = ["WHOLE", "FieldSet"]

WHOLE = "whole"
"""The place of the text that is the whole answer; no JSON Pointer, so no field's place."""


class FieldSet:
    """The editors of a field tree, and the text that can stand for all of them.

    A *place* is where an error is shown: the pointer of a field, or `WHOLE`.

    Attributes
    ----------
    editors : dict of str to Editor
        By the pointer of their field.
    """

    def __init__(self, field: Field, changed: Callable[[str], None]) -> None:
        self._field = field
        self._tell = changed
        self._root = edit(field, self._changed)
        self._whole = edit(JsonField(label="Answer", why="the whole answer"), self._whole_changed)
        self._as_json = False
        self._whole.box.layout.display = "none"
        self.editors = {editor.field.pointer: editor for editor in _all(self._root)}
        self._put(untouched(field))

    @property
    def boxes(self) -> tuple[ipywidgets.Widget, ipywidgets.Widget]:
        """What stands on the page; one of the two is hidden."""
        return self._inputs_box, self._whole.box

    @property
    def _inputs_box(self) -> Any:
        return self._root.grid if isinstance(self._root, ObjectEditor) else self._root.box

    # --- the answer ---------------------------------------------------------------------------

    def reading(self) -> Reading:
        """Return the answer that stands there."""
        if self._as_json:
            return answer_of(self._whole.field, {"": self._whole.raw})
        inputs = {pointer: editor.raw for pointer, editor in self.editors.items()}
        return answer_of(self._field, inputs)

    def fill(self, value: Any) -> None:
        """Put an answer in, whatever it is; UNSET leaves what the schema declares."""
        if value is UNSET:
            self._put(untouched(self._field))
            return
        try:
            inputs = inputs_of(self._field, to_json(value, where="the value"))
        except NotJsonError:
            inputs = {**untouched(self._field), self._field.pointer: Misfit(value)}
        self._put(inputs)

    def _put(self, inputs: Mapping[str, Raw]) -> None:
        for pointer, editor in self.editors.items():
            editor.show(inputs.get(pointer, UNSET))
        self.lock(locked=False)

    def lock(self, *, locked: bool) -> None:
        """Let nobody change anything, or again what is not read-only."""
        for editor in (*self.editors.values(), self._whole):
            is_fixed = editor.field.read_only and editor.raw is not UNSET
            editor.lock(locked=locked or is_fixed)

    # --- changes ------------------------------------------------------------------------------

    def _changed(self, pointer: str) -> None:
        for above, editor in self.editors.items():
            if isinstance(editor.raw, Misfit) and pointer.startswith(f"{above}/"):
                editor.show(UNSET)
        self._tell(pointer)

    def _whole_changed(self, _: str) -> None:
        self._tell(WHOLE)

    def switch(self, *, as_json: bool) -> bool:
        """Change to the other way of answering; return False if the text is no JSON."""
        if as_json is self._as_json:
            return True
        if as_json:
            self._whole.show(inputs_of(self._whole.field, self.reading().partial)[""])
        elif not self._take_json():
            return False
        self._as_json = as_json
        self._inputs_box.layout.display = "none" if as_json else None
        self._whole.box.layout.display = None if as_json else "none"
        return True

    def _take_json(self) -> bool:
        reading = self.reading()
        if reading.errors and self._whole.raw is not UNSET:
            self._whole.show_error(reading.errors[""])
            return False
        self.fill(reading.value)
        return True

    # --- errors -------------------------------------------------------------------------------

    def placed(self, problems: Mapping[str, Json]) -> dict[str, str]:
        """Return problems by JSON Pointer as one a place; what is inside a place says where."""
        found: dict[str, str] = {}
        for pointer, problem in problems.items():
            place = WHOLE if self._as_json else self._nearest(pointer)
            inside = pointer[1:] if self._as_json else pointer[len(place) + 1 :]
            found.setdefault(place, f"{inside}: {problem}" if inside else str(problem))
        return found

    def _nearest(self, pointer: str) -> str:
        while pointer and pointer not in self.editors:
            pointer = pointer.rpartition("/")[0]
        return pointer

    def show_errors(self, errors: Mapping[str, str]) -> None:
        """Show an error a place, and none elsewhere."""
        for pointer, editor in self.editors.items():
            editor.show_error(errors.get(pointer))
        self._whole.show_error(errors.get(WHOLE))

    def line(self, place: str, problem: str) -> str:
        """Return a problem as a line of the summary."""
        editor = self._at(place)
        return summary(editor.field, problem, editor.raw)

    def named(self, place: str) -> str:
        """Return a class that only the field at this place wears."""
        editor = self._at(place)
        name = f"nbgraph-{editor.box.model_id}"
        editor.box.add_class(name)
        return name

    def _at(self, place: str) -> Editor:
        return self._whole if place == WHOLE else self.editors[place]


def _all(editor: Editor) -> Iterator[Editor]:
    yield editor
    if isinstance(editor, ObjectEditor):
        for inner in editor.editors:
            yield from _all(inner)
