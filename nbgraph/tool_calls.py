"""A tool call that waits for a decision, as it is shown: its fields, edits, answers and outcome."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.decisions import ToolInterrupt, decided, edited_arguments
from nbgraph.core.events import Interrupt
from nbgraph.core.hidden import Findings, cleaned, findings
from nbgraph.core.json_values import Json, is_array, is_object
from nbgraph.errors import AnswerError
from nbgraph.forms import Field, ListField, ObjectField, TextField, read
from nbgraph.snapshot import Mark

__all__ = [
    "Edit",
    "Outcome",
    "arguments_field",
    "asked_call",
    "bound_to",
    "check_allowed",
    "cleaned_value",
    "edit_answer",
    "edits",
    "findings_of",
    "many",
    "outcome",
    "problems_by_place",
    "why_asked",
]

_ARGUMENTS = "/arguments"
_KINDS = {str: "string", bool: "boolean", int: "number", float: "number"}
_ONE_LINE = 60


def asked_call(interrupt: Interrupt) -> ToolInterrupt | None:
    """Return the tool call a question is about; None if it is about something else."""
    payload = interrupt.payload
    if isinstance(payload, ToolInterrupt):
        return payload
    if not is_object(payload) or payload.get("kind") != "tool_interrupt":
        return None
    try:
        return ToolInterrupt.model_validate(payload)
    except ValidationError:
        return None


def many(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def why_asked(call: ToolInterrupt) -> str:
    """Return which rule had a call asked about; no text of the model is in it."""
    rule = call.rule
    if rule is None:
        return "Asked because calls of this tool are asked about."
    if rule.problem is not None:
        kind = rule.problem.partition(":")[0]
        return f"Asked because the rule {rule.condition} could not be checked ({kind})."
    if rule.condition == "every call":
        return "Asked because every call of this tool is asked about."
    given = ", ".join(
        f"proposed {name}: {json.dumps(value)}"
        for name in rule.fields
        if not isinstance(value := call.arguments.get(name), str | dict | list | None)
    )
    return f"Asked because of the rule {rule.condition}{f' ({given})' if given else ''}."


def check_allowed(call: ToolInterrupt, action: str, key: str) -> None:
    """Check that a decision is one of those a call allows.

    Raises
    ------
    AnswerError
        If it is not; `key` is that of the question.
    """
    if action not in call.allowed:
        problem = f"{action} is not allowed for this call; allowed: {', '.join(call.allowed)}"
        raise AnswerError(key, {"/action": problem})


def bound_to(call: ToolInterrupt | None, answer: Mapping[str, Json]) -> dict[str, Json]:
    """Return a decision with the digest of the call it is about: of no other call it counts."""
    digest = call.call_hash if call is not None else ""
    return {**answer, "call_hash": digest} if digest else dict(answer)


def problems_by_place(problems: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return what is wrong with the arguments, by JSON Pointer into them, and all the rest."""
    inside = {at: said for at, said in problems.items() if at.startswith(f"{_ARGUMENTS}/")}
    others = [said for at, said in problems.items() if at not in inside]
    return {at.removeprefix(_ARGUMENTS): said for at, said in inside.items()}, others


# --- arguments --------------------------------------------------------------------------------


def arguments_field(call: ToolInterrupt) -> ObjectField:
    """Return the fields of a call's arguments: of the tool's schema, else of the values' kinds.

    They are labelled by the arguments' names, and have room for what is proposed.
    """
    field = read(call.input_schema)
    if not isinstance(field, ObjectField) or not (field.fields or field.rest or field.live):
        field = read(_guessed(call.arguments))
    fitted = _fitted(field, call.arguments)
    if not isinstance(fitted, ObjectField):
        raise TypeError(f"The schema of an object gave {fitted!r}")
    named = tuple(replace(each, label=each.name) for each in fitted.fields)
    return replace(fitted, fields=named)


def _guessed(arguments: Mapping[str, Json]) -> dict[str, Json]:
    properties = {
        name: {"type": _KINDS[type(value)]} if type(value) in _KINDS else {}
        for name, value in arguments.items()
    }
    return {"type": "object", "properties": properties, "required": list(arguments)}


def _fitted(field: Field, value: Json) -> Field:
    """Return a field in which a text of several lines, or a long one, has several lines."""
    match field:
        case TextField() if isinstance(value, str) and not (field.secret or field.format):
            is_wide = "\n" in value or len(value) > _ONE_LINE
            return replace(field, multiline=True) if is_wide else field
        case ObjectField() if is_object(value):
            fields = (_fitted(each, value.get(each.name)) for each in field.fields)
            return replace(field, fields=tuple(fields))
        case ListField() if is_array(value) and isinstance(field.item, TextField):
            widest = max((each for each in value if isinstance(each, str)), key=len, default="")
            lines = next((each for each in value if isinstance(each, str) and "\n" in each), widest)
            return replace(field, item=_fitted(field.item, lines))
        case _:
            return field


@dataclass(frozen=True, slots=True)
class Edit:
    """One argument that a person changed; UNSET is an argument that is not there."""

    name: str
    old: Json | Unset
    new: Json | Unset


def edits(
    proposed: Mapping[str, Json], first: Mapping[str, Json], now: Mapping[str, Json]
) -> tuple[Edit, ...]:
    """Return which of the proposed arguments differ, where `first` is how a form read them."""
    return tuple(
        Edit(name, proposed.get(name, UNSET), now.get(name, UNSET))
        for name in {**proposed, **first, **now}
        if _text(first.get(name, UNSET)) != _text(now.get(name, UNSET))
    )


def _text(value: Json | Unset) -> str:
    return "" if isinstance(value, Unset) else json.dumps(value, sort_keys=True)


def edit_answer(call: ToolInterrupt, changed: Iterable[Edit]) -> dict[str, Json]:
    """Return the decision that runs a call with edits: the changed arguments, and no others.

    If one is taken away, all that are left stand in it.
    """
    there = {edit.name: edit.new for edit in changed if not isinstance(edit.new, Unset)}
    gone = {edit.name for edit in changed if isinstance(edit.new, Unset)}
    if not gone:
        return {"action": "edit", "arguments": there}
    left = {name: value for name, value in call.arguments.items() if name not in gone}
    return {"action": "edit", "arguments": {**left, **there}, "replace": True}


# --- what is hidden in a value ------------------------------------------------------------------


def findings_of(value: Json | Unset) -> Findings:
    """Return what is hidden in the texts of a value, names in it included."""
    found = [findings(text) for text in _texts(value)]
    hidden = sum(each.hidden for each in found)
    after = next((each.after for each in found if each.hidden), "")
    posing = dict.fromkeys(word for each in found for word in each.posing)
    return Findings(hidden, after, tuple(posing))


def _texts(value: Json | Unset) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif is_array(value):
        for inner in value:
            yield from _texts(inner)


def cleaned_value(value: Json) -> Json:
    """Return a value whose texts have nothing hidden in them; names stay."""
    if is_object(value):
        return {name: cleaned_value(inner) for name, inner in value.items()}
    if is_array(value):
        return [cleaned_value(inner) for inner in value]
    return cleaned(value) if isinstance(value, str) else value


# --- what became of it --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was decided about a call.

    Attributes
    ----------
    mark : Mark
        How it is marked.
    words : str
        `approved`, `approved with 2 edits`, `denied`, `answered for the tool`.
    arguments : dict or None
        What it runs with; None if it does not run.
    message : str
        The reason, or the answer in the tool's place; the person's own words.
    changed : tuple of Edit
        What differs from what was proposed.
    """

    mark: Mark
    words: str
    arguments: dict[str, Json] | None
    message: str
    changed: tuple[Edit, ...] = ()

    @property
    def said(self) -> str:
        """It in words, with the reason or the answer."""
        is_told = self.message and self.arguments is None
        return f"{self.words}: “{self.message}”" if is_told else self.words


def outcome(call: ToolInterrupt, answer: Any) -> Outcome:
    """Return what an answer decides about a call."""
    decision = decided(answer, call.allowed)
    message = decision.message or ""
    match decision.action:
        case "approve":
            return Outcome("done", "approved", call.arguments, message)
        case "edit":
            arguments = edited_arguments(call.arguments, decision)
            changed = edits(call.arguments, call.arguments, arguments)
            count = f"approved with {many(len(changed), 'edit')}" if changed else "approved"
            return Outcome("done", count, arguments, message, changed)
        case "respond":
            return Outcome("done", "answered for the tool", None, message)
        case "deny":
            return Outcome("failed", "denied", None, message)
