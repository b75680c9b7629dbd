"""What `stream_mode=` makes of a run's events: a pure filter, and how far a reader holds a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from nbgraph.core.blob import shown
from nbgraph.core.events import (
    Event,
    Interrupt,
    RunFinished,
    RunPaused,
    RunStopped,
    SuperstepFinished,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.core.fold import fold
from nbgraph.core.interrupts import as_asked
from nbgraph.core.live import ChildEvent, LiveEvent, TaskEmitted, TaskStarted
from nbgraph.core.position import Position
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.schema import StateSchema

if TYPE_CHECKING:
    from nbgraph.core.interface import Interface
    from nbgraph.core.thread import Thread

__all__ = [
    "FinalEventData",
    "InterruptEventData",
    "StreamEvent",
    "StreamFilter",
    "StreamMode",
    "StreamModes",
    "ahead",
    "checked_modes",
    "filter_of",
]

StreamMode = Literal["updates", "values", "custom", "tokens", "tasks", "debug"]
"""What can be asked for."""
StreamModes = StreamMode | Iterable[StreamMode]
"""One mode, or several; none of them leaves the terminal event."""
_MODES: tuple[StreamMode, ...] = get_args(StreamMode)
_SAID: Mapping[str, StreamMode] = {"custom": "custom", "token": "tokens"}
"""The mode of what a node says, by its kind."""
_TERMINAL = ("final", "interrupt")


@dataclass(frozen=True, slots=True)
class FinalEventData:
    """Where a run ended: the state as JSON."""

    state: dict[str, Any]
    thread_id: str


@dataclass(frozen=True, slots=True)
class InterruptEventData:
    """Where a run paused, and what it asks; it asks nothing at a breakpoint."""

    state: dict[str, Any]
    thread_id: str
    interrupts: dict[str, Interrupt]


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One thing a reader asked for, or the one event at the end.

    Attributes
    ----------
    mode : str
        A mode that was asked for, or `"final"` or `"interrupt"` at the end.
    data : Any
        `updates`: what a task wrote, as JSON, or None. `values`: the merged state, as JSON.
        `custom`: what a node passed to `ctx.emit`. `tokens`: what it passed to `ctx.emit_token`, a
        piece of a chat model's answer. `tasks` and `debug`: a dict with its `type`. At the end:
        `FinalEventData` or `InterruptEventData`.
    node, task_id, step : str or int, optional
        The task it is about, and the superstep of this call, from 0. What a node in a sub-graph
        says, and how it goes there, comes with its path, `"refund/check"`.
    run_id : str
        The call.
    checkpoint_id : str, optional
        Id of the recorded event it stands for; None without a store.
    """

    mode: StreamMode | Literal["final", "interrupt"]
    data: Any = None
    node: str | None = None
    run_id: str | None = None
    checkpoint_id: str | None = None
    step: int | None = None
    task_id: str | None = None


def checked_modes(given: object) -> frozenset[StreamMode]:
    """Return the modes that were asked for.

    Raises
    ------
    TypeError
        If it is no mode and no list of modes.
    ValueError
        If a mode is unknown, or is one of a terminal event, which always comes.
    """
    listed: Iterable[Any] = (given,) if isinstance(given, str) else cast("Iterable[Any]", given)
    if not isinstance(given, str | list | tuple | set | frozenset):
        raise TypeError(f"stream_mode takes a mode or a list of modes, got {given!r}")
    modes = list(listed)
    for mode in modes:
        if not isinstance(mode, str):
            raise TypeError(f"stream_mode takes a mode or a list of modes, got {given!r}")
        if mode not in _MODES:
            always = "; it always comes, at the end" if mode in _TERMINAL else ""
            known = ", ".join(map(repr, _MODES))
            raise ValueError(f"stream_mode has no {mode!r}{always}; there are {known}")
    return frozenset(modes)


class StreamFilter:
    """Makes stream events of a run's events; it keeps nothing but the fold of what it has seen.

    Parameters
    ----------
    modes : frozenset of str
        What is asked for.
    schema : StateSchema
        Folds the events.
    interface : Interface
        Says what of the state the last event shows.
    thread_id, run_id : str
        The thread and the call.
    start : Position
        Where the branch stood before the run.
    stored : bool
        Whether the events are in a store, so that their ids mean something.
    """

    def __init__(
        self,
        modes: frozenset[StreamMode],
        schema: StateSchema,
        interface: Interface,
        *,
        thread_id: str,
        run_id: str,
        start: Position,
        stored: bool,
    ) -> None:
        self._modes = modes
        self._schema = schema
        self._interface = interface
        self._thread_id = thread_id
        self._run_id = run_id
        self._position = start
        self._stored = stored
        self._step = 0

    def of(self, event: Event | LiveEvent) -> Iterator[StreamEvent]:
        """Return what a reader gets of one event."""
        if isinstance(event, TaskEmitted):
            yield from self._said(event)
            return
        if isinstance(event, TaskStarted):
            yield from self._task(event)
            yield from self._input(event)
            return
        if isinstance(event, ChildEvent):
            yield from self._inside(event)
            return
        before = self._position
        self._position = fold([event], self._schema, before)
        match event:
            case TaskFinished() | TaskInterrupted() | TaskFailed():
                yield from self._task(event)
            case SuperstepFinished():
                yield from self._superstep(event, before)
            case RunFinished():
                yield self._event("final", FinalEventData(self._shown(), self._thread_id), event)
            case RunPaused() | RunStopped():
                asked = as_asked(self._position.pending)
                data = InterruptEventData(self._shown(), self._thread_id, asked)
                yield self._event("interrupt", data, event)
            case _:
                pass

    def _said(self, event: TaskEmitted) -> Iterator[StreamEvent]:
        mode = _SAID.get(event.kind)
        if mode is not None:
            yield from self._asked(mode, event.data, task=event)

    def _inside(self, child: ChildEvent) -> Iterator[StreamEvent]:
        """Return what a node in a sub-graph said, and how its tasks go, with its path."""
        match child.event:
            case TaskEmitted() as said:
                path, task_id = f"{child.path}/{said.node}", f"{child.task_id}/{said.task_id}"
                yield from self._said(replace(said, node=path, task_id=task_id))
            case TaskStarted() | TaskFinished() | TaskInterrupted() | TaskFailed() as event:
                for told in self._task(event):
                    path, task_id = f"{child.path}/{told.node}", f"{child.task_id}/{told.task_id}"
                    yield replace(told, node=path, task_id=task_id, checkpoint_id=None)
            case _:
                pass

    def _task(
        self, event: TaskStarted | TaskFinished | TaskInterrupted | TaskFailed
    ) -> Iterator[StreamEvent]:
        recorded = None if isinstance(event, TaskStarted) else event
        yield from self._asked("tasks", _how_it_goes(event), recorded, task=event)

    def _input(self, event: TaskStarted) -> Iterator[StreamEvent]:
        if "debug" not in self._modes:
            return
        task = next(task for task in self._position.tasks if task.task_id == event.task_id)
        state = self._schema.laid(self._position.state, task.payload)
        data = {"type": "node_input", "node": task.node, "state": self._schema.to_json(state)}
        yield from self._asked("debug", data, task=task)

    def _superstep(self, event: SuperstepFinished, before: Position) -> Iterator[StreamEvent]:
        if not before.merged:
            yield from self._merged(event, before)
        if event.next is not None:
            data = {"type": "routes", "targets": _targets(event.next)}
            yield from self._asked("debug", data)
        if not before.merged:
            yield from self._asked("debug", {"type": "state_merge", "state": self._state()})
            self._step += 1

    def _merged(self, event: SuperstepFinished, before: Position) -> Iterator[StreamEvent]:
        updates = [(task, before.finished[task.task_id].update or None) for task in before.tasks]
        for task, update in updates:
            yield from self._asked("updates", shown(update), event, task=task)
        for task, update in updates:
            data = {"type": "node_output", "node": task.node, "updates": shown(update)}
            yield from self._asked("debug", data, task=task)
        if "values" in self._modes:
            yield from self._asked("values", self._state(), event)

    def _asked(
        self,
        mode: StreamMode,
        data: Any,
        event: Event | None = None,
        *,
        task: TaskSpec | LiveEvent | Event | None = None,
    ) -> Iterator[StreamEvent]:
        if mode in self._modes:
            made = self._event(mode, data, event)
            node, task_id = getattr(task, "node", None), getattr(task, "task_id", None)
            yield replace(made, node=node, task_id=task_id, step=self._step)

    def _event(
        self, mode: StreamMode | Literal["final", "interrupt"], data: Any, event: Event | None
    ) -> StreamEvent:
        checkpoint_id = event.id if event is not None and self._stored else None
        return StreamEvent(mode, data, run_id=self._run_id, checkpoint_id=checkpoint_id)

    def _shown(self) -> dict[str, Any]:
        return self._interface.to_json(self._position.state)

    def _state(self) -> dict[str, Any]:
        return self._schema.to_json(self._position.state)


def _how_it_goes(
    event: TaskStarted | TaskFinished | TaskInterrupted | TaskFailed,
) -> dict[str, Any]:
    """Return how it goes with a task, as a reader of `tasks` gets it."""
    match event:
        case TaskStarted():
            return {"type": "started"}
        case TaskFinished(update=update, attempts=attempts, duration=duration, cached=cached):
            told = {"attempts": attempts, "duration": duration, "cached": cached}
            return {"type": "finished", "updates": shown(update or None), **told}
        case TaskInterrupted(interrupts=asked):
            questions = as_asked({question.key: question for question in asked})
            return {"type": "interrupted", "interrupts": questions}
        case TaskFailed(error=error, attempts=attempts):
            told = {"error_type": error.type, "message": error.message}
            return {"type": "failed", "attempts": attempts, **told}


def _targets(tasks: Iterable[TaskSpec]) -> list[dict[str, Any]]:
    targets = [
        {
            "kind": "node" if task.payload is None else "send",
            "node": task.node,
            "payload": shown(task.payload),
        }
        for task in tasks
    ]
    return targets or [{"kind": "end", "node": "END", "payload": None}]


def filter_of(thread: Thread, modes: frozenset[StreamMode]) -> StreamFilter:
    """Return the filter of a thread's run that has begun."""
    return StreamFilter(
        modes,
        thread.folding,
        thread.graph.interface,
        thread_id=thread.thread_id,
        run_id=thread.run_id,
        start=thread.began,
        stored=thread.store is not None,
    )


async def ahead(source: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
    """Yield what a source yields, and let it run on while the reader is busy.

    What it yields meanwhile is kept for the reader. Closing ends the source where it is.
    """
    items: asyncio.Queue[tuple[Any] | None] = asyncio.Queue()

    async def pump() -> None:
        try:
            async with aclosing(source):
                async for item in source:
                    items.put_nowait((item,))
        finally:
            items.put_nowait(None)

    running = asyncio.create_task(pump())
    try:
        while (found := await items.get()) is not None:
            yield found[0]
        await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
