"""One thread of a compiled LangGraph graph, as the engine's own calls reach it."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from langgraph.errors import InvalidUpdateError
from langgraph.pregel import Pregel
from langgraph.types import Command

from nbgraph.core.record import Json
from nbgraph.core.workers import call_in_worker
from nbgraph.errors import StateUpdateError

__all__ = ["BY", "NOTE", "STOPS", "TAG", "EngineThread"]

NOTE = "__nbgraph__"
"""The channel of what only we know: no channel of a graph has such a name."""
TAG = "nbgraph_branch"
"""Names the branch in the metadata that LangGraph keeps with a checkpoint."""
BY = "nbgraph_by"
"""Names in a checkpoint's metadata who wrote an edit."""
STOPS = "nbgraph_breakpoints"
"""Names a branch's own breakpoints there: what is before and after, as JSON."""
_COPY = "__copy__"
_REFUSALS = (InvalidUpdateError, ValueError, KeyError, TypeError)


class EngineThread:
    """A thread in a graph's checkpointer.

    A graph runs in a worker thread by its sync calls; one whose nodes are all async, or whose
    checkpointer is, runs on the loop by its async ones. `stops` are the nodes that it was compiled
    to pause before.
    """

    def __init__(self, app: Any, thread_id: str, stops: Sequence[str] = ()) -> None:
        self.app = app
        self.thread_id = thread_id
        self.stops = stops
        self.is_async = _needs_loop(app)
        self.keeps_all = all(
            _keeps(each) for node in app.nodes.values() for each in _reached(node.bound)
        )

    @property
    def durability(self) -> str:
        """When checkpoints are written: before a step goes on, if the engine can.

        It cannot where a graph that keeps nothing is run inside.
        """
        return "sync" if self.keeps_all else "async"

    def config(self, place: str | None = None, **more: Any) -> dict[str, Any]:
        """Return the engine's config of the thread, at a checkpoint if one is given."""
        at = {} if place is None else {"checkpoint_id": place}
        address = {"thread_id": self.thread_id, "checkpoint_ns": "", **at}
        return {"configurable": address, **more}

    async def head(self) -> str | None:
        """Return the checkpoint the engine has as the thread's last; None for a new thread."""
        found = await self.last()
        return None if found is None else found.config["configurable"]["checkpoint_id"]

    async def last(self, place: str | None = None) -> Any:
        """Return a checkpoint, or the thread's last one, as it is kept; None if there is none."""
        saver, config = self.app.checkpointer, self.config(place)
        if self.is_async:
            return await saver.aget_tuple(config)
        return await call_in_worker(lambda: saver.get_tuple(config))

    async def snapshot(self, place: str) -> Any:
        """Return the thread's state at a checkpoint, its sub-graphs' included."""
        config = self.config(place)
        try:
            if self.is_async:
                return await self.app.aget_state(config, subgraphs=True)
            return await call_in_worker(lambda: self.app.get_state(config, subgraphs=True))
        except Exception:  # noqa: BLE001 - a state's validators are the user's own code
            return _bare(self.app, await self.last(place))

    async def history(self) -> list[Any]:
        """Return all snapshots of the thread, oldest first."""
        config = self.config()
        try:
            if self.is_async:
                found = [each async for each in self.app.aget_state_history(config)]
            else:
                found = await call_in_worker(lambda: list(self.app.get_state_history(config)))
        except Exception:  # noqa: BLE001 - a state's validators are the user's own code
            found = [_bare(self.app, each) for each in await self._kept_ones()]
        return found[::-1]

    # --- notes ---------------------------------------------------------------------------------

    async def note(self, place: str, value: Json) -> None:
        """Keep something with a checkpoint, as a write that no task and no channel takes up."""
        saver, config, writes = self.app.checkpointer, self.config(place), [(NOTE, value)]
        if self.is_async:
            await saver.aput_writes(config, writes, str(uuid4()))
        else:
            await call_in_worker(lambda: saver.put_writes(config, writes, str(uuid4())))

    async def notes(self) -> dict[str, list[Any]]:
        """Return what was kept with each checkpoint, in no order."""
        found = await self._kept_ones()
        return {
            each.config["configurable"]["checkpoint_id"]: [
                value for _, channel, value in each.pending_writes or () if channel == NOTE
            ]
            for each in found
        }

    async def _kept_ones(self) -> list[Any]:
        saver, config = self.app.checkpointer, self.config()
        if self.is_async:
            return [each async for each in saver.alist(config)]
        return await call_in_worker(lambda: list(saver.list(config)))

    # --- changes -------------------------------------------------------------------------------

    async def copied(self, place: str, signs: Mapping[str, str]) -> str:
        """Copy a checkpoint, without what was answered there, and return the copy.

        The engine keeps no metadata of a copy's own, so `signs` are noted with it.
        """
        copy = await self._update(place, None, _COPY, {})
        await self.note(copy, dict(signs))
        return copy

    async def edited(
        self,
        place: str | None,
        update: Mapping[str, Any],
        as_node: str | None,
        *,
        signs: Mapping[str, str],
        keeps_next: bool = True,
    ) -> str:
        """Write an update through the graph's reducers, and return the new checkpoint.

        `signs` are kept in its metadata.

        An edit does not choose the way again: the nodes that were next stay so. The engine routes
        anew after each update, so where that leads elsewhere the old way is written with it.

        Raises
        ------
        StateUpdateError
            If the engine refuses it, or would go on with other nodes.
        """
        planned = () if place is None else await self._next(place)
        try:
            written = await self._update(
                place, dict(update), None if keeps_next else as_node, signs
            )
        except _REFUSALS as error:
            if as_node is None or not keeps_next:
                raise StateUpdateError(f"LangGraph refuses the update: {error}") from error
            written = None
        if written is not None and (not keeps_next or await self._next(written) == planned):
            return written
        return await self._kept(place, update, as_node, planned, signs)

    async def _next(self, place: str) -> tuple[str, ...]:
        return tuple(sorted((await self.snapshot(place)).next))

    async def _kept(
        self,
        place: str | None,
        update: Mapping[str, Any],
        as_node: str | None,
        planned: tuple[str, ...],
        signs: Mapping[str, str],
    ) -> str:
        """Write an update in the name of the node that ran last, with the way it chose."""
        if as_node is not None:
            there: Any = dict(update)
            if planned:
                there = Command(update=there, goto=list(planned))
            try:
                written = await self._update(place, there, as_node, signs)
            except _REFUSALS as error:
                raise StateUpdateError(f"LangGraph refuses the update: {error}") from error
            if await self._next(written) == planned:
                return written
        raise StateUpdateError(
            f"LangGraph would go on with other nodes than {', '.join(planned) or 'none'} after "
            "this update; fork the thread at an earlier event and edit it there"
        )

    async def _update(
        self, place: str | None, update: Any, as_node: str | None, signs: Mapping[str, str]
    ) -> str:
        config = self.config(place, metadata=dict(signs))
        if self.is_async:
            made = await self.app.aupdate_state(config, update, as_node=as_node)
        else:
            made = await call_in_worker(
                lambda: self.app.update_state(config, update, as_node=as_node)
            )
        return made["configurable"]["checkpoint_id"]


def _needs_loop(app: Any) -> bool:
    """Return whether only the engine's async calls can run a graph."""
    return not _is_sync_saver(app.checkpointer) or any(_is_only_async(each) for each in _parts(app))


def _is_sync_saver(saver: Any) -> bool:
    """Return whether a checkpointer can be asked without a loop; `Async...Saver` cannot."""
    return not type(saver).__name__.startswith("Async")


def _parts(app: Any) -> Iterator[Any]:
    """Return what a graph's nodes run, its tools and its sub-graphs' nodes included."""
    for node in app.nodes.values():
        yield from getattr(node.bound, "steps", (node.bound,))
        yield from (getattr(node.bound, "tools_by_name", None) or {}).values()
    for _, child in app.get_subgraphs():
        if child is not app and hasattr(child, "nodes"):
            yield from _parts(child)


def _is_only_async(part: Any) -> bool:
    """Return whether a node's function, or a tool's, is there for a loop only."""
    return getattr(part, "func", part) is None and any(
        getattr(part, name, None) is not None for name in ("afunc", "coroutine")
    )


def _reached(part: Any) -> Iterator[Any]:
    """Return what a node runs, and what its function names."""
    yield part
    function: Any = getattr(part, "func", None) or getattr(part, "afunc", None)
    try:
        found = inspect.getclosurevars(function)
    except (TypeError, ValueError):
        return
    yield from (*found.nonlocals.values(), *found.globals.values())


def _keeps(part: Any) -> bool:
    return not isinstance(part, Pregel) or part.checkpointer is not False


# --- checkpoints that the engine cannot read ------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Task:
    """A task as far as a checkpoint itself tells of it."""

    id: str
    name: str
    error: Any = None
    interrupts: tuple[Any, ...] = ()
    state: Any = None
    result: Any = None


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A checkpoint as it is kept, without what a node would make of it.

    The engine's own snapshot builds every node's input, and fails where a value does not fit.
    """

    values: Mapping[str, Any]
    tasks: tuple[_Task, ...]
    config: Any
    metadata: Any
    created_at: str | None
    parent_config: Any

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes that run next."""
        return tuple(task.name for task in self.tasks)


def _bare(app: Any, kept: Any) -> _Snapshot:
    """Return what a checkpoint tells by itself."""
    checkpoint = kept.checkpoint
    names = app.stream_channels_list
    values = {name: each for name, each in checkpoint["channel_values"].items() if name in names}
    errors = {task: value for task, name, value in kept.pending_writes or () if name == "__error__"}
    error = next(iter(errors.values()), None)
    tasks = tuple(
        _Task(f"{kept.config['configurable']['checkpoint_id']}:{name}", name, error)
        for name, node in app.nodes.items()
        if _is_next(name, node, checkpoint)
    )
    return _Snapshot(
        values, tasks, kept.config, kept.metadata, checkpoint.get("ts"), kept.parent_config
    )


def _is_next(name: str, node: Any, checkpoint: Mapping[str, Any]) -> bool:
    """Return whether a channel that leads to a node was written since it last ran."""
    seen = checkpoint["versions_seen"].get(name, {})
    new = checkpoint["channel_versions"]
    there = (each for each in node.triggers if each in checkpoint["channel_values"])
    return any(each not in seen or new.get(each, seen[each]) > seen[each] for each in there)
