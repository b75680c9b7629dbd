"""What can be asked of a graph's stored threads, and done to them without running anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from nbgraph.core.events import Event, Interrupt
from nbgraph.core.interrupts import as_asked
from nbgraph.core.loop import SyncTwin
from nbgraph.core.position import Position
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.requests import Edit, Fork
from nbgraph.core.store import BranchRecord, StateStore
from nbgraph.core.thread import Thread
from nbgraph.errors import GraphConfigError, StateUpdateError, UnknownThreadError

if TYPE_CHECKING:
    from nbgraph.core.compare import Comparison
    from nbgraph.core.graph import Graph

__all__ = ["History", "StateSnapshot", "ThreadQueries"]


@dataclass(frozen=True, slots=True)
class StateSnapshot:
    """The state after event `sequence`: its `value` is of the state type, or a dict."""

    value: Any
    sequence: int


class History(tuple[Event, ...]):
    """What happened to branch `branch_id` of `thread_id`: its `events`, with its ancestors'."""

    thread_id: str
    branch_id: str

    def __new__(cls, events: Iterable[Event], thread_id: str, branch_id: str) -> History:
        """Return the events with the names of their thread and branch."""
        made = super().__new__(cls, events)
        made.thread_id, made.branch_id = thread_id, branch_id
        return made

    @property
    def events(self) -> tuple[Event, ...]:
        """The events, in order."""
        return tuple(self)


class ThreadQueries:
    """The thread methods of `Graph`: all async, and all of them also as `graph.sync.<method>`.

    Each takes a `thread_id`, and reads branch `branch_id` of it from `state_store`, else from the
    graph's own store; without either it is a `GraphConfigError`.
    """

    name: str
    state_store: StateStore | None

    @property
    def sync(self) -> SyncTwin:
        """The sync twin of every async method: `graph.sync.history("t-1")`."""
        return SyncTwin(self)

    async def exists(self, thread_id: str, *, state_store: StateStore | None = None) -> bool:
        """Return whether thread `thread_id` is in the store."""
        return bool(await self._stored(thread_id, state_store=state_store).events())

    async def history(
        self, thread_id: str, *, branch_id: str = "main", state_store: StateStore | None = None
    ) -> History:
        """Return all that happened, in order: events with `id sequence type node created_at`.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        """
        events = await self._stored(thread_id, branch_id, state_store).events()
        if not events:
            raise UnknownThreadError(thread_id, branch_id)
        return History(events, thread_id, branch_id)

    async def branches(
        self, thread_id: str, *, state_store: StateStore | None = None
    ) -> Sequence[BranchRecord]:
        """Return the thread's branches other than main, oldest first.

        Raises
        ------
        UnknownThreadError
            If the thread does not exist.
        """
        store = self._stored(thread_id, state_store=state_store).store
        assert store is not None
        return await store.branches(thread_id)

    async def load(
        self,
        thread_id: str,
        *,
        at: int | str | None = None,
        branch_id: str = "main",
        state_store: StateStore | None = None,
    ) -> dict[str, Any]:
        """Return the state as JSON, now or after event `at`: its sequence, or its id.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        StateUpdateError
            If `at` is no event of the branch.
        """
        thread = self._stored(thread_id, branch_id, state_store)
        position = await thread.position(await sequence_of(thread, at))
        return thread.folding.to_json(position.state)

    async def get_state(
        self,
        thread_id: str,
        *,
        at: int | str | None = None,
        branch_id: str = "main",
        state_store: StateStore | None = None,
    ) -> StateSnapshot:
        """Return the state as nodes are given it, now or after event `at`, and where that is.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        StateUpdateError
            If `at` is no event of the branch.
        """
        thread = self._stored(thread_id, branch_id, state_store)
        position = await thread.position(await sequence_of(thread, at))
        return StateSnapshot(thread.folding.view(position.state), position.sequence)

    async def position(
        self,
        thread_id: str,
        *,
        at: int | str | None = None,
        branch_id: str = "main",
        state_store: StateStore | None = None,
    ) -> Position:
        """Return where the thread stands, or stood: status, next, step, pending and state.

        With `at`, it is where it stood after that event: its sequence, or its id.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        StateUpdateError
            If `at` is no event of the branch.
        """
        thread = self._stored(thread_id, branch_id, state_store)
        return await thread.position(await sequence_of(thread, at))

    async def pending(
        self, thread_id: str, *, branch_id: str = "main", state_store: StateStore | None = None
    ) -> dict[str, Interrupt]:
        """Return the questions the thread waits for, by key.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        """
        position = await self._stored(thread_id, branch_id, state_store).position()
        return as_asked(position.pending)

    async def update_state(
        self,
        thread_id: str,
        values: Mapping[str, Any],
        *,
        branch_id: str = "main",
        create: bool = False,
        goto: Any = None,
        state_store: StateStore | None = None,
    ) -> str:
        """Change the state through its reducers, and return the id of the event that did.

        Parameters
        ----------
        thread_id, branch_id : str
            Which thread, and which branch of it.
        values : dict
            Named fields.
        create : bool
            Make the thread, from the schema's defaults, if it is not in the store.
        goto : node, str, Send, END or a list of them, optional
            What runs next, instead of what would; the current superstep and its questions are
            dropped. `invoke(None, ...)` goes on there.
        state_store : StateStore, optional
            Instead of the graph's own.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        StateUpdateError
            If a value does not fit.
        InvalidUpdateError
            If a task of the current superstep wrote a field already that only one may write.
        ResumeError
            If there is no such node to go to.
        """
        thread = self._stored(thread_id, branch_id, state_store)
        if not create:
            await thread.position()
        return (await _recorded(thread, Edit(values, goto=goto)))[-1].id

    async def fork(
        self,
        thread_id: str,
        *,
        from_: int | str | None = None,
        name: str | None = None,
        branch_id: str = "main",
        update: Mapping[str, Any] | None = None,
        state_store: StateStore | None = None,
    ) -> BranchRecord:
        """Start a branch from event `from_`, and return what is kept of it: its `id`, for one.

        `from_` is the event's sequence or its id, and without it the last one. `name` is the
        branch's id; without it, one is made up. `update` changes the state there at once, through
        its reducers.

        Raises
        ------
        UnknownThreadError
            If the thread or branch does not exist.
        StateUpdateError
            If `from_` is no event of the branch, or `update` does not fit.
        StateStoreError
            If there is a branch of that name.
        """
        thread = self._stored(thread_id, branch_id, state_store)
        request = Fork(await sequence_of(thread, from_), name, update)
        branch_id = (await _recorded(thread, request))[0].branch_id
        assert thread.store is not None
        records = await thread.store.branches(thread_id)
        return next(record for record in records if record.id == branch_id)

    async def compare(
        self, thread_id: str, a: str, b: str, *, state_store: StateStore | None = None
    ) -> Comparison:
        """Return how `a` and `b` differ by path: branches (`"main"`) or events (`"main:7"`).

        Raises
        ------
        UnknownThreadError
            If the thread or a branch does not exist.
        """
        from nbgraph.core.compare import compare_states  # for this call only

        sides = [await self._side(thread_id, address, state_store) for address in (a, b)]
        return compare_states(*sides)

    async def _side(
        self, thread_id: str, address: str, state_store: StateStore | None
    ) -> dict[str, Any]:
        branch_id, _, at = address.rpartition(":")
        if not (branch_id and at.isdecimal()):
            return await self.load(thread_id, branch_id=address, state_store=state_store)
        return await self.load(thread_id, at=int(at), branch_id=branch_id, state_store=state_store)

    def _stored(
        self, thread_id: str, branch_id: str = "main", state_store: StateStore | None = None
    ) -> Thread:
        if state_store is None and self.state_store is None:
            raise GraphConfigError(
                f"Graph {self.name!r} has no state store; pass state_store= here or to Graph"
            )
        graph = cast("Graph", self)
        return Thread(graph, state_store or self.state_store, thread_id, branch_id)


async def sequence_of(thread: Thread, address: int | str | None) -> int | None:
    """Return the sequence of an event of a branch that is named by it or by its id.

    Raises
    ------
    UnknownThreadError
        If the thread or branch does not exist.
    StateUpdateError
        If an id is that of no event of the branch.
    """
    if not isinstance(address, str):
        return address
    await thread.position()
    found = (
        event.sequence
        for event in await thread.events()
        if address in (event.id, f"{thread.branch_id}:{event.sequence}")
    )
    sequence = next(found, None)
    if sequence is None:
        raise StateUpdateError(
            f"Branch {thread.branch_id!r} of thread {thread.thread_id!r} has no event {address!r}; "
            "graph.history lists them"
        )
    return sequence


async def _recorded(thread: Thread, request: Edit | Fork) -> list[Event]:
    async with aclosing(thread.send(request)) as happening:
        return [cast("Event", event) async for event in happening]
