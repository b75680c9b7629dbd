"""Large texts of a JSON body, taken out of it so that each is stored once, and put back.

Where they stood is kept beside the body and not in it: user data can never look like a marker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic_core import from_json, to_json

from nbgraph.stores._chain import content_hash

__all__ = ["LARGE", "Extract", "checked_blob", "extracted", "hashes_in", "restored"]

LARGE = 65_536
"""From how many characters on a text is stored by its hash."""

_Step = str | int


@dataclass(slots=True)
class Extract:
    """A JSON body without its large texts, where they stood, and the texts by hash."""

    body: bytes
    refs: str = ""
    blobs: Mapping[bytes, bytes] = field(default_factory=dict[bytes, bytes])


def extracted(body: bytes) -> Extract:
    """Return a JSON body without its large texts. A body that is not large has none."""
    if len(body) < LARGE:
        return Extract(body)
    value = from_json(body)
    found = list(_large(value, ()))
    if not found:
        return Extract(body)
    blobs: dict[bytes, bytes] = {}
    refs: list[tuple[tuple[_Step, ...], str]] = []
    for path, text in found:
        content = text.encode()
        name = content_hash(content)
        blobs[name] = content
        refs.append((path, name.hex()))
        _put(value, path, "")
    return Extract(to_json(value), to_json(refs).decode(), blobs)


def restored(body: bytes, refs: str, blob: Callable[[bytes], bytes]) -> bytes:
    """Return the body with its large texts in it; `blob` finds one by its hash."""
    if not refs:
        return body
    value = from_json(body)
    for path, name in from_json(refs):
        _put(value, path, blob(bytes.fromhex(name)).decode())
    return to_json(value)


def checked_blob(blobs: Mapping[bytes, bytes], name: bytes) -> bytes:
    """Return a large text that is what its hash says.

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
    """Return the hashes of the large texts that belong to a body."""
    return [bytes.fromhex(name) for _, name in from_json(refs)] if refs else []


def _large(value: Any, path: tuple[_Step, ...]) -> Iterator[tuple[tuple[_Step, ...], str]]:
    if isinstance(value, str):
        if len(value) >= LARGE:
            yield path, value
    elif isinstance(value, list):
        for at, item in enumerate(cast("list[Any]", value)):
            yield from _large(item, (*path, at))
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from _large(item, (*path, key))


def _put(value: Any, path: tuple[_Step, ...], text: str) -> None:
    *steps, last = path
    for step in steps:
        value = value[step]
    value[last] = text
