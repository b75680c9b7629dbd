"""The branches of a union: what they are called, and what tells one from another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from nbgraph.core.answers import Unset
from nbgraph.core.json_values import Json
from nbgraph.forms.fields import (
    BooleanField,
    Branch,
    ChoiceField,
    ConstField,
    DecimalField,
    Field,
    IntegerField,
    JsonField,
    ListField,
    MapField,
    NumberField,
    ObjectField,
    TextField,
    TupleField,
)
from nbgraph.forms.merging import kinds_of

__all__ = ["branches_of", "is_decimal"]


def is_decimal(branches: Sequence[Mapping[str, Json]]) -> bool:
    """Whether two branches are what pydantic makes of a Decimal: a number, or its text."""
    if {kind for branch in branches for kind in kinds_of(branch)} != {"number", "string"}:
        return False
    text = next(branch for branch in branches if kinds_of(branch) == ["string"])
    pattern = text.get("pattern")
    is_written = isinstance(pattern, str) and pattern.startswith("^(?!^[-+.]*$)[+-]?0*")
    return text.get("format") == "decimal" or is_written


def branches_of(
    fields: Sequence[Field], titles: Sequence[str], tag: str | None
) -> tuple[Branch, ...]:
    """Return the branches of a union, the tags that tell them apart hidden and filled in."""
    names = _tags(fields, tag)
    hidden = [_with_tags(field, names) for field in fields]
    plain = [title or _words(field) for title, field in zip(titles, hidden, strict=True)]
    return tuple(map(Branch, _told_apart(plain), hidden))


def _tags(fields: Sequence[Field], tag: str | None) -> set[str]:
    """Return the names of the fields that have one value in each branch, and never the same."""
    each = [dict(_constants(field)) for field in fields]
    if not each or not all(each):
        return set()
    common = set(each[0]).intersection(*each[1:])
    told = {name for name in common if len({one[name] for one in each}) == len(each)}
    return told & {tag} if tag in told else told


def _constants(field: Field) -> Iterator[tuple[str, str]]:
    for inner in field.fields if isinstance(field, ObjectField) else ():
        if isinstance(inner, ConstField):
            yield inner.name, json.dumps(inner.value, sort_keys=True)
        elif isinstance(inner, ChoiceField) and len(inner.options) == 1 and not inner.nullable:
            yield inner.name, json.dumps(inner.options[0].value, sort_keys=True)


def _with_tags(field: Field, names: set[str]) -> Field:
    if not isinstance(field, ObjectField) or not names:
        return field
    return replace(field, fields=tuple(_tagged(inner, names) for inner in field.fields))


def _tagged(inner: Field, names: set[str]) -> Field:
    """Return a tag as a hidden const; one that may be left out is filled in by its default."""
    if inner.name not in names:
        return inner
    if isinstance(inner, ChoiceField):
        value = inner.options[0].value
        inner = ConstField(name=inner.name, label=inner.label, required=inner.required, value=value)
    if not isinstance(inner, ConstField):
        return inner
    is_open = not inner.required and isinstance(inner.default, Unset)
    default = inner.value if is_open else inner.default
    return replace(inner, hidden=True, default=default)


_KINDS: dict[type, str] = {
    BooleanField: "yes or no",
    IntegerField: "whole number",
    NumberField: "number",
    DecimalField: "number",
    ListField: "list",
    TupleField: "list",
    MapField: "map",
    JsonField: "anything",
}


def _words(field: Field) -> str:
    match field:
        case ObjectField():
            tags = [inner.value for inner in field.fields if isinstance(inner, ConstField)]
            return _shown(tags[0]) if tags else "named fields"
        case ChoiceField():
            return " or ".join(option.label for option in field.options[:3])
        case ConstField():
            return _shown(field.value)
        case TextField():
            return field.format or "text"
        case _:
            return _KINDS.get(type(field), field.label)


def _shown(value: Json) -> str:
    return value if isinstance(value, str) and value.strip() else json.dumps(value)


def _told_apart(labels: Sequence[str]) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for label in labels:
        seen[label] += 1
        yield label if seen[label] == 1 else f"{label} #{seen[label]}"
