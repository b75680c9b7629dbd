"""Breakpoints as a person sets them: one side of one node at a time."""

from __future__ import annotations

from dataclasses import replace

from nbgraph import words
from nbgraph.errors import ResumeError
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot

__all__ = ["toggle_breakpoint"]


def toggle_breakpoint(session: Session, path: str, side: str) -> None:
    """Pause at this side of a node from now on, or no more.

    Raises
    ------
    ResumeError
        If the graph has no such node, or a sub-graph pauses there because its own graph says so.
    UnsupportedByEngineError
        If the engine has no breakpoints.
    """
    shape = session.driver.shape
    fixed = words.breakpoints(Snapshot(), replace(shape, before=(), after=()))
    if side in fixed.get(path, ""):
        raise ResumeError(
            f"The sub-graph of {path!r} pauses {side} it by itself: its own Graph says so, with "
            f"interrupt_{side}="
        )
    free = replace(shape, fixed_before=(), fixed_after=())
    shown = words.breakpoints(session.snapshot, free)
    stops = [each for each, sides in shown.items() if side in sides]
    wanted = [each for each in stops if each != path] if path in stops else [*stops, path]
    if side == "before":
        session.breakpoints(before=wanted)
    else:
        session.breakpoints(after=wanted)
