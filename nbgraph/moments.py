"""The steps of a thread one can look at, and who changed what between two of them. Pure folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbgraph.core.compare import Comparison, Difference, compare_states
from nbgraph.core.driver import Folding, HasReducers
from nbgraph.core.events import (
    Event,
    RunStarted,
    StateEdited,
    SuperstepFinished,
    TaskFinished,
)

__all__ = ["Change", "Moment", "changes", "moments", "writers"]


@dataclass(frozen=True, slots=True)
class Moment:
    """A step one can look at: what stood after superstep `number`, at event `sequence`.

    Number 0 is the start. `now` is the end of the log, while a superstep is unfinished or the state
    was changed after it; else the last step is at the end of the log.
    """

    number: int
    sequence: int
    now: bool = False

    @property
    def name(self) -> str:
        """Return how it is called: `start`, `after 3`, `now`."""
        if self.now:
            return "now"
        return f"after {self.number}" if self.number else "start"


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs between two moments, and who made it so by which reducer.

    `by` is empty where the two are not on one line of events, as two branches are not.
    """

    difference: Difference
    by: tuple[str, ...] = ()
    reducer: str | None = None

    @property
    def words(self) -> str:
        """Return it as it is read: `set by order`, `add_messages, by order`, `removed by order`."""
        names = ", ".join(self.by)
        if not names:
            return ""
        if self.reducer is not None:
            return f"{self.reducer}, by {names}"
        return f"{'removed' if self.difference.sign == '-' else 'set'} by {names}"


def moments(events: Sequence[Event]) -> tuple[Moment, ...]:
    """Return the steps of a branch, oldest first; none for a thread that is new."""
    found: list[Moment] = []
    number, merged, settled = 0, False, True
    for event in events:
        match event:
            case RunStarted():
                merged, settled = False, False
                found = found or [Moment(0, event.sequence)]
            case SuperstepFinished(next=following):
                number = number if merged else number + 1
                found = [*found[:-1], *_unless(found[-1:], number), Moment(number, event.sequence)]
                merged, settled = following is None, True
            case TaskFinished() | StateEdited():
                settled = False
            case _ if "task" in event.type or "answer" in event.type:
                settled = False
            case _:
                pass
    if found:
        last = Moment(number, events[-1].sequence, now=not settled)
        found = [*(found[:-1] if settled else found), last]
    return tuple(found)


def _unless(last: Iterable[Moment], number: int) -> Iterator[Moment]:
    """Yield the last moment, unless it is another event of the same superstep."""
    yield from (moment for moment in last if moment.number != number)


def writers(
    events: Iterable[Event], after: int, upto: int, folding: Folding
) -> Mapping[str, tuple[tuple[str, ...], str | None]]:
    """Return who wrote each field between two events, and the reducer that merged it."""
    names: dict[str, list[str]] = {}
    past: set[str] = set()
    for who, wrote in _all_written(events, after, upto):
        for name in wrote.update:
            names.setdefault(name, []).append(who)
        past |= {*wrote.replaced}
    return {
        name: (tuple(dict.fromkeys(who)), None if name in past else _reducer(folding, name))
        for name, who in names.items()
    }


@dataclass(frozen=True, slots=True)
class _Wrote:
    update: Mapping[str, Any]
    replaced: Sequence[str]


def _all_written(events: Iterable[Event], after: int, upto: int) -> Iterator[tuple[str, _Wrote]]:
    waiting: dict[str, TaskFinished | None] = {}
    for event in events:
        if event.sequence > upto:
            return
        if isinstance(event, TaskFinished):
            waiting[event.task_id] = event
        wrote = list(_written(event, waiting))
        if event.sequence > after:
            yield from wrote


def _written(event: Event, waiting: dict[str, TaskFinished | None]) -> Iterator[tuple[str, _Wrote]]:
    """Yield what an event puts into the state; results count when their superstep ends."""
    match event:
        case RunStarted(input=given, replaced=replaced, tasks=tasks):
            yield "the input", _Wrote(given, replaced)
        case StateEdited(update=update, replaced=replaced, by=by, tasks=tasks):
            yield f"{by or 'somebody'}, who edited", _Wrote(update, replaced)
            if tasks is None:
                return
        case SuperstepFinished(next=tasks):
            for task in filter(None, waiting.values()):
                yield task.node, _Wrote(task.update, task.replaced)
        case _:
            return
    waiting.clear()
    waiting.update((task.task_id, None) for task in tasks or ())  # updates apply in this order


def _reducer(folding: Folding, name: str) -> str | None:
    return folding.reducer(name) if isinstance(folding, HasReducers) else None


def changes(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    wrote: Mapping[str, tuple[tuple[str, ...], str | None]],
) -> tuple[tuple[Change, ...], int]:
    """Return how two states differ, given as JSON, and at how many paths they are the same."""
    found: Comparison = compare_states(first, second)
    return tuple(_change(item, wrote) for item in found.differences), found.same


def _change(item: Difference, wrote: Mapping[str, tuple[tuple[str, ...], str | None]]) -> Change:
    name = item.path.removeprefix("/").split("/", 1)[0].replace("~1", "/").replace("~0", "~")
    by, reducer = wrote.get(name, ((), None))
    return Change(item, by, reducer)
