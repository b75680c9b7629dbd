"""Whether a document is plainly a JSON Schema: what most are, told without loading jsonschema.

Only a yes counts. What is rare or doubtful is left to the metaschema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from nbgraph.core.json_values import Json, is_array, is_object

__all__ = ["is_plainly_a_schema"]

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_ESCAPED = frozenset("~/%")


def is_plainly_a_schema(document: Json) -> bool:
    """Return whether every keyword of Draft 2020-12 in a document is used as it has to be.

    A reference is one to a definition at its top.
    """
    try:
        return _is_schema(document) and _there(document).issuperset(_references(document))
    except RecursionError:
        return False


def _there(document: Json) -> set[Json]:
    """Return the plain references that lead somewhere."""
    definitions = document.get("$defs") if is_object(document) else None
    names = definitions if is_object(definitions) else ()
    return {f"#/$defs/{name}" for name in names if _ESCAPED.isdisjoint(name)}


def _references(value: Json) -> Iterator[str]:
    """Yield all there is to be followed, and what only looks so in a value."""
    if is_array(value):
        for item in value:
            yield from _references(item)
    if is_object(value):
        for key, inner in value.items():
            if key == "$ref" and isinstance(inner, str):
                yield inner
            yield from _references(inner)


def _is_schema(value: Json) -> bool:
    if isinstance(value, bool):
        return True
    return is_object(value) and all(_is_used_well(key, inner) for key, inner in value.items())


def _is_used_well(key: str, value: Json) -> bool:
    check = _CHECKS.get(key)
    return check(value) if check is not None else not key.startswith("$") and key not in _OLDER


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_truth(value: Json) -> bool:
    return isinstance(value, bool)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_step(value: Json) -> bool:
    return _is_number(value) and value > 0


def _is_type(value: Json) -> bool:
    if is_array(value):
        return bool(value) and _are_names(value) and _TYPES.issuperset(value)
    return isinstance(value, str) and value in _TYPES


def _are_names(value: Json) -> bool:
    """Whether a value is a list of texts, each only once."""
    return is_array(value) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _are_schemas(value: Json) -> bool:
    return is_array(value) and bool(value) and all(map(_is_schema, value))


def _are_named_schemas(value: Json) -> bool:
    return is_object(value) and all(map(_is_schema, value.values()))


def _are_named_names(value: Json) -> bool:
    return is_object(value) and all(map(_are_names, value.values()))


def _is_anything(_: Json) -> bool:
    return True


_OLDER = frozenset({"dependencies"})
"""Keywords of older drafts that the metaschema still knows."""

_CHECKS: Mapping[str, Callable[[Json], bool]] = {
    **dict.fromkeys(
        ("$schema", "$ref", "$comment", "title", "description", "format", "pattern"), _is_text
    ),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), _is_text),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _is_truth),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minProperties", "maxProperties", "minContains", "maxContains"), _is_count),
    **dict.fromkeys(("items", "contains", "additionalProperties", "propertyNames"), _is_schema),
    **dict.fromkeys(("not", "if", "then", "else", "contentSchema"), _is_schema),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), _is_schema),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _are_schemas),
    **dict.fromkeys(("properties", "patternProperties", "$defs"), _are_named_schemas),
    **dict.fromkeys(("definitions", "dependentSchemas"), _are_named_schemas),
    **dict.fromkeys(("enum", "examples"), is_array),
    **dict.fromkeys(("const", "default"), _is_anything),
    "type": _is_type,
    "multipleOf": _is_step,
    "required": _are_names,
    "dependentRequired": _are_named_names,
}
