"""`subgraph`: a graph as a node of another, run as a stored thread of its own.

The parent keeps where the sub-graph's thread stood each time its task reported (`ChildPlace`). On
that rest three things: a run that goes on finds the thread, a question that the parent has not
shown yet is not answered by an older answer, and a fork of the parent forks the thread there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from nbgraph.core import answers
from nbgraph.core.asking import ChildPause, Frame, running
from nbgraph.core.context import NodeContext, Parent
from nbgraph.core.events import ChildPlace, Event, Interrupt, RunFailed
from nbgraph.core.live import ChildEvent, LiveEvent
from nbgraph.core.node import Inner, Node, node
from nbgraph.core.node_hooks import Asker
from nbgraph.core.position import Position
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.requests import Continue, Fork, Resume, SetBreakpoints, Start
from nbgraph.core.thread import Thread
from nbgraph.core.wiring import Reader, Wiring, Writer, wiring
from nbgraph.errors import GraphConfigError, GraphExecutionError, NodeFailedError

if TYPE_CHECKING:
    from nbgraph.core.graph import Graph

__all__ = ["subgraph"]

_BEGUN = "subgraph"
"""Under this key a task keeps after which event of a stable thread it starts its turn."""


def subgraph(
    name: str,
    graph: Graph,
    *,
    share: Sequence[str] | None = None,
    state_in: Reader | None = None,
    state_out: Writer | None = None,
    child_thread: Literal["fresh", "stable"] = "fresh",
    label: str | None = None,
    description: str | None = None,
) -> Node:
    """Return a node that runs a graph of its own.

    The sub-graph is a thread in its parent's store, with the parent's context. Its questions are
    asked by the parent, under `"<task>/<key>"`.

    Parameters
    ----------
    name : str
        The node's name.
    graph : Graph
        What runs; it has a flow, and no state store of its own.
    share : list of str, optional
        Fields that both states have: the sub-graph starts with the parent's values, and what it
        changed of them goes back through the parent's reducers.
    state_in, state_out : function, optional
        Instead of `share`: make the sub-graph's input of the parent's state, and the parent's
        update of the sub-graph's last state.
    child_thread : "fresh" or "stable"
        Whether each visit is a thread of its own, or all visits are turns of one thread.
    label, description : str, optional
        What the drawing shows instead of the name, and beside it.

    Raises
    ------
    GraphConfigError
        If the wiring is not one of the two, names a field the sub-graph does not have, or the
        sub-graph has no flow or a store of its own.
    TypeError
        If the name is none a node can have, or the graph is none.
    """
    if not hasattr(type(graph), "structure"):
        raise TypeError(f"A sub-graph is a Graph, got {graph!r}")
    if graph.state_store is not None:
        raise GraphConfigError(
            f"Graph {graph.name!r} has a state store; a sub-graph is kept in its parent's, so make "
            "it without one"
        )
    if child_thread not in ("fresh", "stable"):
        raise GraphConfigError(f"child_thread is 'fresh' or 'stable', got {child_thread!r}")
    wires = wiring(graph, share, state_in, state_out)
    shape = graph.shape  # which refuses a graph without a flow
    is_stable = child_thread == "stable"
    inner = Inner(shape, graph.structure, graph.schema, wires.shared, stable=is_stable)
    made = node(name=name, label=label, description=description)(_Child(graph, wires, inner).run)
    return replace(made, inner=inner)


@dataclass(frozen=True, slots=True)
class _Child:
    """A sub-graph as its node runs it."""

    graph: Graph
    wiring: Wiring
    inner: Inner

    async def run(self, state: Any, ctx: NodeContext) -> Any:
        frame = running()
        assert frame is not None
        thread, seen = await self._opened(ctx)
        position = thread.known
        begun = await self._begun(ctx, position)
        if begun is not None and position.planned <= begun:
            request = Start(self.wiring.given(state))
        else:
            request = _request(position, frame, ctx, seen)
        try:
            if request is not None:
                await self._sent(thread, request, ctx)
        finally:
            frame.child = _place(thread, ctx)
        if thread.known.status != "completed":
            raise ChildPause(_questions(thread, ctx))
        return await self.wiring.returned(thread, state, ctx.port.home().schema)

    async def _opened(self, ctx: NodeContext) -> tuple[Thread, int]:
        """Return the task's thread as it is kept, and up to which event the parent knows it."""
        place = ctx.port.home().position.children.get(ctx.task_id)
        if place is None:
            thread = self._thread(ctx, self._thread_id(ctx), "main")
            seen = 0
        elif place.parent_branch_id == ctx.branch_id:
            thread = self._thread(ctx, place.thread_id, place.branch_id)
            seen = place.sequence
        else:
            thread = await self._forked(ctx, place)
            seen = place.sequence + 1
        await thread.load()
        return thread, seen

    def _thread(self, ctx: NodeContext, thread_id: str, branch_id: str) -> Thread:
        home = ctx.port.home()
        graph = self.graph
        breaks = graph.interrupt_before or graph.interrupt_after or graph.break_when
        if home.store is None and breaks:
            raise GraphConfigError(
                f"Sub-graph {ctx.node!r} has breakpoints, and a run that pauses is kept in a state "
                "store; pass state_store= and a thread_id"
            )
        return Thread(
            self.graph,
            home.store,
            thread_id,
            branch_id,
            context=ctx.given,
            stream_modes=ctx.stream_modes,
            executor=self.graph.executor or home.executor,
            parent=Parent(home.root, ctx.root_run_id, _asker(ctx)),
        )

    def _thread_id(self, ctx: NodeContext) -> str:
        """Return the id of the thread that this task makes."""
        if self.inner.stable:
            _check_stable(ctx)
        return self.inner.thread_id(ctx.thread_id, ctx.branch_id, ctx.task_id, ctx.planned[0])

    async def _forked(self, ctx: NodeContext, place: ChildPlace) -> Thread:
        """Return the thread on the branch that belongs to the parent's, made if it is not."""
        parent = self._thread(ctx, place.thread_id, place.branch_id)
        if ctx.branch_id not in await parent.branches():
            request = Fork(place.sequence, ctx.branch_id)
            async with aclosing(parent.send(request)) as happening:
                async for event in happening:
                    _tell(ctx, event)
        return parent.on(ctx.branch_id)

    async def _begun(self, ctx: NodeContext, position: Position) -> int | None:
        """Return after which event the task starts its turn; None once it has reported."""
        if ctx.task_id in ctx.port.home().position.children:
            return None
        if not self.inner.stable:
            return 0
        if _BEGUN in ctx.recorded:
            return ctx.recorded[_BEGUN]
        return await ctx.record_once(_BEGUN, position.sequence)

    async def _sent(
        self, thread: Thread, request: Start | Resume | Continue, ctx: NodeContext
    ) -> None:
        last: Event | LiveEvent | None = None
        breakpoints = self._breakpoints(thread.known, ctx)
        until = _within(ctx.port.home().until, ctx.node)
        steps = None
        if ctx.port.home().into:
            steps = 0 if isinstance(request, Start) else 1
        stream = thread.send(request, breakpoints=breakpoints, until=until, steps=steps)
        async with aclosing(stream) as happening:
            async for event in happening:
                last = event
                _tell(ctx, event)
        if isinstance(last, RunFailed):
            error = last.error
            raise last.exception or NodeFailedError(ctx.node, error.type, error.message)

    def _breakpoints(self, position: Position, ctx: NodeContext) -> SetBreakpoints | None:
        """Return the sub-graph's own breakpoints and the parent's inside it, if they differ."""
        graph, home = self.graph, ctx.port.home()
        before = _united(graph.interrupt_before, home.before, ctx.node)
        after = _united(graph.interrupt_after, home.after, ctx.node)
        known = (
            graph.interrupt_before if position.before is None else position.before,
            graph.interrupt_after if position.after is None else position.after,
        )
        return None if (before, after) == known else SetBreakpoints(before, after)


def _asker(ctx: NodeContext) -> Asker | None:
    """Return what answers the sub-graph's questions in its parents' name, if anything does."""
    frame = running()
    asker = None if frame is None else frame.asker
    if asker is None:
        return None

    async def answer(question: Interrupt) -> Any:
        return await asker.answer(_renamed(question, ctx))

    return Asker(answer, asker.at_once)


def _check_stable(ctx: NodeContext) -> None:
    if ctx.port.home().store is None:
        raise GraphExecutionError(
            f"Sub-graph {ctx.node!r} keeps one thread for all its visits, which needs a state "
            "store; pass state_store= and a thread_id, or use child_thread='fresh'"
        )
    if ctx.branch_id != "main":
        raise GraphExecutionError(
            f"Sub-graph {ctx.node!r} keeps one thread for all its visits, and cannot start a turn "
            f"of it on the forked branch {ctx.branch_id!r}; use child_thread='fresh'"
        )
    if ctx.task_id != ctx.node:
        raise GraphExecutionError(
            f"Sub-graph {ctx.node!r} keeps one thread for all its visits, and tasks {ctx.node!r} "
            f"and {ctx.task_id!r} need it at once; use child_thread='fresh'"
        )


def _within(path: str | None, node: str) -> str | None:
    """Return a path as a sub-graph knows it; None if it does not lead into it."""
    prefix = f"{node}/"
    return path.removeprefix(prefix) if path is not None and path.startswith(prefix) else None


def _united(own: tuple[str, ...], outer: tuple[str, ...], node: str) -> tuple[str, ...]:
    inner = (_within(path, node) for path in outer)
    return tuple(dict.fromkeys((*own, *(path for path in inner if path is not None))))


def _request(
    position: Position, frame: Frame, ctx: NodeContext, seen: int
) -> Resume | Continue | None:
    """Return what to ask of a thread that has begun; None if it waits or has finished."""
    if position.status == "completed":
        return None
    if position.paused in ("before", "after", "until") and position.sequence > seen:
        return None  # the parent ended before it could show this pause
    keys = {
        key: f"{ctx.task_id}/{key}" for key, asks in position.pending.items() if asks.asked <= seen
    }
    given = {key: frame.answers[outer] for key, outer in keys.items() if outer in frame.answers}
    if given:
        answered = ctx.port.home().position.answered
        first = next((answered[outer] for key in given if (outer := keys[key]) in answered), None)
        by, comment = (None, None) if first is None else (first.by, first.comment)
        return Resume(answers=given, partial=True, by=by, comment=comment)
    return Continue() if position.runnable or not position.pending else None


def _tell(ctx: NodeContext, event: Event | LiveEvent) -> None:
    match event:
        case ChildEvent(path=path, task_id=task_id, event=inner):
            told = ChildEvent(f"{ctx.node}/{path}", f"{ctx.task_id}/{task_id}", inner)
        case _:
            told = ChildEvent(ctx.node, ctx.task_id, event)
    ctx.port.home().tell(told)


def _place(thread: Thread, ctx: NodeContext) -> ChildPlace:
    position = thread.known
    match position.paused:
        case "before" | "after" | "until" | "step" as paused:
            following = position.next
        case _:
            paused, following = None, ()
    return ChildPlace(
        thread_id=thread.thread_id,
        branch_id=thread.branch_id,
        sequence=position.sequence,
        parent_branch_id=ctx.branch_id,
        paused=paused,
        next=following,
    )


def _questions(thread: Thread, ctx: NodeContext) -> tuple[Interrupt, ...]:
    """Return what the thread asks, as its parent's task asks it."""
    return tuple(_asked(thread, ctx, item) for item in thread.known.pending.values())


def _asked(thread: Thread, ctx: NodeContext, question: Interrupt) -> Interrupt:
    asked = _renamed(question, ctx)
    kind = answers.remembered(thread.thread_id, question.key, question.response_schema)
    answers.remember(ctx.thread_id, asked.key, kind)
    return asked


def _renamed(question: Interrupt, ctx: NodeContext) -> Interrupt:
    names = {"task_id": ctx.task_id, "node": f"{ctx.node}/{question.node}"}
    return question.model_copy(update={"key": f"{ctx.task_id}/{question.key}", **names})
