"""What an adapter tells `AdaptedDriver` of its engine: legs go down, what happened comes up.

`Engine` is what every engine must do; `Edits`, `Forks`, `Skips` and `Keeps` are what some can do
beside that, and their `capabilities` say so.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from nbgraph.adapters.log import BranchLog, ThreadLog
from nbgraph.core.driver import Capability, Folding, Shape
from nbgraph.core.events import Event, Interrupt
from nbgraph.core.live import LiveEvent
from nbgraph.core.record import Json

__all__ = [
    "Answers",
    "Edits",
    "Engine",
    "Forks",
    "Happened",
    "Keeps",
    "Leg",
    "Moved",
    "Skips",
    "Told",
    "call_of",
]

Happened = Event | LiveEvent
Answers = Mapping[str, Sequence[tuple[Interrupt, Json]]]
"""Answered questions, by the engine's own id of them (`Interrupt.id`)."""


@dataclass(frozen=True, slots=True)
class Leg:
    """A run of the engine from where a branch stands to the next pause, or to the end.

    With neither an input nor answers it goes on from a pause.

    Attributes
    ----------
    given : mapping or model or None
        The input of a turn.
    answers : mapping
        What waited and may go on now. Questions of one id come together, in order, when all of
        them are answered.
    before, after : tuple of str
        Paths of the nodes to pause before and after; `"refund/pay"` is one in a sub-graph.
    """

    given: Mapping[str, Any] | BaseModel | None = None
    answers: Answers = field(default_factory=dict[str, Sequence[tuple[Interrupt, Json]]])
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """Something that happened, and where the engine stands from then on.

    Events need no sequence and no branch: the driver records them. `place` is what the engine goes
    on from, and means nothing to the driver; None keeps the one before.
    """

    events: Sequence[Happened]
    place: Any = None


@dataclass(frozen=True, slots=True)
class Moved:
    """Where a branch stands after a change, and what tells of it.

    `asks_again` says that questions which waited wait no more, and that a run to the next pause
    asks them again.
    """

    place: Any
    events: Sequence[Event]
    asks_again: bool = False


def call_of(key: str) -> str:
    """Return the part of a key that questions of one interrupt share: `ask:0` of `ask:0/1`."""
    task, _, place = key.rpartition(":")
    return f"{task}:{place.partition('/')[0]}"


class Engine(Protocol):
    """One thread of a graph of another engine."""

    @property
    def name(self) -> str:
        """The engine's name, as it is shown."""
        ...

    @property
    def capabilities(self) -> Mapping[Capability, str | None]:
        """What it can do beyond starting, resuming and going on; where not, the reason."""
        ...

    @property
    def folding(self) -> Folding:
        """How updates become state; `WholeValues` for an engine that merges by itself."""
        ...

    @property
    def shape(self) -> Shape:
        """The graph's structure, with the nodes it pauses at where a branch has set none."""
        ...

    @property
    def out_of_reach(self) -> Mapping[str, str]:
        """Which nodes it cannot pause at, and why not."""
        ...

    async def follow(self, log: ThreadLog, branch_id: str) -> None:
        """Record what the engine knows of the thread that the log does not: what others did."""
        ...

    def run(self, branch: BranchLog, leg: Leg) -> AsyncGenerator[Told, None]:
        """Run to the next pause or the end, and yield what happens.

        It yields no event about the run's own end: the driver knows from where the branch stands
        whether it waits, paused or is finished. What it raises is why the run failed.
        """
        ...

    def stop(self) -> None:
        """Have the run at hand end as soon as it can; `run` then just returns."""
        ...


class Edits(Protocol):
    """An engine with the capability `"edit"`."""

    async def edited(self, branch: BranchLog, update: Mapping[str, Any], by: str | None) -> Moved:
        """Change the state where a branch stands.

        Raises
        ------
        StateUpdateError
            If the update does not fit; the thread is unchanged.
        """
        ...


class Forks(Protocol):
    """An engine with the capability `"fork"`."""

    async def copied(
        self, origin: BranchLog, at: int, forked: BranchLog, update: Mapping[str, Any] | None
    ) -> Moved:
        """Copy where `origin` stood after event `at` for the branch `forked`, which begins there.

        Raises
        ------
        StateUpdateError
            If the engine keeps nothing of that event, or the update does not fit.
        """
        ...


class Skips(Protocol):
    """An engine with the capability `"skip"`."""

    async def skipped(self, branch: BranchLog, task_id: str, value: Mapping[str, Any]) -> Moved:
        """Go past a task that has not finished, with `value` as what it wrote.

        Raises
        ------
        ResumeError
            If the engine cannot skip this one.
        """
        ...


@runtime_checkable
class Keeps(Protocol):
    """An engine that keeps what only we know with the thread: who answered what, breakpoints."""

    async def keep(self, branch: BranchLog, events: Sequence[Event]) -> None:
        """Keep events that are about to be recorded; `follow` finds them again."""
        ...
