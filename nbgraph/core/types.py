"""Types of fields that pydantic checks by their class alone: which are kept, how they are told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter

from nbgraph.core.blob import has_codec
from nbgraph.core.type_judges import adapter, readable

__all__ = ["described", "unkept_types"]

_ANY_TYPE = ConfigDict(arbitrary_types_allowed=True)


def unkept_types(checked: type[BaseModel] | TypeAdapter[Any]) -> list[type]:
    """Return the classes that a type names and whose values are not kept."""
    schema: Any = getattr(checked, "__pydantic_core_schema__", None)
    if isinstance(checked, TypeAdapter):
        schema = checked.core_schema
    found = dict.fromkeys(_classes(schema))
    return [kind for kind in found if not has_codec(kind)]


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
        known = TypeAdapter(readable(kind), config=_ANY_TYPE)
    return known.json_schema(mode="validation", schema_generator=Described)
