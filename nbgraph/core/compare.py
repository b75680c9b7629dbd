"""How two states differ, by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.values import same

__all__ = ["Alike", "Comparison", "Difference", "compare_states", "walked"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One path at which two states differ; a side that has nothing there holds None.

    `sign`: `"+"` only the second has it, `"-"` only the first, `"~"` both, and they differ.
    """

    path: str
    sign: Literal["+", "-", "~"]
    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class Alike:
    """One path at which two states are the same."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two states differ, and at how many paths they are the same."""

    differences: tuple[Difference, ...]
    same: int

    def __str__(self) -> str:
        lines = [
            f"{item.sign} {_shown(item.path)}  {item.first!r} -> {item.second!r}"
            for item in self.differences
        ]
        return "\n".join([*lines, f"{len(lines)} differ, {self.same} the same"])


def _shown(path: str) -> str:
    """Return a path as it may stand in a line: a field's name can hold what ends or hides it."""
    return path if path.isprintable() else repr(path)


def compare_states(first: Mapping[str, Any], second: Mapping[str, Any]) -> Comparison:
    """Return how two states differ, given as JSON, by JSON Pointer."""
    found = list(walked(first, second))
    differences = tuple(item for item in found if isinstance(item, Difference))
    return Comparison(differences, len(found) - len(differences))


def walked(first: Any, second: Any, path: str = "") -> Iterator[Difference | Alike]:
    """Yield what two states, given as JSON, hold at each path, the same or not."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in dict.fromkeys((*first, *second)):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - JSON
            here = f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"  # pyright: ignore[reportUnknownArgumentType]
            if key not in second:
                yield Difference(here, "-", first[key], None)
            elif key not in first:
                yield Difference(here, "+", None, second[key])
            else:
                yield from walked(first[key], second[key], here)
    else:
        is_same = same(first, second)
        yield Alike(path, first) if is_same else Difference(path, "~", first, second)
