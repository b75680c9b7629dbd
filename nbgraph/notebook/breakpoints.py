"""Breakpoints as a person sets them: one side of one node at a time."""

from __future__ import annotations

from nbgraph import words
from nbgraph.session import Session

__all__ = ["toggle_breakpoint"]


def toggle_breakpoint(session: Session, path: str, side: str) -> None:
    """Pause at this side of a node from now on, or no more.

    Raises
    ------
    ResumeError
        If the graph has no such node.
    UnsupportedByEngineError
        If the engine has no breakpoints.
    """
    shape = session.driver.shape
    shown = words.breakpoints(session.snapshot, shape)
    stops = [each for each, sides in shown.items() if side in sides]
    wanted = [each for each in stops if each != path] if path in stops else [*stops, path]
    if side == "before":
        session.breakpoints(before=wanted)
    else:
        session.breakpoints(after=wanted)
