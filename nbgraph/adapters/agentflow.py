"""AgentFlow's compiled graphs as drivers: their threads, forms, steps and forks.

The engine runs one node at a time and keeps one state a thread. A fork is a copy of that state
under a thread of its own, and what led to a state is known only to the process that ran it.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingImports=false
# What the engine says has no types, and it is there from Python 3.12 on.

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from types import MappingProxyType
from typing import Any

from tenxgraph.utils import pending_interrupt
from tenxgraph.utils.constants import ResponseGranularity

from nbgraph.adapters.agentflow_events import Translation
from nbgraph.adapters.agentflow_shape import ENDS, shape_of
from nbgraph.adapters.agentflow_state import (
    changed,
    is_shared,
    messages_of,
    stand_before,
    values_of,
)
from nbgraph.adapters.driver import AdaptedDriver
from nbgraph.adapters.engine import Leg, Moved, Told
from nbgraph.adapters.log import BranchLog, ThreadLog, thread_log
from nbgraph.adapters.values import WholeValues, plain
from nbgraph.core.driver import Capability, Shape
from nbgraph.core.events import Event, StateEdited
from nbgraph.core.naming import login_name
from nbgraph.core.workers import call_in_worker
from nbgraph.errors import GraphConfigError, StateUpdateError

__all__ = ["AgentFlowEngine", "open_thread", "shape_of"]

_CAPABILITIES: Mapping[Capability, str | None] = {
    "step": None,
    "until": None,
    "stop": None,
    "pause": None,
    "edit": None,
    "skip": "AgentFlow cannot go on without running the node",
    "breakpoints": None,
    "break_when": "AgentFlow pauses at nodes, not on a condition",
    "fork": None,
}
_USER = "anonymous"
_one_at_a_time = threading.Lock()
"""Dependencies are resolved from a container that is the whole process's."""


def open_thread(
    app: Any, thread_id: str, branch_id: str = "main", context: Any = None
) -> tuple[AdaptedDriver, str | None]:
    """Return the driver of a thread of a compiled graph, and what a person should know about it."""
    notices: list[str] = []
    if type(app._checkpointer).__name__ == "InMemoryCheckpointer":
        notices.append("Kept in memory only: gone when the kernel stops.")
    if is_shared(app._state_graph):
        notices.append(
            "This graph is built on AgentFlow's global container: runs of two such graphs can "
            "write into each other's threads. Build each with StateGraph(..., container=InjectQ())."
        )
    engine = AgentFlowEngine(app, thread_id, context=context)
    log = thread_log(app, thread_id, engine.folding)
    return AdaptedDriver(engine, log, branch_id), " ".join(notices) or None


class AgentFlowEngine:
    """One thread of a compiled AgentFlow graph: of each branch, a thread of the engine.

    Parameters
    ----------
    app : CompiledGraph
        The graph.
    thread_id : str
        Which thread; its branch `"x"` is the engine's thread `"<thread>--x"`.
    context : mapping, optional
        What is added to the engine's config, such as `user_id`.
    """

    name = "AgentFlow"
    capabilities = _CAPABILITIES
    out_of_reach: Mapping[str, str] = MappingProxyType({})

    def __init__(self, app: Any, thread_id: str, *, context: Any = None) -> None:
        self.app = app
        self.thread_id = thread_id
        self.folding = WholeValues()
        self.shape: Shape = shape_of(app)
        self._context: dict[str, Any] = dict(context or {})
        self._stopping = self._holds = False

    # --- the engine's threads ------------------------------------------------------------------

    def _config(self, branch_id: str) -> dict[str, Any]:
        name = self.thread_id if branch_id == "main" else f"{self.thread_id}--{branch_id}"
        return {"user_id": _USER, **self._context, "thread_id": name}

    async def _state(self, branch_id: str) -> Any:
        return await self.app._checkpointer.aget_state(self._config(branch_id))

    async def _keep(self, branch_id: str, state: Any) -> None:
        await self.app._checkpointer.aput_state(self._config(branch_id), state)
        await self.app._checkpointer.aput_state_cache(self._config(branch_id), state)

    async def follow(self, log: ThreadLog, branch_id: str) -> None:
        """Take up where a branch stands that another process left."""
        if branch_id in log.branches and log.branches[branch_id].events:
            return
        state = await self._state(branch_id)
        if state is None:
            return
        self._check_node(state.execution_meta)
        branch = log.branches.setdefault(branch_id, BranchLog(branch_id, self.folding))
        events = Translation(branch.position).found(state, pending_interrupt(state))
        branch.record(events, state.model_copy(deep=True))

    def _check_node(self, meta: Any) -> None:
        node = meta.interrupted_node or meta.current_node
        if node not in (*self._nodes, *ENDS):
            raise GraphConfigError(
                f"Thread {self.thread_id!r} in this checkpointer was made by another graph: it "
                f"stands at {node!r}, and the nodes are {', '.join(map(repr, self._nodes))}; pass "
                "another thread_id"
            )

    # --- runs ----------------------------------------------------------------------------------

    def stop(self) -> None:
        """Have the run pause before the next node: AgentFlow does not stop one that runs."""
        self._stopping = True
        if self._holds:
            self._pause_before(self._nodes)

    async def run(self, branch: BranchLog, leg: Leg) -> AsyncGenerator[Told, None]:
        """Run the engine from where the branch stands, and say what happens."""
        translation = Translation(branch.position)
        given = self._given(leg, translation)
        try:
            async with aclosing(self._chunks(given, branch, leg)) as chunks:
                async for chunk in chunks:
                    yield self._told(translation, chunk, leg)
        except Exception as error:
            yield Told(translation.failed(error))
            raise
        state = await self._state(branch.id)
        yield Told((), None if state is None else state.model_copy(deep=True))

    def _told(self, translation: Translation, chunk: Any, leg: Leg) -> Told:
        happened = translation.chunk(chunk)
        if translation.finished in leg.after:
            # The engine's own list of nodes to pause after starts a graph over at its end.
            self._pause_before(self._nodes)
        return Told(happened, translation.place)

    def _given(self, leg: Leg, translation: Translation) -> dict[str, Any]:
        if leg.given is not None:
            translation.given = plain(leg.given)
            return messages_of(leg.given)
        for [(_, answer)] in leg.answers.values():  # a thread asks one question at a time
            return {"resume": answer}
        return {}

    async def _chunks(
        self, given: Mapping[str, Any], branch: BranchLog, leg: Leg
    ) -> AsyncGenerator[Any, None]:
        how: dict[str, Any] = {"response_granularity": ResponseGranularity.FULL}
        async with self._alone(list(leg.before)):
            chunks = self.app.astream(given, config=self._config(branch.id), **how)
            async for chunk in chunks:
                yield chunk

    @asynccontextmanager
    async def _alone(self, before: list[str]) -> AsyncGenerator[None, None]:
        """Hold the process's container for this graph, with these nodes to pause before."""
        handler = self.app._stream_handler
        self._stopping = False
        await call_in_worker(_one_at_a_time.acquire)
        own = handler.interrupt_before, handler.interrupt_after
        try:
            self._holds = True
            self.app._state_graph._container.activate()
            handler.interrupt_before = self._nodes if self._stopping else before
            handler.interrupt_after = []
            yield
        finally:
            self._holds = False
            handler.interrupt_before, handler.interrupt_after = own
            _one_at_a_time.release()

    @property
    def _nodes(self) -> list[str]:
        return [node.path for node in self.shape.nodes]

    def _pause_before(self, nodes: list[str]) -> None:
        self.app._stream_handler.interrupt_before = nodes

    # --- changes -------------------------------------------------------------------------------

    async def edited(self, branch: BranchLog, update: Mapping[str, Any], by: str | None) -> Moved:
        """Write fields of the state, checked by the state's model."""
        state = await self._state(branch.id)
        if state is None:
            raise StateUpdateError("The thread is new; start it with an input")
        edited = changed(state, update)
        await self._keep(branch.id, edited)
        return Moved(edited.model_copy(deep=True), _edit(edited, update, by))

    async def copied(
        self, origin: BranchLog, at: int, forked: BranchLog, update: Mapping[str, Any] | None
    ) -> Moved:
        """Copy the state that a branch had, for a thread of its own."""
        place = origin.place_at(at)
        if place is None:
            raise StateUpdateError(f"AgentFlow keeps nothing of event {at} of {origin.id!r}")
        copy = changed(place, update or {})
        if forked.position.tasks:
            stand_before(copy, forked.position.tasks[0].node)
        await self._keep(forked.id, copy)
        told = _edit(copy, update, login_name()) if update else []
        # The copy has the node's first line ahead of it.
        return Moved(copy.model_copy(deep=True), told, asks_again=True)


def _edit(state: Any, update: Mapping[str, Any], by: str | None) -> list[Event]:
    """Return that somebody changed fields of a state."""
    values = values_of(state)
    edit = {name: values[name] for name in update}
    return [StateEdited(update=edit, replaced=tuple(edit), by=by)]
