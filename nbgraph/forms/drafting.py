"""A half filled-in form as a draft, and the form again as it was left."""

from __future__ import annotations

from collections.abc import Collection

from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.json_values import Json, is_array, is_object, pointer
from nbgraph.forms.answer import is_default, read_part
from nbgraph.forms.fields import Field
from nbgraph.forms.inputs import Raw
from nbgraph.forms.secrets import unkept_places

__all__ = ["draft_of"]


def draft_of(field: Field, raw: Raw) -> Json | Unset:
    """Return what somebody has filled in so far, without what is write-only.

    UNSET where that is nothing, or what the schema declares anyway.
    `inputs_of(field, draft, typed=True)` fills it in.
    """
    part = read_part(field, raw)
    if isinstance(part.value, Unset) or not part.touched:
        return UNSET
    kept = _without(part.value, set(unkept_places(field, raw)), "")
    return UNSET if kept is UNSET or is_default(field, kept) else kept


def _without(value: Json, places: Collection[str], at: str) -> Json | Unset:
    if at in places:
        return UNSET
    if is_object(value):
        kept = {
            name: _without(item, places, f"{at}{pointer([name])}") for name, item in value.items()
        }
        return {name: item for name, item in kept.items() if item is not UNSET}
    if is_array(value):
        items = [_without(item, places, f"{at}/{index}") for index, item in enumerate(value)]
        return UNSET if UNSET in items else items
    return value
