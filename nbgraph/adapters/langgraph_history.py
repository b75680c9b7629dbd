"""LangGraph's threads as its checkpointer has them: runs, snapshots, copies, and the branches."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from langgraph.errors import InvalidUpdateError
from langgraph.types import Command

from nbgraph.adapters.langgraph_events import Translation
from nbgraph.adapters.log import BranchLog, ThreadLog
from nbgraph.adapters.pump import pumped
from nbgraph.adapters.values import plain
from nbgraph.core.events import Event, LiveEvent, RunFailed, RunFinished, RunPaused, TaskFailed
from nbgraph.core.workers import call_in_worker
from nbgraph.errors import GraphConfigError, StateUpdateError

__all__ = ["TAG", "Engine", "follow", "snapshot_parts"]

_MODES = ("tasks", "checkpoints", "custom")
"""Not `"messages"`: it has chat models stream that would not have, and some cannot."""
TAG = "nbgraph_branch"
"""Names the branch in a run's metadata, which LangGraph keeps with its checkpoints."""
_COPY = "__copy__"
_WAY = "branch:to:"
"""What LangGraph calls the channel that leads to a node."""
_Make = Callable[[BranchLog], Translation]
_Reports = Callable[[], list[Event | LiveEvent]]


class Engine:
    """One thread of a compiled graph, as the engine's own calls reach it.

    A graph runs in a worker thread by its sync calls; one whose nodes are all async, or whose
    checkpointer is, runs on the loop by its async ones.
    """

    def __init__(self, app: Any, thread_id: str) -> None:
        self.app = app
        self.thread_id = thread_id
        self._is_async = _needs_loop(app)
        self._is_nested = any(True for _ in app.get_subgraphs())

    def config(self, place: str | None = None, **more: Any) -> dict[str, Any]:
        """Return the engine's config of the thread, at a checkpoint if one is given."""
        at = {} if place is None else {"checkpoint_id": place}
        address = {"thread_id": self.thread_id, "checkpoint_ns": "", **at}
        return {"configurable": address, **more}

    async def stream(
        self,
        given: Any,
        place: str | None,
        *,
        metadata: Mapping[str, Any],
        context: Any,
        **options: Any,
    ) -> AsyncGenerator[Mapping[str, Any], None]:
        """Run from a checkpoint, and yield what the engine says."""
        head = await self.head()
        config = self.config(None if place == head else place, metadata=dict(metadata))
        if isinstance(given, Command) and given.resume is not None:
            config["configurable"]["__pregel_strict_resume"] = True
        said = {"stream_mode": list(_MODES), "version": "v2", "subgraphs": self._is_nested}
        known = {} if context is None else {"context": context}
        options = {**options, **said, **known, "durability": "sync"}
        if self._is_async:
            async for part in self.app.astream(given, config, **options):
                yield part
            return
        async for part in pumped(lambda: self.app.stream(given, config, **options)):
            yield part

    async def head(self) -> str | None:
        """Return the checkpoint the engine has as the thread's last; None for a new thread."""
        found = await self.last()
        return None if found is None else found.config["configurable"]["checkpoint_id"]

    async def last(self) -> Any:
        """Return the thread's last checkpoint as the checkpointer has it; None if it has none."""
        saver, config = self.app.checkpointer, self.config()
        if self._is_async:
            return await saver.aget_tuple(config)
        return await call_in_worker(lambda: saver.get_tuple(config))

    async def snapshot(self, place: str) -> Any:
        """Return the thread's state at a checkpoint, its sub-graphs' included."""
        config = self.config(place)
        if self._is_async:
            return await self.app.aget_state(config, subgraphs=True)
        return await call_in_worker(lambda: self.app.get_state(config, subgraphs=True))

    async def history(self) -> list[Any]:
        """Return all snapshots of the thread, oldest first."""
        if self._is_async:
            found = [each async for each in self.app.aget_state_history(self.config())]
        else:
            found = await call_in_worker(lambda: list(self.app.get_state_history(self.config())))
        return found[::-1]

    async def copied(self, place: str) -> str:
        """Copy a checkpoint, without what was answered there, and return the copy."""
        return await self._update(place, None, _COPY)

    async def edited(
        self,
        place: str | None,
        update: Mapping[str, Any],
        as_node: str | None,
        *,
        keeps_next: bool = True,
    ) -> str:
        """Write an update through the graph's reducers, and return the new checkpoint.

        An edit does not choose the way again: the nodes that were next stay so. The engine routes
        anew after each update, so where that leads elsewhere the old way is written with it.

        Raises
        ------
        StateUpdateError
            If the engine refuses it, or would go on with other nodes.
        """
        before = None if place is None else await self.snapshot(place)
        planned = () if before is None else tuple(sorted(before.next))
        try:
            written = await self._update(place, dict(update), None if keeps_next else as_node)
        except (InvalidUpdateError, ValueError, KeyError, TypeError) as error:
            if as_node is None or not keeps_next:
                raise StateUpdateError(f"LangGraph refuses the update: {error}") from error
            written = None
        if not keeps_next or not planned:
            return _given(written)
        if written is not None and tuple(sorted((await self.snapshot(written)).next)) == planned:
            return written
        return await self._kept(place, update, as_node, planned)

    async def _kept(
        self,
        place: str | None,
        update: Mapping[str, Any],
        as_node: str | None,
        planned: tuple[str, ...],
    ) -> str:
        if as_node is not None:
            there = Command(update=dict(update), goto=list(planned))
            try:
                written = await self._update(place, there, as_node)
            except (InvalidUpdateError, ValueError, KeyError, TypeError) as error:
                raise StateUpdateError(f"LangGraph refuses the update: {error}") from error
            if tuple(sorted((await self.snapshot(written)).next)) == planned:
                return written
        raise StateUpdateError(
            f"LangGraph would go on with other nodes than {', '.join(planned)} after this update; "
            "fork the thread at an earlier event and edit it there"
        )

    async def _update(self, place: str | None, update: Any, as_node: str | None) -> str:
        config = self.config(place)
        if self._is_async:
            made = await self.app.aupdate_state(config, update, as_node=as_node)
        else:
            made = await call_in_worker(
                lambda: self.app.update_state(config, update, as_node=as_node)
            )
        return made["configurable"]["checkpoint_id"]


def _given(written: str | None) -> str:
    if written is None:  # pragma: no cover - refused before
        raise StateUpdateError("LangGraph refuses the update")
    return written


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


def snapshot_parts(snapshot: Any) -> tuple[Mapping[str, Any], Sequence[Any]]:
    """Return a snapshot's values and planned tasks."""
    return snapshot.values, snapshot.tasks


# --- branches -------------------------------------------------------------------------------


async def follow(engine: Engine, log: ThreadLog, translation: _Make) -> None:
    """Take up what the checkpointer has that the log has not: a history is read at most once.

    LangGraph keeps a tree of checkpoints. Each of its leaves is a branch; the newest one that no
    run of ours has named otherwise is `"main"`.

    Raises
    ------
    GraphConfigError
        If the thread was made by a graph with other nodes.
    """
    head = await engine.head()
    known = {place for branch in log.branches.values() for place in branch.places()}
    if head is None or head in known:
        return
    history = await engine.history()
    await _check_nodes(engine)
    by_id = {_place(each): each for each in history}
    for leaf in _leaves(history):
        chain = _chain(leaf, by_id)
        await _take_up(engine, log, chain, known, translation)
        known.update(_place(each) for each in chain)


async def _check_nodes(engine: Engine) -> None:
    found = await engine.last()
    reached = found.checkpoint["channel_versions"] if found is not None else {}
    names = {name.removeprefix(_WAY) for name in reached if name.startswith(_WAY)}
    foreign = names - set(engine.app.nodes)
    if foreign:
        raise GraphConfigError(
            f"Thread {engine.thread_id!r} in this checkpointer was made by another graph: it has "
            f"the nodes {', '.join(map(repr, sorted(foreign)))}, which {engine.app.get_name()!r} "
            "has not; pass another thread_id"
        )


def _place(snapshot: Any) -> str:
    return snapshot.config["configurable"]["checkpoint_id"]


def _parent(snapshot: Any) -> str | None:
    config = snapshot.parent_config
    return None if config is None else config["configurable"].get("checkpoint_id")


def _leaves(history: Sequence[Any]) -> list[Any]:
    """Return the last snapshot of each branch, that of `"main"` first, then oldest first."""
    parents = {_parent(each) for each in history}
    leaves = [each for each in history if _place(each) not in parents]
    unnamed = [each for each in leaves if _tag(each) in (None, "main")]
    main = (unnamed or leaves)[-1]
    return [main, *(each for each in leaves if each is not main)]


def _tag(snapshot: Any) -> str | None:
    """Return the branch a run of ours was on; None for a run of somebody else's."""
    return (snapshot.metadata or {}).get(TAG)


def _chain(leaf: Any, by_id: Mapping[str, Any]) -> list[Any]:
    chain = [leaf]
    while (parent := by_id.get(_parent(chain[-1]) or "")) is not None:
        chain.append(parent)
    return chain[::-1]


async def _take_up(
    engine: Engine, log: ThreadLog, chain: Sequence[Any], known: set[str], make: _Make
) -> None:
    """Add the snapshots of a chain that are new to the branch they go on with, or to a new one."""
    new = [snapshot for snapshot in chain if _place(snapshot) not in known]
    if not new:
        return
    branch = _branch_of(log, _parent(new[0]), _tag(chain[-1]))
    translation = make(branch)
    for snapshot in new[:-1]:
        _record(branch, translation, snapshot, _results(translation, snapshot))
    last = await engine.snapshot(_place(new[-1]))
    _record(branch, translation, last, _reports(engine.app, translation, last))


def _branch_of(log: ThreadLog, parent: str | None, tag: str | None) -> BranchLog:
    """Return the branch that stood at a checkpoint, or a new one that starts there."""
    for branch in log.branches.values():
        if parent == branch.place:
            return branch
    for branch in tuple(log.branches.values()):
        at = branch.last_at(parent)
        if at:
            name = tag if tag and tag not in log.branches else log.free_name()
            log.branches[name] = branch.forked(name, at)
            return log.branches[name]
    name = tag if tag and tag not in log.branches else log.free_name()
    return log.branches.setdefault(name, BranchLog(name, log.folding))


def _record(branch: BranchLog, translation: Translation, snapshot: Any, reports: _Reports) -> None:
    source = (snapshot.metadata or {}).get("source", "loop")
    if source == "input":
        given = next((task.result for task in snapshot.tasks if task.name == "__start__"), None)
        translation.given = plain(given)
    events: list[Event | LiveEvent] = list(
        translation.checkpoint(_place(snapshot), source, *snapshot_parts(snapshot))
    )
    if source != "input":
        events.extend(reports())
    at = _seconds(snapshot.created_at)
    stored = [event for event in events if not isinstance(event, LiveEvent)]
    branch.record([_dated(event, at) for event in stored], _place(snapshot))


def _results(translation: Translation, snapshot: Any) -> _Reports:
    """Return what the tasks of a superstep that is over had as results."""
    return lambda: [
        event
        for task in snapshot.tasks
        if task.result is not None
        for event in translation.reported({**_task(task), "error": None, "interrupts": ()})
    ]


def _reports(app: Any, translation: Translation, snapshot: Any) -> _Reports:
    """Return what the tasks of the last superstep say, and how the run that left them ended."""

    def reports() -> list[Event | LiveEvent]:
        for task in snapshot.tasks:
            translation.learn_inner(task)
        told = [task for task in snapshot.tasks if task.error or task.interrupts or task.result]
        events = [event for task in told for event in translation.reported(_told(task))]
        return [*events, *_ending(app, translation, events)]

    return reports


def _told(task: Any) -> Mapping[str, Any]:
    """Return a task's report. One that has a result has had its questions answered."""
    report = _task(task)
    return report if task.result is None else {**report, "interrupts": (), "error": None}


def _task(task: Any) -> dict[str, Any]:
    return {name: getattr(task, name) for name in ("id", "name", "error", "interrupts", "result")}


def _ending(app: Any, translation: Translation, events: Sequence[Event | LiveEvent]) -> list[Event]:
    failed = next((event for event in events if isinstance(event, TaskFailed)), None)
    if failed is not None:
        return [RunFailed(error=failed.error)]
    if translation.asking:
        return [RunPaused(reason="interrupt")]
    if not translation.tasks:
        return [RunFinished()]
    before = app.interrupt_before_nodes
    pauses = before == "*" or any(task.node in before for task in translation.tasks)
    return [RunPaused(reason="before")] if pauses else []


def _dated(event: Event, at: float | None) -> Event:
    return event if at is None else event.model_copy(update={"created_at": at})


def _seconds(created_at: str | None) -> float | None:
    try:
        return None if created_at is None else datetime.fromisoformat(created_at).timestamp()
    except ValueError:
        return None
