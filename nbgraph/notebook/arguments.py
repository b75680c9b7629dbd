"""The arguments of a tool call: what is proposed, the fields to change it, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import ipywidgets

from nbgraph.core.answers import UNSET, Unset, problems_of
from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.json_values import Json, is_object, pointer
from nbgraph.covering import covered_arguments, covered_edit
from nbgraph.forms import (
    DecimalField,
    IntegerField,
    JsonField,
    NumberField,
    ObjectField,
    TextField,
    inputs_of,
    secret_fields,
)
from nbgraph.notebook.argument_row import ArgumentRow
from nbgraph.notebook.editor import Editor
from nbgraph.notebook.field_set import FieldSet, error_line
from nbgraph.notebook.parts import button, classed, column, set_class, text, within
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.tool_calls import Edit, arguments_field, cleaned_value, edits, many

__all__ = ["Arguments"]

_MAX_ABSENT = 3
_UNSEEN = (TextField, IntegerField, NumberField, DecimalField, JsonField)
"""Fields in which a secret can be typed without being shown."""


class Arguments:
    """The arguments of a call, on the page: a row for each, or one text of JSON.

    Parameters
    ----------
    call : ToolInterrupt
        What is proposed.
    can_edit : bool
        Whether there are fields to change it.
    changed : callable
        Is called when an argument was changed or opened.
    focus : callable
        Moves the focus into the field with a class.
    """

    def __init__(
        self,
        call: ToolInterrupt,
        *,
        can_edit: bool,
        changed: Callable[[], object],
        focus: Callable[[str], None],
    ) -> None:
        self._given, self._schema, self._call = call.arguments, call.input_schema, call
        self._shown = covered_arguments(call)
        self._can_edit, self._tell, self._focus = can_edit, changed, focus
        field = arguments_field(call)
        self._kinds = {each.name: each for each in field.fields}
        self._closed = {name: call.arguments[name] for name in _closed(field, call.arguments)}
        open_fields = tuple(each for each in field.fields if each.name not in self._closed)
        self._fields = FieldSet(replace(field, fields=open_fields), self._edited, focus, {})
        self._fill(call.arguments)
        self._first = self._now()
        self._known = self._problems()
        self._told: dict[str, str] = {}
        self._rows: dict[str, ArgumentRow] = {}
        self._is_folded = True
        self._headings = tuple(text(each, "hd") for each in _headings(can_edit=can_edit))
        self._grid = classed(ipywidgets.GridBox(), "nbgraph-args")
        set_class(self._grid, "nbgraph-only-shown", on=not can_edit)
        self._more = button("", self._unfold, "link", "nbgraph-more")
        self._whole = self._fields.boxes[1]
        self.box = column([self._grid, self._more, self._whole], "nbgraph-arguments")
        self._show()

    # --- what it says -------------------------------------------------------------------------

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What a person has changed."""
        return edits(self._given, self._first, self._now())

    @property
    def value(self) -> dict[str, Json]:
        """The arguments with the changes."""
        changed = {edit.name: edit.new for edit in self.edits}
        value = {**self._given, **changed}
        return {name: each for name, each in value.items() if not isinstance(each, Unset)}

    @property
    def errors(self) -> dict[str, str]:
        """What is not right with what was changed, by JSON Pointer."""
        changed = {pointer([edit.name]) for edit in self.edits}
        found = {
            at: problem
            for at, problem in self._problems().items()
            if self._known.get(at) != problem or _top(at) in changed
        }
        return {**found, **self._told}

    @property
    def first_error(self) -> str | None:
        """One of the errors, as a line with its argument in front."""
        errors = self._fields.placed(self.errors)
        for place, editor in self._fields.in_order(errors):
            return error_line(editor, errors[place])
        return None

    @property
    def unread(self) -> tuple[str, ...]:
        """The arguments that are long and have not been opened."""
        return tuple(name for name, row in self._rows.items() if not row.is_open)

    def _now(self) -> dict[str, Json]:
        """Return the arguments as they stand in the fields."""
        partial = self._fields.reading().partial
        return {**self._closed, **(partial if is_object(partial) else {})}

    def _fill(self, arguments: Mapping[str, Json]) -> None:
        self._closed = {name: arguments[name] for name in self._closed if name in arguments}
        self._fields.fill({name: arguments[name] for name in arguments if name not in self._closed})

    def _problems(self) -> dict[str, str]:
        """Return what the fields say, and then what the schema does."""
        found = dict(self._fields.reading().errors)
        if "" in found or not self._schema:
            return found
        return {**problems_of(self._schema, self._now()), **found}

    # --- what a person does -------------------------------------------------------------------

    def fill(self, arguments: Mapping[str, Json]) -> None:
        """Put arguments in, in place of all that stand there."""
        self._told = {}
        self._fields.switch(as_json=False)
        self._fill(arguments)
        self._fields.visit(visited=True)
        self._changed()

    def reset(self, name: str | None = None) -> None:
        """Take back the changes of an argument, or of all."""
        if name is None:
            self.fill(self._given)
        else:
            self._put(name, self._proposed(name, self._given))

    def clean(self, name: str) -> None:
        """Take out of an argument what is hidden in it."""
        now = self._now()
        value = {key: now[key] for key in now if self._is_other(key)} if name == "" else now[name]
        self._put(name, cleaned_value(value))

    def open(self, name: str | None = None) -> None:
        """Show a long argument to its end, or each of them."""
        for each, row in self._rows.items():
            if name in (None, each):
                row.open_all()

    def switch(self, *, as_json: bool) -> bool:
        """Change between fields and one text of JSON; return False if that text is none."""
        done = self._fields.switch(as_json=as_json)
        if done:
            for each in (self._grid, self._more):
                each.layout.display = "none" if as_json else None
            self._changed()
        return done

    def lock(self, *, locked: bool) -> None:
        """Let nobody change anything, or again somebody."""
        self._fields.lock(locked=locked)
        for row in self._rows.values():
            row.lock(locked=locked)

    def forget_secrets(self) -> None:
        """Take secrets that were typed off the page; they are sent all the same."""
        self._fields.forget_secrets()

    def close(self) -> None:
        """Close every field and row, the folded ones too."""
        self._fields.close()
        for row in self._rows.values():
            for cell in row.cells:
                for each in (cell, *within(cell)):
                    each.close()

    def focus_on(self, name: str | None = None) -> None:
        """Move the focus to an argument, or to the first that can be changed."""
        for each, row in self._rows.items():
            if name == each or (name is None and row.editor is not None):
                self._focus(row.focus_class)
                return

    def tell(self, problems: Mapping[str, str]) -> None:
        """Show problems that somebody else found, until something is changed there."""
        self._told = dict(problems)
        self._show()

    def _put(self, name: str, value: Json | Unset) -> None:
        """Put one argument into its field."""
        editor = self._fields.inner[name]
        editor.show(inputs_of(editor.field, value))
        editor.visited = True
        self._edited(pointer([name]))

    def _edited(self, place: str) -> None:
        self._told = {at: each for at, each in self._told.items() if _top(at) != _top(place)}
        self._changed()

    def _changed(self) -> None:
        self._show()
        self._tell()

    def _unfold(self) -> None:
        self._is_folded = False
        self._show()

    # --- what it shows ------------------------------------------------------------------------

    def _show(self) -> None:
        changed = {edit.name: edit for edit in self.edits}
        self._arrange(self._folded(changed))
        now = self._now()
        shown = covered_arguments(self._call, now)
        for name, row in self._rows.items():
            edit = changed.get(name)
            seen = None if edit is None else covered_edit(self._call, edit)
            row.show(seen, shown.get(name, UNSET))
        errors = self._fields.placed(self.errors)
        self._fields.show_errors(errors, errors)

    def _arrange(self, folded: list[str]) -> None:
        """Put the rows there should be into the table."""
        self._rows = {name: self._row(name, editor) for name, editor in self._places().items()}
        shown = [row for name, row in self._rows.items() if name not in folded]
        cells = (*self._headings, *(cell for row in shown for cell in row.cells))
        if self._grid.children != cells:
            self._grid.children = cells
            serve_while_busy(self._grid)
        self._more.description = f"Show {many(len(folded), 'argument')} not given"
        self._more.layout.display = None if folded and not self._fields.as_json else "none"

    def _places(self) -> dict[str, Editor | None]:
        """Return the editor of each argument there is; None where it is only shown."""
        inner = self._fields.inner
        if not self._can_edit:
            return dict.fromkeys(self._given)
        others = {} if "" in inner else {each: None for each in self._given if self._is_other(each)}
        return {**inner, **others}

    def _is_other(self, name: str) -> bool:
        """Return whether the schema has no field of its own for an argument."""
        return name not in self._fields.inner

    def _row(self, name: str, editor: Editor | None) -> ArgumentRow:
        row = self._rows.get(name)
        if row is not None and row.editor is editor:
            return row
        field = editor.field if editor is not None else self._kinds.get(name)
        return ArgumentRow(
            name,
            self._proposed(name, self._shown),
            field,
            editor,
            opened=self._changed,
            reset=self.reset,
            clean=self.clean,
        )

    def _proposed(self, name: str, given: Mapping[str, Json]) -> Json | Unset:
        if name:
            return given.get(name, UNSET)
        return {key: each for key, each in given.items() if self._is_other(key)}

    def _folded(self, changed: Mapping[str, Edit]) -> list[str]:
        """Return the arguments that nobody has given, if they are many and still folded."""
        absent = [
            name
            for name in self._fields.inner
            if name and name not in self._given and name not in changed
        ]
        return absent if self._can_edit and self._is_folded and len(absent) > _MAX_ABSENT else []


def _closed(field: ObjectField, arguments: Mapping[str, Json]) -> Iterator[str]:
    """Yield the arguments that no field can change, since it would show what is secret in them."""
    for at, each in secret_fields(field, inputs_of(field, dict(arguments))):
        name = at[1:].partition("/")[0].replace("~1", "/").replace("~0", "~")
        if not isinstance(each, _UNSEEN) and name in arguments:
            yield name


def _top(at: str) -> str:
    """Return the JSON Pointer of the argument that a place is in."""
    return "/" + at[1:].partition("/")[0]


def _headings(*, can_edit: bool) -> tuple[str, ...]:
    return ("argument", "proposed", "will run with", "") if can_edit else ("argument", "proposed")
