"""What a schema says about one text or number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbgraph.core.formats import pattern_works
from nbgraph.core.json_values import Json, is_array, is_object
from nbgraph.forms.fields import Bounds, TextField

__all__ = ["about", "bounds", "count", "readable", "text_field", "title_of", "widget_of"]

_LONG_TEXT = 80
_LONG_FORMATS = {"textarea", "multi-line", "multiline"}
_FILES = {
    **{name: name for name in ("base64", "base64url", "data-url")},
    "byte": "base64",
    "binary": "text",
}
_MAX_EXAMPLES = 8
_MAX_ROWS = 40


def about(
    schema: Mapping[str, Json], name: str, label: str, *, required: bool, nullable: bool
) -> dict[str, Any]:
    """Return what every field has, whatever its kind."""
    examples = schema.get("examples")
    return {
        "name": name,
        "label": title_of(schema) or label,
        "required": required,
        "nullable": nullable,
        "description": _string(schema.get("description")),
        "examples": tuple(examples[:_MAX_EXAMPLES]) if is_array(examples) else (),
        "read_only": schema.get("readOnly") is True,
        "write_only": schema.get("writeOnly") is True,
        "deprecated": schema.get("deprecated") is True,
        "widget": widget_of(schema),
    }


def widget_of(schema: Mapping[str, Json]) -> str:
    """Return the control that a schema asks for."""
    options = schema.get("ui:options")
    inner = options.get("widget") if is_object(options) else None
    return _string(schema.get("x-widget", schema.get("ui:widget", inner)))


def title_of(schema: Mapping[str, Json]) -> str:
    """Return the title of a schema."""
    return _string(schema.get("title")).strip()


def readable(name: str) -> str:
    """Return the name of a field as a person reads it."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:] if words else repr(name)


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""


def count(value: Json) -> int | None:
    """Return a number of things, or None for what is none."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None


def _number(value: Json) -> int | float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and value == value and abs(value) != float("inf") else None


def bounds(schema: Mapping[str, Json]) -> Bounds:
    """Return what a number must keep to."""
    step = _number(schema.get("multipleOf"))
    return Bounds(
        minimum=_number(schema.get("minimum")),
        maximum=_number(schema.get("maximum")),
        above=_number(schema.get("exclusiveMinimum")),
        below=_number(schema.get("exclusiveMaximum")),
        step=step if step is not None and step > 0 else None,
    )


def text_field(schema: Mapping[str, Json], said: dict[str, Any]) -> TextField:
    """Return the field of a text."""
    longest = count(schema.get("maxLength"))
    form = _string(schema.get("format")) or None
    pattern = _string(schema.get("pattern")) or None
    is_json = "contentEncoding" not in schema and (
        schema.get("contentMediaType") == "application/json"
    )
    form = form or ("json" if is_json else None)
    rows = min(count(schema.get("x-rows")) or 0, _MAX_ROWS)
    long = form in _LONG_FORMATS or (longest or 0) > _LONG_TEXT or is_json or rows > 1
    return TextField(
        **said,
        min_length=count(schema.get("minLength")) or 0,
        max_length=longest,
        pattern=pattern,
        pattern_is_checked=pattern is None or pattern_works(pattern),
        format=form,
        multiline=said["widget"] == "textarea" or (long and said["widget"] != "text"),
        secret="password" in (form, said["widget"]) or said["write_only"],
        upload=_upload(schema, form),
        rows=rows,
    )


def _upload(schema: Mapping[str, Json], form: str | None) -> str:
    encoded = schema.get("contentEncoding")
    if encoded in ("base64", "base64url"):
        return str(encoded)
    return _FILES.get(form or "", "")
