"""Where a time stands on a line: waits and breaks that would push the rest together are cut."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nbgraph import words
from nbgraph.timetable import Span, TaskRow

__all__ = ["Axis", "axis"]

_CUT = 0.25
"""How long a stretch without work is drawn at most, as a part of all work."""
_LINES = 5
"""Into how many parts lines divide the axis."""
_ROOM = 0.14
"""How much of the axis the words at a tick need."""
_SHORTEST = 0.05
"""How long work is taken to be at least, in seconds, when that is decided."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Times and their places from 0 to 1.

    Attributes
    ----------
    times, places : sequence of float
        Both grow; between two of them a place grows with the time.
    cuts : tuple of float
        Times at which a longer stretch without work ends that is drawn shorter.
    """

    times: Sequence[float]
    places: Sequence[float]
    cuts: tuple[float, ...] = ()

    def place(self, at: float) -> float:
        """Return where a time stands."""
        index = min(max(bisect_right(self.times, at) - 1, 0), len(self.times) - 2)
        begin, end = self.times[index], self.times[index + 1]
        part = min(max((at - begin) / (end - begin), 0.0), 1.0) if end > begin else 0.0
        return self.places[index] + part * (self.places[index + 1] - self.places[index])

    def time(self, place: float) -> float:
        """Return which time stands at a place."""
        index = min(max(bisect_right(self.places, place) - 1, 0), len(self.places) - 2)
        begin, end = self.places[index], self.places[index + 1]
        part = (place - begin) / (end - begin) if end > begin else 0.0
        return self.times[index] + part * (self.times[index + 1] - self.times[index])

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """What is written above, as far as it fits: the begin, what follows each cut, and lines.

        At each fifth of the axis stands a line; what is written there is the time since the begin.
        """
        found = [(0.0, words.clock(self.times[0]))]
        for cut in self.cuts:
            place = self.place(cut)
            if place - found[-1][0] >= _ROOM and place <= 1 - _ROOM:
                found.append((place, f"// {words.clock(cut)}"))
        for place in (fifth / _LINES for fifth in range(1, _LINES)):
            if all(abs(place - other) >= _ROOM for other, _ in found):
                found.append((place, f"+{words.duration(self.time(place) - self.times[0])}"))
        return sorted(found)


def axis(rows: Iterable[TaskRow], *, compact: bool = True) -> Axis | None:
    """Return the axis on which all spans of these rows stand; None if there are none."""
    spans = [span for row in rows for span in row.spans]
    if not spans:
        return None
    times = sorted({each for span in spans for each in (span.begin, span.end)})
    if len(times) == 1:
        times.append(times[0] + _SHORTEST)
    busy = _busy(spans, times) if compact else [True] * (len(times) - 1)
    lengths = [end - begin for begin, end in pairwise(times)]
    work = sum(length for length, is_busy in zip(lengths, busy, strict=True) if is_busy)
    most = _CUT * max(work, _SHORTEST)
    drawn = [
        length if is_busy else min(length, most)
        for length, is_busy in zip(lengths, busy, strict=True)
    ]
    places, total = [0.0], sum(drawn)
    for length in drawn:
        places.append(places[-1] + length / total)
    cuts = tuple(
        end for end, length, now in zip(times[1:], lengths, drawn, strict=True) if now < length
    )
    return Axis(times, places, cuts)


def _busy(spans: Sequence[Span], times: Sequence[float]) -> list[bool]:
    """Return for each stretch between two times whether somebody works in it."""
    change = dict.fromkeys(times, 0)
    for span in spans:
        if span.kind != "wait":
            change[span.begin] += 1
            change[span.end] -= 1
    found: list[bool] = []
    working = 0
    for at in times[:-1]:
        working += change[at]
        found.append(working > 0)
    return found
