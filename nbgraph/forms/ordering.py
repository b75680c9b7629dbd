"""The order in which the fields of an object stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nbgraph.core.json_values import Json, is_array, is_object

__all__ = ["in_order"]


def in_order(schema: Mapping[str, Json], names: Sequence[str]) -> list[str]:
    """Return the names in the order of the schema.

    `x-order` or `ui:order` on the object lists names, `*` for those it does not name; on a field
    `x-order` or `propertyOrder` is a number, and fields without one come after.
    """
    listed = schema.get("x-order", schema.get("ui:order"))
    if is_array(listed):
        return _as_listed([name for name in listed if isinstance(name, str)], names)
    properties = schema.get("properties")
    numbers = {name: _number(properties[name]) for name in names if is_object(properties)}
    return sorted(names, key=lambda name: numbers.get(name, float("inf")))


def _as_listed(listed: Sequence[str], names: Sequence[str]) -> list[str]:
    others = [name for name in names if name not in listed]
    before = listed[: listed.index("*")] if "*" in listed else listed
    after = listed[len(before) + 1 :]
    first = [name for name in before if name in names]
    return [*first, *others, *(name for name in after if name in names and name not in first)]


def _number(schema: Json) -> float:
    order = schema.get("x-order", schema.get("propertyOrder")) if is_object(schema) else None
    if isinstance(order, int | float) and not isinstance(order, bool):
        return float(order)
    return float("inf")
