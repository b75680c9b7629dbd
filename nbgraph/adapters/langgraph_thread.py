"""One thread of a compiled LangGraph graph, as the engine's own calls reach it."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from langgraph.errors import InvalidUpdateError
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

    def config(self, place: str | None = None, **more: Any) -> dict[str, Any]:
        """Return the engine's config of the thread, at a checkpoint if one is given."""
        at = {} if place is None else {"checkpoint_id": place}
        address = {"thread_id": self.thread_id, "checkpoint_ns": "", **at}
        return {"configurable": address, **more}

    async def head(self) -> str | None:
        """Return the checkpoint the engine has as the thread's last; None for a new thread."""
        found = await self.last()
        return None if found is None else found.config["configurable"]["checkpoint_id"]

    async def last(self) -> Any:
        """Return the thread's last checkpoint as the checkpointer has it; None if it has none."""
        saver, config = self.app.checkpointer, self.config()
        if self.is_async:
            return await saver.aget_tuple(config)
        return await call_in_worker(lambda: saver.get_tuple(config))

    async def snapshot(self, place: str) -> Any:
        """Return the thread's state at a checkpoint, its sub-graphs' included."""
        config = self.config(place)
        if self.is_async:
            return await self.app.aget_state(config, subgraphs=True)
        return await call_in_worker(lambda: self.app.get_state(config, subgraphs=True))

    async def history(self) -> list[Any]:
        """Return all snapshots of the thread, oldest first."""
        if self.is_async:
            found = [each async for each in self.app.aget_state_history(self.config())]
        else:
            found = await call_in_worker(lambda: list(self.app.get_state_history(self.config())))
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
        saver, config = self.app.checkpointer, self.config()
        if self.is_async:
            found = [each async for each in saver.alist(config)]
        else:
            found = await call_in_worker(lambda: list(saver.list(config)))
        return {
            each.config["configurable"]["checkpoint_id"]: [
                value for _, channel, value in each.pending_writes or () if channel == NOTE
            ]
            for each in found
        }

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
    if not _is_sync_saver(app.checkpointer):
        return True
    builder = getattr(app, "builder", None)
    nodes: Iterable[Any] = builder.nodes.values() if builder is not None else ()
    return any(_is_only_async(node.runnable) for node in nodes)


def _is_sync_saver(saver: Any) -> bool:
    """Return whether a checkpointer can be asked without a loop; `Async...Saver` cannot."""
    return not type(saver).__name__.startswith("Async")


def _is_only_async(runnable: Any) -> bool:
    function = getattr(runnable, "func", runnable)
    return function is None and getattr(runnable, "afunc", None) is not None
