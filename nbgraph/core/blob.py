"""Values that are kept as bytes: frames, arrays, images, bytes. JSON names them, and no more.

In an event or a snapshot such a value is a `Blob`. Written as JSON, a blob leaves null where it
stood, and its place is told beside the text: what a user writes can never look like one. Which
types there are is fixed here; what is stored chooses among them and names no code.
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import blake2b
from operator import is_not
from typing import Any, Literal, Protocol, cast
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, SerializationInfo, model_serializer
from pydantic_core import from_json, to_json

from nbgraph.core.quick_dataclass import dataclass
from nbgraph.errors import IntegrationNotInstalledError, StateStoreError

__all__ = [
    "CONTENT_LIMIT",
    "Blob",
    "Codec",
    "Packed",
    "Packing",
    "Path",
    "blob_of",
    "codec_for",
    "has_codec",
    "imported",
    "kept",
    "placed",
    "revived",
    "shown",
]

CONTENT_LIMIT = 2**29
"""Bytes of the largest value that is kept."""

Kind = Literal["dataframe", "series", "ndarray", "image", "bytes", "bytearray"]
Path = tuple[str | int, ...]
"""Where a value stands in JSON: the keys and places that lead to it."""


class Blob(BaseModel):
    """A value as it is kept: its bytes, and what their format does not say of it.

    Attributes
    ----------
    kind : str
        Which of the known types it is.
    content : bytes
        The value: parquet, npy, png, or its own bytes.
    summary : str
        The value in a few words.
    detail : JSON
        What the bytes do not tell.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: Kind
    content: bytes = Field(repr=False)
    summary: str
    detail: Any = None

    @model_serializer
    def _written(self, info: SerializationInfo) -> Any:
        packing = info.context
        return packing.put(self) if isinstance(packing, Packing) else self.shown()

    def shown(self) -> dict[str, str]:
        """Return what people are shown of the value; `digest` differs where the bytes do."""
        digest = blake2b(self.content, digest_size=6).hexdigest()
        return {"type": self.kind, "summary": self.summary, "digest": digest}


class Codec(Protocol):
    """How the values of one type become bytes and back."""

    def write(self, value: Any, path: str) -> Blob:
        """Return a value as it is kept.

        Raises
        ------
        StateStoreError
            If it would not come back equal and of the same type.
        IntegrationNotInstalledError
            If a package that writes it is missing.
        """
        ...

    def read(self, blob: Blob) -> Any:
        """Return a value of its own.

        Raises
        ------
        StateStoreError
            If the bytes are none of such a value, or would become larger than is allowed.
        IntegrationNotInstalledError
            If a package that reads it is missing.
        """
        ...

    def same(self, left: Any, right: Any) -> bool:
        """Return whether two values of the type are equal in all that is kept."""
        ...


class _Bytes:
    """`bytes` and `bytearray`, which are kept as they are."""

    def __init__(self, kind: type[bytes | bytearray]) -> None:
        self._kind = kind

    def write(self, value: Any, path: str) -> Blob:  # noqa: ARG002 - as all codecs
        name: Any = self._kind.__name__
        return Blob(kind=name, content=bytes(value), summary=f"{len(value):,} bytes")

    def read(self, blob: Blob) -> Any:
        return self._kind(blob.content)

    def same(self, left: Any, right: Any) -> bool:
        return bool(left == right)


# By module and name, so that nobody's pandas is imported to find out that nothing is of its types.
# pandas calls its module otherwise inside and outside.
_KINDS: Mapping[tuple[str, str], Kind] = {
    ("pandas", "DataFrame"): "dataframe",
    ("pandas.core.frame", "DataFrame"): "dataframe",
    ("pandas", "Series"): "series",
    ("pandas.core.series", "Series"): "series",
    ("numpy", "ndarray"): "ndarray",
    ("PIL.Image", "Image"): "image",
    ("builtins", "bytes"): "bytes",
    ("builtins", "bytearray"): "bytearray",
}

_MODULES: Mapping[Kind, tuple[str, str]] = {
    "dataframe": ("nbgraph.core.frames", "FRAMES"),
    "series": ("nbgraph.core.frames", "SERIES"),
    "ndarray": ("nbgraph.core.arrays", "ARRAYS"),
    "image": ("nbgraph.core.images", "IMAGES"),
}

_CODECS: dict[Kind, Codec] = {"bytes": _Bytes(bytes), "bytearray": _Bytes(bytearray)}


def _codec(kind: Kind) -> Codec:
    if kind not in _CODECS:
        module, name = _MODULES[kind]
        _CODECS[kind] = getattr(importlib.import_module(module), name)
    return _CODECS[kind]


def has_codec(kind: Any) -> bool:
    """Return whether values of a type are kept as bytes; those of its subclasses are not."""
    return (kind.__module__, kind.__name__) in _KINDS


def codec_for(kind: Any) -> Codec | None:
    """Return how values of a type are kept as bytes, if they are."""
    name = _KINDS.get((kind.__module__, kind.__name__))
    return None if name is None else _codec(name)


def imported(package: str, module: str, extra: str) -> Any:
    """Return a module of an optional package.

    Raises
    ------
    IntegrationNotInstalledError
        If the package is missing.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise IntegrationNotInstalledError(package, extra) from error


_AS_IT_IS = frozenset((str, int, float, bool, type(None)))
"""Types whose values are JSON as they stand, and may be shared."""

_made_of: dict[int, Blob] = {}
"""What a value was read from, by its id, for values that only the runtime holds."""


def blob_of(value: Any, path: str) -> Blob:
    """Return a value of a known type as it is kept.

    Raises
    ------
    StateStoreError
        If it would not come back equal and of the same type; the message has its path.
    IntegrationNotInstalledError
        If a package that writes it is missing.
    """
    codec = codec_for(type(value))
    assert codec is not None
    blob = codec.write(value, path)
    if len(blob.content) > CONTENT_LIMIT:
        raise StateStoreError(
            f"{path} holds a {type(value).__name__} of {len(blob.content):,} bytes; up to "
            f"{CONTENT_LIMIT:,} are kept. Write it to a file and keep the file's name"
        )
    if blob.detail is None:
        return blob
    return blob.model_copy(update={"detail": _as_json(blob.detail, path)})


def _as_json(detail: Any, path: str) -> Any:
    try:
        copied = from_json(to_json(detail))
    except ValueError:
        copied = None
    if copied != detail:
        raise StateStoreError(
            f"{path} says something of itself (attrs, info) that JSON cannot hold exactly"
        )
    return copied


def _value_of(blob: Blob) -> Any:
    value = _codec(blob.kind).read(blob)
    try:
        weakref.finalize(value, _made_of.pop, id(value), None).atexit = False
    except TypeError:
        return value  # bytes, which need no remembering
    _made_of[id(value)] = blob
    return value


def kept(value: Any, path: str) -> Any:
    """Return a value that stands in a state with blobs in the place of what is kept as bytes.

    It is the value itself where there is none. What was read from a blob is not written again:
    nobody changes a value of a state.
    """
    return _exchanged(value, partial(_kept_one, path=path), _is_written)


def _kept_one(value: Any, path: str) -> Blob:
    return _made_of.get(id(value)) or blob_of(value, path)


def revived(value: Any) -> Any:
    """Return JSON with values in the place of blobs, each of its own; itself if there is none."""
    return _exchanged(value, _value_of, _is_blob)


def shown(value: Any) -> Any:
    """Return a copy of a value for people: JSON, with a summary of each blob."""
    kind = cast("type[Any]", type(value))
    if kind is dict:
        return {
            key: item if type(item) in _AS_IT_IS else shown(item) for key, item in value.items()
        }
    if kind is list:
        return [item if type(item) in _AS_IT_IS else shown(item) for item in value]
    if kind is Blob:
        return value.shown()
    return _kept_one(value, "a value").shown() if _is_written(value) else value


def _is_blob(value: Any) -> bool:
    return type(value) is Blob


def _is_written(value: Any) -> bool:
    return has_codec(type(value))


def _exchanged(value: Any, exchange: Callable[[Any], Any], fits: Callable[[Any], bool]) -> Any:
    """Return JSON with what `fits` exchanged, and all else shared with the given value."""
    kind = cast("type[Any]", type(value))
    if kind in _AS_IT_IS:
        return value
    if kind is list:
        items = [_exchanged(item, exchange, fits) for item in value]
        return items if any(map(is_not, items, value)) else value
    if kind is dict:
        items = [_exchanged(item, exchange, fits) for item in value.values()]
        changed = any(map(is_not, items, value.values()))
        return dict(zip(value, items, strict=True)) if changed else value
    return exchange(value) if fits(value) else value


@dataclass(frozen=True, slots=True)
class Packed:
    """JSON text, and the blobs that belong to it: at each path the text has null."""

    body: bytes
    blobs: tuple[tuple[Path, Blob], ...] = ()

    def value(self) -> Any:
        """Return the JSON value, with its blobs in their places."""
        value = from_json(self.body)
        for path, blob in self.blobs:
            value = placed(value, path, blob)
        return value


class Packing:
    """One writing of JSON: the values that are not JSON, and the tokens that stand for them.

    A token is made of a number that nobody could have known. Give it as `context=` to a
    serializer, and the blobs it meets are in `found`.
    """

    def __init__(self) -> None:
        self._mark = ""
        self.found: list[Any] = []

    def put(self, value: Any) -> str:
        """Take a value, and return the text that stands for it."""
        self._mark = self._mark or uuid4().hex
        self.found.append(value)
        return f"{self._mark}:{len(self.found) - 1}"

    def places(self, value: Any) -> list[tuple[Path, Any]]:
        """Return where in a JSON value, read from what was written, the taken values stand."""
        return list(self._walked(value, ()))

    def _walked(self, value: Any, path: Path) -> list[tuple[Path, Any]]:
        match value:
            case str() if value.startswith(self._mark):
                return [(path, self.found[int(value.partition(":")[2])])]
            case list():
                items = enumerate(cast("list[Any]", value))
            case dict():
                items = cast("dict[str, Any]", value).items()
            case _:
                return []
        return [found for key, item in items for found in self._walked(item, (*path, key))]

    def packed(self, body: bytes) -> Packed:
        """Return what was written, with null in the places of what was taken."""
        if not self.found:
            return Packed(body)
        value = from_json(body)
        places = self.places(value)
        for path, _ in places:
            value = placed(value, path, None)
        return Packed(to_json(value), tuple(places))


def placed(value: Any, path: Path, part: Any) -> Any:
    """Return a JSON value with `part` at a path in it, put there in place."""
    if not path:
        return part
    *steps, last = path
    within = value
    for step in steps:
        within = within[step]
    within[last] = part
    return value
