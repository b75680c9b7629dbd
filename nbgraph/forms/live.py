"""Objects whose fields depend on the answer: if, then, else and dependent fields."""

from __future__ import annotations

from collections.abc import Callable

from nbgraph.core.json_values import Json, is_object
from nbgraph.forms.fields import ObjectField
from nbgraph.forms.merging import CONDITIONS, merged

__all__ = ["LiveShapes"]

_MAX_SHAPES = 200

Schema = dict[str, Json]


class LiveShapes:
    """The shapes of an object, each read when an answer first leads to it.

    Parameters
    ----------
    schema : dict
        The object's schema, with its conditions.
    holds : callable
        Whether an answer fits the schema of a condition.
    whole : callable
        Resolves a schema; ConflictError or UnresolvedError for one that cannot be.
    make : callable
        Reads a schema without conditions.
    """

    def __init__(
        self,
        schema: Schema,
        holds: Callable[[Json, Json], bool],
        whole: Callable[[Json], Schema],
        make: Callable[[Schema], ObjectField],
    ) -> None:
        self._schema = schema
        self._holds = holds
        self._whole = whole
        self._wholes: dict[int, Schema] = {}
        self._make = make
        self._made: dict[str, ObjectField] = {}

    def shape(self, value: Json) -> str:
        """Return a name for the shape that an object with this value has."""
        said: list[str] = []
        schema = self._effective(self._schema, value if is_object(value) else {}, said)
        name = "".join(said)
        if name not in self._made and len(self._made) < _MAX_SHAPES:
            self._made[name] = self._make(schema)
        return name if name in self._made else next(iter(self._made))

    def at(self, shape: str) -> ObjectField:
        """Return the field of a shape that `shape` has named."""
        if shape not in self._made:
            shape = self.shape({})
        return self._made[shape]

    def _effective(self, schema: Schema, value: Json, said: list[str]) -> Schema:
        """Return what holds for a value; `said` gets which way each condition went."""
        result = {key: item for key, item in schema.items() if key != CONDITIONS}
        for condition in schema.get(CONDITIONS, ()):
            way = self._way(condition["if"], result, value)
            said.append(way[:1] or "-")
            if way not in condition:
                continue
            try:
                inner = self._resolved(condition[way])
                result = merged(result, self._effective(inner, value, said))
            except ValueError:  # cannot be drawn together: the judge has the last word anyway
                continue
        return result

    def _way(self, condition: Json, schema: Schema, value: Json) -> str:
        """Return which way a condition goes; none while a required field it asks for is empty."""
        asked = condition.get("properties") if is_object(condition) else None
        awaited = set(asked if is_object(asked) else ()) & {*schema.get("required", ())}
        if awaited - value.keys():
            return ""
        return "then" if self._holds(condition, value) else "else"

    def _resolved(self, part: Json) -> Schema:
        if id(part) not in self._wholes:
            self._wholes[id(part)] = self._whole(part)
        return self._wholes[id(part)]
