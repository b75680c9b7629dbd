"""Questions that end without a person's answer: dismissed, expired, or to be asked again."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from nbgraph.core.events import Interrupt, Lapsed

__all__ = ["ASK_AGAIN", "DISMISS", "Lapse", "expiry", "is_expired", "overdue"]


class Lapse(Enum):
    """What stands in the place of an answer."""

    DISMISSED = "dismissed"
    EXPIRED = "expired"
    AGAIN = "again"

    @property
    def word(self) -> Lapsed:
        """What is recorded of it."""
        return self.value

    def __repr__(self) -> str:
        return {"dismissed": "DISMISS", "again": "ASK_AGAIN"}.get(self.value, "EXPIRED")


DISMISS = Lapse.DISMISSED
"""In the place of an answer: nobody will give one. The question's default counts, if it has one."""
ASK_AGAIN = Lapse.AGAIN
"""In the place of an answer: the node runs again and asks anew, for example after an edit."""


def expiry(expires: object) -> float | None:
    """Return until when a question waits, in seconds since the epoch; None for ever.

    Raises
    ------
    TypeError
        If it is no number of seconds, no timedelta and no datetime.
    ValueError
        If it is a datetime without a time zone, or not finite.
    """
    match expires:
        case None:
            return None
        case datetime():
            if expires.tzinfo is None:
                raise ValueError(f"expires={expires!r} has no time zone; pass tzinfo=UTC")
            return expires.timestamp()
        case timedelta():
            return time.time() + expires.total_seconds()
        case int() | float() if not isinstance(expires, bool):
            if not math.isfinite(expires):
                raise ValueError(f"expires is a finite number of seconds, got {expires!r}")
            return time.time() + expires
        case _:
            raise TypeError(f"expires takes seconds, a timedelta or a datetime, got {expires!r}")


def is_expired(question: Interrupt, now: float) -> bool:
    """Return whether the time of a question is over."""
    return question.expires_at is not None and question.expires_at <= now


def overdue(pending: Mapping[str, Interrupt], now: float) -> dict[str, Any]:
    """Return the questions whose time is over, each with what stands in the place of its answer."""
    return {key: Lapse.EXPIRED for key, item in pending.items() if is_expired(item, now)}
