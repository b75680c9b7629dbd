"""All fields of a form together: as inputs, or as one text of JSON."""

from __future__ import annotations

import pprint
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.json_values import Json, NotJsonError, to_json
from nbgraph.forms import (
    MASK,
    Field,
    JsonField,
    Misfit,
    Raw,
    Reading,
    answer_of,
    answer_rows,
    draft_of,
    inputs_of,
    prefilled,
    replaced,
    secret_places,
    summary,
    untouched,
    with_examples,
)
from nbgraph.notebook.editor import Editor, Making
from nbgraph.notebook.editors import edit
from nbgraph.notebook.lean import column, set_hidden
from nbgraph.notebook.object_editor import ObjectEditor
from nbgraph.notebook.parts import within
from nbgraph.notebook.routing import serve_while_busy

__all__ = ["WHOLE", "FieldSet", "Widgets", "error_line"]

WHOLE = "whole"
"""The place of the text that is the whole answer; no JSON Pointer, so no field's place."""

Widgets = Mapping[str, Callable[[Field], Any]]


class FieldSet:
    """The editors of a field tree, and the text that can stand for all of them.

    A *place* is where an error is shown: the pointer of a field, or `WHOLE`.

    Parameters
    ----------
    changed : callable
        Is told the place of a person's change.
    focus : callable
        Moves the focus to the field with a class.
    """

    def __init__(
        self,
        field: Field,
        changed: Callable[[str], None],
        focus: Callable[[str], None],
        widgets: Widgets,
    ) -> None:
        self._field = field
        self._tell = changed
        making = Making(edit, self._changed, lambda widget: focus(_named(widget)), widgets)
        self._root = edit(field, making)
        self._making = making
        self._text: Editor | None = None
        self._place = column((), "nbgraph-slot", "nbgraph-gone")
        self._as_json = self._is_over = self._is_locked = False
        self._secrets: dict[str, Json] = {}
        self._put(untouched(field))

    @property
    def _whole(self) -> Editor:
        """The text of the whole answer, which is made when a person first asks for it."""
        if self._text is None:
            whole = JsonField(label="Answer", why="the whole answer")
            making = Making(edit, self._whole_changed, self._making.focus, {})
            self._text = edit(whole, making)
            self._text.lock(locked=self._is_locked)
            self._place.children = (self._text.box,)
            serve_while_busy(self._place)
        return self._text

    @property
    def boxes(self) -> tuple[ipywidgets.Widget, ipywidgets.Widget]:
        """What stands on the page; one of the two is hidden."""
        return self._inputs_box, self._place

    @property
    def _inputs_box(self) -> Any:
        """Return the fields; those of an object without its heading, while that has no error."""
        if isinstance(self._root, ObjectEditor):
            self._root.bare()
        return self._root.box

    @property
    def places(self) -> dict[str, Editor]:
        """The editors by the pointer of their field, in the order of the form."""
        return dict(_all("", self._root))

    @property
    def inner(self) -> Mapping[str, Editor]:
        """The editors of an object's fields by name; `""` is the one of fields of other names."""
        return self._root.inner if isinstance(self._root, ObjectEditor) else {"": self._root}

    @property
    def as_json(self) -> bool:
        """Whether one text of JSON stands for all fields."""
        return self._as_json

    def close(self) -> None:
        """Close all fields, also where only parts of them stand on the page.

        A widget that is left with a closed part in it keeps a page that is loaded again from making
        any widget of the notebook.
        """
        for box in self.boxes:
            for each in (box, *within(box)):
                each.close()

    # --- the answer ---------------------------------------------------------------------------

    def reading(self) -> Reading:
        """Return the answer that stands there."""
        if not self._as_json:
            return answer_of(self._field, self._root.raw)
        reading = answer_of(self._whole.field, self._whole.raw)
        back = {at: _unmasked(secret) for at, secret in self._secrets.items()}
        value, partial = replaced(reading.value, back), replaced(reading.partial, back)
        return Reading(value, partial, reading.errors, reading.missing)

    def code(self) -> str:
        """Return the answer as a Python expression; secrets are asked for by `getpass`."""
        reading = self.reading()
        raw = inputs_of(self._field, reading.value) if self._as_json else self._root.raw
        places = dict.fromkeys(secret_places(self._field, raw), _AskedFor)
        value = replaced(reading.value, places)
        return "UNSET" if value is UNSET else pprint.pformat(value, sort_dicts=False, width=88)

    def words(self) -> str:
        """Return what stands in the form as lines of text, secrets masked, and what is wrong."""
        reading = self.reading()
        lines: list[str] = []
        if not isinstance(reading.partial, Unset) and not self._as_json:
            lines = [
                f"{label}: {text}" for label, text in answer_rows(self._field, reading.partial)
            ]
        found = self.placed(reading.errors)
        problems = self.in_order(found)
        return "\n".join([*lines, *(error_line(editor, found[at]) for at, editor in problems)])

    def draft(self) -> Json | Unset:
        """Return what is filled in so far and may be kept; UNSET for nothing."""
        if not self._as_json:
            return draft_of(self._field, self._root.raw)
        given = self.reading().value
        return UNSET if given is UNSET else draft_of(self._field, inputs_of(self._field, given))

    def restore(self, draft: Json) -> None:
        """Put a draft in, as it was left."""
        self._put(inputs_of(self._field, draft, typed=True))

    def forget_secrets(self) -> None:
        """Take secrets off the page, whose widgets a notebook may be saved with."""
        for _, editor in _all("", self._root):
            editor.forget_secret()

    def fill_example(self) -> None:
        """Put the schema's examples into what nobody has touched."""
        self._put(with_examples(self._field, self._root.raw))

    def fill(self, value: Any) -> None:
        """Put an answer in, whatever it is; UNSET leaves what the schema declares."""
        if value is UNSET:
            self._put(untouched(self._field))
            return
        try:
            raw = inputs_of(self._field, to_json(value, where="the value"))
        except NotJsonError:
            raw = Misfit(value)
        self._put(raw)

    def prefill(self, value: Any) -> None:
        """Put parts of an answer in, where they fit; the rest stays untouched."""
        given = to_json(value, where="the initial value")
        self._put(prefilled(self._field, self._root.raw, given))

    def _put(self, raw: Raw) -> None:
        self._root.show(raw)
        self.lock(locked=False)

    def lock(self, *, locked: bool) -> None:
        """Let nobody change anything, or again what is not read-only."""
        self._is_locked = locked = locked or self._is_over
        _lock(self._root, locked=locked)
        if self._text is not None:
            self._text.lock(locked=locked)

    def end(self) -> None:
        """Let nobody change anything ever again."""
        self._is_over = True
        self.lock(locked=True)

    # --- changes ------------------------------------------------------------------------------

    def _changed(self, editor: Editor) -> None:
        editor.visited = True
        places = self.places
        self._tell(next((at for at, each in places.items() if each is editor), ""))

    def _whole_changed(self, editor: Editor) -> None:
        editor.visited = True
        self._tell(WHOLE)

    def visit(self, *, visited: bool) -> None:
        """Note that a person has been everywhere, or nowhere."""
        for _, editor in _all("", self._root):
            editor.visited = visited
        if self._text is not None:
            self._text.visited = visited

    def switch(self, *, as_json: bool) -> bool:
        """Change to the other way of answering; return False if the text is no JSON."""
        if as_json is self._as_json:
            return True
        if as_json:
            self._whole.show(inputs_of(self._whole.field, self._masked()))
        elif not self._take_json():
            return False
        self._as_json = as_json
        set_hidden(self._inputs_box, hidden=as_json)
        set_hidden(self._place, hidden=not as_json)
        return True

    def _masked(self) -> Json:
        """Return the answer as far as it is there, its secrets put aside."""
        value = self.reading().partial
        self._secrets = {}

        def mask(at: str) -> Callable[[Json], Json]:
            def put_aside(secret: Json) -> Json:
                self._secrets[at] = secret
                return MASK

            return put_aside

        return replaced(value, {at: mask(at) for at in secret_places(self._field, self._root.raw)})

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
        places = self.places
        for pointer, problem in problems.items():
            place = WHOLE if self._as_json else _nearest(pointer, places)
            inside = pointer[1:] if self._as_json else pointer[len(place) + 1 :]
            found.setdefault(place, f"{inside}: {problem}" if inside else str(problem))
        return found

    def show_errors(self, errors: Mapping[str, str], given: Mapping[str, str]) -> None:
        """Show the errors of the fields a person has been to, and all that are given."""
        places = self.places
        for at, editor in _all("", self._root):
            is_shown = (editor.visited or at in given) and places[at] is editor
            editor.show_error(errors.get(at) if is_shown else None)
            if is_shown and at in errors:
                self._open_to(at)
        if self._text is not None:
            is_shown = self._text.visited or WHOLE in given
            self._text.show_error(errors.get(WHOLE) if is_shown else None)

    def in_order(self, errors: Mapping[str, str]) -> list[tuple[str, Editor]]:
        """Return the places of errors in the order of the form."""
        found = [(place, each) for place, each in self.places.items() if place in errors]
        return [*found, (WHOLE, self._whole)] if WHOLE in errors else found

    def focus_class(self, place: str) -> str:
        """Return a class that only the field at this place wears."""
        editor = self._whole if place == WHOLE else self.places[place]
        self._open_to(place)
        return _named(editor.box)

    def _open_to(self, place: str) -> None:
        """Open what a place lies in."""
        for at, editor in self.places.items():
            if place.startswith(f"{at}/"):
                editor.open()


class _AskedFor:
    """Stands for a secret in code."""

    def __init__(self, _: Json) -> None:
        """Forget the secret."""

    def __repr__(self) -> str:
        return "getpass()"


def _unmasked(secret: Json) -> Callable[[Json], Json]:
    return lambda shown: secret if shown == MASK else shown


def error_line(editor: Editor, problem: str) -> str:
    """Return a problem as a line of the summary."""
    return summary(editor.field, problem, editor.raw)


def _named(widget: Any) -> str:
    name = f"nbgraph-{widget.model_id}"
    widget.add_class(name)
    return name


def _nearest(pointer: str, places: Mapping[str, Editor]) -> str:
    while pointer and pointer not in places:
        pointer = pointer.rpartition("/")[0]
    return pointer


def _all(at: str, editor: Editor) -> Iterator[tuple[str, Editor]]:
    yield at, editor
    for below, inner in editor.parts():
        yield from _all(f"{at}{below}", inner)


def _lock(editor: Editor, *, locked: bool) -> None:
    locked = locked or (editor.field.read_only and editor.raw is not UNSET)
    editor.lock(locked=locked)
    for _, inner in editor.parts():
        _lock(inner, locked=locked)
