"""`Form`: a question as a form of stock ipywidgets, alone in a cell or in a panel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ipywidgets
from traitlets import Bunch

from nbgraph.clocks import clock
from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.events import Interrupt
from nbgraph.core.json_values import Json
from nbgraph.errors import AnswerError, ResumeError
from nbgraph.forms import JsonField, has_examples
from nbgraph.notebook.asked import Asked, asked_by, asked_of
from nbgraph.notebook.comment import Comment
from nbgraph.notebook.display import unattended
from nbgraph.notebook.drafts import Keeping
from nbgraph.notebook.field_set import FieldSet, Widgets, error_line
from nbgraph.notebook.fold import Fold
from nbgraph.notebook.form_view import (
    Actions,
    Head,
    Summary,
    first_parts,
    framed,
    payload_table,
)
from nbgraph.notebook.keys import Keys
from nbgraph.notebook.lean import said
from nbgraph.notebook.parts import Whole, key_class
from nbgraph.notebook.routing import serve_while_busy

__all__ = ["Form"]

Callback = Callable[[Any], object]


class Form(Whole):
    """A form for one answer.

    Parameters
    ----------
    schema_or_type : type or dict, optional
        What an answer looks like: a pydantic model, any annotation, or a JSON Schema dict. Without
        it, text or JSON.
    value : JSON, optional
        What is filled in at first; default is what the schema declares, and nothing else.
    message : str, optional
        The question in words.
    initial : JSON, optional
        Parts of an answer to fill in at first; the rest stays as the schema declares.
    widgets : dict of str to callable, optional
        Controls of your own by JSON Pointer, where `*` is any entry of a list or map: each is
        called with the field and returns a widget whose `value` is the field's JSON.

    Examples
    --------
    >>> form = Form(bool, message="Pay it back?")
    >>> form.value
    UNSET
    >>> form.value = True
    >>> form.submit()
    True
    """

    def __init__(
        self,
        schema_or_type: Any = None,
        value: Any = UNSET,
        message: str | None = None,
        *,
        initial: Any = UNSET,
        widgets: Widgets | None = None,
        _asked: Asked | None = None,
        _keys: Keys | None = None,
    ) -> None:
        super().__init__()
        self._widgets: Widgets = widgets or {}
        self._asked = _asked or asked_of(schema_or_type, message)
        self._callbacks: list[Callback] = []
        self._lock = threading.Lock()
        self._busy = self._sent = self._told = False
        self._given: dict[str, str] = {}
        self._draft: Keeping | None = None
        is_alone = _keys is None and (_asked is None or _asked.interrupt is not None)
        self._page = Keys(self._get_ready) if is_alone else _keys
        self._build(alone=is_alone)
        if not isinstance(initial, Unset):
            self._fields.prefill(initial)
        self._last: Json | Unset = self.value
        if not isinstance(value, Unset):
            self.value = value
        if self._asked.interrupt and self._asked.interrupt.problems:
            self._tell(self._asked.interrupt.problems)
        if self._is_over:
            self._close_up()

    @classmethod
    def for_interrupt(
        cls,
        interrupt: Interrupt,
        on_submit: Callback | None = None,
        *,
        thread_id: str | None = None,
        value: Any = UNSET,
        keys: Keys | None = None,
        draft: Keeping | None = None,
    ) -> Form:
        """Return the form of the pending `interrupt`, with its problems at their fields.

        With `thread_id`, an answer is judged by the question's Python type where this process
        knows it. `on_submit` gets a good answer and may raise a `ResumeError`, which is shown.
        `keys` moves the focus to a field that is wrong; a panel has one, and a form without it
        stands alone. What is filled in so far is kept at `draft`, and what was kept there is
        filled in.
        """
        form = cls(value=value, _asked=asked_by(interrupt, thread_id), _keys=keys)
        form._take_draft(draft)
        if on_submit is not None:
            form.on_submit(on_submit)
        return form

    @classmethod
    def for_start(
        cls, input_schema: Any, on_submit: Callback, draft: Keeping | None = None
    ) -> Form:
        """Return the form of an `input_schema`; `on_submit` and `draft` are as above."""
        form = cls(_asked=asked_of(input_schema, submit="Start"))
        form._take_draft(draft)
        form.on_submit(on_submit)
        return form

    @classmethod
    def for_update(
        cls, schema: Any, initial: Mapping[str, Any], on_submit: Callback, submit: str
    ) -> Form:
        """Return a form of state fields, `schema`; `on_submit` gets them on a press of `submit`."""
        form = cls(initial=initial, _asked=asked_of(schema, submit=submit))
        form.on_submit(on_submit)
        return form

    def name_submit(self, text: str) -> None:
        """Say on the button what it does now: `text`."""
        self._actions.submit.description = text

    def _build(self, *, alone: bool) -> None:
        asked, interrupt = self._asked, self._asked.interrupt
        self._fields = FieldSet(asked.field, self._changed, self._focus_on, self._widgets)
        self._summary = Summary()
        example = self._fill_example if has_examples(asked.field) else None
        comment = Comment(self._focus_on) if interrupt else None
        self._actions = Actions(
            asked.submit, self.submit, self._show_code, self._switch, example, comment
        )
        if isinstance(asked.field, JsonField):
            self._actions.without_switch()
        self._head = Head(interrupt, asked.field) if interrupt else None
        self._box: ipywidgets.VBox = framed(self, self._page) if alone else self
        own = key_class(interrupt.key) if interrupt else "nbgraph-form"
        first = first_parts(self._head, asked.message)
        self.fold = Fold(self._box, first, self._parts(), lambda: self._focus_on(own))
        for name in dict.fromkeys(("nbgraph-form", own)):
            self._box.add_class(name)
        serve_while_busy(self)

    def _get_ready(self) -> None:
        """Judge once, while nobody waits: the first judgement loads what it needs."""
        self._asked.judge(None)

    def _parts(self) -> Iterator[ipywidgets.Widget]:
        asked, interrupt = self._asked, self._asked.interrupt
        if interrupt and interrupt.payload is not None:
            yield payload_table(interrupt.payload)
        yield self._summary.box
        if asked.is_partly_needed:
            yield said("* needed", "nbgraph-2nd", "nbgraph-small")
        yield from self._fields.boxes
        yield self._actions.box
        if self._head:
            yield self._head.note

    # --- the answer ---------------------------------------------------------------------------

    @property
    def value(self) -> Json | Unset:
        """The answer as JSON; UNSET while a part of it is missing. Set it to fill the form in.

        A value that does not fit is taken too, and `errors` tells. `observe(..., names="value")`
        works as on any widget.
        """
        return self._fields.reading().value

    @value.setter
    def value(self, value: Any) -> None:
        self._actions.set_mode(as_json=False)
        self._fields.fill(value)
        self._fields.visit(visited=value is not UNSET)
        self._given = {}
        self._after_change()

    @property
    def errors(self) -> dict[str, str]:
        """What is missing or not right, by JSON Pointer; empty for an answer that can be sent."""
        return self._asked.errors(self._fields.reading())

    @property
    def comment(self) -> str | None:
        """What is recorded beside the answer to a question; None for nothing. It can be set."""
        return None if self._actions.comment is None else self._actions.comment.text

    @comment.setter
    def comment(self, text: str | None) -> None:
        if self._actions.comment is not None:
            self._actions.comment.text = text

    def code(self) -> str:
        """Return the answer as a Python expression; secrets are asked for by `getpass`."""
        return self._fields.code()

    # --- submitting ---------------------------------------------------------------------------

    def on_submit(self, callback: Callback, *, remove: bool = False) -> None:
        """Call `callback` with each good answer that is submitted; `remove=True` stops that.

        It may raise an `AnswerError`, whose problems are shown at their fields, or another
        `ResumeError`, which is shown above them; the form can then be submitted again.
        """
        if remove:
            self._callbacks.remove(callback)
        else:
            self._callbacks.append(callback)

    def submit(self) -> bool:
        """Send the answer if it is good, else show what is not; return whether it was sent.

        What was sent is not sent again before something changes, or `enable()` is called. A
        question whose time is over takes no answer.
        """
        with self._lock:
            if self._busy or self._sent or self._is_over:
                return False
            self._busy = True
        try:
            return self._deliver()
        finally:
            self._busy = False

    def enable(self) -> None:
        """Let the answer be changed and submitted again, while the question has time."""
        self._sent = False
        self._fields.lock(locked=False)
        if self._is_over:
            self._close_up()
        else:
            self._actions.hold(held=False)

    def _deliver(self) -> bool:
        reading = self._fields.reading()
        self._given = {}
        if self._asked.errors(reading):
            self._fields.visit(visited=True)
            self._told = True
            self._refresh()
            return False
        try:
            for callback in tuple(self._callbacks):
                callback(reading.value)
        except AnswerError as error:
            self._tell(error.problems)
            return False
        except ResumeError as error:
            self._summary.show(str(error))
            return False
        self._sent = True
        if self._draft is not None:
            self._draft.forget()
        self._summary.hide()
        self._fields.forget_secrets()
        self._fields.lock(locked=self._asked.interrupt is not None)
        self._actions.hold(held=True, why="Sent")
        return True

    def _take_draft(self, place: Keeping | None) -> None:
        self._draft = place
        if place is not None and place.found is not None:
            self._fields.restore(place.found.value)
            self._last = self.value
            self._say_draft(place.found.saved_at)

    def _say_draft(self, saved_at: float | None) -> None:
        if not self._sent:
            self._actions.say("" if saved_at is None else f"Draft kept {clock(saved_at)}")

    # --- changes ------------------------------------------------------------------------------

    def _changed(self, place: str) -> None:
        """Take note of a person's change: the field has been left."""
        self._given.pop(place, None)
        self._after_change()

    def _after_change(self) -> None:
        if self._sent and self._asked.interrupt is None:
            self.enable()
        self._refresh()
        if self._draft is not None and not self._sent:
            self._draft.keep(self._fields.draft(), self._say_draft)
        old, self._last = self._last, self.value
        change = Bunch(name="value", old=old, new=self._last, owner=self, type="change")
        self.notify_change(change)

    def _fill_example(self) -> None:
        self._fields.fill_example()
        self._after_change()

    def _switch(self, as_json: bool) -> None:
        if self._fields.switch(as_json=as_json):
            self._refresh()
        else:
            self._actions.set_mode(as_json=True)

    # --- what it shows ------------------------------------------------------------------------

    def _tell(self, problems: Mapping[str, str]) -> None:
        """Show problems that somebody else found, until their fields are changed."""
        self._given = self._fields.placed(problems)
        self._told = True
        self._refresh()

    def _refresh(self) -> None:
        errors = {**self._given, **self._fields.placed(self.errors)}
        self._fields.show_errors(errors, self._given)
        if not (self._told and errors):
            self._summary.hide()
            return
        lines = [
            (error_line(editor, errors[place]), self._focus(place))
            for place, editor in self._fields.in_order(errors)
        ]
        many = "1 answer is" if len(lines) == 1 else f"{len(lines)} answers are"
        self._summary.show(f"{many} missing or not right", lines)
        serve_while_busy(self._summary.box)

    def _focus(self, place: str) -> Callable[[], None]:
        return lambda: self._focus_on(self._fields.focus_class(place))

    def _focus_on(self, css_class: str) -> None:
        if self._page:
            self._page.focus_on(css_class)

    def _show_code(self) -> None:
        self._actions.show_code(self._asked.as_code(self.code(), self.comment))

    @property
    def _is_over(self) -> bool:
        return self._head is not None and self._head.is_over

    def tick(self, now: float | None = None) -> bool:
        """Say how long it waits at `now`, epoch seconds; return whether its time has just run out.

        From then on nothing can be changed: the form tells of a question nobody answered.
        """
        say = self._page.say if self._page else str
        at = time.time() if now is None else now
        is_ended = self._head is not None and self._head.tick(at, say)
        if is_ended:
            self._close_up()
        return is_ended

    def _close_up(self) -> None:
        """Let nobody change or send anything any more."""
        self._summary.hide()
        self._fields.end()
        self._actions.hold(held=True, why="Its time is over")

    def __repr__(self) -> str:
        asked = self._asked.interrupt
        of = f" of {asked.key!r}" if asked else ""
        missing = len(self.errors)
        stands = "sent" if self._sent else f"{missing} missing" if missing else "complete"
        return f"<Form{of}: {stands}>"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Show the form; where nobody can answer, the question and what stands there as text."""
        shown: Any = {} if unattended() else super()._repr_mimebundle_(**options)
        message = f"{self._asked.message}\n" if self._asked.message else ""
        return {**shown, "text/plain": f"{message}{self._fields.words()}"}
