"""`GraphResult`: where a call left its thread."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from nbgraph.core.driver import Driver
from nbgraph.core.events import Interrupt
from nbgraph.core.interrupts import as_asked
from nbgraph.core.position import Position
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.thread import Thread

__all__ = ["GraphResult", "result_of"]


@dataclass(frozen=True, slots=True)
class GraphResult:
    """Where a call left its thread.

    Attributes
    ----------
    state : Any
        The state: an instance of the graph's output or state type, or a dict.
    step : int
        How many supersteps the call ran.
    data : dict
        The state as JSON.
    thread_id : str
        The thread.
    checkpoint_id : str or None
        Id of the last recorded event; None without a store.
    status : "completed" or "interrupted"
        Whether the thread waits.
    interrupts : dict of str to Interrupt
        What it waits for; empty at a breakpoint.
    """

    state: Any
    step: int
    data: dict[str, Any]
    thread_id: str
    checkpoint_id: str | None
    status: Literal["completed", "interrupted"]
    interrupts: dict[str, Interrupt] = field(default_factory=dict[str, Interrupt])


def result_of(
    position: Position, driver: Driver, steps: int, *, stored: bool = True
) -> GraphResult:
    """Return where a driver's thread stands as the result of a call that ran `steps`."""
    shown = driver.graph.interface if isinstance(driver, Thread) else driver.folding
    return GraphResult(
        state=shown.view(position.state),
        step=steps,
        data=shown.to_json(position.state),
        thread_id=driver.thread_id,
        checkpoint_id=f"{driver.branch_id}:{position.sequence}" if stored else None,
        status="completed" if position.status == "completed" else "interrupted",
        interrupts=as_asked(position.pending),
    )
