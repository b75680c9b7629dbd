"""A JSON Schema -> the field tree. Any schema can be read: what has no field of its own is JSON."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nbgraph.core.json_schemas import schema_problems
from nbgraph.core.json_values import Json, is_array, is_object
from nbgraph.forms import scalars
from nbgraph.forms.choices import choice
from nbgraph.forms.fields import (
    BooleanField,
    ChoiceField,
    DecimalField,
    Field,
    IntegerField,
    JsonField,
    LaterField,
    ListField,
    MapField,
    NumberField,
    ObjectField,
    Option,
    TextField,
    TupleField,
    UnionField,
    fields_of,
)
from nbgraph.forms.filling import fits
from nbgraph.forms.live import LiveShapes
from nbgraph.forms.merging import (
    CONDITIONS,
    ConflictError,
    crossed,
    is_left_to_the_judge,
    kinds_of,
    without_notes,
)
from nbgraph.forms.ordering import in_order
from nbgraph.forms.resolving import Document, Place, Recursion, UnresolvedError
from nbgraph.forms.unions import branches_of, is_decimal

__all__ = ["read"]

_MAX_DEPTH = 3
_MAX_LEVELS = 12
_MAX_FIELDS = 300
_MAX_NAMES = 1_000
_MAX_OPTIONS = 20_000
_MAX_BRANCHES = 1_000


def read(schema: Json) -> Field:
    """Return the field of a schema.

    It never raises: what refers out of the document, contradicts itself or has no field of its own
    becomes a JSON field, and only that part. What is recursive, deep, or one of very many fields is
    read when it is opened.
    """
    try:
        return _Reader(schema, 0).field(schema, Place(refs={"#": 0}))
    except RecursionError:
        return JsonField(why="nested too deep; anything")


class _Reader:
    """Reads one document, or a part of it that was opened later."""

    def __init__(self, document: Json, level: int) -> None:
        self._source = document
        self._document = Document(document)
        self._count = 0
        self._level = level

    def field(self, schema: Json, place: Place, *, nullable: bool = False) -> Field:
        self._count += 1
        try:
            whole, place = self._document.whole(schema, place)
        except (UnresolvedError, ConflictError) as error:
            notes: Mapping[str, Json] = schema if is_object(schema) else {}
            return JsonField(**_about(notes, place, nullable=nullable), why=_why(notes, error))
        if isinstance(whole, Recursion):
            again = {**whole.notes, "$ref": whole.reference}
            inner = place.afresh(again=whole.reference)
            return self._later(again, place, inner, nullable=nullable)
        return _with_default(self._kind(whole, place, nullable=nullable), whole)

    def _kind(self, schema: dict[str, Json], place: Place, *, nullable: bool) -> Field:
        kinds = kinds_of(schema)
        if not kinds and ("items" in schema or "prefixItems" in schema):
            kinds = ["array"]
        if "null" in kinds and len(kinds) > 1:
            nullable = True
            kinds = [kind for kind in kinds if kind != "null"]
        about = _about(schema, place, nullable=nullable)
        if about["widget"] == "json":
            return JsonField(**about)
        options = self._options(schema, place)
        if options is not None:
            return choice(options, about, schema)
        if "anyOf" in schema or "oneOf" in schema:
            return self._union(schema, place, about)
        if len(kinds) > 1:
            branches: list[Json] = [{**without_notes(schema), "type": kind} for kind in kinds]
            return self._union_of(branches, place, about, None)
        return self._simple(schema, kinds, place, about)

    def _simple(
        self, schema: dict[str, Json], kinds: list[str], place: Place, about: dict[str, Any]
    ) -> Field:
        match kinds:
            case ["boolean"]:
                return BooleanField(**about)
            case ["string"]:
                return scalars.text_field(schema, about)
            case ["integer"]:
                return IntegerField(**about, bounds=scalars.bounds(schema))
            case ["number"]:
                return NumberField(**about, bounds=scalars.bounds(schema))
            case ["null"]:
                return choice([Option("", None)], about, schema)
            case ["array"]:
                return self._list(schema, place, about)
            case ["object"] | []:
                return self._object(schema, place, about)
            case _:
                return JsonField(**about, why=" or ".join(kinds))

    # --- what is read when it is opened ---

    def _later(
        self, schema: dict[str, Json], place: Place, inner: Place, *, nullable: bool
    ) -> Field:
        level = self._level + 1
        about = _about(schema, place, nullable=nullable)
        if level > _MAX_LEVELS:
            return JsonField(**about)

        @functools.cache
        def make() -> Field:
            opened = _Reader(self._source, level).field(schema, inner)
            return JsonField(**about) if isinstance(opened, LaterField) else opened

        return LaterField(**about, make=make)

    def _deferred(
        self, schema: dict[str, Json], place: Place, about: dict[str, Any]
    ) -> Field | None:
        """Return the field of a part that is read later, if it stands deep or is one of many."""
        if not place.path or not (self._count > _MAX_FIELDS or len(place.path) > _MAX_DEPTH):
            return None
        return self._later(schema, place, place.afresh(), nullable=about["nullable"])

    # --- objects ---

    def _object(self, schema: dict[str, Json], place: Place, about: dict[str, Any]) -> Field:
        later = self._deferred(schema, place, about)
        if CONDITIONS in schema:
            return later or self._live(schema, place, about)
        properties = schema.get("properties")
        listed = schema.get("required")
        required = [name for name in listed if isinstance(name, str)] if is_array(listed) else []
        if not is_object(properties) and not (required and "type" in schema):
            return self._map_or_json(schema, place, about)
        known = {**dict.fromkeys(required, True), **(properties or {})}
        names = in_order(schema, [*(properties or {}), *(n for n in required if n not in known)])
        names += [name for name in required if name not in names]
        if len(names) > _MAX_NAMES:
            return JsonField(**about, why="an object")
        if later is not None:
            return later
        fields = tuple(
            self._named(known[name], place, name, required=name in required)
            for name in names
            if known[name] is not False
        )
        return ObjectField(**about, fields=fields, rest=self._rest(schema, place))

    def _named(self, schema: Json, place: Place, name: str, *, required: bool) -> Field:
        """Return the field of a property: a title that it only refers to names the kind, not it."""
        label = scalars.readable(name)
        field = self.field(schema, place.within(name, label, required=required))
        has_title = is_object(schema) and bool(scalars.title_of(schema))
        return field if has_title else replace(field, label=label)

    def _live(self, schema: dict[str, Json], place: Place, about: dict[str, Any]) -> Field:

        def holds(condition: Json, value: Json) -> bool:
            if not is_object(condition):
                return condition is True
            return not schema_problems(self._document.judged(condition), value)

        def whole(part: Json) -> dict[str, Json]:
            found, _ = self._document.whole(part, place)
            if isinstance(found, Recursion):
                raise UnresolvedError(found.reference)
            return found

        def make(shape: dict[str, Json]) -> ObjectField:
            field = self._object({"type": "object", "properties": {}, **shape}, place, about)
            return field if isinstance(field, ObjectField) else ObjectField(**about, fields=())

        shapes = LiveShapes(schema, holds, whole, make)
        return replace(shapes.at(shapes.shape({})), live=shapes)

    def _rest(self, schema: dict[str, Json], place: Place) -> MapField | None:
        """Return the field of what has no name in the schema, if the schema speaks of it."""
        spoken = is_object(schema.get("patternProperties")) or schema.get("additionalProperties")
        if not spoken:
            return None
        return self._map(schema, place.entry("More fields", required=False), {
            "label": "More fields", "required": False,
        })  # fmt: skip

    def _map_or_json(self, schema: dict[str, Json], place: Place, about: dict[str, Any]) -> Field:
        values, patterns = schema.get("additionalProperties"), schema.get("patternProperties")
        is_told = is_object(values) or is_object(patterns) or "propertyNames" in schema
        if not is_told and values is False and kinds_of(schema):
            return ObjectField(**about, fields=())
        if not is_told and not kinds_of(schema):
            return JsonField(**about, why="anything")
        return self._deferred(schema, place, about) or self._map(schema, place, about)

    def _map(self, schema: dict[str, Json], place: Place, about: dict[str, Any]) -> MapField:
        values, patterns = schema.get("additionalProperties"), schema.get("patternProperties")
        key: dict[str, Json] = {"type": "string"}
        if is_object(patterns) and not is_object(values) and values is not True:
            values = next(iter(patterns.values())) if len(patterns) == 1 else True
            key |= {"pattern": next(iter(patterns))} if len(patterns) == 1 else {}
        elif is_object(patterns):
            values = True
        names = schema.get("propertyNames")
        return MapField(
            **about,
            key=self._key({"allOf": [key, names]} if is_object(names) else key, place),
            value=self.field({} if values is None else values, place.entry(about["label"])),
            min_items=scalars.count(schema.get("minProperties")) or 0,
            max_items=scalars.count(schema.get("maxProperties")),
        )

    def _key(self, schema: Json, place: Place) -> TextField | ChoiceField:
        field = self.field(schema, place.entry("Key", required=False))
        return field if isinstance(field, TextField | ChoiceField) else TextField(label="Key")

    # --- lists ---

    def _list(self, schema: dict[str, Json], place: Place, about: dict[str, Any]) -> Field:
        places, items = schema.get("prefixItems"), schema.get("items")
        low = scalars.count(schema.get("minItems")) or 0
        later = self._deferred(schema, place, about)
        if later is not None and (places or is_object(items)):
            return later
        if is_array(places) and places:
            fields = [
                self.field(each, place.entry(f"{index + 1}", required=index < low))
                for index, each in enumerate(places[:_MAX_FIELDS])
            ]
            return TupleField(**about, items=tuple(fields))
        return ListField(
            **about,
            item=self.field(items if is_object(items) else {}, place.entry(about["label"])),
            min_items=low,
            max_items=0 if items is False else scalars.count(schema.get("maxItems")),
            unique=schema.get("uniqueItems") is True,
        )

    # --- choices and unions ---

    def _options(self, schema: dict[str, Json], place: Place) -> list[Option] | None:
        """Return the values of a const, an enum, or a oneOf of consts; None for anything else."""
        if "const" in schema:
            return [Option(scalars.title_of(schema), schema["const"])]
        enum = schema.get("enum")
        if is_array(enum):
            return [Option("", value) for value in enum] if _is_listable(enum) else None
        listed = schema.get("oneOf", schema.get("anyOf"))
        if not is_array(listed) or not 0 < len(listed) <= _MAX_OPTIONS or "properties" in schema:
            return None
        found = [self._constant(branch, place) for branch in listed]
        options = [option for option in found if option is not None]
        return options if len(options) == len(listed) else None

    def _constant(self, branch: Json, place: Place) -> Option | None:
        if not is_object(branch) or not ("const" in branch or "$ref" in branch):
            return None
        try:
            whole, _ = self._document.whole(branch, place)
        except (UnresolvedError, ConflictError):
            return None
        if isinstance(whole, Recursion) or "const" not in whole:
            return None
        return Option(scalars.title_of(whole), whole["const"])

    def _union(self, schema: dict[str, Json], place: Place, about: dict[str, Any]) -> Field:
        keyword = "anyOf" if "anyOf" in schema else "oneOf"
        listed, base = schema[keyword], {k: v for k, v in schema.items() if k != keyword}
        try:
            listed = crossed(listed, base.pop("oneOf")) if "oneOf" in base else listed
        except ConflictError:
            listed = None
        if not is_array(listed) or not 0 < len(listed) <= _MAX_BRANCHES:
            return JsonField(**about, why="one of several kinds")
        if is_left_to_the_judge(listed):
            return self._kind(base, place, nullable=about["nullable"])
        narrow = without_notes(base)
        tag = narrow.pop("discriminator", None)
        if narrow:
            listed = [{"allOf": [branch, narrow]} for branch in listed]
        return self._union_of(listed, place, about, tag)

    def _union_of(
        self, listed: list[Json], place: Place, about: dict[str, Any], tag: Json
    ) -> Field:
        listed = [each for each in listed if self._is_possible(each, place)] or listed
        real = [branch for branch in listed if not self._is_null(branch, place)]
        nullable = about["nullable"] or len(real) < len(listed)
        about = {**about, "nullable": nullable}
        wholes = [self._object_of(branch, place) for branch in real]
        if len(real) == 2 and is_decimal(wholes):
            number = next(each for each in wholes if kinds_of(each) == ["number"])
            return DecimalField(**about, bounds=scalars.bounds(number))
        if not real:
            return choice([Option("", None)], {**about, "nullable": False}, {})
        inner = replace(place, required=True)
        if len(real) == 1:
            return self._only(real[0], place, about)
        name = tag.get("propertyName") if is_object(tag) else None
        fields = [self.field(branch, inner) for branch in real]
        titles = [scalars.title_of(each) for each in wholes]
        branches = branches_of(fields, titles, name if isinstance(name, str) else None)
        return UnionField(**about, branches=branches)

    def _only(self, branch: Json, place: Place, about: dict[str, Any]) -> Field:
        """Return the field of the one branch beside null, with what is said about the union."""
        field = self.field(branch, place, nullable=about["nullable"])
        said = {key: value for key, value in about.items() if value and key in _SAID}
        if about["label"] == place.label:
            said.pop("label")
        return replace(field, **said)

    def _is_possible(self, branch: Json, place: Place) -> bool:
        """Whether a branch does not contradict itself at once, as many of two unions do."""
        try:
            self._document.whole(branch, place)
        except ConflictError:
            return False
        except UnresolvedError:
            return True
        return True

    def _is_null(self, branch: Json, place: Place) -> bool:
        whole = self._object_of(branch, place)
        return kinds_of(whole) == ["null"] or ("const" in whole and whole["const"] is None)

    def _object_of(self, branch: Json, place: Place) -> dict[str, Json]:
        """Return a branch with its references followed; nothing for one that has to wait."""
        try:
            whole, _ = self._document.whole(branch, place)
        except (UnresolvedError, ConflictError):
            return {}
        return {} if isinstance(whole, Recursion) else whole


_SAID = {"label", "description", "examples", "read_only", "write_only", "deprecated", "widget"}


def _why(notes: Mapping[str, Json], error: ValueError) -> str:
    reference = notes.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        return f"{reference} is not available here; anything"
    return "what contradicts itself" if isinstance(error, ConflictError) else "JSON"


def _about(schema: Mapping[str, Json], place: Place, *, nullable: bool) -> dict[str, Any]:
    return scalars.about(
        schema, place.name, place.label, required=place.required, nullable=nullable
    )


def _with_default(field: Field, schema: Mapping[str, Json]) -> Field:
    """Add the default, if it is one: pydantic says null for `a: str = None`."""
    if "default" not in schema or _opens(field, schema["default"]):
        return field
    is_fit = fits(field, schema["default"])
    return replace(field, default=schema["default"]) if is_fit else field


def _opens(field: Field, value: Json) -> bool:
    """Whether a value reaches into what is read later, which would be read without end."""
    if isinstance(field, LaterField):
        return value is not None
    return bool(value) and any(isinstance(each, LaterField) for each in fields_of(field))


def _is_listable(values: list[Json]) -> bool:
    return 0 < len(values) <= _MAX_OPTIONS
