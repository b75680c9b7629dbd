"""Times as a person reads them: a time of day, how long something took, how long it waits."""

from __future__ import annotations

import time

__all__ = ["age", "clock", "duration"]


def duration(seconds: float) -> str:
    """Return a duration as it is read: `<1 ms`, `12 ms`, `0.8 s`, `2 min 22 s`, `1 h 5 min`."""
    if seconds < 0.001:
        return "<1 ms"
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def clock(at: float) -> str:
    """Return a time of day in the kernel's zone: `12:04:31`."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def age(seconds: float) -> str:
    """Return how long something has waited, without seconds: `a moment`, `2 min`, `3 h`."""
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {word}"
    return "a moment"
