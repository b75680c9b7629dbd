"""What stands in the inputs of a form, in the shape of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nbgraph.core.answers import UNSET, Unset
from nbgraph.core.json_values import Json

__all__ = ["Items", "Misfit", "Pairs", "Parts", "Picked", "Raw"]


@dataclass(frozen=True, slots=True)
class Misfit:
    """A value that its field cannot show: kept as it is. What is wrong with it, the judge says."""

    value: Json


@dataclass(frozen=True, slots=True)
class Parts:
    """The inputs of an object.

    Attributes
    ----------
    fields : dict of str to Raw
        By the name of their field.
    others : dict of str to JSON
        Fields that the form has no input for, kept as they are.
    rest : Raw
        The input for fields of any name.
    there : bool
        The object is there even if none of its fields is filled in.
    lacking : bool
        An answer that was filled in does not have it, and its defaults do not count as one.
    shape : str
        Which shape it has, where that depends on the answer.
    """

    fields: Mapping[str, Raw] = field(default_factory=dict[str, "Raw"])
    others: Mapping[str, Json] = field(default_factory=dict[str, Json])
    rest: Raw = UNSET
    there: bool = False
    lacking: bool = False
    shape: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """The inputs of a list, in order; of fixed places also if the list is not there."""

    raws: tuple[Raw, ...] = ()
    there: bool = True


@dataclass(frozen=True, slots=True)
class Pairs:
    """The inputs of a map: key and value a row, a key may stand there twice or not at all."""

    rows: tuple[tuple[str | Unset, Raw], ...] = ()


@dataclass(frozen=True, slots=True)
class Picked:
    """Which of several kinds is chosen, and its input."""

    index: int
    raw: Raw


Raw = str | int | float | bool | None | Unset | Misfit | Parts | Items | Pairs | Picked
"""What stands in one input: text as typed, the index of an option, yes or no, or inputs in it.

`None` is a ticked "no value (null)", `UNSET` is untouched or cleared.
"""
