"""The examples of a schema, put into the inputs nobody has touched."""

from __future__ import annotations

from dataclasses import replace

from nbgraph.forms.answer import read_part, shown_fields
from nbgraph.forms.fields import Field, ObjectField, TextField, fields_of
from nbgraph.forms.filling import fits, inputs_of, settled
from nbgraph.forms.inputs import Parts, Raw

__all__ = ["has_examples", "with_examples"]


def has_examples(field: Field) -> bool:
    """Return whether a form has anything to fill in as an example."""
    return any(inner.examples for inner in fields_of(field))


def with_examples(field: Field, raw: Raw) -> Raw:
    """Return the inputs with the first example of each field that nobody has touched."""
    if isinstance(field, TextField) and field.secret:
        return raw
    if field.examples and not read_part(field, raw).touched and fits(field, field.examples[0]):
        return inputs_of(field, field.examples[0])
    if not isinstance(field, ObjectField) or not isinstance(raw, Parts):
        return raw
    fields = {
        inner.name: with_examples(inner, raw.fields[inner.name])
        for inner in shown_fields(field, raw).fields
    }
    return settled(field, replace(raw, fields={**raw.fields, **fields}))
