"""A typed form of the state: what a person changes in it is an update, through the reducers."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ipywidgets

from nbgraph.core.answers import UNSET
from nbgraph.core.driver import HasReducers
from nbgraph.notebook.form import Form
from nbgraph.notebook.labels import label, set_text, visible
from nbgraph.notebook.parts import button, classed, within
from nbgraph.session import Session

__all__ = ["StateForm", "few", "start_schema"]

_FEW = 4
_VALUE_LIMIT = 20_000
_STAYS = "what would run next"


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of a form of the state: their schema, and what stands in them at first."""

    schema: Mapping[str, Any]
    initial: Mapping[str, Any]
    merged: frozenset[str]
    left_out: tuple[str, ...]

    def only(self, names: Container[str]) -> _Fields:
        """Return some of the fields."""
        properties = self.schema.get("properties", {})
        kept = {name: own for name, own in properties.items() if name in names}
        return replace(self, schema={**self.schema, "properties": kept})

    def changes(self, answer: Any) -> dict[str, Any]:
        """Return what an answer changes; what a reducer merges counts as soon as it is given."""
        given: dict[str, Any] = answer if isinstance(answer, dict) else {}
        return {
            name: value
            for name, value in given.items()
            if name in self.merged or name not in self.initial or self.initial[name] != value
        }


class StateForm(ipywidgets.VBox):
    """A form of a thread's state.

    A field without a reducer shows its value, and what is typed replaces it. One with a reducer is
    empty, and what is typed goes through it.

    Parameters
    ----------
    session : Session
        Whose state.
    on_update : function
        Takes the update that a person submits: only what they changed.
    name : function
        Takes how many fields are changed, and returns what the button says.
    filled : bool
        Whether the fields show their values; without them, the form is of an update alone.
    state : dict, optional
        The values to show, as JSON; by default those the thread has. Fields it has not are left
        out.
    places : sequence of (str, str)
        What each node is called and its name, where a choice of what runs next is to be offered.
    """

    def __init__(
        self,
        session: Session,
        on_update: Callable[[Mapping[str, Any]], object],
        name: Callable[[int], str],
        *,
        filled: bool = True,
        state: Mapping[str, Any] | None = None,
        places: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._name = name
        self._places = [(_STAYS, ""), *((visible(said), each) for said, each in places)]
        self._goto: Any = self._choice() if places else None
        self._fields = _fields(session, session.state if state is None else state, filled=filled)
        self._fields = self._fields if state is None else self._fields.only(state)
        self._on_update = on_update
        schema, initial = self._fields.schema, self._fields.initial
        self.form = Form.for_update(schema, initial, self._submitted, name(0))
        self.form.observe(self._changed, names="value")
        self._edited = label("", "nbgraph-help", "nbgraph-edited")
        self._edited.layout.display = "none"
        parts: list[ipywidgets.Widget] = [few(self.form, _FEW, len(schema.get("properties", {})))]
        if self._fields.left_out:
            names = ", ".join(self._fields.left_out)
            parts.append(label(f"Too large to be edited here: {names}", "nbgraph-help"))
        super().__init__([*([self._goto] if self._goto else []), *parts, self._edited])
        classed(self, "nbgraph-state-form")

    @property
    def goto(self) -> str | None:
        """The node that runs next instead of what would; None where that stays."""
        return self._goto.value or None if self._goto else None

    @goto.setter
    def goto(self, node: str | None) -> None:
        self._goto.value = node or ""

    def _choice(self) -> ipywidgets.Dropdown:
        made = ipywidgets.Dropdown(options=self._places, value="", description="Go on with")
        made.observe(self._changed, names="value")
        return classed(made, "nbgraph-goto", "nbgraph-branch", "nbgraph-with")

    @property
    def changes(self) -> dict[str, Any]:
        """What a person has changed so far."""
        value = self.form.value
        return {} if value is UNSET else self._fields.changes(value)

    def _changed(self, _: Mapping[str, Any]) -> None:
        changes = self.changes
        name = self._name(len(changes))
        if self.goto is not None:
            where = self._places[self._goto.index][0]
            name = f"{name} and go to {where}" if changes else f"Go to {where}"
        self.form.name_submit(name)
        shown = [visible(self._edit(name, value)) for name, value in changes.items()]
        set_text(self._edited, f"edited: {'; '.join(shown)}")
        self._edited.layout.display = None if shown else "none"

    def _edit(self, name: str, value: Any) -> str:
        if name in self._fields.merged or name not in self._fields.initial:
            return f"{name} gets {_short(value)}"
        return f"{name} {_short(self._fields.initial[name])} → {_short(value)}"

    def _submitted(self, answer: Any) -> None:
        self._on_update(self._fields.changes(answer))

    def close(self) -> None:
        """Close the form with all its parts."""
        inner = list(within(self))
        super().close()
        for part in inner:
            part.close()


def few(form: Form, shown: int, count: int) -> ipywidgets.VBox:
    """Return a form whose first fields stand there, and the rest after a press of Show all."""
    if count <= shown or not 1 <= shown <= 6:
        return ipywidgets.VBox([form])
    hides = f"nbgraph-few-{shown}"

    def show_all() -> None:
        box.remove_class(hides)
        box.children = (form,)

    link = button("Show all", show_all, "link", "nbgraph-all")
    said = label(f"{shown} of {count} fields.", "nbgraph-help")
    box = ipywidgets.VBox([form, classed(ipywidgets.HBox([said, link]), "nbgraph-row")])
    return classed(box, hides)


def start_schema(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
    """Return the schema of an input with what must be given first, and how many fields that are."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    if not properties and schema.get("type") == "object":  # any keys, and none are an input too
        return {"title": "Input", "default": {}, **schema}, 0
    needed = [name for name in schema.get("required", ()) if name in properties]
    first = {name: properties[name] for name in properties if name in needed}
    if not first:
        return schema, 0
    return {**schema, "properties": {**first, **properties}}, len(first)


def _fields(session: Session, state: Mapping[str, Any], *, filled: bool) -> _Fields:
    schema = session.driver.shape.input_schema
    properties: dict[str, Any] = {}
    initial: dict[str, Any] = {}
    merged: set[str] = set()
    left_out: list[str] = []
    for name, own in schema.get("properties", {}).items():
        reducer = _reducer(session, name)
        if reducer is None and filled and len(json.dumps(state.get(name))) > _VALUE_LIMIT:
            left_out.append(name)
            continue
        properties[name] = _bare(own, reducer)
        if reducer is not None:
            merged.add(name)
        elif filled and name in state:
            initial[name] = state[name]
    shown = {key: value for key, value in schema.items() if key not in ("required", "title")}
    if properties:
        shown["properties"] = properties
    return _Fields(shown, initial, frozenset(merged), tuple(left_out))


def _reducer(session: Session, name: str) -> str | None:
    folding = session.driver.folding
    return folding.reducer(name) if isinstance(folding, HasReducers) else None


def _bare(own: Mapping[str, Any], reducer: str | None) -> dict[str, Any]:
    """Return a field's schema without a default, which would be taken for a change."""
    bare = {key: value for key, value in own.items() if key != "default"}
    if reducer is not None:
        told = f"What you give goes through {reducer}."
        bare["description"] = f"{bare['description']} {told}" if "description" in bare else told
    return bare


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"
