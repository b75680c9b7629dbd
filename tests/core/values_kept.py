"""Values that notebooks keep in a state: those that come back, and those that are refused."""

from __future__ import annotations

import datetime
import io
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

NAN = float("nan")


def objects(*cells: Any) -> pd.Series:
    return pd.Series(list(cells), dtype=object)


def of(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(columns)


def with_attrs(frame: pd.DataFrame, **attrs: Any) -> pd.DataFrame:
    frame.attrs = attrs
    return frame


FRAMES: dict[str, pd.DataFrame] = {
    "numbers and text": of(a=[1, 2], b=["x", "y"]),
    "text with nothing": of(a=["x", NAN]),
    "objects with None": of(a=objects("x", None)),
    "objects with NaN": of(a=objects("x", NAN)),
    "objects with NA": of(a=objects("x", pd.NA)),
    "objects, all None": of(a=objects(None, None)),
    "objects, True and None": of(a=objects(True, None)),
    "objects, dates": of(a=objects(datetime.date(2020, 2, 29), None)),
    "objects, times": of(a=objects(datetime.time(1, 2, 3))),
    "objects, decimals": of(a=objects(Decimal("1.10"), Decimal("2.05"))),
    "objects, bytes": of(a=objects(b"\xff", None)),
    "objects, uuids": of(a=objects(uuid.UUID(int=3))),
    "numbers that are odd": of(a=[0.0, -0.0, NAN, float("inf"), 5e-324]),
    "half floats": of(a=np.array([1, 2], "float16")),
    "all widths": of(a=np.array([1], "int8"), b=np.array([2], "uint64"), c=np.array([3], "f4")),
    "nullable": of(
        a=pd.array([1, None], dtype="Int64"),
        b=pd.array([True, None], dtype="boolean"),
        c=pd.array(["x", None], dtype="string"),
        d=pd.array([1.5, None], dtype="Float32"),
    ),
    "arrow": of(a=pd.array([1, None], dtype="int64[pyarrow]")),
    "times in seconds": of(a=np.array(["2020-01-01"], "M8[s]"), b=np.array([5], "m8[s]")),
    "times in nanoseconds": of(a=np.array(["2020-01-01T00:00:00.000000001"], "M8[ns]")),
    "times with a zone": of(a=pd.to_datetime(["2020-06-01", None]).tz_localize("Europe/Paris")),
    "times with an offset": of(a=pd.to_datetime(["2020-01-01T00:00+02:00"])),
    "times in UTC": of(a=pd.to_datetime(["2020-01-01T00:00Z", None])),
    "durations": of(a=pd.to_timedelta([1, None], unit="s")),
    "periods": of(a=pd.period_range("2020", periods=2, freq="M")),
    "intervals": of(a=pd.interval_range(0, 2)),
    "categories, ordered": of(
        a=pd.Categorical(["a", None], categories=["b", "a", "z"], ordered=True)
    ),
    "categories, numbers": of(a=pd.Categorical([1, 2, None], categories=[3, 2, 1])),
    "categories, intervals": of(a=pd.cut([1, 2, 3], 2)),
    "categories, times": of(a=pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"]))),
    "empty": pd.DataFrame(),
    "rows without columns": pd.DataFrame(index=[1, 2]),
    "columns without rows": pd.DataFrame(columns=["a", "b"]),
    "a column without rows": of(a=[]),
    "a range of columns": pd.DataFrame(np.zeros((2, 3))),
    "numbers as columns": pd.DataFrame([[1, 2]], columns=[5, 2]),
    "times as columns": pd.DataFrame([[1, 2]], columns=pd.date_range("2020", periods=2)),
    "columns of several levels": pd.DataFrame(
        np.zeros((2, 2)), columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", None])
    ),
    "a name for the columns": of(a=[1]).rename_axis(columns="k"),
    "several levels": pd.DataFrame(
        {"v": [1, 2]}, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", None])
    ),
    "a range with a name": pd.DataFrame({"a": [1, 2]}, index=pd.RangeIndex(5, 9, 2, name="n")),
    "days": pd.DataFrame(
        {"a": range(3)}, index=pd.date_range("2020-03-28", periods=3, tz="Europe/Paris")
    ),
    "days without a frequency": pd.DataFrame(
        {"a": [1, 2]}, index=pd.to_datetime(["2020-01-01", "2020-01-05"])
    ),
    "text as index": pd.DataFrame({"a": [1, 2]}, index=["x", "y"]),
    "objects as index": pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", None], dtype=object)),
    "floats as index": pd.DataFrame({"a": [1, 2]}, index=[0.5, NAN]),
    "categories as index": pd.DataFrame({"a": [1, 2]}, index=pd.CategoricalIndex(["x", "y"])),
    "an index named as a column": pd.DataFrame({"a": [1, 2]}, index=pd.Index([3, 4], name="a")),
    "attrs": with_attrs(of(a=[1]), source={"rows": [1, None, "x"]}),
}

SERIES: dict[str, pd.Series] = {
    "plain": pd.Series([1, 2]),
    "named": pd.Series(["x", None], name="n", index=[3, 4]),
    "named by a number": pd.Series([1.5], name=0),
    "days": pd.Series(range(3), index=pd.date_range("2020", periods=3)),
    "categories": pd.Series(pd.Categorical([2, 1])),
    "empty": pd.Series([], dtype="float64"),
}

ARRAYS: dict[str, np.ndarray] = {
    "floats": np.arange(6.0).reshape(2, 3),
    "by columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "every other": np.arange(10)[::2],
    "no items": np.zeros((0, 3)),
    "no dimension": np.array(5),
    "odd floats": np.array([NAN, -0.0, float("inf")]),
    "big endian": np.array([1, 2], ">i4"),
    "complex": np.array([1 + 2j]),
    "text": np.array(["a", "snow \u2603"]),
    "half a character": np.array(["\ud800"]),
    "bytes": np.array([b"a"]),
    "days": np.array(["2020-01-01", "NaT"], "M8[D]"),
    "records": np.zeros(2, dtype=[("a", "i4"), ("b", "f8", (2,))]),
}


def opened(format_: str) -> Image.Image:
    """Return a picture as one has it after a file was opened and copied."""
    file = io.BytesIO()
    Image.new("RGB", (3, 2), (1, 2, 3)).save(file, format_, dpi=(72, 72))
    return Image.open(file).copy()


IMAGES: dict[str, Image.Image] = {
    **{mode: Image.new(mode, (3, 2), 1) for mode in ("1", "L", "RGB", "RGBA", "LA", "I;16")},
    "palette": Image.linear_gradient("L").resize((8, 8)).convert("P"),
    **{
        mode: Image.linear_gradient("L").resize((4, 2)).convert("RGB").convert(mode)
        for mode in ("CMYK", "YCbCr", "HSV", "RGBX")
    },
    "whole numbers": Image.fromarray(np.array([[2**31 - 1, -5]], "int32")),
    "floats": Image.fromarray(np.array([[NAN, -0.0, 1e-40]], "float32")),
    "big endian": Image.new("I;16B", (2, 1), 300),
    "no pixels": Image.new("RGB", (0, 1)),
    "jpeg": opened("JPEG"),
    "gif": opened("GIF"),
}

BYTES: dict[str, bytes | bytearray] = {
    "bytes": b"\xff\x00",
    "no bytes": b"",
    "many bytes": bytes(range(256)) * 1000,
    "bytearray": bytearray(b"\xff\x00"),
}

KEPT: dict[str, Any] = {
    f"{kind}: {name}": value
    for kind, values in {
        "frame": FRAMES,
        "series": SERIES,
        "array": ARRAYS,
        "image": IMAGES,
        "bytes": BYTES,
    }.items()
    for name, value in values.items()
}

SPARSE = pd.arrays.SparseArray([0, 1])


class Table(pd.DataFrame):
    """Somebody's own frame."""


REFUSED: dict[str, tuple[Any, str]] = {
    "dicts in cells": (of(a=objects({"b": 1}, {"c": 2})), "column 'a'"),
    "lists in cells": (of(a=objects([1], [2])), "column 'a'"),
    "several types in a column": (of(a=objects(1, "x")), "column 'a'"),
    "several nothings": (of(a=objects("x", None, NAN)), "column 'a'"),
    "numbers as objects": (of(a=objects(1, None)), "column 'a'"),
    "decimals of two widths": (of(a=objects(Decimal("1.1"), Decimal("1.10"))), "column 'a'"),
    "half a character": (of(a=objects("\ud800")), "column 'a'"),
    "complex numbers": (of(a=[1j]), "column 'a'"),
    "sparse": (of(a=SPARSE), "column 'a'"),
    "columns named alike": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "frame"),
    "columns named by several types": (pd.DataFrame([[1, 2]], columns=[1, "a"]), "columns"),
    "attrs of tuples": (with_attrs(of(a=[1]), x=(1, 2)), "attrs"),
    "attrs of NaN": (with_attrs(of(a=[1]), x=NAN), "attrs"),
    "no duplicates": (of(a=[1]).set_flags(allows_duplicate_labels=False), "duplicate"),
    "a class of its own": (Table({"a": [1]}), "Table"),
    "a name of a tuple": (pd.Series([1], name=("a", 1)), "tuple"),
    "objects": (np.array([None]), "object"),
    "records with gaps": (
        np.zeros(1, np.dtype([("a", "i1"), ("b", "f8")], align=True)),
        "comes back",
    ),
    "a matrix": (np.ma.masked_array([1]), "Masked"),
    "one number": (np.float32(1), "float32"),
    "a palette with transparency": (
        Image.linear_gradient("L").resize((8, 8)).convert("P").convert("PA"),
        "'PA'",
    ),
}


def cells(value: Any) -> list[str]:
    """Return what every cell is in words: 1 and 1.0 and True are three of them."""
    match value:
        case pd.DataFrame():
            columns = [value.iloc[:, at] for at in range(value.shape[1])]
            return [word for column in columns for word in cells(column)] + words(value.columns)
        case pd.Series():
            return [*words(value), *words(value.index)]
        case _:
            return []


def words(items: Any) -> list[str]:
    return [str(items.dtype), *(f"{type(one).__name__} {one!r}" for one in items)]


def equal(left: Any, right: Any) -> None:
    """Assert that two values are equal and of one type, by what their own packages say."""
    assert type(left) is type(right)
    match left:
        case pd.DataFrame():
            pd.testing.assert_frame_equal(
                left, right, check_exact=True, check_column_type="exact", check_index_type="exact"
            )
        case pd.Series():
            pd.testing.assert_series_equal(left, right, check_exact=True, check_index_type="exact")
        case np.ndarray():
            assert left.dtype == right.dtype
            assert left.shape == right.shape
            assert left.tobytes() == right.tobytes()
        case _:
            assert left == right
            return
    assert cells(left) == cells(right)
    assert getattr(left, "attrs", None) == getattr(right, "attrs", None)
