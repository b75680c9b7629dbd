"""What the parts of a document are called: by `$id`, anchor and pointer. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote, urldefrag, urljoin

from nbgraph.core.json_values import Json, is_array, is_object

__all__ = ["Names"]


_MAX_DEPTH = 100
_VALUES = {"const", "enum", "default", "examples"}


class Names:
    """The names of one document; its parts are looked through when a name first needs that."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._base = _id_of(root)
        self._named: dict[str, Json] | None = None

    def find(self, reference: str) -> Json:
        """Return the part that a reference names.

        Raises
        ------
        LookupError
            If no part of the document has that name.
        """
        if reference == "#":
            return self._root
        if reference.startswith("#/"):
            return _at(self._root, reference[2:])
        try:
            whole, fragment = urldefrag(urljoin(self._base, reference))
        except ValueError as error:
            raise LookupError(reference) from error
        if fragment.startswith("/"):
            return _at(self._part(whole), fragment[1:])
        return self._part(f"{whole}#{fragment}" if fragment else whole)

    def _part(self, name: str) -> Json:
        if name == self._base:
            return self._root
        if self._named is None:
            self._named = dict(_names(self._root, ""))
        return self._named[name]


def _names(schema: Json, base: str, depth: int = 0) -> Iterator[tuple[str, Json]]:
    """Yield the full names of a schema and of those in it; the first of a name counts."""
    if depth > _MAX_DEPTH:
        return
    if is_object(schema):
        base = _joined(base, _id_of(schema))
        if _id_of(schema):
            yield base, schema
        for key in ("$dynamicAnchor", "$anchor"):
            if isinstance(schema.get(key), str):
                yield f"{base}#{schema[key]}", schema
    for part in _parts(schema):
        yield from _names(part, base, depth + 1)


def _parts(schema: Json) -> Iterator[Json]:
    if is_object(schema):
        yield from (schema[key] for key in schema if key not in _VALUES)
    elif is_array(schema):
        yield from schema


def _id_of(schema: Json) -> str:
    found = schema.get("$id") if is_object(schema) else None
    return urldefrag(found)[0] if isinstance(found, str) else ""


def _joined(base: str, name: str) -> str:
    try:
        return urljoin(base, name)
    except ValueError:
        return base


def _at(target: Json, path: str) -> Json:
    for part in path.split("/"):
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if is_object(target) and name in target:
            target = target[name]
        elif is_array(target) and name.isdecimal() and int(name) < len(target):
            target = target[int(name)]
        else:
            raise LookupError(path)
    return target
