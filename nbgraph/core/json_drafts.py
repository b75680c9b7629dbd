"""JSON Schema of older drafts, and of OpenAPI 3.0 -> the same in Draft 2020-12."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nbgraph.core.json_values import Json, is_array, is_object

__all__ = ["modern", "parts_of"]

_ONE = {
    *("not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"),
    *("additionalItems", "unevaluatedItems", "unevaluatedProperties", "contentSchema"),
}
_LISTS = {"allOf", "anyOf", "oneOf", "prefixItems", "items"}
_NAMED = {
    *("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"),
    *("dependencies", "schemas"),
}


_MAX_DEPTH = 100


def modern(schema: Json, depth: int = 0) -> Json:
    """Return a schema as Draft 2020-12 writes it.

    That changes a list of items, dependencies, bounds that are yes or no, recursion as Draft
    2019-09 names it, and what OpenAPI 3.0 calls nullable; anything else stays.
    """
    if not is_object(schema) or depth > _MAX_DEPTH:
        return schema
    result = {key: _inside(key, value, depth + 1) for key, value in schema.items()}
    for change in (_tuple, _dependencies, _bounds, _recursion, _nullable):
        change(result)
    return result


def _inside(key: str, value: Json, depth: int) -> Json:
    if key in _NAMED and is_object(value):
        return {name: modern(inner, depth) for name, inner in value.items()}
    if key in _LISTS and is_array(value):
        return [modern(inner, depth) for inner in value]
    return modern(value, depth) if key in _ONE or key == "components" else value


def parts_of(schema: dict[str, Json]) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield the schemas that stand in a schema, each with the way to it."""
    for key, value in schema.items():
        if key in _NAMED and is_object(value):
            yield from (((key, name), inner) for name, inner in value.items())
        elif key in _LISTS and is_array(value):
            yield from (((key, at), inner) for at, inner in enumerate(value))
        elif key in _ONE or key == "components":
            yield (key,), value


def _tuple(schema: dict[str, Any]) -> None:
    if not is_array(schema.get("items")):
        return
    places = schema.pop("items")
    if places:
        schema["prefixItems"] = places
    if "additionalItems" in schema:
        schema["items"] = schema.pop("additionalItems")


def _dependencies(schema: dict[str, Any]) -> None:
    found = schema.get("dependencies")
    if not is_object(found):
        return
    del schema["dependencies"]
    for name, needed in found.items():
        keyword = "dependentRequired" if is_array(needed) else "dependentSchemas"
        schema.setdefault(keyword, {})[name] = needed


def _bounds(schema: dict[str, Any]) -> None:
    for bound, beyond in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if not isinstance(schema.get(beyond), bool):
            continue
        if schema.pop(beyond) and bound in schema:
            schema[beyond] = schema.pop(bound)


def _recursion(schema: dict[str, Any]) -> None:
    if isinstance(schema.get("$recursiveAnchor"), bool):
        del schema["$recursiveAnchor"]
    if schema.get("$recursiveRef") == "#":
        schema.setdefault("$ref", schema.pop("$recursiveRef"))


_NOTES = {"title", "description", "default", "examples", "readOnly", "writeOnly", "deprecated"}


def _nullable(schema: dict[str, Any]) -> None:
    """Add null to the type; where a reference or allOf has it, make it one of two kinds."""
    if not isinstance(schema.get("nullable"), bool):
        return
    if not schema.pop("nullable"):
        return
    kind = schema.get("type")
    if isinstance(kind, str) and kind != "null":
        schema["type"] = [kind, "null"]
        return
    inner = {key: value for key, value in schema.items() if key not in _NOTES}
    if "type" in schema or not ({"$ref", "allOf", "anyOf", "oneOf"} & inner.keys()):
        return
    for key in inner:
        del schema[key]
    schema["anyOf"] = [inner, {"type": "null"}]
