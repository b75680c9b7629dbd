"""Judges an answer by JSON Schema, Draft 2020-12: strictly, within a budget, without a network.

The keywords are jsonschema's. Ours are the ones where that is too lax or unbounded: patterns run
in the linear-time engine, formats are always checked, 1.0 is no integer, decimals are exact. A
reference out of the document is never fetched. What cannot be judged is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from nbgraph.core import plain_words as words
from nbgraph.core.json_drafts import parts_of
from nbgraph.core.json_keywords import KEYWORDS, BudgetSpentError, budget, counted
from nbgraph.core.json_library import load_jsonschema
from nbgraph.core.json_values import Json, is_array, is_object, pointer

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = ["schema_faults", "schema_problems"]

_MAX_PROBLEMS = 50

_BROKEN = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What jsonschema raises for a schema that is not one, such as `{"properties": 1}`."""


def schema_problems(schema: dict[str, Json], answer: Json) -> dict[str, str]:
    """Return what is wrong with an answer, by JSON Pointer; empty for a good one."""
    load_jsonschema()
    from jsonschema.exceptions import UndefinedTypeCheck, UnknownType
    from referencing.exceptions import NoSuchResource, Unresolvable

    token = budget.set([10_000 + 50 * _size(answer), 0])
    try:
        return _problems(_strict_validator()(schema, registry=_no_registry()).iter_errors(answer))
    except BudgetSpentError:
        return {"": "The schema of this question is too much work to check"}
    except (Unresolvable, NoSuchResource) as error:
        return {"": f"The schema of this question refers to {error.ref!r}, which is not in it"}
    except (UndefinedTypeCheck, UnknownType, *_BROKEN) as error:
        return {"": f"The schema of this question cannot be used ({type(error).__name__})"}
    finally:
        budget.reset(token)


def schema_faults(schema: dict[str, Json], *, outward: bool = False) -> dict[str, str]:
    """Return what makes a document no JSON Schema of Draft 2020-12, by JSON Pointer.

    A reference that leads to nothing does; one to another document only if none are let `outward`.
    """
    load_jsonschema()
    from jsonschema import Draft202012Validator

    try:
        meta: Any = Draft202012Validator(Draft202012Validator.META_SCHEMA)
        errors: Iterator[ValidationError] = meta.iter_errors(schema)
        faults = {pointer(error.absolute_path): error.message[:200] for error in errors}
        return faults or _leading_nowhere(schema, outward=outward)
    except RecursionError:
        return {"": "it is nested too deep"}
    except ValueError as error:
        return {"": f"it has an $id that is no address: {error}"}


def _leading_nowhere(schema: dict[str, Json], *, outward: bool) -> dict[str, str]:
    """Return the references that lead to nothing in a document, by where they stand."""
    import referencing.jsonschema

    dialect: Any = referencing.jsonschema.DRAFT202012
    document = dialect.create_resource(schema)
    found: dict[str, str] = {}

    def look(inner: Json, resolver: Any, path: tuple[str | int, ...]) -> None:
        if not is_object(inner):
            return
        resolver = resolver.in_subresource(dialect.create_resource(inner))
        for keyword in ("$ref", "$dynamicRef"):
            reference = inner.get(keyword)
            if reference is not None and not _leads(reference, resolver, outward=outward):
                found[pointer(path)] = f"it refers to {reference!r}, which is not in it"
        for step, part in parts_of(inner):
            look(part, resolver, (*path, *step))

    look(schema, _no_registry().resolver_with_root(document), ())
    return found


def _leads(reference: Json, resolver: Any, *, outward: bool) -> bool:
    """Return whether a reference leads to a schema in the document, or out of it if it may."""
    from referencing.exceptions import PointerToNowhere, Unresolvable

    try:
        return isinstance(resolver.lookup(reference).contents, dict | bool)
    except PointerToNowhere:
        return False
    except Unresolvable:
        return outward and not reference.startswith("#")
    except _BROKEN:
        return outward


def _size(value: Json) -> int:
    if is_object(value):
        return 1 + sum(map(_size, value.values()))
    if is_array(value):
        return 1 + sum(map(_size, value))
    return 1


@functools.cache
def _no_registry() -> Any:
    import referencing

    registry: Any = referencing.Registry  # generic over what it holds, which is untyped here
    return registry()


@functools.cache
def _strict_validator() -> Any:
    from jsonschema import Draft202012Validator, validators

    checks = {**Draft202012Validator.VALIDATORS, **KEYWORDS}
    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
    every = {name: counted(check) for name, check in checks.items()}
    validator: Any = cast("Any", validators).extend(
        Draft202012Validator, every, type_checker=checker
    )
    validator.evolve = _evolve
    return validator


def _evolve(self: Any, **changes: Any) -> Any:
    """Stay this class: jsonschema would follow a `$schema` to a class without our rules."""
    kept = {
        "schema": self.schema,
        "_resolver": self._resolver,
        "registry": self._registry,
        **changes,
    }
    return type(self)(**kept)


def _is_integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _problems(errors: Iterable[ValidationError]) -> dict[str, str]:
    problems: dict[str, str] = {}
    for error in errors:
        for path, message in _told(error):
            problems.setdefault(path, message)
        if len(problems) >= _MAX_PROBLEMS:
            break
    return problems


def _told(error: ValidationError) -> Iterator[tuple[str, str]]:
    """Yield the places and words of one error; of a choice, those of the branch that was meant."""
    if error.validator not in {"anyOf", "oneOf"} or not error.context:
        yield pointer(error.absolute_path), _in_words(error)
        return
    branches = _branches(error.context)
    meant = _meant_branch(branches)
    for inner in meant:
        yield from _told(inner)
    if not meant:
        yield _told_of_all(error, branches)


def _branches(errors: Iterable[ValidationError]) -> list[list[ValidationError]]:
    return [list(group) for _, group in groupby(errors, key=lambda e: e.relative_schema_path[0])]


def _meant_branch(branches: list[list[ValidationError]]) -> list[ValidationError]:
    """Return the errors of the one branch whose type and tag fit, or of the one beside null."""
    fitting = [branch for branch in branches if not any(map(_is_another, branch))]
    if len(fitting) == 1:
        return fitting[0]
    not_null = [b for b in branches if not any(_wants(error, "null") for error in b)]
    return not_null[0] if len(not_null) == 1 else []


def _told_of_all(error: ValidationError, branches: list[list[ValidationError]]) -> tuple[str, str]:
    """Return what to say when no branch was meant: of the tag they share, or of their types."""
    tags = [next((e for e in branch if e.validator == "const"), None) for branch in branches]
    places = {pointer(tag.absolute_path) for tag in tags if tag}
    if all(tags) and len(places) == 1:
        return places.pop(), words.one_of([tag.validator_value for tag in tags if tag])
    missing = [{(pointer(e.absolute_path), e.message) for e in branch} for branch in branches]
    shared = sorted(set[tuple[str, str]].intersection(*missing))
    if shared:
        return shared[0]
    return pointer(error.absolute_path), _none_fits(error)


def _is_another(error: ValidationError) -> bool:
    """Whether an error says that its branch is not the one meant: another type or another tag."""
    if error.relative_path:
        return len(error.relative_path) == 1 and error.validator == "const"
    return error.validator in {"type", "const", "enum"}


def _wants(error: ValidationError, kind: str) -> bool:
    return error.validator == "type" and error.validator_value == kind


def _none_fits(error: ValidationError) -> str:
    kinds = [e.validator_value for e in error.context or () if e.validator == "type"]
    flat = [kind for kind in kinds if isinstance(kind, str)]
    if len(flat) == len(error.context or ()):
        return words.not_a(flat)
    return "Fits none of the choices"


def _in_words(error: ValidationError) -> str:
    value: Any = error.validator_value
    keyword: str | None = cast("str | None", error.validator)
    match keyword:
        case "type":
            return words.not_a(value)
        case "minLength":
            return words.shortest(value)
        case "maxLength":
            return words.longest(value)
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
            return _BOUNDS[keyword](value)
        case "minItems" | "minProperties":
            return words.at_least(value)
        case "maxItems" | "maxProperties":
            return words.at_most(value)
        case "oneOf":
            return "Fits more than one of the choices"
        case "not":
            return "This value is not allowed"
        case None:
            return words.NO_SUCH_FIELD
        case _:
            return error.message[:200]


_BOUNDS: dict[str, Callable[[Any], str]] = {
    "minimum": words.at_least,
    "maximum": words.at_most,
    "exclusiveMinimum": words.above,
    "exclusiveMaximum": words.below,
}
