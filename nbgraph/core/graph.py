"""A graph: a state schema, a flow of nodes, and the calls that run it."""

from __future__ import annotations

import copy
import functools
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel

from nbgraph.core.building import Building, GraphBuilding
from nbgraph.core.call import Call, Names, checked_predicate, checked_store, listed_names
from nbgraph.core.context import NOT_PROVIDED
from nbgraph.core.driver import Shape
from nbgraph.core.events import Event, RunFailed
from nbgraph.core.executor import Executor, checked_executor
from nbgraph.core.flow import Structure, build
from nbgraph.core.interface import Interface
from nbgraph.core.live import LiveEvent
from nbgraph.core.loop import run_sync
from nbgraph.core.middleware import Middleware, checked_middleware
from nbgraph.core.migration import Migration, migration
from nbgraph.core.opening import check_breakpoints
from nbgraph.core.overriding import overridden
from nbgraph.core.position import Position
from nbgraph.core.queries import ThreadQueries
from nbgraph.core.requests import Resume
from nbgraph.core.result import GraphResult, result_of
from nbgraph.core.schema import StateSchema
from nbgraph.core.spec import GraphData
from nbgraph.core.store import StateStore
from nbgraph.core.streaming import StreamMode
from nbgraph.core.streams import GraphStreams, followed
from nbgraph.core.thread import Thread
from nbgraph.core.usage import is_number
from nbgraph.core.wiring import check_shared
from nbgraph.errors import (
    GraphConfigError,
    NodeFailedError,
    RedefinedGraphError,
    ResumeError,
)

__all__ = ["Graph"]


class Graph(GraphBuilding, ThreadQueries, GraphStreams, GraphData):
    """A definition that can be run, drawn and stored: it holds no thread and no state.

    Parameters
    ----------
    state_schema : type
        A pydantic model, a TypedDict, or `dict`. A field's reducer is declared with its type,
        `items: Annotated[list[str], add]`.
    name : str
        Shown with its threads.
    max_steps, max_thread_steps : int
        Supersteps one call may run, and all calls of a thread together; the latter without end
        where it is not given.
    timeout : float, optional
        Seconds the supersteps of one call may take together.
    state_store : StateStore, optional
        Where threads are kept. A graph that asks needs one, here or in the call.
    interrupt_before, interrupt_after : list of str or "*"
        Nodes to pause at. A call's own lists replace these, and are remembered for the branch.
    break_when : function, optional
        Takes the state and returns whether to pause before the next superstep.
    middleware : list of Middleware, optional
        Code around runs and nodes; the first one is the outermost.
    executor : Executor, optional
        Where tasks run; by default async nodes on the run's loop and sync nodes in worker threads.
    migrate : dict of str to str or None, optional
        What nodes and fields are called now, by the name they have in threads that were stored
        before; a field that leads to None is dropped.
    input_schema, output_schema : type, optional
        Models or TypedDicts of some of the state's fields: what an input may name, which left out
        has its default, and what a result shows. Nodes and thread methods have the whole state.

    Raises
    ------
    GraphConfigError
        If the schema or an option cannot be used.
    TypeError
        If one of `middleware` is no `Middleware`, or another option is not what it is to be.
    """

    def __init__(  # noqa: PLR0913 - one option for each thing that can be declared
        self,
        state_schema: Any,
        *,
        name: str = "graph",
        max_steps: int = 25,
        max_thread_steps: int | None = None,
        timeout: float | None = None,
        state_store: StateStore | None = None,
        interrupt_before: Names = None,
        interrupt_after: Names = None,
        break_when: Callable[[Any], bool] | None = None,
        middleware: Iterable[Middleware] | None = None,
        executor: Executor | None = None,
        migrate: Mapping[str, str | None] | None = None,
        input_schema: Any = None,
        output_schema: Any = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip():  # pyright: ignore[reportUnnecessaryIsInstance] - user's
            raise GraphConfigError(f"A graph's name is a str with something in it, got {name!r}")
        for option, limit in (("max_steps", max_steps), ("max_thread_steps", max_thread_steps)):
            if limit is not None and (type(limit) is not int or limit < 1):
                raise GraphConfigError(f"{option} is 1 or more, a whole number, got {limit!r}")
        if timeout is not None and not (is_number(timeout) and timeout > 0):
            raise GraphConfigError(f"timeout is a number of seconds above 0, got {timeout!r}")
        if migrate is not None and not isinstance(migrate, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
            raise GraphConfigError(f"migrate maps old names to new ones, got {migrate!r}")
        self.name = name
        self.max_steps = max_steps
        self.max_thread_steps = max_thread_steps
        self.timeout = timeout
        self.state_schema = state_schema
        self.state_store = checked_store(state_store)
        self.interrupt_before = listed_names(interrupt_before) or ()
        self.interrupt_after = listed_names(interrupt_after) or ()
        self.break_when = checked_predicate(break_when)
        self.middleware = checked_middleware(middleware)
        self.executor = checked_executor(executor)
        self.migrate = dict(migrate or {})
        self.migration = Migration()
        self.schema = StateSchema(state_schema)
        self.interface = Interface(self.schema, input_schema, output_schema)
        self.building = Building()
        self._structure: Structure | None = None

    def flow(self, *items: Any) -> Graph:
        """Say how the nodes follow one another, once; return the graph.

        Parameters
        ----------
        *items : flow items
            `START >> a`, `a >> b`, `a >> [b, c]`, `a >> when(...)`, `a >> branch(...)`,
            `join(b, c) >> d`, `d >> END`; items may be written in a row: `START >> a >> b`. None
            for a flow of what `add_node` and `add_edge` added, which is made when first needed.

        Raises
        ------
        GraphConfigError
            Listing every problem of the flow together.
        """
        if self._structure is not None:
            raise GraphConfigError(f"Graph {self.name!r} has its flow already")
        if not (items or self.building):
            raise GraphConfigError("A flow needs items; begin with START >> a")
        if items and self.building:
            raise GraphConfigError("A flow is written as items or added by add_node; not as both")
        structure = build(items or self.building.items())
        check_shared(structure.nodes.values(), self.schema)
        try:
            check_breakpoints(structure, (*self.interrupt_before, *self.interrupt_after))
        except ResumeError as error:
            raise GraphConfigError(str(error)) from error
        self.migration = migration(self.migrate, structure, self.schema)
        self._structure = structure
        return self

    @property
    def structure(self) -> Structure:
        """The checked flow.

        Raises
        ------
        GraphConfigError
            If `flow` was not called yet.
        """
        if self._structure is None and self.building:
            self.flow()
        if self._structure is None:
            raise GraphConfigError(f"Graph {self.name!r} has no flow yet; call .flow(START >> a)")
        return self._structure

    @functools.cached_property
    def shape(self) -> Shape:
        """The structure as it is drawn."""
        structure = self.structure
        return Shape(
            self.name,
            tuple(structure.node_shapes()),
            tuple(structure.edge_shapes()),
            self.interface.json_schema(),
            self.interrupt_before,
            self.interrupt_after,
            *structure.fixed_stops(),
        )

    def override(
        self,
        nodes: Mapping[str, Callable[..., Any]],
        *,
        others: Callable[..., Any] | None = None,
    ) -> Graph:
        """Return the graph with other functions in the place of some nodes; this one is unchanged.

        Parameters
        ----------
        nodes : dict of str to function
            What stands in, by the node's name: a function or a node. Edges, declared gotos,
            timeouts and retries are those of the node; a cache is left out. In the place of a
            sub-graph, it stands for the whole of it.
        others : function, optional
            What stands in for all other nodes: `lambda state: None` for a dry run of the flow.

        Raises
        ------
        GraphConfigError
            If a name is that of no node.
        TypeError
            If a function is none a node can be made of.
        """
        made = copy.copy(self)
        made.__dict__.pop("shape", None)
        made._structure = overridden(self.structure, nodes, others)
        return made

    async def ainvoke(  # noqa: PLR0913 - the documented options of a call
        self,
        initial_state: Mapping[str, Any] | BaseModel | None = None,
        *,
        thread_id: str | None = None,
        branch_id: str = "main",
        resume: Resume | None = None,
        state_store: StateStore | None = None,
        context: Any = NOT_PROVIDED,
        interrupt_before: Names = None,
        interrupt_after: Names = None,
        break_when: Callable[[Any], bool] | None = None,
        executor: Executor | None = None,
    ) -> GraphResult:
        """Run a thread to its end or its next pause, on the caller's loop.

        Parameters
        ----------
        initial_state : dict or model, optional
            Input of a turn: named fields, or a whole state. Without it and without `resume`, an
            unfinished thread goes on.
        thread_id : str, optional
            Which thread; needed with a store.
        branch_id : str
            Which branch of it.
        resume : Resume, optional
            Answers what the thread asks.
        state_store : StateStore, optional
            Instead of the graph's own.
        context : object, optional
            What nodes find as `ctx.context`; it is never stored.
        interrupt_before, interrupt_after : list of str or "*", optional
            Nodes to pause at from now on; None keeps what the branch has, `[]` clears it.
        break_when : function, optional
            Takes the state and returns whether to pause before the next superstep, in this call,
            instead of the graph's. A function cannot be stored, so it is not remembered.
        executor : Executor, optional
            Where tasks run in this call, instead of the graph's own; in its sub-graphs too, unless
            they have one.

        Returns
        -------
        GraphResult

        Raises
        ------
        GraphConfigError
            If the call does not fit the graph, for example a thread_id is missing.
        TypeError
            If `resume` is no `Resume`, or comes together with an input; if `executor` is none.
        UnknownThreadError
            If it gives no input, and the thread or branch does not exist.
        ResumeError
            If the call does not fit where the thread stands; nothing is recorded then.
        StateUpdateError, StateStoreError
            If the input does not fit the state, or cannot be kept.
        Exception
            What a node raised, as it raised it.
        """
        call = Call(
            initial_state,
            thread_id,
            branch_id,
            resume,
            state_store or self.state_store,
            context,
            interrupt_before,
            interrupt_after,
            break_when,
            executor,
        )
        thread = self._thread_of(call)
        last: Event | LiveEvent | None = None
        happenings = thread.happenings(
            call.request(),
            breakpoints=call.breakpoints(),
            break_when=call.break_when,
            watched=False,
        )
        async with followed(thread, happenings, begins=call.given is not None):
            async for happened in happenings:
                last = happened[-1] if happened else last
        if isinstance(last, RunFailed):
            raise last.exception or NodeFailedError(self.name, last.error.type, last.error.message)
        return result_of(thread.known, thread, thread.steps, stored=thread.store is not None)

    def invoke(
        self, initial_state: Mapping[str, Any] | BaseModel | None = None, **options: Any
    ) -> GraphResult:
        """Run a thread to its end or its next pause, and wait for it; also in a notebook cell.

        Takes `initial_state` and the `options` of `ainvoke`, returns what it returns and raises
        what it raises.

        Examples
        --------
        >>> result = graph.invoke({"order": "A-1042"}, thread_id="t-1")
        >>> if result.interrupts:
        ...     result = graph.invoke(thread_id="t-1", resume=Resume(True))
        """
        return run_sync(self.ainvoke(initial_state, **options))

    def _called(
        self, call: Call, modes: frozenset[StreamMode] = frozenset()
    ) -> tuple[Thread, AsyncGenerator[Event | LiveEvent, None]]:
        thread = self._thread_of(call, modes)
        stream = thread.send(
            call.request(), breakpoints=call.breakpoints(), break_when=call.break_when
        )
        return thread, stream

    def _thread_of(self, call: Call, modes: frozenset[StreamMode] = frozenset()) -> Thread:
        thread_id = call.checked_thread_id()
        breaks = self.interrupt_before or self.interrupt_after or self.break_when is not None
        if call.store is None and breaks:
            raise GraphConfigError(
                f"Graph {self.name!r} has breakpoints, and a run that pauses is kept in a state "
                "store; pass state_store= and a thread_id"
            )
        return Thread(
            self,
            call.store,
            thread_id,
            call.branch_id,
            context=call.context,
            stream_modes=modes,
            executor=checked_executor(call.executor),
        )

    def thread(
        self,
        thread_id: str,
        *,
        branch_id: str = "main",
        state_store: StateStore | None = None,
        context: Any = NOT_PROVIDED,
    ) -> Thread:
        """Return the handle of branch `branch_id` of thread `thread_id`: the native `Driver`.

        It is kept in `state_store`, else in the graph's own, and its nodes find `context`.
        """
        store = checked_store(state_store) or self.state_store
        return Thread(self, store, thread_id, branch_id, context=context)

    def check_position(self, position: Position) -> None:
        """Refuse a `position` whose unfinished tasks are of nodes this graph does not have.

        Raises
        ------
        RedefinedGraphError
            Naming them.
        """
        missing = sorted({task.node for task in position.tasks} - set(self.structure.nodes))
        if missing:
            raise RedefinedGraphError(nodes=missing)

    clock: Callable[[], float] = staticmethod(time.time)
    """Returns the time by which questions expire, in seconds since the epoch."""

    show_in_cell: ClassVar[Callable[..., dict[str, Any]] | None] = None
    """Set from above: returns what a graph shows in a notebook cell, by mime type."""

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        if not (self._structure or self.building) or Graph.show_in_cell is None:
            return {"text/plain": repr(self)}
        return Graph.show_in_cell(self, **options)

    def __repr__(self) -> str:
        nodes = len(self._structure.nodes) if self._structure else 0
        return f"<Graph {self.name!r}, {nodes} node{'' if nodes == 1 else 's'}>"
