"""Large texts of a JSON body, and blobs beside it, so that each is stored once, and put back.

Where they stood is kept beside the body and not in it: user data can never look like a marker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic_core import from_json, to_json

from nbgraph.core.blob import Blob, Packed, Path, placed
from nbgraph.stores._chain import content_hash

__all__ = ["LARGE", "Extract", "checked_blob", "extracted", "hashes_in", "restored"]

LARGE = 65_536
"""From how many characters on a text is stored by its hash."""

_Ref = tuple[Path, str] | tuple[Path, str, dict[str, Any]]


@dataclass(slots=True)
class Extract:
    """A JSON body without what is large, where that stood, and the contents by hash."""

    body: bytes
    refs: str
    blobs: Mapping[bytes, bytes]


def extracted(packed: Packed) -> Extract:
    """Return a JSON body without its blobs and its large texts, of which a small one has none."""
    body = packed.body
    if len(body) < LARGE and not packed.blobs:
        return Extract(body, "", {})
    refs: list[_Ref] = []
    blobs: dict[bytes, bytes] = {}
    if len(body) >= LARGE and _may_have_large(body):
        value = from_json(body)
        for path, text in list(_large(value, ())):
            refs.append((path, _named(text.encode(), blobs)))
            value = placed(value, path, "")
        body = to_json(value) if refs else body
    for path, blob in packed.blobs:
        kind = {"kind": blob.kind, "summary": blob.summary, "detail": blob.detail}
        refs.append((path, _named(blob.content, blobs), kind))
    return Extract(body, to_json(refs).decode() if refs else "", blobs)


def _named(content: bytes, blobs: dict[bytes, bytes]) -> str:
    name = content_hash(content)
    blobs[name] = content
    return name.hex()


def restored(body: bytes, refs: str, blob: Callable[[bytes], bytes]) -> Packed:
    """Return the body with its large texts in it, and its blobs; `blob` finds one by its hash.

    Raises
    ------
    LookupError, ValueError
        If a content is missing, or is none of the known types.
    """
    if not refs:
        return Packed(body)
    texts: list[tuple[Path, str]] = []
    blobs: list[tuple[Path, Blob]] = []
    for path, name, *kind in from_json(refs):
        content = blob(bytes.fromhex(name))
        if kind:
            blobs.append((tuple(path), Blob(**kind[0], content=content)))
        else:
            texts.append((path, content.decode()))
    if texts:
        value = from_json(body)
        for path, text in texts:
            value = placed(value, path, text)
        body = to_json(value)
    return Packed(body, tuple(blobs))


def checked_blob(blobs: Mapping[bytes, bytes], name: bytes) -> bytes:
    """Return a content that is what its hash says.

    Raises
    ------
    LookupError
        If it is not there, or is not what was written.
    """
    body = blobs[name]
    if content_hash(body) != name:
        raise LookupError(name)
    return body


def hashes_in(refs: str) -> list[bytes]:
    """Return the hashes of the contents that belong to a body."""
    return [bytes.fromhex(name) for _, name, *_ in from_json(refs)] if refs else []


def _may_have_large(body: bytes) -> bool:
    """Return whether a large text may be in a JSON body; to see that takes next to no time.

    Where no text has a quote in it, quotes are the borders of texts, and a text is as long in JSON
    as it is, or longer. One without a border covers at least one of the stretches that are half as
    long as it and stand side by side.
    """
    if b"\\" in body and b'\\"' in body:
        return True
    half = LARGE // 2
    return any(body.find(b'"', at, at + half) < 0 for at in range(0, len(body) - half + 1, half))


def _large(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        if len(value) >= LARGE:
            yield path, value
    elif isinstance(value, list):
        for at, item in enumerate(cast("list[Any]", value)):
            yield from _large(item, (*path, at))
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from _large(item, (*path, key))
