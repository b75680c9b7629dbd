"""Secrets inside values: `SecretStr` and `SecretBytes`, which are never kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from pydantic import BaseModel, SecretBytes, SecretStr

__all__ = ["MASK", "holds_secret", "masked", "secrets_of"]

MASK = "**********"
"""What stands for a secret, as pydantic writes it."""

_DEPTH = 8
"""How deep a context is searched."""

_SHORTEST = 4
"""Shorter texts are in too many words to be masked."""


def holds_secret(value: Any, depth: int) -> bool:
    """Return whether a model, dataclass or container holds a secret, which JSON would mask."""
    if isinstance(value, SecretStr | SecretBytes):
        return True
    return depth > 0 and any(holds_secret(part, depth - 1) for part in _parts(value))


def secrets_of(value: Any, depth: int = _DEPTH) -> Iterator[str]:
    """Yield the secrets in a model, dataclass or container."""
    match value:
        case SecretStr():
            yield value.get_secret_value()
        case SecretBytes():
            yield value.get_secret_value().decode(errors="replace")
        case _ if depth > 0:
            for part in _parts(value):
                yield from secrets_of(part, depth - 1)
        case _:
            return


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these secrets, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, MASK)
    return text


def _parts(value: Any) -> Iterable[Any]:
    match value:
        case BaseModel():
            return value.__dict__.values()
        case Mapping():
            return cast("Mapping[Any, Any]", value).values()
        case list() | tuple() | set() | frozenset():
            return cast("Iterable[Any]", value)
        case _ if dataclasses.is_dataclass(value):
            return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
        case _:
            return ()
