"""Frames and series of pandas as parquet, read back when they are written.

Parquet with what pyarrow notes of pandas keeps most of a frame. What it does not keep, and what can
be told in a few words, stands beside it. Every frame is then read back and compared before it
counts as written, so that what neither of them keeps is refused.
"""

from __future__ import annotations

import io
from typing import Any

from nbgraph.core.blob import Blob, imported
from nbgraph.core.frame_parts import coded, different, restored, told
from nbgraph.errors import StateStoreError

__all__ = ["CELL_LIMIT", "FRAMES", "SERIES", "UNPACKED_LIMIT"]

CELL_LIMIT = 2**27
"""How many cells a kept frame has at most: a few bytes of parquet can unpack to any number."""

UNPACKED_LIMIT = 2**31
"""How many bytes a kept frame unpacks to at most."""

_VALUES = "values"
"""The one column of a series."""

_PROBLEMS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    OSError,
    SyntaxError,
)
"""What pandas and pyarrow raise beside errors of their own."""


def _arrow() -> Any:
    return imported("pyarrow", "pyarrow", "frames")


def _parquet() -> Any:
    return imported("pyarrow", "pyarrow.parquet", "frames")


class _Frames:
    """`pandas.DataFrame`."""

    def write(self, value: Any, path: str) -> Blob:
        rows, columns = value.shape
        _require_small(rows * max(columns, 1), f"{path} holds")
        detail = told(value, path)
        content = _as_parquet(coded(value, detail), path)
        summary = f"{rows:,} rows, {columns:,} columns"
        blob = Blob(kind="dataframe", content=content, summary=summary, detail=detail)
        try:
            problem = different(value, self.read(blob))
        except (*_PROBLEMS, StateStoreError):
            problem = "form"
        if problem:
            raise StateStoreError(
                f"{path} holds a frame that comes back from parquet with another {problem}; give "
                "it a type that parquet keeps"
            )
        return blob

    def read(self, blob: Blob) -> Any:
        parquet = _parquet()
        try:
            file = parquet.ParquetFile(io.BytesIO(blob.content))
            _require_small_file(file.metadata)
            return restored(file.read().to_pandas(), blob.detail)
        except (*_PROBLEMS, _arrow().ArrowException) as error:
            problem = str(error).partition("\n")[0]
            raise StateStoreError(f"A kept frame cannot be read: {problem}") from error

    def same(self, left: Any, right: Any) -> bool:
        return not different(left, right)


class _Series:
    """`pandas.Series`: a frame of one column, and a name."""

    def write(self, value: Any, path: str) -> Blob:
        name: Any = value.name
        if type(name) not in (str, int, float, bool, type(None)):
            raise StateStoreError(
                f"{path} holds a series named by a {type(name).__qualname__}; name it by text"
            )
        blob = FRAMES.write(_framed(value), path)
        detail = {"frame": blob.detail, "name": name}
        summary = f"{len(value):,} x {value.dtype}"
        return Blob(kind="series", content=blob.content, summary=summary, detail=detail)

    def read(self, blob: Blob) -> Any:
        frame = FRAMES.read(blob.model_copy(update={"detail": blob.detail["frame"]}))
        series = frame[_VALUES]
        series.name, series.attrs = blob.detail["name"], frame.attrs
        return series

    def same(self, left: Any, right: Any) -> bool:
        named_alike = type(left.name) is type(right.name) and left.name == right.name
        return named_alike and not different(_framed(left), _framed(right))


def _framed(series: Any) -> Any:
    frame = series.to_frame(name=_VALUES)
    frame.attrs = series.attrs
    return frame


def _require_small(cells: int, what: str) -> None:
    if cells > CELL_LIMIT:
        raise StateStoreError(
            f"{what} a frame of {cells:,} cells; up to {CELL_LIMIT:,} are kept. Write it to a file "
            "and keep the file's name"
        )


def _require_small_file(metadata: Any) -> None:
    _require_small(metadata.num_rows * max(metadata.num_columns, 1), "The store holds")
    # What a column says of itself ends the process where it is damaged, so groups are asked.
    groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
    unpacked = sum(group.total_byte_size for group in groups)
    if unpacked > UNPACKED_LIMIT:
        raise StateStoreError(f"A kept frame would unpack to {unpacked:,} bytes")


def _as_parquet(frame: Any, path: str) -> bytes:
    bare = frame.copy(deep=False)
    bare.attrs = {}
    file = io.BytesIO()
    try:
        _parquet().write_table(_arrow().Table.from_pandas(bare), file)
    except (*_PROBLEMS, _arrow().ArrowException) as error:
        raise StateStoreError(
            f"{path} holds a frame that cannot be kept as parquet{_culprit(bare)}; give it a type "
            "that parquet keeps"
        ) from error
    return file.getvalue()


def _culprit(frame: Any) -> str:
    """Return the words for the column that parquet does not take, where it is one."""
    arrow = _arrow()
    for at in range(frame.shape[1]):
        column = frame.iloc[:, at]
        try:
            _parquet().write_table(arrow.Table.from_pandas(column.to_frame("x")), io.BytesIO())
        except (*_PROBLEMS, arrow.ArrowException):
            return f", because of column {column.name!r} of dtype {column.dtype}"
    return ""


FRAMES = _Frames()
SERIES = _Series()
