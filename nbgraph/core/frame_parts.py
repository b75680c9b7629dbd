"""What parquet does not keep of a frame in a few words, and whether two frames are the same."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Mapping
from datetime import timedelta, timezone
from decimal import Decimal
from typing import Any, cast

from nbgraph.core.blob import imported
from nbgraph.errors import StateStoreError

__all__ = ["coded", "different", "restored", "told"]

_ONES = {"none": lambda: None, "nan": lambda: float("nan"), "NA": lambda: _pandas().NA}
"""What can stand for nothing in a column of objects."""

_MIXED = frozenset(("mixed", "mixed-integer"))


def _pandas() -> Any:
    return imported("pandas", "pandas", "frames")


def told(frame: Any, path: str) -> dict[str, Any]:
    """Return what parquet does not keep of a frame, as JSON.

    Raises
    ------
    StateStoreError
        If something cannot be kept, with its path.
    """
    if not frame.flags.allows_duplicate_labels:
        raise StateStoreError(f"{path} holds a frame that allows no duplicate labels; copy it")
    if frame.columns.nlevels == 1 and frame.columns.inferred_type in _MIXED:
        raise StateStoreError(f"{path} holds a frame with columns named by several types; use str")
    columns = [frame.iloc[:, at] for at in range(frame.shape[1])]
    axes = {"index": _told_axis(frame.index, path), "columns": _told_axis(frame.columns, path)}
    objects = {
        str(at): _nothing_of(column, f"{path}, column {column.name!r}")
        for at, column in enumerate(columns)
        if column.dtype == object
    }
    seconds = {str(at): str(one.dtype) for at, one in enumerate(columns) if _in_seconds(one.dtype)}
    offsets = {
        str(at): one.dtype.tz.utcoffset(None).total_seconds()
        for at, one in enumerate(columns)
        if type(getattr(one.dtype, "tz", None)) is timezone
    }
    labels = {str(at): _told_labels(one.array) for at, one in enumerate(columns) if _labelled(one)}
    found = {**axes, "objects": objects, "seconds": seconds, "offsets": offsets, "labels": labels}
    found["attrs"] = frame.attrs
    return {name: value for name, value in found.items() if value}


def _told_axis(index: Any, path: str) -> dict[str, Any]:
    pandas = _pandas()
    if index.nlevels > 1:
        return {}
    if isinstance(index, pandas.RangeIndex):
        return {"range": [index.start, index.stop, index.step]}
    if getattr(index, "freq", None) is not None and not isinstance(index, pandas.PeriodIndex):
        return {"freq": index.freq.freqstr}
    return {"object": _nothing_of(index, f"{path}, index")} if index.dtype == object else {}


def _in_seconds(dtype: Any) -> bool:
    return dtype.kind in "mM" and str(dtype).partition("[")[2].startswith("s")


def _labelled(column: Any) -> bool:
    """Return whether a column has categories that parquet would not keep: all but text."""
    categories = getattr(column.array, "categories", None)
    return categories is not None and str(categories.dtype) not in {"str", "string"}


def _told_labels(array: Any) -> dict[str, Any]:
    """Return categories as JSON that pandas reads: they are few, and of few types.

    What comes back otherwise is noticed, since every frame is read back.
    """
    categories, pandas = array.categories, _pandas()
    if isinstance(categories, pandas.IntervalIndex):
        sides = [[_number(one) for one in side] for side in (categories.left, categories.right)]
        return {"intervals": sides, "closed": categories.closed, "ordered": bool(array.ordered)}
    labels = [_number(one) for one in categories]
    return {"labels": labels, "dtype": str(categories.dtype), "ordered": bool(array.ordered)}


def _number(label: Any) -> Any:
    plain = label.item() if hasattr(label, "item") else label
    return plain if type(plain) in (str, int, float, bool) else str(plain)


def coded(frame: Any, detail: Mapping[str, Any]) -> Any:
    """Return a frame with codes in the place of the categories that `detail` tells."""
    if "labels" not in detail:
        return frame
    made = frame.copy(deep=False)
    for at in map(int, detail["labels"]):
        column = made.iloc[:, at]
        codes = _pandas().Series(column.array.codes, index=column.index, name=column.name)
        made.isetitem(at, codes)
    return made


def _uncoded(column: Any, told: Mapping[str, Any]) -> Any:
    pandas = _pandas()
    if "intervals" in told:
        left, right = told["intervals"]
        categories = pandas.IntervalIndex.from_arrays(left, right, closed=told["closed"])
    else:
        categories = pandas.Index(told["labels"], dtype=told["dtype"])
    values = pandas.Categorical.from_codes(column, categories, ordered=told["ordered"])
    return pandas.Series(values, index=column.index, name=column.name)


def _nothing_of(cells: Iterable[Any], path: str) -> str:
    """Return which one nothing a column of objects has: `""` if it has none.

    Raises
    ------
    StateStoreError
        If it has several, of which only one would come back.
    """
    pandas = _pandas()
    found = {_nothing(cell, pandas) for cell in cells} - {""}
    if len(found) > 1 or "other" in found:
        raise StateStoreError(
            f"{path} holds several kinds of missing values, {', '.join(sorted(found))}; use one"
        )
    return found.pop() if found else ""


def _nothing(cell: Any, pandas: Any) -> str:
    if cell is None:
        return "none"
    if cell is pandas.NA:
        return "NA"
    if cell is pandas.NaT:
        return "other"
    return "nan" if type(cell) is float and cell != cell else ""


def restored(frame: Any, detail: Mapping[str, Any]) -> Any:
    """Return a frame as it was, from what parquet kept of it and what it did not."""
    detail = detail or {}
    columns = [frame.iloc[:, at] for at in range(frame.shape[1])]
    changed = {
        int(at): _with_objects(columns[int(at)], nothing)
        for at, nothing in detail.get("objects", {}).items()
    }
    changed |= {
        int(at): columns[int(at)].astype(dtype) for at, dtype in detail.get("seconds", {}).items()
    }
    # Parquet keeps a zone by its name, and which class a nameless one has depends on the pandas.
    changed |= {
        int(at): columns[int(at)].dt.tz_convert(timezone(timedelta(seconds=offset)))
        for at, offset in detail.get("offsets", {}).items()
    }
    changed |= {
        int(at): _uncoded(columns[int(at)], told) for at, told in detail.get("labels", {}).items()
    }
    for at, column in changed.items():
        frame.isetitem(at, column)
    frame.index = _restored_axis(frame.index, detail.get("index", {}))
    frame.columns = _restored_axis(frame.columns, detail.get("columns", {}))
    frame.attrs = copy.deepcopy(detail.get("attrs", {}))
    return frame


def _restored_axis(index: Any, axis: Mapping[str, Any]) -> Any:
    pandas = _pandas()
    match axis:
        case {"range": [start, stop, step]}:
            return pandas.RangeIndex(start, stop, step, name=index.name)
        case {"freq": freq}:
            index.freq = freq
            return index
        case {"object": nothing}:
            return pandas.Index(_objects(index, nothing), dtype=object, name=index.name)
        case _:
            return index


def _with_objects(column: Any, nothing: str) -> Any:
    cells = _objects(column, nothing)
    return _pandas().Series(cells, index=column.index, name=column.name, dtype=object)


def _objects(cells: Any, nothing: str) -> Any:
    numpy = imported("numpy", "numpy", "frames")
    array = numpy.empty(len(cells), dtype=object)
    array[:] = cells.astype(object)
    if nothing:
        array[numpy.asarray(cells.isna())] = _ONES[nothing]()
    return array


def different(left: Any, right: Any) -> str:
    """Return the first part in which two frames differ, or `""`."""
    if left.shape != right.shape:
        return "shape"
    if not _same_axis(left.index, right.index):
        return "index"
    if not _same_axis(left.columns, right.columns):
        return "names of columns"
    for at in range(left.shape[1]):
        if not _same_cells(left.iloc[:, at], right.iloc[:, at]):
            return f"column {left.columns[at]!r}"
    return "" if _same_json(left.attrs, right.attrs) else "attrs"


def _same_axis(left: Any, right: Any) -> bool:
    if type(left) is not type(right) or not _same_json(list(left.names), list(right.names)):
        return False
    if getattr(left, "freq", None) != getattr(right, "freq", None):
        return False
    if isinstance(left, _pandas().RangeIndex):
        return (left.start, left.stop, left.step) == (right.start, right.stop, right.step)
    if left.nlevels != right.nlevels:
        return False
    levels = range(left.nlevels)
    return all(_same_cells(left.get_level_values(at), right.get_level_values(at)) for at in levels)


def _same_cells(left: Any, right: Any) -> bool:
    """Return whether two columns, or two levels of an index, are of one type and equal."""
    if repr(left.dtype) != repr(right.dtype) or len(left) != len(right):
        return False
    if left.dtype == object:
        return all(map(_same_cell, left.to_numpy(), right.to_numpy()))
    # Bytes and not values where there are any: 0.0 is not -0.0.
    if type(left.dtype).__module__.startswith("numpy"):
        return left.to_numpy().tobytes() == right.to_numpy().tobytes()
    if hasattr(left.array, "categories"):
        return _same_labels(left.array, right.array)
    return bool(left.array.equals(right.array))


def _same_labels(left: Any, right: Any) -> bool:
    return (
        left.ordered == right.ordered
        and _same_axis(left.categories, right.categories)
        and bool((left.codes == right.codes).all())
    )


def _same_cell(left: Any, right: Any) -> bool:
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, float | Decimal):
        return repr(left) == repr(right)
    return bool(left == right)


def _same_json(left: Any, right: Any) -> bool:
    """Return whether two values of JSON, or what looks like them, are equal with equal types."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        known = cast("dict[Any, Any]", right)
        items = cast("dict[Any, Any]", left).items()
        return left.keys() == known.keys() and all(_same_json(it, known[key]) for key, it in items)
    if isinstance(left, list | tuple):
        pairs = itertools.zip_longest(cast("list[Any]", left), cast("list[Any]", right))
        return all(_same_json(*pair) for pair in pairs)
    return _same_cell(left, right)
