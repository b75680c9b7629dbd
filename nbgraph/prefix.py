"""What there was to see after some event: the log read up to it, and folded. No second copy."""

from __future__ import annotations

from collections.abc import Sequence

from nbgraph.core.driver import Driver, Shape, TellsInside
from nbgraph.core.events import Event, RunStarted, StateEdited, SuperstepFinished
from nbgraph.core.inside import telling
from nbgraph.core.live import ChildEvent
from nbgraph.errors import StateUpdateError
from nbgraph.snapshot import Snapshot, shown

__all__ = ["blank", "seen", "with_inside"]


def blank(shape: Shape) -> Snapshot:
    """Return what there is to see before the first event."""
    return Snapshot(marks={node.path: "idle" for node in shape.nodes})


async def with_inside(
    driver: Driver, events: Sequence[Event], *, plans: bool = True
) -> list[Event | ChildEvent]:
    """Return events in order, with what happened in the sub-graphs that they tell of.

    `plans` says whether a plan tells of the sub-graphs that ran for it later.
    """
    if not isinstance(driver, TellsInside):
        return [*events]
    told = {id(event) for event in telling(events)}
    found: list[Event | ChildEvent] = []
    for event in events:
        is_plan = isinstance(event, RunStarted | SuperstepFinished | StateEdited)
        asked = id(event) in told and (plans or not is_plan)
        inner = await driver.inside(event) if asked else ()
        found += (event, *inner) if is_plan else (*inner, event)
    return found


async def seen(driver: Driver, sequence: int) -> Snapshot:
    """Return what there was to see after event `sequence` of a branch, `0` before the first.

    Raises
    ------
    StateUpdateError
        If it is no event of the branch.
    """
    events = await driver.events()
    if not 0 <= sequence <= len(events):
        raise StateUpdateError(
            f"Branch {driver.branch_id!r} of thread {driver.thread_id!r} has no event {sequence}; "
            f"its events are 1 to {len(events)}, and 0 is before the first"
        )
    snapshot = blank(driver.shape)
    last = sequence == len(events)
    for event in await with_inside(driver, events[:sequence], plans=last):
        snapshot = shown(snapshot, event, driver.shape, driver.folding)
    return snapshot
