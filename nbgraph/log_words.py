"""How what was recorded reads in the log of a thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nbgraph.core.events import AnswersGiven, StateEdited

__all__ = ["how_answered", "how_edited", "how_paused"]

_PAUSES: Mapping[str, str] = {
    "interrupt": "waits for an answer",
    "before": "paused at a breakpoint, before",
    "after": "paused at a breakpoint, after",
    "step": "paused after a step",
    "until": "paused where it was to run to",
    "pause": "paused",
}
"""What a run that pauses says, by its reason."""


def how_paused(reason: str, nodes: Iterable[str]) -> str:
    """Return why a run paused; at a breakpoint, before or after which nodes."""
    if reason not in ("before", "after"):
        return _PAUSES[reason]
    return f"{_PAUSES[reason]} {', '.join(dict.fromkeys(nodes))}"


def how_answered(event: AnswersGiven) -> str:
    """Return who answered what, or how it went without an answer."""
    keys: dict[str | None, list[str]] = {}
    for key in event.answers:
        keys.setdefault(event.lapsed.get(key), []).append(key)
    told = "; ".join(f"{ended_by(how, event.by)} {', '.join(each)}" for how, each in keys.items())
    return f"{told}: “{event.comment}”" if event.comment else told


def ended_by(how: str | None, by: str | None) -> str:
    """Return who ended a question, and how: `ops answered`, `nobody answered in time`."""
    who = by or "somebody"
    match how:
        case "dismissed":
            return f"{who} dismissed"
        case "again":
            return f"{who} asks again for"
        case "expired":
            return "nobody answered in time"
        case _:
            return f"{who} answered"


def how_edited(event: StateEdited) -> str:
    """Return who edited what, and where they went."""
    edited = f"{event.by or 'somebody'} edited {', '.join(event.update) or 'nothing'}"
    if event.tasks is None:
        return edited
    return f"{edited} and went to {', '.join(task.task_id for task in event.tasks) or 'the end'}"
