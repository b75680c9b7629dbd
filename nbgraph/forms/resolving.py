"""References, allOf and conditions of one document -> schemas that stand for themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from nbgraph.core.json_values import Json, is_array, is_object
from nbgraph.forms.merging import CONDITIONS, ConflictError, is_note, merged
from nbgraph.forms.naming import Names

__all__ = ["Document", "Place", "Recursion", "UnresolvedError"]

_MAX_STEPS = 5_000
_MAX_HOPS = 32
_BROKEN = (TypeError, ValueError, KeyError, AttributeError)
"""What a schema that is none can raise while it is merged."""


class UnresolvedError(ValueError):
    """A schema refers out of its document, only to itself, or is too much work."""


@dataclass(frozen=True, slots=True)
class Recursion:
    """A schema that is being read already, further up; `notes` stand beside the reference."""

    reference: str
    notes: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a schema stands: its path in the answer, and the references that led to it.

    Attributes
    ----------
    path : tuple of str
        The names above it, `*` for an entry of a list or map.
    refs : dict of str to int
        How long the path was when each reference was followed.
    """

    path: tuple[str, ...] = ()
    name: str = ""
    label: str = "Answer"
    required: bool = True
    refs: Mapping[str, int] | None = None

    def within(self, name: str, label: str, *, required: bool) -> Place:
        """Return the place of a field."""
        path = (*self.path, name)
        return replace(self, path=path, name=name, label=label, required=required)

    def entry(self, label: str, *, required: bool = True) -> Place:
        """Return the place of an entry, which has no name."""
        return replace(self, path=(*self.path, "*"), name="", label=label, required=required)

    def afresh(self, *, again: str | None = None) -> Place:
        """Return the place of what is opened here later; it may follow `again` once more."""
        refs = {reference: 0 for reference in self.refs or {} if reference != again}
        return replace(self, path=(self.name,), required=True, refs=refs)

    def beyond(self, reference: str) -> Place:
        """Return this place after a reference was followed."""
        return replace(self, refs={**(self.refs or {}), reference: len(self.path)})


class Document:
    """One JSON Schema document, whose references are followed and never fetched."""

    def __init__(self, root: Json) -> None:
        self.root = root
        self._names = Names(root)
        self._steps = 0

    def whole(self, schema: Json, place: Place) -> tuple[dict[str, Json] | Recursion, Place]:
        """Return a schema with its references followed and its allOf merged.

        Raises
        ------
        UnresolvedError, ConflictError
            If there is no such schema.
        """
        try:
            return self._whole(schema, place, 0)
        except RecursionError as error:
            raise UnresolvedError("it is nested too deep") from error
        except (UnresolvedError, ConflictError):
            raise
        except _BROKEN as error:
            raise UnresolvedError("it is no schema") from error

    def _whole(
        self, schema: Json, place: Place, hops: int
    ) -> tuple[dict[str, Json] | Recursion, Place]:
        self._steps += 1
        if self._steps > _MAX_STEPS or hops > _MAX_HOPS:
            raise UnresolvedError("it is too much work")
        if schema is True:
            return {}, place
        if not is_object(schema):
            raise UnresolvedError("it is no schema")
        found = {key: value for key, value in schema.items() if key not in _RESOLVED}
        if CONDITIONS not in found:
            found.update(_conditions(schema))
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        if isinstance(reference, str):
            target, place = self._followed(reference, found, place, hops)
            if isinstance(target, Recursion):
                return target, place
            found = merged(found, target)
        parts = schema.get("allOf")
        for part in parts if is_array(parts) else ():
            inner, place = self._whole(part, place, hops + 1)
            if isinstance(inner, Recursion):
                raise UnresolvedError("it is recursive")
            found = merged(found, inner)
        return found, place

    def _followed(
        self, reference: str, beside: Mapping[str, Json], place: Place, hops: int
    ) -> tuple[dict[str, Json] | Recursion, Place]:
        seen = (place.refs or {}).get(reference)
        if seen is None:
            target = self._target(reference)
            return self._whole(target, place.beyond(reference), hops + 1)
        if seen == len(place.path) or not all(map(is_note, beside)):
            raise UnresolvedError("it refers to itself")
        return Recursion(reference, dict(beside)), place

    def _target(self, reference: str) -> Json:
        try:
            return self._names.find(reference)
        except LookupError as error:
            raise UnresolvedError(f"{reference!r} is not in the document") from error

    def judged(self, schema: Mapping[str, Json]) -> dict[str, Json]:
        """Return a schema that a judge can use on its own: with the definitions of the document."""
        root: Mapping[str, Json] = self.root if is_object(self.root) else {}
        shared = {key: root[key] for key in _SHARED if key in root}
        return {**shared, "allOf": [schema]}


_SHARED = ("$id", "$defs", "definitions", "components")

_RESOLVED = frozenset({
    *(
        "$ref",
        "$dynamicRef",
        "allOf",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
    ),
})


def _conditions(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return what holds only for some answers, as a list of if, then and else."""
    found: list[Json] = []
    if "if" in schema and ("then" in schema or "else" in schema):
        found.append({key: schema[key] for key in ("if", "then", "else") if key in schema})
    needs, shapes = schema.get("dependentRequired"), schema.get("dependentSchemas")
    for name, names in needs.items() if is_object(needs) else ():
        found.append({"if": {"required": [name]}, "then": {"required": names}})
    for name, shape in shapes.items() if is_object(shapes) else ():
        found.append({"if": {"required": [name]}, "then": shape})
    return {CONDITIONS: found} if found else {}
