"""JSON Schema -> field tree -> answer, without widgets."""

from __future__ import annotations

from nbgraph.forms.answer import Reading, answer_of, read_part, shown_fields
from nbgraph.forms.drafting import draft_of
from nbgraph.forms.examples import has_examples, with_examples
from nbgraph.forms.fields import (
    BooleanField,
    Bounds,
    Branch,
    ChoiceField,
    ConstField,
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
from nbgraph.forms.filling import (
    MAX_ROWS,
    added,
    carried,
    fits,
    inputs_of,
    prefilled,
    same,
    settled,
    untouched,
)
from nbgraph.forms.hints import echo, hint, summary
from nbgraph.forms.inputs import Items, Misfit, Pairs, Parts, Picked, Raw
from nbgraph.forms.reading import read
from nbgraph.forms.rows import answer_rows, payload_rows, value_words
from nbgraph.forms.secrets import MASK, replaced, secret_places

__all__ = [
    "MASK",
    "MAX_ROWS",
    "BooleanField",
    "Bounds",
    "Branch",
    "ChoiceField",
    "ConstField",
    "DecimalField",
    "Field",
    "IntegerField",
    "Items",
    "JsonField",
    "LaterField",
    "ListField",
    "MapField",
    "Misfit",
    "NumberField",
    "ObjectField",
    "Option",
    "Pairs",
    "Parts",
    "Picked",
    "Raw",
    "Reading",
    "TextField",
    "TupleField",
    "UnionField",
    "added",
    "answer_of",
    "answer_rows",
    "carried",
    "draft_of",
    "echo",
    "fields_of",
    "fits",
    "has_examples",
    "hint",
    "inputs_of",
    "payload_rows",
    "prefilled",
    "read",
    "read_part",
    "replaced",
    "same",
    "secret_places",
    "settled",
    "shown_fields",
    "summary",
    "untouched",
    "value_words",
    "with_examples",
]
