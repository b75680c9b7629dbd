"""JSON Schema -> field tree. Any schema can be read: what has no field of its own is JSON text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nbgraph.core.formats import pattern_works
from nbgraph.core.json_values import Json, is_array, is_object, pointer
from nbgraph.forms.answer import fits
from nbgraph.forms.choices import choice
from nbgraph.forms.fields import (
    BooleanField,
    Bounds,
    DecimalField,
    Field,
    IntegerField,
    JsonField,
    NumberField,
    ObjectField,
    Option,
    TextField,
)

__all__ = ["read"]

_MAX_DEPTH = 6
_MAX_FIELDS = 200
_MAX_OPTIONS = 1_000
_MAX_HOPS = 32
_LONG_TEXT = 80
_LONG_FORMATS = {"textarea", "multi-line", "multiline"}
_NOTES = {"title", "description", "default", "examples", "readOnly", "writeOnly", "deprecated"}
"""Keywords that say something about a value and do not narrow it."""


def read(schema: Json) -> Field:
    """Return the field of a schema: one field, or an object of fields.

    It never raises: what is recursive, too large, refers out of the document or has no field of its
    own becomes a JSON field, and only that part.
    """
    return _Reader(schema).field(schema, _Place())


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a sub-schema stands: its path in the answer, and the references that led to it."""

    path: tuple[str, ...] = ()
    required: bool = True
    nullable: bool = False
    refs: frozenset[str] = frozenset({"#"})

    def within(self, name: str, *, required: bool) -> _Place:
        return _Place((*self.path, name), required, False, self.refs)


class _Reader:
    """Reads one document: where its references point, and how many fields it has given."""

    def __init__(self, document: Json) -> None:
        self._document = document
        self._count = 0

    def field(self, schema: Json, place: _Place) -> Field:
        self._count += 1
        resolved = self._resolved(schema, place)
        if resolved is None or self._count > _MAX_FIELDS or len(place.path) > _MAX_DEPTH:
            return JsonField(**_about(schema, place))
        schema, place = resolved
        return _with_default(self._kind(schema, place), schema)

    def _kind(self, schema: Mapping[str, Json], place: _Place) -> Field:
        about = _about(schema, place)
        options = self._options(schema, place)
        if options is not None:
            return choice(options, about, schema)
        kinds = _kinds(schema)
        branches = self._branches(schema, place)
        if "null" in kinds and len(kinds) > 1:
            about["nullable"] = True
            kinds = [kind for kind in kinds if kind != "null"]
        if branches is not None:
            return self._union(schema, branches, place)
        match kinds:
            case ["boolean"]:
                return BooleanField(**about)
            case ["string"]:
                return _text(schema, about)
            case ["integer"]:
                return IntegerField(**about, bounds=_bounds(schema))
            case ["number"]:
                return NumberField(**about, bounds=_bounds(schema))
            case ["object"] | []:
                return self._object(schema, place, about)
            case _:
                return JsonField(**about, why=" or ".join(kinds))

    # --- objects ---

    def _object(self, schema: Mapping[str, Json], place: _Place, about: dict[str, Any]) -> Field:
        properties = schema.get("properties")
        closed = schema.get("additionalProperties") is False
        if not is_object(properties):
            if closed and "patternProperties" not in schema and "object" in _kinds(schema):
                return ObjectField(**about, fields=())
            return JsonField(**about, why="an object" if _kinds(schema) else "anything")
        listed = schema.get("required")
        required = [name for name in listed if isinstance(name, str)] if is_array(listed) else []
        known = {**dict.fromkeys(required, True), **properties}
        order = [*properties, *(name for name in required if name not in properties)]
        if len(order) > _MAX_FIELDS:
            return JsonField(**about, why="an object")
        fields = tuple(
            self.field(known[name], place.within(name, required=name in required))
            for name in order
            if known[name] is not False
        )
        return ObjectField(**about, fields=fields)

    # --- choices and unions ---

    def _options(self, schema: Mapping[str, Json], place: _Place) -> list[Option] | None:
        """Return the values of a const, an enum, or a oneOf of consts; None for anything else."""
        if "const" in schema:
            return [Option(_own_title(schema), schema["const"])]
        enum = schema.get("enum")
        if is_array(enum):
            return [Option("", value) for value in enum] if _is_listable(enum) else None
        branches = self._branches(schema, place)
        if not branches or not all("const" in branch for branch, _ in branches):
            return None
        return [Option(_own_title(branch), branch["const"]) for branch, _ in branches]

    def _branches(
        self, schema: Mapping[str, Json], place: _Place
    ) -> list[tuple[Mapping[str, Json], _Place]] | None:
        """Return the resolved branches of a oneOf or anyOf, if a field can be made of them."""
        listed = schema.get("anyOf", schema.get("oneOf"))
        if not is_array(listed) or not 0 < len(listed) <= _MAX_OPTIONS:
            return None
        if "properties" in schema or ("anyOf" in schema and "oneOf" in schema):
            return None
        branches = [self._resolved(branch, place) for branch in listed]
        found = [branch for branch in branches if branch is not None]
        return found if len(found) == len(listed) else []

    def _union(
        self,
        schema: Mapping[str, Json],
        branches: list[tuple[Mapping[str, Json], _Place]],
        place: _Place,
    ) -> Field:
        """Return the field of T or null, of a decimal, or else a JSON field."""
        about = _about(schema, place)
        real = [branch for branch in branches if _kinds(branch[0]) != ["null"]]
        nullable = place.nullable or len(real) < len(branches)
        about["nullable"] = nullable
        if len(real) == 2 and _is_decimal([branch for branch, _ in real]):
            return DecimalField(**about, bounds=_bounds(_number_branch(real)))
        if len(real) != 1 or len(branches) > 2:
            return JsonField(**about, why="one of several kinds")
        branch, at = real[0]
        notes = {key: schema[key] for key in _NOTES if key in schema}
        return self._kind({**branch, **notes}, replace(at, nullable=nullable))

    # --- references ---

    def _resolved(self, schema: Json, place: _Place) -> tuple[Mapping[str, Json], _Place] | None:
        """Follow references and a lone allOf; None for what cannot be followed."""
        for _ in range(_MAX_HOPS):
            if not is_object(schema):
                return None
            reference, whole = schema.get("$ref"), schema.get("allOf")
            if isinstance(reference, str):
                if reference in place.refs or not _only_notes(schema, "$ref"):
                    return None
                place = replace(place, refs=place.refs | {reference})
                target = self._target(reference)
            elif is_array(whole) and len(whole) == 1 and _only_notes(schema, "allOf"):
                target = whole[0]
            else:
                return schema, place
            notes = {key: schema[key] for key in _NOTES if key in schema}
            schema = {**target, **notes} if is_object(target) else target
        return None

    def _target(self, reference: str) -> Json:
        if reference == "#":
            return self._document
        if not reference.startswith("#/"):
            return None
        target = self._document
        for part in reference[2:].split("/"):
            name = _decoded(part)
            if is_object(target) and name in target:
                target = target[name]
            elif is_array(target) and name.isdecimal() and int(name) < len(target):
                target = target[int(name)]
            else:
                return None
        return target


def _decoded(part: str) -> str:
    from urllib.parse import unquote

    return unquote(part).replace("~1", "/").replace("~0", "~")


def _only_notes(schema: Mapping[str, Json], keyword: str) -> bool:
    beside = schema.keys() - {keyword, "$defs", "definitions", "$schema", "$id", "$comment"}
    return all(key in _NOTES or key.startswith(("x-", "ui:")) for key in beside)


# --- what is said about a field ---------------------------------------------------------------


def _about(schema: Json, place: _Place) -> dict[str, Any]:
    notes: Mapping[str, Json] = schema if is_object(schema) else {}
    examples = notes.get("examples")
    return {
        "pointer": pointer(place.path),
        "label": _own_title(notes) or _readable(place.path),
        "required": place.required,
        "nullable": place.nullable,
        "description": _string(notes.get("description")),
        "examples": tuple(examples[:8]) if is_array(examples) else (),
        "read_only": notes.get("readOnly") is True,
        "deprecated": notes.get("deprecated") is True,
    }


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _own_title(schema: Mapping[str, Json]) -> str:
    return _string(schema.get("title")).strip()


def _readable(path: tuple[str, ...]) -> str:
    if not path:
        return "Answer"
    words = path[-1].replace("_", " ").strip()
    return words[:1].upper() + words[1:] if words else repr(path[-1])


def _with_default(field: Field, schema: Mapping[str, Json]) -> Field:
    """Add the default, if it is one: pydantic says null for `a: str = None`."""
    if "default" not in schema or not fits(field, schema["default"]):
        return field
    return replace(field, default=schema["default"])


# --- kinds ------------------------------------------------------------------------------------


def _kinds(schema: Mapping[str, Json]) -> list[str]:
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return [kinds]
    return [kind for kind in kinds if isinstance(kind, str)] if is_array(kinds) else []


def _integer(value: Json) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None


def _number(value: Json) -> int | float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and value == value and abs(value) != float("inf") else None


def _bounds(schema: Mapping[str, Json]) -> Bounds:
    step = _number(schema.get("multipleOf"))
    return Bounds(
        minimum=_number(schema.get("minimum")),
        maximum=_number(schema.get("maximum")),
        above=_number(schema.get("exclusiveMinimum")),
        below=_number(schema.get("exclusiveMaximum")),
        step=step if step is not None and step > 0 else None,
    )


def _text(schema: Mapping[str, Json], about: dict[str, Any]) -> TextField:
    longest = _integer(schema.get("maxLength"))
    form = _string(schema.get("format")) or None
    pattern = _string(schema.get("pattern")) or None
    asked = schema.get("x-widget", schema.get("ui:widget")) == "textarea"
    return TextField(
        **about,
        min_length=_integer(schema.get("minLength")) or 0,
        max_length=longest,
        pattern=pattern,
        pattern_is_checked=pattern is None or pattern_works(pattern),
        format=form,
        multiline=asked or form in _LONG_FORMATS or (longest or 0) > _LONG_TEXT,
        secret=form == "password" or schema.get("writeOnly") is True,
    )


def _is_decimal(branches: list[Mapping[str, Json]]) -> bool:
    """Whether two branches are what pydantic makes of a Decimal: a number, or its text."""
    if {kind for branch in branches for kind in _kinds(branch)} != {"number", "string"}:
        return False
    text = next(branch for branch in branches if _kinds(branch) == ["string"])
    pattern = _string(text.get("pattern"))
    return text.get("format") == "decimal" or pattern.startswith("^(?!^[-+.]*$)[+-]?0*")


def _number_branch(branches: list[tuple[Mapping[str, Json], _Place]]) -> Mapping[str, Json]:
    return next(branch for branch, _ in branches if _kinds(branch) == ["number"])


def _is_listable(values: list[Json]) -> bool:
    return 0 < len(values) <= _MAX_OPTIONS
