"""Questions without an id are known by their place in a node: says where that is shaky."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

from nbgraph.core.constant_loops import loops_over_constants
from nbgraph.core.events import Interrupt

__all__ = ["Place", "UnnamedInterruptWarning", "asked_from", "warn_of_another_question"]

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_DEPTH = 64
"""How many calls deep the place of a question is looked for."""

Place = tuple[tuple[CodeType, int], ...]
"""Where a call stands: the code and the instruction of each function between it and its node."""


class UnnamedInterruptWarning(UserWarning):
    """A question without an id may get the answer to another one when its node runs again."""


def asked_from(places: frozenset[Place], node: str) -> frozenset[Place]:
    """Return where a node has asked without an id, this call included.

    A loop is warned of, save one over constants: it runs over the same each time.
    """
    place = tuple((frame.f_code, frame.f_lasti) for frame in _own_frames())
    if place in places and not loops_over_constants(_own_frames()):
        _warn(
            f"Node {node!r} asks in a loop without an id, so each answer is known by its number "
            "alone. If the loop runs over other things when the node runs again, answers go to "
            'other questions; give each its own id, interrupt(..., id=f"ok-{name}")'
        )
    return places | {place}


def _own_frames() -> Iterator[FrameType]:
    """Yield the frames between `interrupt` and what runs the node, from the inside out."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - the documented way to a frame
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    for _ in range(_DEPTH):
        if frame is None or _is_ours(frame):
            return
        yield frame
        frame = frame.f_back


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)


def _depth() -> int:
    """Return the `stacklevel` of a warning that is to name the node's own line."""
    frame, depth = sys._getframe(1), 1  # pyright: ignore[reportPrivateUsage] - as above
    while frame is not None and _is_ours(frame):
        frame, depth = frame.f_back, depth + 1
    return depth


def warn_of_another_question(asked: Interrupt, shown: Interrupt | None) -> None:
    """Say that the answer to a question without an id was given to another question, if it was."""
    named = not asked.id.rpartition("/")[2].isdigit()
    if named or shown is None or _words(shown) == _words(asked):
        return
    _warn(
        f"Question {asked.key!r} is {_told(asked)}, and its answer was given to {_told(shown)}: "
        "without an id, a question is known by its place among its node's calls; give each its own"
    )


def _words(question: Interrupt) -> tuple[object, ...]:
    """Return what a person is told of a question, save for what may change beside it."""
    payload = question.payload if question.message is None else None
    return question.message, question.reason, payload, question.response_schema


def _told(question: Interrupt) -> str:
    return repr(question.message if question.message is not None else question.payload)


def _warn(text: str) -> None:
    warnings.warn(text, UnnamedInterruptWarning, stacklevel=_depth())
