"""numpy arrays as npy, without pickle."""

from __future__ import annotations

import io
import math
from tokenize import TokenError
from typing import Any

from nbgraph.core.blob import Blob, imported
from nbgraph.errors import StateStoreError

__all__ = ["ARRAYS"]

_VERSION = (2, 0)
"""The one format that is written, and therefore read."""

_PROBLEMS = (ValueError, TypeError, EOFError, ArithmeticError, SyntaxError, TokenError)


def _numpy() -> Any:
    return imported("numpy", "numpy", "arrays")


def _format() -> Any:
    return imported("numpy", "numpy.lib.format", "arrays")


class _Arrays:
    """`numpy.ndarray`; an array of objects has no bytes of its own."""

    def write(self, value: Any, path: str) -> Blob:
        if value.dtype.hasobject:
            raise StateStoreError(
                f"{path} holds an array of dtype {value.dtype}, whose items are Python objects; "
                "give it another dtype, or store a list"
            )
        file = io.BytesIO()
        try:
            _format().write_array(file, value, version=_VERSION, allow_pickle=False)
        except (ValueError, TypeError) as error:
            raise StateStoreError(
                f"{path} holds an array of dtype {value.dtype} that cannot be kept as npy"
            ) from error
        content, shape = file.getvalue(), " x ".join(map(str, value.shape)) or "one item"
        blob = Blob(kind="ndarray", content=content, summary=f"{value.dtype}, {shape}")
        if value.dtype.metadata or not self.same(value, self.read(blob)):
            raise StateStoreError(
                f"{path} holds an array of dtype {value.dtype} that comes back from npy as another"
            )
        return blob

    def read(self, blob: Blob) -> Any:
        numpy, file = _numpy(), io.BytesIO(blob.content)
        try:
            if _format().read_magic(file) != _VERSION:
                raise ValueError("not the version that is written here")
            shape, fortran, dtype = _format().read_array_header_2_0(file)
            begin, order = file.tell(), "F" if fortran else "C"
            # Before anything of that size is made: the header says whatever a store says.
            if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(blob.content) - begin:
                raise ValueError("its header does not fit its size")
            stored = numpy.ndarray(shape, dtype, blob.content, begin, order=order)
            return stored.copy(order)
        except _PROBLEMS as error:
            problem = str(error).partition("\n")[0]
            raise StateStoreError(f"A kept array cannot be read: {problem}") from error

    def same(self, left: Any, right: Any) -> bool:
        if left.dtype != right.dtype or left.shape != right.shape:
            return False
        if left.dtype.names is not None:  # between its fields there may be bytes that mean nothing
            aligned = left.dtype.isalignedstruct == right.dtype.isalignedstruct
            return aligned and all(self.same(left[one], right[one]) for one in left.dtype.names)
        if left.dtype.hasobject:
            return bool(left.tolist() == right.tolist())
        return bool(left.tobytes() == right.tobytes())


ARRAYS = _Arrays()
