"""Types of fields that pydantic checks by their class alone: which are kept, how they are told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, cast

import typing_extensions
from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter
from pydantic_core import CoreSchema, core_schema

from nbgraph.core.blob import has_codec
from nbgraph.core.type_adapters import adapter, copied

__all__ = ["described", "lenient_adapter", "unkept_fields", "unkept_types"]


def unkept_types(schema: Any) -> list[type]:
    """Return the classes that a pydantic schema names and whose values are not kept."""
    return [kind for kind in dict.fromkeys(_classes(schema)) if not has_codec(kind)]


def unkept_fields(model: type[BaseModel]) -> dict[str, type]:
    """Return the fields of a model whose values are not kept, each with a class that is why."""
    if not model.model_config.get("arbitrary_types_allowed"):
        return {}  # pydantic refused such a field when the model was defined
    fields = _fields_of(model.__pydantic_core_schema__)
    found = {name: unkept_types(field) for name, field in fields.items()}
    return {name: kinds[0] for name, kinds in found.items() if kinds}


def _fields_of(schema: Any) -> dict[str, Any]:
    match schema:
        case {"type": "model-fields", "fields": fields}:
            return fields
        case {"schema": inner}:
            return _fields_of(inner)
        case _:
            return {}


def _classes(schema: Any) -> Iterator[type]:
    """Yield the classes that are only checked for, and that say nothing of how they are kept."""
    match schema:
        case {"type": "is-instance", "cls": type() as kind, **more} if "serialization" not in more:
            yield kind
        case {"type": "json-or-python"}:
            return
        case dict():
            for part in cast("dict[str, Any]", schema).values():
                yield from _classes(part)
        case list() | tuple():
            for part in cast("list[Any]", schema):
                yield from _classes(part)
        case _:
            return


def described(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type; what has no JSON of its own is told in words."""
    from pydantic.json_schema import GenerateJsonSchema

    class Described(GenerateJsonSchema):
        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as there

        def is_instance_schema(self, schema: Any) -> dict[str, Any]:
            name = schema["cls"].__name__
            return {"title": name, "description": f"A {name}, which is given in code"}

    try:
        known = adapter(kind)
    except PydanticUserError as error:
        if error.code != "schema-for-unknown-type":
            raise
        known = lenient_adapter(kind, {})
    return known.json_schema(mode="validation", schema_generator=Described)


def lenient_adapter(kind: Any, config: ConfigDict) -> TypeAdapter[Any]:
    """Return pydantic's adapter of a type that names classes pydantic does not know.

    Raises
    ------
    PydanticUserError
        If a model or dataclass in it does not say that it may hold those.
    """
    lenient: ConfigDict = {**config, "arbitrary_types_allowed": True}
    if not typing_extensions.is_typeddict(kind):
        return TypeAdapter(kind, config=lenient)
    known = copied(kind)
    known.__pydantic_config__ = lenient
    return TypeAdapter(known)


class _Bytearray:
    """Says of `bytearray` how it is read from JSON, which pydantic does of `bytes` only."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        text = core_schema.no_info_after_validator_function(bytearray, core_schema.bytes_schema())
        written = core_schema.plain_serializer_function_ser_schema(
            bytes, return_schema=core_schema.bytes_schema()
        )
        is_one = core_schema.is_instance_schema(bytearray)
        return core_schema.json_or_python_schema(text, is_one, serialization=written)


def bytearray_kept(annotation: Any) -> Any:
    """Return the annotation, where it is `bytearray` as one that is kept."""
    return Annotated[bytearray, _Bytearray] if annotation is bytearray else annotation
