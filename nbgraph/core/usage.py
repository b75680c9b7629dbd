"""What messages say they cost: tokens, by whichever names a provider has for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["is_number", "tokens_of"]

_LARGEST = 10**300
"""From here on whole numbers are no floats any more."""


def tokens_of(usage: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many tokens a model read and wrote; 0 for what the usage does not tell."""
    read = _count(usage, "input_tokens", "prompt_tokens")
    return read, _count(usage, "output_tokens", "completion_tokens")


def is_number(value: Any) -> bool:
    """Return whether a value is a number that can be counted with."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _LARGEST if isinstance(value, int) else math.isfinite(value)


def _count(usage: Mapping[str, Any], *names: str) -> int:
    found = next((usage[name] for name in names if name in usage), 0)
    return int(found) if is_number(found) else 0
