"""The keywords of JSON Schema that are ours: exact, bounded, and with patterns in linear time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from decimal import Decimal
from typing import Any

from nbgraph.core import plain_words as words
from nbgraph.core.formats import format_problem, is_multiple, pattern_matches
from nbgraph.core.json_values import Json, is_array, is_object

__all__ = ["KEYWORDS", "BudgetSpentError", "budget", "counted"]

_MAX_DEPTH = 180
"""How many checks may stand in one another. Each takes three or four frames of Python's stack, and
where that ends inside jsonschema's library in Rust, what comes out is no exception to be caught."""

budget: ContextVar[list[int]] = ContextVar("nbgraph_schema_budget")
"""How many keyword checks the running judgement may still make, and how deep it is in them."""


class BudgetSpentError(Exception):
    """The schema asks for more work than an answer of this size can need."""


def _spend(steps: int = 1) -> None:
    left = budget.get()
    left[0] -= steps
    if left[0] < 0:
        raise BudgetSpentError


def counted(check: Callable[..., Any]) -> Callable[..., Any]:
    """Return a keyword's check that takes its step from the budget, and stops in the depths."""

    def counting(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        _spend()
        spent = budget.get()
        if spent[1] >= _MAX_DEPTH:
            raise BudgetSpentError
        spent[1] += 1
        try:
            yield from check(validator, value, instance, schema) or ()
        finally:
            spent[1] -= 1

    return counting


_Found = tuple[str, tuple[str | int, ...]]
"""A problem and its path below the instance."""


def _wrapped(check: Callable[[Any, Any, Any, Any], Iterable[_Found]]) -> Callable[..., Any]:
    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        from jsonschema.exceptions import ValidationError

        for message, path in check(validator, value, instance, schema):
            yield ValidationError(message, path=path)

    return keyword


def _pattern(_: Any, pattern: Any, instance: Any, __: Any) -> Iterator[_Found]:
    if isinstance(instance, str) and not pattern_matches(pattern, instance):
        yield words.shaped(pattern), ()


def _format(_: Any, name: Any, instance: Any, __: Any) -> Iterator[_Found]:
    if isinstance(instance, str) and (problem := format_problem(name, instance)):
        yield problem, ()


def _media(_: Any, name: Any, instance: Any, schema: Any) -> Iterator[_Found]:
    is_text = isinstance(instance, str) and "contentEncoding" not in schema
    if is_text and name == "application/json" and (problem := format_problem("json", instance)):
        yield problem, ()


def _required(_: Any, names: Any, instance: Any, schema: Any) -> Iterator[_Found]:
    if not is_object(instance):
        return
    fields = schema.get("properties", {})
    for name in names:
        if name not in instance:
            field = fields.get(name)
            is_boolean = is_object(field) and field.get("type") == "boolean"
            yield words.YES_OR_NO if is_boolean else words.FILL_IN, (name,)


def _dependent_required(_: Any, needs: Any, instance: Any, __: Any) -> Iterator[_Found]:
    if not is_object(instance):
        return
    for name in (name for name in needs if name in instance):
        for needed in (each for each in needs[name] if each not in instance):
            yield words.FILL_IN, (needed,)


def _multiple_of(_: Any, step: Any, instance: Any, __: Any) -> Iterator[_Found]:
    is_number = isinstance(instance, int | float) and not isinstance(instance, bool)
    if is_number and not is_multiple(Decimal(str(instance)), Decimal(str(step))):
        yield words.steps(step), ()


def _enum(_: Any, options: Any, instance: Any, __: Any) -> Iterator[_Found]:
    _spend(len(options) // 50)
    if not any(_same(each, instance) for each in options if each == instance):
        yield words.one_of(options), ()


def _const(_: Any, value: Any, instance: Any, __: Any) -> Iterator[_Found]:
    if not _same(value, instance):
        yield words.one_of([value]), ()


def _unique_items(_: Any, wanted: Any, instance: Any, __: Any) -> Iterator[_Found]:
    if not wanted or not is_array(instance):
        return
    seen: set[str] = set()
    for index, item in enumerate(instance):
        text = _canonical(item)
        if text in seen:
            yield words.twice(item), (index,)
        seen.add(text)


def _same(one: Json, other: Json) -> bool:
    return _canonical(one) == _canonical(other)


def _canonical(value: Json) -> str:
    """Return one text for JSON values that are equal: 1 and 1.0 are, 1 and true are not."""
    return json.dumps(_with_plain_numbers(value), sort_keys=True)


def _with_plain_numbers(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if is_object(value):
        return {key: _with_plain_numbers(item) for key, item in value.items()}
    if is_array(value):
        return [_with_plain_numbers(item) for item in value]
    return value


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _: Any) -> Iterator[Any]:
    if not is_object(instance):
        return
    for pattern, schema in patterns.items():
        for name, value in instance.items():
            if pattern_matches(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional(validator: Any, rest: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not is_object(instance):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        if name not in named and not any(pattern_matches(each, name) for each in patterns):
            yield from _rest(validator, rest, name, value)


def _unevaluated(validator: Any, rest: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not is_object(instance):
        return
    own = {key: value for key, value in schema.items() if key != "unevaluatedProperties"}
    seen = _evaluated(validator, instance, own)
    for name, value in instance.items():
        if name not in seen:
            yield from _rest(validator, rest, name, value)


def _rest(validator: Any, rest: Any, name: str, value: Json) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if rest is False:
        yield ValidationError(words.NO_SUCH_FIELD, path=(name,))
    else:
        yield from validator.descend(value, rest, path=name)


def _evaluated(validator: Any, instance: dict[str, Json], schema: Any) -> set[str]:
    """Return the fields of an object that a schema's other keywords have looked at."""
    _spend()
    if not is_object(schema):
        return set()
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    patterns = schema.get("patternProperties", {})
    seen = {name for name in instance if any(pattern_matches(each, name) for each in patterns)}
    seen |= schema.get("properties", {}).keys() & instance.keys()
    for scope, part in _in_place(validator, instance, schema):
        seen |= _evaluated(scope, instance, part)
    return seen


def _in_place(
    validator: Any, instance: dict[str, Json], schema: dict[str, Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield the sub-schemas that apply to the instance itself, each with its validator."""
    for keyword in ("$ref", "$dynamicRef"):
        if keyword in schema:
            found = validator._resolver.lookup(schema[keyword])
            yield (
                validator.evolve(schema=found.contents, _resolver=found.resolver),
                found.contents,
            )
    yield from ((validator, part) for part in schema.get("allOf", []))
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if validator.evolve(schema=part).is_valid(instance):
            yield validator, part
    for name, part in schema.get("dependentSchemas", {}).items():
        if name in instance:
            yield validator, part
    if "if" in schema:
        holds = validator.evolve(schema=schema["if"]).is_valid(instance)
        yield from (
            (validator, schema[key])
            for key in (("if", "then") if holds else ("else",))
            if key in schema
        )


KEYWORDS: dict[str, Callable[[Any, Any, Any, Any], Iterator[Any]]] = {
    "additionalProperties": _additional,
    "const": _wrapped(_const),
    "contentMediaType": _wrapped(_media),
    "dependentRequired": _wrapped(_dependent_required),
    "enum": _wrapped(_enum),
    "format": _wrapped(_format),
    "multipleOf": _wrapped(_multiple_of),
    "pattern": _wrapped(_pattern),
    "patternProperties": _pattern_properties,
    "required": _wrapped(_required),
    "unevaluatedProperties": _unevaluated,
    "uniqueItems": _wrapped(_unique_items),
}
"""Checks in jsonschema's signature, by keyword."""
