"""Pictures of Pillow as png, and as the bytes of their pixels where png has no such pixels."""

from __future__ import annotations

import io
import struct
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

from nbgraph.core.blob import Blob, imported
from nbgraph.errors import StateStoreError

__all__ = ["IMAGES", "PIXEL_LIMIT"]

PIXEL_LIMIT = 80_000_000
"""How many pixels a kept picture has at most: a few bytes can unpack to any number of them."""

_SIZE = struct.Struct(">II")
_HEADER = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

_PLAIN = (str, int, float, bool, type(None))


def _pillow() -> Any:
    return imported("pillow", "PIL.Image", "images")


class _Images:
    """`PIL.Image.Image`; what was opened from a file has a class of its own, and is copied first.

    What a picture says of itself (`info`) is kept beside the pixels.
    """

    def write(self, value: Any, path: str) -> Blob:
        width, height = value.size
        if width * height > PIXEL_LIMIT:
            raise StateStoreError(
                f"{path} holds a picture of {width} x {height} pixels; up to {PIXEL_LIMIT:,} are "
                "kept"
            )
        detail = {"info": _told(value.info, f"{path}, info")}
        summary = f"{value.mode}, {width} x {height} pixels"
        for content, said in _forms(value):
            blob = Blob(kind="image", content=content, summary=summary, detail=detail | said)
            if self.same(value, self.read(blob)):
                return blob
        raise StateStoreError(
            f"{path} holds a picture of mode {value.mode!r} and size {value.size}, which comes "
            "back neither from png nor from its bytes; convert it first"
        )

    def read(self, blob: Blob) -> Any:
        pillow = _pillow()
        try:
            bare = _unpacked if "mode" in blob.detail else _opened
            value = bare(pillow, blob)
            value.info = _read(blob.detail["info"])
        except (OSError, ValueError, KeyError, TypeError, SyntaxError) as error:
            raise StateStoreError(f"A kept picture cannot be read: {error}") from error
        except pillow.DecompressionBombError as error:
            raise StateStoreError(f"A kept picture cannot be read: {error}") from error
        return value

    def same(self, left: Any, right: Any) -> bool:
        return bool(left == right) and list(map(type, left.info.values())) == list(
            map(type, right.info.values())
        )


def _forms(value: Any) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield the forms a picture may be kept in: png, and the bytes of its pixels."""
    bare, file = value.copy(), io.BytesIO()
    bare.info = {}
    with suppress(OSError, ValueError, SystemError):  # png has no such mode
        bare.save(file, format="PNG")
        yield file.getvalue(), {}
    yield bare.tobytes(), {"mode": bare.mode, "size": list(bare.size)}


def _unpacked(pillow: Any, blob: Blob) -> Any:
    mode, (width, height) = blob.detail["mode"], blob.detail["size"]
    _require_few(width, height)
    return pillow.frombytes(mode, (width, height), blob.content)


def _opened(pillow: Any, blob: Blob) -> Any:
    _require_small(blob.content)
    opened = pillow.open(io.BytesIO(blob.content), formats=("PNG",))
    opened.load()
    return opened.copy()


def _require_small(content: bytes) -> None:
    if not content.startswith(_HEADER) or len(content) < len(_HEADER) + _SIZE.size:
        raise StateStoreError("A kept picture is no png")
    _require_few(*_SIZE.unpack_from(content, len(_HEADER)))


def _require_few(width: int, height: int) -> None:
    if width * height > PIXEL_LIMIT:
        raise StateStoreError(
            f"A kept picture would have {width} x {height} pixels; up to {PIXEL_LIMIT:,} are read"
        )


def _told(value: Any, path: str) -> Any:
    """Return what a picture says of itself as JSON that tells tuples and bytes from the rest."""
    kind = cast("type[Any]", type(value))
    if kind in _PLAIN:
        return value
    if kind is bytes:
        return {"bytes": b64encode(value).decode()}
    if kind in (tuple, list):
        return {kind.__name__: [_told(item, path) for item in value]}
    if kind is dict:
        return {"dict": [[_told(key, path), _told(item, path)] for key, item in value.items()]}
    raise StateStoreError(
        f"{path} holds a {kind.__qualname__}, which is not kept; take it out of the picture's info"
    )


def _read(told: Any) -> Any:
    match told:
        case {"bytes": text}:
            return b64decode(text)
        case {"tuple": items}:
            return tuple(map(_read, items))
        case {"list": items}:
            return list(map(_read, items))
        case {"dict": items}:
            return {_read(key): _read(item) for key, item in items}
        case _:
            return told


IMAGES = _Images()
