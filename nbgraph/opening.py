"""Opening a thread of a graph for a person, and going on with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from nbgraph.core.store import StateStore
from nbgraph.drivers import driver_for
from nbgraph.session import Session

__all__ = ["begin", "open_session"]


def open_session(
    app: Any,
    thread_id: str | None = None,
    branch_id: str = "main",
    store: StateStore | None = None,
    context: Any = None,
) -> Session:
    """Open a thread of a graph for a person.

    Parameters
    ----------
    app : Graph, Session, or a compiled graph of LangGraph or AgentFlow
        What runs; a session is returned as it is.
    thread_id : str, optional
        Which thread; a new one without it.
    branch_id : str
        Which branch of it.
    store : StateStore, optional
        Where a `Graph` keeps it; by default its own, else memory, as the session's `notice` says.
        Other engines keep threads themselves, and take none.
    context : object, optional
        What nodes find as `ctx.context`.

    Returns
    -------
    Session

    Raises
    ------
    GraphConfigError
        If `app` is nothing that can be driven.
    UnknownThreadError
        If the branch does not exist.
    """
    if isinstance(app, Session):
        return app
    driver, notice = driver_for(app, thread_id, branch_id, store, context)
    return Session(driver, notice=notice)


def begin(session: Session, input: Mapping[str, Any] | BaseModel | None) -> None:
    """Start a turn with an input, or go on with a thread that has not finished."""
    position = session.snapshot.position
    if position.runnable and not session.snapshot.running:
        session.proceed()
    elif not position.pending:
        session.start(input)
