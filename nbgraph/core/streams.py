"""The calls of a graph that yield what happens while it runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from pydantic import BaseModel

from nbgraph.core.call import Call, CallOptions
from nbgraph.core.events import Event
from nbgraph.core.live import LiveEvent
from nbgraph.core.loop import iterate
from nbgraph.core.store import StateStore
from nbgraph.core.streaming import (
    StreamEvent,
    StreamFilter,
    StreamMode,
    StreamModes,
    ahead,
    checked_modes,
    filter_of,
)
from nbgraph.errors import RedefinedGraphError, ResumeError, UnknownThreadError

if TYPE_CHECKING:
    from nbgraph.core.thread import Thread

__all__ = ["GraphStreams", "followed"]

T = TypeVar("T")
Input = Mapping[str, Any] | BaseModel | None


@asynccontextmanager
async def followed(
    thread: Thread, stream: AsyncGenerator[T, None], *, begins: bool
) -> AsyncGenerator[AsyncGenerator[T, None], None]:
    """Follow what a call of a thread yields, and close it at the end.

    `begins` is whether the call gives an input, which makes a thread that is not there.

    Raises
    ------
    UnknownThreadError
        In the place of a `ResumeError`, where the call does not fit because there is no thread.
    """
    try:
        async with aclosing(stream) as happening:
            yield happening
    except ResumeError as error:
        if begins or thread.known.sequence or isinstance(error, RedefinedGraphError):
            raise
        raise UnknownThreadError(thread.thread_id, thread.branch_id) from error


class GraphStreams:
    """The streaming calls of `Graph`."""

    state_store: StateStore | None

    @overload
    def astream(
        self,
        initial_state: Input = None,
        *,
        stream_mode: None = None,
        lockstep: bool = False,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[Event | LiveEvent, None]: ...
    @overload
    def astream(
        self,
        initial_state: Input = None,
        *,
        stream_mode: StreamModes,
        lockstep: bool = False,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[StreamEvent, None]: ...
    def astream(
        self,
        initial_state: Input = None,
        *,
        stream_mode: StreamModes | None = None,
        lockstep: bool = False,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[Any, None]:
        """Run a thread as `ainvoke` does, and yield what happens; leaving the loop ends the run.

        Recorded events come after they are recorded, live ones as they happen. What a node raised
        is raised at the end.

        Parameters
        ----------
        initial_state : dict or model, optional
            As `ainvoke` takes it.
        stream_mode : str or list of str, optional
            Yield `StreamEvent`s of these modes, `updates values custom tokens tasks debug`, and one
            at the end; `[]` yields that one alone. Without it, nbgraph's own events.
        lockstep : bool
            Hold the run at each event until the next one is asked for, so that leaving the loop
            ends it there. Without it the run goes on while the reader is busy, and what happens is
            kept for the reader.
        **options
            The options of `ainvoke`.

        Raises
        ------
        TypeError, ValueError
            If `stream_mode` is no mode. This is raised at the call; what `ainvoke` raises is raised
            in the loop.
        """
        modes = None if stream_mode is None else checked_modes(stream_mode)
        return self._streamed(
            Call.of(initial_state, self.state_store, options), modes, lockstep=lockstep
        )

    @overload
    def stream(
        self,
        initial_state: Input = None,
        *,
        stream_mode: None = None,
        lockstep: bool = False,
        **options: Unpack[CallOptions],
    ) -> Generator[Event | LiveEvent]: ...
    @overload
    def stream(
        self,
        initial_state: Input = None,
        *,
        stream_mode: StreamModes,
        lockstep: bool = False,
        **options: Unpack[CallOptions],
    ) -> Generator[StreamEvent]: ...
    def stream(
        self,
        initial_state: Input = None,
        *,
        stream_mode: StreamModes | None = None,
        lockstep: bool = False,
        **options: Unpack[CallOptions],
    ) -> Generator[Any]:
        """Run a thread as `invoke` does, and yield what happens.

        Takes `initial_state`, `stream_mode`, `lockstep` and the `options` of `astream`.

        Raises
        ------
        TypeError, ValueError
            If `stream_mode` is no mode; else what `ainvoke` raises, in the loop.
        """
        modes = None if stream_mode is None else checked_modes(stream_mode)
        call = Call.of(initial_state, self.state_store, options)
        return iterate(self._streamed(call, modes, lockstep=lockstep))

    async def _streamed(
        self, call: Call, modes: frozenset[StreamMode] | None, *, lockstep: bool
    ) -> AsyncGenerator[Any, None]:
        thread, stream = self._called(call, modes or frozenset())
        wanted: StreamFilter | None = None
        source = stream if lockstep else ahead(stream)
        async with followed(thread, source, begins=call.given is not None) as happening:
            async for event in happening:
                if modes is None:
                    yield event
                    continue
                wanted = wanted or filter_of(thread, modes)
                for each in wanted.of(event):
                    yield each
        ended = thread.known.failure
        if ended is not None and ended.exception is not None:
            raise ended.exception

    def _called(
        self, call: Call, modes: frozenset[StreamMode] = frozenset()
    ) -> tuple[Thread, AsyncGenerator[Event | LiveEvent, None]]:
        raise NotImplementedError
