"""What every editor of a field is: its control on the page, what is said below it, and its input.

An editor keeps what stands in its input (a `Raw`), which says more than the widget can show: text
that is empty and text that is not there look the same. A person's change replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET, Unset
from nbgraph.forms import (
    ConstField,
    Field,
    Misfit,
    Raw,
    echo,
    hint,
    read_part,
    untouched,
    value_words,
)
from nbgraph.notebook.labels import described, set_text
from nbgraph.notebook.lean import button, column, row, said, set_hidden, tick
from nbgraph.notebook.parts import set_class
from nbgraph.notebook.routing import serve_while_busy

__all__ = ["NO_VALUE", "Editor", "GroupEditor", "Making", "null_tick"]

NO_VALUE = "no value (null)"

_BESIDE = 34
"""How long what is said about a field may be to stand beside its label."""


@dataclass(frozen=True, slots=True)
class Making:
    """What an editor needs to make those inside it.

    Attributes
    ----------
    edit : callable
        Makes an editor of a field.
    changed : callable
        Is told of the editor whose input a person has changed.
    focus : callable
        Moves the focus into a widget.
    widgets : dict of str to callable
        Makes the control of the field at a JSON Pointer, where `*` is any entry of a list or map.
    at : str
        The JSON Pointer of the field, with `*`.
    """

    edit: Callable[[Field, Making], Editor]
    changed: Callable[[Editor], None]
    focus: Callable[[ipywidgets.DOMWidget], None]
    widgets: Mapping[str, Callable[[Field], Any]]
    at: str = ""

    def inside(self, below: str, changed: Callable[[Editor], None]) -> Making:
        """Return what an editor at a pointer below this one is made with."""
        return replace(self, at=f"{self.at}{below}", changed=changed)


class Editor:
    """One field on the page: its control, and help or an error below it.

    Attributes
    ----------
    field : Field
        What it edits.
    box : widget
        What stands on the page.
    visited : bool
        A person has been there, so that what is wrong with it is shown.
    """

    def __init__(self, field: Field, making: Making, *controls: ipywidgets.Widget) -> None:
        self.field = field
        self.visited = False
        self._making = making
        self._raw: Raw = UNSET
        self._showing = self._has_error = False
        has_default = not isinstance(field.default, Unset) and not isinstance(field, ConstField)
        self._default: Raw = untouched(field) if has_default else UNSET
        text = hint(field)
        self._is_aside = bool(text) and len(text) <= _BESIDE
        beside = ("nbgraph-aside",) if self._is_aside else ()
        self._help = said(text, "nbgraph-help", *beside) if text else None
        self._echo: ipywidgets.Label | None = None
        self._error: ipywidgets.Label | None = None
        struck = ("nbgraph-deprecated",) if field.deprecated else ()
        self.box = column((*controls, *self._said()), "nbgraph-field", *struck)
        self._mark_default()

    def _said(self) -> tuple[ipywidgets.Widget, ...]:
        """Return what stands below the control."""
        return tuple(each for each in (self._help, self._echo, self._error) if each is not None)

    # --- the input ---

    @property
    def raw(self) -> Raw:
        """What stands in the input."""
        return self._raw

    def parts(self) -> Iterator[tuple[str, Editor]]:
        """Yield the editors inside, each with its JSON Pointer from here on."""
        return iter(())

    def open(self) -> None:
        """Show what stands inside, where that is closed."""

    def bare(self) -> Editor:
        """Take the heading away from sight: something around it has one."""
        self.box.add_class("nbgraph-bare")
        return self

    def show(self, raw: Raw) -> None:
        """Put something into the input, as nobody's change."""
        self._raw = raw
        self._showing = True
        try:
            self._draw(raw)
        finally:
            self._showing = False
        self._mark_default()

    def forget_secret(self) -> None:
        """Take a secret off the page; the input keeps it."""

    def lock(self, *, locked: bool) -> None:
        """Let nobody change the input, or again somebody; editors inside are locked by name."""
        raise NotImplementedError

    def _draw(self, raw: Raw) -> None:
        """Show a raw in the control."""
        raise NotImplementedError

    def _take(self, raw: Raw) -> None:
        """Take a person's change over."""
        if self._showing:
            return
        self._raw = raw
        self._tell()

    def _tell(self) -> None:
        self._mark_default()
        self._making.changed(self)

    # --- what is said ---

    def show_error(self, error: str | None) -> None:
        """Show what is wrong in place of the help, or the help again."""
        if error and self._error is None:
            self._error = said("", "nbgraph-error")
            serve_while_busy(self._error)
            self._arrange()
        if self._error is not None:
            set_text(self._error, error or "")
            set_hidden(self._error, hidden=not error)
        for each in (self._help, self._echo):
            if each is not None:
                set_hidden(each, hidden=bool(error))
        self._has_error = bool(error)
        set_class(self.box, "nbgraph-has-error", on=self._has_error)
        if not error:
            self._mark_default()

    def _arrange(self) -> None:
        """Put what is said into its place below the control."""
        below = {id(each) for each in (self._help, self._echo, self._error)}
        controls = [each for each in self.box.children if id(each) not in below]
        self.box.children = (*controls, *self._said())

    def _mark_default(self) -> None:
        if self._default is not UNSET:
            set_class(self.box, "nbgraph-is-default", on=self.raw == self._default)
        self._mark_reading()

    def _mark_reading(self) -> None:
        text = echo(self.field, self._raw)
        if text and self._echo is None:
            self._echo = said("", "nbgraph-help", "nbgraph-echo")
            serve_while_busy(self._echo)
            self._arrange()
        if self._echo is not None:
            set_text(self._echo, text)
            set_hidden(self._echo, hidden=not text or self._has_error)


class GroupEditor(Editor):
    """Editors inside one frame, under a heading; the whole may be null or something else.

    `Misfit` and null are kept apart from the editors inside: a person's change in one of them
    takes their place.
    """

    def __init__(self, field: Field, making: Making) -> None:
        self._kept: Misfit | Unset | None = UNSET
        self._inside: tuple[Any, ...] = ()
        self._name = said(described(field, escaped=False), "nbgraph-label")
        self._count: ipywidgets.Label | None = None
        self._head = row((self._name,), "nbgraph-row")
        self._other: ipywidgets.Label | None = None
        self._null = null_tick(self._ticked) if field.nullable else None
        self._leave: Any = None
        self._opener: Any = None  # of one that is closed at first
        self._is_closed = False
        super().__init__(field, making, self._head)
        self.box.add_class("nbgraph-group")

    def _fill_box(self, *inside: Any) -> None:
        """Put together what is on the page."""
        self._inside = inside
        self._arrange()

    def _arrange(self) -> None:
        others = tuple(each for each in (self._other, self._null) if each is not None)
        below = (each for each in self._said() if each is not self._help or not self._is_aside)
        self.box.children = (self._head, *below, *others, *self._inside)
        if self._is_aside or len(self._head.children) > 1:
            self._arrange_head()

    def _arrange_head(self) -> None:
        aside = self._help if self._is_aside else None
        beside = (self._count, aside, self._opener, self._leave)
        self._head.children = (self._name, *(each for each in beside if each is not None))

    def close_at_first(self, count: int) -> None:
        """Close it to its heading, and a button that says how many fields there are."""
        self._is_closed = True
        self._opener = button(
            _opening(count), self._turn, "link", "nbgraph-open", icon="caret-right"
        )
        self._arrange_head()
        self._draw_kept()

    def open(self) -> None:
        """Show what stands inside, where that is closed."""
        if self._is_closed:
            self._turn()

    def _turn(self) -> None:
        self._is_closed = not self._is_closed
        self._opener.icon = "caret-right" if self._is_closed else "caret-down"
        self._draw_kept()

    def _say_count(self, text: str) -> None:
        """Say beside the heading how many there are."""
        if text and self._count is None:
            self._count = said("", "nbgraph-2nd", "nbgraph-small")
            self._arrange_head()
        if self._count is not None:
            set_text(self._count, text)

    def bare(self) -> Editor:
        """Take the frame and the heading away: something around it has both."""
        self.box.remove_class("nbgraph-group")
        set_hidden(self._head, hidden=True)
        return self

    @property
    def raw(self) -> Raw:
        """What stands in the editors inside, or null, or what they cannot show."""
        return self._inner_raw() if isinstance(self._kept, Unset) else self._kept

    def _inner_raw(self) -> Raw:
        raise NotImplementedError

    def _show_inner(self, raw: Raw) -> None:
        raise NotImplementedError

    def _draw(self, raw: Raw) -> None:
        self._kept = raw if raw is None or isinstance(raw, Misfit) else UNSET
        self._show_inner(UNSET if self._kept is not UNSET else raw)
        self._draw_kept()

    def _draw_kept(self) -> None:
        self._draw_other(value_words(self._kept.value) if isinstance(self._kept, Misfit) else "")
        if self._null is not None:
            was, self._showing = self._showing, True
            self._null.value = self._kept is None
            self._showing = was
        if self._opener is not None:
            set_hidden(self._opener, hidden=self._kept is None)
        for widget in self._inside:
            set_hidden(widget, hidden=self._kept is None or self._is_closed)

    def _draw_other(self, text: str) -> None:
        if text and self._other is None:
            self._other = said("", "nbgraph-fixed", "nbgraph-mono")
            self._arrange()
        if self._other is not None:
            set_text(self._other, text)
            set_hidden(self._other, hidden=not text)

    def _mark_default(self) -> None:
        super()._mark_default()
        if not self.field.required and self._inside:
            self._mark_there(there=read_part(self.field, self.raw).value is not UNSET)

    def _mark_there(self, *, there: bool) -> None:
        """Offer to take the whole out of the answer again, while it is in it."""
        if there and self._leave is None:
            self._leave = button("Leave out", self._left_out, "quiet", "link", "nbgraph-leave")
            serve_while_busy(self._leave)
            self._arrange_head()
        if self._leave is not None:
            set_hidden(self._leave, hidden=not there)

    def _left_out(self) -> None:
        self.show(UNSET)
        self._tell()

    def _ticked(self, ticked: bool) -> None:
        if self._showing:
            return
        self.show(None if ticked else UNSET)
        self._tell()

    def _inner_changed(self, editor: Editor) -> None:
        """Take note of a person's change inside."""
        self._touched()
        self._making.changed(editor)

    def _touched(self) -> None:
        if not isinstance(self._kept, Unset):
            self._kept = UNSET
            self._draw_kept()
        self._mark_default()

    def lock(self, *, locked: bool) -> None:
        """Let nobody choose null or not; the editors inside are locked by themselves."""
        for each in (self._null, self._leave):
            if each is not None:
                each.disabled = locked


def _opening(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"


def null_tick(ticked: Callable[[bool], object]) -> Any:
    """Return the tick of a value that is null."""
    made = tick(NO_VALUE, "nbgraph-null")
    made.observe(lambda change: ticked(change["new"]), names="value")
    return made
