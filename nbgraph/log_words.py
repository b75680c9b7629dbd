"""How what was recorded reads in the log of a thread."""

from __future__ import annotations

from collections.abc import Mapping

from nbgraph.core.events import AnswersGiven, StateEdited

__all__ = ["PAUSES", "how_answered", "how_edited"]

PAUSES: Mapping[str, str] = {
    "interrupt": "waits for an answer",
    "before": "paused at a breakpoint, before",
    "after": "paused at a breakpoint, after",
    "step": "paused after a step",
    "until": "paused where it was to run to",
    "pause": "paused",
}
"""What a run that pauses says, by its reason."""


def how_answered(event: AnswersGiven) -> str:
    """Return who answered what, or how it went without an answer."""
    who = event.by or "somebody"
    said = {
        None: f"{who} answered",
        "dismissed": f"{who} dismissed",
        "again": f"{who} asks again for",
        "expired": "nobody answered in time",
    }
    keys: dict[str | None, list[str]] = {}
    for key in event.answers:
        keys.setdefault(event.lapsed.get(key), []).append(key)
    told = "; ".join(f"{said[how]} {', '.join(each)}" for how, each in keys.items())
    return f"{told}: “{event.comment}”" if event.comment else told


def how_edited(event: StateEdited) -> str:
    """Return who edited what, and where they went."""
    edited = f"{event.by or 'somebody'} edited {', '.join(event.update) or 'nothing'}"
    if event.tasks is None:
        return edited
    return f"{edited} and went to {', '.join(task.task_id for task in event.tasks) or 'the end'}"
