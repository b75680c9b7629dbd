"""Values to choose from -> a choice whose options all read differently."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from nbgraph.core.answers import UNSET
from nbgraph.core.json_values import Json
from nbgraph.forms.fields import ChoiceField, ConstField, Field, Option

__all__ = ["choice"]


def choice(options: list[Option], about: dict[str, Any], schema: Mapping[str, Json]) -> Field:
    """Return a choice; of one value that must be there, a const."""
    distinct = {json.dumps(option.value, sort_keys=True): option for option in options}
    named = tuple(_named(list(distinct.values())))
    decided = about["required"] or schema.get("default", UNSET) == named[0].value
    if len(named) == 1 and decided and not about["nullable"]:
        return ConstField(**about, value=named[0].value)
    return ChoiceField(**about, options=named)


def _named(options: list[Option]) -> Iterator[Option]:
    """Give each option words of its own: text 1 and number 1 must not look the same."""
    only_truth = all(isinstance(option.value, bool) for option in options)
    plain = [
        option.label or _plain_label(option.value, only_truth=only_truth) for option in options
    ]
    times = Counter(plain)
    told = [
        label if times[label] == 1 else f"{label} ({_kind_word(option.value)})"
        for label, option in zip(plain, options, strict=True)
    ]
    seen: dict[str, int] = {}
    for label, option in zip(told, options, strict=True):
        seen[label] = seen.get(label, 0) + 1
        again = f" #{seen[label]}" if seen[label] > 1 else ""
        yield Option(f"{label}{again}", option.value)


def _plain_label(value: Json, *, only_truth: bool) -> str:
    if only_truth:
        return "Yes" if value else "No"
    if isinstance(value, str) and value.strip():
        return value
    return json.dumps(value, ensure_ascii=False)


def _kind_word(value: Json) -> str:
    match value:
        case bool():
            return "yes/no"
        case int() | float():
            return "number"
        case str():
            return "text"
        case _:
            return "JSON"
