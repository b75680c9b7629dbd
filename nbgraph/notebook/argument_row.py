"""One argument of a tool call on the page: what is proposed, its field, what is said about both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.hidden import Findings, Piece, marked, pieces
from nbgraph.core.json_values import Json
from nbgraph.excerpts import counts, names_of
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
from nbgraph.literals import literal, plain
from nbgraph.notebook.editor import Editor
from nbgraph.notebook.exhibit import Exhibit
from nbgraph.notebook.labels import set_text
from nbgraph.notebook.parts import button, column, mark, row, set_class, text
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.tool_calls import Edit, findings_of, many

__all__ = ["ArgumentRow"]

_SHORT = 48
_WIDE_KINDS = (ObjectField, ListField, TupleField, MapField, UnionField, LaterField, JsonField)
_KINDS: dict[type, str] = {
    BooleanField: "yes or no",
    ConstField: "fixed",
    DecimalField: "decimal number",
    IntegerField: "whole number",
    JsonField: "JSON",
    LaterField: "more",
    ListField: "list",
    MapField: "names and values",
    NumberField: "number",
    ObjectField: "object",
    TupleField: "list",
}


class ArgumentRow:
    """A row of the arguments.

    Parameters
    ----------
    name : str
        The argument's; empty for all that the schema has no field for.
    proposed : JSON or UNSET
        What the model gave.
    field : Field or None
        What the schema says about it.
    editor : Editor or None
        Its field on the page; None where it cannot be changed.
    opened, reset, clean : callable
        Are told that it was opened; take its change back; take out what is hidden.
    """

    def __init__(
        self,
        name: str,
        proposed: Json | Unset,
        field: Field | None,
        editor: Editor | None,
        *,
        opened: Callable[[], object],
        reset: Callable[[str], object],
        clean: Callable[[str], object],
    ) -> None:
        self.name, self.editor = name, editor
        self._opened = opened
        label = text(name or "others", "nbgraph-mono", "nbgraph-strong")
        self._name = column([label, text(_kind(field, proposed), "nbgraph-small")], "nm")
        self._exhibit = None if proposed is UNSET else Exhibit(_shown(proposed), self._open)
        absent = text("not given", "nbgraph-unset")
        self._edited: ipywidgets.Label | None = None
        self._warning: _Warning | None = None
        self._clean = clean
        self._reset = button(
            "Reset", lambda: reset(name), "quiet", "nbgraph-reset", icon="undo",
            tooltip=f"Reset {marked(name)}",
        )  # fmt: skip
        old = self._exhibit.box if self._exhibit else absent
        if editor is None:
            self._old, self._run = column([old], "old"), None
        else:
            self._old = column([old], "old")
            self._run = column([editor.bare().box], "run")
        self._lay_out()
        self.show(None, proposed)

    @property
    def cells(self) -> tuple[Any, ...]:
        """What stands in the table, in its order."""
        if self._run is None:
            return (self._name, self._old)
        if self._is_wide:
            return (self._name, self._old, self._reset, self._run)
        return (self._name, self._old, self._run, self._reset)

    @property
    def is_open(self) -> bool:
        """Whether all of what is proposed can be read."""
        return self._exhibit is None or self._exhibit.is_open

    @property
    def focus_class(self) -> str:
        """A class that only what a person goes to here wears."""
        cell = self._run if self._run is not None and self.is_open else self._old
        name = f"nbgraph-{cell.model_id}"
        cell.add_class(name)
        return name

    @property
    def _is_wide(self) -> bool:
        """Whether the field stands below what is proposed."""
        is_long = self._exhibit is not None and self._exhibit.is_long
        return is_long or (self.editor is not None and isinstance(self.editor.field, _WIDE_KINDS))

    def open_all(self) -> None:
        """Show all of what is proposed."""
        while self._exhibit is not None and not self._exhibit.is_open:
            self._exhibit.open()

    def show(self, edit: Edit | None, now: Json | Unset) -> None:
        """Show whether it is changed, and what is hidden in it."""
        if self._exhibit is not None:
            self._exhibit.strike(struck=edit is not None)
        self._show_edit(edit)
        self._show_found(findings_of(now))

    def _show_edit(self, edit: Edit | None) -> None:
        if edit is not None and self._edited is None:
            self._edited = text("", "nbgraph-small", "nbgraph-change")
            self._arrange()
        if self._edited is not None:
            set_text(self._edited, "" if edit is None else _change(edit))
            self._edited.layout.display = None if edit else "none"
        self._reset.layout.visibility = "visible" if edit else "hidden"
        self._reset.layout.display = None if edit or not self._is_wide else "none"
        if self._run is not None:
            set_class(self._run, "edited", on=edit is not None)

    def _show_found(self, found: Findings) -> None:
        if found and self._warning is None:
            self._warning = _Warning(lambda: self._clean(self.name))
            self._arrange()
        if self._warning is not None:
            self._warning.show(found, can_clean=self.editor is not None)

    def _arrange(self) -> None:
        """Put what is said below the field, or below what is proposed."""
        place = self._old if self._run is None else self._run
        said = (self._edited, self._warning.box if self._warning else None)
        place.children = (place.children[0], *filter(None, said))
        serve_while_busy(place)

    def lock(self, *, locked: bool) -> None:
        """Take the ways to change it away, or give them back."""
        self._reset.disabled = locked
        if self._warning is not None:
            self._warning.button.disabled = locked

    def _open(self) -> None:
        self._lay_out()
        self._opened()

    def _lay_out(self) -> None:
        set_class(self._old, "span2", on=self._is_wide)
        if self._run is not None:
            set_class(self._run, "span2", on=self._is_wide)
            self._run.layout.display = None if self.is_open else "none"


class _Warning:
    """Says what is hidden in an argument, and takes it out."""

    def __init__(self, clean: Callable[[], object]) -> None:
        self._said = text("", "nbgraph-small", "nbgraph-text")
        self.button = button("", clean, "link", "nbgraph-clean")
        self.box = row([mark("waiting"), self._said, self.button], "nbgraph-hidden")

    def show(self, found: Findings, *, can_clean: bool) -> None:
        """Show what was found; nothing for nothing."""
        set_text(self._said, _warning(found))
        self.box.layout.display = None if found else "none"
        self.button.description = "Remove it" if found.hidden == 1 else "Remove them"
        self.button.layout.display = None if found.hidden and can_clean else "none"


def _shown(proposed: Json) -> tuple[Piece, ...]:
    """Return a value as a person reads it: text bare, anything else as it is written."""
    if isinstance(proposed, bool):
        return pieces("Yes" if proposed else "No")
    return pieces(proposed) if isinstance(proposed, str) and proposed else literal(proposed)


def _change(edit: Edit) -> str:
    return f"edited: {_brief(edit.old)} → {_brief(edit.new)}"


def _brief(value: Json | Unset) -> str:
    if isinstance(value, Unset):
        return "not given"
    said = plain(_shown(value)).replace("\n", " ")
    return said if len(said) <= _SHORT else f"{said[: _SHORT - 1]}…"


def _kind(field: Field | None, proposed: Json | Unset) -> str:
    size = ""
    if isinstance(proposed, str) and (len(proposed) > _SHORT or "\n" in proposed):
        size = f", {counts(proposed)}"
    match field:
        case None:
            known = "" if isinstance(proposed, Unset) else names_of(proposed)
            return f"{known}{size}, not in the tool's schema"
        case TextField():
            return f"{field.format or 'text'}{size}"
        case ChoiceField():
            return f"one of {len(field.options)}"
        case UnionField():
            return f"one of {len(field.branches)} kinds"
        case _:
            return f"{_KINDS[type(field)]}{size}"


def _warning(found: Findings) -> str:
    said: list[str] = []
    if found.hidden:
        after = f", after “{found.after}”" if found.after else ", at its start"
        is_one = found.hidden == 1
        said.append(f"{many(found.hidden, 'hidden character')}{after if is_one else ''}.")
    if found.posing:
        listed = ", ".join(f"“{word[:_SHORT]}”" for word in found.posing[:3])
        more = f" and {len(found.posing) - 3} more" if len(found.posing) > 3 else ""
        said.append(f"Letters that look like others, in {listed}{more}.")
    return " ".join(said)
