"""Secrets of questions and tool calls, covered wherever a thread is shown or written down.

What a schema calls a secret (`writeOnly`, the format `password`, a `SecretStr`) is covered at its
place. A secret argument of a tool call stands in the model's message too, and so in the state:
there its text is covered.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from nbgraph.core.answers import Unset
from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.events import AnswersGiven, Event, Interrupt, TaskInterrupted
from nbgraph.core.json_values import Json, is_array, is_object
from nbgraph.forms import MASK, Field, inputs_of, read, replaced, secret_places
from nbgraph.tool_calls import Edit, asked_call

__all__ = [
    "call_secrets",
    "covered",
    "covered_answer",
    "covered_arguments",
    "covered_edit",
    "covered_text",
    "has_secrets",
]

_SHORTEST = 4
"""A shorter secret is covered where it is the whole value: it is part of too many words."""


def has_secrets(call: ToolInterrupt) -> bool:
    """Return whether a call's tool may call some of its arguments a secret."""
    schema = _written(call.input_schema)
    return "password" in schema or "writeOnly" in schema


def covered_arguments(
    call: ToolInterrupt, arguments: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """Return a call's arguments, or others of its tool, with what that calls secrets covered."""
    given = dict(call.arguments if arguments is None else arguments)
    return _at_places(_written(call.input_schema), given) if has_secrets(call) else given


def covered_edit(call: ToolInterrupt, edit: Edit) -> Edit:
    """Return an edit of an argument with what the call's tool calls secrets covered."""
    if not has_secrets(call):
        return edit
    old, new = (
        side if isinstance(side, Unset) else covered_arguments(call, {edit.name: side})[edit.name]
        for side in (edit.old, edit.new)
    )
    return Edit(edit.name, old, new)


def covered_answer(question: Interrupt, answer: Json) -> Any:
    """Return an answer with what its question, or the tool it is about, calls secrets covered."""
    schema = question.response_schema
    shown = answer if schema is None else _at_places(_written(schema), answer)
    call = asked_call(question)
    if call is None or not is_object(shown) or not is_object(shown.get("arguments")):
        return shown
    return {**shown, "arguments": covered_arguments(call, shown["arguments"])}


def _written(schema: Mapping[str, Json]) -> str:
    return json.dumps(schema, sort_keys=True)


def _at_places(schema: str, value: Json) -> Any:
    field = _field(schema)
    places = secret_places(field, inputs_of(field, value))
    return replaced(value, dict.fromkeys(places, lambda _: MASK))


@lru_cache(maxsize=64)
def _field(schema: str) -> Field:
    return read(json.loads(schema))


# --- in the state -------------------------------------------------------------------------------


def call_secrets(events: Iterable[Event]) -> frozenset[str]:
    """Return the texts and numbers that tools call secrets, in calls asked about and in edits."""
    calls: dict[str, ToolInterrupt] = {}
    found: set[str] = set()
    for event in events:
        match event:
            case TaskInterrupted(interrupts=asked):
                for question in asked:
                    call = asked_call(question)
                    if call is not None and has_secrets(call):
                        calls[question.key] = call
                        found.update(_secrets(call, call.arguments))
            case AnswersGiven(answers=answers):
                for key in answers.keys() & calls.keys():
                    answer = answers[key]
                    edited = answer.get("arguments") if is_object(answer) else None
                    found.update(_secrets(calls[key], edited) if is_object(edited) else ())
            case _:
                pass
    return frozenset(found)


def _secrets(call: ToolInterrupt, arguments: Mapping[str, Json]) -> Iterator[str]:
    return _lost(dict(arguments), covered_arguments(call, arguments))


def _lost(whole: Json, shown: Json) -> Iterator[str]:
    """Yield the texts that stand in one value and are covered in the other."""
    if shown == MASK:
        yield from _texts(whole)
    elif is_object(whole) and is_object(shown):
        for name, inner in whole.items():
            yield from _lost(inner, shown[name])
    elif is_array(whole) and is_array(shown):
        for inner, other in zip(whole, shown, strict=True):
            yield from _lost(inner, other)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str) and value not in ("", MASK):
        yield value
    elif _is_number(value):
        yield json.dumps(value)
    elif is_object(value):
        for inner in value.values():
            yield from _texts(inner)
    elif is_array(value):
        for inner in value:
            yield from _texts(inner)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def covered(value: Any, secrets: Collection[str]) -> Any:
    """Return JSON with these texts covered in it."""
    if not secrets:
        return value
    if isinstance(value, str):
        return MASK if value in secrets else covered_text(value, secrets)
    if _is_number(value):
        return MASK if json.dumps(value) in secrets else value
    if is_object(value):
        return {covered(name, secrets): covered(inner, secrets) for name, inner in value.items()}
    if is_array(value):
        return [covered(inner, secrets) for inner in value]
    return value


def covered_text(text: str, secrets: Collection[str]) -> str:
    """Return a text without these texts, as they are and as they are written in JSON or code."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            for written in _ways(secret):
                text = text.replace(written, MASK)
    return text


def _ways(secret: str) -> Iterable[str]:
    quoted = (json.dumps(secret), json.dumps(secret, ensure_ascii=False), repr(secret))
    return dict.fromkeys((*(each[1:-1] for each in quoted), secret))
