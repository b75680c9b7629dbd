"""`play`: run a graph in a cell, and wait for the person who answers."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Generator, Mapping
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display
from pydantic import BaseModel

from nbgraph.core.result import GraphResult
from nbgraph.core.store import StateStore
from nbgraph.notebook.by_input import finish_by_input
from nbgraph.notebook.display import in_kernel, show_static, static_bundle, unattended
from nbgraph.notebook.panel import Panel
from nbgraph.opening import begin, open_session
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot

__all__ = ["Play", "play"]

_TICK = 0.1
"""Seconds between looks while waiting, so that an interrupt of the kernel gets through."""

_PATIENCE = 30.0
"""Seconds in which a page that shows widgets has shown the panel, also where it is slow."""


class Play:
    """A run with a panel: it ends when the graph does, however often it asks in between.

    `await` it, or call `.result()`. Where no click reaches the kernel while a cell waits, as with
    ipykernel 6, and where no page shows the panel, questions are asked by `input()`. Interrupting
    the kernel while it waits ends the wait only: the thread stays paused, and the panel goes on.
    """

    def __init__(self, session: Session, panel: Panel | None, shown: Any) -> None:
        self.session = session
        self.panel = panel
        self._shown = shown
        self._since = time.monotonic()
        self._ended = threading.Event()
        self._unwatch = session.watch(self._look)

    def _look(self, snapshot: Snapshot) -> None:
        if not snapshot.running and snapshot.status in ("completed", "failed"):
            self._ended.set()

    @property
    def done(self) -> bool:
        """Whether the graph has ended."""
        return self._ended.is_set()

    def cancel(self) -> None:
        """Stop what runs; the thread can be continued."""
        self.session.stop()

    def result(self, timeout: float | None = None) -> GraphResult:
        """Wait for the end and return it.

        Raises
        ------
        TimeoutError
            If it has not ended after `timeout` seconds; it goes on.
        Exception
            What a node raised.
        """
        if not _hears_clicks():
            return self._typed()
        waited = 0.0
        while not self._ended.wait(_TICK):
            waited += _TICK
            if timeout is None and self._is_unseen():
                return self._typed()
            if timeout is not None and waited >= timeout:
                raise TimeoutError(f"The graph has not ended after {timeout:g} s")
        return self._left()

    def __await__(self) -> Generator[Any, None, GraphResult]:
        return self._wait().__await__()

    async def _wait(self) -> GraphResult:
        if not _hears_clicks():
            return self._typed()
        try:
            while not self._ended.is_set():  # an idle await misses an interrupt
                await asyncio.sleep(_TICK)
                if self._is_unseen():
                    return self._typed()
        except asyncio.CancelledError:
            raise asyncio.CancelledError(self._still_there()) from None
        return self._left()

    def _is_unseen(self) -> bool:
        """Return whether a question waits that no page shows: this front end has no widgets."""
        if self.panel is None or self.panel.is_seen or not self.session.pending:
            return False
        return time.monotonic() - self._since > _PATIENCE

    def _still_there(self) -> str:
        thread = self.session.thread_id
        return (
            f"The wait has ended, and thread {thread!r} has not: it goes on in the panel; to wait "
            "for it again, run the cell again"
        )

    def _typed(self) -> GraphResult:
        """Ask by `input()`, since no click comes before the cell has ended."""
        try:
            return finish_by_input(self.session)
        finally:
            if self._ended.is_set():
                self._leave_still()

    def _left(self) -> GraphResult:
        """Put the static picture in the panel's place, and return or raise what came out."""
        self._leave_still()
        return self.session.finish()

    def _leave_still(self) -> None:
        self._unwatch()
        if self._shown is not None and self.panel is not None:
            self._shown.update(static_bundle(self.session), raw=True)
            self.panel.close()


class _Ended(Play):
    """A run that needed nobody: it has ended before the cell does."""

    def __init__(self, session: Session, result: GraphResult) -> None:
        super().__init__(session, None, None)
        self._result = result

    def result(self, timeout: float | None = None) -> GraphResult:  # noqa: ARG002 - as `Play` has
        """Return where it ended."""
        return self._result

    async def _wait(self) -> GraphResult:
        return self._result


def play(
    app: Any,
    input: Mapping[str, Any] | BaseModel | None = None,
    thread_id: str | None = None,
    *,
    store: StateStore | None = None,
    context: Any = None,
    answers: Mapping[str, Any] | None = None,
) -> Play:
    """Run a graph with a panel in the cell, to its end: `result = await play(graph, input)`.

    Parameters
    ----------
    app : Graph, Session, or a compiled graph of LangGraph or AgentFlow
        What runs.
    input : dict or model, optional
        What the turn begins with. An unfinished thread goes on instead.
    thread_id : str, optional
        Which thread; a new one without it.
    store : StateStore, optional
        Where it is kept; by default the graph's own, else memory.
    context : object, optional
        What nodes find as `ctx.context`.
    answers : dict, optional
        Answers by key, used only where nobody can answer (nbval, nbconvert, papermill). A value, a
        list with one for each asking, or a function of the `Interrupt`.

    Returns
    -------
    Play
        Await it, or call `.result()`.

    Raises
    ------
    ResumeError
        Unattended, if a question has no answer; the message names its key.
    """
    session = open_session(app, thread_id, store=store, context=context)
    if not in_kernel() or unattended():
        return _unwatched(session, input, answers or {})
    panel = Panel(session)
    shown = display(panel._repr_mimebundle_(), raw=True, display_id=True)  # pyright: ignore[reportPrivateUsage]
    begin(session, input)
    return Play(session, panel, shown)


def _unwatched(
    session: Session, input: Mapping[str, Any] | BaseModel | None, answers: Mapping[str, Any]
) -> Play:
    begin(session, input)
    if not unattended():
        return _Ended(session, session.settle())
    try:
        result = session.finish(answers)
    finally:
        show_static(session)
    return _Ended(session, result)


def _hears_clicks() -> bool:
    """Return whether clicks reach the kernel while a cell waits; those of ipykernel 6 do not."""
    kernel = getattr(get_ipython(), "kernel", None)
    return kernel is None or bool(getattr(kernel, "_supports_kernel_subshells", False))
