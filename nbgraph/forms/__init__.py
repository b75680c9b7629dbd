"""JSON Schema -> field tree -> answer, without widgets."""

from __future__ import annotations

from nbgraph.forms.answer import Given, Misfit, Raw, Reading, answer_of, fits, inputs_of, untouched
from nbgraph.forms.fields import (
    BooleanField,
    Bounds,
    ChoiceField,
    ConstField,
    DecimalField,
    Field,
    IntegerField,
    JsonField,
    NumberField,
    ObjectField,
    Option,
    TextField,
    fields_of,
)
from nbgraph.forms.hints import hint, summary
from nbgraph.forms.reading import read
from nbgraph.forms.rows import answer_rows, payload_rows, value_words

__all__ = [
    "BooleanField",
    "Bounds",
    "ChoiceField",
    "ConstField",
    "DecimalField",
    "Field",
    "Given",
    "IntegerField",
    "JsonField",
    "Misfit",
    "NumberField",
    "ObjectField",
    "Option",
    "Raw",
    "Reading",
    "TextField",
    "answer_of",
    "answer_rows",
    "fields_of",
    "fits",
    "hint",
    "inputs_of",
    "payload_rows",
    "read",
    "summary",
    "untouched",
    "value_words",
]
